//! The gate: the one function through which every stored file changes.
//!
//! Every change is made of the file that it replaces. A lost race is an outcome: the file is read again, and the change is
//! computed again. A lost race means that another writer made progress, so [`MAX_ATTEMPTS`] bounds the number of writers
//! that a command waits for.

use saddlebag_log::Change as RecordedChange;

use super::call::Call;
use super::change::{Change, File};
use super::kept::Kept;
use super::logs::history_of;
use super::make::{MAX_ATTEMPTS, Made, contention};
use super::recorder::Recorded;
use crate::store::{HistoryFolder, Layout, RelPath};
use saddlebag_collections::{prelude::*, sorted::SortedSet};
use saddlebag_protocol::{Error, ErrorCode, Precondition};

/// File in which a change keeps the bytes that it replaces, unless the history keeps them: see [`Kept`]. The host changes both
/// files in one step, so a change that fails leaves the older backup alone. An empty file is not kept, because an editor may be
/// about to fill it.
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
    /// Changes a file: reads it, computes the change, and applies it if the file is unchanged.
    ///
    /// `change` may be called again with another version of the file. Returns where the replaced bytes are kept, too.
    pub(crate) async fn update<T: Send>(
        &self,
        path: &RelPath,
        backups: Backups<'_>,
        mut change: impl FnMut(&File) -> Result<(Option<Change>, T), Error> + Send,
    ) -> Result<(T, Kept), Error> {
        let mut done = None;
        let change = &mut |file: &File| {
            let (change, computed) = change(file)?;
            done = Some(computed);
            Ok(change)
        };
        let kept = self.update_with(path, backups, change).await?;
        done.map(|done| (done, kept)).ok_or_else(|| Error::internal("a change that was never computed"))
    }

    /// Changes a file. Not generic, so that it is compiled once instead of for each kind of change.
    async fn update_with(
        &self,
        path: &RelPath,
        backups: Backups<'_>,
        change: &mut ComputeChange<'_>,
    ) -> Result<Kept, Error> {
        let (backup, like) = match backups {
            Backups::Off => (None, None),
            Backups::Keep => (Some(Layout::backup_of(path)), None),
            Backups::KeepAs(backup) => (Some(backup.clone()), None),
            Backups::Exchange(backup) => (Some(backup.clone()), Some(backup.clone())),
        };
        for _ in 0..MAX_ATTEMPTS {
            let file = self.load(path).await?;
            let Some(change) = change(&file)? else { return Ok(Kept::Nothing) };
            let has_text = file.bytes().is_some_and(|bytes| !bytes.is_empty());
            let keep_as = backup.clone().filter(|_| has_text);
            let mut change = Change { keep_as, like: change.like.or_else(|| like.clone()), ..change };
            // A record says what was there, so it must still be there.
            if self.is_recorded(path) && change.before.bytes.is_none() && change.path() == path {
                change.before = file;
            }
            if let Some(kept) = self.apply_and_keep(&change).await? {
                return Ok(kept);
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
        Ok(self.apply_and_keep(change).await?.is_some())
    }

    /// Applies a change like [`apply`](Self::apply). Returns where the replaced bytes are kept; `None` if nothing is changed.
    async fn apply_and_keep(&self, change: &Change) -> Result<Option<Kept>, Error> {
        let in_file = || change.keep_as.clone().map_or(Kept::Nothing, Kept::File);
        if !self.is_recorded(change.path()) {
            self.check_rejected(change).await?;
            return Ok((self.make(change).await? == Made::Yes).then(in_file));
        }
        self.complete_once(change.path()).await?;
        for _ in 0..MAX_ATTEMPTS {
            let Some(mut recordable) = self.recordable(change).await? else { return Ok(None) };
            self.check_rejected(&recordable).await?;
            let Recorded { changes, keeps_before } = self.record(&recordable).await?;
            if keeps_before {
                recordable.to_mut().keep_as = None;
            }
            let made = self.make(&recordable).await?;
            if made == Made::No {
                self.record_lost(change.path(), changes).await;
            }
            let is_made = made == Made::Yes;
            // A change of whatever a file has is made of what it has now, because the record says what that was.
            if is_made || change.before.precondition != Precondition::Any {
                let kept = || if keeps_before { Kept::History } else { in_file() };
                return Ok(is_made.then(kept));
            }
        }
        Err(contention(change.path()))
    }

    /// Applies the changes of one operation, which undoes others or makes them again. `undone` has those that each folder's record names:
    /// if this is interrupted between two folders, nothing of the second counts as undone. Returns the identifier of the operation;
    /// `None` if there was nothing to change.
    ///
    /// # Errors
    ///
    /// One of the files is no longer as it was.
    pub(crate) async fn apply_all(
        &self,
        mut changes: Vec<Change>,
        undone: impl Fn(&HistoryFolder) -> [Vec<String>; 2] + Sync,
    ) -> Result<Option<String>, Error> {
        let Some(recorder) = &self.recorder else { return Err(Error::internal("an operation without a history")) };
        if let [change] = changes.as_slice() {
            let [undoes, redoes] = undone(&history_of(change.path())?);
            recorder.set_undone(undoes, redoes);
        }
        for change in &mut changes {
            // The history does not keep a secret, so a file does.
            if change.keep_as.is_none() && self.has_secret(change.before.bytes()) {
                change.keep_as = Some(Layout::backup_of(change.path()));
            }
        }
        // A change that is refused must not come after others were made.
        self.check_all_rejected(&changes).await?;
        let opened = self.open(recorder, &mut changes, &undone).await?;
        for (place, change) in changes.iter().enumerate() {
            for path in &opened {
                if self.is_closed(path).await? {
                    return Ok(self.recorded_operation());
                }
            }
            let made = match opened.is_empty() {
                true => self.apply(change).await,
                false => self.make(change).await.map(|made| made == Made::Yes),
            };
            let error = match made {
                Ok(true) => continue,
                Ok(false) if self.is_made(change).await? => continue,
                Ok(false) => contention(change.path()),
                Err(error) => error,
            };
            let is_first = place == 0;
            if error.code != ErrorCode::Contention && !(is_first && opened.is_empty()) {
                // Another command finishes what was written down, if it can be finished.
                return Err(error);
            }
            self.close(&opened).await?;
            if !opened.is_empty() {
                self.record_rest_lost(changes.get(place..).unwrap_or_default()).await?;
            }
            if is_first && recorder.has_recorded() {
                // Nothing happened of what the record says.
                let taken_back = self.record_all_unmade(&changes, &undone).await;
                if error.code == ErrorCode::Contention {
                    taken_back?;
                }
            }
            return Err(error);
        }
        self.close(&opened).await?;
        Ok(self.recorded_operation())
    }

    /// Records that the last changes of an operation on several files were not made.
    async fn record_rest_lost(&self, changes: &[Change]) -> Result<(), Error> {
        for change in changes {
            if !self.is_made(change).await? {
                let path = history_of(change.path())?.relative(change.path()).to_string();
                let after = change.after_bytes();
                let lost = RecordedChange::of(&path, change.before.bytes(), after.as_deref(), true, 0);
                self.record_lost(change.path(), vec![lost.without_contents()]).await;
            }
        }
        Ok(())
    }

    /// Records in each folder of the changes that nothing happened of what their records say.
    async fn record_all_unmade(
        &self,
        changes: &[Change],
        undone: &(dyn Fn(&HistoryFolder) -> [Vec<String>; 2] + Sync),
    ) -> Result<(), Error> {
        let mut folders: Vec<HistoryFolder> = Vec::new();
        for change in changes {
            let folder = history_of(change.path())?;
            if !folders.contains(&folder) {
                let [undoes, redoes] = undone(&folder);
                self.record_undo(&folder, redoes, undoes).await?;
                folders.push(folder);
            }
        }
        if let Some(recorder) = &self.recorder {
            recorder.begin_again();
        }
        Ok(())
    }

    /// Records that nothing happened of what a record says about operations that are undone or made again.
    pub(crate) async fn record_unmade(
        &self,
        folder: &HistoryFolder,
        undoes: Vec<String>,
        redoes: Vec<String>,
    ) -> Result<(), Error> {
        let taken_back = self.record_undo(folder, redoes, undoes).await;
        if let Some(recorder) = &self.recorder {
            recorder.begin_again();
        }
        taken_back.map(drop)
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
