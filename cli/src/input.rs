//! Reads text from the arguments, a file or standard input, and paths that other commands print.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use saddlebag::notebook::named_time;
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

/// A day or a time from which on something is wanted, such as `2026-05-30`, `yesterday` or `last week`.
#[derive(Clone, Debug)]
pub(crate) struct Since(String);

/// Parses a day or a time.
pub(crate) fn since(text: &str) -> Result<Since, String> {
    let examples = "examples are 2026-05-30, yesterday, `last week` and 2026-05-30T09:15:00+02:00";
    let named = named_time(text, saddlebag_host::now());
    named.map(|_| Since(text.into())).map_err(|_| format!("`{text}` is not a date; {examples}"))
}

impl Since {
    /// Returns its beginning in nanoseconds since 1970-01-01T00:00:00Z. A day begins in the time zone of `now`.
    pub(crate) fn nanoseconds(&self, now: Timestamp) -> u64 {
        named_time(&self.0, now).map_or(0, |time| time.start)
    }

    /// Returns its beginning in seconds since 1970-01-01T00:00:00Z.
    pub(crate) fn seconds(&self, now: Timestamp) -> i64 {
        i64::try_from(self.nanoseconds(now) / 1_000_000_000).unwrap_or(i64::MAX)
    }
}

/// Returns a time in nanoseconds since 1970-01-01T00:00:00Z.
pub(crate) fn nanoseconds(time: Timestamp) -> u64 {
    time.local().map_or(0, LocalTime::epoch_nanoseconds)
}

fn standard_input() -> Result<String, Failure> {
    // Some programs write a byte order mark first.
    whole(io::stdin().lock(), "standard input").map(|text| text.trim_start_matches('\u{feff}').to_string())
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
    fn a_day_begins_at_midnight_of_the_time_zone_and_other_words_are_refused() {
        let now = saddlebag_host::parse_time("2026-05-31T09:15:00+02:00").expect("a time");
        for (text, seconds) in
            [("2026-05-30", 1_780_092_000), ("yesterday", 1_780_092_000), ("2026-05-30T02:00:00+02:00", 1_780_099_200)]
        {
            assert_eq!(since(text).map(|time| time.seconds(now)), Ok(seconds), "{text}");
        }
        for text in ["", "soon", "2026-13-01", "2026-05-3é"] {
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
