//! The operations that the component asks for, and what a host may answer.
//!
//! # What does the contract promise, and where does it differ from a plain file system?
//!
//! The promises are documented at the operations, in `wit/fs.wit`. A host offers less than a file system, and promises
//! more.
//!
//! | Plain file system | Here |
//! | --- | --- |
//! | Open, seek, write at an offset | No handles. A read gives bytes of one version, and says which; a file is replaced whole, or added to at its end |
//! | The replaced bytes are gone | `write` and `remove` can keep them under another path, in the same step |
//! | Last writer wins | `write`, `append`, `remove` and `rename` carry a precondition: `any`, `absent`, `matches(version)` |
//! | Modification time shows a change | A version is an opaque text that changes whenever the bytes do; only equality has a meaning |
//! | An error may mean "done" | A lost race is the outcome `stale`, with the current version. A store that cannot tell says `unknown`, and one that could not sync a change says `not-durable` |
//! | `O_APPEND` in the middle of a line | `newline-first` ends an unfinished last line before the addition |
//! | An absent file is `ENOENT` | Absence is an outcome; an absent folder is empty; removing what is absent succeeds |
//! | `readdir`, in no order | Sorted by the bytes of the path, in pages with a cursor and a version; `unchanged` if the page still has it |
//! | Links, devices, any name | Links are refused, devices never read. A path is relative, at most 4,096 bytes; a segment has 1 to 255 bytes, is neither `.` nor `..`, and has no `\`, NUL or control character |
//! | `mkdir` first, `rename` replaces | Folders are made on the way; `rename` needs a free name, else `exists` |
//! | `rmdir` of a folder that is not empty is an error | `not-empty` is an outcome, and so is `absent` |
//!
//! An `unknown` is settled by reading back: a write by comparing the whole file, an append by comparing the bytes at the
//! offset that the outcome names. A change that lost its race is computed again from the current file, up to 1,024 times; then
//! the error is `contention`.
//!
//! A `not-durable` is not read back: the bytes may come from a cache that the disk never took. The command fails and says
//! that the change may be undone, and the host writes the file again before anything that is done to it later is
//! acknowledged. `a_change_that_is_not_durable_is_never_acknowledged` puts this on every operation of every command and
//! then cuts the power.
//!
//! The commands that exist ask for `read`, `write`, `append`, `remove` and `list-directory`. A listing is of one
//! folder: a tree is walked folder by folder, so that each page has its own version. `init-notebook` asks for
//! `make-directory`, Anthropic's tool and the move of an entry to another category for `rename`, and both that tool and
//! a purge of entries for `remove-directory`; the `rename` of a note makes a new file before the old one goes.

use saddlebag_collections::words;

use super::{CommandId, ContextKey, RelPath};
use saddlebag_collections::prelude::*;

/// Identifies the bytes of a file: it changes whenever they change.
///
/// Opaque to the component. Only equality has a meaning, and only for one file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub String);

/// A condition on a file. An operation is performed only if it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// No condition.
    Any,
    /// The file does not exist.
    Absent,
    /// The file has this version.
    Matches(Version),
}

/// One operation on the store, with the promise that a host makes by performing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FsOp {
    /// Reads bytes of one consistent version of the file.
    Read {
        /// Path of the file.
        path: RelPath,
        /// Position of the first byte; past the end gives no bytes.
        offset: u64,
        /// Maximum number of bytes.
        max_bytes: u32,
    },
    /// Replaces the whole file, atomically: a reader sees the old bytes or the new ones. Durable once acknowledged.
    /// Missing folders are created.
    Write {
        /// Path of the file.
        path: RelPath,
        /// New bytes.
        content: Vec<u8>,
        /// Condition that must hold before.
        precondition: Precondition,
        /// Path under which the replaced bytes are kept. What is there is replaced once the file has its new bytes.
        keep_as: Option<RelPath>,
        /// File whose permissions a new file gets.
        like: Option<RelPath>,
    },
    /// Appends bytes, and creates the file and its folders if necessary. Never tears, interleaves or loses a line;
    /// durable once acknowledged.
    Append {
        /// Path of the file.
        path: RelPath,
        /// Bytes to append.
        content: Vec<u8>,
        /// If set, writes a newline first if the file is not empty and does not end in one.
        newline_first: bool,
        /// Condition that must hold before.
        precondition: Precondition,
        /// True if an interruption may leave a part of the bytes: their reader checks each line.
        may_tear: bool,
        /// True if the addition need not be durable, unless it creates the file.
        may_vanish: bool,
    },
    /// Lists a folder, sorted by path; an absent folder is empty.
    ListDirectory {
        /// Path of the folder; `None` for the root.
        folder: Option<RelPath>,
        /// Cursor of the previous page: only entries that sort after this path are listed.
        after: Option<RelPath>,
        /// Maximum number of entries.
        limit: u32,
        /// Version for which the answer is `Unchanged`, if the page still has it.
        unless: Option<Version>,
    },
    /// Removes a file. Removing an absent file succeeds.
    Remove {
        /// Path of the file.
        path: RelPath,
        /// Condition that must hold before.
        precondition: Precondition,
        /// Path under which the bytes of the file are kept.
        keep_as: Option<RelPath>,
        /// True if the removal need not be durable.
        may_return: bool,
    },
    /// Moves a file to a free name, atomically.
    Rename {
        /// Path of the file.
        path: RelPath,
        /// New path, which must be free.
        to: RelPath,
        /// Condition on the file that must hold before.
        precondition: Precondition,
    },
    /// Creates a folder and its parents. Does nothing on a store without folders.
    MakeDirectory {
        /// Path of the folder.
        path: RelPath,
    },
    /// Removes an empty folder.
    RemoveDirectory {
        /// Path of the folder.
        path: RelPath,
    },
    /// Returns a token of the whole store, which differs from all earlier ones once a file outside of `.saddlebag/` has
    /// changed.
    Generation,
}

/// An operation, and the key that its result must carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FsRequest {
    /// Key, which the host returns verbatim.
    pub key: ContextKey,
    /// Command that requests the operation.
    pub command: CommandId,
    /// Operation to perform.
    pub op: FsOp,
}

/// Answer to one request. There is exactly one for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FsResult {
    /// Key of the request, verbatim.
    pub key: String,
    /// Outcome, or the reason why the operation has no outcome.
    pub outcome: Result<FsOutcome, FsError>,
}

/// Outcome of a performed operation. Its kind matches the operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FsOutcome {
    /// Outcome of [`FsOp::Read`].
    Read(ReadOutcome),
    /// Outcome of [`FsOp::Write`].
    Write(WriteOutcome),
    /// Outcome of [`FsOp::Append`].
    Append(AppendOutcome),
    /// Outcome of [`FsOp::ListDirectory`].
    ListDirectory(ListOutcome),
    /// Outcome of [`FsOp::Remove`].
    Remove(RemoveOutcome),
    /// Outcome of [`FsOp::Rename`].
    Rename(RenameOutcome),
    /// Outcome of [`FsOp::MakeDirectory`]: the folder exists.
    MakeDirectory,
    /// Outcome of [`FsOp::RemoveDirectory`].
    RemoveDirectory(RemoveDirectoryOutcome),
    /// Outcome of [`FsOp::Generation`].
    Generation(String),
}

/// Outcome of a read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// Bytes of the file.
    Content(FileContent),
    /// The file does not exist.
    Absent,
}

/// Bytes of one version of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    /// Bytes from the offset on, as many as there are up to the maximum.
    pub bytes: Vec<u8>,
    /// Version of the file.
    pub version: Version,
    /// Size of the whole file in bytes.
    pub size: u64,
}

/// Outcome of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// Done; the file has this version.
    Written(Version),
    /// The precondition does not hold; the file has this version, or is absent. Nothing was written.
    Stale(Option<Version>),
    /// The store cannot tell if the write was done.
    Unknown,
}

/// Outcome of an append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppendOutcome {
    /// Done; the file has this version.
    Written(Version),
    /// The precondition does not hold; the file has this version, or is absent. Nothing was written.
    Stale(Option<Version>),
    /// The store cannot tell if the append was done. If it was, the content begins at this offset.
    Unknown(u64),
}

/// Outcome of a removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoveOutcome {
    /// The file does not exist now.
    Done,
    /// The precondition does not hold; the file has this version. Nothing was removed.
    Stale(Version),
}

/// Outcome of a move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenameOutcome {
    /// Done.
    Done,
    /// The precondition does not hold; the file has this version. Nothing was moved.
    Stale(Version),
    /// The file does not exist.
    Absent,
    /// The new name is taken. Nothing was moved.
    Exists,
}

/// Outcome of removing a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoveDirectoryOutcome {
    /// The folder is gone.
    Removed,
    /// The folder is not empty. Nothing was removed.
    NotEmpty,
    /// The folder does not exist.
    Absent,
}

/// Outcome of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListOutcome {
    /// A page of the folder.
    Page(Listing),
    /// The page still has the version in `unless`.
    Unchanged,
}

/// One page of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Entries, sorted by path.
    pub entries: Vec<Entry>,
    /// Cursor of the next page, which is the last path of this page; `None` at the end. Pass it as `after`.
    pub next: Option<RelPath>,
    /// Names that no path can have; empty on all pages except the first.
    pub left_out: LeftOut,
    /// Version of the page, which changes with anything on it; `None` if the host cannot tell.
    pub version: Option<Version>,
}

/// Maximum number of names in [`LeftOut`].
pub const MAX_LEFT_OUT_NAMES: usize = 64;

/// Names of a folder that no path can have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Names sorted by path, at most [`MAX_LEFT_OUT_NAMES`].
    pub names: Vec<LeftOutName>,
    /// Number of all such names.
    pub count: u32,
}

/// A name that no path can have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOutName {
    /// Closest valid path, with U+FFFD for invalid characters.
    pub path: RelPath,
    /// Kind: file, folder or something else.
    pub kind: EntryKind,
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Path relative to the root.
    pub path: RelPath,
    /// Kind: file, folder or something else.
    pub kind: EntryKind,
    /// Size in bytes; 0 if it is not a file.
    pub size: u64,
    /// Version; empty if it is not a file.
    pub version: Version,
    /// Time of the last change of its bytes, in nanoseconds since 1970-01-01T00:00:00Z; 0 if unknown.
    pub modified: u64,
}

/// Kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Directory,
    /// A symbolic link, a device or a pipe: never read, never followed.
    Other,
}

words!(EntryKind, "kind of a path" { File = "file", Directory = "directory", Other = "other" });

/// Reason why an operation was not performed. Nothing has changed, except after [`FsError::NotDurable`], and unless
/// the text of [`FsError::Other`] says otherwise.
///
/// Another version of the contract may have more cases.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FsError {
    /// The host's policy or the file system's permissions forbid it.
    #[error("permission denied")]
    Denied,
    /// The operation did not finish in time.
    #[error("timed out")]
    TimedOut,
    /// The host cancelled it.
    #[error("cancelled by the host")]
    Cancelled,
    /// The host does not accept the path; the text says why.
    #[error("path refused: {0}")]
    InvalidPath(String),
    /// The path, or a folder on the way, is a symbolic link.
    #[error("refused: the path goes through a symbolic link")]
    SymbolicLink,
    /// The path is a directory. The text is worded as on POSIX systems.
    #[error("Is a directory (os error 21)")]
    IsDirectory,
    /// A folder on the way is a file.
    #[error("a folder on the way is not a directory")]
    NotDirectory,
    /// The path is neither a file nor a directory.
    #[error("not a regular file")]
    NotRegular,
    /// More bytes than the host reads or writes at once. The value is its limit.
    #[error("too large: the host's limit is {0} bytes")]
    TooLarge(u64),
    /// The store is full.
    #[error("no space left on the device")]
    NoSpace,
    /// The store cannot be written.
    #[error("the store is read-only")]
    ReadOnly,
    /// This host does not know the operation.
    #[error("operation not supported by the host")]
    Unsupported,
    /// The change was made but could not be synced, so a crash may undo it; the text says why.
    #[error("changed, but the disk did not confirm it, so a power cut may undo it: {0}")]
    NotDurable(String),
    /// The operation did not finish in time, because another writer held the file; the text names the writer.
    #[error("timed out: {0}")]
    Locked(String),
    /// Any other reason, in the host's words.
    #[error("{0}")]
    Other(String),
}

impl FsOp {
    /// Returns a write that keeps nothing of what it replaces.
    pub fn write(path: RelPath, content: Vec<u8>, precondition: Precondition) -> Self {
        Self::Write { path, content, precondition, keep_as: None, like: None }
    }

    /// Returns an addition of whole lines, which is durable.
    pub fn append(path: RelPath, content: Vec<u8>, newline_first: bool, precondition: Precondition) -> Self {
        Self::Append { path, content, newline_first, precondition, may_tear: false, may_vanish: false }
    }

    /// Returns a removal that keeps nothing.
    pub fn remove(path: RelPath, precondition: Precondition) -> Self {
        Self::Remove { path, precondition, keep_as: None, may_return: false }
    }

    /// Returns the name of the operation, as the contract spells it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Read { .. } => "read",
            Self::Write { .. } => "write",
            Self::Append { .. } => "append",
            Self::ListDirectory { .. } => "list-directory",
            Self::Remove { .. } => "remove",
            Self::Rename { .. } => "rename",
            Self::MakeDirectory { .. } => "make-directory",
            Self::RemoveDirectory { .. } => "remove-directory",
            Self::Generation => "generation",
        }
    }
}

impl FsOutcome {
    /// Returns the name of the operation that this is an outcome of.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Read(_) => "read",
            Self::Write(_) => "write",
            Self::Append(_) => "append",
            Self::ListDirectory(_) => "list-directory",
            Self::Remove(_) => "remove",
            Self::Rename(_) => "rename",
            Self::MakeDirectory => "make-directory",
            Self::RemoveDirectory(_) => "remove-directory",
            Self::Generation(_) => "generation",
        }
    }
}
