//! `edit-entry`: replaces text that occurs exactly once in an entry.

use super::checks::NewEntry;
use super::get::get;
use super::settle::MAX_RACES;
use super::state::EntriesCall;
use super::store::StoreEntry;
use super::types::{StoreReply, StoreState};
use crate::request::{Run, request};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::replace_once;
use saddlebag_protocol::{Error, ErrorCode};

/// Replaces text that occurs exactly once in the content of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditEntry {
    /// Key of the entry, or path of its file.
    pub key: String,
    /// Text to replace. It must occur exactly once.
    pub old_text: String,
    /// Text in its place.
    pub new_text: String,
}

// Like every store, it may evict the oldest entry.
request!(EditEntry "edit-entry" => StoreReply, Removes, |name| {
    vec![Self { key: name.into(), old_text: format!("the text of {name}"), new_text: "another text".into() }]
});

impl Run<EntriesCall<'_>> for EditEntry {
    async fn run(self, with: &EntriesCall<'_>) -> Result<StoreReply, Error> {
        for _ in 0..MAX_RACES {
            let stored = self.edit(with).await?;
            // The text is read again if someone changed the entry in between.
            if stored.state != StoreState::Conflict {
                return Ok(stored);
            }
        }
        let message = format!("`{}`: changed by others {MAX_RACES} times in a row", self.key.escape_debug());
        Err(Error::new(ErrorCode::Contention, message, "try again when fewer writers are at work"))
    }
}

impl EditEntry {
    async fn edit(&self, with: &EntriesCall<'_>) -> Result<StoreReply, Error> {
        let entry = get(with, &self.key).await?;
        if let Some(from) = entry.unapproved {
            // The new text would be trusted as a whole, with the rest of the text that nobody has reviewed.
            let message = format!("entry `{}` is unapproved: {from}", entry.key.escape_debug());
            let help =
                "approve it with `memory approve` before you edit it, or replace its whole text with `remember --key`";
            return Err(Error::new(ErrorCode::NeedsConfirmation, message, help));
        }
        with.call.check_added(&entry.key, &self.new_text, &self.old_text).await?;
        let content = replace_once(&entry.content, &self.old_text, &self.new_text).map_err(not_once)?;
        let new = NewEntry {
            key: entry.key,
            content,
            category: entry.category,
            tags: entry.tags,
            source: entry.source,
            supersedes: entry.supersedes,
        };
        StoreEntry { entry: new, expected_version: Some(entry.version) }.run(with).await
    }
}

/// Returns the error for text that occurs this many times.
fn not_once(count: usize) -> Error {
    let help = match count {
        0 => "read the entry again and copy the text exactly, with its white space",
        _ => "add text from before or after it until it occurs once",
    };
    let message = format!("the old text occurs {count} times in the entry; it must occur exactly once");
    Error::new(ErrorCode::NoUniqueMatch, message, help)
}
