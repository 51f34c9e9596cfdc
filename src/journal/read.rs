//! `read`, `list` and `status`: looking without changing.

use alloc::format;
use alloc::string::{String, ToString};

use super::{FileState, ListReply, ListedFile, ReadReply, StatusReply, Target};
use crate::document::{head, is_open_item};
use crate::engine::{Call, Loaded, load};
use crate::order;
use crate::protocol::{EntryKind, Error, ReadOutcome};
use crate::search::{FolderScope, SkipReason, Skipped, TRUNCATED, list_markdown};
use crate::store::{LONG_TERM_FILE, Layout, RelPath};

/// A character of UTF-8 has at most this many bytes behind its first.
const MAX_CONTINUATION_BYTES: u32 = 3;

/// Reads a part of a target: at most `max_bytes` from `offset` on, cut on character boundaries.
pub(super) async fn read(call: &Call, target: &Target, offset: u64, max_bytes: u32) -> Result<ReadReply, Error> {
    check_bytes(call, max_bytes)?;
    read_file(call, &target.existing_path(call)?, offset, max_bytes).await
}

/// Refuses a number of bytes that no part has.
fn check_bytes(call: &Call, max_bytes: u32) -> Result<(), Error> {
    let limit = call.scope.limits.max_file_bytes;
    if max_bytes < 4 || max_bytes > limit {
        let message = format!("cannot read {max_bytes} bytes at once, the limits are 4 and {limit}");
        return Err(Error::invalid_argument(message, "read the file in parts: each reply says where the next begins"));
    }
    Ok(())
}

/// Reads a part of a file, as [`read`] does.
pub(crate) async fn read_file(call: &Call, path: &RelPath, offset: u64, max_bytes: u32) -> Result<ReadReply, Error> {
    check_bytes(call, max_bytes)?;
    // A few bytes more, for a character that begins before the part; of the largest part that is left out.
    let asked = max_bytes.saturating_add(MAX_CONTINUATION_BYTES).min(call.scope.limits.max_file_bytes);
    let outcome = call.fs.read(path, offset, asked).await;
    let reply = ReadReply {
        path: call.scope.shown(path),
        state: FileState::Missing,
        text: String::new(),
        offset,
        size: 0,
        next_offset: None,
        ending: "(empty)".to_string(),
    };
    let content = match outcome.map_err(|error| Error::storage(Some(path), &error))? {
        ReadOutcome::Absent | ReadOutcome::Unchanged => return Ok(reply),
        ReadOutcome::Content(content) if content.size == 0 => {
            return Ok(ReadReply { state: FileState::Empty, ..reply });
        }
        ReadOutcome::Content(content) => content,
    };
    if offset >= content.size {
        let message = format!("offset {offset} is at or behind the end of {path}, which has {} bytes", content.size);
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

/// The text of a part of a file, without the halves of characters that the part was cut through, and
/// how many bytes were left out at its start. `None` if it is no UTF-8.
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

/// Every file that `search` covers, sorted by path.
pub(super) async fn list(call: &Call) -> Result<ListReply, Error> {
    let mut reply = ListReply::default();
    for entry in list_markdown(&call.fs, FolderScope::all(&call.scope.layout), &call.scope.limits).await? {
        let path = call.scope.shown(&entry.path);
        if entry.kind == EntryKind::Directory && Layout::is_other_memory(&entry.path) {
            reply.skipped.push(Skipped { path, reason: SkipReason::OtherMemory });
            continue;
        }
        if !call.scope.layout.is_journal(&entry.path) {
            continue;
        }
        if entry.kind == EntryKind::File {
            reply.files.push(ListedFile { path, size: entry.size, modified: entry.modified });
        } else {
            reply.skipped.push(Skipped { path, reason: SkipReason::NotRegular });
        }
    }
    order::sort_slice(&mut reply.files, |a, b| a.path.cmp(&b.path));
    Ok(reply)
}

/// The sizes of what is always at hand.
pub(super) async fn status(call: &Call) -> Result<StatusReply, Error> {
    let layout = &call.scope.layout;
    let long_term = size(call, layout.shared_long_term()).await?;
    let of_project = match layout.project_long_term() {
        Some(path) => size(call, path).await?,
        None => None,
    };
    let scratchpad = text_of(call, layout.scratchpad()).await?;
    let today = text_of(call, &layout.daily(call.now.date())).await?;
    let count = |text: &str, counts: fn(&str) -> bool| {
        u32::try_from(text.lines().filter(|line| counts(line)).count()).unwrap_or(u32::MAX)
    };
    let open_items = count(&scratchpad, is_open_item);
    let today_entries = count(&today, |line| line.starts_with("### "));
    let size_of = |what: &str, size: Option<u64>| {
        size.map_or_else(|| format!("{what}: (not created)"), |size| format!("{what}: {size}B"))
    };
    // Where the shared file is the one that is written, a line for the other one says something only if it is there.
    let names_project = of_project.is_some() || layout.project_long_term() == Some(layout.long_term());
    let mut text = alloc::vec![size_of(LONG_TERM_FILE, long_term)];
    text.extend(names_project.then(|| size_of("MEMORY.md of the project", of_project)));
    text.extend([
        match open_items {
            0 => "scratchpad: (empty)".to_string(),
            items => format!("scratchpad: {items} open item(s)"),
        },
        match today_entries {
            0 => "today: (no entries)".to_string(),
            entries => format!("today: {entries} entry(s)"),
        },
    ]);
    Ok(StatusReply {
        long_term_bytes: long_term,
        project_long_term_bytes: of_project,
        open_items,
        today_entries,
        text: text.join("\n"),
    })
}

/// The size of a file in bytes; `None` where there is none.
pub(super) async fn size(call: &Call, path: &RelPath) -> Result<Option<u64>, Error> {
    match call.fs.read(path, 0, 0).await.map_err(|error| Error::storage(Some(path), &error))? {
        ReadOutcome::Content(content) => Ok(Some(content.size)),
        ReadOutcome::Absent | ReadOutcome::Unchanged => Ok(None),
    }
}

async fn text_of(call: &Call, path: &RelPath) -> Result<String, Error> {
    let limit = call.scope.limits.max_file_bytes;
    match load(&call.fs, path, limit).await? {
        Loaded::Absent => Ok(String::new()),
        Loaded::Whole { bytes, .. } => String::from_utf8(bytes).map_err(|_| Error::not_text(path)),
        Loaded::TooLarge(size) => Err(Error::file_too_large(path, size, u64::from(limit))),
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
