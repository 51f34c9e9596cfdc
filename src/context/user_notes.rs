//! The notes that the user keeps for all projects, as a section of the block.

use super::section::{Section, SectionContent, SectionItem, SectionKind};
use super::types::{LeftOut, LeftOutReason};
use crate::changes::Call;
use crate::engine::{Loaded, load_all};
use crate::search::{FolderScope, list_markdown};
use crate::store::{DAILY_FOLDER, NOTE_SUFFIX, RelPath, SCRATCHPAD_FILE, SESSIONS_FOLDER, TEMPLATES_FOLDER, is_name};
use crate::trust::Approved;
use saddlebag_collections::{order, prelude::*};
use saddlebag_markdown::{Note, TagSyntax};
use saddlebag_protocol::{EntryKind, Error, ErrorCode};

/// Maximum number of notes in the block: the last changed.
const MAX_NOTES: usize = 20;
/// Maximum size of a note in the block, in bytes. A longer one is found by recall.
const MAX_NOTE_BYTES: u32 = 4_096;
/// Field of a note that names the notes which it replaces.
pub(crate) const SUPERSEDES: &str = "supersedes";

/// Section of the notes for all projects, and the notes that are not in it.
#[derive(Default)]
pub(super) struct UserNotes {
    pub(super) section: Option<Section>,
    pub(super) left_out: Vec<LeftOut>,
}

/// A note that may go into the block.
struct UserNote {
    item: SectionItem,
    below: String,
    supersedes: Vec<String>,
}

/// Reads the notes that were changed last. Without such notes this is one listing of a folder that does not exist.
pub(super) async fn user_notes(call: &Call) -> Result<UserNotes, Error> {
    let Some(folder) = call.scope.layout.user_folder() else { return Ok(UserNotes::default()) };
    let scope = FolderScope { folder: Some(folder.clone()), tree: true };
    let mut entries = match list_markdown(&call.fs, vec![scope], &call.scope.limits).await {
        Ok(listed) => listed.entries,
        Err(error) if error.code == ErrorCode::Storage => {
            let reason = LeftOutReason::Unreadable(error.for_model().into_message());
            return Ok(UserNotes { section: None, left_out: vec![without(call, folder, reason, 0)] });
        }
        Err(error) => return Err(error),
    };
    let below = |path: &RelPath| path.as_str().get(folder.as_str().len() + 1..).map(String::from).unwrap_or_default();
    entries.retain(|entry| entry.kind == EntryKind::File && is_shown(&below(&entry.path)));
    order::sort_slice(&mut entries, |a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    let mut found = UserNotes::default();
    let mut left_out = |path: &RelPath, reason: LeftOutReason, size: u64| {
        found.left_out.push(without(call, path, reason, size));
    };
    for entry in entries.iter().skip(MAX_NOTES) {
        left_out(&entry.path, LeftOutReason::Budget, entry.size);
    }
    let paths: Vec<&RelPath> = entries.iter().take(MAX_NOTES).map(|entry| &entry.path).collect();
    let mut notes = Vec::new();
    for (path, answer) in paths.iter().zip(load_all(&call.fs, &paths, MAX_NOTE_BYTES).await) {
        let bytes = match answer {
            Ok(Loaded::Absent) => continue,
            Ok(Loaded::Whole { bytes, .. }) => bytes,
            Ok(Loaded::TooLarge(size)) => {
                left_out(path, LeftOutReason::TooLarge, size);
                continue;
            }
            Err(error) => {
                left_out(path, LeftOutReason::Unreadable(format!("{error}")), 0);
                continue;
            }
        };
        let size = bytes.len() as u64;
        match String::from_utf8(bytes).map(Approved::judge) {
            Ok(Ok(text)) => notes.push(user_note(call, path, below(path), &text)),
            Ok(Err(_)) => left_out(path, LeftOutReason::Unapproved, size),
            Err(_) => left_out(path, LeftOutReason::NotText, size),
        }
    }
    let superseded: Vec<String> = notes.iter().flat_map(|note| note.supersedes.clone()).collect();
    let is_named = |note: &UserNote, name: &String| note.below.strip_suffix(NOTE_SUFFIX).unwrap_or(&note.below) == name;
    notes.retain(|note| !superseded.iter().any(|name| *name == note.below || is_named(note, name)));
    let items: Vec<SectionItem> = notes.into_iter().map(|note| note.item).collect();
    found.section = (!items.is_empty()).then(|| Section {
        kind: SectionKind::UserNotes,
        path: call.scope.display_path(folder),
        content: SectionContent::Items(items),
    });
    Ok(found)
}

fn without(call: &Call, path: &RelPath, reason: LeftOutReason, size: u64) -> LeftOut {
    LeftOut::whole(call.scope.display_path(path), SectionKind::UserNotes.title(), reason, size)
}

/// Returns true for a note of the user, by its path below the folder.
fn is_shown(below: &str) -> bool {
    let first = below.split('/').next().unwrap_or_default();
    let is_first = |kept: &str| is_name(first, kept);
    below != SCRATCHPAD_FILE && ![DAILY_FOLDER, SESSIONS_FOLDER, TEMPLATES_FOLDER].into_iter().any(is_first)
}

fn user_note(call: &Call, path: &RelPath, below: String, text: &Approved) -> UserNote {
    let note = Note::parse_file(text.as_str(), TagSyntax::default(), path.file_stem());
    let supersedes = note.frontmatter.texts(SUPERSEDES).map(String::from).collect();
    let body = text.map(|text| text.get(note.body.clone()).unwrap_or_default().trim().into());
    let heading = text.map(|_| note.title.clone());
    let item = SectionItem { path: call.scope.display_path(path), key: Some(note.title), heading, text: body };
    UserNote { item, below, supersedes }
}
