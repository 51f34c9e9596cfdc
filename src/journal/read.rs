//! `read`: reads a part of a file.

use super::target::Target;
use super::types::{FileState, JournalCall, ReadReply};
use crate::changes::Call;
use crate::request::{Run, request};
use crate::search::TRUNCATED;
use crate::store::RelPath;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::head;
use saddlebag_protocol::{Error, ReadOutcome};

/// Maximum number of bytes of a UTF-8 character after its first.
const MAX_CONTINUATION_BYTES: u32 = 3;

/// Reads a part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// File to read.
    pub target: Target,
    /// Position of the first byte.
    pub offset: u64,
    /// Maximum number of bytes.
    pub max_bytes: u32,
}

request!(Read "read" => ReadReply, Reads, |name| {
    Target::samples(name).into_iter().map(|target| Self { target, offset: 0, max_bytes: 4000 }).collect()
});

impl Run<JournalCall<'_>> for Read {
    async fn run(self, with: &JournalCall<'_>) -> Result<ReadReply, Error> {
        read(with.call, &self.target, self.offset, self.max_bytes).await
    }
}

/// Reads at most `max_bytes` from `offset` on, cut at character boundaries.
pub(super) async fn read(call: &Call, target: &Target, offset: u64, max_bytes: u32) -> Result<ReadReply, Error> {
    check_bytes(call, max_bytes)?;
    read_file(call, &target.existing_path(call)?, offset, max_bytes).await
}

/// Refuses a number of bytes outside the limits.
fn check_bytes(call: &Call, max_bytes: u32) -> Result<(), Error> {
    let limit = call.scope.limits.max_file_bytes;
    if max_bytes < 4 || max_bytes > limit {
        let message = format!("cannot read {max_bytes} bytes at once, the limits are 4 and {limit}");
        return Err(Error::invalid_argument(message, "read the file in parts: each reply says where the next begins"));
    }
    Ok(())
}

/// Reads a part of a file like [`read`].
pub(crate) async fn read_file(call: &Call, path: &RelPath, offset: u64, max_bytes: u32) -> Result<ReadReply, Error> {
    check_bytes(call, max_bytes)?;
    // Reads a few bytes more, so that a character that begins before the part can be recognised. The largest part
    // omits them.
    let asked = max_bytes.saturating_add(MAX_CONTINUATION_BYTES).min(call.scope.limits.max_file_bytes);
    let outcome = call.fs.read(path, offset, asked).await;
    let reply = ReadReply {
        path: call.scope.display_path(path),
        state: FileState::Missing,
        text: String::new(),
        offset,
        size: 0,
        next_offset: None,
        ending: "(empty)".to_string(),
        superseded_by: None,
        superseded_since: None,
    };
    let content = match outcome.map_err(|error| Error::storage(Some(path), &error))? {
        ReadOutcome::Absent => return Ok(reply),
        ReadOutcome::Content(content) if content.size == 0 => {
            return Ok(ReadReply { state: FileState::Empty, ..reply });
        }
        ReadOutcome::Content(content) => content,
    };
    if offset >= content.size {
        let message = format!("offset {offset} is at or after the end of {path}, which has {} bytes", content.size);
        return Err(Error::invalid_argument(message, "start at 0, or at the next offset that a reply gave"));
    }
    let at_end = offset + content.bytes.len() as u64 >= content.size;
    let (skipped, text) = whole_characters(&content.bytes, at_end).ok_or_else(|| Error::not_text(path))?;
    let shown = head(text, max_bytes as usize);
    let begin = offset + skipped as u64;
    let end = begin + shown.len() as u64;
    let next_offset = (end < content.size).then_some(end);
    Ok(ReadReply {
        state: FileState::Text,
        text: shown.to_string(),
        offset: begin,
        size: content.size,
        next_offset,
        ending: if next_offset.is_some() { TRUNCATED.to_string() } else { String::new() },
        ..reply
    })
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
