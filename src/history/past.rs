//! [`Past`]: the files of the scope as they were at an earlier time.

use saddlebag_log::{Digest, State};

use super::files::FileHistory;
use super::log::History;
use crate::changes::Call;
use crate::entries::Entries;
use crate::origin::Moment;
use crate::store::{RelPath, rfc3339};
use saddlebag_collections::{
    order,
    prelude::*,
    sorted::{SortedMap, SortedSet},
};
use saddlebag_protocol::{
    Entry, EntryKind, Error, ErrorCode, FileContent, FsError, FsOp, FsOutcome, Listing, ReadOutcome, Version, View,
};

/// Maximum size of all files that were different, in bytes.
const MAX_PAST_BYTES: u64 = 256 << 20;

/// The files of the scope that were different at an earlier time. The others are as they are in the store.
#[derive(Default)]
struct Past {
    files: SortedMap<RelPath, PastFile>,
}

/// A file at an earlier time.
enum PastFile {
    Absent,
    Whole(Vec<u8>),
    /// It existed, and the history does not have its text.
    NotKept,
}

/// Shows the command the files as they were at a moment, and returns the moment in nanoseconds since 1970-01-01T00:00:00Z.
///
/// # Errors
///
/// The history begins later, or the files that were different are too large.
pub(crate) async fn look_back(call: &Call, entries: &Entries, at: &Moment) -> Result<i64, Error> {
    let history = History::of_all_seen(call, entries).await?;
    let end = history.end_of(at, call)?;
    let first = history.records.iter().map(|recorded| recorded.record.time_ns).min();
    if first.is_none_or(|first| first >= end) {
        let message = match first {
            Some(first) => format!(
                "the history of this memory begins later, at {}",
                rfc3339(first / 1_000_000, call.now.timestamp().utc_offset_seconds)
            ),
            None => "this memory has no history".to_string(),
        };
        return Err(Error::new(ErrorCode::NotFound, message, "leave the time out to see the memory as it is"));
    }
    let mut past = Past::default();
    let mut bytes = 0;
    for path in history.paths() {
        let mut file = match FileHistory::new(call, &history, path).await {
            // Only its end was recorded.
            Err(error) if error.code == ErrorCode::TooLarge => continue,
            file => file?,
        };
        let place = file.place_at(call, end).await?;
        let state = place.and_then(|place| file.versions.get(place)).map_or(State::Absent, |version| version.state);
        if state == State::of(file.file.bytes()) {
            continue;
        }
        let then = match file.content(call, state).await {
            Ok(Some(content)) => PastFile::Whole(content),
            Ok(None) => PastFile::Absent,
            Err(error) if error.code == ErrorCode::NotFound => PastFile::NotKept,
            Err(error) => return Err(error),
        };
        if let PastFile::Whole(content) = &then {
            bytes += content.len() as u64;
        }
        if bytes > MAX_PAST_BYTES {
            let message = format!("the files that were different then have more than {MAX_PAST_BYTES} bytes");
            return Err(Error::new(ErrorCode::TooLarge, message, "`show NAME --at TIME` shows one of them"));
        }
        past.files.insert(path.clone(), then);
    }
    call.show(Arc::new(past));
    Ok(end.saturating_sub(1))
}

impl View for Past {
    fn answer(&self, op: &FsOp) -> Option<Result<FsOutcome, FsError>> {
        match op {
            FsOp::Read { path, offset, max_bytes } => Some(match self.files.get(path)? {
                PastFile::Absent => Ok(FsOutcome::Read(ReadOutcome::Absent)),
                PastFile::NotKept => Err(FsError::Other("the history does not have its text of that time".into())),
                PastFile::Whole(content) => {
                    let from = usize::try_from(*offset).unwrap_or(usize::MAX).min(content.len());
                    let rest = content.get(from..).unwrap_or_default();
                    let part = rest.get(..*max_bytes as usize).unwrap_or(rest);
                    let (bytes, size, version) = (part.to_vec(), content.len() as u64, version(content));
                    Ok(FsOutcome::Read(ReadOutcome::Content(FileContent { bytes, version, size })))
                }
            }),
            FsOp::ListDirectory { .. } | FsOp::Generation => None,
            // The past does not change.
            _ => Some(Err(FsError::ReadOnly)),
        }
    }

    fn amend(&self, folder: Option<&RelPath>, after: Option<&RelPath>, mut page: Listing) -> Listing {
        let is_on_page = |path: &RelPath| {
            after.is_none_or(|after| path > after) && page.next.as_ref().is_none_or(|last| path <= last)
        };
        let is_here = |path: &RelPath| path.parent().as_ref() == folder;
        page.entries.retain(|entry| !self.files.contains_key(&entry.path));
        let mut folders: SortedSet<RelPath> = SortedSet::default();
        for (path, file) in self.files.iter().filter(|(_, file)| !matches!(file, PastFile::Absent)) {
            let mut child = path.clone();
            while let Some(above) = child.parent().filter(|_| !is_here(&child)) {
                child = above;
            }
            if !is_here(&child) || !is_on_page(&child) {
                continue;
            }
            if child == *path {
                let content = match file {
                    PastFile::Whole(content) => content.as_slice(),
                    PastFile::Absent | PastFile::NotKept => &[],
                };
                let (size, version) = (content.len() as u64, version(content));
                page.entries.push(Entry { path: child, kind: EntryKind::File, size, version, modified: 0 });
            } else if !page.entries.iter().any(|entry| entry.path == child) {
                folders.insert(child);
            }
        }
        let version = Version(alloc::string::String::new());
        page.entries.extend(folders.iter().map(|path| Entry {
            path: path.clone(),
            kind: EntryKind::Directory,
            size: 0,
            version: version.clone(),
            modified: 0,
        }));
        order::sort_slice(&mut page.entries, |a, b| a.path.cmp(&b.path));
        Listing { version: None, ..page }
    }
}

fn version(content: &[u8]) -> Version {
    Version(format!("past/{}", Digest::of(content)))
}
