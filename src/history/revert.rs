//! [`Reverted`]: the files as they are without some operations.

use saddlebag_log::{Rules, State, Version, merge};

use super::files::FileHistory;
use super::log::{History, Recorded};
use super::types::is_recent;
use crate::changes::{Call, Change, history_of};
use crate::names::Stores;
use crate::notebook::{CLAIMED_BY, HAND_OFF, SESSION, superseded_by};
use crate::store::{HistoryFolder, RelPath};
use saddlebag_collections::{
    prelude::*,
    sorted::{SortedMap, SortedSet},
};
use saddlebag_markdown::{Frontmatter, remove_field};
use saddlebag_protocol::{Error, ErrorCode};

/// How much of an operation the files still have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Left {
    /// It changed nothing.
    Unmade,
    /// Others have taken it back.
    Nothing,
    /// Files had its changes.
    Something,
}

/// Files without some operations.
pub(super) struct Reverted<'a> {
    files: Vec<Without<'a>>,
    places: SortedMap<RelPath, usize>,
    /// Operations that are undone, and those that are taken back here.
    undone: SortedSet<&'a str>,
}

/// A file with its history, and its bytes without the operations.
struct Without<'a> {
    known: FileHistory<'a>,
    bytes: Option<Vec<u8>>,
    /// True if the file is forgotten again, so that its text must be kept.
    is_forgotten: bool,
}

impl<'a> Reverted<'a> {
    pub(super) fn new(history: &'a History) -> Self {
        Self { files: Vec::new(), places: SortedMap::default(), undone: history.undone() }
    }

    /// Takes an operation back, of the files as they are without the operations before. `checks_rejected` refuses if the files would
    /// get a value that was rejected for good. `refusal` begins the error.
    ///
    /// # Errors
    ///
    /// A later change touches the same place. The error names it, and the files remain as they were before.
    pub(super) async fn take_back(
        &mut self,
        with: &Stores<'_>,
        history: &'a History,
        operation: &str,
        checks_rejected: bool,
        refusal: &str,
    ) -> Result<Left, Error> {
        let records = || history.records_of(operation).map(|recorded| &recorded.record);
        // Without an undo, what it undid is there again.
        let made_again = || records().flat_map(|record| record.undoes.iter().map(String::as_str));
        let made_again: Vec<&str> = made_again().filter(|operation| self.undone.remove(operation)).collect();
        let mut earlier = Vec::new();
        let mut left = self.take_back_each(with, history, operation, refusal, &mut earlier).await;
        if checks_rejected && left.is_ok() && !with.call.rejected_values().await?.is_empty() {
            let allowed = with.call.check_all_rejected(&Self::changes_of(with, self.files_at(&earlier))?).await;
            left = allowed.and(left);
        }
        if self.is_under_way(with.call, &earlier).await? {
            let message = format!("a change of the files of operation {operation} is recorded and not made yet");
            left = Err(Error::new(ErrorCode::Contention, message, "try again when it is made"));
        }
        // A file may have been read after a change that the history does not have yet.
        if left.as_ref().is_err_and(|error| error.code == ErrorCode::Conflict) {
            let is_read = with.call.check_log(&self.folder()?, |log| history.size_of(log)).await;
            left = is_read.and(left);
        }
        if left.is_ok() {
            self.undone.extend(records().take(1).map(|record| record.operation.as_str()));
        } else {
            self.undone.extend(made_again);
            for (place, bytes) in earlier.into_iter().rev() {
                if let Some(file) = self.files.get_mut(place) {
                    file.is_forgotten &= bytes.is_none();
                    file.bytes = bytes;
                }
            }
        }
        left
    }

    /// Returns the files of an operation. The others were looked at with their operations.
    fn files_at(&self, earlier: &[(usize, Option<Vec<u8>>)]) -> impl Iterator<Item = &Without<'a>> {
        earlier.iter().filter_map(|(place, _)| self.files.get(*place))
    }

    /// Returns true if somebody else makes the change now that the last record of one of these files announces.
    async fn is_under_way(&self, call: &Call, earlier: &[(usize, Option<Vec<u8>>)]) -> Result<bool, Error> {
        for Without { known, .. } in self.files_at(earlier) {
            let last = known.steps.len().checked_sub(1);
            let states = last.and_then(|last| known.states(last));
            let record = last.and_then(|last| known.steps.get(last)).map(|step| &step.recorded.record);
            let is_made = |(before, after)| before == after || State::of(known.file.bytes()) != before;
            let is_announced = states.is_some_and(|states| !is_made(states));
            if is_announced
                && record.is_some_and(|record| is_recent(call, record))
                && call.is_changed_soon(&known.file).await?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes an operation back in each file. `earlier` has the files as they were before, also after an error.
    async fn take_back_each(
        &mut self,
        with: &Stores<'_>,
        history: &'a History,
        operation: &str,
        refusal: &str,
        earlier: &mut Vec<(usize, Option<Vec<u8>>)>,
    ) -> Result<Left, Error> {
        let mut paths: Vec<&RelPath> = Vec::new();
        for recorded in history.records_of(operation) {
            for path in recorded.paths.iter().flatten() {
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
        }
        let mut left = Left::Unmade;
        let mut places = Vec::new();
        for path in &paths {
            let place = self.load(with, history, path).await?;
            earlier.push((place, self.file(place)?.bytes.clone()));
            places.push(place);
        }
        let mut moved_back = Vec::new();
        for (from, to) in history.moves_of(operation) {
            let (from, to) = (self.load(with, history, &from).await?, self.load(with, history, &to).await?);
            if self.take_back_move(with, operation, from, to).await? {
                left = Left::Something;
                moved_back.extend([from, to]);
            }
        }
        for (path, place) in paths.into_iter().zip(places).rev() {
            if moved_back.contains(&place) {
                continue;
            }
            let undone = &self.undone;
            let file = self.files.get_mut(place).ok_or_else(|| Error::internal("a file that was not loaded"))?;
            let of_file = file.take_back(with, operation, refusal, undone).await?;
            left = left.max(of_file);
            if of_file == Left::Nothing
                && file.bytes.is_none()
                && let Some(Moved { to, by }) = moved(with, history, path, operation, &self.undone).await?
            {
                let display = |path: &RelPath| with.call.scope.display_path(path);
                let message = format!("{refusal}: operation {by} moved {} to {}", display(path), display(&to));
                return Err(Error::new(ErrorCode::Conflict, message, "undo the later operation first"));
            }
        }
        Ok(left)
    }

    /// Loads a file with its history, once. Returns its place.
    async fn load(&mut self, with: &Stores<'_>, history: &'a History, path: &RelPath) -> Result<usize, Error> {
        if let Some(place) = self.places.get(path) {
            return Ok(*place);
        }
        let known = FileHistory::new(with.call, history, path).await?;
        let bytes = known.file.bytes().map(<[u8]>::to_vec);
        self.places.insert(path.clone(), self.files.len());
        self.files.push(Without { known, bytes, is_forgotten: false });
        Ok(self.files.len() - 1)
    }

    fn file(&mut self, place: usize) -> Result<&mut Without<'a>, Error> {
        self.files.get_mut(place).ok_or_else(|| Error::internal("a file that was not loaded"))
    }

    /// Takes the move of a file back that was edited since: the edits go back to the old place with it. Returns false if it was
    /// not edited, or not at other places than the move.
    async fn take_back_move(
        &mut self,
        with: &Stores<'_>,
        operation: &str,
        from: usize,
        to: usize,
    ) -> Result<bool, Error> {
        let old = self.file(from)?;
        let Some((Some(before), None)) = old.change_by(with, operation).await? else { return Ok(false) };
        if old.bytes.is_some() {
            return Ok(false);
        }
        let new = self.file(to)?;
        let Some((None, Some(after))) = new.change_by(with, operation).await? else { return Ok(false) };
        if new.bytes.is_none() || new.bytes.as_ref() == Some(&after) {
            return Ok(false);
        }
        let Some(Some(bytes)) = without(new.bytes.as_deref(), Some(&after), Some(&before)) else { return Ok(false) };
        new.bytes = None;
        self.file(from)?.bytes = Some(bytes);
        Ok(true)
    }

    /// Returns the folder whose history has the operations.
    pub(super) fn folder(&self) -> Result<HistoryFolder, Error> {
        let file = self.files.first().ok_or_else(|| Error::internal("an operation without a file"))?;
        history_of(&file.known.path)
    }

    /// Returns the changes that make the files so.
    pub(super) fn changes(&self, with: &Stores<'_>) -> Result<Vec<Change>, Error> {
        Self::changes_of(with, self.files.iter())
    }

    fn changes_of<'f>(with: &Stores<'_>, files: impl Iterator<Item = &'f Without<'a>>) -> Result<Vec<Change>, Error>
    where
        'a: 'f,
    {
        let mut changes = Vec::new();
        for Without { known, bytes, is_forgotten } in files {
            if known.file.bytes() != bytes.as_deref() {
                let change = with.call.screen.revert(&known.file, bytes.clone())?;
                changes.push(if *is_forgotten && bytes.is_none() { change.keeping_text() } else { change });
            }
        }
        Ok(changes)
    }
}

/// A file that has another place than the one that an operation changed.
struct Moved {
    to: RelPath,
    /// First operation that moved it.
    by: String,
}

/// Returns the place to which a file was moved after an operation, by one that is not undone; `None` if it is not there.
async fn moved(
    with: &Stores<'_>,
    history: &History,
    path: &RelPath,
    operation: &str,
    undone: &SortedSet<&str>,
) -> Result<Option<Moved>, Error> {
    let mut moved: Option<Moved> = None;
    let mut next = history.records_of(operation).next().map_or(0, |recorded| recorded.place);
    loop {
        let place = moved.as_ref().map_or(path, |moved| &moved.to);
        let is_next = |(recorded, _): &(&Recorded, &RelPath)| {
            recorded.place >= next && !undone.contains(&recorded.record.operation.as_str())
        };
        let Some((recorded, to)) = history.arrivals_from(place).find(is_next) else { break };
        next = recorded.place + 1;
        let by = moved.map_or_else(|| recorded.record.operation.clone(), |moved| moved.by);
        moved = Some(Moved { to: to.clone(), by });
    }
    let Some(moved) = moved else { return Ok(None) };
    let is_there = moved.by != operation && with.call.load(&moved.to).await?.bytes().is_some();
    Ok(is_there.then_some(moved))
}

impl Reverted<'_> {
    /// Returns the paths that notes no longer say to supersede.
    pub(super) fn superseded(&self, call: &Call) -> Vec<String> {
        let notes = self.files.iter().filter(|file| call.scope.layout.below_notebook(&file.known.path).is_some());
        notes
            .flat_map(|file| {
                let now = superseded_by(file.bytes.as_deref());
                superseded_by(file.known.file.bytes()).into_iter().filter(move |path| !now.contains(path))
            })
            .collect()
    }
}

impl Without<'_> {
    /// Returns the content before the first change of an operation and after its last; `None` if it did not happen, or is not kept.
    async fn change_by(
        &mut self,
        with: &Stores<'_>,
        operation: &str,
    ) -> Result<Option<(Option<Vec<u8>>, Option<Vec<u8>>)>, Error> {
        let steps = self.known.steps_of(operation).into_iter().filter(|step| self.known.has_happened(*step));
        let mut states = steps.filter_map(|step| self.known.states(step));
        let Some((before, first_after)) = states.next() else { return Ok(None) };
        let after = states.next_back().map_or(first_after, |(_, after)| after);
        if !self.known.keeps(before) || !self.known.keeps(after) {
            return Ok(None);
        }
        let before = self.known.content(with.call, before).await?;
        Ok(Some((before, self.known.content(with.call, after).await?)))
    }

    /// Returns true if the file that a step removed exists only because of operations that are undone.
    fn is_removal_of_undone(&self, step: usize, undone: &SortedSet<&str>) -> bool {
        let mut older = self.known.versions.iter().skip_while(|version| version.step != Some(step)).skip(1);
        let is_undone = |version: &&Version| {
            let step = version.step.and_then(|step| self.known.steps.get(step));
            step.is_some_and(|step| undone.contains(&step.recorded.record.operation.as_str()))
        };
        let Some(before) = older.next() else { return false };
        let made_otherwise = core::iter::once(before).chain(older).find(|version| !is_undone(version));
        is_undone(&before) && made_otherwise.is_none_or(|version| version.state == State::Absent)
    }

    async fn take_back(
        &mut self,
        with: &Stores<'_>,
        operation: &str,
        refusal: &str,
        undone: &SortedSet<&str>,
    ) -> Result<Left, Error> {
        let mut left = Left::Unmade;
        for index in self.known.steps_of(operation).into_iter().rev() {
            let Some((before, after)) = self.known.states(index) else { continue };
            if before == after || !self.known.has_happened(index) {
                continue;
            }
            let is_gone = self.bytes.is_none() && after == State::Absent;
            if State::of(self.bytes.as_deref()) == before || (is_gone && self.is_removal_of_undone(index, undone)) {
                left = left.max(Left::Nothing);
                continue;
            }
            let is_forgotten = before == State::Absent && self.known.was_forgotten_as(index, after);
            let after = self.known.content(with.call, after).await?;
            let before = self.known.content(with.call, before).await?;
            // Handing a session's note on changes nothing that the session wrote.
            let is_made = before.is_none() && is_hand_off_of(self.bytes.as_deref(), after.as_deref());
            let now = if is_made { after.as_deref() } else { self.bytes.as_deref() };
            match without(now, after.as_deref(), before.as_deref()) {
                Some(bytes) => {
                    self.is_forgotten |= is_forgotten && bytes.is_none();
                    self.bytes = bytes;
                }
                None => return Err(self.conflict(with, refusal, index, after, before).await),
            }
            left = Left::Something;
        }
        Ok(left)
    }

    /// Returns the error for a change that a later one touches. It names the oldest version from which on the change cannot be
    /// taken back.
    async fn conflict(
        &mut self,
        with: &Stores<'_>,
        refusal: &str,
        index: usize,
        after: Option<Vec<u8>>,
        before: Option<Vec<u8>>,
    ) -> Error {
        let mut later = None;
        // Newest first: those before the step's own version came later.
        for version in self.known.versions.clone() {
            if version.step == Some(index) {
                break;
            }
            let Ok(then) = self.known.content(with.call, version.state).await else { continue };
            if without(then.as_deref(), after.as_deref(), before.as_deref()).is_some() {
                break;
            }
            later = Some(version);
        }
        let later = match later.map(|version| version.step.and_then(|step| self.known.steps.get(step))) {
            Some(Some(step)) => {
                let record = &step.recorded.record;
                format!("operation {} ({})", record.operation, record.command)
            }
            Some(None) => "an edit by another program".to_string(),
            None => "an operation that is undone too".to_string(),
        };
        let path = with.call.scope.display_path(&self.known.path);
        let message = format!("{refusal}: {later} changed the same place of {path}");
        let help = "undo the later change first, or restore a version of the file with `restore NAME --at N`, or leave the \
                    operation as it is with `undo --skip-conflicts`";
        Error::new(ErrorCode::Conflict, message, help)
    }
}

/// Returns true if a file is a session's note that was only handed on since.
fn is_hand_off_of(now: Option<&[u8]>, note: Option<&[u8]>) -> bool {
    let text = |bytes: Option<&[u8]>| {
        let text = core::str::from_utf8(bytes?).ok()?;
        Frontmatter::parse(text).value(SESSION)?;
        Some(remove_field(&remove_field(text, CLAIMED_BY), HAND_OFF))
    };
    let note = text(note);
    note.is_some() && text(now) == note
}

/// Returns a file without the change from `before` to `after`; `Some(None)` if it does not exist then. `None` if another change
/// touches the same place.
fn without(now: Option<&[u8]>, after: Option<&[u8]>, before: Option<&[u8]>) -> Option<Option<Vec<u8>>> {
    if now == after {
        return Some(before.map(<[u8]>::to_vec));
    }
    let (now, after) = (now?, after?);
    // What others added to a note needs its head.
    let is_head = before.is_none() && !Frontmatter::parse(&String::from_utf8_lossy(after)).span.is_empty();
    if is_head {
        return None;
    }
    let merged = merge(after, now, before.unwrap_or_default(), Rules::UNDO).ok()?;
    Some(Some(merged).filter(|merged| before.is_some() || !merged.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(now: Option<&str>, after: Option<&str>, before: Option<&str>) -> Option<Option<String>> {
        let done = without(now.map(str::as_bytes), after.map(str::as_bytes), before.map(str::as_bytes))?;
        Some(done.map(|bytes| String::from_utf8(bytes).unwrap()))
    }

    #[test]
    fn a_change_is_taken_back_beside_later_ones_and_not_under_them() {
        let done = |text: &str| Some(Some(text.to_string()));
        assert_eq!(text(Some("a\nb\n"), Some("a\nb\n"), Some("a\n")), done("a\n"));
        assert_eq!(text(Some("a\nb\nc\n"), Some("a\nb\n"), Some("a\n")), done("a\nc\n"));
        assert_eq!(text(Some("a\nB\n"), Some("a\nb\n"), Some("a\n")), None);
        // A file that the change created.
        assert_eq!(text(Some("a\n"), Some("a\n"), None), Some(None));
        assert_eq!(text(Some("a\nb\n"), Some("a\n"), None), done("b\n"));
        assert_eq!(text(Some("---\nid: 1\n---\na\nb\n"), Some("---\nid: 1\n---\na\n"), None), None);
        // A file that the change removed.
        assert_eq!(text(None, None, Some("a\n")), done("a\n"));
        assert_eq!(text(Some("new\n"), None, Some("a\n")), None);
    }
}
