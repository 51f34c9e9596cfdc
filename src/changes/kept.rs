//! Text that a change replaced or removed and that is kept, and reading it back.
//!
//! The text is kept in one of two places: in a file, the backup of the changed file, or in the history alone. In the history it
//! is the content before a change whose record says so: [`keeps_before`](saddlebag_log::Change::keeps_before).
//!
//! **A backup is newer than everything that the history keeps for its file.** A change keeps text in the history only while
//! the file has no backup, and it looks for one after it has read the text that it replaces. So a backup that is found was written
//! later than the last record that keeps text. No clock decides, and it does not matter who wrote the backup: an earlier version of
//! this program, a host without a history, a change that is not recorded, or one of text with a secret. A file that has a backup
//! goes on using it.

use saddlebag_log::{Contents, Digest, Log, Missing, State, Step, versions};

use super::call::Call;
use super::change::File;
use super::logs::history_of;
use crate::store::{HistoryFolder, Layout, RelPath, is_below_entries};
use saddlebag_collections::{prelude::*, sorted::SortedMap};
use saddlebag_protocol::{Error, Precondition, Version};

/// Commands that take changes back, or make them again.
const REVERTS: [&str; 2] = ["undo", "redo"];

/// Maximum number of moves of a file over which its kept text is looked for.
const MAX_MOVES: usize = 64;

/// Where a change kept the bytes that it replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// It replaced nothing, or keeps no backup.
    Nothing,
    /// In this file.
    File(RelPath),
    /// In the history.
    History,
}

impl Kept {
    /// Returns the backup; `None` if there is no such file.
    pub(crate) fn file(self) -> Option<RelPath> {
        match self {
            Self::File(path) => Some(path),
            Self::Nothing | Self::History => None,
        }
    }
}

/// Text that is kept.
pub(crate) struct KeptText {
    /// The bytes, as those of the backup of the file.
    pub(crate) file: File,
    /// True if the history has them, and no backup does.
    pub(crate) is_in_history: bool,
}

/// File that was removed, and whose text the history keeps.
pub(crate) struct RemovedFile {
    pub(crate) path: RelPath,
    pub(crate) bytes: Vec<u8>,
    /// Time of its last change, in nanoseconds since 1970-01-01T00:00:00Z.
    pub(crate) time_ns: i64,
    /// True if the removal itself keeps the text. That of a rename, and of an undo, does not.
    pub(crate) is_kept_by_removal: bool,
}

impl Call {
    /// Reads the newest kept text of a file, before a change that brings it back. If a change of the file was interrupted before the
    /// replaced bytes were kept, the host finishes it first; otherwise the text could be an older one.
    pub(crate) async fn load_kept(&self, path: &RelPath, backup: &RelPath) -> Result<Option<KeptText>, Error> {
        if self.find_kept(path, backup).await?.is_none() {
            return Ok(None);
        }
        // A version has at least one byte, so nothing is written.
        let never = Precondition::Matches(Version(String::new()));
        let outcome = self.operations.write(path, Vec::new(), never, None, None).await;
        outcome.map_err(|error| Error::storage(Some(path), &error))?;
        self.find_kept(path, backup).await
    }

    /// Reads the newest kept text of a file; `None` if there is none. Nothing is changed.
    pub(crate) async fn find_kept(&self, path: &RelPath, backup: &RelPath) -> Result<Option<KeptText>, Error> {
        let file = self.load(backup).await?;
        if file.bytes().is_some() {
            return Ok(Some(KeptText { file, is_in_history: false }));
        }
        let own = Layout::backup_of(path);
        if *backup != own && self.load(&own).await?.bytes().is_some() {
            return Ok(None);
        }
        let now = self.load(path).await?;
        let kept = self.kept_in_history(path, now.bytes()).await?;
        Ok(kept.map(|bytes| KeptText { file: file.with_bytes(bytes), is_in_history: true }))
    }

    /// Reads the newest text that the history keeps of a file, also of one that had another path when its text was replaced.
    async fn kept_in_history(&self, path: &RelPath, now: Option<&[u8]>) -> Result<Option<Vec<u8>>, Error> {
        let folder = history_of(path)?;
        let (mut path, mut state) = (path.clone(), State::of(now));
        // The operation that moved it, and the contents of the records after that.
        let mut departure: Option<(String, Contents)> = None;
        for _ in 0..MAX_MOVES {
            let mut of_files = self.kept_records(&folder, Some(&path), |other| *other == path).await?;
            let Some(mut records) = of_files.remove(&path) else { break };
            if let Some((operation, contents)) = departure {
                records.end_before(&operation);
                records.contents.add_all(contents);
            }
            match records.newest_kept(&path, state) {
                Some(Newest::Kept(digest)) if State::of(now) != State::Bytes(digest) => {
                    return records.content(self, &folder, digest, now).await;
                }
                Some(Newest::Moved { from, operation, state: moved }) => {
                    departure = Some((operation, records.contents));
                    (path, state) = (from, moved);
                }
                _ => break,
            }
        }
        Ok(None)
    }

    /// Returns the wanted files whose text the history keeps. None of them must exist.
    pub(crate) async fn removed_and_kept(
        &self,
        folder: &HistoryFolder,
        is_wanted: impl Fn(&RelPath) -> bool,
    ) -> Result<Vec<RemovedFile>, Error> {
        let mut removed = Vec::new();
        for (path, mut records) in self.kept_records(folder, None, is_wanted).await?.into_entries() {
            if let Some(bytes) = records.newest_of_removed(self, folder, &path).await? {
                let time_ns = records.steps.last().map_or(0, |step| step.time_ns);
                let is_kept_by_removal = records.newest_step(State::Absent).is_some_and(|step| step.keeps_before);
                removed.push(RemovedFile { path, bytes, time_ns, is_kept_by_removal });
            }
        }
        Ok(removed)
    }

    /// Returns true if a file that does not exist was forgotten and its text is kept.
    pub(crate) async fn is_forgotten(&self, path: &RelPath) -> Result<bool, Error> {
        if self.load(&Layout::backup_of(path)).await?.bytes().is_some() {
            return Ok(true);
        }
        let records = self.kept_records(&history_of(path)?, Some(path), |other| other == path).await?.remove(path);
        Ok(records.is_some_and(|records| records.newest_step(State::Absent).is_some_and(|step| step.keeps_before)))
    }

    /// Reads the records of the files that are wanted and of which a record keeps text. `only` is the one file that is wanted.
    async fn kept_records(
        &self,
        folder: &HistoryFolder,
        only: Option<&RelPath>,
        is_wanted: impl Fn(&RelPath) -> bool,
    ) -> Result<SortedMap<RelPath, Records>, Error> {
        let mut of_files: SortedMap<RelPath, Records> = SortedMap::default();
        let max_bytes = self.scope.limits.max_file_bytes as usize;
        for (number, log) in self.logs(folder).await?.into_iter().enumerate() {
            let bytes = self.read_whole(&log.path).await?;
            // A clock that was set back changes nothing about the order in one log.
            let mut latest = i64::MIN;
            let log = Log::new(&bytes);
            for line in only.map_or_else(|| log.lines(), |path| log.lines_with(folder.relative(path))) {
                let record = line.head.record();
                latest = latest.max(record.time_ns);
                for lost in &record.lost {
                    let Some(path) = folder.absolute(&lost.path).filter(&is_wanted) else { continue };
                    let records = of_files.get_or_insert(path, Records::new(max_bytes));
                    records.into_iter().for_each(|records| records.lose(number, &Step::new(record, lost)));
                }
                for change in &record.changes {
                    let Some(path) = folder.absolute(&change.path).filter(&is_wanted) else { continue };
                    let records = of_files.get_or_insert(path, Records::new(max_bytes));
                    let Some(records) = records else { continue };
                    records.steps.push(RecordedStep {
                        log: number,
                        time_ns: latest,
                        operation: record.operation.clone(),
                        before: change.before,
                        after: change.after,
                        keeps_before: change.keeps_before,
                        moved_from: change.moved_from.as_deref().and_then(|from| folder.absolute(from)),
                        reverts: REVERTS.contains(&record.command.as_str()),
                        moves_away: record.changes.iter().any(|other| other.moved_from.as_ref() == Some(&change.path)),
                    });
                    for place in 0..record.changes.len() {
                        for content in line.head.contents(place).unwrap_or_default() {
                            records.contents.add_content(content);
                        }
                    }
                }
            }
        }
        Ok(of_files)
    }
}

/// Records of one file.
#[derive(Clone)]
struct Records {
    steps: Vec<RecordedStep>,
    contents: Contents,
}

#[derive(Clone)]
struct RecordedStep {
    /// Number of the log.
    log: usize,
    time_ns: i64,
    operation: String,
    before: State,
    after: State,
    keeps_before: bool,
    /// Path that the file had before, if this change moved it here.
    moved_from: Option<RelPath>,
    /// True if this change moved the file away, with its text.
    moves_away: bool,
    /// True if this change takes others back, or makes them again.
    reverts: bool,
}

impl RecordedStep {
    fn step(&self) -> Step<'_> {
        Step { operation: &self.operation, before: self.before, after: self.after }
    }
}

/// The newest change of a file that says where its kept text is.
enum Newest {
    /// The history keeps this content.
    Kept(Digest),
    /// The file had another path before this operation.
    Moved { from: RelPath, operation: String, state: State },
}

impl Records {
    fn new(max_bytes: usize) -> Self {
        Self { steps: Vec::new(), contents: Contents::new(max_bytes) }
    }

    /// Returns the newest text that the history keeps of a file that does not exist; `None` if there is none.
    async fn newest_of_removed(
        &mut self,
        call: &Call,
        folder: &HistoryFolder,
        path: &RelPath,
    ) -> Result<Option<Vec<u8>>, Error> {
        match self.newest_kept(path, State::Absent) {
            Some(Newest::Kept(digest)) => self.content(call, folder, digest, None).await,
            _ => Ok(None),
        }
    }

    /// Returns the content of a digest; `None` if it was expunged. `now` is the file as it is.
    async fn content(
        &mut self,
        call: &Call,
        folder: &HistoryFolder,
        digest: Digest,
        now: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>, Error> {
        if let Some(now) = now {
            self.contents.add_known(now.to_vec());
        }
        loop {
            match self.contents.get(&digest) {
                Ok(bytes) => return Ok(Some(bytes)),
                Err(Missing::Blob(blob)) => {
                    let file =
                        folder.blob(&blob.to_string()).map_err(|_| Error::internal("a content without a path"))?;
                    let bytes = call.read_whole(&file).await?;
                    if self.contents.add_known(bytes) != blob {
                        return Ok(None);
                    }
                }
                Err(_) => return Ok(None),
            }
        }
    }

    /// Removes the change in a log that a record says was not made.
    fn lose(&mut self, log: usize, lost: &Step<'_>) {
        if let Some(place) = self.steps.iter().rposition(|step| step.log == log && step.step() == *lost) {
            self.steps.remove(place);
        }
    }

    /// Sorts by time, because there may be logs of several machines.
    fn sort(&mut self) {
        self.steps.sort_by_key(|step| step.time_ns);
    }

    /// Leaves out the change by which an operation moved the file away, and those after it.
    fn end_before(&mut self, operation: &str) {
        self.sort();
        let is_departure = |step: &RecordedStep| step.operation == operation && step.after == State::Absent;
        if let Some(departure) = self.steps.iter().rposition(is_departure) {
            self.steps.truncate(departure);
        }
    }

    /// Returns the change that gave the file its state of now; `None` if no record has it.
    fn newest_step(&self, now: State) -> Option<&RecordedStep> {
        let step = self.versions(now).first()?.step?;
        self.steps.get(step)
    }

    fn versions(&self, now: State) -> Vec<saddlebag_log::Version> {
        let steps: Vec<Step<'_>> = self.steps.iter().map(RecordedStep::step).collect();
        versions(&steps, now)
    }

    /// Returns the newest change that happened and that keeps the content before it in the history, or that moved the file as it
    /// was. A change whose text before is the text of now does not count: it was not made, or others took it back.
    fn newest_kept(&mut self, path: &RelPath, now: State) -> Option<Newest> {
        self.sort();
        let mut later = None;
        for version in self.versions(now) {
            let step = version.step.and_then(|step| self.steps.get(step));
            let next = later.replace(version);
            let by_others = next.as_ref().filter(|next: &&saddlebag_log::Version| next.step.is_none());
            // It was not made, or others took it back.
            let is_back = step.is_some_and(|step| by_others.is_some_and(|next| next.state == step.before));
            let next_step = next.as_ref().and_then(|next| self.steps.get(next.step?));
            let is_reverted = [step, next_step].into_iter().flatten().any(|step| step.reverts);
            match step {
                Some(RecordedStep { keeps_before: true, before: State::Bytes(digest), .. })
                    if now != State::Bytes(*digest) =>
                {
                    return Some(Newest::Kept(*digest));
                }
                Some(RecordedStep { moved_from: Some(from), operation, .. }) if is_below_entries(path) => {
                    let (from, operation) = (from.clone(), operation.clone());
                    return Some(Newest::Moved { from, operation, state: version.state });
                }
                // The text belongs to the file in its new place, and somebody else made another one here.
                Some(RecordedStep { moves_away: true, .. }) if by_others.is_some() && !is_back => return None,
                // An entry that was purged takes its kept text with it. A new entry of the same key begins without any.
                _ if version.state == State::Absent && is_below_entries(path) && !is_back && !is_reverted => {
                    return None;
                }
                _ => {}
            }
        }
        None
    }
}
