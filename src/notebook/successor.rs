//! The note that supersedes another, as everything that shows a note marks it.

use crate::changes::Call;
use crate::search::{Corpus, IndexedFile};
use saddlebag_collections::prelude::*;

/// The note that supersedes another one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Successor {
    /// Path, as replies show it.
    pub(crate) path: Option<String>,
    pub(crate) since: Option<String>,
}

/// Returns the note that supersedes the one at a path. An unapproved note supersedes nothing.
pub(crate) fn newer_note(call: &Call, notes: &Corpus, path: &str) -> Option<Successor> {
    let scope = &call.scope;
    let (below, of_user) = scope.layout.below_any_notebook(path)?;
    let may = |newer: &IndexedFile| {
        let is_beside = scope.layout.is_of_user(newer.path.as_str()) == of_user;
        is_beside && newer.path.as_str() != path && newer.unapproved.is_none()
    };
    let newer = notes.newer(below, may)?;
    let stated = notes.files.note(newer).and_then(|note| note.stated());
    let since = call.now.day_of(stated.map_or(newer.modified, |date| call.now.calendar_of(date)));
    Some(Successor { path: Some(scope.display_path(&newer.path)), since: Some(since) })
}

/// Returns the mark of a superseded note, such as `superseded by facts/port.md since 2026-05-24`.
pub fn superseded_mark(by: Option<&str>, since: Option<&str>) -> Option<String> {
    let since = since.map(|day| format!(" since {day}")).unwrap_or_default();
    Some(format!("superseded by {}{since}", by?))
}
