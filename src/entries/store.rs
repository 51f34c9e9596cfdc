//! Storing an entry: the entries' part of `write`.

use super::category::Category;
use super::checks::NewEntry;
use super::document::Entry;
use super::put::{held, reply, store};
use super::rules::Base;
use super::state::EntriesCall;
use super::types::StoreReply;
use super::view::look_at;
use super::{runs, screen};
use crate::request::{Run, request};
use crate::trust::Provenance;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Stores an entry: creates it, or replaces the text of its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteEntry {
    /// Entry to store.
    pub entry: NewEntry,
    /// If given, stores the entry only if it still has this version.
    pub expected_version: Option<String>,
}

// A move to another category removes the old file, and the limit of entries may evict the oldest.
request!(WriteEntry "write" => StoreReply, Removes, |name| {
    let entry = |key: &str, category: &str| NewEntry::new(key, "another text", category);
    let store = |entry| Self { entry, expected_version: None };
    [entry("new", "core"), entry(name, "core"), entry(name, "notes"), entry(name, "workspace")].map(store).to_vec()
});

impl Run<EntriesCall<'_>> for WriteEntry {
    async fn run(self, with: &EntriesCall<'_>) -> Result<StoreReply, Error> {
        let EntriesCall { call, entries, scope, run, provenance } = *with;
        let mut fields = screen::screened(call, &self.entry, provenance)?;
        let base = Base::from_version(self.expected_version);
        let shared = scope.pool(&fields.category)?.shared;
        if let Some(old) = fields.supersedes.as_deref().filter(|old| *old != fields.key) {
            check_superseded(with, &fields.key, old).await?;
        }
        let mut stored = match run {
            Some(run) => {
                runs::hold(call, entries, scope, run, fields.clone(), base).await?;
                held(&fields)
            }
            None if fields.category == Category::Conversation => {
                let help = "name an open run, or choose another category";
                return Err(Error::invalid_argument("entries of a conversation can only be in a run", help));
            }
            None => {
                // The workspace has a separate entry under the key. A change sees only the one that it replaces.
                if scope.shared.is_some() && fields.trust_state.provenance == Provenance::Agent {
                    let view = look_at(call, entries, scope, &fields.key).await?;
                    screen::keep_trust_of_key(&view, shared, &mut fields);
                }
                reply(call, &fields, store(call, entries, scope, &fields, &base).await?)
            }
        };
        call.screen.tell(&mut stored.message);
        Ok(stored)
    }
}

/// Refuses an entry that supersedes a key that no entry has or had, unless its file says so already.
async fn check_superseded(with: &EntriesCall<'_>, key: &str, old: &str) -> Result<(), Error> {
    let view = look_at(with.call, with.entries, with.scope, old).await?;
    let says_so = |entry: &Entry| entry.fields.key == key && entry.fields.supersedes.as_deref() == Some(old);
    let is_there = |entry: &Entry| entry.fields.key == old || says_so(entry);
    let held = with.entries.held(with.run)?;
    if view.entries.iter().any(|stored| is_there(&stored.entry)) || held.iter().any(|held| is_there(&held.entry)) {
        return Ok(());
    }
    let message = format!("there is no entry `{}` to supersede", old.escape_debug());
    let help = "`list --kind entry` lists the keys; an entry supersedes entries alone";
    Err(Error::new(ErrorCode::EntryNotFound, message, help))
}
