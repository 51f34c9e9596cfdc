//! [`FileHistory`]: the versions of one file, and their contents.

use saddlebag_log::{Change, Contents, Missing, State, Step, Version, versions};

use super::log::{History, LineAt, Recorded};
use super::types::not_kept;
use crate::changes::{Call, File, history_of};
use crate::store::RelPath;
use saddlebag_collections::{
    prelude::*,
    sorted::{SortedMap, SortedSet},
};
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum number of earlier paths of a file whose records are looked at for its contents.
const MAX_EARLIER_PATHS: usize = 64;

/// A step of a file: the record, and the place of the change in it.
#[derive(Clone, Copy)]
pub(super) struct StepOf<'a> {
    pub(super) recorded: &'a Recorded,
    pub(super) change: usize,
    /// State of the file at its earlier path, if this step moved it.
    moved: Option<State>,
}

impl StepOf<'_> {
    /// Returns the change, from the state at the earlier path on.
    fn recorded_change(&self) -> Option<Cow<'_, Change>> {
        let change = self.recorded.record.changes.get(self.change)?;
        Some(match self.moved {
            Some(before) => Cow::Owned(Change { before, ..change.clone() }),
            None => Cow::Borrowed(change),
        })
    }
}

/// The versions of a file, newest first.
pub(super) struct FileHistory<'a> {
    pub(super) path: RelPath,
    /// The file as it is now.
    pub(super) file: File,
    pub(super) steps: Vec<StepOf<'a>>,
    pub(super) versions: Vec<Version>,
    contents: Contents,
    /// Steps that happened.
    happened: SortedSet<usize>,
    by_operation: SortedMap<&'a str, Vec<usize>>,
}

impl<'a> FileHistory<'a> {
    /// Computes the versions of the file with this path from the history.
    pub(super) async fn new(call: &Call, history: &'a History, path: &RelPath) -> Result<Self, Error> {
        Self::of_steps(call, history, path, steps_at(history, path)).await
    }

    /// Computes the versions of an item from the history: also those that it had at earlier paths.
    pub(super) async fn of_item(call: &Call, history: &'a History, path: &RelPath) -> Result<Self, Error> {
        Self::of_steps(call, history, path, steps_of_item(history, path)).await
    }

    async fn of_steps(
        call: &Call,
        history: &'a History,
        path: &RelPath,
        steps: Vec<StepOf<'a>>,
    ) -> Result<Self, Error> {
        let file = call.load(path).await?;
        let mut contents = Contents::new(call.scope.limits.max_file_bytes as usize);
        if let Some(bytes) = file.bytes() {
            contents.add_known(bytes.to_vec());
        }
        // A file that was moved here has its older contents in the records of its old path, and one line has both changes.
        let mut added: SortedSet<LineAt> = SortedSet::default();
        let mut add = |line: &LineAt| {
            if added.insert(line.clone()) {
                history.contents(line).into_iter().for_each(|content| contents.add_content(content));
            }
        };
        history.lost_of(path).iter().for_each(&mut add);
        steps.iter().for_each(|step| add(&step.recorded.line));
        let mut earlier = SortedSet::default();
        let mut old_paths: Vec<RelPath> = steps.iter().filter_map(|step| moved_from(step, path)).collect();
        while let Some(path) = old_paths.pop().filter(|_| earlier.len() < MAX_EARLIER_PATHS) {
            if !earlier.insert(path.clone()) {
                continue;
            }
            history.lost_of(&path).iter().for_each(&mut add);
            for step in steps_at(history, &path) {
                add(&step.recorded.line);
                old_paths.extend(moved_from(&step, &path));
            }
        }
        let changes: Vec<_> =
            steps.iter().filter_map(|step| Some((&step.recorded.record, step.recorded_change()?))).collect();
        let of_steps: Vec<Step<'_>> = changes.iter().map(|(record, change)| Step::new(record, change)).collect();
        let versions = versions(&of_steps, State::of(file.bytes()));
        let happened = versions.iter().filter_map(|version| version.step).collect();
        let mut by_operation: SortedMap<&str, Vec<usize>> = SortedMap::default();
        for (index, step) in steps.iter().enumerate() {
            if let Some(steps) = by_operation.get_or_insert(step.recorded.record.operation.as_str(), Vec::new()) {
                steps.push(index);
            }
        }
        Ok(Self { path: path.clone(), file, steps, versions, contents, happened, by_operation })
    }

    /// Returns the steps of an operation, oldest first.
    pub(super) fn steps_of(&self, operation: &str) -> Vec<usize> {
        self.by_operation.get(&operation).cloned().unwrap_or_default()
    }

    /// Returns the states before and after a step.
    pub(super) fn states(&self, step: usize) -> Option<(State, State)> {
        let change = self.steps.get(step)?.recorded_change()?;
        Some((change.before, change.after))
    }

    /// Returns true if a file with this state was forgotten before a step brought it back.
    pub(super) fn was_forgotten_as(&self, step: usize, state: State) -> bool {
        let mut changes = self.steps.iter().take(step).filter_map(StepOf::recorded_change);
        changes.next_back().is_some_and(|last| last.keeps_before && last.before == state && last.after == State::Absent)
    }

    /// Returns true if a step happened.
    pub(super) fn has_happened(&self, step: usize) -> bool {
        self.happened.contains(&step)
    }

    /// Returns true if a step never happened, or if others have taken it back at once, which looks the same.
    pub(super) fn looks_unmade(&self, step: usize) -> bool {
        let Some((before, after)) = self.states(step) else { return false };
        let place = self.versions.iter().position(|version| version.step == Some(step));
        let next = place.and_then(|place| self.versions.get(place.checked_sub(1)?));
        let is_back = next.is_some_and(|next| next.step.is_none() && next.state == before);
        before != after && (place.is_none() || is_back)
    }

    /// Returns true if the history may have the content of a state: it was neither too large, nor secret, nor expunged.
    pub(super) fn keeps(&self, state: State) -> bool {
        match state {
            State::Absent => true,
            State::Bytes(digest) => self.contents.has(&digest),
            State::Size(_) => false,
        }
    }

    /// Returns the content of a state; `None` if the file does not exist then.
    ///
    /// # Errors
    ///
    /// The history does not have it.
    pub(super) async fn content(&mut self, call: &Call, state: State) -> Result<Option<Vec<u8>>, Error> {
        let digest = match state {
            State::Absent => return Ok(None),
            State::Bytes(digest) => digest,
            State::Size(_) => return Err(not_kept(self.path.as_str(), "it was too large, or had a secret in it")),
        };
        loop {
            match self.contents.get(&digest) {
                Ok(bytes) => return Ok(Some(bytes)),
                Err(Missing::Blob(blob)) => {
                    let folder = history_of(&self.path)?;
                    let file =
                        folder.blob(&blob.to_string()).map_err(|_| Error::internal("a content without a path"))?;
                    let bytes = call.read_whole(&file).await?;
                    if self.contents.add_known(bytes) != blob {
                        return Err(not_kept(self.path.as_str(), "its file is missing or damaged"));
                    }
                }
                Err(missing) => return Err(not_kept(self.path.as_str(), missing)),
            }
        }
    }

    /// Returns the place of the newest version that the file had before a time, given in nanoseconds since
    /// 1970-01-01T00:00:00Z. `None` if the file did not exist.
    ///
    /// Text of others counts from the next record on, unless it is the newest and the host knows its time.
    pub(super) async fn place_at(&self, call: &Call, end: i64) -> Result<Option<usize>, Error> {
        if let Some(Version { step: None, state: State::Bytes(_) }) = self.versions.first()
            && self.modified(call).await?.is_some_and(|modified| modified < end.unsigned_abs())
        {
            return Ok(Some(0));
        }
        let is_older = |step: usize| self.steps.get(step).is_some_and(|step| step.recorded.record.time_ns < end);
        let place = self.versions.iter().position(|version| version.step.is_some_and(is_older));
        // Before the first record the file was as that record found it.
        let first = || {
            self.versions
                .len()
                .checked_sub(1)
                .filter(|_| self.versions.last().is_some_and(|first| first.step.is_none()))
        };
        Ok(place.or_else(first))
    }

    /// Returns the time of the last change of the file, in nanoseconds since 1970-01-01T00:00:00Z; `None` if the host does not
    /// know it.
    async fn modified(&self, call: &Call) -> Result<Option<u64>, Error> {
        let listed = call.list(self.path.parent().as_ref()).await?;
        let modified = listed.into_iter().find(|entry| entry.path == self.path).map(|entry| entry.modified);
        Ok(modified.filter(|modified| *modified > 0))
    }

    /// Returns the version of a number, 1 for the newest.
    pub(super) fn version(&self, number: u32) -> Option<Version> {
        self.versions.get(usize::try_from(number).ok()?.checked_sub(1)?).copied()
    }
}

/// Returns the version of a number.
pub(super) fn numbered(file: &FileHistory<'_>, number: u32) -> Result<Version, Error> {
    if number == 0 {
        let message = format!("{} has no version 0: versions are counted from 1, which is the newest", file.path);
        return Err(Error::invalid_argument(message, "give a number from 1 on; `history NAME` lists the versions"));
    }
    file.version(number).ok_or_else(|| {
        let shown = file.path.as_str();
        let message = match file.versions.len() {
            0 => format!("{shown} has no history"),
            count => format!("{shown} has no version {number}: it has {count}"),
        };
        let help = "`history NAME` lists the versions; 1 is the newest".to_string();
        Error::new(ErrorCode::NotFound, message, help)
    })
}

/// Returns the steps of the file with this path, oldest first.
fn steps_at<'a>(history: &'a History, path: &RelPath) -> Vec<StepOf<'a>> {
    history.changes_of(path).map(|(recorded, change)| StepOf { recorded, change, moved: None }).collect()
}

/// Returns the steps of an item, oldest first, with those at its earlier paths. What another file had at a path before the item came
/// there is left out.
fn steps_of_item<'a>(history: &'a History, path: &RelPath) -> Vec<StepOf<'a>> {
    let mut parts: Vec<Vec<StepOf<'a>>> = Vec::new();
    let (mut path, mut end) = (path.clone(), usize::MAX);
    loop {
        let mut steps = steps_at(history, &path);
        steps.retain(|step| step.recorded.place < end);
        let arrival = steps.iter().rposition(|step| moved_from(step, &path).is_some());
        let arrived = arrival.and_then(|arrival| Some((arrival, moved_from(steps.get(arrival)?, &path)?)));
        let Some((arrival, from)) = arrived else {
            parts.push(steps);
            break;
        };
        steps.drain(..arrival);
        if let Some(first) = steps.first_mut() {
            end = first.recorded.place;
            first.moved = state_before_move(history, &from, first);
        }
        parts.push(steps);
        path = from;
    }
    parts.into_iter().rev().flatten().collect()
}

/// Returns the state of a file at its earlier path when a step moved it.
fn state_before_move(history: &History, from: &RelPath, arrival: &StepOf<'_>) -> Option<State> {
    let (operation, place) = (&arrival.recorded.record.operation, arrival.recorded.place);
    let steps = steps_at(history, from);
    let is_departure =
        |step: &&StepOf<'_>| step.recorded.place >= place && step.recorded.record.operation == *operation;
    let departure = steps.iter().find(is_departure).and_then(StepOf::recorded_change).map(|change| change.before);
    let last = || steps.iter().rfind(|step| step.recorded.place < place)?.recorded_change().map(|change| change.after);
    departure.or_else(last)
}

/// Returns the path that a file had before a step; `None` if the step did not move it.
fn moved_from(step: &StepOf<'_>, path: &RelPath) -> Option<RelPath> {
    let change = step.recorded.record.changes.get(step.change)?;
    history_of(path).ok()?.absolute(change.moved_from.as_deref()?)
}
