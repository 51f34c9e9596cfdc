//! `end-session`: writes the note of a session.

use super::hand_off::{CLAIMED_BY, FINISHED, HAND_OFF, LAST, RUNS, WORKED};
use super::note::{Body, SessionSummary, ends_of, only_looks};
use super::run_end::RunEnd;
use super::screened::Screening;
use super::state::{Event, Line, MAX_AGE_SECONDS, OtherState, REST_SECONDS, Recorded, State, note_name, record};
use super::types::{SessionCall, SessionName, StoredItem, in_scope};
use super::unapproved::without_unapproved_text;
use crate::changes::{Backups, Call, File};
use crate::entries;
use crate::notebook::{SESSION, moment, trusted_titles};
use crate::request::{Run, request};
use crate::store::{LocalTime, NOTE_SUFFIX, RelPath, SESSIONS_FOLDER, Timestamp};
use crate::trust::{Provenance, TrustState, mark, sha256, without_private};
use saddlebag_collections::{order, part::TextPart, prelude::*};
use saddlebag_markdown::{Frontmatter, one_line, remove_field, set_field, yaml_scalar, yaml_string};
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum number of notes of one session.
const MAX_NOTES: u32 = 64;

/// Maximum number of other sessions whose notes one start writes.
const MAX_NOTED: usize = 4;

/// Maximum number of runs of commands in a note.
const MAX_RUNS: usize = 16;

/// Maximum number of stored items that are looked for, the last ones.
const MAX_STORED: usize = 20;

/// Writes the note of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndSession {
    /// Name of the session.
    pub session: String,
    /// If set, the session is over. Otherwise it goes on.
    pub finished: bool,
    /// Last answer of the agent, whose start becomes part of the note. `None` keeps the one that was given before.
    pub answer: Option<String>,
}

/// Result of writing the note of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndSessionReply {
    /// Path of the note; `None` if nothing happened in the session that is worth one.
    pub note: Option<String>,
    /// Path of an earlier note of the session that a person has changed. It stays as it is.
    pub kept: Option<String>,
    /// Parts of the session that the note does not have, with the reasons.
    pub left_out: Vec<String>,
}

request!(EndSession "end-session" => EndSessionReply, Replaces, |name| {
    let end = |finished, answer| Self { session: name.into(), finished, answer };
    vec![end(true, None), end(false, Some("It works.".into()))]
});

impl Run<SessionCall<'_>> for EndSession {
    async fn run(self, with: &SessionCall<'_>) -> Result<EndSessionReply, Error> {
        let call = with.call;
        let session = SessionName::new(self.session)?;
        let mut state = State::load(call, &session).await?;
        let mut screening = Screening::new(call).await?;
        if let Some(answer) = self.answer {
            take_answer(with, &session, &mut state, &mut screening, &answer).await?;
        }
        let ending = if self.finished { Ending::Finished } else { Ending::GoesOn };
        note(with, &session, state, screening, ending).await
    }
}

/// How a session is when its note is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Finished,
    GoesOn,
    /// It has no end, and was idle for a while.
    Missing,
}

/// Writes the notes of other sessions that have no end, and that went on after their last note.
pub(super) async fn note_sessions_without_an_end(with: &SessionCall<'_>, others: &[OtherState]) -> Result<(), Error> {
    let is_left = |other: &&OtherState| {
        let is_noted = other.last.as_ref().is_none_or(|last| last.event == Event::Note);
        !is_noted && other.age(with.call).is_some_and(|age| (REST_SECONDS..MAX_AGE_SECONDS).contains(&age))
    };
    for other in others.iter().filter(is_left).take(MAX_NOTED) {
        let state = other.load(with.call).await?;
        let Some(session) = state.session() else { continue };
        let screening = Screening::new(with.call).await?;
        match note(with, &session, state, screening, Ending::Missing).await {
            Err(error) if error.code == ErrorCode::Storage => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Writes the note of a session that goes on, if it was cut off after its last note.
pub(super) async fn note_of_resumed(with: &SessionCall<'_>, session: &SessionName) -> Result<(), Error> {
    let state = State::load(with.call, session).await?;
    if state.lines.last().is_none_or(|last| last.event == Event::Note) {
        return Ok(());
    }
    let screening = Screening::new(with.call).await?;
    match note(with, session, state, screening, Ending::GoesOn).await {
        Err(error) if error.code == ErrorCode::Storage => Err(error),
        _ => Ok(()),
    }
}

/// Writes the note of a session.
async fn note(
    with: &SessionCall<'_>,
    session: &SessionName,
    mut state: State,
    mut screening: Screening<'_>,
    ending: Ending,
) -> Result<EndSessionReply, Error> {
    let call = with.call;
    without_rejected(&mut state, &mut screening);
    let provenance = call.scope.trust.provenance.max(Provenance::Agent);
    let mut summary = summary(&state, provenance);
    if !summary.is_worth_a_note() {
        return over(call, session, &state, ending != Ending::GoesOn).await;
    }
    let last = state.lines.last().filter(|_| ending == Ending::Missing);
    let last = last.and_then(|line| at(call, line.at)).unwrap_or(call.now);
    if ending == Ending::Missing {
        summary.unfinished = moment(last).get(..16).map(|last| last.replace('T', " "));
    }
    summary.stored = stored_names(with, &state, provenance).await?;
    let title = title(call, &state, &summary);
    let Body { text, left_out } = summary.body();
    let text = format!("# {title}\n\n{text}");
    let (worked, finished) = (summary.has_worked(), ending == Ending::Finished);
    let runs: Vec<String> = runs(call, &state, provenance).iter().map(|run| yaml_string(run)).collect();
    let note = NewNote { session, title: &title, text: &text, provenance, worked, finished, last, runs };
    let (path, kept) = match write(call, &state, &note).await {
        // Parts of the note that are harmless alone can say it together.
        Err(error) if error.code == ErrorCode::Rejected => {
            screening.leave_out(error.into_message());
            return Ok(EndSessionReply { left_out: screening.unrecorded, ..EndSessionReply::default() });
        }
        written => written?,
    };
    let shown = |path: RelPath| call.scope.display_path(&path);
    let mut reply = EndSessionReply { note: Some(shown(path)), kept: kept.map(shown), left_out: screening.unrecorded };
    reply.left_out.extend(unused(&state, provenance));
    reply.left_out.extend(left_out);
    Ok(reply)
}

/// Returns the last run of each command line, for the field of a note: those that failed, and those that may say that others pass.
fn runs(call: &Call, state: &State, provenance: Provenance) -> Vec<String> {
    let mut runs: Vec<(&str, RunEnd, i64)> = Vec::new();
    for used in state.of(Event::Tool).filter(|used| used.is_trusted_as(provenance)) {
        let Some(line) = used.command.as_deref().filter(|line| !only_looks(line)) else { continue };
        runs.retain(|(known, ..)| *known != line);
        runs.push((line, used.end, used.at));
    }
    // Failures first, then tests.
    let rank = |(line, end, _): &(&str, RunEnd, i64)| match end {
        RunEnd::Failed => 0,
        end => 1 + u8::from(!end.passed(line).any(|ran| ran.is_test())),
    };
    runs.reverse();
    order::sort_slice(&mut runs, |a, b| rank(a).cmp(&rank(b)));
    runs.truncate(MAX_RUNS);
    let time = |at: i64| moment(self::at(call, at).unwrap_or(call.now));
    runs.into_iter().map(|(line, end, at)| format!("{} {} {line}", end.as_str(), time(at))).collect()
}

fn at(call: &Call, seconds: i64) -> Option<LocalTime> {
    Timestamp { seconds, nanoseconds: 0, ..call.now.timestamp() }.local()
}

/// Records the start of the agent's last answer, unless it is known.
async fn take_answer(
    with: &SessionCall<'_>,
    session: &SessionName,
    state: &mut State,
    screening: &mut Screening<'_>,
    answer: &str,
) -> Result<(), Error> {
    let call = with.call;
    // A secret may begin before the cut and end after it.
    let Some(answer) = screening.text("answer", without_private(answer).trim().into())? else { return Ok(()) };
    let mut line = Line::new(call, Event::Answer);
    let approved = without_unapproved_text(with, &answer).await?;
    if approved != answer {
        screening.leave_out("a part of the answer, which repeats text that nobody has approved");
    }
    let answer = approved;
    line.by = call.scope.trust.provenance.max(Provenance::Agent).as_str().into();
    line.text = Some(ends_of(&answer)).filter(|text| !text.is_empty());
    let mut turn = state.lines.iter().rev().take_while(|line| line.event != Event::Prompt);
    let is_known = turn.find(|line| line.event == Event::Answer).is_some_and(|last| last.text == line.text);
    if line.text.is_none() || is_known || state.lines.is_empty() {
        return Ok(());
    }
    match record(call, session, line.clone()).await? {
        Recorded::Whole => state.lines.push(line),
        Recorded::WithoutTexts => {}
        Recorded::Full => screening.leave_out("the answer: the state of the session is full"),
    }
    Ok(())
}

/// Takes out of the state what a person has rejected for good since it was recorded.
fn without_rejected(state: &mut State, screening: &mut Screening<'_>) {
    for line in &mut state.lines {
        let texts = [("text", &mut line.text), ("command", &mut line.command)];
        for (what, text) in texts {
            *text = text.take().filter(|text| screening.permits(what, text));
        }
    }
}

/// Returns the reply for a session that is not worth a note. If it is over, its state says so, and the note that was handed to
/// it goes to the next session.
async fn over(call: &Call, session: &SessionName, state: &State, finished: bool) -> Result<EndSessionReply, Error> {
    if finished && !state.lines.is_empty() && !state.is_over() {
        let mut line = Line::new(call, Event::Note);
        line.finished = true;
        record(call, session, line).await?;
    }
    Ok(EndSessionReply::default())
}

fn has_failed(used: &&Line) -> bool {
    used.has_failed() && !used.command.as_deref().is_some_and(only_looks)
}

/// Returns what happened in a session, by the lines whose text may be in text of this provenance.
fn summary(state: &State, provenance: Provenance) -> SessionSummary {
    let mut summary = SessionSummary {
        uses: state.of(Event::Tool).count(),
        errors: state.of(Event::Tool).filter(has_failed).count(),
        ..SessionSummary::default()
    };
    for line in &state.lines {
        let is_trusted = line.is_trusted_as(provenance);
        let text = line.text.as_deref().filter(|_| is_trusted).unwrap_or_default();
        match line.event {
            Event::Prompt => summary.prompted(text),
            Event::Answer => summary.answered(text),
            Event::Tool | Event::Read => summary.worked(),
            _ => {}
        }
        match line.event {
            Event::Begun if is_trusted => {
                let before = line.note.as_deref().and_then(|note| note.strip_suffix(NOTE_SUFFIX));
                summary.before = before.map(ToString::to_string).or(summary.before);
            }
            Event::Tool if is_trusted => {
                if let Some(command) = &line.command {
                    summary.ran(command, line.end, line.error.as_deref().unwrap_or_default());
                }
                line.files.iter().for_each(|file| summary.used(file));
            }
            _ => {}
        }
    }
    summary.prompt_count = state.of(Event::Prompt).count();
    summary
}

/// Returns what the note does not have of the state, with the reasons.
fn unused(state: &State, provenance: Provenance) -> Vec<String> {
    let mut left_out = Vec::new();
    let unused = state.lines.iter().filter(|line| !line.is_trusted_as(provenance)).count();
    if unused > 0 {
        left_out.push(format!("the text of {unused} lines that are not from the person or the agent"));
    }
    if state.ignored > 0 {
        left_out.push(format!("{} lines of the state that could not be read", state.ignored));
    }
    if state.is_cut || state.of(Event::Full).next().is_some() {
        left_out.push("uses of tools for which the state had no room".to_string());
    }
    left_out
}

/// Returns the names of what the session has stored, as far as trusted text has these names. A tool that stores what it
/// was told to, such as text of a page, would otherwise bring the name into the next prompt.
async fn stored_names(with: &SessionCall<'_>, state: &State, provenance: Provenance) -> Result<Vec<String>, Error> {
    let SessionCall { call, notebook, entries, origin } = *with;
    let mut items: Vec<&StoredItem> = Vec::new();
    let kept =
        state.of(Event::Tool).filter(|line| line.is_trusted_as(provenance)).filter_map(|line| line.kept.as_ref());
    for item in kept.filter(|item| **item != StoredItem::Other) {
        items.retain(|known| *known != item);
        items.push(item);
    }
    let items = items.split_off(items.len().saturating_sub(MAX_STORED));
    let mut names: Vec<String> = Vec::new();
    for item in &items {
        let StoredItem::Entry(key) = item else { continue };
        if entries.agent().is_err() {
            break;
        }
        match entries::get(call, entries, origin, key).await {
            Ok(entry) if !entry.marks.is_withheld() => names.push(format!("entry {}", entry.key)),
            Ok(_) => {}
            Err(error) if error.code == ErrorCode::Storage => return Err(error),
            Err(_) => {}
        }
    }
    let notes: Vec<&str> = items
        .iter()
        .filter_map(|item| match item {
            StoredItem::Note(name) => Some(name.as_str()),
            StoredItem::Entry(_) | StoredItem::Other => None,
        })
        .collect();
    if !notes.is_empty() {
        let titles = trusted_titles(call, notebook, &notes).await?;
        names.extend(titles.iter().map(|title| format!("note {}", one_line(title))));
    }
    Ok(names)
}

/// A note to write.
struct NewNote<'a> {
    session: &'a SessionName,
    title: &'a str,
    /// Text below the frontmatter.
    text: &'a str,
    provenance: Provenance,
    /// True if a later session may get the note.
    worked: bool,
    finished: bool,
    /// Time of the last activity.
    last: LocalTime,
    /// Runs of commands, in quotes.
    runs: Vec<String>,
}

/// Writes the note under the first name that is free or has text of this command. Returns its path, and the path of a
/// note that a person has changed.
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
        line.at = note.last.timestamp().seconds;
        let is_recorded = state.lines.last().is_some_and(|last| Line { at: line.at, ..last.clone() } == line);
        if !is_recorded && record(call, note.session, line).await? == Recorded::Full {
            return Err(Error::new(
                ErrorCode::Full,
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
    Err(Error::new(ErrorCode::Full, message, "begin a new session; the notes stay as they are"))
}

/// Returns the number of the note of a line: 1 for the first one.
fn number_of(line: &Line) -> Option<u32> {
    let stem = line.note.as_deref()?.strip_suffix(NOTE_SUFFIX)?;
    // The name is a date with two `-`, the digits, and the number.
    stem.splitn(5, '-').nth(4).map_or(Some(1), |number| number.parse().ok())
}

enum Written {
    Done,
    /// The file has different text, which stays.
    Foreign,
}

async fn write_at(call: &Call, path: &RelPath, note: &NewNote<'_>, known: &[String]) -> Result<Written, Error> {
    let change = |file: &File| {
        let Some(bytes) = file.bytes() else {
            return Ok((Some(call.screen.write(file, new_text(call, note)?)?), Written::Done));
        };
        let old = file.text().ok().flatten();
        let Some(new) = old.and_then(|old| rewritten(old, note, known)) else {
            return Ok((None, Written::Foreign));
        };
        if new.as_bytes() == bytes {
            return Ok((None, Written::Done));
        }
        Ok((Some(call.screen.write(file, new)?), Written::Done))
    };
    Ok(call.update(path, Backups::Off, change).await?.0)
}

/// Returns the digests of the notes that this session has written, or was about to write.
fn digests(state: &State) -> Vec<String> {
    state.of(Event::Note).filter_map(|line| line.digest.clone()).collect()
}

/// Returns the whole text of a new note.
fn new_text(call: &Call, note: &NewNote<'_>) -> Result<String, Error> {
    let NewNote { session, title, text, provenance, worked, finished, last, runs } = note;
    let last = moment(*last);
    let runs = if runs.is_empty() { String::new() } else { format!("{RUNS}: [{}]\n", runs.join(", ")) };
    let whole = format!(
        "---\ntitle: {}\ndate: {last}\ntags: [\"session\"]\n{SESSION}: {}\n{FINISHED}: {finished}\n{WORKED}: {worked}\n{LAST}: {last}\n{runs}provenance: {provenance}\n---\n\n{text}",
        yaml_string(title),
        yaml_scalar(session.as_str()),
    );
    let signed = call.signature()?.sign(&whole);
    signed.ok_or_else(|| Error::internal("the note of a session cannot name what wrote it"))
}

/// Returns the text of a note with the new text in place of an old one of this session. Fields that a person has added
/// stay. `None` if somebody else has changed the text.
fn rewritten(old: &str, note: &NewNote<'_>, known: &[String]) -> Option<String> {
    let end = Frontmatter::parse(old).span.end;
    let (head, text) = (old.part(..end), old.part(end..).trim());
    let has_session = Frontmatter::parse(old)
        .value(SESSION)
        .and_then(saddlebag_markdown::Value::text)
        .is_some_and(|session| session == note.session.as_str());
    if !has_session || !known.contains(&sha256(text)) {
        return None;
    }
    let is_new = text != note.text.trim();
    let mut whole = format!("{head}\n{}", note.text);
    let (finished, worked) = (note.finished.to_string(), note.worked.to_string());
    let runs = format!("[{}]", note.runs.join(", "));
    for (field, value) in
        [(FINISHED, finished.as_str()), (WORKED, &worked), (LAST, &moment(note.last)), (RUNS, runs.as_str())]
    {
        whole = set_field(&whole, field, value);
    }
    if is_new {
        // The new text was handed to nobody.
        whole = remove_field(&remove_field(&whole, CLAIMED_BY), HAND_OFF);
    }
    let old_trust = TrustState::from_text(old);
    if note.provenance > old_trust.provenance {
        whole = mark(&whole, note.provenance)?;
    }
    Some(whole)
}

/// Returns the day of the first line, at the current offset. A session that has a note keeps its day.
fn first_day(call: &Call, state: &State) -> String {
    let noted = state.of(Event::Note).find_map(|line| {
        let name = line.note.as_deref()?.rsplit('/').next()?;
        name.get(..10).map(ToString::to_string)
    });
    noted.unwrap_or_else(|| {
        let first = state.lines.first().and_then(|line| at(call, line.at));
        first.unwrap_or(call.now).date().to_string()
    })
}

fn title(call: &Call, state: &State, summary: &SessionSummary) -> String {
    let own = || [&call.writer.client, &call.writer.agent].into_iter().flatten().map(String::as_str).collect();
    let named = state.lines.iter().find(|line| !line.session.is_empty());
    let names = named.map_or_else(own, |line| line.session.iter().skip(1).map(String::as_str).collect::<Vec<_>>());
    summary.title(&first_day(call, state), &names)
}
