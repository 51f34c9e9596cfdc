//! The entry of one key.

use super::category::Category;
use super::readable::{Readable, readable};
use super::state::{EntriesCall, Held};
use super::types::EntryInfo;
use super::view::{View, absent, look_for};
use saddlebag_collections::{order, prelude::*};
use saddlebag_protocol::Error;

/// Returns the entry of a key, or the one whose file has this path: the run's own, else the agent's, else the workspace's.
pub(super) async fn get(with: &EntriesCall<'_>, name: &str) -> Result<EntryInfo, Error> {
    let EntriesCall { call, entries, scope, run, .. } = *with;
    let held = entries.held(run)?;
    let is_of_conversation = |held: &Held| held.is_of_conversation() && held.entry.fields.key == name;
    // An entry that only a run holds needs no file operation.
    let (view, key) = match held.iter().any(is_of_conversation) {
        true => (View::default(), name.into()),
        false => look_for(call, entries, scope, name).await?,
    };
    let mut found: Vec<Readable> = readable(call, &view, &held);
    found.retain(|readable| readable.entry.fields.key == key && !readable.expired);
    let preference = |readable: &Readable| (readable.entry.fields.category != Category::Conversation, readable.shared);
    order::sort_slice_by_key(&mut found, preference);
    found.first().map(|readable| readable.info(call)).ok_or_else(|| absent(&view, &key))
}
