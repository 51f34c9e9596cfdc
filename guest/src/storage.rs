//! [`Storage`]: how bytes are kept. The rules that do not depend on it are in the executor.

use saddlebag::protocol::{EntryKind, FsError, RemoveDirectoryOutcome};
use saddlebag::store::RelPath;

/// A place for the files of a store.
///
/// Every path was checked by the executor, and is not one of the host's own names. A method that takes `old` changes the
/// file only while it has these bytes, or while it is absent.
pub trait Storage {
    /// Keeps other writers away until it is dropped.
    type Guard<'s>
    where
        Self: 's;

    /// Keeps other writers away from these files, and finishes what a writer that died left unfinished in them.
    ///
    /// # Errors
    ///
    /// Another writer holds one of them for too long.
    fn lock(&self, paths: &[&RelPath]) -> Result<Self::Guard<'_>, FsError>;

    /// Returns the bytes of one version of the file; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// The path is not a file, or cannot be read.
    fn read(&self, path: &RelPath) -> Result<Option<Vec<u8>>, FsError>;

    /// Makes the last change of a file durable if that failed before. Called before its bytes are used.
    ///
    /// # Errors
    ///
    /// That fails again.
    fn settled(&self, _path: &RelPath) -> Result<(), FsError> {
        Ok(())
    }

    /// Returns what shows cheaply that a file has not changed: as long as it is the same, the bytes are. `None` if nothing does.
    fn stamp(&self, _path: &RelPath) -> Option<Stamp> {
        None
    }

    /// Returns what is directly in the folder, in any order; nothing if it does not exist.
    ///
    /// # Errors
    ///
    /// The path is not a folder, or cannot be read.
    fn list(&self, folder: Option<&RelPath>) -> Result<Vec<Found>, FsError>;

    /// Describes a file of a listing; `None` if it does not exist any more.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    fn describe(&self, path: &RelPath) -> Result<Option<Described>, FsError>;

    /// Replaces a file, or creates it and the folders above it.
    ///
    /// # Errors
    ///
    /// Nothing was changed, except after `not-durable`.
    fn replace(&self, guard: &Self::Guard<'_>, change: &Replace<'_>) -> Result<Attempt, FsError>;

    /// Removes a file. With `keep_as` it replaces the file at that path. `may_return`: it need not be durable.
    ///
    /// # Errors
    ///
    /// Nothing was changed, except after `not-durable`.
    fn remove(
        &self,
        guard: &Self::Guard<'_>,
        path: &RelPath,
        old: &[u8],
        keep_as: Option<&RelPath>,
        may_return: bool,
    ) -> Result<Attempt, FsError>;

    /// Moves a file to a free path, and creates the folders above it.
    ///
    /// # Errors
    ///
    /// Nothing was changed, except after `not-durable`.
    fn rename(&self, guard: &Self::Guard<'_>, path: &RelPath, to: &RelPath, old: &[u8]) -> Result<Move, FsError>;

    /// Creates a folder and those above it. A storage without folders does nothing.
    ///
    /// # Errors
    ///
    /// One of them is a file, or cannot be made.
    fn make_directory(&self, path: &RelPath) -> Result<(), FsError>;

    /// Removes an empty folder. A storage without folders answers `Absent`.
    ///
    /// # Errors
    ///
    /// The path is not a folder, or cannot be removed.
    fn remove_directory(&self, path: &RelPath) -> Result<RemoveDirectoryOutcome, FsError>;

    /// Returns a token that no earlier state of the store had.
    ///
    /// # Errors
    ///
    /// `Unsupported` if the storage cannot tell.
    fn generation(&self) -> Result<String, FsError>;
}

/// Size and time of change of a file that did not change just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(pub u64, pub u64);

/// Outcome of one attempt to change a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// The change was made.
    Done,
    /// The file does not have its old bytes any more, or the lock was lost. Nothing was changed.
    Lost,
}

/// Outcome of one attempt to move a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// The file was moved, or not, as for any change.
    Attempt(Attempt),
    /// Something is at the new path. Nothing was changed.
    Exists,
}

/// A file to replace or to create.
#[derive(Clone, Copy, Debug)]
pub struct Replace<'a> {
    /// Path of the file.
    pub path: &'a RelPath,
    /// Bytes before; `None`: the file does not exist.
    pub old: Option<&'a [u8]>,
    /// New bytes.
    pub new: &'a [u8],
    /// Path at which the old file is kept, in place of what is there. Set only if there is an old file.
    pub keep_as: Option<&'a RelPath>,
    /// File whose permissions a new file gets.
    pub like: Option<&'a RelPath>,
}

/// An entry of a folder.
#[derive(Clone, Debug)]
pub struct Found {
    /// Last segment of its path.
    pub name: Name,
    /// Kind of the entry.
    pub kind: EntryKind,
}

/// A name in a folder.
#[derive(Clone, Debug)]
pub enum Name {
    /// Text, which need not be valid in a path.
    Text(String),
    /// Bytes that are not UTF-8, with U+FFFD for those that are not.
    Damaged(String),
}

/// A file of a listing.
#[derive(Clone, Debug)]
pub struct Described {
    /// Size in bytes.
    pub size: u64,
    /// SHA-256 of the bytes as hexadecimal digits; `None` if they cannot be read.
    pub version: Option<String>,
    /// Time of the last change in nanoseconds since 1970; 0 if unknown.
    pub modified: u64,
}
