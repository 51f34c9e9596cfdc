//! Reads text from the arguments, a file or standard input, and paths that other commands print.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use saddlebag::protocol::ErrorCode;
use saddlebag::store::{LocalTime, NOTE_SUFFIX, Timestamp};

use crate::failure::{Failure, ProgramCode};

/// Maximum size of an input, in bytes. It exceeds the limits of memory, so that their messages can state the real
/// size.
const MAX_INPUT_BYTES: u64 = 64 << 20;

/// Returns the text of an argument; `-` reads standard input.
pub(crate) fn text(argument: String) -> Result<String, Failure> {
    if argument == "-" { standard_input() } else { Ok(argument) }
}

/// Refuses a blank text. `what` names it in the error.
pub(crate) fn not_blank(text: String, what: &str, help: &str) -> Result<String, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::usage(format!("{what} is empty"), help));
    }
    Ok(text)
}

/// Returns the text of a file; `-` reads standard input.
pub(crate) fn file(path: &Path) -> Result<String, Failure> {
    if path.as_os_str() == "-" {
        return standard_input();
    }
    let name = format!("`{}`", path.display());
    let opened = File::open(path).map_err(|error| unreadable(&name, &error))?;
    whole(opened, &name)
}

/// Returns a name or path without the line numbers that `recall` and other commands print after it. `facts/a.md:3-4`
/// becomes `facts/a.md`.
pub(crate) fn shown_path(text: &str) -> Result<String, Infallible> {
    let is_lines = |lines: &str| lines.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b','));
    let path = text.rsplit_once(':').filter(|(path, lines)| path.ends_with(NOTE_SUFFIX) && is_lines(lines));
    Ok(path.map_or(text, |(path, _)| path).to_string())
}

/// Parses text that may begin with a hyphen, such as a list item. Text that looks like an option is rejected, because
/// it is probably mistyped.
pub(crate) fn free_text(text: &str) -> Result<String, String> {
    let option = text.strip_prefix("--").and_then(|rest| rest.chars().next()).is_some_and(char::is_alphabetic);
    if option {
        return Err("looks like an option; give such text on standard input, with `-`".into());
    }
    Ok(text.to_string())
}

/// Parses a day, which begins at midnight in UTC, or a time.
pub(crate) fn since(text: &str) -> Result<Timestamp, String> {
    let is_day = text.len() == 10;
    let whole = if is_day { format!("{text}T00:00:00Z") } else { text.to_string() };
    saddlebag_host::parse_time(&whole)
        .map_err(|_| format!("`{text}` is not a date; examples are 2026-05-30 and 2026-05-30T09:15:00+02:00"))
}

/// Returns a time in nanoseconds since 1970-01-01T00:00:00Z.
pub(crate) fn nanoseconds(time: Timestamp) -> u64 {
    time.local().map_or(0, LocalTime::epoch_nanoseconds)
}

fn standard_input() -> Result<String, Failure> {
    whole(io::stdin().lock(), "standard input")
}

fn whole(reader: impl Read, name: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = reader.take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(name, &error))?;
    if bytes.len() as u64 > MAX_INPUT_BYTES {
        let message = format!("{name} has more than {MAX_INPUT_BYTES} bytes");
        return Err(Failure::new(ErrorCode::TooLarge, message, "write it in parts"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::new(ErrorCode::NotText, format!("{name} is not UTF-8 text (at byte {at})"), "convert it to UTF-8")
    })
}

fn unreadable(name: &str, error: &io::Error) -> Failure {
    Failure::new(ProgramCode::Input, format!("cannot read {name}: {}", saddlebag_host::io_cause(error)), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_midnight_and_other_words_are_refused() {
        assert_eq!(since("2026-05-30").map(|time| time.seconds), Ok(1_780_099_200));
        assert_eq!(since("2026-05-30T02:00:00+02:00").map(|time| time.seconds), Ok(1_780_099_200));
        for text in ["", "yesterday", "2026-13-01", "2026-05-3é"] {
            assert!(since(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_path_is_taken_with_the_lines_that_are_printed_after_it() {
        for (text, path) in [
            ("facts/a.md:3-4", "facts/a.md"),
            ("facts/a.md:3,9", "facts/a.md"),
            ("facts/a.md:12", "facts/a.md"),
            ("facts/a.md", "facts/a.md"),
            ("note:12", "note:12"),
            ("Ratio 3:4", "Ratio 3:4"),
            ("a.md:x", "a.md:x"),
        ] {
            assert_eq!(shown_path(text).unwrap(), path, "{text}");
        }
    }
}
