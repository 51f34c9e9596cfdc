//! `get-entry`: returns the entry of one key.

use alloc::string::String;
use alloc::vec::Vec;

use super::category::Category;
use super::limits::checked_key;
use super::readable::{Readable, readable};
use super::state::EntriesCall;
use super::types::EntryInfo;
use super::view::{View, absent, look_for};
use crate::order;
use crate::protocol::Error;
use crate::request::{Effect, Request, Run};

/// Returns the entry of this key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetEntry {
    /// Key of the entry.
    pub key: String,
}

impl Request for GetEntry {
    type Reply = EntryInfo;
    const NAME: &'static str = "get-entry";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        alloc::vec![Self { key: name.into() }]
    }
}

/// The run's own entry has priority, then the agent's, then the workspace's.
impl Run<EntriesCall<'_>> for GetEntry {
    async fn run(self, with: &EntriesCall<'_>) -> Result<EntryInfo, Error> {
        let EntriesCall { call, entries, scope, run, .. } = *with;
        let key = checked_key("key", &self.key)?;
        let held = entries.held(run)?;
        let of_conversation = held.iter().find(|held| held.is_of_conversation() && held.entry.fields.key == key);
        let view = match of_conversation {
            // An entry that only a run holds needs no file operation.
            Some(_) => View::default(),
            None => look_for(call, entries, scope, &key).await?,
        };
        let mut found: Vec<Readable> = readable(call, &view, &held);
        found.retain(|readable| readable.entry.fields.key == key && !readable.expired);
        let preference =
            |readable: &Readable| (readable.entry.fields.category != Category::Conversation, readable.shared);
        order::sort_slice_by_key(&mut found, preference);
        found.first().map(|readable| readable.info(call)).ok_or_else(|| absent(&view, &key))
    }
}
