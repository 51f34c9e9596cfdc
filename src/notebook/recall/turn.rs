//! `recall-for-turn`: finds the memories for one turn of a conversation.

use super::super::index::NotebookCall;
use super::super::session::{Memories, RecalledMemory};
use super::super::types::MemoriesReply;
use super::prompt::{PromptHit, PromptRecall, recall_for_prompt};
use super::types::{PASSAGE_BYTES, Recall};
use crate::request::{Run, SAMPLE_TEXT, request};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

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

request!(RecallForTurn "recall-for-turn" => MemoriesReply, Reads, |name| {
    [SAMPLE_TEXT, name].map(|query| Self { turn: 1, query: query.into(), limit: 3 }).to_vec()
});

impl Run<NotebookCall<'_>> for RecallForTurn {
    async fn run(self, with: &NotebookCall<'_>) -> Result<MemoriesReply, Error> {
        let (call, notebook) = (with.call, with.notebook);
        let question = notebook.session.borrow_mut().ask(self.turn)?;
        let recall = PromptRecall {
            request: &Recall { query: self.query, limit: self.limit, ..Recall::default() },
            passage_bytes: PASSAGE_BYTES,
            excerpt: None,
            is_left_out: &|_| false,
            is_known: &|_, _| false,
            known: 0,
        };
        let found = recall_for_prompt(call, notebook, None, &recall).await?;
        let unapproved: Vec<String> = found.withheld.into_iter().map(|withheld| withheld.path).collect();
        let memory = |shown: PromptHit| RecalledMemory { path: shown.path, title: shown.name, text: shown.passage };
        // A note in which somebody asked the same does not answer, however well its words fit.
        let (asking, answering): (Vec<PromptHit>, Vec<PromptHit>) =
            found.shown.into_iter().partition(|hit| hit.only_asks);
        let approved: Vec<RecalledMemory> = answering.into_iter().chain(asking).map(memory).collect();
        let count = u32::try_from(approved.len()).unwrap_or(u32::MAX);
        // The result is dropped if a later turn has asked meanwhile, or the same turn again.
        let is_last = notebook.session.borrow_mut().answer(question, Memories { approved, unapproved });
        Ok(MemoriesReply { memories: if is_last { count } else { 0 } })
    }
}
