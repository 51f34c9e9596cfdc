//! [`Executor`]: performs the operations that the component requests, and what every implementation needs.

use std::sync::{Arc, Mutex, PoisonError};

use saddlebag::protocol::{
    Entry, EntryKind, FsError, FsOp, FsOutcome, LeftOut, LeftOutName, ListOutcome, Listing, MAX_LEFT_OUT_NAMES, Version,
};
use saddlebag::store::{MAX_SEGMENT_BYTES, RelPath};
use saddlebag_locks::{is_own, is_spelling};
use sha2::{Digest, Sha256};

/// Maximum number of entries on one page of a listing, whatever the component requests.
pub const MAX_LIST_ENTRIES: u32 = 65_536;

/// Performs operations on one store.
///
/// An implementation promises:
///
/// - It returns exactly one answer per operation, and the kind of an outcome matches its operation.
/// - Every failure is a value. Nothing panics, and an [`FsError`] means that nothing has changed,
///   unless its text says otherwise.
/// - An acknowledged write or append survives, to the extent of its [`Durability`].
/// - An outcome is true at one moment between the call and its return: a read never mixes two
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
/// let path = RelPath::new("MEMORY.md")?;
/// let outcome = store.perform(&FsOp::Read { path, offset: 0, max_bytes: 1024 })?;
/// assert_eq!(outcome, FsOutcome::Read(ReadOutcome::Absent));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Executor {
    /// Performs `op`.
    ///
    /// # Errors
    ///
    /// The reason why it was not performed. Absence and a lost race are outcomes, not errors.
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError>;

    /// Performs all of `ops` and returns one result for each, in their order.
    ///
    /// The results equal the results of [`perform`](Self::perform) for one operation after another. An implementation
    /// may perform independent operations at the same time: reads and listings between two changes.
    fn perform_all(&mut self, ops: &[&FsOp]) -> Vec<Result<FsOutcome, FsError>> {
        ops.iter().map(|op| self.perform(op)).collect()
    }
}

impl<E: Executor + ?Sized> Executor for Arc<Mutex<E>> {
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
        self.lock().unwrap_or_else(PoisonError::into_inner).perform(op)
    }

    fn perform_all(&mut self, ops: &[&FsOp]) -> Vec<Result<FsOutcome, FsError>> {
        self.lock().unwrap_or_else(PoisonError::into_inner).perform_all(ops)
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

/// Extent to which an acknowledged change survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// It survives a crash of the machine: files and folders are synced before the answer.
    #[default]
    Full,
    /// It survives a crash of the process. After a power cut the latest changes may be missing; the store itself
    /// leaves no file half-written, but the file system may.
    Fast,
}

/// Returns true if `op` changes nothing.
pub fn is_read(op: &FsOp) -> bool {
    matches!(op, FsOp::Read { .. } | FsOp::ListDirectory { .. } | FsOp::Generation)
}

/// Returns the path of `op` for a trace; empty for the root.
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
        FsOp::Generation => "",
    }
}

/// Returns the outcome of a listing: the page, or that it still has the version `unless`.
///
/// `settled` is true if every version in it will change with the bytes of its file.
pub fn list_outcome(
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

/// Returns the unusable names to report. `names` are their paths, as far as they have one, and their kinds.
pub fn left_out(names: Vec<(Option<RelPath>, EntryKind)>) -> LeftOut {
    let count = u32::try_from(names.len()).unwrap_or(u32::MAX);
    let named = names.into_iter().filter_map(|(path, kind)| Some(LeftOutName { path: path?, kind }));
    let mut names: Vec<LeftOutName> = named.collect();
    names.sort_unstable();
    names.truncate(MAX_LEFT_OUT_NAMES);
    LeftOut { names, count }
}

/// Returns the closest valid path for an unusable name; `None` if it would be too long.
pub fn spelled(folder: Option<&str>, name: &str) -> Option<RelPath> {
    let spell = |letter: char| if letter == '\\' || letter.is_control() { char::REPLACEMENT_CHARACTER } else { letter };
    let mut spelled: String = name.chars().map(spell).collect();
    spelled.truncate(spelled.floor_char_boundary(MAX_SEGMENT_BYTES));
    RelPath::new(folder.map_or_else(|| spelled.clone(), |folder| format!("{folder}/{spelled}"))).ok()
}

/// Returns a digest of everything on a page.
fn page_version(entries: &[Entry], next: Option<&RelPath>, left_out: &LeftOut) -> Version {
    let mut digest = Sha256::new();
    let mut add = |text: &str| {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    };
    add(next.map_or("", RelPath::as_str));
    for entry in entries {
        add(entry.path.as_str());
        // The version of a file already covers its size and time.
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

/// Refuses `op` if it names a file of the host itself, or has too many bytes for one change.
///
/// # Errors
///
/// [`FsError::InvalidPath`] and [`FsError::TooLarge`].
pub fn check(op: &FsOp, max_write_bytes: u64) -> Result<(), FsError> {
    refuse_reserved(op)?;
    match op {
        FsOp::Write { content, .. } | FsOp::Append { content, .. } if content.len() as u64 > max_write_bytes => {
            Err(FsError::TooLarge(max_write_bytes))
        }
        _ => Ok(()),
    }
}

/// Bytes to add to a file, as [`FsOp::Append`] has them.
#[derive(Clone, Copy)]
pub(crate) struct Addition<'a> {
    pub(crate) content: &'a [u8],
    pub(crate) newline_first: bool,
    pub(crate) may_tear: bool,
    pub(crate) may_vanish: bool,
}

/// Performs an operation by the method of its name, which every executor of this crate has.
macro_rules! by_method {
    ($store:expr, $op:expr) => {
        match $op {
            FsOp::Read { path, offset, max_bytes } => $store.read(path, *offset, *max_bytes).map(FsOutcome::Read),
            FsOp::Write { path, content, precondition, keep_as, like } => {
                $store.write(path, content, precondition, keep_as.as_ref(), like.as_ref()).map(FsOutcome::Write)
            }
            FsOp::Append { path, content, newline_first, precondition, may_tear, may_vanish } => {
                let addition = $crate::executor::Addition {
                    content,
                    newline_first: *newline_first,
                    may_tear: *may_tear,
                    may_vanish: *may_vanish,
                };
                $store.append(path, &addition, precondition).map(FsOutcome::Append)
            }
            FsOp::ListDirectory { folder, after, limit, unless } => {
                $store.list(folder.as_ref(), after.as_ref(), *limit, unless.as_ref()).map(FsOutcome::ListDirectory)
            }
            FsOp::Remove { path, precondition, keep_as, may_return } => {
                $store.remove(path, precondition, keep_as.as_ref(), *may_return).map(FsOutcome::Remove)
            }
            FsOp::Rename { path: from, to, precondition } => {
                $store.rename(from, to, precondition).map(FsOutcome::Rename)
            }
            FsOp::MakeDirectory { path } => $store.make_directory(path).map(|()| FsOutcome::MakeDirectory),
            FsOp::Generation => $store.generation().map(FsOutcome::Generation),
            FsOp::RemoveDirectory { path } => $store.remove_directory(path).map(FsOutcome::RemoveDirectory),
        }
    };
}
pub(crate) use by_method;

/// Returns the number of bytes that a read of a file of `size` bytes returns. Refuses more than `limit`.
///
/// # Errors
///
/// [`FsError::TooLarge`].
pub fn bytes_wanted(size: u64, offset: u64, max_bytes: u32, limit: u64) -> Result<u64, FsError> {
    let wanted = size.saturating_sub(offset).min(u64::from(max_bytes));
    if wanted > limit { Err(FsError::TooLarge(limit)) } else { Ok(wanted) }
}

fn refuse_reserved(op: &FsOp) -> Result<(), FsError> {
    let (kept, other) = match op {
        FsOp::Write { keep_as, like, .. } => (keep_as.as_ref(), like.as_ref()),
        FsOp::Remove { keep_as, .. } => (keep_as.as_ref(), None),
        FsOp::Rename { to, .. } => (None, Some(to)),
        _ => (None, None),
    };
    let others = kept.into_iter().chain(other).map(RelPath::as_str);
    if others.chain([traced_path(op)]).any(is_reserved) {
        return Err(FsError::InvalidPath("this name is kept for the host".into()));
    }
    if kept.is_some_and(|kept| kept.as_str() == traced_path(op)) {
        return Err(FsError::InvalidPath("a file cannot be kept at its own path".into()));
    }
    Ok(())
}

/// Returns true if `path` is one of the host's own, or keeps a folder of the host out of git.
pub(crate) fn is_reserved(path: &str) -> bool {
    is_own(path) || is_ignore_file(path)
}

/// Returns true for [`IGNORE_FILE`] in a folder of the host.
fn is_ignore_file(path: &str) -> bool {
    let mut names = path.rsplit('/');
    names.next().is_some_and(|name| is_spelling(name, IGNORE_FILE))
        && names.next().is_some_and(|folder| is_spelling(folder, STATE_FOLDER))
}

/// Host's own folder at the top of a store. A project has a folder of this name for the files of the component.
pub(crate) const STATE_FOLDER: &str = ".saddlebag";
/// File that keeps such a folder out of version control.
pub(crate) const IGNORE_FILE: &str = ".gitignore";
/// Folder for text found in temporary files, in [`STATE_FOLDER`].
pub(crate) const RECOVERED_FOLDER: &str = "recovered";
/// Prefix of the names of temporary files.
pub(crate) const TEMPORARY_PREFIX: &str = ".saddlebag-";
/// Suffix of the names of temporary files.
pub(crate) const TEMPORARY_SUFFIX: &str = ".tmp";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_names_are_reserved_whatever_their_spelling() {
        for path in [
            ".saddlebag/locks-3/07",
            ".saddlebag/.gitignore",
            "projects/p/.Saddlebag/.GITIGNORE",
            "notes/.saddlebag-1-2-3.tmp",
            ".\u{17f}addlebag/.gitignore. ",
        ] {
            assert!(is_reserved(path), "{path}");
        }
        for path in [".saddlebag/index", ".gitignore", ".saddlebag/x/.gitignore"] {
            assert!(!is_reserved(path), "{path}");
        }
    }
}
