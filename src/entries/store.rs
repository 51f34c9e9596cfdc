//! `store-entry`: keeps an entry on the disk, or for a run.

use alloc::string::String;
use alloc::vec::Vec;

use super::category::Category;
use super::checks::NewEntry;
use super::put::{held, reply, store};
use super::rules::Base;
use super::state::EntriesCall;
use super::types::StoreReply;
use super::{runs, screen};
use crate::protocol::Error;
use crate::request::{Effect, Request, Run};

/// Keeps an entry: makes it, or replaces what its key said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreEntry {
    /// The entry.
    pub entry: NewEntry,
    /// Only if it still has this version.
    pub expected_version: Option<String>,
}

impl Request for StoreEntry {
    type Reply = StoreReply;
    const NAME: &'static str = "store-entry";
    // A move to another category removes the old file, and the cap of entries may evict the oldest.
    const EFFECT: Effect = Effect::Removes;

    fn samples(name: &str) -> Vec<Self> {
        let entry = |key: &str, category: &str| NewEntry::new(key, "another text", category);
        let store = |entry| Self { entry, expected_version: None };
        [entry("new", "core"), entry(name, "core"), entry(name, "notes"), entry(name, "workspace")].map(store).to_vec()
    }
}

impl Run<EntriesCall<'_>> for StoreEntry {
    async fn run(self, with: &EntriesCall<'_>) -> Result<StoreReply, Error> {
        let EntriesCall { call, entries, scope, run, provenance } = *with;
        let fields = screen::screened(call, &self.entry, provenance)?;
        let base = Base::of(self.expected_version);
        scope.pool(&fields.category)?;
        let mut stored = match run {
            Some(run) => {
                runs::hold(call, entries, scope, run, fields.clone(), base).await?;
                held(&fields)
            }
            None if fields.category == Category::Conversation => {
                let help = "name a run that is open, or choose another category";
                return Err(Error::invalid_argument("entries of a conversation live in a run alone", help));
            }
            None => reply(call, &fields, store(call, entries, scope, &fields, &base).await?),
        };
        call.screen.tell(&mut stored.message);
        Ok(stored)
    }
}
