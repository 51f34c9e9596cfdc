//! [`Executor`]: what performs the operations that the component asks for.

use saddlebag::protocol::{
    Entry, EntryKind, FsError, FsOp, FsOutcome, LeftOut, LeftOutName, ListOutcome, Listing, MAX_LEFT_OUT_NAMES, Version,
};
use saddlebag::store::{MAX_SEGMENT_BYTES, RelPath, folded_name, is_name};
use sha2::{Digest, Sha256};

/// The most entries that one page of a listing holds, whatever the component asks for.
pub(crate) const MAX_LIST_ENTRIES: u32 = 65_536;

/// Performs operations on one store.
///
/// What an implementation promises:
///
/// - Exactly one answer for every operation, and the kind of an outcome is that of its operation.
/// - Every failure is a value. Nothing panics, and an [`FsError`] means that nothing has changed,
///   unless its text says otherwise.
/// - A write or an append that was acknowledged is kept, to the extent of its [`Durability`].
/// - An outcome is true of one moment between the call and its return: a read never mixes two
///   versions of a file, and of two writes that name the same version at most one is done.
/// - Symbolic links below the root of the store are refused, never followed.
///
/// Several executors, in one process or many, may serve the same store at once.
///
/// ```
/// use saddlebag::protocol::{FsOp, FsOutcome, ReadOutcome};
/// use saddlebag::store::RelPath;
/// use saddlebag_host::{Executor, Simulator};
///
/// let mut store = Simulator::new(1);
/// let path = RelPath::parse("MEMORY.md")?;
/// let outcome = store.perform(&FsOp::Read { path, offset: 0, max_bytes: 1024, unless: None })?;
/// assert_eq!(outcome, FsOutcome::Read(ReadOutcome::Absent));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Executor {
    /// Performs `op`.
    ///
    /// # Errors
    ///
    /// Why it was not performed. Absence and a lost race are outcomes, not errors.
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError>;

    /// Performs all of `ops` and gives one result for each, in their order.
    ///
    /// It comes to the same as [`perform`](Self::perform) for one after another. An implementation may perform at the
    /// same time what does not depend on each other: reads and listings between two changes.
    fn perform_all(&mut self, ops: &[&FsOp]) -> Vec<Result<FsOutcome, FsError>> {
        ops.iter().map(|op| self.perform(op)).collect()
    }
}

impl<E: Executor + ?Sized> Executor for Box<E> {
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
        (**self).perform(op)
    }

    fn perform_all(&mut self, ops: &[&FsOp]) -> Vec<Result<FsOutcome, FsError>> {
        (**self).perform_all(ops)
    }
}

impl<E: Executor + ?Sized> Executor for &mut E {
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
        (**self).perform(op)
    }

    fn perform_all(&mut self, ops: &[&FsOp]) -> Vec<Result<FsOutcome, FsError>> {
        (**self).perform_all(ops)
    }
}

/// What an acknowledged change survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A crash of the machine: files and folders are synced before the answer.
    #[default]
    Full,
    /// A crash of the process. After a power cut the latest changes may be missing; no file is
    /// half-written through the store's own doing, but the file system decides.
    Fast,
}

/// Returns true if `op` asks for nothing to be changed.
pub(crate) fn is_read(op: &FsOp) -> bool {
    matches!(op, FsOp::Read { .. } | FsOp::ListDirectory { .. } | FsOp::Score { .. })
}

/// The path of `op` as a field of a trace; empty for the root.
pub(crate) fn traced_path(op: &FsOp) -> &str {
    match op {
        FsOp::Read { path, .. }
        | FsOp::Write { path, .. }
        | FsOp::Append { path, .. }
        | FsOp::Remove { path, .. }
        | FsOp::MakeDirectory { path }
        | FsOp::RemoveDirectory { path } => path.as_str(),
        FsOp::Rename { path: from, .. } => from.as_str(),
        FsOp::ListDirectory { folder, .. } => folder.as_ref().map_or("", RelPath::as_str),
        FsOp::Score { .. } => "",
    }
}

/// What a listing comes to: the page, or that it is still what `unless` names.
///
/// `settled`: every version in it changes with the bytes of its file from here on.
pub(crate) fn list_outcome(
    entries: Vec<Entry>,
    next: Option<RelPath>,
    left_out: LeftOut,
    settled: bool,
    unless: Option<&Version>,
) -> ListOutcome {
    let version = settled.then(|| page_version(&entries, next.as_ref(), &left_out));
    if version.is_some() && version.as_ref() == unless {
        return ListOutcome::Unchanged;
    }
    ListOutcome::Page(Listing { entries, next, left_out, version })
}

/// The names among these that are told of. `names` are the path of each, as far as it has one, and what it is.
pub(crate) fn left_out(names: Vec<(Option<RelPath>, EntryKind)>) -> LeftOut {
    let count = u32::try_from(names.len()).unwrap_or(u32::MAX);
    let named = names.into_iter().filter_map(|(path, kind)| Some(LeftOutName { path: path?, kind }));
    let mut names: Vec<LeftOutName> = named.collect();
    names.sort_unstable();
    names.truncate(MAX_LEFT_OUT_NAMES);
    LeftOut { names, count }
}

/// A name that no path may have, spelled as well as a path can; `None` where the whole path would be too long.
pub(crate) fn spelled(folder: Option<&str>, name: &str) -> Option<RelPath> {
    let spell = |letter: char| if letter == '\\' || letter.is_control() { char::REPLACEMENT_CHARACTER } else { letter };
    let mut spelled: String = name.chars().map(spell).collect();
    spelled.truncate(spelled.floor_char_boundary(MAX_SEGMENT_BYTES));
    RelPath::parse(folder.map_or_else(|| spelled.clone(), |folder| format!("{folder}/{spelled}"))).ok()
}

/// A digest of all that a page says.
fn page_version(entries: &[Entry], next: Option<&RelPath>, left_out: &LeftOut) -> Version {
    let mut digest = Sha256::new();
    let mut add = |text: &str| {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    };
    add(next.map_or("", RelPath::as_str));
    for entry in entries {
        add(entry.path.as_str());
        // Size and time of a file are as good as told by its version.
        add(match entry.kind {
            EntryKind::File => &entry.version.0,
            EntryKind::Directory => "directory",
            EntryKind::Other => "other",
        });
    }
    for name in &left_out.names {
        add(name.path.as_str());
        add(name.kind.as_str());
    }
    if left_out.count > 0 {
        add(&left_out.count.to_string());
    }
    Version(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Refuses `op` if it names what the host keeps for itself or has more bytes than one change takes.
pub(crate) fn check(op: &FsOp, max_write_bytes: u64) -> Result<(), FsError> {
    refuse_reserved(op)?;
    match op {
        FsOp::Write { content, .. } | FsOp::Append { content, .. } if content.len() as u64 > max_write_bytes => {
            Err(FsError::TooLarge(max_write_bytes))
        }
        _ => Ok(()),
    }
}

/// Has an operation performed by the method of its name, which every executor of this crate has.
macro_rules! by_method {
    ($store:expr, $op:expr) => {
        match $op {
            FsOp::Read { path, offset, max_bytes, unless } => {
                $store.read(path, *offset, *max_bytes, unless.as_ref()).map(FsOutcome::Read)
            }
            FsOp::Write { path, content, precondition } => {
                $store.write(path, content, precondition).map(FsOutcome::Write)
            }
            FsOp::Append { path, content, newline_first, precondition } => {
                $store.append(path, content, *newline_first, precondition).map(FsOutcome::Append)
            }
            FsOp::ListDirectory { folder, after, limit, unless } => {
                $store.list(folder.as_ref(), after.as_ref(), *limit, unless.as_ref()).map(FsOutcome::ListDirectory)
            }
            FsOp::Remove { path, precondition } => $store.remove(path, precondition).map(FsOutcome::Remove),
            FsOp::Rename { path: from, to, precondition } => {
                $store.rename(from, to, precondition).map(FsOutcome::Rename)
            }
            FsOp::MakeDirectory { path } => $store.make_directory(path).map(|()| FsOutcome::MakeDirectory),
            FsOp::Score { query, texts } => $store.score(query, texts).map(FsOutcome::Score),
            FsOp::RemoveDirectory { path } => $store.remove_directory(path).map(FsOutcome::RemoveDirectory),
        }
    };
}
pub(crate) use by_method;

/// How many bytes a read of a file of `size` bytes gives; refuses more than `limit`.
pub(crate) fn bytes_wanted(size: u64, offset: u64, max_bytes: u32, limit: u64) -> Result<u64, FsError> {
    let wanted = size.saturating_sub(offset).min(u64::from(max_bytes));
    if wanted > limit { Err(FsError::TooLarge(limit)) } else { Ok(wanted) }
}

fn refuse_reserved(op: &FsOp) -> Result<(), FsError> {
    let other = if let FsOp::Rename { to, .. } = op { to.as_str() } else { "" };
    if [traced_path(op), other].into_iter().any(is_reserved) {
        return Err(FsError::InvalidPath("this name is kept for the host".into()));
    }
    Ok(())
}

/// Whether `path` is a temporary file or in the folder of the locks.
///
/// Case does not count: where the file system ignores it, it must not open a way around.
pub(crate) fn is_reserved(path: &str) -> bool {
    let mut segments = path.split('/').filter(|segment| !folded_name(segment).is_empty());
    let in_locks = segments.next().is_some_and(|first| is_name(first, STATE_FOLDER))
        && segments.next().is_some_and(|second| is_name(second, LOCKS_FOLDER));
    in_locks || path.split('/').any(is_temporary)
}

/// The host's own folder at the top of a store.
pub(crate) const STATE_FOLDER: &str = ".saddlebag";
/// The folder of the lock files, in [`STATE_FOLDER`].
pub(crate) const LOCKS_FOLDER: &str = "locks";
/// The folder for texts found in temporary files, in [`STATE_FOLDER`].
pub(crate) const RECOVERED_FOLDER: &str = "recovered";
/// How the name of a temporary file begins.
pub(crate) const TEMPORARY_PREFIX: &str = ".saddlebag-";
/// How the name of a temporary file ends.
pub(crate) const TEMPORARY_SUFFIX: &str = ".tmp";

/// Whether `name` is that of a temporary file, of this process or of one that died.
pub(crate) fn is_temporary(name: &str) -> bool {
    let name = folded_name(name);
    name.strip_prefix(TEMPORARY_PREFIX).is_some_and(|rest| rest.ends_with(TEMPORARY_SUFFIX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_and_temporary_files_are_reserved_whatever_their_case() {
        for path in [".saddlebag/locks", ".saddlebag/locks/07", ".Saddlebag/LOCKS/x", "notes/.saddlebag-1-2-3.tmp"]
            .into_iter()
            .chain([
                ".\u{17f}addlebag/loc\u{212a}s/07",
                ".saddlebag./locks /07",
                "SADDLE~1/locks",
                "a/.SADDLEBAG-1.TMP::$DATA",
            ])
        {
            assert!(is_reserved(path), "{path}");
        }
        for path in [".saddlebag/index", "x/.saddlebag/locks", ".saddlebag-x.md", "notes/é.tmp", ".saddlebag-日本"] {
            assert!(!is_reserved(path), "{path}");
        }
    }
}
