//! [`Store`]: performs operations without blocking, and the rules that all such stores share.

use std::future::Future;

use saddlebag::protocol::{
    Entry, EntryKind, FileContent, FsError, FsOp, FsOutcome, LeftOut, ListOutcome, Precondition, ReadOutcome, Version,
};
use saddlebag::store::RelPath;
use saddlebag_host::executor::{MAX_LIST_ENTRIES, bytes_wanted, list_outcome};

/// Performs operations without blocking. The promises are those of [`Executor`](saddlebag_host::Executor).
pub(crate) trait Store {
    /// Maximum size of a file, in bytes.
    const MAX_FILE_BYTES: u64;

    /// Performs `op`, which has been checked.
    fn perform(&self, op: &FsOp) -> impl Future<Output = Result<FsOutcome, FsError>>;
}

/// Returns the current version if the precondition does not hold: the answer of a lost race.
pub(crate) fn stale(current: Option<&Version>, precondition: &Precondition) -> Option<Option<Version>> {
    let holds = match precondition {
        Precondition::Any => true,
        Precondition::Absent => current.is_none(),
        Precondition::Matches(version) => current == Some(version),
    };
    (!holds).then(|| current.cloned())
}

/// Returns the bytes of a file after an append.
pub(crate) fn appended(old: &[u8], content: &[u8], newline_first: bool) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(old.len() + content.len() + 1);
    bytes.extend_from_slice(old);
    if newline_first && old.last().is_some_and(|&last| last != b'\n') {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(content);
    bytes
}

/// Returns the outcome of a read of a file that is in memory as a whole.
pub(crate) fn part(
    bytes: &[u8],
    version: Version,
    offset: u64,
    max_bytes: u32,
    limit: u64,
) -> Result<ReadOutcome, FsError> {
    let size = bytes.len() as u64;
    let wanted = bytes_wanted(size, offset, max_bytes, limit)?;
    // `offset` is not after the end if anything is wanted, and both fit in memory.
    let start = offset.min(size) as usize;
    let bytes = bytes.get(start..start + wanted as usize).unwrap_or_default().to_vec();
    Ok(ReadOutcome::Content(FileContent { bytes, version, size }))
}

/// Returns a page of the entries of a folder, which may be in any order.
pub(crate) fn page(
    mut entries: Vec<Entry>,
    left_out: LeftOut,
    after: Option<&RelPath>,
    limit: u32,
    unless: Option<&Version>,
) -> ListOutcome {
    entries.sort_unstable_by(|one, other| one.path.cmp(&other.path).then(other.kind.cmp(&one.kind)));
    entries.dedup_by(|one, other| one.path == other.path);
    if let Some(after) = after {
        entries.retain(|entry| entry.path > *after);
    }
    let limit = limit.clamp(1, MAX_LIST_ENTRIES) as usize;
    let has_more = entries.len() > limit;
    entries.truncate(limit);
    let next = if has_more { entries.last().map(|entry| entry.path.clone()) } else { None };
    let left_out = if after.is_none() { left_out } else { LeftOut::default() };
    list_outcome(entries, next, left_out, true, unless)
}

/// Returns the entry of a folder.
pub(crate) fn folder_entry(path: RelPath) -> Entry {
    Entry { path, kind: EntryKind::Directory, size: 0, version: Version(String::new()), modified: 0 }
}

/// Returns the paths of the folders above a path, outermost first.
pub(crate) fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}
