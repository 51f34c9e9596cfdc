//! Making a change: the one operation of the host, and what it may answer.

use super::call::Call;
use super::change::{After, Change, File};
use crate::store::{Layout, RelPath};
use saddlebag_protocol::{
    AppendOutcome, Error, ErrorCode, FileContent, Precondition, ReadOutcome, RenameOutcome, WriteOutcome,
};

/// Outcome of making a change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Made {
    Yes,
    /// The file is no longer as it was, or the new name is taken.
    No,
    /// The host could not tell, and the file is different now: it may have been made before others changed the file.
    Unknown,
}

impl From<bool> for Made {
    fn from(is_made: bool) -> Self {
        if is_made { Self::Yes } else { Self::No }
    }
}

/// Maximum number of attempts of a change.
pub(super) const MAX_ATTEMPTS: u32 = 1024;

impl Call {
    /// Makes a change that is recorded.
    pub(super) async fn make(&self, change: &Change) -> Result<Made, Error> {
        let File { path, precondition, .. } = &change.before;
        match &change.after {
            After::Whole(bytes) => self.write(change, bytes).await,
            After::Added(bytes) => self.append(path, bytes, precondition).await.map(Made::from),
            After::Removed => {
                let removed = self.operations.remove(path, precondition.clone(), change.keep_as.clone()).await;
                removed.map(Made::from).map_err(|error| Error::storage(Some(path), &error))
            }
            After::Discarded => {
                let removed = self.operations.discard(path, precondition.clone()).await;
                removed.map(Made::from).map_err(|error| Error::storage(Some(path), &error))
            }
            After::Moved(to) => {
                let renamed = self.operations.rename(path, to, precondition.clone()).await;
                renamed
                    .map(|done| Made::from(done == RenameOutcome::Done))
                    .map_err(|error| Error::storage(Some(to), &error))
            }
        }
    }

    async fn write(&self, change: &Change, content: &[u8]) -> Result<Made, Error> {
        let Change { before: File { path, precondition, .. }, keep_as, like, .. } = change;
        let limit = self.scope.limits.max_file_bytes;
        // A larger file could not be read again.
        if content.len() > limit as usize && !Layout::is_bookkeeping(path) {
            return Err(Error::file_too_large(path, content.len() as u64, u64::from(limit)));
        }
        let is_new = *precondition == Precondition::Absent;
        for _ in 0..MAX_ATTEMPTS {
            let (content_of_file, keep_as, like) = (content.to_vec(), keep_as.clone(), like.clone());
            let outcome = self.operations.write(path, content_of_file, precondition.clone(), keep_as, like).await;
            match outcome.map_err(|error| Error::storage(Some(path), &error))? {
                WriteOutcome::Written(_) => return Ok(Made::Yes),
                WriteOutcome::Stale(_) => return Ok(Made::No),
                WriteOutcome::Unknown => match self.read_back(path, 0, content.len()).await? {
                    // Others may have appended to a new file since, so it may have further bytes.
                    Some(found) => {
                        let is_whole = is_new || found.size == content.len() as u64;
                        return Ok(if is_whole && found.bytes == content { Made::Yes } else { Made::Unknown });
                    }
                    None if is_new => {}
                    None => return Ok(Made::Unknown),
                },
            }
        }
        Err(contention(path))
    }

    async fn append(&self, path: &RelPath, content: &[u8], precondition: &Precondition) -> Result<bool, Error> {
        for _ in 0..MAX_ATTEMPTS {
            let outcome = self.operations.append(path, content.to_vec(), precondition.clone()).await;
            match outcome.map_err(|error| Error::storage(Some(path), &error))? {
                AppendOutcome::Written(_) => return Ok(true),
                AppendOutcome::Stale(_) => return Ok(false),
                AppendOutcome::Unknown(offset) => {
                    if self.holds_at(path, offset, content).await? {
                        return Ok(true);
                    }
                }
            }
        }
        Err(contention(path))
    }

    /// Returns true if the file has these bytes at this place, after a newline or not. This settles an `unknown` append.
    async fn holds_at(&self, path: &RelPath, offset: u64, content: &[u8]) -> Result<bool, Error> {
        let found = self.read_back(path, offset, content.len() + 1).await?;
        Ok(found.is_some_and(|FileContent { bytes, .. }| {
            bytes.starts_with(content) || bytes.strip_prefix(b"\n").is_some_and(|rest| rest.starts_with(content))
        }))
    }

    async fn read_back(&self, path: &RelPath, offset: u64, length: usize) -> Result<Option<FileContent>, Error> {
        let max_bytes = u32::try_from(length).unwrap_or(u32::MAX);
        match self.fs.read(path, offset, max_bytes).await.map_err(|error| Error::storage(Some(path), &error))? {
            ReadOutcome::Content(found) => Ok(Some(found)),
            ReadOutcome::Absent => Ok(None),
        }
    }
}

pub(super) fn contention(path: &RelPath) -> Error {
    let message = format!("{path}: changed by others {MAX_ATTEMPTS} times in a row");
    Error::new(ErrorCode::Contention, message, "try again when fewer writers are at work")
}
