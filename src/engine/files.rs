//! Whole files: reading, changing under a precondition, appending.
//!
//! Every change is made against the version that it was computed from. A lost race is an outcome: the file is read
//! again, and the change is computed again. A lost race means that another writer made progress, so [`MAX_ATTEMPTS`]
//! bounds the number of writers that a command waits for.

use alloc::format;
use alloc::vec::Vec;

use super::fs::Fs;
use crate::protocol::{
    AppendOutcome, Error, ErrorCode, FileContent, FsError, Precondition, ReadOutcome, RenameOutcome, Version,
    WriteOutcome, join,
};
use crate::sorted::SortedSet;
use crate::store::{Layout, RelPath};
use crate::trust::{Removal, Screened};

/// Maximum number of attempts of a change.
const MAX_ATTEMPTS: u32 = 1024;

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
            ReadOutcome::Unchanged | ReadOutcome::Absent => Self::Absent,
        }
    }

    /// Returns the bytes; `None` if the file does not exist.
    fn require(&self, path: &RelPath, limit: u32) -> Result<Option<&[u8]>, Error> {
        match self {
            Self::Absent => Ok(None),
            Self::Whole { bytes, .. } => Ok(Some(bytes)),
            Self::TooLarge(size) => Err(Error::file_too_large(path, *size, u64::from(limit))),
        }
    }

    fn precondition(&self) -> Precondition {
        match self {
            Self::Whole { version, .. } => Precondition::Matches(version.clone()),
            Self::Absent | Self::TooLarge(_) => Precondition::Absent,
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
pub(crate) async fn load_all(
    fs: &Fs,
    files: &[(&RelPath, Option<Version>)],
    limit: u32,
) -> Vec<Result<Loaded, FsError>> {
    let reads = files.iter().map(|(path, unless)| fs.read_unless(path, limit, unless.clone())).collect();
    join(reads).await.into_iter().map(|answer| answer.map(Loaded::from_outcome)).collect()
}

/// File in which a change keeps the bytes that it replaces. The host changes both files in one step, so a change that fails
/// leaves the older backup alone. An empty file is not kept, because an editor may be about to fill it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backups<'a> {
    /// Keeps no backup.
    Off,
    /// Keeps them in the file's backup.
    Keep,
    /// Keeps them in this file.
    KeepAs(&'a RelPath),
    /// Like `KeepAs`, for a change that restores what this file has. A new file gets its permissions.
    Exchange(&'a RelPath),
}

/// A computed change.
pub(crate) enum Change<T> {
    /// Writes these bytes.
    Write(Screened, T),
    /// Removes the file.
    Remove(Removal, T),
    /// Leaves the file unchanged.
    Keep(T),
}

impl<T> Change<T> {
    fn split(self) -> (Change<()>, T) {
        match self {
            Self::Write(content, done) => (Change::Write(content, ()), done),
            Self::Remove(removal, done) => (Change::Remove(removal, ()), done),
            Self::Keep(done) => (Change::Keep(()), done),
        }
    }
}

/// Changes a file: reads it, computes the change, and applies it if the file is unchanged.
///
/// `change` gets the bytes, or `None` if the file does not exist, and may be called again with others. A result over
/// the limit is not written, because it could not be read again. Returns the file in which the replaced bytes are kept too.
pub(crate) async fn update<T: Send>(
    fs: &Fs,
    path: &RelPath,
    limit: u32,
    backups: Backups<'_>,
    mut change: impl FnMut(Option<&[u8]>) -> Result<Change<T>, Error> + Send,
) -> Result<(T, Option<RelPath>), Error> {
    let mut done = None;
    let change = &mut |bytes: Option<&[u8]>| {
        let (change, computed) = change(bytes)?.split();
        done = Some(computed);
        Ok(change)
    };
    let backup = apply(fs, path, limit, backups, change).await?;
    done.map(|done| (done, backup)).ok_or_else(|| Error::internal("a change that was never computed"))
}

/// Function that computes a change from the bytes of a file.
type ComputeChange<'a> = dyn FnMut(Option<&[u8]>) -> Result<Change<()>, Error> + Send + 'a;

/// Changes a file. Not generic, so that it is compiled once instead of for each kind of change.
async fn apply(
    fs: &Fs,
    path: &RelPath,
    limit: u32,
    backups: Backups<'_>,
    change: &mut ComputeChange<'_>,
) -> Result<Option<RelPath>, Error> {
    let backup = match backups {
        Backups::Off => None,
        Backups::Keep => Some(Layout::backup_of(path)),
        Backups::KeepAs(backup) | Backups::Exchange(backup) => Some(backup.clone()),
    };
    let like = if let Backups::Exchange(backup) = backups { Some(backup) } else { None };
    for _ in 0..MAX_ATTEMPTS {
        let current = load(fs, path, limit).await?;
        let change = change(current.require(path, limit)?)?;
        let content = match change {
            Change::Write(content, ()) => Some(content),
            Change::Remove(_, ()) => None,
            Change::Keep(()) => return Ok(None),
        };
        if let Some(size) =
            content.as_ref().map(|content| content.as_bytes().len()).filter(|size| *size > limit as usize)
        {
            return Err(Error::file_too_large(path, size as u64, u64::from(limit)));
        }
        let has_text = matches!(&current, Loaded::Whole { bytes, .. } if !bytes.is_empty());
        let keep_as = backup.as_ref().filter(|_| has_text);
        let applied = match content {
            Some(content) => write(fs, path, &content, current.precondition(), keep_as, like).await?,
            None => {
                let removed = fs.remove(path, current.precondition(), keep_as).await;
                removed.map_err(|error| Error::storage(Some(path), &error))?
            }
        };
        if applied {
            return Ok(keep_as.cloned());
        }
    }
    Err(contention(path))
}

/// Reads the backup of a file. If a change of the file was interrupted before the replaced bytes were kept, the host
/// finishes it first; otherwise the backup could be the older one.
pub(crate) async fn load_backup(fs: &Fs, path: &RelPath, backup: &RelPath, limit: u32) -> Result<Loaded, Error> {
    let found = load(fs, backup, limit).await?;
    if !matches!(found, Loaded::Whole { .. }) {
        return Ok(found);
    }
    // No file has this version, so nothing is written.
    let never = Precondition::Matches(Version("none".into()));
    let outcome = fs.write(path, Vec::new(), never, None, None).await;
    outcome.map_err(|error| Error::storage(Some(path), &error))?;
    load(fs, backup, limit).await
}

/// Creates a file. Returns `false` if the name is taken; nothing is written then.
pub(crate) async fn create(fs: &Fs, path: &RelPath, content: &Screened) -> Result<bool, Error> {
    create_like(fs, path, content, None).await
}

/// Creates a file like [`create`], with the permissions of `like`.
pub(crate) async fn create_like(
    fs: &Fs,
    path: &RelPath,
    content: &Screened,
    like: Option<&RelPath>,
) -> Result<bool, Error> {
    let content = content.as_bytes();
    for _ in 0..MAX_ATTEMPTS {
        let outcome = fs.write(path, content.to_vec(), Precondition::Absent, None, like).await;
        match outcome.map_err(|error| Error::storage(Some(path), &error))? {
            WriteOutcome::Written(_) => return Ok(true),
            WriteOutcome::Stale(_) => return Ok(false),
            // Others may have appended since, so the file may have further bytes.
            WriteOutcome::Unknown => {
                if let Some(found) = read_back(fs, path, 0, content.len()).await? {
                    return Ok(found.bytes == content);
                }
            }
        }
    }
    Err(contention(path))
}

/// Removes a file if it still has the version. Returns `false` if it has another, in which case it stays.
pub(crate) async fn remove_version(fs: &Fs, path: &RelPath, version: Version, _: Removal) -> Result<bool, Error> {
    let removed = fs.remove(path, Precondition::Matches(version), None).await;
    removed.map_err(|error| Error::storage(Some(path), &error))
}

/// Removes a file that does no harm if it exists again after a power cut. Returns `false` if the precondition does not hold;
/// the file stays then.
pub(crate) async fn discard(fs: &Fs, path: &RelPath, precondition: Precondition, _: Removal) -> Result<bool, Error> {
    let removed = fs.discard(path, precondition).await;
    removed.map_err(|error| Error::storage(Some(path), &error))
}

/// Replaces a file if it still has the version. Returns `false` if it has another, in which case it stays.
pub(crate) async fn write_version(
    fs: &Fs,
    path: &RelPath,
    content: &Screened,
    version: Version,
) -> Result<bool, Error> {
    write(fs, path, content, Precondition::Matches(version), None, None).await
}

/// Writes a file that can be computed again from others, in a folder for such files. Returns `false` if it was not
/// written.
pub(crate) async fn write_cache(fs: &Fs, path: &RelPath, content: Vec<u8>) -> bool {
    // This path must not be used to store user text past the policy.
    Layout::is_bookkeeping(path) && fs.write(path, content, Precondition::Any, None, None).await.is_ok()
}

/// Renames a file. `Absent` if it is gone, `Exists` if the new name is taken.
pub(crate) async fn rename(
    fs: &Fs,
    from: &RelPath,
    to: &RelPath,
    precondition: Precondition,
    _: Removal,
) -> Result<RenameOutcome, Error> {
    fs.rename(from, to, precondition).await.map_err(|error| Error::storage(Some(to), &error))
}

/// Removes the folders of removed files, and those above them, if they are empty and `may_go` permits it. A folder
/// that the host does not remove stays: an empty folder does no harm, so the command does not fail.
pub(crate) async fn remove_emptied<'a>(
    fs: &Fs,
    files: impl Iterator<Item = &'a RelPath>,
    may_go: impl Fn(&RelPath) -> bool,
) {
    let mut folders: SortedSet<RelPath> = SortedSet::default();
    for file in files {
        let mut above = file.parent();
        while let Some(folder) = above.filter(&may_go) {
            above = folder.parent();
            folders.insert(folder);
        }
    }
    // A path sorts after its parents, and a folder can be removed only after those in it.
    let folders: Vec<&RelPath> = folders.iter().collect();
    for folder in folders.into_iter().rev() {
        let _ = fs.remove_directory(folder).await;
    }
}

/// Appends to a file, on a separate line. Returns `false` if the precondition does not hold; nothing is appended then.
pub(crate) async fn append(
    fs: &Fs,
    path: &RelPath,
    content: &Screened,
    precondition: Precondition,
) -> Result<bool, Error> {
    let content = content.as_bytes();
    for _ in 0..MAX_ATTEMPTS {
        let outcome = fs.append(path, content.to_vec(), precondition.clone()).await;
        match outcome.map_err(|error| Error::storage(Some(path), &error))? {
            AppendOutcome::Written(_) => return Ok(true),
            AppendOutcome::Stale(_) => return Ok(false),
            AppendOutcome::Unknown(offset) => {
                if holds_at(fs, path, offset, content).await? {
                    return Ok(true);
                }
            }
        }
    }
    Err(contention(path))
}

/// Appends the bytes that `addition` computes from the file, if the file is unchanged.
///
/// `addition` may return nothing to append, and may be called again with other bytes.
pub(crate) async fn append_computed<T>(
    fs: &Fs,
    path: &RelPath,
    limit: u32,
    mut addition: impl FnMut(&[u8]) -> Result<(Option<Screened>, T), Error>,
) -> Result<T, Error> {
    for _ in 0..MAX_ATTEMPTS {
        let current = load(fs, path, limit).await?;
        let (content, done) = addition(current.require(path, limit)?.unwrap_or_default())?;
        let Some(content) = content else { return Ok(done) };
        if append(fs, path, &content, current.precondition()).await? {
            return Ok(done);
        }
    }
    Err(contention(path))
}

/// Removes a file, whatever it holds.
pub(crate) async fn remove(fs: &Fs, path: &RelPath, _: Removal) -> Result<(), Error> {
    let removed = fs.remove(path, Precondition::Any, None).await;
    removed.map(|_| ()).map_err(|error| Error::storage(Some(path), &error))
}

async fn write(
    fs: &Fs,
    path: &RelPath,
    content: &Screened,
    precondition: Precondition,
    keep_as: Option<&RelPath>,
    like: Option<&RelPath>,
) -> Result<bool, Error> {
    let content = content.as_bytes();
    let outcome = fs.write(path, content.to_vec(), precondition, keep_as, like).await;
    match outcome.map_err(|error| Error::storage(Some(path), &error))? {
        WriteOutcome::Written(_) => Ok(true),
        WriteOutcome::Stale(_) => Ok(false),
        WriteOutcome::Unknown => holds(fs, path, content).await,
    }
}

/// Returns true if the file has exactly these bytes. This settles an `unknown` write.
async fn holds(fs: &Fs, path: &RelPath, content: &[u8]) -> Result<bool, Error> {
    let found = read_back(fs, path, 0, content.len()).await?;
    Ok(found.is_some_and(|found| found.size == content.len() as u64 && found.bytes == content))
}

/// Returns true if the file has these bytes at this place, after a newline or not. This settles an `unknown` append.
async fn holds_at(fs: &Fs, path: &RelPath, offset: u64, content: &[u8]) -> Result<bool, Error> {
    let found = read_back(fs, path, offset, content.len() + 1).await?;
    Ok(found.is_some_and(|FileContent { bytes, .. }| {
        bytes.starts_with(content) || bytes.strip_prefix(b"\n").is_some_and(|rest| rest.starts_with(content))
    }))
}

async fn read_back(fs: &Fs, path: &RelPath, offset: u64, length: usize) -> Result<Option<FileContent>, Error> {
    let max_bytes = u32::try_from(length).unwrap_or(u32::MAX);
    match fs.read(path, offset, max_bytes).await.map_err(|error| Error::storage(Some(path), &error))? {
        ReadOutcome::Content(found) => Ok(Some(found)),
        ReadOutcome::Unchanged | ReadOutcome::Absent => Ok(None),
    }
}

fn contention(path: &RelPath) -> Error {
    let message = format!("{path}: changed by others {MAX_ATTEMPTS} times in a row");
    Error::new(ErrorCode::Contention, message, "try again when fewer writers are at work")
}
