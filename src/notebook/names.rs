//! [`Names`]: names that links can use, while files change.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::index::{Notebook, look};
use super::snapshot::Snapshot;
use super::types::{NoteView, SUPERSEDES};
use crate::changes::Call;
use crate::document::{Frontmatter, Note};
use crate::protocol::Error;
use crate::trust::Provenance;

/// Names that links can use, while files change.
pub(super) struct Names(Vec<Name>);

/// What decides where a link to a note leads.
struct Name {
    path: String,
    note: Note,
    unapproved: Option<Provenance>,
}

impl Names {
    pub(super) fn from_notebook(notebook: &Notebook, call: &Call) -> Result<Self, Error> {
        look(notebook, call, |snapshot| Ok(Self::from_snapshot(snapshot)))
    }

    pub(super) fn from_snapshot(snapshot: &Snapshot<'_>) -> Self {
        let names = snapshot.views.iter().map(|view| {
            let (title, aliases) = (view.note.title.clone(), view.note.aliases.clone());
            let frontmatter = superseding(view.note);
            let note = Note { title, aliases, frontmatter, ..Note::default() };
            Name { path: view.path.to_string(), note, unapproved: view.unapproved }
        });
        Self(names.collect())
    }

    pub(super) fn views(&self) -> Vec<NoteView<'_>> {
        let names = self.0.iter().map(|Name { path, note, unapproved }| NoteView {
            path,
            text: "",
            note,
            modified: 0,
            created: 0,
            is_undated: false,
            unapproved: *unapproved,
        });
        names.collect()
    }
}

/// Returns the part of the frontmatter that decides between several notes of one title.
fn superseding(note: &Note) -> Frontmatter {
    let entries = note.frontmatter.entries.iter().filter(|(key, _)| key == SUPERSEDES);
    Frontmatter { entries: entries.cloned().collect(), ..Frontmatter::default() }
}
