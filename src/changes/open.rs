//! Operations on several files: written down before the first change, so that whoever finds one that was interrupted
//! finishes it.
//!
//! The log gets the records of all changes at once, under the condition that the operation needs, so that nobody undoes what is
//! about to be undone. Then the file `open/<operation>` gets them, with the contents after. It is removed after the last change.
//! Each change is made only of the file that the record names, so several processes may finish an operation at once, and a
//! file that was changed since is left as it is.

use saddlebag_log::{Change as RecordedChange, Contents, Digest, Log, Missing, State};

use super::call::Call;
use super::change::{Change, File};
use super::logs::history_of;
use super::operation::Recorder;
use crate::engine::{Loaded, load};
use crate::store::{HistoryFolder, RelPath};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{EntryKind, Error, Precondition, ReadOutcome};

/// Time in nanoseconds within which a process may be about to make what it has recorded.
const ONE_MOMENT: u64 = 2_000_000_000;

/// Number of looks at a file while others are about to change it. There is no clock to wait by.
const MAX_POLLS: u32 = 16_384;

/// Maximum number of operations that one command finishes.
const MAX_OPEN: usize = 64;

impl Call {
    /// Records the changes of an operation on several files, and writes them down. The changes lose their backups where the history
    /// keeps what they replace. Returns the files that have them.
    pub(super) async fn open(
        &self,
        recorder: &Recorder,
        changes: &mut [Change],
        undone: &(dyn Fn(&HistoryFolder) -> [Vec<String>; 2] + Sync),
    ) -> Result<Vec<RelPath>, Error> {
        let mut opened: Vec<RelPath> = Vec::new();
        if changes.len() < 2 {
            return Ok(opened);
        }
        let mut folders: Vec<HistoryFolder> = Vec::new();
        for change in changes.iter() {
            let folder = history_of(change.path())?;
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        for folder in folders {
            let [undoes, redoes] = undone(&folder);
            recorder.set_undone(undoes, redoes);
            let log = self.opened(recorder, &folder).await?;
            let size = match &log {
                Some((_, end)) => end.size,
                None => self.log_size(&self.current_log(&folder, recorder)?).await,
            };
            let (mut records, mut lines) = (Vec::new(), Vec::new());
            for change in changes.iter_mut() {
                if history_of(change.path())? != folder {
                    continue;
                }
                let is_first = lines.is_empty();
                if let Some((log, end)) = &log {
                    let recordable = self.recordable_as(recorder, log, end, change).await?;
                    records.extend_from_slice(&self.line(recorder, size, recordable.changes, is_first));
                    if recordable.keeps_before {
                        change.keep_as = None;
                    }
                }
                let (before, after) = (change.before.bytes(), change.after_bytes());
                // Whoever finishes it has the content before: it is that of the file.
                let max_inline = self.scope.limits.max_file_bytes as usize;
                let change =
                    RecordedChange::of(folder.relative(change.path()), before, after.as_deref(), true, max_inline);
                lines.extend_from_slice(&self.line(recorder, size, vec![change], is_first));
            }
            if let Some((log, _)) = log {
                recorder.is_first_in(&log);
                self.append_record(recorder, &log, records, false, None).await?;
            }
            let name = recorder.operation(size);
            let path = folder.open().and_then(|open| open.join(&name));
            let path = path.map_err(|_| Error::internal("an operation without a path"))?;
            let written = self.operations.write(&path, lines, Precondition::Any, None, None).await;
            written.map_err(|error| Error::storage(Some(&path), &error))?;
            opened.push(path);
        }
        Ok(opened)
    }

    /// Returns true if somebody else has finished the operation. A slow process must not make its changes then, because a file may
    /// be as it was before them for another reason.
    pub(super) async fn is_closed(&self, opened: &RelPath) -> Result<bool, Error> {
        let read = self.fs.read(opened, 0, 0).await;
        Ok(matches!(read.map_err(|error| Error::storage(Some(opened), &error))?, ReadOutcome::Absent))
    }

    /// Waits for others to change a file that they have just recorded a change of. Returns false if they do not: the process may have
    /// been killed.
    pub(crate) async fn is_changed_soon(&self, file: &File) -> Result<bool, Error> {
        for _ in 0..MAX_POLLS {
            let read = self.fs.read(&file.path, 0, 0).await;
            let is_same = match read.map_err(|error| Error::storage(Some(&file.path), &error))? {
                ReadOutcome::Absent => file.has_version(None),
                ReadOutcome::Content(found) => file.has_version(Some(&found.version)),
            };
            if !is_same {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Waits for the process that has just written an operation down to finish it. Returns false if it does not.
    async fn is_closed_soon(&self, opened: &RelPath) -> Result<bool, Error> {
        for _ in 0..MAX_POLLS {
            if self.is_closed(opened).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns true if a time in nanoseconds since 1970-01-01T00:00:00Z is a moment ago.
    pub(crate) fn is_recent(&self, nanoseconds: u64) -> bool {
        self.now.epoch_nanoseconds().abs_diff(nanoseconds) < ONE_MOMENT
    }

    /// Notes that an operation is finished.
    pub(super) async fn close(&self, opened: &[RelPath]) -> Result<(), Error> {
        for path in opened {
            let removed = self.operations.remove(path, Precondition::Any, None).await;
            removed.map_err(|error| Error::storage(Some(path), &error))?;
        }
        Ok(())
    }

    /// Returns true if a file is as a change makes it: somebody else has finished the operation.
    pub(super) async fn is_made(&self, change: &Change) -> Result<bool, Error> {
        let file = self.load(change.path()).await?;
        Ok(file.bytes() == change.after_bytes().as_deref())
    }

    /// Finishes the operations on several files that were interrupted in the folder of a file, once for each command.
    pub(super) async fn complete_once(&self, path: &RelPath) -> Result<(), Error> {
        let Some(recorder) = &self.recorder else { return Ok(()) };
        let folder = history_of(path)?;
        if recorder.state.borrow().completed.contains(&folder) {
            return Ok(());
        }
        recorder.state.borrow_mut().completed.push(folder.clone());
        self.complete_open(&folder).await
    }

    /// Finishes the operations of a folder that were interrupted. One that this memory may not finish stays.
    pub(crate) async fn complete_open(&self, folder: &HistoryFolder) -> Result<(), Error> {
        let open = folder.open().map_err(|_| Error::internal("the history has no path"))?;
        let Some(recorder) = self.recorder.as_deref() else { return Ok(()) };
        let own = recorder.state.borrow().operation.clone();
        for entry in self.list(Some(&open)).await?.into_iter().take(MAX_OPEN) {
            if entry.kind != EntryKind::File || own.as_deref() == Some(entry.path.file_name()) {
                continue;
            }
            if self.is_recent(entry.modified) && self.is_closed_soon(&entry.path).await? {
                continue;
            }
            if self.complete(recorder, folder, &entry.path).await? {
                self.close(&[entry.path]).await?;
            }
        }
        Ok(())
    }

    /// Makes the changes of an operation that are not made yet. Returns false if one of them is refused.
    async fn complete(&self, recorder: &Recorder, folder: &HistoryFolder, path: &RelPath) -> Result<bool, Error> {
        let Loaded::Whole { bytes, .. } = load(&self.fs, path, self.scope.limits.max_file_bytes).await? else {
            return Ok(true);
        };
        for line in Log::new(&bytes).lines() {
            for (place, change) in line.head.record().changes.iter().enumerate() {
                // A record names files of its own scope, and no bookkeeping.
                let file = folder.absolute(&change.path).filter(|file| self.is_recorded(file));
                let Some(file) = file else { continue };
                let file = self.load(&file).await?;
                if State::of(file.bytes()) != change.before {
                    continue;
                }
                let Ok(after) = after(&file, change.after, line.head.contents(place).unwrap_or_default()) else {
                    continue;
                };
                let Ok(made) = self.screen.revert(&file, after) else { return Ok(false) };
                let log = self.current_log(folder, recorder)?;
                if let Some(text) = bytes.get(line.range.clone()) {
                    self.append_line(&log, [text.trim_ascii_end(), b"\n"].concat(), false).await?;
                }
                if self.is_closed(path).await? {
                    return Ok(true);
                }
                self.make(&made).await?;
            }
        }
        Ok(true)
    }
}

/// Returns the content after a change, from the content of the file and what the record has.
fn after(file: &File, state: State, stored: Vec<saddlebag_log::Content>) -> Result<Option<Vec<u8>>, Missing> {
    let digest = match state {
        State::Absent => return Ok(None),
        State::Bytes(digest) => digest,
        State::Size(_) => return Err(Missing::Unknown(Digest::of(&[]))),
    };
    let mut contents = Contents::new(usize::MAX);
    if let Some(bytes) = file.bytes() {
        contents.add_known(bytes.to_vec());
    }
    for content in stored {
        contents.add_content(content);
    }
    contents.get(&digest).map(Some)
}
