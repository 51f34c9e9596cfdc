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
pub(super) struct Names(Vec<(String, Note, Option<Provenance>)>);

impl Names {
    pub(super) fn from_notebook(notebook: &Notebook, call: &Call) -> Result<Self, Error> {
        look(notebook, call, |snapshot| Ok(Self::from_snapshot(snapshot)))
    }

    pub(super) fn from_snapshot(snapshot: &Snapshot<'_>) -> Self {
        let names = snapshot.views.iter().map(|view| {
            let (title, aliases) = (view.note.title.clone(), view.note.aliases.clone());
            let frontmatter = superseding(view.note);
            (view.path.to_string(), Note { title, aliases, frontmatter, ..Note::default() }, view.unapproved)
        });
        Self(names.collect())
    }

    pub(super) fn views(&self) -> Vec<NoteView<'_>> {
        self.0.iter().map(|(path, note, unapproved)| NoteView::named(path, note, *unapproved)).collect()
    }
}

/// Returns the part of the frontmatter that decides between several notes of one title.
fn superseding(note: &Note) -> Frontmatter {
    let entries = note.frontmatter.entries.iter().filter(|(key, _)| key == SUPERSEDES);
    Frontmatter { entries: entries.cloned().collect(), ..Frontmatter::default() }
}
