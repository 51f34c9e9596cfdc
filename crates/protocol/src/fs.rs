//! The operations that the component asks for, and what a host may answer.
//!
//! # What does the contract promise, and where does it differ from a plain file system?
//!
//! The promises stand at the operations, in `wit/fs.wit`. Less can be asked than of a file system, and more
//! is kept.
//!
//! | Plain file system | Here |
//! | --- | --- |
//! | Open, seek, write at an offset | No handles. A read gives bytes of one version, and says which; a file is replaced whole, or added to at its end |
//! | Last writer wins | `write`, `append`, `remove` and `rename` carry a precondition: `any`, `absent`, `matches(version)` |
//! | Modification time tells of a change | A version is an opaque text that changes whenever the bytes do; only equality means anything |
//! | An error may mean "done" | A lost race is the outcome `stale`, with the current version. A store that cannot tell says `unknown`, and one that could not sync a change says `not-durable` |
//! | `O_APPEND` in the middle of a line | `newline-first` ends an unfinished last line before the addition |
//! | An absent file is `ENOENT` | Absence is an outcome; an absent folder is empty; removing what is absent succeeds |
//! | `readdir`, in no order | Sorted by the bytes of the path, in pages with a cursor and a version; `unchanged` if the page still has it |
//! | Links, devices, any name | Links are refused, devices never read. A path is relative, at most 4,096 bytes; a segment has 1 to 255 bytes, is neither `.` nor `..`, and has no `\`, NUL or control character |
//! | `mkdir` first, `rename` replaces | Folders are made on the way; `rename` needs a free name, else `exists` |
//! | `rmdir` of what is not empty is an error | `not-empty` is an outcome, and so is `absent` |
//!
//! An `unknown` is settled by reading back: a write by comparing the whole file, an append by comparing the bytes at the
//! offset that the outcome names. A change that lost its race is computed anew from what is there, up to 1,024 times; then
//! the error is `contention`.
//!
//! A `not-durable` is not read back: the bytes may come from a cache that the disk never took. The command fails and says
//! that the change may be undone, and the host writes the file again before anything that is done to it later is
//! acknowledged. `a_change_that_is_not_durable_is_never_acknowledged` puts this on every operation of every command and
//! then cuts the power.
//!
//! The commands that exist ask for `read`, `write`, `append`, `remove` and `list-directory`. A listing is of one folder: a tree is
//! walked folder by folder, so that each page has a version of its own. `init-notebook` asks for `make-directory`, Anthropic's tool
//! for `rename`, and both that tool and a purge of entries for `remove-directory`; the `rename` of a note makes a new file before the old one goes.

use alloc::string::String;
use alloc::vec::Vec;

use saddlebag_words::words;

use super::{CommandId, ContextKey, RelPath};

/// Identifies the bytes of a file: it changes whenever they change.
///
/// Opaque to the component; only equality means anything, and only for one file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub String);

/// A condition on a file. An operation happens only if it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// Nothing.
    Any,
    /// The file does not exist.
    Absent,
    /// The file has this version.
    Matches(Version),
}

/// One effect on the store, with the promise that a host makes by performing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FsOp {
    /// Gives bytes of one consistent version of the file.
    Read {
        /// The file.
        path: RelPath,
        /// Where to start, in bytes; past the end gives no bytes.
        offset: u64,
        /// The most bytes to give.
        max_bytes: u32,
        /// Answer `Unchanged` if the file still has this version.
        unless: Option<Version>,
    },
    /// Replaces the whole file, atomically: a reader sees the old bytes or the new ones. Durable
    /// once acknowledged. Missing folders are made.
    Write {
        /// The file.
        path: RelPath,
        /// Its new bytes.
        content: Vec<u8>,
        /// The condition that must hold before.
        precondition: Precondition,
    },
    /// Adds bytes at the end, creating the file and its folders. Never tears, interleaves or loses
    /// a line; durable once acknowledged.
    Append {
        /// The file.
        path: RelPath,
        /// The bytes to add.
        content: Vec<u8>,
        /// Write a newline first if the file is not empty and does not end in one.
        newline_first: bool,
        /// The condition that must hold before.
        precondition: Precondition,
    },
    /// Gives what is in a folder, sorted by path; an absent folder is empty.
    ListDirectory {
        /// The folder; `None` for the root.
        folder: Option<RelPath>,
        /// Gives only what sorts after this path: the cursor of an earlier page.
        after: Option<RelPath>,
        /// The most entries to give.
        limit: u32,
        /// Answer `Unchanged` if the page still has this version.
        unless: Option<Version>,
    },
    /// Removes a file. Removing what is absent succeeds.
    Remove {
        /// The file.
        path: RelPath,
        /// The condition that must hold before.
        precondition: Precondition,
    },
    /// Moves a file to a free name, atomically.
    Rename {
        /// The file.
        path: RelPath,
        /// Its new path, which must be free.
        to: RelPath,
        /// The condition on the file that must hold before.
        precondition: Precondition,
    },
    /// Makes a folder and those above it. Nothing to do where there are no folders.
    MakeDirectory {
        /// The folder.
        path: RelPath,
    },
    /// Removes a folder that has nothing in it.
    RemoveDirectory {
        /// The folder.
        path: RelPath,
    },
    /// Rates texts by how well each answers a question.
    Score {
        /// The question.
        query: String,
        /// At most [`MAX_SCORED_TEXTS`].
        texts: Vec<String>,
    },
}

/// An operation and the key that its result must carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FsRequest {
    /// Echoed verbatim by the host.
    pub key: ContextKey,
    /// The command that asks for it.
    pub command: CommandId,
    /// The operation.
    pub op: FsOp,
}

/// The answer to one request. There is exactly one for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FsResult {
    /// The key of the request, verbatim.
    pub key: String,
    /// The outcome, or why there is none.
    pub outcome: Result<FsOutcome, FsError>,
}

/// The outcome of an operation that was performed. The kind matches that of the operation.
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
    /// Outcome of [`FsOp::Score`].
    Score(Scores),
}

/// The most texts of one [`FsOp::Score`].
pub const MAX_SCORED_TEXTS: usize = 64;

/// A finite number for each text; the higher, the better. Two are equal if their bits are.
#[derive(Clone, Debug, Default)]
pub struct Scores(pub Vec<f64>);

impl PartialEq for Scores {
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().map(|score| score.to_bits()).eq(other.0.iter().map(|score| score.to_bits()))
    }
}

impl Eq for Scores {}

/// Outcome of a read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// Bytes of the file.
    Content(FileContent),
    /// The file still has the version named by `unless`.
    Unchanged,
    /// There is no such file.
    Absent,
}

/// Bytes of one version of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    /// The bytes from the offset on, as many as there are up to the maximum.
    pub bytes: Vec<u8>,
    /// The version they belong to.
    pub version: Version,
    /// The size of the whole file in bytes.
    pub size: u64,
}

/// Outcome of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// Done; the file has this version.
    Written(Version),
    /// The precondition does not hold; the file has this version, or is absent. Nothing was written.
    Stale(Option<Version>),
    /// The store cannot tell whether it was done.
    Unknown,
}

/// Outcome of an append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppendOutcome {
    /// Done; the file has this version.
    Written(Version),
    /// The precondition does not hold; the file has this version, or is absent. Nothing was written.
    Stale(Option<Version>),
    /// The store cannot tell whether it was done. If it was, the content begins at this offset.
    Unknown(u64),
}

/// Outcome of a removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoveOutcome {
    /// There is no such file now.
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
    /// There is no file to move.
    Absent,
    /// The new name is taken. Nothing was moved.
    Exists,
}

/// Outcome of removing a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoveDirectoryOutcome {
    /// The folder is gone.
    Removed,
    /// Something is in it. Nothing was removed.
    NotEmpty,
    /// There is no such folder.
    Absent,
}

/// Outcome of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListOutcome {
    /// A page of the folder.
    Page(Listing),
    /// The page still has the version named by `unless`.
    Unchanged,
}

/// One page of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Sorted by path.
    pub entries: Vec<Entry>,
    /// There is more: list again with `after` set to this, the last path of this page.
    pub next: Option<RelPath>,
    /// What the folder has under names that no path may have; nothing on any page but the first.
    pub left_out: LeftOut,
    /// Changes whenever anything that the page says does; `None` where the host cannot tell.
    pub version: Option<Version>,
}

/// The most names that [`LeftOut`] has.
pub const MAX_LEFT_OUT_NAMES: usize = 64;

/// What a folder has under names that no path may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// At most [`MAX_LEFT_OUT_NAMES`] of them, sorted by path.
    pub names: Vec<LeftOutName>,
    /// The number of all.
    pub count: u32,
}

/// A name that no path may have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOutName {
    /// The path as well as it can be spelled, with U+FFFD for what no path may have.
    pub path: RelPath,
    /// File, folder or something else.
    pub kind: EntryKind,
}

/// One thing in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its whole path below the root.
    pub path: RelPath,
    /// File, folder or something else.
    pub kind: EntryKind,
    /// Its size in bytes; 0 for what is not a file.
    pub size: u64,
    /// Its version; empty for what is not a file.
    pub version: Version,
    /// When its bytes last changed, in nanoseconds since 1970-01-01T00:00:00Z; 0 where unknown.
    pub modified: u64,
}

/// Kind of a thing in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Directory,
    /// A symbolic link, a device, a pipe: never read, never followed.
    Other,
}

words!(EntryKind, "kind of a path" { File = "file", Directory = "directory", Other = "other" });

/// Why an operation was not performed. Nothing has changed, except after [`FsError::NotDurable`] and unless
/// the text of [`FsError::Other`] says otherwise.
///
/// Another version of the contract may have more cases.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FsError {
    /// The host's policy or the file system's permissions forbid it.
    #[error("permission denied")]
    Denied,
    /// It did not finish in time.
    #[error("timed out")]
    TimedOut,
    /// The host gave it up.
    #[error("cancelled by the host")]
    Cancelled,
    /// The host does not accept the path; the text says why.
    #[error("path refused: {0}")]
    InvalidPath(String),
    /// The path, or a folder on the way, is a symbolic link.
    #[error("refused: the path goes through a symbolic link")]
    SymbolicLink,
    /// The path is a directory. The text is that of POSIX systems.
    #[error("Is a directory (os error 21)")]
    IsDirectory,
    /// A folder on the way is a file.
    #[error("a folder on the way is not a directory")]
    NotDirectory,
    /// The path is neither a file nor a directory.
    #[error("not a regular file")]
    NotRegular,
    /// More bytes than the host reads or writes at once; the number is its limit.
    #[error("too large: the host's limit is {0} bytes")]
    TooLarge(u64),
    /// No room left.
    #[error("no space left on the device")]
    NoSpace,
    /// The store cannot be written.
    #[error("the store is read-only")]
    ReadOnly,
    /// This host does not know the operation.
    #[error("operation not supported by the host")]
    Unsupported,
    /// The change was made, but it could not be synced, so a crash may take it back; the text says why.
    #[error("changed, but the disk did not confirm it, so a power cut may undo it: {0}")]
    NotDurable(String),
    /// It did not finish in time, because another writer held the file; the text names the writer.
    #[error("timed out: {0}")]
    Locked(String),
    /// Anything else, in the host's words.
    #[error("{0}")]
    Other(String),
}

impl FsOp {
    /// The name of the operation, as the contract spells it.
    #[must_use]
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
            Self::Score { .. } => "score",
        }
    }
}

impl FsOutcome {
    /// The name of the operation that this is an outcome of.
    #[must_use]
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
            Self::Score(_) => "score",
        }
    }
}
