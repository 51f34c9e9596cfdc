//! Notes of sessions: finding the one to hand on, claiming it, and a few lines about the last ones.
//!
//! Only the note of a session that worked is handed on or told of, and only a session that worked takes it from those after it:
//! the claim of a session that asked for a poem does not count when it is over. Nothing is handed on that is older than what
//! a session goes on with. A command that a later session has passed is not said to fail.

use super::note::{
    ANSWER, ANSWERED, FAILING, FIRST_PROMPT, LAST_PROMPT, LATER, MAX_ITEMS, command_of, heading_of, lines_below,
    to_pass, with_headings, without_failure,
};
use super::outcomes::Outcomes;
use super::screened::first_chars;
use super::shell::Ran;
use super::state::{Event, Line, MAX_AGE_SECONDS, OtherState, REST_SECONDS, State, record};
use super::types::{HandOffChoice, SessionName, in_scope};
use crate::changes::{Backups, Call, File};
use crate::context::{JoinedFile, LeftOut, LeftOutReason, Section, SectionContent, SectionKind};
use crate::engine::{Loaded, load_all};
pub(super) use crate::notebook::{CLAIMED_BY, HAND_OFF};
use crate::notebook::{SESSION, moment};
use crate::store::{NOTE_SUFFIX, RelPath, SESSIONS_FOLDER, Timestamp};
use crate::trust::{Approved, Provenance, titles};
use saddlebag_collections::{order, part::TextPart, prelude::*};
use saddlebag_markdown::{Frontmatter, Value, one_line, parse_date, remove_field, set_field, yaml_scalar};
use saddlebag_protocol::{EntryKind, Error};

/// Fields of the frontmatter of a session's note.
pub(super) const FINISHED: &str = "finished";
pub(super) const WORKED: &str = "worked";
pub(super) const LAST: &str = "last";
pub(super) const RUNS: &str = "runs";

/// Number of the newest notes that are looked at.
const MAX_READ: usize = 16;

/// Number of the last sessions of which a few lines are shown.
const MAX_EARLIER: usize = 3;

/// Maximum number of characters of a line about an earlier session.
const MAX_LINE_CHARS: usize = 160;
/// The same for a command that failed, with its error and a later run.
const MAX_FAILURE_CHARS: usize = 400;

/// Maximum number of sessions before those that are named for a command that still fails, and of such commands of a session.
const MAX_FAILING: usize = 3;

/// Line before those about earlier sessions.
const EARLIER: &str = "Sessions before, the last one first:";

/// Age in seconds up to which the states of other sessions are read for the outcomes of commands, and their maximum number.
const MAX_STATE_AGE_SECONDS: i64 = 24 * 3_600;
const MAX_STATES: usize = 16;

const NANOSECONDS: u64 = 1_000_000_000;

/// A note of a session.
#[derive(Clone, Debug)]
pub(super) struct SessionNote {
    pub(super) path: RelPath,
    text: String,
    pub(super) session: String,
    choice: Option<HandOffChoice>,
    claimed_by: Option<String>,
    finished: bool,
    /// True if the session used a tool. A note without the field is from before it.
    worked: bool,
    /// Last runs of commands.
    runs: Vec<String>,
    /// Time of the last activity in nanoseconds since 1970-01-01T00:00:00Z.
    last: u64,
    /// Time of the last change of the file, in the same unit.
    modified: u64,
}

impl SessionNote {
    /// Parses a note; `None` if it is not the note of a session.
    fn parse(path: &RelPath, text: &str, modified: u64) -> Option<Self> {
        let frontmatter = Frontmatter::parse(text);
        let word = |field: &str| frontmatter.value(field).and_then(Value::text).filter(|text| !text.is_empty());
        Some(Self {
            path: path.clone(),
            text: text.to_string(),
            session: word(SESSION)?,
            choice: word(HAND_OFF).and_then(|word| word.parse().ok()),
            claimed_by: word(CLAIMED_BY),
            finished: matches!(frontmatter.value(FINISHED), Some(Value::Bool(true))),
            worked: !matches!(frontmatter.value(WORKED), Some(Value::Bool(false))),
            runs: frontmatter.texts(RUNS).map(Into::into).collect(),
            last: parse_date(&word(LAST)?)?,
            modified,
        })
    }

    /// Returns true if the note may be handed to a session, unless another one has claimed it.
    fn may_be_handed_to(&self, session: &SessionName, now: u64) -> bool {
        match self.choice {
            Some(HandOffChoice::Refused) => return false,
            Some(HandOffChoice::Next) => return self.session != session.as_str(),
            None => {}
        }
        let age = now.saturating_sub(self.last);
        let is_recent = age / NANOSECONDS <= MAX_AGE_SECONDS.unsigned_abs();
        self.session != session.as_str()
            && self.worked
            && is_recent
            && (self.finished || age / NANOSECONDS >= REST_SECONDS.unsigned_abs())
    }

    /// Returns the text below the frontmatter.
    fn body(&self) -> &str {
        self.text.part(Frontmatter::parse(&self.text).span.end..)
    }

    /// Returns the text below the frontmatter without the failures of commands that need no mention any more. The others get the day on
    /// which they failed, and a later run that says something about them.
    fn current(&self, outcomes: &Outcomes, now: Timestamp) -> String {
        let told = |line: &str| -> Option<String> {
            let Some(command) = command_of(line) else { return Some(line.into()) };
            let session = self.session.as_str();
            let failed =
                outcomes.failed_at(session, command).filter(|_| outcomes.is_open(session, command, now.seconds))?;
            let like = outcomes.like(session, command);
            let like = like.map(|(line, at)| without_failure(line, &on_day(now, at))).unwrap_or_default();
            // What ran in the session itself is known with its day.
            let line = line.split(LATER).next().unwrap_or(line);
            Some(format!("{line}{}{like}", on_day(now, failed.0)))
        };
        let lines = with_headings(self.body()).filter_map(|(heading, line)| match heading {
            FAILING => told(line),
            _ => Some(line.into()),
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        if lines_below(&text, FAILING).next().is_some() {
            return text;
        }
        text.replace(&format!("## {FAILING}\n\n\n"), "").replace(&format!("## {FAILING}\n"), "")
    }

    /// Adds what the note says about commands.
    pub(super) fn add_to(&self, outcomes: &mut Outcomes) {
        outcomes.add_note(&self.session, &self.runs, self.body(), (seconds(self.last), self.modified));
    }

    /// Judges the text for a prompt.
    fn judged(&self) -> Result<Approved, Provenance> {
        Approved::judge(self.text.clone())
    }

    /// Returns a few lines about the session: its title, how it ended, and what still fails.
    fn lines(&self, outcomes: &Outcomes, now: Timestamp, said: &mut Vec<Vec<Ran>>) -> String {
        let body = &self.current(outcomes, now);
        let mut lines = format!("- {}", line_of(&self.title(body), MAX_LINE_CHARS));
        let ends = [(LAST_PROMPT, "Last prompt"), (ANSWERED, "Prompt"), (ANSWER, "Answer"), (FIRST_PROMPT, "Prompt")];
        // In their order: a prompt that comes after the answer was not answered.
        let headings = body.lines().filter_map(|line| line.strip_prefix("## "));
        let mut ends: Vec<_> =
            headings.filter_map(|found| ends.iter().find(|(heading, _)| *heading == found)).collect();
        if ends.len() > 1 {
            ends.retain(|(heading, _)| *heading != FIRST_PROMPT);
        }
        for (heading, name) in ends {
            let text = lines_below(body, heading).collect::<Vec<_>>().join(" ");
            if !text.is_empty() {
                lines.push_str(&format!("\n  {name}: {}", line_of(&text, MAX_LINE_CHARS)));
            }
        }
        lines + &failed(body, said) + &self.passed_since(outcomes)
    }

    /// Returns the lines with which commands that failed in the session have passed since, as its answer may say that they fail.
    fn passed_since(&self, outcomes: &Outcomes) -> String {
        let failed = with_headings(self.body()).filter(|(heading, _)| *heading == FAILING);
        let failed = failed.filter_map(|(_, line)| command_of(line));
        let mut passed: Vec<&str> = failed
            .filter_map(|line| outcomes.passed_as(&self.session, line))
            .filter(|line| !outcomes.fails(line))
            .collect();
        passed.dedup();
        passed.into_iter().take(MAX_FAILING).map(|line| format!("\n  Passed since: `{line}`")).collect()
    }

    fn title(&self, body: &str) -> String {
        heading_of(body).unwrap_or_else(|| self.path.file_stem().to_string())
    }

    /// Returns true if a person wants the next session to begin with it.
    pub(super) fn is_next(&self) -> bool {
        self.choice == Some(HandOffChoice::Next)
    }

    fn belongs_to(&self, session: &SessionName) -> bool {
        self.session == session.as_str()
    }

    fn is_claimed_by(&self, session: &SessionName) -> bool {
        self.claimed_by.as_deref() == Some(session.as_str())
    }
}

/// Returns the commands of a line of a list.
fn commands_of(line: &str) -> Vec<Ran> {
    command_of(&format!("- {line}")).map(to_pass).unwrap_or_default()
}

/// Returns the lines about commands that failed, the first ones with their errors. Those that were said of a later session are left
/// out.
fn failed(body: &str, said: &mut Vec<Vec<Ran>>) -> String {
    let failed = lines_below(body, FAILING).filter(|line| {
        let commands = commands_of(line);
        let is_new = !said.contains(&commands);
        said.push(commands);
        is_new
    });
    let failed: Vec<&str> = failed.collect();
    let shown = failed.iter().take(MAX_FAILING);
    let mut lines: String = shown.map(|line| format!("\n  Failed: {}", line_of(line, MAX_FAILURE_CHARS))).collect();
    if let Some(more) = failed.len().checked_sub(MAX_FAILING).filter(|more| *more > 0) {
        let least = if failed.len() < MAX_ITEMS { "" } else { "at least " };
        lines.push_str(&format!("\n  Failed: {least}{more} more, named in its note"));
    }
    lines
}

/// Returns the day of a time in seconds, in brackets.
fn on_day(now: Timestamp, seconds: i64) -> String {
    let day = Timestamp { seconds, nanoseconds: 0, ..now }.local().map(|time| time.date());
    day.map(|day| format!(" ({day})")).unwrap_or_default()
}

/// Returns text on one line: its beginning and its end, if it is long.
fn line_of(text: &str, max_chars: usize) -> String {
    let text = one_line(text);
    let count = text.chars().count();
    if count <= max_chars {
        return text;
    }
    let begins = first_chars(&text, max_chars * 2 / 3);
    let begins = begins.rsplit_once(' ').map_or(begins, |(words, _)| words);
    let ends = text.char_indices().nth(count - max_chars / 3).and_then(|(at, _)| text.get(at..)).unwrap_or_default();
    let ends = ends.split_once(' ').map_or("", |(_, words)| words);
    format!("{begins} … {ends}").trim_end().to_string()
}

/// What becomes of the claim of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claims {
    /// The note has it.
    Recorded,
    /// Nobody: what a session would begin with is only shown.
    Shown,
}

/// Note to show at the start of a session, and the notes that cannot be shown.
#[derive(Debug, Default)]
pub(super) struct HandOff {
    pub(super) path: Option<RelPath>,
    /// True if it is the note of another session.
    pub(super) is_of_another: bool,
    pub(super) section: Option<Section>,
    pub(super) left_out: Vec<LeftOut>,
}

/// Finds the note to show. If `may_claim` is set, it is the newest one that may be claimed, and it is claimed, and a few lines
/// about the last sessions follow it; otherwise it is the session's own. A note that the session claimed before is shown again.
pub(super) async fn hand_off(
    call: &Call,
    session: &SessionName,
    may_claim: bool,
    claims: Claims,
    others: &[OtherState],
) -> Result<HandOff, Error> {
    let (notes, mut left_out) = newest(call).await?;
    let mut outcomes = Outcomes::default();
    notes.iter().for_each(|note| note.add_to(&mut outcomes));
    let is_recent = |other: &&OtherState| other.age(call).is_some_and(|age| age < MAX_STATE_AGE_SECONDS);
    let mut running = Vec::new();
    // The note of a session that is over has its runs.
    for other in others.iter().filter(|other| !other.is_over()).filter(is_recent).take(MAX_STATES) {
        let state = other.load(call).await?;
        if let Some(session) = state.session() {
            outcomes.add_state(session.as_str(), &state, other.entry.modified);
        }
        let is_running = other.age(call).is_some_and(|age| age < REST_SECONDS);
        running.extend(state.active_since().filter(|_| is_running));
    }
    let known = Known { session, notes: &notes, outcomes, running };
    let now = call.now.epoch_nanoseconds();
    let own = notes.iter().find(|note| note.belongs_to(session)).filter(|_| !may_claim);
    let claimed = own.or_else(|| notes.iter().find(|note| note.is_claimed_by(session)));
    if let Some(note) = claimed {
        return Ok(shown(call, &known, Some(note), may_claim, left_out));
    }
    if !may_claim {
        return Ok(HandOff { left_out, ..HandOff::default() });
    }
    for note in &notes {
        // What is older than the work that a session goes on with is of no use.
        if !note.is_next() && is_taken(call, note, &notes).await? {
            break;
        }
        if !note.may_be_handed_to(session, now) {
            continue;
        }
        if note.judged().is_err() {
            left_out.push(unshown(call, &note.path, LeftOutReason::Unapproved, note.text.len() as u64));
            continue;
        }
        if claims == Claims::Shown {
            return Ok(shown(call, &known, Some(note), may_claim, left_out));
        }
        // Whoever reads the claim sees by the state that this session is active.
        record(call, session, Line::new(call, Event::Begun)).await?;
        if let Some(note) = claim(call, session, note, now).await? {
            return Ok(shown(call, &known, Some(&note), may_claim, left_out));
        }
        // Another session was faster.
        break;
    }
    Ok(shown(call, &known, None, may_claim, left_out))
}

/// What a session that begins is told of the others.
struct Known<'a> {
    session: &'a SessionName,
    notes: &'a [SessionNote],
    outcomes: Outcomes,
    /// Times in seconds since which other sessions are active.
    running: Vec<i64>,
}

impl Known<'_> {
    /// Returns the line about sessions that run at the same time.
    fn told(&self, call: &Call) -> Option<String> {
        let since = *self.running.iter().min()?;
        let since = moment(Timestamp { seconds: since, nanoseconds: 0, ..call.now.timestamp() }.local()?);
        let since = since.get(..16)?.replace('T', " ");
        Some(match self.running.len() {
            1 => format!("Another session of this project seems to be running, since {since}.\n"),
            count => format!("{count} other sessions of this project seem to be running, the first since {since}.\n"),
        })
    }
}

fn seconds(nanoseconds: u64) -> i64 {
    i64::try_from(nanoseconds / NANOSECONDS).unwrap_or(i64::MAX)
}

/// Returns true if the session that claimed a note goes on with its work: it has a note of work itself, or was active a short
/// time ago.
async fn is_taken(call: &Call, note: &SessionNote, notes: &[SessionNote]) -> Result<bool, Error> {
    let Some(claimed_by) = &note.claimed_by else { return Ok(false) };
    if notes.iter().any(|other| other.session == *claimed_by && other.worked) {
        return Ok(true);
    }
    // A person may have written an invalid name.
    let Ok(claimant) = SessionName::new(claimed_by.clone()) else { return Ok(true) };
    let state = State::load(call, &claimant).await?;
    let last = state.lines.last().map(|line| call.now.timestamp().seconds.saturating_sub(line.at).unsigned_abs());
    Ok(!state.is_over() && last.is_some_and(|age| age < REST_SECONDS.unsigned_abs()))
}

/// Claims a note by a write that is conditional on the version that was read. Returns the note as it was claimed;
/// `None` if it may not be claimed any more.
async fn claim(
    call: &Call,
    session: &SessionName,
    found: &SessionNote,
    now: u64,
) -> Result<Option<SessionNote>, Error> {
    let change = |file: &File| {
        let text = file.text().ok().flatten();
        let note = text.and_then(|text| SessionNote::parse(&found.path, text, found.modified));
        let Some(note) = note.filter(|note| {
            note.may_be_handed_to(session, now) && note.claimed_by == found.claimed_by && note.judged().is_ok()
        }) else {
            return Ok((None, None));
        };
        let free = if note.is_next() { remove_field(&note.text, HAND_OFF) } else { note.text.clone() };
        let claimed = set_field(&free, CLAIMED_BY, &yaml_scalar(session.as_str()));
        let is_claimed = SessionNote::parse(&found.path, &claimed, 0).is_some_and(|note| note.is_claimed_by(session));
        if !is_claimed {
            // Its frontmatter cannot be edited, so it cannot be claimed by one session only.
            return Ok((None, None));
        }
        Ok((Some(call.screen.rewrite(file, claimed)?), Some(note)))
    };
    Ok(call.update(&found.path, Backups::Off, change).await?.0)
}

/// Returns the newest notes of sessions: those that a person chose, then the last active first; and those that cannot be
/// read.
pub(super) async fn newest(call: &Call) -> Result<(Vec<SessionNote>, Vec<LeftOut>), Error> {
    let mut files = call.list(Some(&in_scope(call, SESSIONS_FOLDER)?)).await?;
    files.retain(|entry| entry.kind == EntryKind::File && entry.path.as_str().ends_with(NOTE_SUFFIX));
    order::sort_slice(&mut files, |a, b| (b.modified, &b.path).cmp(&(a.modified, &a.path)));
    files.truncate(MAX_READ);
    let reads: Vec<&RelPath> = files.iter().map(|entry| &entry.path).collect();
    let loaded = load_all(&call.fs, &reads, call.scope.limits.max_file_bytes).await;
    let (mut notes, mut left_out) = (Vec::new(), Vec::new());
    for (entry, loaded) in files.iter().zip(loaded) {
        let reason = match loaded.map_err(|error| Error::storage(Some(&entry.path), &error))? {
            Loaded::Absent => continue,
            Loaded::TooLarge(_) => LeftOutReason::TooLarge,
            Loaded::Whole { bytes, .. } => match core::str::from_utf8(&bytes) {
                Ok(text) => {
                    notes.extend(SessionNote::parse(&entry.path, text, entry.modified));
                    continue;
                }
                Err(_) => LeftOutReason::NotText,
            },
        };
        left_out.push(unshown(call, &entry.path, reason, entry.size));
    }
    let key = |note: &SessionNote| (note.is_next(), note.last, note.modified, note.path.clone());
    order::sort_slice(&mut notes, |a, b| key(b).cmp(&key(a)));
    Ok((notes, left_out))
}

/// Returns what is shown: the note if there is one, then for a session that begins a few lines about those before it.
fn shown(call: &Call, known: &Known<'_>, note: Option<&SessionNote>, begins: bool, left_out: Vec<LeftOut>) -> HandOff {
    let (session, outcomes, now) = (known.session, &known.outcomes, call.now.timestamp());
    let told = known.told(call).filter(|_| begins);
    let mut text = told.and_then(|told| Approved::judge(told).ok()).unwrap_or_default();
    let mut files = Vec::new();
    let mut unapproved = None;
    let mut said: Vec<Vec<Ran>> = Vec::new();
    if let Some(note) = note {
        let path = call.scope.display_path(&note.path);
        match note.judged() {
            Err(_) => unapproved = Some(note.text.len() as u64),
            Ok(judged) => {
                text.push_ours(if text.as_str().is_empty() { "" } else { "\n" });
                let current = judged.map(|_| note.current(outcomes, now).trim().into());
                said.extend(lines_below(current.as_str(), FAILING).map(commands_of));
                add(&mut text, &mut files, path, &current);
            }
        }
    }
    let is_earlier = |other: &&SessionNote| {
        let is_shown = note.is_some_and(|note| note.path == other.path);
        let is_refused = other.choice == Some(HandOffChoice::Refused);
        !is_shown && other.worked && !other.belongs_to(session) && !is_refused
    };
    let earlier = known.notes.iter().filter(is_earlier).filter_map(|other| Some((other, other.judged().ok()?)));
    let mut earlier: Vec<(&SessionNote, Approved)> = earlier.filter(|_| begins).collect();
    let before = earlier.split_off(earlier.len().min(MAX_EARLIER));
    if !earlier.is_empty() {
        text.push_ours(if text.as_str().is_empty() { "" } else { "\n" });
        text.push_ours(EARLIER);
        text.push_ours("\n\n");
        for (other, judged) in earlier {
            add(
                &mut text,
                &mut files,
                call.scope.display_path(&other.path),
                &judged.map(|_| other.lines(outcomes, now, &mut said)),
            );
        }
    }
    let mut shown = 0;
    for (other, judged) in before {
        let body = other.current(outcomes, now);
        let failed = failed(&body, &mut said);
        shown += usize::from(!failed.is_empty());
        match shown {
            _ if failed.is_empty() => {}
            0..=MAX_FAILING => {
                let line = format!("- {}{failed}", line_of(&other.title(&body), MAX_LINE_CHARS));
                add(&mut text, &mut files, call.scope.display_path(&other.path), &judged.map(|_| line));
            }
            _ => {
                text.push_ours("- Commands failed in sessions before these, too\n");
                break;
            }
        }
    }
    let path = note.map(|note| call.scope.display_path(&note.path));
    let content = match unapproved {
        Some(size) => Some(SectionContent::Unusable { reason: LeftOutReason::Unapproved, size }),
        None => (!text.as_str().is_empty()).then_some(SectionContent::Joined { text, files }),
    };
    let shown_path = path.unwrap_or_else(|| SESSIONS_FOLDER.to_string());
    HandOff {
        path: note.map(|note| note.path.clone()),
        is_of_another: note.is_some_and(|note| !note.belongs_to(session)),
        section: content.map(|content| Section { kind: SectionKind::HandOff, path: shown_path, content }),
        left_out,
    }
}

/// Adds the lines of a file to the text.
fn add(text: &mut Approved, files: &mut Vec<JoinedFile>, path: String, lines: &Approved) {
    let line_feeds = |text: &Approved| text.as_str().matches('\n').count();
    let first = line_feeds(text);
    text.push(lines);
    text.push_ours("\n");
    files.push(JoinedFile { path, lines: first..line_feeds(text) });
}

fn unshown(call: &Call, path: &RelPath, reason: LeftOutReason, size: u64) -> LeftOut {
    LeftOut::whole(call.scope.display_path(path), titles::HAND_OFF, reason, size)
}
