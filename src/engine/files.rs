//! Reading whole files.

use alloc::vec::Vec;

use super::fs::Fs;
use crate::protocol::{Error, FileContent, FsError, ReadOutcome, Version, join};
use crate::store::RelPath;

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
