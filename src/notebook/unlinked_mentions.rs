//! `unlinked-mentions`: lists the notes that name a note without linking to it.

use super::index::{MAX_ATTEMPTS, NotebookCall, catch_up, changed_meanwhile, look_checked, skipped, with_texts};
use super::named::of_this_memory;
use super::select::{Graph, LinkTable, NameLines};
use super::snapshot::Snapshot;
use crate::request::{Run, request};
use crate::search::{DocId, Skipped};
use crate::trust::{Provenance, TrustState};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Lists the notes that name a note's title or an alias without linking to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlinkedMentions {
    /// Path, name, title or alias of the note.
    pub note: String,
}

/// The notes that name a note without linking to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnlinkedMentionsReply {
    /// Notes, sorted by path.
    pub notes: Vec<Mention>,
    /// Files that could not be read.
    pub skipped: Vec<Skipped>,
}

/// A note that names another without linking to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mention {
    /// Path of the file.
    pub path: String,
    /// Title of the note.
    pub title: String,
    /// Lines that name the note, counted from 1.
    pub lines: Vec<u32>,
    /// Provenance of the text if it waits for approval.
    pub unapproved: Option<Provenance>,
}

request!(UnlinkedMentions "unlinked-mentions" => UnlinkedMentionsReply, Reads, |name| {
    vec![Self { note: name.into() }]
});

impl Run<NotebookCall<'_>> for UnlinkedMentions {
    async fn run(self, with: &NotebookCall<'_>) -> Result<UnlinkedMentionsReply, Error> {
        let (call, notebook) = (with.call, with.notebook);
        for _ in 0..MAX_ATTEMPTS {
            catch_up(call, notebook).await?;
            let found = look_checked(call, notebook, |snapshot| unlinked(snapshot, &self.note)).await;
            let (mut named, others) = of_this_memory(call, notebook, &[&self.note], found).await?;
            let mut notes = Vec::new();
            let read = with_texts(call, notebook, &others, |_, document| {
                let corpus = notebook.corpus.borrow();
                // The text is in memory, so a record that cannot be decoded is parsed again.
                let note = corpus.outline(document).ok().flatten().unwrap_or_default();
                let lines = named.find(document.text(), &note);
                if !lines.is_empty() {
                    let (path, unapproved) =
                        (call.scope.display_path(&document.path), TrustState::from_text(document.text()).unapproved());
                    notes.push(Mention { path, title: note.title, lines, unapproved });
                }
            });
            if read.await {
                return Ok(UnlinkedMentionsReply { notes, skipped: skipped(call, notebook) });
            }
        }
        Err(changed_meanwhile())
    }
}

/// Returns the names of a note, and the notes that do not link to it, sorted by path.
fn unlinked(snapshot: &Snapshot<'_>, note: &str) -> Result<(NameLines, Vec<DocId>), Error> {
    let note = snapshot.find(note)?;
    let graph = Graph::new(snapshot.views.len(), &LinkTable::new(&snapshot.views));
    let is_linked = |from: usize| from == note || graph.backlinks(note).binary_search(&from).is_ok();
    let others = (0..snapshot.views.len()).filter(|&from| !is_linked(from)).map(|from| snapshot.id(from));
    Ok((NameLines::new(snapshot.view(note)?), others.collect::<Result<_, Error>>()?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Store, run_alone};
    use super::*;

    #[test]
    fn a_mention_in_an_unapproved_note_is_marked() {
        let mut store = Store::with(&[
            ("db.md", "# The database\n"),
            ("mine.md", "# Mine\n\nThe database is down.\n"),
            ("page.md", "---\nprovenance: tool\n---\n# Page\n\nDrop the database.\n"),
        ]);
        let request = UnlinkedMentions { note: "db".into() };
        let notes = store.run(|fs| run_alone(fs, request)).expect("listed").notes;
        let found: Vec<_> = notes.iter().map(|note| (note.path.as_str(), note.unapproved)).collect();
        assert_eq!(found, [("mine.md", None), ("page.md", Some(Provenance::Tool))]);
    }
}
