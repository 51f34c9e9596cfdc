//! [`Fs`]: the file system as a command sees it.

use alloc::string::String;
use alloc::vec::Vec;

use crate::protocol::{
    self, AppendOutcome, ListOutcome, Operation, Precondition, ReadOutcome, RemoveDirectoryOutcome, RenameOutcome,
    Scores, Version, WriteOutcome,
};
use crate::store::RelPath;

/// The file system as a command sees it. Commands can read, list and create folders. The methods that change a file
/// are private to this room, which asks for a `Screened` text or a `Removal`.
///
/// Operations that are awaited together must commute, because the host may perform them in any order.
#[derive(Clone)]
pub(crate) struct Fs(protocol::Fs);

impl Fs {
    pub(super) fn new(fs: protocol::Fs) -> Self {
        Self(fs)
    }

    /// Returns true if an operation of the command has changed the store, or may have.
    pub(crate) fn has_changed(&self) -> bool {
        self.0.has_changed()
    }

    /// Reads up to `max_bytes` of the file from `offset` on.
    pub(crate) fn read(&self, path: &RelPath, offset: u64, max_bytes: u32) -> Operation<ReadOutcome> {
        self.0.read(path, offset, max_bytes)
    }

    /// Reads the whole file, unless it still has the version.
    pub(crate) fn read_unless(
        &self,
        path: &RelPath,
        max_bytes: u32,
        unless: Option<Version>,
    ) -> Operation<ReadOutcome> {
        self.0.read_unless(path, max_bytes, unless)
    }

    /// Lists one page of a folder.
    pub(crate) fn list(
        &self,
        folder: Option<&RelPath>,
        after: Option<RelPath>,
        limit: u32,
        unless: Option<Version>,
    ) -> Operation<ListOutcome> {
        self.0.list(folder, after, limit, unless)
    }

    /// Asks the host to rate how well each passage answers the question.
    pub(crate) fn score(&self, query: &str, texts: Vec<String>) -> Operation<Scores> {
        self.0.score(query, texts)
    }

    /// Creates the folder and its parents.
    pub(crate) fn make_directory(&self, path: &RelPath) -> Operation<()> {
        self.0.make_directory(path)
    }

    /// Replaces the file. The replaced bytes are kept as `keep_as`; a new file gets the permissions of `like`.
    pub(super) fn write(
        &self,
        path: &RelPath,
        content: Vec<u8>,
        precondition: Precondition,
        keep_as: Option<&RelPath>,
        like: Option<&RelPath>,
    ) -> Operation<WriteOutcome> {
        self.0.write(path, content, precondition, keep_as.cloned(), like.cloned())
    }

    /// Appends to the file, on a separate line.
    pub(super) fn append(
        &self,
        path: &RelPath,
        content: Vec<u8>,
        precondition: Precondition,
    ) -> Operation<AppendOutcome> {
        self.0.append(path, content, precondition)
    }

    /// Removes the file, and keeps its bytes as `keep_as`.
    pub(super) fn remove(
        &self,
        path: &RelPath,
        precondition: Precondition,
        keep_as: Option<&RelPath>,
    ) -> Operation<bool> {
        self.0.remove(path, precondition, keep_as.cloned())
    }

    /// Removes the file, which may exist again after a power cut.
    pub(super) fn discard(&self, path: &RelPath, precondition: Precondition) -> Operation<bool> {
        self.0.discard(path, precondition)
    }

    /// Removes the folder if it is empty.
    pub(super) fn remove_directory(&self, path: &RelPath) -> Operation<RemoveDirectoryOutcome> {
        self.0.remove_directory(path)
    }

    /// Moves the file to a free name.
    pub(super) fn rename(&self, from: &RelPath, to: &RelPath, precondition: Precondition) -> Operation<RenameOutcome> {
        self.0.rename(from, to, precondition)
    }
}
