//! Titles: the rules for them, and the title of a note without one.

use alloc::format;
use alloc::string::{String, ToString};

use crate::document::{head, one_line};
use crate::protocol::{Error, ErrorCode};

/// Maximum size of a title in bytes.
pub const MAX_TITLE_BYTES: usize = 1_000;

/// Maximum size of a title or an error that is quoted in other text, in bytes.
pub(super) const MAX_SHOWN_TITLE_BYTES: usize = 120;

/// Maximum size of a tool's name that is kept, in bytes.
pub(super) const MAX_TOOL_BYTES: usize = 60;

/// Checks a title: one line of at most [`MAX_TITLE_BYTES`] bytes, without control characters.
pub(super) fn checked_title(title: &str) -> Result<&str, Error> {
    let title = title.trim();
    if title.is_empty() {
        return Err(Error::invalid_argument("the title is empty", "say in a few words what the note is about"));
    }
    if title.len() > MAX_TITLE_BYTES {
        let message = format!("the title has {} bytes, the limit is {MAX_TITLE_BYTES}", title.len());
        return Err(Error::new(ErrorCode::TooLarge, message, "a title is one line; put the rest in the content"));
    }
    if let Some(bad) = title.chars().find(|&c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
        let message = format!("the title has the control character U+{:04X}", u32::from(bad));
        return Err(Error::invalid_argument(message, "a title is one line; put the rest in the content"));
    }
    Ok(title)
}

/// Returns the title for people: the file name if the note has none.
pub(super) fn title_or_stem(title: &str, path: &str) -> String {
    if !title.is_empty() {
        return title.to_string();
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_string()
}

/// Returns the name of a tool for a title.
pub(super) fn tool_name(tool: &str) -> String {
    let tool = one_line(head(tool, MAX_TOOL_BYTES));
    if tool.is_empty() { "a tool".to_string() } else { tool }
}
