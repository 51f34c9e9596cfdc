//! Lines of a document that a search shows.

use saddlebag_collections::prelude::*;

use memchr::memchr;

/// Number of lines shown on each side of a hit.
const CONTEXT_LINES: usize = 3;
/// Maximum number of windows of one document.
const MAX_WINDOWS: usize = 5;
/// Maximum number of lines shown of a document that matches only by name.
const NAME_MATCH_LINES: usize = 3;

/// Returns the windows around `hits` (lines counted from 0, ascending), each followed by a line `…`.
pub fn windows(text: &str, hits: &[u32]) -> String {
    let mut windows: Vec<(usize, usize)> = Vec::new();
    for &hit in hits {
        let low = (hit as usize).saturating_sub(CONTEXT_LINES);
        let high = hit as usize + CONTEXT_LINES;
        if let Some((_, end)) = windows.last_mut().filter(|(_, end)| low <= *end + 1) {
            *end = high;
        } else if windows.len() == MAX_WINDOWS {
            break;
        } else {
            windows.push((low, high));
        }
    }
    let mut body = String::new();
    let mut lines = lines(text).enumerate();
    for (low, high) in windows {
        for (_, line) in lines.by_ref().skip_while(|(number, _)| *number < low).take(high - low + 1) {
            body.push_str(line);
            body.push('\n');
        }
        body.push_str("…\n");
    }
    body.truncate(body.trim_end().len());
    body
}

/// Splits lines like [`str::lines`], which looks at each byte. A search shows a few lines of many files.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    core::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (line, after) = match memchr(b'\n', rest.as_bytes()) {
            Some(end) => (rest.get(..end)?, rest.get(end + 1..)?),
            None => (rest, ""),
        };
        let is_last = after.is_empty() && !rest.ends_with('\n');
        rest = after;
        Some(if is_last { line } else { line.strip_suffix('\r').unwrap_or(line) })
    })
}

/// Returns the first lines of a document that matches only by its name.
pub fn name_match(text: &str) -> String {
    let first: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(NAME_MATCH_LINES).collect();
    format!("(filename match)\n{}", first.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(count: usize) -> String {
        (0..count).map(|i| format!("l{i}\n")).collect()
    }

    #[test]
    fn lines_are_those_of_the_standard_library() {
        for text in ["", "\n", "\r\n", "a", "a\n", "a\r\nb\r", "\n\na\r\r\n", "a\n\r"] {
            assert_eq!(lines(text).collect::<Vec<_>>(), text.lines().collect::<Vec<_>>(), "{text:?}");
        }
    }

    #[test]
    fn windows_that_touch_are_one() {
        assert_eq!(windows(&numbered(9), &[4]), "l1\nl2\nl3\nl4\nl5\nl6\nl7\n…");
        let merged = windows(&numbered(30), &[4, 11]);
        assert_eq!(merged.matches('…').count(), 1);
        assert_eq!(windows(&numbered(30), &[4, 12]).matches('…').count(), 2);
    }

    #[test]
    fn five_windows_and_no_more() {
        let hits: Vec<u32> = (0..8).map(|i| i * 8).collect();
        assert_eq!(windows(&numbered(70), &hits).matches('…').count(), 5);
    }
}
