//! [`Session`]: the memories of a conversation, and those of one of its turns.

use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::recall::recall;
use super::run::{Notebook, catch_up, look, read_texts};
use super::snapshot::{Snapshot, title_or_stem};
use super::{MemoryContext, NoteFilter, RecallRequest, RecalledMemory, format_memory_context};
use crate::engine::Call;
use crate::protocol::Error;
use crate::store::FACTS_FOLDER;

/// What a prompt may show of memory.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// The newest facts, as they were when the session began.
    first: Vec<RecalledMemory>,
    /// The last turn that asked.
    turn: u64,
    /// How often a turn has asked.
    asked: u64,
    /// What was found for that turn when it last asked; nothing until it was.
    recalled: Vec<RecalledMemory>,
}

impl Session {
    /// The memories for the prompt of a turn: what was recalled for it, then the first ones.
    pub(super) fn section(&self, turn: u64, max_bytes: usize) -> MemoryContext {
        let recalled: &[RecalledMemory] = if turn == self.turn { &self.recalled } else { &[] };
        let others = self.first.iter().filter(|memory| recalled.iter().all(|recalled| recalled.path != memory.path));
        let memories: Vec<RecalledMemory> = recalled.iter().chain(others).cloned().collect();
        format_memory_context(&memories, max_bytes)
    }
}

/// Takes the newest facts into the session.
pub(super) async fn load(call: &Call, notebook: &Rc<Notebook>, limit: u32) -> Result<u32, Error> {
    catch_up(call, notebook).await?;
    let limit = limit as usize;
    let newest = |snapshot: &Snapshot<'_>| {
        let places = newest_facts(snapshot, limit).into_iter();
        Ok(places.filter_map(|place| snapshot.ids.get(place).copied()).collect())
    };
    read_texts(call, notebook, newest).await?;
    let memories = look(notebook, call, |snapshot: &Snapshot<'_>| {
        let memories = newest_facts(snapshot, limit).into_iter().filter_map(|place| {
            let view = snapshot.views.get(place)?;
            Some(RecalledMemory {
                path: snapshot.shown(place, &call.scope),
                title: title_or_stem(&view.note.title, view.path),
                text: view.text.get(view.note.body.clone())?.to_string(),
            })
        });
        Ok(memories.collect::<Vec<_>>())
    })?;
    let count = u32::try_from(memories.len()).unwrap_or(u32::MAX);
    notebook.session.borrow_mut().first = memories;
    Ok(count)
}

/// The places of the facts that were changed last, the newest first.
fn newest_facts(snapshot: &Snapshot<'_>, limit: usize) -> Vec<usize> {
    let facts = snapshot.views.iter().enumerate();
    let is_fact = |path: &str| path.strip_prefix(FACTS_FOLDER).is_some_and(|rest| rest.starts_with('/'));
    let facts = facts.filter(|(_, view)| is_fact(view.path));
    let mut facts: Vec<(Reverse<u64>, usize)> = facts.map(|(place, view)| (Reverse(view.modified), place)).collect();
    facts.sort_unstable();
    facts.into_iter().take(limit).map(|(_, place)| place).collect()
}

/// Recalls for a turn. What is found after a later turn has asked, or the same turn again, is dropped.
pub(super) async fn recall_for_turn(
    call: &Call,
    notebook: &Rc<Notebook>,
    turn: u64,
    query: String,
    limit: u32,
) -> Result<u32, Error> {
    let number = {
        let mut session = notebook.session.borrow_mut();
        if turn < session.turn {
            let message = alloc::format!("turn {turn} is over: turn {} has begun", session.turn);
            return Err(Error::invalid_argument(message, "recall for the turn that is going on"));
        }
        session.turn = turn;
        session.recalled.clear();
        session.asked += 1;
        session.asked
    };
    let request = RecallRequest {
        query,
        limit,
        offset: 0,
        filter: NoteFilter::default(),
        sort: Vec::new(),
        explain: false,
        vouched_unchanged: false,
    };
    let found = recall(call, notebook, &request).await?;
    let mut session = notebook.session.borrow_mut();
    if session.asked != number {
        return Ok(0);
    }
    let memories = found.hits.into_iter();
    session.recalled =
        memories.map(|hit| RecalledMemory { path: hit.path, title: hit.title, text: hit.passage }).collect();
    Ok(u32::try_from(session.recalled.len()).unwrap_or(u32::MAX))
}
