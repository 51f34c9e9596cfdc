//! `recall-for-turn`: finds the memories for one turn of a conversation.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::index::{Notebook, NotebookCall};
use super::note_filter::NoteFilter;
use super::recall::{Recall, RecallHit, recall_approved, recall_current};
use super::session::{Memories, RecalledMemory};
use super::types::MemoriesReply;
use crate::changes::Call;
use crate::protocol::Error;
use crate::request::{Effect, Request, Run};
use crate::samples::SAMPLE_TEXT;

/// Recalls for one turn of a conversation. The result is shown only in this turn's prompt, however late it arrives. If
/// a turn asks several times, only the last question counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallForTurn {
    /// Number of the turn, which increases.
    pub turn: u64,
    /// Text of the turn.
    pub query: String,
    /// Maximum number of memories.
    pub limit: u32,
}

impl Request for RecallForTurn {
    type Reply = MemoriesReply;
    const NAME: &'static str = "recall-for-turn";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        [SAMPLE_TEXT, name].map(|query| Self { turn: 1, query: query.into(), limit: 3 }).to_vec()
    }
}

impl Run<NotebookCall<'_>> for RecallForTurn {
    async fn run(self, with: &NotebookCall<'_>) -> Result<MemoriesReply, Error> {
        let Self { turn, query, limit } = self;
        Ok(MemoriesReply { memories: recall_for_turn(with.call, with.notebook, turn, query, limit).await? })
    }
}

/// Recalls for a turn. The result is dropped if a later turn has asked meanwhile, or the same turn again.
async fn recall_for_turn(
    call: &Call,
    notebook: &Arc<Notebook>,
    turn: u64,
    query: String,
    limit: u32,
) -> Result<u32, Error> {
    let question = notebook.session.borrow_mut().ask(turn)?;
    let request = Recall {
        query,
        limit,
        offset: 0,
        filter: NoteFilter::default(),
        sort: Vec::new(),
        explain: false,
        assume_unchanged: false,
    };
    let mut found = recall_current(call, notebook, &request).await?;
    let is_unapproved = |hit: &RecallHit| hit.unapproved.is_some();
    let unapproved: Vec<String> =
        found.hits.iter().filter(|hit| is_unapproved(hit)).map(|hit| hit.path.clone()).collect();
    if !unapproved.is_empty() {
        // Unapproved notes take no place from others.
        found = recall_approved(call, notebook, &Recall { assume_unchanged: true, ..request }).await?;
    }
    let memory = |hit: RecallHit| RecalledMemory { path: hit.path, title: hit.title, text: hit.passage };
    let approved: Vec<RecalledMemory> = found.hits.into_iter().map(memory).collect();
    let count = u32::try_from(approved.len()).unwrap_or(u32::MAX);
    let is_last = notebook.session.borrow_mut().answer(question, Memories { approved, unapproved });
    Ok(if is_last { count } else { 0 })
}
