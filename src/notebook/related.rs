//! `related`: lists the notes that are linked with a note.

use super::index::{NotebookCall, catch_up, look_checked, skipped};
use super::named::of_this_memory;
use super::select::{Graph, LinkTable, RelatedReason, related};
use super::snapshot::Snapshot;
use super::successor::newer_note;
use crate::request::{Run, request};
use crate::search::Skipped;
use crate::trust::Marks;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Lists the notes that are linked with a note: links in both directions first, then notes that share a linked note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// Path, name, title or alias of the note.
    pub note: String,
    /// Maximum number of notes.
    pub limit: u32,
}

/// The notes that are linked with a note.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RelatedReply {
    /// Notes, nearest first.
    pub notes: Vec<RelatedNote>,
    /// Files that could not be read.
    pub skipped: Vec<Skipped>,
}

/// A note that is linked with another one.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RelatedNote {
    /// Path of the file.
    pub path: String,
    /// Title of the note.
    pub title: String,
    /// Number of links between the two: 1 for a link from one to the other, 2 if both are linked with a third note.
    pub distance: u32,
    /// Relation: `links both ways`, `links here`, `linked from here`, `both linked with PATH, …`.
    pub reason: String,
    /// Whether the text is unapproved, superseded or for other projects.
    #[serde(flatten)]
    pub marks: Marks,
}

request!(Related "related" => RelatedReply, Reads, |name| vec![Self { note: name.into(), limit: 3 }]);

impl Run<NotebookCall<'_>> for Related {
    async fn run(self, with: &NotebookCall<'_>) -> Result<RelatedReply, Error> {
        catch_up(with.call, with.notebook).await?;
        let limit = self.limit as usize;
        let related = |snapshot: &Snapshot<'_>| related_notes(snapshot, &self.note, limit);
        let notes = look_checked(with.call, with.notebook, related).await;
        let mut notes = of_this_memory(with.call, with.notebook, &[&self.note], notes).await?;
        let corpus = with.notebook.corpus.borrow();
        for note in &mut notes {
            let file = with.call.scope.file(&note.path);
            let newer = file.and_then(|file| newer_note(with.call, &corpus, file.as_str())).unwrap_or_default();
            note.marks = Marks { unapproved: note.marks.unapproved, ..newer };
        }
        drop(corpus);
        Ok(RelatedReply { notes, skipped: skipped(with.call, with.notebook) })
    }
}

/// Returns the notes that are linked with a note.
fn related_notes(snapshot: &Snapshot<'_>, note: &str, limit: usize) -> Result<Vec<RelatedNote>, Error> {
    let note = snapshot.find(note)?;
    let graph = Graph::new(snapshot.views.len(), &LinkTable::new(&snapshot.views));
    let found = related(&snapshot.views, &graph, note).into_iter().take(limit);
    let notes = found.map(|found| {
        let reason = match &found.reason {
            RelatedReason::LinksBothWays => "links both ways".to_string(),
            RelatedReason::LinksHere => "links here".to_string(),
            RelatedReason::LinkedFromHere => "linked from here".to_string(),
            RelatedReason::Shares(shared) => {
                let paths =
                    shared.iter().map(|&note| snapshot.display_path(note)).collect::<Result<Vec<String>, Error>>()?;
                format!("both linked with {}", paths.join(", "))
            }
        };
        let title = snapshot.title(found.index)?.to_string();
        let path = snapshot.display_path(found.index)?;
        let marks = Marks { unapproved: snapshot.unapproved(found.index)?, ..Marks::default() };
        Ok(RelatedNote { path, title, distance: found.distance, reason, marks })
    });
    notes.collect()
}
