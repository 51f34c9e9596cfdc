//! The rules for the title, the content and the tags of a new note.

use crate::journal::MAX_WRITE_BYTES;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{head, one_line, paths::stem};
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum size of a title in bytes.
pub const MAX_TITLE_BYTES: usize = 1_000;

/// Maximum number of tags of a new note.
pub const MAX_TAGS: usize = 100;

/// Maximum size of a tag in bytes.
pub const MAX_TAG_BYTES: usize = 200;

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

/// Returns the content with plain newlines. Content over the limit is refused, never cut.
pub(super) fn checked_content(content: &str) -> Result<String, Error> {
    if content.len() > MAX_WRITE_BYTES {
        let message = format!("the content has {} bytes, the limit is {MAX_WRITE_BYTES}", content.len());
        return Err(Error::new(ErrorCode::TooLarge, message, "write several notes that link to each other"));
    }
    Ok(content.replace("\r\n", "\n"))
}

pub(super) fn checked_tags(tags: &[String]) -> Result<Vec<String>, Error> {
    if tags.len() > MAX_TAGS {
        let message = format!("{} tags, the limit is {MAX_TAGS}", tags.len());
        return Err(Error::invalid_argument(message, "keep only tags that you would search by"));
    }
    let mut checked: Vec<String> = Vec::new();
    for given in tags {
        let tag = given.trim();
        let tag = tag.strip_prefix('#').unwrap_or(tag).trim();
        if !is_tag(tag) {
            let message = format!("`{}` is not a valid tag", given.escape_debug());
            return Err(Error::invalid_argument(message, format!("a tag is one line of 1 to {MAX_TAG_BYTES} bytes")));
        }
        if !checked.iter().any(|known| known == tag) {
            checked.push(tag.to_string());
        }
    }
    Ok(checked)
}

/// Returns true for one line of 1 to [`MAX_TAG_BYTES`] bytes.
pub(super) fn is_tag(tag: &str) -> bool {
    !tag.is_empty() && tag.len() <= MAX_TAG_BYTES && !tag.chars().any(char::is_control)
}

/// Returns the title for people: the file name if the note has none.
pub(crate) fn title_or_stem(title: &str, path: &str) -> String {
    if !title.is_empty() {
        return title.to_string();
    }
    stem(path).to_string()
}

/// Returns the name of a tool for a title.
pub(super) fn tool_name(tool: &str) -> String {
    let tool = one_line(head(tool, MAX_TOOL_BYTES));
    if tool.is_empty() { "a tool".to_string() } else { tool }
}
