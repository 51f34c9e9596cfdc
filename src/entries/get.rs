//! `get-entry`: returns the entry of one key.

use super::category::Category;
use super::readable::{Readable, readable};
use super::state::{EntriesCall, Held};
use super::types::EntryInfo;
use super::view::{View, absent, look_for};
use crate::request::{Run, request};
use saddlebag_collections::order;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Returns the entry of this key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetEntry {
    /// Key of the entry, or path of its file.
    pub key: String,
}

request!(GetEntry "get-entry" => EntryInfo, Reads, |name| vec![Self { key: name.into() }]);

/// The run's own entry has priority, then the agent's, then the workspace's.
impl Run<EntriesCall<'_>> for GetEntry {
    async fn run(self, with: &EntriesCall<'_>) -> Result<EntryInfo, Error> {
        let EntriesCall { call, entries, scope, run, .. } = *with;
        let held = entries.held(run)?;
        let is_of_conversation = |held: &Held| held.is_of_conversation() && held.entry.fields.key == self.key;
        // An entry that only a run holds needs no file operation.
        let (view, key) = match held.iter().any(is_of_conversation) {
            true => (View::default(), self.key),
            false => look_for(call, entries, scope, &self.key).await?,
        };
        let mut found: Vec<Readable> = readable(call, &view, &held);
        found.retain(|readable| readable.entry.fields.key == key && !readable.expired);
        let preference =
            |readable: &Readable| (readable.entry.fields.category != Category::Conversation, readable.shared);
        order::sort_slice_by_key(&mut found, preference);
        found.first().map(|readable| readable.info(call)).ok_or_else(|| absent(&view, &key))
    }
}
