//! `edit`: replaces text that occurs exactly once in an item.

use super::types::ItemsCall;
use crate::entries::{self, EntryChange, StoreReply};
use crate::journal::{EditChange, edit_file};
use crate::names::{Stores, file_to_change};
use crate::notebook::ItemKind;
use crate::request::{Run, SAMPLE_TEXT, request};
use crate::trust::ForModel;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Replaces text that occurs exactly once in an item. Of an entry, that is its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Name of the item, as [`Show`](super::Show) takes it. The run's own entry of a key comes first.
    pub name: String,
    /// Kind of the item; `None` for any kind.
    pub kind: Option<ItemKind>,
    /// Text to replace. It must occur exactly once.
    pub old_text: String,
    /// Text in its place; an empty text deletes the old one.
    pub new_text: String,
}

/// An item that was edited.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EditReply {
    /// Path of the file; empty if only a run holds the entry.
    pub path: String,
    /// Backup with the replaced text; `None` if there was none, or if the history keeps the text.
    pub backup: Option<String>,
    /// What became of the entry; `None` for every other kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<StoreReply>,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

request!(Edit "edit" => EditReply, Removes, |name| {
    let edit = |name: &str, old: &str| Self { name: name.into(), kind: None, old_text: old.into(), new_text: "b".into() };
    let note = format!("note:{name}");
    let entry = Self { kind: Some(ItemKind::Entry), ..edit(name, &format!("the text of {name}")) };
    let files = ["long_term", "scratchpad", "daily:2026-05-24", &note].map(|file| edit(file, SAMPLE_TEXT));
    files.into_iter().chain([entry]).collect()
});

impl Run<ItemsCall<'_>> for Edit {
    async fn run(self, with: &ItemsCall<'_>) -> Result<EditReply, Error> {
        let ItemsCall { stores, origin, .. } = *with;
        let (Stores { call, entries, .. }, Self { name, kind, old_text, new_text }) = (stores, self);
        let Some(found) = file_to_change(stores, origin, &name, kind).await? else {
            let change = EntryChange::Text { old: &old_text, new: &new_text };
            let stored = entries::edit(call, entries, origin, &name, &change).await?;
            let (path, message) = (stored.path.clone(), stored.message.clone());
            return Ok(EditReply { path, backup: None, entry: Some(stored), message });
        };
        let changed = edit_file(call, &found.file.path, None, EditChange::Replace { old_text, new_text }).await?;
        Ok(EditReply { path: changed.path, backup: changed.backup, entry: None, message: changed.message })
    }
}
