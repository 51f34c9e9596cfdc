//! [`Session`]: the memories of a conversation, and those of one of its turns.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::recall::{recall, recall_approved};
use super::run::{Notebook, catch_up, look, read_texts};
use super::snapshot::{Snapshot, title_or_stem};
use super::{MemoryContextReply, NoteFilter, Recall, RecallHit, RecalledMemory, format_memory_context};
use crate::engine::Call;
use crate::protocol::Error;
use crate::store::FACTS_FOLDER;
use crate::trust::Standing;

/// What a prompt may show of memory.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// The newest facts, as they were when the session began.
    first: Vec<RecalledMemory>,
    /// Of the newest facts, those that nobody has approved.
    first_unapproved: Vec<String>,
    /// The last turn that asked.
    turn: u64,
    /// How often a turn has asked.
    asked: u64,
    /// What was found for that turn when it last asked; nothing until it was.
    recalled: Vec<RecalledMemory>,
    /// What was found for that turn and nobody has approved.
    recalled_unapproved: Vec<String>,
}

impl Session {
    /// The memories for the prompt of a turn: what was recalled for it, then the first ones.
    pub(super) fn section(&self, turn: u64, max_bytes: usize) -> MemoryContextReply {
        let recalled: &[RecalledMemory] = if turn == self.turn { &self.recalled } else { &[] };
        let others = self.first.iter().filter(|memory| recalled.iter().all(|recalled| recalled.path != memory.path));
        let memories: Vec<RecalledMemory> = recalled.iter().chain(others).cloned().collect();
        let mut section = format_memory_context(&memories, max_bytes);
        let of_turn: &[String] = if turn == self.turn { &self.recalled_unapproved } else { &[] };
        section.unapproved = of_turn.to_vec();
        section.unapproved.extend(self.first_unapproved.iter().filter(|path| !of_turn.contains(path)).cloned());
        section
    }
}

/// Takes the newest facts into the session.
pub(super) async fn load(call: &Call, notebook: &Arc<Notebook>, limit: u32) -> Result<u32, Error> {
    catch_up(call, notebook).await?;
    let limit = limit as usize;
    let mut looked_at = limit;
    let (memories, unapproved) = loop {
        let newest = |snapshot: &Snapshot<'_>| {
            let places = newest_facts(snapshot, looked_at).into_iter();
            Ok(places.filter_map(|place| snapshot.ids.get(place).copied()).collect())
        };
        read_texts(call, notebook, newest).await?;
        let (found, memories, unapproved) =
            look(notebook, call, |snapshot| Ok(approved_facts(call, notebook, snapshot, looked_at, limit)))?;
        // What nobody has approved takes the place of nothing.
        if memories.len() >= limit || found < looked_at {
            break (memories, unapproved);
        }
        looked_at = looked_at.saturating_mul(2);
    };
    let count = u32::try_from(memories.len()).unwrap_or(u32::MAX);
    let mut session = notebook.session.borrow_mut();
    session.first = memories;
    session.first_unapproved = unapproved;
    Ok(count)
}

/// Of the facts that were changed last, how many there are, those that may go into a prompt, at most `limit`, and the
/// paths of the others that are as new. Their files decide, not the index.
fn approved_facts(
    call: &Call,
    notebook: &Notebook,
    snapshot: &Snapshot<'_>,
    looked_at: usize,
    limit: usize,
) -> (usize, Vec<RecalledMemory>, Vec<String>) {
    let places = newest_facts(snapshot, looked_at);
    let corpus = notebook.corpus.borrow();
    let (mut memories, mut unapproved) = (Vec::new(), Vec::new());
    for &place in &places {
        if memories.len() == limit {
            break;
        }
        let document = snapshot.ids.get(place).and_then(|id| corpus.files.doc(*id));
        // A file that cannot be read now says nothing.
        let Some((document, text)) = document.and_then(|document| Some((document, document.text.as_deref()?))) else {
            continue;
        };
        let path = snapshot.shown(place, &call.scope);
        if Standing::of_text(text).unapproved().is_some() {
            unapproved.push(path);
            continue;
        }
        let note = corpus.note_of_text(document).unwrap_or_default();
        let title = title_or_stem(&note.title, document.path.as_str());
        memories.push(RecalledMemory { path, title, text: text.get(note.body).unwrap_or_default().to_string() });
    }
    unapproved.truncate(limit);
    (places.len(), memories, unapproved)
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
    notebook: &Arc<Notebook>,
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
        session.recalled_unapproved.clear();
        session.asked += 1;
        session.asked
    };
    let request = Recall {
        query,
        limit,
        offset: 0,
        filter: NoteFilter::default(),
        sort: Vec::new(),
        explain: false,
        vouched_unchanged: false,
    };
    let mut found = recall(call, notebook, &request).await?;
    let is_unapproved = |hit: &RecallHit| hit.unapproved.is_some();
    let unapproved: Vec<String> =
        found.hits.iter().filter(|hit| is_unapproved(hit)).map(|hit| hit.path.clone()).collect();
    if !unapproved.is_empty() {
        // What nobody has approved takes the place of nothing.
        found = recall_approved(call, notebook, &Recall { vouched_unchanged: true, ..request }).await?;
    }
    let mut session = notebook.session.borrow_mut();
    if session.asked != number {
        return Ok(0);
    }
    session.recalled_unapproved = unapproved;
    let memories = found.hits.into_iter();
    session.recalled =
        memories.map(|hit| RecalledMemory { path: hit.path, title: hit.title, text: hit.passage }).collect();
    Ok(u32::try_from(session.recalled.len()).unwrap_or(u32::MAX))
}
