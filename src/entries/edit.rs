//! Changes of the text and of the tags of an entry.

use super::checks::NewEntry;
use super::find::get;
use super::settle::MAX_RACES;
use super::state::EntriesCall;
use super::store::WriteEntry;
use super::types::{StoreReply, StoreState};
use crate::request::Run;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::replace_once;
use saddlebag_protocol::{Error, ErrorCode};

/// A change of an entry.
pub(crate) enum EntryChange<'a> {
    /// Replaces text that occurs exactly once in the content.
    Text { old: &'a str, new: &'a str },
    /// Adds tags that the entry does not have, and removes others.
    Tags { add: &'a [String], remove: &'a [String] },
}

/// Changes the entry that a key or the path of its file names. Like every store, it may evict the oldest entry.
pub(super) async fn edit(with: &EntriesCall<'_>, name: &str, change: &EntryChange<'_>) -> Result<StoreReply, Error> {
    for _ in 0..MAX_RACES {
        let entry = get(with, name).await?;
        let is_confined = matches!(change, EntryChange::Tags { .. }) && !entry.marks.only_in.is_empty();
        if let Some(from) = entry.marks.unapproved.or(is_confined.then_some(entry.provenance)) {
            // The new text would be trusted as a whole, with the rest of the text that nobody has reviewed.
            let message = format!("entry `{}` is unapproved: {from}", entry.key.escape_debug());
            let help =
                "approve it with `memory approve` before you edit it, or replace its whole text with `remember --key`";
            return Err(Error::new(ErrorCode::NeedsConfirmation, message, help));
        }
        let expected_version = Some(entry.version.clone());
        let mut entry = NewEntry::from(entry);
        match change {
            EntryChange::Text { old, new } => {
                with.call.check_added(&entry.key, new, old).await?;
                entry.content = replace_once(&entry.content, old, new).map_err(not_once)?;
            }
            EntryChange::Tags { add, remove } => {
                entry.tags.retain(|tag| !remove.contains(tag));
                let new: Vec<String> = add.iter().filter(|tag| !entry.tags.contains(tag)).cloned().collect();
                entry.tags.extend(new);
            }
        }
        let stored = WriteEntry { entry, expected_version }.run(with).await?;
        // The text is read again if someone changed the entry in between.
        if stored.state != StoreState::Conflict {
            return Ok(stored);
        }
    }
    let message = format!("`{}`: changed by others {MAX_RACES} times in a row", name.escape_debug());
    Err(Error::new(ErrorCode::Contention, message, "try again when fewer writers are at work"))
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
