//! The gate: the one function through which every stored file changes.
//!
//! Every change is made of the file that it replaces. A lost race is an outcome: the file is read again, and the change is
//! computed again. A lost race means that another writer made progress, so [`MAX_ATTEMPTS`] bounds the number of writers
//! that a command waits for.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::call::Call;
use super::change::{After, Change, File};
use crate::engine::load;
use crate::protocol::{
    AppendOutcome, Entry, Error, ErrorCode, FileContent, ListOutcome, Precondition, ReadOutcome, RenameOutcome,
    Version, WriteOutcome,
};
use crate::sorted::SortedSet;
use crate::store::{Layout, RelPath};

/// Maximum number of attempts of a change.
const MAX_ATTEMPTS: u32 = 1024;

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

/// Function that computes a change from a file; `None` leaves the file unchanged.
type ComputeChange<'a> = dyn FnMut(&File) -> Result<Option<Change>, Error> + Send + 'a;

impl Call {
    /// Reads a whole file.
    pub(crate) async fn load(&self, path: &RelPath) -> Result<File, Error> {
        let limit = self.scope.limits.max_file_bytes;
        File::from_loaded(path, load(&self.fs, path, limit).await?, limit)
    }

    /// Reads a whole text; `None` if the file does not exist.
    pub(crate) async fn load_text(&self, path: &RelPath) -> Result<Option<String>, Error> {
        Ok(self.load(path).await?.text()?.map(String::from))
    }

    /// Lists a folder (`None` for the root of the store), sorted by path.
    pub(crate) async fn list(&self, folder: Option<&RelPath>) -> Result<Vec<Entry>, Error> {
        let mut entries = Vec::new();
        let mut after = None;
        loop {
            let page = self.fs.list(folder, after, self.scope.limits.max_list_entries, None).await;
            let ListOutcome::Page(page) = page.map_err(|error| Error::storage(folder, &error))? else { break };
            entries.extend(page.entries);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok(entries)
    }

    /// Reads the backup of a file. If a change of the file was interrupted before the replaced bytes were kept, the host
    /// finishes it first; otherwise the backup could be the older one.
    pub(crate) async fn load_backup(&self, path: &RelPath, backup: &RelPath) -> Result<File, Error> {
        let found = self.load(backup).await?;
        if found.bytes.is_none() {
            return Ok(found);
        }
        // No file has this version, so nothing is written.
        let never = Precondition::Matches(Version("none".into()));
        let outcome = self.operations.write(path, Vec::new(), never, None, None).await;
        outcome.map_err(|error| Error::storage(Some(path), &error))?;
        self.load(backup).await
    }

    /// Changes a file: reads it, computes the change, and applies it if the file is unchanged.
    ///
    /// `change` may be called again with another version of the file. Returns the file in which the replaced bytes are kept
    /// too.
    pub(crate) async fn update<T: Send>(
        &self,
        path: &RelPath,
        backups: Backups<'_>,
        mut change: impl FnMut(&File) -> Result<(Option<Change>, T), Error> + Send,
    ) -> Result<(T, Option<RelPath>), Error> {
        let mut done = None;
        let change = &mut |file: &File| {
            let (change, computed) = change(file)?;
            done = Some(computed);
            Ok(change)
        };
        let backup = self.update_with(path, backups, change).await?;
        done.map(|done| (done, backup)).ok_or_else(|| Error::internal("a change that was never computed"))
    }

    /// Changes a file. Not generic, so that it is compiled once instead of for each kind of change.
    async fn update_with(
        &self,
        path: &RelPath,
        backups: Backups<'_>,
        change: &mut ComputeChange<'_>,
    ) -> Result<Option<RelPath>, Error> {
        let (backup, like) = match backups {
            Backups::Off => (None, None),
            Backups::Keep => (Some(Layout::backup_of(path)), None),
            Backups::KeepAs(backup) => (Some(backup.clone()), None),
            Backups::Exchange(backup) => (Some(backup.clone()), Some(backup.clone())),
        };
        for _ in 0..MAX_ATTEMPTS {
            let file = self.load(path).await?;
            let Some(change) = change(&file)? else { return Ok(None) };
            let has_text = file.bytes().is_some_and(|bytes| !bytes.is_empty());
            let keep_as = backup.clone().filter(|_| has_text);
            let mut change = Change { keep_as, like: change.like.or_else(|| like.clone()), ..change };
            // A record says what was there, so it must still be there.
            if self.is_recorded(path) && change.before.bytes.is_none() && change.path() == path {
                change.before = file;
            }
            if self.apply(&change).await? {
                return Ok(change.keep_as);
            }
        }
        Err(contention(path))
    }

    /// Applies a change as it is. Returns `false` if the file is no longer as it was, or if its new name is taken; nothing
    /// is changed then.
    ///
    /// Every change of a stored file passes here, with what was there and what it becomes. The files of the index are the
    /// only others that the component writes.
    pub(crate) async fn apply(&self, change: &Change) -> Result<bool, Error> {
        let Some(change) = self.recordable(change).await? else { return Ok(false) };
        let change = change.as_ref();
        self.check_rejected(change).await?;
        self.record(change).await?;
        let File { path, precondition, .. } = &change.before;
        match &change.after {
            After::Whole(bytes) => self.write(change, bytes).await,
            After::Added(bytes) => self.append(path, bytes, precondition).await,
            After::Removed => {
                let removed = self.operations.remove(path, precondition.clone(), change.keep_as.clone()).await;
                removed.map_err(|error| Error::storage(Some(path), &error))
            }
            After::Discarded => {
                let removed = self.operations.discard(path, precondition.clone()).await;
                removed.map_err(|error| Error::storage(Some(path), &error))
            }
            After::Moved(to) => {
                let renamed = self.operations.rename(path, to, precondition.clone()).await;
                renamed.map(|done| done == RenameOutcome::Done).map_err(|error| Error::storage(Some(to), &error))
            }
        }
    }

    /// Applies the changes of one operation, which undoes others or makes them again. Returns the identifier of the operation;
    /// `None` if there was nothing to change.
    ///
    /// # Errors
    ///
    /// One of the files is no longer as it was.
    pub(crate) async fn apply_all(
        &self,
        changes: &[Change],
        undoes: Vec<String>,
        redoes: Vec<String>,
    ) -> Result<Option<String>, Error> {
        if let Some(recorder) = &self.recorder {
            let mut state = recorder.state.borrow_mut();
            (state.undoes, state.redoes) = (undoes, redoes);
        }
        // A change that is refused must not come after others were made.
        for change in changes {
            self.check_rejected(change).await?;
        }
        for change in changes {
            if !self.apply(change).await? {
                return Err(contention(change.path()));
            }
        }
        Ok(self.recorder.as_ref().and_then(|recorder| recorder.state.borrow().operation.clone()))
    }

    async fn write(&self, change: &Change, content: &[u8]) -> Result<bool, Error> {
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
                WriteOutcome::Written(_) => return Ok(true),
                WriteOutcome::Stale(_) => return Ok(false),
                WriteOutcome::Unknown => match self.read_back(path, 0, content.len()).await? {
                    // Others may have appended to a new file since, so it may have further bytes.
                    Some(found) => {
                        let is_whole = is_new || found.size == content.len() as u64;
                        return Ok(is_whole && found.bytes == content);
                    }
                    None if is_new => {}
                    None => return Ok(false),
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

    /// Writes a file of the index, which can be computed again. Returns `false` if it was not written.
    pub(crate) async fn write_cache(&self, path: &RelPath, content: Vec<u8>) -> bool {
        // This path must not be used to store user text past the policy.
        Layout::is_bookkeeping(path)
            && self.operations.write(path, content, Precondition::Any, None, None).await.is_ok()
    }

    /// Removes the folders of removed files, and those above them, if they are empty and `may_go` permits it. A folder
    /// that the host does not remove stays: an empty folder does no harm, so the command does not fail.
    pub(crate) async fn remove_emptied<'a>(
        &self,
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
            let _ = self.operations.remove_directory(folder).await;
        }
    }
}

pub(super) fn contention(path: &RelPath) -> Error {
    let message = format!("{path}: changed by others {MAX_ATTEMPTS} times in a row");
    Error::new(ErrorCode::Contention, message, "try again when fewer writers are at work")
}
