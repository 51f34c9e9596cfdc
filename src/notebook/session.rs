//! [`Session`]: memories of a conversation, and memories of one of its turns.

use crate::trust::Approved;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// A note that was recalled for a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecalledMemory {
    /// Path of the note.
    pub(crate) path: String,
    /// Title of the note.
    pub(crate) title: Approved,
    /// Passage to show.
    pub(crate) text: Approved,
}

/// Memories that a prompt may show.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// Newest facts, as they were when the session began.
    first: Memories,
    /// Last turn that asked.
    turn: u64,
    /// Number of questions of all turns.
    asked: u64,
    /// Answer to the last question of that turn; empty until there is one.
    recalled: Memories,
}

/// Memories that were found together.
#[derive(Debug, Default)]
pub(super) struct Memories {
    /// Approved memories, best first.
    pub(super) approved: Vec<RecalledMemory>,
    /// Paths of the unapproved ones.
    pub(super) unapproved: Vec<String>,
}

/// Number of a question. Only the answer to the last one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question(u64);

impl Session {
    /// Sets the first memories of the session.
    pub(super) fn begin_with(&mut self, first: Memories) {
        self.first = first;
    }

    /// Begins a question of a turn, and drops the results of earlier ones.
    ///
    /// # Errors
    ///
    /// The turn is over.
    pub(super) fn ask(&mut self, turn: u64) -> Result<Question, Error> {
        if turn < self.turn {
            let message = format!("turn {turn} is over: turn {} has begun", self.turn);
            return Err(Error::invalid_argument(message, "recall for the current turn"));
        }
        self.turn = turn;
        self.recalled = Memories::default();
        self.asked += 1;
        Ok(Question(self.asked))
    }

    /// Takes the answer to a question. Returns `false` if a later question was asked since; the answer is then
    /// dropped.
    pub(super) fn answer(&mut self, question: Question, recalled: Memories) -> bool {
        if question != Question(self.asked) {
            return false;
        }
        self.recalled = recalled;
        true
    }

    /// Returns the memories for the prompt of a turn: those recalled for it, then the first ones.
    pub(super) fn of_turn(&self, turn: u64) -> Memories {
        let nothing = Memories::default();
        let recalled = if turn == self.turn { &self.recalled } else { &nothing };
        let is_new = |memory: &&RecalledMemory| recalled.approved.iter().all(|known| known.path != memory.path);
        let approved = recalled.approved.iter().chain(self.first.approved.iter().filter(is_new));
        let is_named = |path: &&String| recalled.unapproved.contains(path);
        let unapproved = recalled.unapproved.iter().chain(self.first.unapproved.iter().filter(|path| !is_named(path)));
        Memories { approved: approved.cloned().collect(), unapproved: unapproved.cloned().collect() }
    }
}
