//! [`History`]: the records of a scope, read from its logs.

use saddlebag_log::{Change, Content, Head, Log, Record, State, Step};

use super::types::MIN_OPERATION_DIGITS;
use crate::changes::{Call, history_of, is_session_of};
use crate::entries::Entries;
use crate::names::{Stores, is_listed};
use crate::notebook::{is_made_by_setup, settle_rename};
use crate::origin::Moment;
use crate::store::{HistoryFolder, RelPath, SCRATCHPAD_FILE, rfc3339};
use saddlebag_collections::{
    order,
    prelude::*,
    sorted::{SortedMap, SortedSet},
};
use saddlebag_protocol::{Entry, Error, ErrorCode};

/// Commands that make a file under its new name before they remove the old one, and those that take that back.
pub(super) const MOVING: [&str; 4] = ["rename", "call", "undo", "redo"];

/// Maximum size of all logs that are read, in bytes. The oldest months are left out.
const MAX_LOG_BYTES: u64 = 256 << 20;

/// Records of the files that a memory may see, oldest first.
#[derive(Default)]
pub(super) struct History {
    /// Logs, with their paths and their bytes.
    logs: Vec<(RelPath, Vec<u8>)>,
    pub(super) records: Vec<Recorded>,
    /// Number of lines that could not be read.
    pub(super) damaged: u32,
    /// True if months were left out.
    pub(super) is_cut: bool,
    /// For each operation that a client's session made through another program, the session.
    pub(super) sessions: SortedMap<String, String>,
    /// For each operation, its records.
    by_operation: SortedMap<String, Vec<usize>>,
    /// For each file, its changes, oldest first.
    by_path: SortedMap<RelPath, Vec<Place>>,
    /// For each file, the changes that moved it to another path, oldest first.
    arrivals: SortedMap<RelPath, Vec<Place>>,
    /// For each file, its changes that were not made. Their records may be the only ones with a content that another change needs.
    lost: SortedMap<RelPath, Vec<LineAt>>,
}

/// Place of a change of a file.
#[derive(Clone, Copy)]
struct Place {
    record: usize,
    change: usize,
}

/// Place of the line of a record in the logs, which has the contents of its changes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LineAt {
    log: usize,
    begin: usize,
    end: usize,
}

/// A record, without the contents of its changes.
pub(super) struct Recorded {
    pub(super) record: Record,
    /// For each change, the path of the file; `None` for a file that the memory may not see, and for a change that was not made.
    pub(super) paths: Vec<Option<RelPath>>,
    /// For each change that was not made, the path of the file.
    pub(super) lost: Vec<Option<RelPath>>,
    /// Place among the records of the history.
    pub(super) place: usize,
    pub(super) line: LineAt,
}

impl Recorded {
    /// Returns true if nothing is to be seen of the record: none of its changes was made, and it says nothing else.
    pub(super) fn is_lost(&self) -> bool {
        let Record { changes, undoes, redoes, .. } = &self.record;
        !changes.is_empty() && undoes.is_empty() && redoes.is_empty() && self.paths.iter().all(Option::is_none)
    }
}

impl History {
    /// Reads the records of the scope. With a path, only the records of this file.
    pub(super) async fn read(call: &Call, entries: &Entries, only: Option<&RelPath>) -> Result<Self, Error> {
        let mut folders = folders(call, entries)?;
        if let Some(path) = only {
            let own = history_of(path)?;
            folders.retain(|folder| *folder == own);
        }
        Self::of_folders(call, entries, folders, only).await
    }

    /// Reads the records of all files that the memory sees, those for all projects among them.
    pub(super) async fn of_all_seen(call: &Call, entries: &Entries) -> Result<Self, Error> {
        let mut folders = folders(call, entries)?;
        if let Some(note) = call.scope.layout.user_folder().and_then(|user| user.join(SCRATCHPAD_FILE).ok()) {
            folders.push(history_of(&note)?);
        }
        Self::of_folders(call, entries, folders, None).await
    }

    async fn of_folders(
        call: &Call,
        entries: &Entries,
        folders: Vec<HistoryFolder>,
        only: Option<&RelPath>,
    ) -> Result<Self, Error> {
        let mut history = Self::default();
        let mut files = Vec::new();
        for folder in &folders {
            files.extend(call.logs(folder).await?.into_iter().map(|log| (folder.clone(), log)));
        }
        // The name of a month sorts like its time. The newest months are read first, up to the limit.
        order::sort_slice(&mut files, |(_, a), (_, b)| month_of(a).cmp(&month_of(b)).then_with(|| a.path.cmp(&b.path)));
        let mut rest = MAX_LOG_BYTES;
        let mut kept = Vec::new();
        for (folder, file) in files.into_iter().rev() {
            match rest.checked_sub(file.size) {
                Some(left) => {
                    rest = left;
                    kept.push((folder, file));
                }
                None => {
                    history.is_cut = true;
                    break;
                }
            }
        }
        for (folder, file) in kept.iter().rev() {
            let bytes = call.read_whole(&file.path).await?;
            history.add(call, entries, folder, (file.path.clone(), bytes), only);
        }
        history.sort();
        Ok(history)
    }

    fn add(
        &mut self,
        call: &Call,
        entries: &Entries,
        folder: &HistoryFolder,
        (path, bytes): (RelPath, Vec<u8>),
        only: Option<&RelPath>,
    ) {
        let log = self.logs.len();
        let mut lines = match only {
            Some(path) => Log::new(&bytes).lines_with(folder.relative(path)),
            None => Log::new(&bytes).lines(),
        };
        for line in lines.by_ref() {
            let record = line.head.record();
            let is_made = |path: &RelPath| call.scope.layout.below_notebook(path).is_some_and(is_made_by_setup);
            let is_visible = |path: &RelPath| is_listed(call, entries, path) || is_made(path);
            let visible = |path: &str| folder.absolute(path).filter(is_visible);
            for lost in &record.lost {
                if let Some(path) = visible(&lost.path) {
                    self.lose(log, &path, &Step::new(record, lost));
                }
            }
            if let Some(session) = record.writer.session.as_ref().filter(|_| is_session_of(record)) {
                self.sessions.insert(record.operation.clone(), session.clone());
                continue;
            }
            if !record.lost.is_empty() {
                continue;
            }
            let paths: Vec<Option<RelPath>> = record.changes.iter().map(|change| visible(&change.path)).collect();
            // A snapshot has no files.
            if paths.is_empty() || paths.iter().any(Option::is_some) {
                let line = LineAt { log, begin: line.range.start, end: line.range.end };
                let lost = vec![None; paths.len()];
                self.records.push(Recorded { record: record.clone(), paths, lost, place: 0, line });
            }
        }
        self.damaged = self.damaged.saturating_add(u32::try_from(lines.damaged()).unwrap_or(u32::MAX));
        self.logs.push((path, bytes));
    }

    /// Leaves out the change of a file in a log that a record says was not made.
    fn lose(&mut self, log: usize, path: &RelPath, lost: &Step<'_>) {
        for Recorded { record, paths, lost: of_lost, line, .. } in self.records.iter_mut().rev() {
            if line.log != log {
                return;
            }
            let is_meant = |(change, path_of): (&Change, &Option<RelPath>)| {
                path_of.as_ref() == Some(path) && Step::new(record, change) == *lost
            };
            let Some(place) = record.changes.iter().zip(paths.iter()).position(is_meant) else { continue };
            if let (Some(made), Some(of_lost)) = (paths.get_mut(place), of_lost.get_mut(place)) {
                *of_lost = made.take();
            }
            if let Some(lines) = self.lost.get_or_insert(path.clone(), Vec::new()) {
                lines.push(line.clone());
            }
            return;
        }
    }

    /// Returns the size of a log as it was read, in bytes; 0 if it was not there, `None` if it was left out.
    pub(super) fn size_of(&self, log: &RelPath) -> Option<u64> {
        let read = self.logs.iter().find(|(path, _)| path == log);
        let missing = Some(0).filter(|_| !self.is_cut);
        read.map(|(_, bytes)| bytes.len() as u64).or(missing)
    }

    /// Sorts the records of several logs by time. A clock that was set back changes nothing about the order in one log.
    fn sort(&mut self) {
        let mut latest: SortedMap<usize, i64> = SortedMap::default();
        let mut keyed: Vec<(i64, Recorded)> = Vec::with_capacity(self.records.len());
        for recorded in core::mem::take(&mut self.records) {
            let time = latest
                .get(&recorded.line.log)
                .map_or(recorded.record.time_ns, |last| (*last).max(recorded.record.time_ns));
            latest.insert(recorded.line.log, time);
            keyed.push((time, recorded));
        }
        keyed.sort_by_key(|(time, _)| *time);
        self.records = keyed.into_iter().map(|(_, recorded)| recorded).collect();
        for (place, recorded) in self.records.iter_mut().enumerate() {
            recorded.place = place;
            if recorded.is_lost() {
                continue;
            }
            let operation = recorded.record.operation.clone();
            if let Some(records) = self.by_operation.get_or_insert(operation, Vec::new()) {
                records.push(place);
            }
            for (change, path) in recorded.paths.iter().enumerate() {
                let places = path.as_ref().and_then(|path| self.by_path.get_or_insert(path.clone(), Vec::new()));
                if let Some(places) = places {
                    places.push(Place { record: place, change });
                }
                let from = recorded.record.changes.get(change).and_then(|change| change.moved_from.as_deref());
                let from = path.as_ref().and_then(|path| history_of(path).ok()?.absolute(from?));
                if let Some(places) = from.and_then(|from| self.arrivals.get_or_insert(from, Vec::new())) {
                    places.push(Place { record: place, change });
                }
            }
        }
    }

    /// Returns true if a record is in a log of a folder.
    pub(super) fn is_in(&self, recorded: &Recorded, folder: &HistoryFolder) -> bool {
        self.logs.get(recorded.line.log).is_some_and(|(log, _)| folder.file_kind(log).is_some())
    }

    /// Returns true if a step moved a file to this path.
    pub(super) fn is_moved(&self, path: &RelPath) -> bool {
        let is_move = |(recorded, change): (&Recorded, usize)| {
            recorded.record.changes.get(change).is_some_and(|change| change.moved_from.is_some())
        };
        self.changes_of(path).any(is_move)
    }

    /// Returns true if the last record of a path moved its file to another path.
    pub(super) fn has_left(&self, path: &RelPath) -> bool {
        let Some((last, _)) = self.changes_of(path).last() else { return false };
        let operation = &last.record.operation;
        let (mut created, mut removed): (Vec<&RelPath>, Vec<&RelPath>) = (Vec::new(), Vec::new());
        for recorded in self.records_of(operation) {
            for (change, file) in recorded.record.changes.iter().zip(&recorded.paths) {
                match (change.before, change.after) {
                    (State::Absent, State::Absent) => {}
                    (State::Absent, _) => created.extend(file),
                    (_, State::Absent) => removed.extend(file),
                    _ => {}
                }
            }
        }
        if MOVING.contains(&last.record.command.as_str()) && created.len() == 1 && removed == [path] {
            return true;
        }
        self.moves_of(operation).iter().any(|(from, _)| from == path)
    }

    /// Returns the changes of a file, oldest first.
    pub(super) fn changes_of(&self, path: &RelPath) -> impl Iterator<Item = (&Recorded, usize)> {
        let places = self.by_path.get(path).map(Vec::as_slice).unwrap_or_default();
        places.iter().filter_map(|place| Some((self.records.get(place.record)?, place.change)))
    }

    /// Returns the records that moved a file from a path, oldest first, with the new paths.
    pub(super) fn arrivals_from(&self, path: &RelPath) -> impl Iterator<Item = (&Recorded, &RelPath)> {
        let places = self.arrivals.get(path).map(Vec::as_slice).unwrap_or_default();
        places.iter().filter_map(|place| {
            let recorded = self.records.get(place.record)?;
            Some((recorded, recorded.paths.get(place.change)?.as_ref()?))
        })
    }

    /// Returns the records of an operation, oldest first.
    pub(super) fn records_of(&self, operation: &str) -> impl Iterator<Item = &Recorded> {
        let places = self.by_operation.get(operation).map(Vec::as_slice).unwrap_or_default();
        places.iter().filter_map(|place| self.records.get(*place))
    }

    /// Returns the folders of the files that an operation changed.
    pub(super) fn folders_of(&self, operation: &str) -> Vec<HistoryFolder> {
        let mut folders = Vec::new();
        for path in self.records_of(operation).flat_map(|recorded| recorded.paths.iter().flatten()) {
            if let Ok(folder) = history_of(path)
                && !folders.contains(&folder)
            {
                folders.push(folder);
            }
        }
        folders
    }

    /// Returns the files that an operation moved, with their old and their new path.
    pub(super) fn moves_of(&self, operation: &str) -> Vec<(RelPath, RelPath)> {
        let mut moves = Vec::new();
        for recorded in self.records_of(operation) {
            for (change, to) in recorded.record.changes.iter().zip(&recorded.paths) {
                let from = change.moved_from.as_deref();
                let from = to.as_ref().and_then(|to| history_of(to).ok()?.absolute(from?));
                moves.extend(from.zip(to.clone()));
            }
        }
        moves
    }

    /// Returns the paths of the files in the history.
    pub(super) fn paths(&self) -> impl Iterator<Item = &RelPath> {
        self.by_path.keys()
    }

    /// Returns the records of the changes of a file that were not made.
    pub(super) fn lost_of(&self, path: &RelPath) -> &[LineAt] {
        self.lost.get(path).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns what the log keeps of the contents of the changes of a record.
    pub(super) fn contents(&self, line: &LineAt) -> Vec<Content> {
        let line = self.logs.get(line.log).and_then(|(_, log)| log.get(line.begin..line.end));
        let head = line.and_then(|line| core::str::from_utf8(line).ok()).and_then(Head::from_line);
        let Some(head) = head else { return Vec::new() };
        (0..head.record().changes.len()).filter_map(|change| head.contents(change)).flatten().collect()
    }

    /// Returns the identifiers of the operations that are undone.
    pub(super) fn undone(&self) -> SortedSet<&str> {
        let mut undone: SortedSet<&str> = SortedSet::default();
        for Recorded { record, .. } in &self.records {
            for operation in &record.undoes {
                undone.insert(operation.as_str());
            }
            for operation in &record.redoes {
                undone.remove(&operation.as_str());
            }
        }
        undone
    }

    /// Returns the first nanosecond after a moment, since 1970-01-01T00:00:00Z.
    ///
    /// # Errors
    ///
    /// The moment is in the future, or the history does not have the operation.
    pub(super) fn end_of(&self, at: &Moment, call: &Call) -> Result<i64, Error> {
        let now = call.now.timestamp();
        match at {
            Moment::Second(second) if *second <= now.seconds => {
                Ok(second.saturating_add(1).saturating_mul(1_000_000_000))
            }
            Moment::Second(second) => {
                let time = rfc3339(second.saturating_mul(1000), now.utc_offset_seconds);
                Err(Error::invalid_argument(format!("{time} is in the future"), "give a time in the past"))
            }
            Moment::Operation(given) => {
                let times = self.records_of(self.operation(given)?).map(|recorded| recorded.record.time_ns);
                Ok(times.max().unwrap_or_default().saturating_add(1))
            }
        }
    }

    /// Returns the operation that an identifier means, or the beginning of one.
    pub(super) fn operation(&self, given: &str) -> Result<&str, Error> {
        let mut found: Vec<&str> = Vec::new();
        for operation in self.by_operation.keys() {
            if operation == given {
                return Ok(operation);
            }
            if given.len() >= MIN_OPERATION_DIGITS && operation.starts_with(given) {
                found.push(operation);
            }
        }
        match found.as_slice() {
            [one] => Ok(one),
            [] => {
                let message = format!("there is no operation `{}`", given.escape_debug());
                let help = format!("`op log` lists the operations; give at least {MIN_OPERATION_DIGITS} digits of one");
                Err(Error::new(ErrorCode::NotFound, message, help))
            }
            several => {
                let several = several.iter().take(5).map(ToString::to_string).collect::<Vec<String>>().join(", ");
                let message = format!("`{}` is the beginning of {several}", given.escape_debug());
                Err(Error::new(ErrorCode::AmbiguousName, message, "give more digits"))
            }
        }
    }
}

/// Finishes the operations of the scope that were interrupted, also a rename, before one is undone.
pub(super) async fn complete_interrupted(with: &Stores<'_>) -> Result<(), Error> {
    for folder in folders(with.call, with.entries)? {
        with.call.complete_open(&folder).await?;
    }
    settle_rename(with.call, with.notebook).await;
    Ok(())
}

/// Returns the folders with the history of the scope.
pub(super) fn folders(call: &Call, entries: &Entries) -> Result<Vec<HistoryFolder>, Error> {
    entries.history_folders(&call.scope.layout)
}

fn month_of(log: &Entry) -> Option<RelPath> {
    log.path.parent().map(|month| month.file_name().to_string()).and_then(|month| RelPath::new(month).ok())
}
