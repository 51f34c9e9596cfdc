//! Notes of sessions: finding the one to hand on, claiming it, and a few lines about the last ones.
//!
//! Only the note of a session that worked is handed on, and only a session that worked takes it from those after it: the claim
//! of a session that asked for a poem does not count when it is over.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::note::{ANSWER, FAILING, FIRST_PROMPT, LAST_PROMPT, first_line_below, heading_of};
use super::screened::first_chars;
use super::state::{Event, Line, MAX_AGE_SECONDS, State, record};
use super::types::{HandOffChoice, SessionName, in_scope};
use crate::changes::{Backups, Call, File};
use crate::context::{JoinedFile, LeftOut, LeftOutReason, Section, SectionContent, SectionKind};
use crate::document::{Frontmatter, Value, one_line, parse_date, remove_field, set_field, yaml_scalar};
use crate::engine::{Loaded, load_all};
use crate::notebook::SESSION;
pub(super) use crate::notebook::{CLAIMED_BY, HAND_OFF};
use crate::order;
use crate::part::TextPart;
use crate::protocol::{EntryKind, Error};
use crate::store::{NOTE_SUFFIX, RelPath, SESSIONS_FOLDER};
use crate::trust::{Approved, Provenance, titles};

/// Fields of the frontmatter of a session's note.
pub(super) const FINISHED: &str = "finished";
pub(super) const WORKED: &str = "worked";
pub(super) const LAST: &str = "last";

/// Number of the newest notes that are looked at.
const MAX_READ: usize = 16;

/// Number of the last sessions of which a few lines are shown.
const MAX_EARLIER: usize = 3;

/// Maximum number of characters of a line about an earlier session.
const MAX_LINE_CHARS: usize = 160;

/// Line before those about earlier sessions.
const EARLIER: &str = "Sessions before, the last one first:";

/// Time in seconds after its last activity when an unfinished session may be handed on.
const REST_SECONDS: u64 = 3_600;

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
    /// True if the session used a file, ran a command or stored something. A note without the field is from before it.
    worked: bool,
    /// Time of the last activity in nanoseconds since 1970-01-01T00:00:00Z.
    last: u64,
}

impl SessionNote {
    /// Parses a note; `None` if it is not the note of a session.
    fn parse(path: &RelPath, text: &str) -> Option<Self> {
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
            last: parse_date(&word(LAST)?)?,
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
            && (self.finished || age >= REST_SECONDS * NANOSECONDS)
    }

    /// Returns the text below the frontmatter.
    fn body(&self) -> &str {
        self.text.part(Frontmatter::parse(&self.text).span.end..)
    }

    /// Judges the text for a prompt.
    fn judged(&self) -> Result<Approved, Provenance> {
        Approved::judge(self.text.clone())
    }

    /// Returns two or three lines about the session: its title, how it ended, and what still fails.
    fn lines(&self) -> String {
        let body = self.body();
        let line = |text: &str| one_line(first_chars(&one_line(text), MAX_LINE_CHARS));
        let title = heading_of(body).unwrap_or_else(|| self.path.file_stem().to_string());
        let end = [(ANSWER, "Answer"), (LAST_PROMPT, "Last prompt"), (FIRST_PROMPT, "Prompt")];
        let end = end.iter().find_map(|(heading, name)| Some((name, first_line_below(body, heading)?)));
        let mut lines = format!("- {}", line(&title));
        if let Some((name, text)) = end {
            lines.push_str(&format!("\n  {name}: {}", line(text)));
        }
        if let Some(failing) = first_line_below(body, FAILING) {
            lines.push_str(&format!("\n  Still fails: {}", line(failing)));
        }
        lines
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
) -> Result<HandOff, Error> {
    let (notes, mut left_out) = newest(call).await?;
    let now = call.now.epoch_nanoseconds();
    let own = notes.iter().find(|note| note.belongs_to(session)).filter(|_| !may_claim);
    let known = own.or_else(|| notes.iter().find(|note| note.is_claimed_by(session)));
    if let Some(note) = known {
        return Ok(shown(call, session, Some(note), &notes, may_claim, left_out));
    }
    if !may_claim {
        return Ok(HandOff { left_out, ..HandOff::default() });
    }
    for note in notes.iter().filter(|note| note.may_be_handed_to(session, now)) {
        if note.judged().is_err() {
            left_out.push(unshown(call, &note.path, LeftOutReason::Unapproved, note.text.len() as u64));
            continue;
        }
        if !note.is_next() && is_taken(call, note, &notes).await? {
            continue;
        }
        if claims == Claims::Shown {
            return Ok(shown(call, session, Some(note), &notes, may_claim, left_out));
        }
        // Whoever reads the claim sees by the state that this session is active.
        record(call, session, Line::new(call, Event::Begun)).await?;
        if let Some(note) = claim(call, session, note, now).await? {
            return Ok(shown(call, session, Some(&note), &notes, may_claim, left_out));
        }
    }
    Ok(shown(call, session, None, &notes, may_claim, left_out))
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
    Ok(!state.is_over() && last.is_some_and(|age| age < REST_SECONDS))
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
        let note = text.and_then(|text| SessionNote::parse(&found.path, text));
        let Some(note) = note.filter(|note| {
            note.may_be_handed_to(session, now) && note.claimed_by == found.claimed_by && note.judged().is_ok()
        }) else {
            return Ok((None, None));
        };
        let free = if note.is_next() { remove_field(&note.text, HAND_OFF) } else { note.text.clone() };
        let claimed = set_field(&free, CLAIMED_BY, &yaml_scalar(session.as_str()));
        let is_claimed = SessionNote::parse(&found.path, &claimed).is_some_and(|note| note.is_claimed_by(session));
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
                    notes.extend(SessionNote::parse(&entry.path, text));
                    continue;
                }
                Err(_) => LeftOutReason::NotText,
            },
        };
        left_out.push(unshown(call, &entry.path, reason, entry.size));
    }
    let key = |note: &SessionNote| (note.is_next(), note.last, note.path.clone());
    order::sort_slice(&mut notes, |a, b| key(b).cmp(&key(a)));
    Ok((notes, left_out))
}

/// Returns what is shown: the note if there is one, then for a session that begins a few lines about those before it.
fn shown(
    call: &Call,
    session: &SessionName,
    note: Option<&SessionNote>,
    notes: &[SessionNote],
    begins: bool,
    left_out: Vec<LeftOut>,
) -> HandOff {
    let mut text = Approved::default();
    let mut files = Vec::new();
    let mut unapproved = None;
    if let Some(note) = note {
        let path = call.scope.display_path(&note.path);
        match note.judged() {
            Err(_) => unapproved = Some(note.text.len() as u64),
            Ok(judged) => add(&mut text, &mut files, path, &judged.map(|_| note.body().trim().into())),
        }
    }
    let is_earlier = |other: &&SessionNote| {
        let is_shown = note.is_some_and(|note| note.path == other.path);
        !is_shown && !other.belongs_to(session) && other.choice != Some(HandOffChoice::Refused)
    };
    let earlier = notes.iter().filter(is_earlier).filter_map(|other| Some((other, other.judged().ok()?)));
    let earlier: Vec<(&SessionNote, Approved)> = earlier.take(MAX_EARLIER).filter(|_| begins).collect();
    if !earlier.is_empty() {
        text.push_ours(if text.as_str().is_empty() { "" } else { "\n" });
        text.push_ours(EARLIER);
        text.push_ours("\n\n");
        for (other, judged) in earlier {
            add(&mut text, &mut files, call.scope.display_path(&other.path), &judged.map(|_| other.lines()));
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
