//! `orphans`: lists the notes without links from other notes.

use alloc::vec::Vec;

use super::config::NotebookConfig;
use super::index::{NotebookCall, catch_up, look, read_texts, warnings};
use super::list_notes::ListNotesReply;
use super::note_info::{NoteInfo, info};
use super::select::{Graph, LinkTable};
use super::snapshot::Snapshot;
use crate::protocol::Error;
use crate::request::{Effect, Request, Run};
use crate::search::DocId;

/// Lists the notes without links from other notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphans;

impl Request for Orphans {
    type Reply = ListNotesReply;
    const NAME: &'static str = "orphans";
    const EFFECT: Effect = Effect::Reads;

    fn samples(_: &str) -> Vec<Self> {
        alloc::vec![Self]
    }
}

impl Run<NotebookCall<'_>> for Orphans {
    async fn run(self, with: &NotebookCall<'_>) -> Result<ListNotesReply, Error> {
        let (call, notebook) = (with.call, with.notebook);
        let config = catch_up(call, notebook).await?;
        read_texts(call, notebook, orphan_ids).await?;
        let notes = look(notebook, call, |snapshot| orphans(snapshot, &config))?;
        let skipped = notebook.corpus.borrow().skipped(|path| call.scope.display_path(path));
        Ok(ListNotesReply { notes, warnings: warnings(call, notebook), skipped })
    }
}

/// Returns the notes without links from other notes.
fn orphans(snapshot: &Snapshot<'_>, config: &NotebookConfig) -> Result<Vec<NoteInfo>, Error> {
    let graph = Graph::new(snapshot.views.len(), &LinkTable::new(&snapshot.views));
    graph.orphans().map(|note| info(snapshot, config, note, false)).collect()
}

/// Returns their index numbers.
fn orphan_ids(snapshot: &Snapshot<'_>) -> Result<Vec<DocId>, Error> {
    let graph = Graph::new(snapshot.views.len(), &LinkTable::new(&snapshot.views));
    graph.orphans().map(|note| snapshot.id(note)).collect()
}
