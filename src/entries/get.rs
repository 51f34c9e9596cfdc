//! `get-entry`: the entry of exactly one key.

use alloc::string::String;
use alloc::vec::Vec;

use super::category::Category;
use super::checks::checked_key;
use super::readable::{Readable, readable};
use super::state::EntriesCall;
use super::types::EntryInfo;
use super::view::{View, absent, look_for};
use crate::order;
use crate::protocol::Error;
use crate::request::{Effect, Request, Run};

/// Gives the entry of exactly this key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetEntry {
    /// The key.
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

/// The entry of the conversation counts, else the agent's own, else that of the workspace.
impl Run<EntriesCall<'_>> for GetEntry {
    async fn run(self, with: &EntriesCall<'_>) -> Result<EntryInfo, Error> {
        let EntriesCall { call, entries, scope, run, .. } = *with;
        let key = checked_key("key", &self.key)?;
        let held = entries.held(run)?;
        let of_conversation = held.iter().find(|held| held.is_of_conversation() && held.entry.fields.key == key);
        let view = match of_conversation {
            // What lives only in the run causes no operation.
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
