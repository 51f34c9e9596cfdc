//! `forget`: removes an item, and keeps its text.

use super::types::ItemsCall;
use crate::entries;
use crate::journal::Target;
use crate::names::{Handle, Stores, file_to_change};
use crate::notebook::{self, ItemKind};
use crate::request::{Run, request};
use crate::trust::ForModel;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Removes a note or another file, or marks an entry as forgotten. The text is kept, and [`Restore`](super::Restore) brings it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forget {
    /// Name of the item, as [`Show`](super::Show) takes it. The run's own entry of a key comes first.
    pub name: String,
    /// Kind of the item; `None` for any kind.
    pub kind: Option<ItemKind>,
    /// If given, forgets the item only if it still has this version.
    pub expected_version: Option<String>,
}

impl Forget {
    /// Forgets an item of any kind, whatever its version is.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: None, expected_version: None }
    }
}

/// An item that was forgotten.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Forgotten {
    /// Kind of the item.
    pub kind: ItemKind,
    /// Title of a note, key of an entry, name of another file.
    pub name: String,
    /// Path of the file; empty if only a run held the entry.
    pub path: String,
    /// Version of the file of an entry now. With this as the expected version, the same text can be stored again. `None` for every
    /// other kind, and if only a run held the entry.
    pub version: Option<String>,
    /// True if the entry had been forgotten before.
    pub already_forgotten: bool,
    /// Path of the backup; `None` if the history keeps the text, if the file was empty, and for an entry.
    pub backup: Option<String>,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

request!(Forget "forget" => Forgotten, Removes, |name| {
    vec![Self::new(format!("notes/{name}.md")), Self { kind: Some(ItemKind::Entry), ..Self::new(name) }]
});

impl Run<ItemsCall<'_>> for Forget {
    async fn run(self, with: &ItemsCall<'_>) -> Result<Forgotten, Error> {
        let ItemsCall { stores, origin, .. } = *with;
        let Stores { call, notebook, entries } = stores;
        let Self { name, kind, expected_version: version } = self;
        let Some(Handle { kind, file }) = file_to_change(stores, origin, &name, kind).await? else {
            let forgotten = entries::forget(call, entries, origin, &name, version).await?;
            let entries::ForgottenAs { key, path, version, already_forgotten, message } = forgotten;
            let (kind, backup) = (ItemKind::Entry, None);
            return Ok(Forgotten { kind, name: key, path, version, already_forgotten, backup, message });
        };
        call.scope.check_of_this_project(file.path.as_str())?;
        // Whoever says `daily` may not know that the day has lines of others.
        let is_day = matches!(Target::from_name(&name)?, Target::Daily(_));
        if call.scope.layout.is_kept(&file.path) || is_day {
            let message = format!("{} cannot be forgotten as a whole", call.scope.display_path(&file.path));
            let by_path = if is_day { "give its path, or " } else { "" };
            let help = format!("{by_path}edit it to remove text from it");
            return Err(Error::invalid_argument(message, help));
        }
        let (path, backup, message) = notebook::forget(call, notebook, file.path, version.as_deref()).await?;
        Ok(Forgotten { kind, name: file.name, path, version: None, already_forgotten: false, backup, message })
    }
}
