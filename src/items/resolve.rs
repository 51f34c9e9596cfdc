//! `resolve`: finds the item that a name means.

use super::types::ItemsCall;
use crate::names::{Handle, handle};
use crate::notebook::ItemKind;
use crate::request::{Run, request};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Finds the item that a name means.
///
/// A name is a path (absolute, relative to the root, or relative to the notebook), a title, an alias or a
/// file name of a note, the key of an entry, or `long_term`, `scratchpad`, `daily`, `daily:DATE`, `note:NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolve {
    /// Name of the item.
    pub name: String,
    /// Kind of the item; `None` for any kind.
    pub kind: Option<ItemKind>,
}

/// A note, an entry or another file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Item {
    /// Kind of the item.
    pub kind: ItemKind,
    /// Path relative to the root, without the path prefix. A path or a word may mean a file that does not exist yet.
    pub path: String,
    /// Title of a note, key of an entry, name of another file.
    pub name: String,
}

request!(Resolve "resolve" => Item, Reads, |name| {
    let note = Self { name: format!("notes/{name}.md"), kind: Some(ItemKind::Note) };
    let entry = Self { name: name.into(), kind: Some(ItemKind::Entry) };
    vec![note, entry]
});

impl Run<ItemsCall<'_>> for Resolve {
    async fn run(self, with: &ItemsCall<'_>) -> Result<Item, Error> {
        let Handle { kind, file } = handle(with.stores, &self.name, self.kind).await?;
        Ok(Item { kind, path: file.path.into_string(), name: file.name })
    }
}
