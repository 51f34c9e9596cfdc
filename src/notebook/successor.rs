//! Marks of a note that another one supersedes.

use crate::changes::Call;
use crate::search::{Corpus, IndexedFile};
use crate::trust::Marks;

/// Returns the marks of a note that another one supersedes. An unapproved note supersedes nothing.
pub(crate) fn newer_note(call: &Call, notes: &Corpus, path: &str) -> Option<Marks> {
    let scope = &call.scope;
    let (below, of_user) = scope.layout.below_any_notebook(path)?;
    let may = |newer: &IndexedFile| {
        let is_beside = scope.layout.is_of_user(newer.path.as_str()) == of_user;
        is_beside && newer.path.as_str() != path && newer.unapproved.is_none()
    };
    let newer = notes.newer(below, may)?;
    let stated = notes.files.note(newer).and_then(|note| note.stated());
    let since = call.now.day_of(stated.map_or(newer.modified, |date| call.now.calendar_of(date)));
    let superseded_by = Some(scope.display_path(&newer.path));
    Some(Marks { superseded_by, superseded_since: Some(since), ..Marks::default() })
}
