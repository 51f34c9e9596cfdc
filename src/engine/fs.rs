//! [`Fs`]: the file system as a command sees it, and reading of whole files.

use crate::store::RelPath;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{
    self as protocol, Error, FileContent, FsError, ListOutcome, Operation, ReadOutcome, Version, join,
};

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

    /// Returns a token of the whole store, which differs once a file has changed.
    pub(crate) fn generation(&self) -> Operation<String> {
        self.0.generation()
    }

    /// Creates the folder and its parents.
    pub(crate) fn make_directory(&self, path: &RelPath) -> Operation<()> {
        self.0.make_directory(path)
    }
}

/// Result of reading a whole file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Loaded {
    /// The file does not exist.
    Absent,
    /// The whole content.
    Whole { bytes: Vec<u8>, version: Version },
    /// The file has this many bytes, more than the limit.
    TooLarge(u64),
}

impl Loaded {
    fn from_outcome(outcome: ReadOutcome) -> Self {
        match outcome {
            ReadOutcome::Content(FileContent { bytes, version, size }) if bytes.len() as u64 == size => {
                Self::Whole { bytes, version }
            }
            ReadOutcome::Content(content) => Self::TooLarge(content.size),
            ReadOutcome::Absent => Self::Absent,
        }
    }
}

/// Reads a file of at most `limit` bytes.
pub(crate) async fn load(fs: &Fs, path: &RelPath, limit: u32) -> Result<Loaded, Error> {
    match fs.read(path, 0, limit).await {
        Ok(outcome) => Ok(Loaded::from_outcome(outcome)),
        Err(error) => Err(Error::storage(Some(path), &error)),
    }
}

/// Reads files together. An error is the result of one file only.
pub(crate) async fn load_all(fs: &Fs, files: &[&RelPath], limit: u32) -> Vec<Result<Loaded, FsError>> {
    let reads = files.iter().map(|path| fs.read(path, 0, limit)).collect();
    join(reads).await.into_iter().map(|answer| answer.map(Loaded::from_outcome)).collect()
}
