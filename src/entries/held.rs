//! [`OpenedRun`]: an open run with the entries that it holds.

use alloc::string::String;
use alloc::vec::Vec;

use super::category::Category;
use super::document::{Entry, Fields};
use super::rules::Base;

/// How many entries a run may hold, those of its conversation and those to be stored.
pub const MAX_HELD: usize = 1_000;

/// An open run.
#[derive(Clone, Debug)]
pub(super) struct OpenedRun {
    pub(super) name: String,
    pub(super) fence: u64,
    pub(super) held: Vec<Held>,
}

/// An entry that a run holds.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) entry: Entry,
    /// What was stored when the run first wrote it.
    pub(super) base: Base,
}

impl Held {
    /// Whether it lives only in the run.
    pub(super) fn is_of_conversation(&self) -> bool {
        self.entry.fields.category == Category::Conversation
    }

    /// Whether it is what fields would replace: a conversation has keys of its own, and so have the workspace
    /// and the agent.
    pub(super) fn is_of(&self, fields: &Fields) -> bool {
        let room = |category: &Category| match category {
            Category::Conversation => 0,
            Category::Workspace => 1,
            _ => 2,
        };
        self.entry.fields.key == fields.key && room(&self.entry.fields.category) == room(&fields.category)
    }
}
