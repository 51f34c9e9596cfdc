//! Notes of sessions: finding the one to hand on, and claiming it.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::state::MAX_AGE_SECONDS;
use super::types::{SessionName, notes_folder};
use crate::context::{LeftOut, LeftOutReason, Section, SectionContent, SectionKind};
use crate::document::{Frontmatter, Note, Value, parse_date, set_field, yaml_scalar};
use crate::engine::{Backups, Call, Change, Loaded, load_all, update};
use crate::order;
use crate::part::TextPart;
use crate::protocol::{Entry, EntryKind, Error, ListOutcome, Version};
use crate::store::{NOTE_SUFFIX, RelPath};
use crate::trust::{TrustState, titles};

/// Fields of the frontmatter of a session's note.
pub(super) const SESSION: &str = "session";
pub(super) const FINISHED: &str = "finished";
pub(super) const LAST: &str = "last";
pub(super) const CLAIMED_BY: &str = "claimed-by";

/// Number of the newest notes that are looked at.
const MAX_READ: usize = 16;

/// Time in seconds after its last activity when an unfinished session may be handed on.
const REST_SECONDS: u64 = 3_600;

const NANOSECONDS: u64 = 1_000_000_000;

/// A note of a session.
#[derive(Clone, Debug)]
struct SessionNote {
    path: RelPath,
    text: String,
    session: String,
    claimed_by: Option<String>,
    finished: bool,
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
            claimed_by: word(CLAIMED_BY),
            finished: matches!(frontmatter.value(FINISHED), Some(Value::Bool(true))),
            last: parse_date(&word(LAST)?)?,
        })
    }

    fn may_be_claimed(&self, session: &SessionName, now: u64) -> bool {
        let age = now.saturating_sub(self.last);
        let is_recent = age / NANOSECONDS <= MAX_AGE_SECONDS.unsigned_abs();
        self.session != session.as_str()
            && self.claimed_by.is_none()
            && is_recent
            && (self.finished || age >= REST_SECONDS * NANOSECONDS)
    }

    fn belongs_to(&self, session: &SessionName) -> bool {
        self.session == session.as_str()
    }

    fn is_claimed_by(&self, session: &SessionName) -> bool {
        self.claimed_by.as_deref() == Some(session.as_str())
    }
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

/// Finds the note to show. If `may_claim` is set, it is the newest one that may be claimed, and it is claimed;
/// otherwise it is the session's own. A note that the session claimed before is shown again.
pub(super) async fn hand_off(call: &Call, session: &SessionName, may_claim: bool) -> Result<HandOff, Error> {
    let (notes, mut left_out) = newest(call).await?;
    let now = call.now.epoch_nanoseconds();
    let own = notes.iter().find(|note| note.belongs_to(session)).filter(|_| !may_claim);
    let known = own.or_else(|| notes.iter().find(|note| note.is_claimed_by(session)));
    if let Some(note) = known {
        return Ok(shown(call, session, note, left_out));
    }
    if may_claim {
        for note in notes.iter().filter(|note| note.may_be_claimed(session, now)) {
            if TrustState::from_text(&note.text).unapproved().is_some() {
                left_out.push(unshown(call, &note.path, LeftOutReason::Unapproved, note.text.len() as u64));
                continue;
            }
            if let Some(note) = claim(call, session, note, now).await? {
                return Ok(shown(call, session, &note, left_out));
            }
        }
    }
    Ok(HandOff { left_out, ..HandOff::default() })
}

/// Claims a note by a write that is conditional on the version that was read. Returns the note as it was claimed;
/// `None` if it may not be claimed any more.
async fn claim(
    call: &Call,
    session: &SessionName,
    found: &SessionNote,
    now: u64,
) -> Result<Option<SessionNote>, Error> {
    let limit = call.scope.limits.max_file_bytes;
    let change = |bytes: Option<&[u8]>| {
        let text = bytes.and_then(|bytes| core::str::from_utf8(bytes).ok());
        let note = text.and_then(|text| SessionNote::parse(&found.path, text));
        let Some(note) = note.filter(|note| {
            note.may_be_claimed(session, now) && TrustState::from_text(&note.text).unapproved().is_none()
        }) else {
            return Ok(Change::Keep(None));
        };
        let head = Note { frontmatter: Frontmatter::parse(&note.text), ..Note::default() };
        let claimed = set_field(&note.text, &head, CLAIMED_BY, &yaml_scalar(session.as_str()));
        let is_claimed = SessionNote::parse(&found.path, &claimed).is_some_and(|note| note.is_claimed_by(session));
        if !is_claimed {
            // Its frontmatter cannot be edited, so it cannot be claimed by one session only.
            return Ok(Change::Keep(None));
        }
        let content = call.screen.moved(&found.path, bytes, claimed.into_bytes())?;
        Ok(Change::Write(content, Some(note)))
    };
    Ok(update(&call.fs, &found.path, limit, Backups::Off, change).await?.0)
}

/// Returns the newest notes of sessions, the last active first, and those that cannot be read.
async fn newest(call: &Call) -> Result<(Vec<SessionNote>, Vec<LeftOut>), Error> {
    let folder = notes_folder(call)?;
    let mut files = files_of(call, &folder).await?;
    order::sort_slice(&mut files, |a, b| (b.modified, &b.path).cmp(&(a.modified, &a.path)));
    files.truncate(MAX_READ);
    let reads: Vec<(&RelPath, Option<Version>)> = files.iter().map(|entry| (&entry.path, None)).collect();
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
    order::sort_slice(&mut notes, |a, b| (b.last, &b.path).cmp(&(a.last, &a.path)));
    Ok((notes, left_out))
}

/// Returns the Markdown files of a folder.
pub(super) async fn files_of(call: &Call, folder: &RelPath) -> Result<Vec<Entry>, Error> {
    let mut files = Vec::new();
    let mut after = None;
    loop {
        let page = call.fs.list(Some(folder), after, call.scope.limits.max_list_entries, None).await;
        let ListOutcome::Page(page) = page.map_err(|error| Error::storage(Some(folder), &error))? else {
            return Ok(files);
        };
        let is_note = |entry: &Entry| entry.kind == EntryKind::File && entry.path.as_str().ends_with(NOTE_SUFFIX);
        files.extend(page.entries.into_iter().filter(is_note));
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(files),
        }
    }
}

fn shown(call: &Call, session: &SessionName, note: &SessionNote, left_out: Vec<LeftOut>) -> HandOff {
    let path = call.scope.display_path(&note.path);
    let size = note.text.len() as u64;
    let content = match TrustState::from_text(&note.text).unapproved() {
        Some(_) => SectionContent::Unusable { reason: LeftOutReason::Unapproved, size },
        None => {
            let end = Frontmatter::parse(&note.text).span.end;
            SectionContent::Text { text: note.text.part(end..).trim().into(), unread_bytes: 0 }
        }
    };
    let section = Section { kind: SectionKind::HandOff, path, content };
    HandOff {
        path: Some(note.path.clone()),
        is_of_another: !note.belongs_to(session),
        section: Some(section),
        left_out,
    }
}

fn unshown(call: &Call, path: &RelPath, reason: LeftOutReason, size: u64) -> LeftOut {
    LeftOut::whole(call.scope.display_path(path), titles::HAND_OFF, reason, size)
}
