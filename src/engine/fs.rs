//! [`Fs`]: the file system as a command sees it.

use alloc::string::String;
use alloc::vec::Vec;

use crate::protocol::{self, ListOutcome, Operation, ReadOutcome, Scores, Version};
use crate::store::RelPath;

/// The file system as a command sees it: it can read, list and create folders. Files are changed through the gate.
///
/// Operations that are awaited together must commute, because the host may perform them in any order.
#[derive(Clone)]
pub(crate) struct Fs(protocol::Fs);

impl Fs {
    pub(crate) fn new(fs: protocol::Fs) -> Self {
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
}
