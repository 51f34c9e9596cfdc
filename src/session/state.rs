//! The state of a session: a file of lines that is only appended to.

use serde::{Deserialize, Serialize};

use super::run_end::RunEnd;
use super::types::{SessionName, StoredItem, in_scope};
use crate::changes::{After, Call, Change};
use crate::store::{RelPath, SESSION_STATE_SUFFIX, SESSION_STATES};
use crate::trust::{Provenance, sha256};
use saddlebag_collections::{order, prelude::*};
use saddlebag_protocol::{
    Entry, EntryKind, Error, ErrorCode, FileContent, ListOutcome, Listing, Precondition, ReadOutcome,
};

/// Maximum size of a state in bytes.
pub(super) const MAX_STATE_BYTES: u32 = 512 << 10;

/// Maximum number of lines that are read.
const MAX_LINES: usize = 8_192;

/// Age in seconds after which the state of an unfinished session is removed.
pub(super) const MAX_AGE_SECONDS: i64 = 30 * 24 * 3_600;

/// Age in seconds after which the state of a finished session is removed. It may be resumed before.
const MAX_FINISHED_AGE_SECONDS: i64 = 24 * 3_600;

/// Time in seconds after its last activity when a session without an end counts as over.
pub(super) const REST_SECONDS: i64 = 30 * 60;

/// Maximum number of states that one command looks at, the last used ones, and that it removes.
const MAX_LOOKED_AT: usize = 48;
const MAX_SWEPT: usize = 16;

/// Number of bytes at the end of a state that are read for its last line.
const TAIL_BYTES: u32 = 32 << 10;

/// Number of digits of the mark of an item whose name was told.
const MARK_DIGITS: usize = 8;

/// A line of the state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Line {
    /// Time in seconds since 1970-01-01T00:00:00Z.
    pub(super) at: i64,
    /// Provenance of the text.
    pub(super) by: String,
    pub(super) event: Event,
    /// In the first line, the name of the session, its client and its agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) session: Vec<String>,
    /// The start of a prompt, or the start of an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<String>,
    /// Known words of the error of the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    /// Item that the tool has stored in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) kept: Option<StoredItem>,
    /// End of the use of a tool.
    #[serde(default, skip_serializing_if = "has_succeeded")]
    pub(super) end: RunEnd,
    /// True if the model has lost what was shown before: the conversation was compacted or cleared.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub(super) lost: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) files: Vec<String>,
    /// Paths of the notes and entries that were shown; before a tool, marks of the lines that were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) shown: Vec<String>,
    /// At its begin, marks of the items of which the model was told the names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) mapped: Vec<String>,
    /// Time of the last change of what the model was told the names of, in nanoseconds since 1970-01-01T00:00:00Z.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) newest: u64,
    /// Note of the session, or at its begin the note that was handed to it, relative to the notebook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
    /// SHA-256 of the text of the note below its frontmatter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) digest: Option<String>,
    /// True if the session was over. Such a line has no note if nothing happened that is worth one.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub(super) finished: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn has_succeeded(end: &RunEnd) -> bool {
    *end == RunEnd::Succeeded
}

/// Kind of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Event {
    /// The session began, or went on.
    #[default]
    Begun,
    /// A prompt, and what was shown with it.
    Prompt,
    /// The use of a tool.
    Tool,
    /// A tool that changed nothing, once in a turn.
    Read,
    /// What was said before a tool used a file or a command. `files` has their names.
    Subject,
    /// Last answer of the agent in a turn.
    Answer,
    /// A note of the session is about to be written, or the session is over.
    Note,
    /// There was no room for the use of a tool.
    Full,
}

impl Line {
    /// Creates a line of now.
    pub(super) fn new(call: &Call, event: Event) -> Self {
        let by = call.scope.trust.provenance.as_str().into();
        Self { at: call.now.timestamp().seconds, by, event, ..Self::default() }
    }

    /// Returns the line without its text, which is replaced as a whole if its fields contain a secret when they are
    /// joined.
    fn without_texts(&self) -> Self {
        let Self { at, by, event, end, lost, finished, .. } = self.clone();
        Self { at, by, event, end, lost, finished, ..Self::default() }
    }

    /// Returns true if the use of a tool failed.
    pub(super) fn has_failed(&self) -> bool {
        self.end == RunEnd::Failed
    }

    /// Returns true if the text of the line may be in text of this provenance.
    pub(super) fn is_trusted_as(&self, provenance: Provenance) -> bool {
        self.by.parse().unwrap_or(Provenance::Imported) <= provenance
    }
}

/// Time of the last change of a file, in seconds since 1970-01-01T00:00:00Z; `None` if it is not known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastChange(Option<i64>);

impl LastChange {
    /// Creates the change at a time in nanoseconds. One in the future is not known, because clocks differ.
    pub(super) fn at(call: &Call, nanoseconds: u64) -> Self {
        let seconds = i64::try_from(nanoseconds / 1_000_000_000).ok();
        Self(seconds.filter(|seconds| *seconds <= call.now.timestamp().seconds))
    }

    fn is_after(self, line: &Line) -> bool {
        self.0.is_some_and(|seconds| seconds > line.at)
    }
}

/// A state that was read.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) lines: Vec<Line>,
    /// Number of lines that could not be parsed, or are over the limit.
    pub(super) ignored: usize,
    /// True if the file is larger than the limit, so that its end was not read.
    pub(super) is_cut: bool,
}

impl State {
    /// Reads the state of a session. A session without a file has an empty state.
    pub(super) async fn load(call: &Call, session: &SessionName) -> Result<Self, Error> {
        let file = file_of(call, session)?;
        let limit = max_bytes(call);
        let read = call.fs.read(&file, 0, limit).await.map_err(|error| Error::storage(Some(&file), &error))?;
        let ReadOutcome::Content(FileContent { bytes, size, .. }) = read else { return Ok(Self::default()) };
        Ok(Self { is_cut: size > bytes.len() as u64, ..Self::parse(&bytes) })
    }

    fn parse(bytes: &[u8]) -> Self {
        let mut state = Self::default();
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(line) if state.lines.len() < MAX_LINES => state.lines.push(line),
                _ => state.ignored += 1,
            }
        }
        state
    }

    /// Returns the name of the session.
    pub(super) fn session(&self) -> Option<SessionName> {
        let named = self.lines.iter().find_map(|line| line.session.first());
        // An earlier version named the session when it began.
        let begun = || self.of(Event::Begun).find_map(|line| line.text.as_ref());
        SessionName::new(named.or_else(begun)?.clone()).ok()
    }

    /// Returns the time in seconds since which the session is active without a rest.
    pub(super) fn active_since(&self) -> Option<i64> {
        let times = self.lines.iter().rev().map(|line| line.at);
        let mut last = self.lines.last()?.at;
        for at in times {
            if last.saturating_sub(at) >= REST_SECONDS {
                break;
            }
            last = at;
        }
        Some(last)
    }

    /// Returns the lines of one kind.
    pub(super) fn of(&self, event: Event) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(move |line| line.event == event)
    }

    /// Returns true if a tool was used since the last prompt.
    pub(super) fn has_worked(&self) -> bool {
        let mut turn = self.lines.iter().rev().take_while(|line| line.event != Event::Prompt);
        turn.any(|line| matches!(line.event, Event::Tool | Event::Read))
    }

    /// Returns true if the session was over when its last line was written.
    pub(super) fn is_over(&self) -> bool {
        self.lines.last().is_some_and(|line| line.finished)
    }

    /// Returns the lines of what the model still has.
    fn known(&self) -> &[Line] {
        let begin = self.lines.iter().rposition(|line| line.lost).unwrap_or_default();
        self.lines.get(begin..).unwrap_or_default()
    }

    /// Returns the number of notes and entries that were shown, and that the model still has.
    pub(super) fn shown(&self) -> usize {
        self.known().iter().map(|line| line.shown.len()).sum()
    }

    /// Returns true if the model still has a note or an entry that was shown, as it is since its last change.
    pub(super) fn has_shown(&self, path: &str, change: LastChange) -> bool {
        self.known().iter().any(|line| !change.is_after(line) && line.shown.iter().any(|shown| shown == path))
    }

    /// Returns true if the model still has a note or an entry that was shown with a prompt since its last change. The block at the start may be long ago.
    pub(super) fn has_prompted(&self, path: &str, change: LastChange) -> bool {
        let prompts = self.known().iter().filter(|line| line.event == Event::Prompt);
        prompts.filter(|line| !change.is_after(line)).flat_map(|line| &line.shown).any(|shown| shown == path)
    }

    /// Returns true if the model may be told the name of an item: the names that it was told at the begin were not all.
    pub(super) fn may_name(&self, path: &str) -> bool {
        let (mark, known) = (mark_of(path), self.known());
        let mapped = known.iter().rev().find(|line| !line.mapped.is_empty());
        let is_named = || known.iter().any(|line| line.shown.contains(&mark));
        mapped.is_some_and(|line| !line.mapped.contains(&mark)) && !is_named()
    }

    /// Returns true if something was said about this file or command, and the model still has it.
    pub(super) fn has_named(&self, subject: &str) -> bool {
        let subjects = self.known().iter().filter(|line| line.event == Event::Subject);
        subjects.flat_map(|line| &line.files).any(|named| named == subject)
    }
}

/// Returns the mark of an item whose name was told. It is not a path, so a prompt may still show the text.
pub(super) fn mark_of(path: &str) -> String {
    sha256(path).chars().take(MARK_DIGITS).collect()
}

/// Result of recording a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recorded {
    /// The line is in the state.
    Whole,
    /// The line is in the state without its text, because its fields contain a secret when they are joined.
    WithoutTexts,
    /// The state is full.
    Full,
}

/// Appends a line to the state of a session.
pub(super) async fn record(call: &Call, session: &SessionName, mut line: Line) -> Result<Recorded, Error> {
    let file = file_of(call, session)?;
    let size = match call.fs.read(&file, 0, 1).await.map_err(|error| Error::storage(Some(&file), &error))? {
        ReadOutcome::Content(content) => content.size,
        ReadOutcome::Absent => 0,
    };
    if size == 0 {
        let names = [&call.writer.client, &call.writer.agent].into_iter().flatten().cloned();
        line.session = core::iter::once(session.as_str().to_string()).chain(names).collect();
    }
    let room = room_for(line.event, max_bytes(call));
    let bytes = rendered(&line)?;
    if size + bytes.len() as u64 > u64::from(room) {
        let full = rendered(&Line::new(call, Event::Full))?;
        // Only the first use without room leaves a line.
        if line.event == Event::Tool && size <= u64::from(room) {
            add(call, &file, full).await?;
        }
        return Ok(Recorded::Full);
    }
    match add(call, &file, bytes).await {
        Err(error) if error.code == ErrorCode::Secret => {
            add(call, &file, rendered(&line.without_texts())?).await?;
            Ok(Recorded::WithoutTexts)
        }
        done => done.map(|()| Recorded::Whole),
    }
}

/// Returns the size up to which lines of a kind are added. Tools leave room for prompts, and these for notes.
fn room_for(event: Event, limit: u32) -> u32 {
    match event {
        Event::Tool | Event::Read => limit / 8 * 6,
        Event::Begun | Event::Prompt | Event::Subject | Event::Answer | Event::Full => limit / 8 * 7,
        Event::Note => limit,
    }
}

async fn add(call: &Call, file: &RelPath, bytes: Vec<u8>) -> Result<(), Error> {
    // The line itself records the provenance of its text.
    call.apply(&call.screen.add_marked(file, bytes)?).await.map(|_| ())
}

fn rendered(line: &Line) -> Result<Vec<u8>, Error> {
    let text = serde_json::to_string(line)
        .map_err(|error| Error::internal(format!("a line of the state of a session: {error}")))?;
    Ok((text + "\n").into_bytes())
}

fn max_bytes(call: &Call) -> u32 {
    call.scope.limits.max_file_bytes.min(MAX_STATE_BYTES)
}

fn file_of(call: &Call, session: &SessionName) -> Result<RelPath, Error> {
    call.session_state(session.as_str())
}

/// State of another session, by its file.
pub(super) struct OtherState {
    pub(super) entry: Entry,
    pub(super) last: Option<Line>,
}

impl OtherState {
    /// Returns the time in seconds since the last line; `None` if nothing says it.
    pub(super) fn age(&self, call: &Call) -> Option<i64> {
        // The clock of the store may be another one, so the state itself says when it was used.
        let modified = i64::try_from(self.entry.modified / 1_000_000_000).ok().filter(|modified| *modified > 0);
        let last = self.last.as_ref().map(|last| last.at).or(modified)?;
        Some(call.now.timestamp().seconds.saturating_sub(last))
    }

    pub(super) fn is_over(&self) -> bool {
        self.last.as_ref().is_some_and(|last| last.finished)
    }

    pub(super) async fn load(&self, call: &Call) -> Result<State, Error> {
        let read = call.fs.read(&self.entry.path, 0, max_bytes(call)).await;
        let read = read.map_err(|error| Error::storage(Some(&self.entry.path), &error))?;
        let ReadOutcome::Content(content) = read else { return Ok(State::default()) };
        Ok(State::parse(&content.bytes))
    }
}

/// Returns the states of other sessions, the last used ones.
pub(super) async fn others(call: &Call, own: &SessionName) -> Result<Vec<OtherState>, Error> {
    let folder = in_scope(call, SESSION_STATES)?;
    let own = file_of(call, own)?;
    let page = call.fs.list(Some(&folder), None, call.scope.limits.max_list_entries, None).await;
    let page = page.map_err(|error| Error::storage(Some(&folder), &error))?;
    let ListOutcome::Page(Listing { mut entries, .. }) = page else { return Ok(Vec::new()) };
    entries.retain(|entry| {
        entry.kind == EntryKind::File && entry.path != own && entry.path.as_str().ends_with(SESSION_STATE_SUFFIX)
    });
    order::sort_slice(&mut entries, |a, b| (b.modified, &a.path).cmp(&(a.modified, &b.path)));
    // The oldest ones are looked at to remove them.
    let newest = entries.len().min(MAX_LOOKED_AT);
    let oldest = entries.len().saturating_sub(MAX_SWEPT).max(newest);
    let rest = entries.split_off(oldest);
    entries.truncate(newest);
    let mut found = Vec::new();
    for entry in entries.into_iter().chain(rest) {
        let last = last_line(call, &entry.path, entry.size).await?;
        found.push(OtherState { entry, last });
    }
    Ok(found)
}

/// Removes old states: of finished sessions, and of sessions without an event for a long time. A state that cannot be removed
/// stays.
pub(super) async fn sweep(call: &Call, others: &[OtherState]) -> Result<(), Error> {
    let is_old = |other: &&OtherState| {
        let limit = if other.is_over() { MAX_FINISHED_AGE_SECONDS } else { MAX_AGE_SECONDS };
        other.age(call).is_some_and(|age| age >= limit)
    };
    for OtherState { entry, .. } in others.iter().filter(is_old).take(MAX_SWEPT) {
        let last = Precondition::Matches(entry.version.clone());
        call.apply(&Change::of_record(&entry.path, last, After::Removed)?).await?;
    }
    Ok(())
}

/// Returns the last line of a state that can be read.
async fn last_line(call: &Call, file: &RelPath, size: u64) -> Result<Option<Line>, Error> {
    let length = TAIL_BYTES.min(max_bytes(call));
    let offset = size.saturating_sub(u64::from(length));
    let read = call.fs.read(file, offset, length).await.map_err(|error| Error::storage(Some(file), &error))?;
    let ReadOutcome::Content(content) = read else { return Ok(None) };
    Ok(State::parse(&content.bytes).lines.pop())
}

/// Returns the path of a note relative to the notebook, as the state records it.
pub(super) fn note_name(call: &Call, path: &RelPath) -> String {
    call.scope.layout.below_notebook(path).unwrap_or(path.as_str()).to_string()
}
