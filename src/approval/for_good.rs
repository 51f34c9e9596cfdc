//! [`reject_for_good`]: refuses the values of notes and entries for good, and forgets the items.

use super::decide::{Decided, check_items, forget_item, stale};
use super::types::{ApproveItem, SkippedItem};
use crate::entries;
use crate::history;
use crate::names::Stores;
use crate::notebook::check_not_kept;
use crate::store::{Layout, RelPath};
use crate::trust::{Value, note_value, version_of};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// A note or an entry that a name means, forgotten or not.
pub(super) struct Meant {
    pub(super) path: RelPath,
    pub(super) is_entry: bool,
    pub(super) is_forgotten: bool,
    /// `None` if its text has no words.
    pub(super) value: Option<Value>,
    /// Version of its file, or of the backup of a forgotten note.
    version: String,
}

/// Rejects the values of the items for good.
pub(super) async fn reject_for_good(
    with: &Stores<'_>,
    items: Vec<ApproveItem>,
    dry_run: bool,
) -> Result<Decided, Error> {
    with.call.scope.trust.check_person("reject text")?;
    check_items("reject", &items)?;
    let mut decided = Decided::default();
    for given in items {
        match reject(with, &given, dry_run).await {
            Ok(()) => decided.items.push(given),
            Err(error) if matches!(error.code, ErrorCode::Storage | ErrorCode::MemoryUnavailable) => return Err(error),
            Err(error) => decided.skipped.push(SkippedItem { name: given.name, reason: error.into_message() }),
        }
    }
    let done = if dry_run { "Would reject" } else { "Rejected" };
    decided.message = format!("{done} {} for good, skipped {}", decided.items.len(), decided.skipped.len());
    let damaged = with.call.rejected_values().await?.damaged_lines;
    if damaged > 0 {
        decided.message.push_str(&format!("; {damaged} damaged lines of the log of rejected values have no effect"));
    }
    Ok(decided)
}

/// Rejects the value of one item. The value is refused before the item is forgotten, so that nothing stores it in between.
async fn reject(with: &Stores<'_>, given: &ApproveItem, dry_run: bool) -> Result<(), Error> {
    let call = with.call;
    let item = meant(with, &given.name).await?;
    if !given.version.is_empty() && given.version != item.version {
        return Err(stale(&given.version));
    }
    check_not_kept(call, &item.path)?;
    let shown = call.scope.display_path(&item.path);
    let value = item.value.ok_or_else(|| {
        let message = format!("{shown} has no text that could be rejected");
        Error::invalid_argument(message, "forget it, or remove it")
    })?;
    if dry_run {
        return Ok(());
    }
    call.reject_value(value, &item.path).await?;
    if item.is_forgotten {
        return Ok(());
    }
    forget_item(with, &item.path, item.is_entry, item.version).await.map_err(|error| {
        let code = error.code;
        let reason = error.into_message();
        Error::new(code, format!("its value is refused from now on, but it was not forgotten: {reason}"), "forget it")
    })
}

/// Finds the note or the entry of a name, forgotten or not.
pub(super) async fn meant(with: &Stores<'_>, name: &str) -> Result<Meant, Error> {
    let Stores { call, entries, .. } = *with;
    let (path, is_entry) = history::meant(*with, name, None).await?;
    if is_entry {
        if let Some(stored) = entries::stored(call, entries, &call.scope.display_path(&path)).await? {
            let value = Value::from_text(&stored.content);
            let (path, version) = (stored.path, stored.version);
            return Ok(Meant { path, is_entry, is_forgotten: stored.is_forgotten, value, version });
        }
    } else if let Some(text) = call.load_text(&path).await? {
        return Ok(of_note(&path, &text, false));
    } else if let Some(kept) = call.find_kept(&path, &Layout::backup_of(&path)).await?
        && let Some(text) = kept.file.text()?
    {
        return Ok(of_note(&path, text, true));
    }
    let message = format!("there is no note or entry `{}`, and none was forgotten", name.escape_debug());
    Err(Error::new(ErrorCode::NotFound, message, "`list --forgotten` lists them"))
}

fn of_note(path: &RelPath, text: &str, is_forgotten: bool) -> Meant {
    let (value, version): (_, String) = (note_value(text), version_of(text));
    Meant { path: path.clone(), is_entry: false, is_forgotten, value, version }
}
