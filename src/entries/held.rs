//! [`OpenedRun`]: an open run with the entries that it holds.

use alloc::string::String;
use alloc::vec::Vec;

use super::category::Category;
use super::document::{Entry, Fields};
use super::rules::Base;

/// Maximum number of entries that a run holds, entries of its conversation included.
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
    /// Stored state of the entry when the run first wrote it.
    pub(super) base: Base,
}

impl Held {
    /// Returns true if it is never stored.
    pub(super) fn is_of_conversation(&self) -> bool {
        self.entry.fields.category == Category::Conversation
    }

    /// Returns true if these fields would replace it: conversation, workspace and agent each have separate keys.
    pub(super) fn is_of(&self, fields: &Fields) -> bool {
        let room = |category: &Category| match category {
            Category::Conversation => 0,
            Category::Workspace => 1,
            _ => 2,
        };
        self.entry.fields.key == fields.key && room(&self.entry.fields.category) == room(&fields.category)
    }
}
