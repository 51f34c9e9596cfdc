//! [`Part`]: a part of a file.

use super::types::FileState;
use crate::changes::Call;
use crate::store::RelPath;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::head;
use saddlebag_protocol::{Error, ReadOutcome};

/// Maximum number of bytes of a UTF-8 character after its first.
const MAX_CONTINUATION_BYTES: u32 = 3;

/// A part of a file.
pub(crate) struct Part {
    pub(crate) state: FileState,
    pub(crate) text: String,
    /// Position of the text in the file, in bytes.
    pub(crate) offset: u64,
    /// Size of the whole file, in bytes.
    pub(crate) size: u64,
    /// Position of the next part; `None` at the end.
    pub(crate) next_offset: Option<u64>,
}

impl Part {
    /// Returns a whole text as one part.
    pub(crate) fn whole(text: &str) -> Self {
        let state = if text.is_empty() { FileState::Empty } else { FileState::Text };
        Self { state, text: text.to_string(), offset: 0, size: text.len() as u64, next_offset: None }
    }

    const fn missing() -> Self {
        Self { state: FileState::Missing, text: String::new(), offset: 0, size: 0, next_offset: None }
    }

    /// Returns at most `max_bytes` of the text of a file from `offset` on; `None` is the text of a file that does not exist.
    pub(crate) fn of_text(path: &RelPath, text: Option<&str>, offset: u64, max_bytes: u32) -> Result<Self, Error> {
        let Some(text) = text else { return Ok(Self::missing()) };
        let rest = usize::try_from(offset).ok().and_then(|offset| text.as_bytes().get(offset..));
        Self::cut(path, rest.unwrap_or_default(), text.len() as u64, offset, max_bytes)
    }

    /// Returns at most `max_bytes` of a file, cut at character boundaries. `bytes` are those of the file from `offset` on.
    fn cut(path: &RelPath, bytes: &[u8], size: u64, offset: u64, max_bytes: u32) -> Result<Self, Error> {
        if size == 0 {
            return Ok(Self { state: FileState::Empty, ..Self::missing() });
        }
        if offset >= size {
            let message = format!("offset {offset} is at or after the end of {path}, which has {size} bytes");
            return Err(Error::invalid_argument(message, "start at 0, or at the next offset that a reply gave"));
        }
        let at_end = offset + bytes.len() as u64 >= size;
        let (skipped, text) = whole_characters(bytes, at_end).ok_or_else(|| Error::not_text(path))?;
        let text = head(text, max_bytes as usize).to_string();
        let offset = offset + skipped as u64;
        let end = offset + text.len() as u64;
        let next_offset = (end < size && max_bytes > 0).then_some(end);
        Ok(Self { state: FileState::Text, text, offset, size, next_offset })
    }
}

/// Refuses a number of bytes outside the limits.
pub(crate) fn check_bytes(call: &Call, max_bytes: u32) -> Result<(), Error> {
    let limit = call.scope.limits.max_file_bytes;
    if (1..4).contains(&max_bytes) || max_bytes > limit {
        let message = format!("cannot read {max_bytes} bytes at once, the limits are 4 and {limit}");
        return Err(Error::invalid_argument(message, "read the file in parts: each reply says where the next begins"));
    }
    Ok(())
}

/// Reads at most `max_bytes` of a file from `offset` on, cut at character boundaries. [`check_bytes`] has accepted the number.
pub(crate) async fn read_part(call: &Call, path: &RelPath, offset: u64, max_bytes: u32) -> Result<Part, Error> {
    // Reads a few bytes more, so that a character that begins before the part can be recognised. The largest part
    // omits them.
    let more = if max_bytes == 0 { 0 } else { MAX_CONTINUATION_BYTES };
    let asked = max_bytes.saturating_add(more).min(call.scope.limits.max_file_bytes);
    let outcome = call.fs.read(path, offset, asked).await.map_err(|error| Error::storage(Some(path), &error))?;
    match outcome {
        ReadOutcome::Absent => Ok(Part::missing()),
        ReadOutcome::Content(content) => Part::cut(path, &content.bytes, content.size, offset, max_bytes),
    }
}

/// Returns the text of a part without incomplete characters at its ends, and the number of bytes dropped at its start.
/// `None` if the part is not UTF-8.
pub(crate) fn whole_characters(bytes: &[u8], at_end: bool) -> Option<(usize, &str)> {
    let skipped = bytes.iter().take(MAX_CONTINUATION_BYTES as usize).take_while(|&&byte| byte & 0xc0 == 0x80).count();
    let bytes = bytes.get(skipped..)?;
    match core::str::from_utf8(bytes) {
        Ok(text) => Some((skipped, text)),
        Err(error) if error.error_len().is_none() && !at_end => {
            let valid = bytes.get(..error.valid_up_to())?;
            core::str::from_utf8(valid).ok().map(|text| (skipped, text))
        }
        Err(_) => None,
    }
}

/// Returns the size of a file in bytes; `None` if it does not exist.
pub(crate) async fn file_size(call: &Call, path: &RelPath) -> Result<Option<u64>, Error> {
    match call.fs.read(path, 0, 0).await.map_err(|error| Error::storage(Some(path), &error))? {
        ReadOutcome::Content(content) => Ok(Some(content.size)),
        ReadOutcome::Absent => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::whole_characters;

    #[test]
    fn half_characters_at_the_ends_of_a_part_are_left_out() {
        let text = "a日本".as_bytes();
        assert_eq!(whole_characters(&text[2..6], false), Some((2, "")));
        assert_eq!(whole_characters(&text[0..3], false), Some((0, "a")));
        assert_eq!(whole_characters(&text[0..3], true), None);
        assert_eq!(whole_characters(b"a\xffb", false), None);
    }
}
