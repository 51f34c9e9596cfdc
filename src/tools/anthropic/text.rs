//! Text that `view`, `str_replace` and `insert` compute: pure functions, equal to the SDK byte for byte.

use super::path::exactly;
use crate::tools::types::Dialect;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Maximum number of lines of a file that can be viewed.
const MAX_LINES: usize = 999_999;
/// Maximum number of bytes of a file that one view shows, without its header.
pub(super) const MAX_VIEW_BYTES: usize = 65_536;
/// Number of lines that a snippet shows before and after the change.
const SNIPPET_LINES: usize = 2;
/// Maximum number of positions that the error for an ambiguous text names.
const MAX_PLACES: usize = 100;

/// Returns the lines of a file with their numbers, or those in `range`.
pub(super) fn numbered(path: &str, text: &str, range: Option<(i64, i64)>) -> Result<String, Error> {
    let lines: Vec<&str> = text.split('\n').collect();
    let count = i64::try_from(lines.len()).unwrap_or(i64::MAX);
    if lines.len() > MAX_LINES {
        return Err(exactly(format!("File {path} exceeds maximum line limit of 999,999 lines.")));
    }
    let (first, last) = range.unwrap_or((1, -1));
    let first = first.max(1);
    // Ends like a slice in Python: -1 is the last line here, and lesser numbers count back from it.
    let end = match last {
        -1 => count,
        last if last < 0 => count.saturating_add(last).max(0),
        last => last.min(count),
    };
    let start = usize::try_from(first - 1).unwrap_or(usize::MAX);
    let taken = usize::try_from(end).unwrap_or_default().saturating_sub(start);
    let mut shown = format!("Here's the content of {path} with line numbers:\n");
    let header = shown.len();
    for (line, number) in lines.iter().skip(start).take(taken).zip(first..) {
        let separator = if shown.len() > header { "\n" } else { "" };
        let next = format!("{separator}{number:>6}\t{line}");
        if shown.len() - header + next.len() > MAX_VIEW_BYTES {
            if shown.len() == header {
                shown.push_str(saddlebag_markdown::head(&next, MAX_VIEW_BYTES));
                shown.push_str(&format!("…\n(line {number} has {} bytes and is cut here)", line.len()));
                if number < end {
                    shown.push_str(&format!("\n(more: view_range [{}, {end}])", number + 1));
                }
            } else {
                shown.push_str(&format!(
                    "\n(lines {first} to {} of {count}; more: view_range [{number}, {end}])",
                    number - 1
                ));
            }
            break;
        }
        shown.push_str(&next);
    }
    Ok(shown)
}

/// Replaces the one occurrence of `old`. Returns the new text and the answer of `str_replace`.
pub(super) fn replaced(
    path: &str,
    text: &str,
    old: &str,
    new: &str,
    dialect: Dialect,
) -> Result<(String, String), Error> {
    let before = match (text.split_once(old), text.matches(old).nth(1)) {
        (None, _) => {
            let message = format!("No replacement was performed, old_str `{old}` did not appear verbatim in {path}.");
            return Err(exactly(message));
        }
        (Some((before, _)), None) => before,
        (Some(_), Some(_)) => {
            let places = line_numbers(text, old);
            let message = format!(
                "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {places}. \
                 Please ensure it is unique"
            );
            return Err(exactly(message));
        }
    };
    let first = before.matches('\n').count();
    let edited = text.replacen(old, new, 1);
    let start = first.saturating_sub(SNIPPET_LINES);
    let lines = edited.split('\n').zip(1_usize..).skip(start).take(first + SNIPPET_LINES + 1 - start);
    let snippet: Vec<String> = lines.map(|(line, number)| format!("{number:>6}\t{line}")).collect();
    let intro = match dialect {
        Dialect::Docs => "The memory file has been edited.",
        Dialect::Sdk => "The memory file has been edited. Here is the snippet showing the change (with line numbers):",
    };
    let answer = format!("{intro}\n{}", snippet.join("\n"));
    Ok((edited, answer))
}

/// Returns the numbers of the lines in which the text occurs, once per occurrence. Overlapping occurrences count.
fn line_numbers(text: &str, needle: &str) -> String {
    let (mut line, mut places) = (1_usize, Vec::new());
    for (at, character) in text.char_indices().chain([(text.len(), '\0')]) {
        if text.get(at..).is_some_and(|rest| rest.starts_with(needle)) {
            if places.len() == MAX_PLACES {
                places.push("…".to_string());
                break;
            }
            places.push(line.to_string());
        }
        line += usize::from(character == '\n');
    }
    places.join(", ")
}

/// Inserts text after line `after` and ends it with a newline. If the text has no such line, the error is its number of
/// lines.
pub(super) fn inserted(text: &str, after: i64, addition: &str) -> Result<String, usize> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let mut lines: Vec<&str> = if text.is_empty() { Vec::new() } else { body.split('\n').collect() };
    let at = usize::try_from(after).ok().filter(|at| *at <= lines.len()).ok_or(lines.len())?;
    let tail = lines.split_off(at);
    lines.push(addition.trim_end_matches('\n'));
    lines.extend(tail);
    let mut edited = lines.join("\n");
    edited.push('\n');
    Ok(edited)
}

/// Formats a size for people: `0B`, `1K`, `1.5K`.
pub(super) fn human_size(bytes: u64) -> String {
    const UNITS: [char; 5] = ['B', 'K', 'M', 'G', 'T'];
    let (mut unit, mut letter) = (1_u64, 'B');
    for next in UNITS.into_iter().skip(1) {
        if bytes / unit < 1024 {
            break;
        }
        (unit, letter) = (unit * 1024, next);
    }
    if bytes.is_multiple_of(unit) {
        return format!("{}{letter}", bytes / unit);
    }
    // Rounds half to even, as Python does.
    let scaled = u128::from(bytes) * 10;
    let unit = u128::from(unit);
    let (tenths, rest) = (scaled / unit, scaled % unit);
    let up = rest * 2 > unit || (rest * 2 == unit && tenths % 2 == 1);
    let tenths = tenths + u128::from(up);
    format!("{}.{}{letter}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_the_sdk() {
        let text = "1\n2\n3\n4\n5";
        let lines = |range| numbered("/m", text, Some(range)).unwrap();
        let shown = |range| lines(range).lines().skip(1).map(|line| line[7..].to_string()).collect::<Vec<_>>().join("");
        assert_eq!(shown((2, 3)), "23");
        assert_eq!(shown((2, -1)), "2345");
        assert_eq!(shown((2, -2)), "23");
        assert_eq!(shown((-5, 2)), "12");
        assert_eq!(shown((4, 2)), "");
        assert_eq!(shown((9, 12)), "");
        assert_eq!(shown((1, i64::MIN)), "");
        assert!(lines((4, 2)).ends_with(":\n"));
    }

    #[test]
    fn a_long_file_is_shown_in_parts() {
        let text = "x".repeat(99) + "\n";
        let text = text.repeat(2_000);
        let first = numbered("/m", &text, None).unwrap();
        assert!(first.len() < MAX_VIEW_BYTES + 200, "{}", first.len());
        let (_, rest) = first.rsplit_once("more: view_range [").unwrap();
        let (next, _) = rest.split_once(',').unwrap();
        let next: i64 = next.parse().unwrap();
        let second = numbered("/m", &text, Some((next, -1))).unwrap();
        assert!(second.contains(&format!("\n{next:>6}\t")), "{second:.100}");
        let wide = numbered("/m", &"y".repeat(100_000), None).unwrap();
        assert!(wide.ends_with("(line 1 has 100000 bytes and is cut here)"));
    }

    #[test]
    fn more_lines_than_the_sdk_shows_are_refused() {
        let error = numbered("/m", &"\n".repeat(MAX_LINES), None).unwrap_err();
        assert_eq!(error.message, "File /m exceeds maximum line limit of 999,999 lines.");
    }

    #[test]
    fn text_is_inserted_after_an_existing_line() {
        assert_eq!(inserted("1\n2", 2, "x\n\n"), Ok("1\n2\nx\n".into()));
        assert_eq!(inserted("", 0, "x"), Ok("x\n".into()));
        assert_eq!(inserted("1\n", 2, "x"), Err(1));
        assert_eq!(inserted("1\n", -1, "x"), Err(1));
        assert_eq!(inserted("1\n", i64::MAX, "x"), Err(1));
    }

    #[test]
    fn an_ambiguous_text_is_named_a_bounded_number_of_times() {
        let error = replaced("/m", &"a".repeat(100_000), "", "x", Dialect::Sdk).unwrap_err();
        assert!(error.message.len() < 600, "{}", error.message.len());
    }
}
