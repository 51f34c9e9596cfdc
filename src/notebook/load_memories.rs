//! `load-memories`: loads the newest facts as the first memories of a session.

use core::cmp::Reverse;

use super::checks::title_or_stem;
use super::index::{Notebook, NotebookCall, catch_up, look, read_texts};
use super::recall::{is_superseded, successions};
use super::session::{Memories, RecalledMemory};
use super::snapshot::Snapshot;
use super::types::{MemoriesReply, part_of};
use crate::changes::Call;
use crate::request::{Run, request};
use crate::search::DocId;
use crate::store::{FACTS_FOLDER, is_in_folder};
use crate::trust::Approved;
use saddlebag_collections::{order, prelude::*};
use saddlebag_protocol::Error;

/// Default number of facts.
pub const INITIAL_MEMORIES: u32 = 10;

/// Loads the newest facts into the session, as its first memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadMemories {
    /// Maximum number of facts.
    pub limit: u32,
}

request!(LoadMemories "load-memories" => MemoriesReply, Reads, |_| vec![Self { limit: 3 }]);

impl Run<NotebookCall<'_>> for LoadMemories {
    async fn run(self, with: &NotebookCall<'_>) -> Result<MemoriesReply, Error> {
        let (call, notebook) = (with.call, with.notebook);
        catch_up(call, notebook).await?;
        let limit = self.limit as usize;
        let mut looked_at = limit;
        let (approved, unapproved) = loop {
            let newest = |snapshot: &Snapshot<'_>| {
                let places = newest_facts(call, notebook, snapshot, looked_at)?.into_iter();
                places.map(|place| snapshot.id(place)).collect()
            };
            read_texts(call, notebook, false, newest).await?;
            let (found, approved, unapproved) =
                look(notebook, call, |snapshot| approved_facts(call, notebook, snapshot, looked_at, limit))?;
            // Unapproved notes take no place from others.
            if approved.len() >= limit || found < looked_at {
                break (approved, unapproved);
            }
            looked_at = looked_at.saturating_mul(2);
        };
        let memories = u32::try_from(approved.len()).unwrap_or(u32::MAX);
        notebook.session.borrow_mut().begin_with(Memories { approved, unapproved });
        Ok(MemoriesReply { memories })
    }
}

/// Looks at the facts that were changed last. Returns their number, those that may go into a prompt (at most `limit`),
/// and the paths of the others that are as new. The files decide this, not the index.
fn approved_facts(
    call: &Call,
    notebook: &Notebook,
    snapshot: &Snapshot<'_>,
    looked_at: usize,
    limit: usize,
) -> Result<(usize, Vec<RecalledMemory>, Vec<String>), Error> {
    let places = newest_facts(call, notebook, snapshot, looked_at)?;
    let corpus = notebook.corpus.borrow();
    let (mut memories, mut unapproved) = (Vec::new(), Vec::new());
    for &place in &places {
        if memories.len() == limit {
            break;
        }
        let document = corpus.files.doc(snapshot.id(place)?);
        // A file that cannot be read now is skipped.
        let Some((document, text)) = document.and_then(|document| Some((document, document.text.as_deref()?))) else {
            continue;
        };
        let path = snapshot.display_path(place)?;
        let Ok(judged) = Approved::judge(text.into()) else {
            unapproved.push(path);
            continue;
        };
        let parsed = corpus.note_of_text(document);
        let note = parsed.ok_or_else(|| Error::internal(format!("{path}: text that is not parsed")))?;
        let title = judged.map(|_| title_or_stem(&note.title, document.path.as_str()));
        let body = part_of(text, note.body)?;
        memories.push(RecalledMemory { path, title, text: judged.map(|_| body.to_string()) });
    }
    unapproved.truncate(limit);
    Ok((places.len(), memories, unapproved))
}

/// Returns the positions of the facts that were changed last and that no other note supersedes, newest first.
fn newest_facts(call: &Call, notebook: &Notebook, snapshot: &Snapshot<'_>, limit: usize) -> Result<Vec<usize>, Error> {
    let superseded = successions(call, &notebook.corpus.borrow(), &[], true);
    let is_current = |id: DocId| !is_superseded(&superseded, id);
    let facts = snapshot.views.iter().zip(&snapshot.ids).enumerate();
    let facts = facts.filter(|(_, (view, id))| is_in_folder(view.path, FACTS_FOLDER) && is_current(**id));
    let mut facts: Vec<(Reverse<u64>, usize)> =
        facts.map(|(place, (view, _))| (Reverse(view.modified), place)).collect();
    order::sort_slice(&mut facts, Ord::cmp);
    Ok(facts.into_iter().take(limit).map(|(_, place)| place).collect())
}
