//! Whole files: read them, change them under a precondition, add to them.
//!
//! Every change is made against the version that it was computed from. A lost race is an outcome:
//! the file is read again and the change is computed anew. Each lost race means that somebody else
//! made progress, so [`MAX_ATTEMPTS`] bounds how many others a command waits for.

use alloc::format;
use alloc::vec::Vec;

use super::fs::{Fs, is_bookkeeping};
use crate::protocol::{
    AppendOutcome, Error, ErrorCode, FileContent, FsError, Precondition, ReadOutcome, RenameOutcome, Version,
    WriteOutcome, join,
};
use crate::sorted::SortedSet;
use crate::store::{Layout, RelPath};
use crate::trust::{Removal, Screened};

/// How often a change is tried against what is there now.
const MAX_ATTEMPTS: u32 = 1024;

/// A file as far as it can be read whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Loaded {
    /// There is no such file.
    Absent,
    /// All of its bytes.
    Whole { bytes: Vec<u8>, version: Version },
    /// It has this many bytes, more than the limit.
    TooLarge(u64),
}

impl Loaded {
    fn of(outcome: ReadOutcome) -> Self {
        match outcome {
            ReadOutcome::Content(FileContent { bytes, version, size }) if bytes.len() as u64 == size => {
                Self::Whole { bytes, version }
            }
            ReadOutcome::Content(content) => Self::TooLarge(content.size),
            ReadOutcome::Unchanged | ReadOutcome::Absent => Self::Absent,
        }
    }

    /// The bytes, none where there is no file.
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
        Ok(outcome) => Ok(Loaded::of(outcome)),
        Err(error) => Err(Error::storage(Some(path), &error)),
    }
}

/// Reads files together. An answer that is an error is that file's alone.
pub(crate) async fn load_all(
    fs: &Fs,
    files: &[(&RelPath, Option<Version>)],
    limit: u32,
) -> Vec<Result<Loaded, FsError>> {
    let reads = files.iter().map(|(path, unless)| fs.read_unless(path, limit, unless.clone())).collect();
    join(reads).await.into_iter().map(|answer| answer.map(Loaded::of)).collect()
}

/// The file in which a change keeps the bytes that it replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backups<'a> {
    /// Nowhere.
    Off,
    /// In the file's backup, once the change is made: a change that fails leaves the older backup alone. Until
    /// then they are beside it, in the file of [`Layout::before_change_of`]. If they cannot be kept there, nothing
    /// is changed. An empty file is not kept: it may be one that an editor is about to fill.
    Keep,
    /// As `Keep`, with this file as the backup.
    KeepAs(&'a RelPath),
    /// In this file, before the change. If that fails, nothing is changed.
    KeepIn(&'a RelPath),
}

/// The file that holds the replaced bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Backup {
    /// There was nothing to keep, or it was not asked for.
    None,
    /// In this file.
    Kept(RelPath),
    /// In this file, as the usual one could not be written, for this reason.
    Elsewhere(RelPath, Error),
}

/// What a computed change is.
pub(crate) enum Change<T> {
    /// The file gets these bytes.
    Write(Screened, T),
    /// The file is removed.
    Remove(Removal, T),
    /// The file stays as it is.
    Keep(T),
}

/// Changes a file: reads it, computes the change, applies it if the file is still what was read.
///
/// `change` sees the bytes, `None` where there is no file, and may be called again with others. What is
/// larger than the limit is not written, as nobody could read it again.
pub(crate) async fn update<T>(
    fs: &Fs,
    path: &RelPath,
    limit: u32,
    backups: Backups<'_>,
    mut change: impl FnMut(Option<&[u8]>) -> Result<Change<T>, Error>,
) -> Result<(T, Backup), Error> {
    let mut staged: Option<Staged> = None;
    let backup = match backups {
        Backups::Keep => Some(Layout::backup_of(path)),
        Backups::KeepAs(backup) => Some(backup.clone()),
        Backups::Off | Backups::KeepIn(_) => None,
    };
    for _ in 0..MAX_ATTEMPTS {
        let current = load(fs, path, limit).await?;
        let change = change(current.require(path, limit)?)?;
        let (content, done) = match change {
            Change::Write(content, done) => (Some(content), done),
            Change::Remove(_, done) => (None, done),
            Change::Keep(done) => return Ok((done, Backup::None)),
        };
        if let Some(size) =
            content.as_ref().map(|content| content.as_bytes().len()).filter(|size| *size > limit as usize)
        {
            return Err(Error::file_too_large(path, size as u64, u64::from(limit)));
        }
        if let (Some(backup), None, Loaded::Whole { .. }) = (&backup, &staged, &current) {
            finish_backup(fs, path, backup, limit).await?;
        }
        staged = stage(fs, path, &current, backups).await?;
        let applied = match content {
            Some(content) => write(fs, path, &content, current.precondition()).await,
            None => fs.remove(path, current.precondition()).await.map_err(|error| Error::storage(Some(path), &error)),
        };
        match (applied, staged.take()) {
            (Ok(true), None) => return Ok((done, Backup::None)),
            (Ok(true), Some(staged)) => return Ok((done, staged.become_backup(fs, backup).await)),
            (Ok(false), kept) => staged = kept,
            (Err(error), kept) => {
                // The error may have come after the change was made. What cannot be settled now, the next change does.
                if let (Some(backup), Some(_)) = (&backup, kept) {
                    let _ = finish_backup(fs, path, backup, limit).await;
                }
                return Err(error);
            }
        }
    }
    Err(contention(path))
}

/// The bytes that a change replaces, in a file of their own until the change is made.
struct Staged {
    file: RelPath,
    bytes: Vec<u8>,
    version: Option<Version>,
}

async fn stage(fs: &Fs, path: &RelPath, current: &Loaded, backups: Backups<'_>) -> Result<Option<Staged>, Error> {
    let Loaded::Whole { bytes, .. } = current else { return Ok(None) };
    let file = match backups {
        Backups::Off => return Ok(None),
        Backups::Keep | Backups::KeepAs(_) if bytes.is_empty() => return Ok(None),
        Backups::Keep | Backups::KeepAs(_) => Layout::before_change_of(path),
        Backups::KeepIn(file) => file.clone(),
    };
    let version = put(fs, &file, bytes).await?;
    Ok(Some(Staged { file, bytes: bytes.clone(), version }))
}

impl Staged {
    /// The change is made: the bytes go where backups are looked for, if that is another file.
    async fn become_backup(self, fs: &Fs, backup: Option<RelPath>) -> Backup {
        let Some(backup) = backup else { return Backup::Kept(self.file) };
        match put(fs, &backup, &self.bytes).await {
            Ok(_) => {
                self.discard(fs).await;
                Backup::Kept(backup)
            }
            Err(error) => Backup::Elsewhere(self.file, error),
        }
    }

    /// Removes the file, unless another writer has put its own there. One that stays does no harm: the next change
    /// compares it with the file.
    async fn discard(self, fs: &Fs) {
        if let Some(version) = self.version {
            let _ = fs.remove(&self.file, Precondition::Matches(version)).await;
        }
    }
}

/// Finishes what an interrupted change left: the bytes that it replaced become the backup. If the change was never
/// made, they are still in the file, and the older backup stays.
pub(crate) async fn finish_backup(fs: &Fs, path: &RelPath, backup: &RelPath, limit: u32) -> Result<(), Error> {
    let file = Layout::before_change_of(path);
    let Loaded::Whole { bytes, version } = load(fs, &file, limit).await? else { return Ok(()) };
    let is_made = !matches!(load(fs, path, limit).await?, Loaded::Whole { bytes: current, .. } if current == bytes);
    if is_made {
        put(fs, backup, &bytes).await?;
    }
    let removed = fs.remove(&file, Precondition::Matches(version)).await;
    removed.map(|_| ()).map_err(|error| Error::storage(Some(&file), &error))
}

/// Puts bytes into a file, whatever it holds.
async fn put(fs: &Fs, path: &RelPath, bytes: &[u8]) -> Result<Option<Version>, Error> {
    for _ in 0..MAX_ATTEMPTS {
        let outcome = fs.write(path, bytes.to_vec(), Precondition::Any).await;
        match outcome.map_err(|error| Error::storage(Some(path), &error))? {
            WriteOutcome::Written(version) => return Ok(Some(version)),
            WriteOutcome::Unknown => {
                if holds(fs, path, bytes).await? {
                    return Ok(None);
                }
            }
            // It had no precondition that could fail.
            WriteOutcome::Stale(_) => break,
        }
    }
    Err(contention(path))
}

/// Makes a file. `false`: there is one of this name, and nothing was written.
pub(crate) async fn create(fs: &Fs, path: &RelPath, content: &Screened) -> Result<bool, Error> {
    let content = content.as_bytes();
    for _ in 0..MAX_ATTEMPTS {
        let outcome = fs.write(path, content.to_vec(), Precondition::Absent).await;
        match outcome.map_err(|error| Error::storage(Some(path), &error))? {
            WriteOutcome::Written(_) => return Ok(true),
            WriteOutcome::Stale(_) => return Ok(false),
            // Others may have added to it since, so it need not be these bytes alone.
            WriteOutcome::Unknown => {
                if let Some(found) = read_back(fs, path, 0, content.len()).await? {
                    return Ok(found.bytes == content);
                }
            }
        }
    }
    Err(contention(path))
}

/// Removes a file if it still has the version. `false`: it has another, and stays.
pub(crate) async fn remove_version(fs: &Fs, path: &RelPath, version: Version, _: Removal) -> Result<bool, Error> {
    let removed = fs.remove(path, Precondition::Matches(version)).await;
    removed.map_err(|error| Error::storage(Some(path), &error))
}

/// Replaces a file if it still has the version. `false`: it has another, and stays.
pub(crate) async fn write_version(
    fs: &Fs,
    path: &RelPath,
    content: &Screened,
    version: Version,
) -> Result<bool, Error> {
    write(fs, path, content, Precondition::Matches(version)).await
}

/// Replaces a file whatever it holds.
pub(crate) async fn replace(fs: &Fs, path: &RelPath, content: &Screened, limit: u32) -> Result<(), Error> {
    let change = |_: Option<&[u8]>| Ok(Change::Write(content.clone(), ()));
    update(fs, path, limit, Backups::Off, change).await.map(|_| ())
}

/// Writes a file that can be made again from others, in a folder for such. `false`: it was not written.
pub(crate) async fn write_cache(fs: &Fs, path: &RelPath, content: Vec<u8>) -> bool {
    // No text that people keep gets around the policy by this way.
    is_bookkeeping(path) && fs.write(path, content, Precondition::Any).await.is_ok()
}

/// Gives a file another name. `Absent`: it has gone; `Exists`: the name is taken.
pub(crate) async fn rename(fs: &Fs, from: &RelPath, to: &RelPath, _: Removal) -> Result<RenameOutcome, Error> {
    fs.rename(from, to).await.map_err(|error| Error::storage(Some(to), &error))
}

/// Removes the folders that are empty now that these files are gone: the folder of each and those above it, as far as
/// `may_go`. A folder that has anything else in it stays, and so does one that the host does not remove: an empty folder
/// harms nobody, so this is no reason for a command to fail.
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
    // A path sorts after those above it, and a folder can go only when those in it have gone.
    let folders: Vec<&RelPath> = folders.iter().collect();
    for folder in folders.into_iter().rev() {
        let _ = fs.remove_directory(folder).await;
    }
}

/// Adds to a file, on a line of its own. `false`: the precondition does not hold, nothing was added.
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

/// Adds to a file what `addition` computes from its bytes, if the file is still what was read.
///
/// `addition` may find that there is nothing to add, and may be called again with other bytes.
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
    let removed = fs.remove(path, Precondition::Any).await;
    removed.map(|_| ()).map_err(|error| Error::storage(Some(path), &error))
}

async fn write(fs: &Fs, path: &RelPath, content: &Screened, precondition: Precondition) -> Result<bool, Error> {
    let content = content.as_bytes();
    let outcome = fs.write(path, content.to_vec(), precondition).await;
    match outcome.map_err(|error| Error::storage(Some(path), &error))? {
        WriteOutcome::Written(_) => Ok(true),
        WriteOutcome::Stale(_) => Ok(false),
        WriteOutcome::Unknown => holds(fs, path, content).await,
    }
}

/// Whether the file is exactly these bytes: what the honest "unknown" of a write is resolved by.
async fn holds(fs: &Fs, path: &RelPath, content: &[u8]) -> Result<bool, Error> {
    let found = read_back(fs, path, 0, content.len()).await?;
    Ok(found.is_some_and(|found| found.size == content.len() as u64 && found.bytes == content))
}

/// Whether the file has these bytes there, behind a newline or not: the same for an append.
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
    Error::new(ErrorCode::Contention, message, "try again when fewer writers are at work; nothing was changed")
}
