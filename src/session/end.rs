//! `end-session`: writes the note of a session.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::hand_off::{CLAIMED_BY, FINISHED, LAST, SESSION};
use super::note::{About, Body, body, open_item};
use super::screened::first_chars;
use super::state::{Event, Line, Recorded, State, note_name, record};
use super::types::{SessionCall, SessionName, in_scope};
use crate::document::{Frontmatter, Note, is_open_item, one_line, remove_field, set_field, yaml_scalar, yaml_string};
use crate::engine::{Backups, Call, Change, Loaded, create, load, update};
use crate::part::TextPart;
use crate::protocol::{Error, ErrorCode};
use crate::request::{Effect, Request, Run};
use crate::store::{NOTE_SUFFIX, RelPath, SESSIONS_FOLDER, Timestamp};
use crate::trust::{Provenance, TrustState, mark, sha256};

/// Maximum number of notes of one session.
const MAX_NOTES: u32 = 64;

/// Maximum number of open items.
const MAX_OPEN_ITEMS: usize = 10;

/// Maximum number of characters of the name of a client or an agent in a title.
const MAX_NAME_CHARS: usize = 60;

/// Pattern of times in the frontmatter, as in other notes.
const DATE_PATTERN: &str = "%Y-%m-%dT%H:%M:%S%z";

/// Writes the note of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndSession {
    /// Name of the session.
    pub session: String,
    /// If set, the session is over. Otherwise it goes on.
    pub finished: bool,
}

/// Result of writing the note of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndSessionReply {
    /// Path of the note; `None` if nothing happened in the session.
    pub note: Option<String>,
    /// Path of an earlier note of the session that a person has changed. It stays as it is.
    pub kept: Option<String>,
    /// Parts of the session that the note does not have, with the reasons.
    pub left_out: Vec<String>,
}

impl Request for EndSession {
    type Reply = EndSessionReply;
    const NAME: &'static str = "end-session";
    const EFFECT: Effect = Effect::Replaces;

    fn samples(name: &str) -> Vec<Self> {
        [true, false].map(|finished| Self { session: name.into(), finished }).to_vec()
    }
}

impl Run<SessionCall<'_>> for EndSession {
    async fn run(self, with: &SessionCall<'_>) -> Result<EndSessionReply, Error> {
        let call = with.call;
        let session = SessionName::new(call, self.session)?;
        let state = State::load(call, &session).await?;
        let is_empty = state.of(Event::Prompt).chain(state.of(Event::Tool)).next().is_none();
        if is_empty {
            return Ok(EndSessionReply::default());
        }
        let provenance = call.scope.trust.provenance.max(Provenance::Agent);
        let open_items = open_items(call).await?;
        let title = title(call, &state);
        let about = About { title: &title, provenance, open_items: &open_items };
        let Body { text, left_out } = body(&state, &about);
        let note = NewNote { session: &session, title: &title, text: &text, provenance, finished: self.finished };
        let (path, kept) = write(call, &state, &note).await?;
        let shown = |path: RelPath| call.scope.display_path(&path);
        Ok(EndSessionReply { note: Some(shown(path)), kept: kept.map(shown), left_out })
    }
}

/// A note to write.
struct NewNote<'a> {
    session: &'a SessionName,
    title: &'a str,
    /// Text below the frontmatter.
    text: &'a str,
    provenance: Provenance,
    finished: bool,
}

/// Writes the note under the first name that is free or has a text of this command. Returns its path, and the path of
/// a note that a person has changed.
async fn write(call: &Call, state: &State, note: &NewNote<'_>) -> Result<(RelPath, Option<RelPath>), Error> {
    let digest = sha256(note.text.trim());
    let mut known = digests(state);
    known.push(digest.clone());
    let mut kept = None;
    let date = first_day(call, state);
    let last = state.of(Event::Note).filter_map(number_of).last();
    for number in last.unwrap_or(1)..=MAX_NOTES {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let name = format!("{SESSIONS_FOLDER}/{date}-{}{suffix}.md", note.session.digits(8));
        let path = in_scope(call, &name)?;
        // A process that dies after the write must know its own text again.
        let mut line = Line::new(call, Event::Note);
        line.note = Some(note_name(call, &path));
        line.digest = Some(digest.clone());
        line.finished = note.finished;
        let is_recorded = state.lines.last().is_some_and(|last| Line { at: line.at, ..last.clone() } == line);
        if !is_recorded && record(call, note.session, line).await? == Recorded::Full {
            return Err(Error::new(
                ErrorCode::TooLarge,
                format!("the state of the session `{}` is full", note.session.as_str().escape_debug()),
                "its last note stays as it is; begin a new session",
            ));
        }
        match write_at(call, &path, note, &known).await? {
            Written::Done => return Ok((path, kept)),
            Written::Foreign => {
                // Another process of this session may have written since.
                known = digests(&State::load(call, note.session).await?);
                match write_at(call, &path, note, &known).await? {
                    Written::Done => return Ok((path, kept)),
                    Written::Foreign => kept = Some(path),
                }
            }
        }
    }
    let message = format!("the session has {MAX_NOTES} notes that were changed by hand");
    Err(Error::new(ErrorCode::TooLarge, message, "begin a new session; the notes stay as they are"))
}

/// Returns the number of the note of a line: 1 for the first one.
fn number_of(line: &Line) -> Option<u32> {
    let stem = line.note.as_deref()?.strip_suffix(NOTE_SUFFIX)?;
    // The name is a date with two `-`, the digits, and the number.
    stem.splitn(5, '-').nth(4).map_or(Some(1), |number| number.parse().ok())
}

enum Written {
    Done,
    /// The file has another text, which stays.
    Foreign,
}

async fn write_at(call: &Call, path: &RelPath, note: &NewNote<'_>, known: &[String]) -> Result<Written, Error> {
    let limit = call.scope.limits.max_file_bytes;
    if let Loaded::Absent = load(&call.fs, path, limit).await? {
        let text = call.screen.file(path, None, new_text(call, note)?.into_bytes())?;
        if create(&call.fs, path, &text).await? {
            return Ok(Written::Done);
        }
    }
    let change = |bytes: Option<&[u8]>| {
        let Some(bytes) = bytes else {
            let text = call.screen.file(path, None, new_text(call, note)?.into_bytes())?;
            return Ok(Change::Write(text, Written::Done));
        };
        let old = core::str::from_utf8(bytes).ok();
        let Some(new) = old.and_then(|old| rewritten(call, old, note, known)) else {
            return Ok(Change::Keep(Written::Foreign));
        };
        if new.as_bytes() == bytes {
            return Ok(Change::Keep(Written::Done));
        }
        Ok(Change::Write(call.screen.file(path, Some(bytes), new.into_bytes())?, Written::Done))
    };
    Ok(update(&call.fs, path, limit, Backups::Off, change).await?.0)
}

/// Returns the digests of the texts that this session has written, or was about to write.
fn digests(state: &State) -> Vec<String> {
    state.of(Event::Note).filter_map(|line| line.digest.clone()).collect()
}

/// Returns the whole text of a new note.
fn new_text(call: &Call, note: &NewNote<'_>) -> Result<String, Error> {
    let last = moment(call);
    let NewNote { session, title, text, provenance, finished } = note;
    let whole = format!(
        "---\ntitle: {}\ndate: {last}\ntags: [\"session\"]\n{SESSION}: {}\n{FINISHED}: {finished}\n{LAST}: {last}\nprovenance: {provenance}\n---\n\n{text}",
        yaml_string(title),
        yaml_scalar(session.as_str()),
    );
    let signed = call.signature()?.sign(&whole);
    signed.ok_or_else(|| Error::internal("the note of a session cannot name what wrote it"))
}

/// Returns the text of a note with the new text in place of an old one of this session. Fields that a person has added
/// stay. `None` if somebody else has changed the text.
fn rewritten(call: &Call, old: &str, note: &NewNote<'_>, known: &[String]) -> Option<String> {
    let end = Frontmatter::parse(old).span.end;
    let (head, text) = (old.part(..end), old.part(end..).trim());
    let has_session = Frontmatter::parse(old)
        .value(SESSION)
        .and_then(crate::document::Value::text)
        .is_some_and(|session| session == note.session.as_str());
    if !has_session || !known.contains(&sha256(text)) {
        return None;
    }
    let is_new = text != note.text.trim();
    let mut whole = format!("{head}\n{}", note.text);
    let parsed = |whole: &str| Note { frontmatter: Frontmatter::parse(whole), ..Note::default() };
    let finished = note.finished.to_string();
    for (field, value) in [(FINISHED, finished.as_str()), (LAST, &moment(call))] {
        whole = set_field(&whole, &parsed(&whole), field, value);
    }
    if is_new {
        // The new text was handed to nobody.
        whole = remove_field(&whole, &parsed(&whole), CLAIMED_BY);
    }
    let old_trust = TrustState::from_text(old);
    if note.provenance > old_trust.provenance {
        whole = mark(&whole, note.provenance)?;
    }
    Some(whole)
}

fn moment(call: &Call) -> String {
    call.now.format(DATE_PATTERN).unwrap_or_else(|| call.now.to_string())
}

/// Returns the day of the first line, at the current offset. A session that has a note keeps its day.
fn first_day(call: &Call, state: &State) -> String {
    let noted = state.of(Event::Note).find_map(|line| {
        let name = line.note.as_deref()?.rsplit('/').next()?;
        name.get(..10).map(ToString::to_string)
    });
    noted.unwrap_or_else(|| {
        let seconds = state.lines.first().map(|line| line.at);
        let now = call.now.timestamp();
        let first = seconds.and_then(|seconds| Timestamp { seconds, nanoseconds: 0, ..now }.local());
        first.unwrap_or(call.now).date().to_string()
    })
}

fn title(call: &Call, state: &State) -> String {
    let day = first_day(call, state);
    let names = [&call.writer.client, &call.writer.agent].into_iter().flatten();
    let mut names: Vec<String> = names.map(|name| one_line(first_chars(name, MAX_NAME_CHARS))).collect();
    names.dedup();
    if names.is_empty() { format!("Session of {day}") } else { format!("Session of {day} ({})", names.join(", ")) }
}

/// Returns the open items of the scratchpad, if its text may go into a prompt.
async fn open_items(call: &Call) -> Result<Vec<String>, Error> {
    let file = call.scope.layout.scratchpad();
    let Loaded::Whole { bytes, .. } = load(&call.fs, file, call.scope.limits.max_file_bytes).await? else {
        return Ok(Vec::new());
    };
    let Ok(text) = core::str::from_utf8(&bytes) else { return Ok(Vec::new()) };
    if TrustState::from_text(text).unapproved().is_some() {
        return Ok(Vec::new());
    }
    Ok(text.lines().filter(|line| is_open_item(line)).take(MAX_OPEN_ITEMS).map(open_item).collect())
}
