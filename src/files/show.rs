//! `show`: reads an item, or a part of its file.

use super::resolve::{Handle, file_of};
use super::types::{FilesCall, Names};
use crate::entries::{self, EntryInfo, unavailable};
use crate::journal::{FileState, Part, check_bytes, read_part};
use crate::notebook::{self, ItemKind, Successor, superseded_mark};
use crate::origin::Origin;
use crate::request::{Run, request};
use crate::trust::Provenance;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Reads an item, or a part of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Show {
    /// Name of the item, as [`Resolve`](super::Resolve) takes it. The run's own entry of a key comes first.
    pub name: String,
    /// Kind of the item; `None` for any kind.
    pub kind: Option<ItemKind>,
    /// Position of the first byte.
    pub offset: u64,
    /// Maximum number of bytes.
    pub max_bytes: u32,
}

impl Show {
    /// Reads an item of any kind from its beginning on, at most [`DEFAULT_READ_BYTES`](crate::journal::DEFAULT_READ_BYTES).
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: None, offset: 0, max_bytes: crate::journal::DEFAULT_READ_BYTES }
    }
}

/// An item, with a part of its file and the marks that say whether its text holds.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shown {
    /// Kind of the item.
    pub kind: ItemKind,
    /// Title of a note, key of an entry, name of another file.
    pub name: String,
    /// Path of the file; empty if only a run holds the entry.
    pub path: String,
    /// State of the file.
    pub state: FileState,
    /// Text of the part. Of an entry that only a run holds, its whole content.
    pub text: String,
    /// Position of the text in the file, in bytes.
    pub offset: u64,
    /// Size of the whole file in bytes.
    pub size: u64,
    /// Position of the next part; `None` at the end.
    pub next_offset: Option<u64>,
    /// Path of the newer note, or key of the newer entry, that supersedes this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// Day of the newer note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_since: Option<String>,
    /// Origin of its text, if it is kept out of prompts until a person approves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unapproved: Option<Provenance>,
    /// The entry as a whole; `None` for every other kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryInfo>,
}

impl Shown {
    /// Returns what a reader must know before relying on the text, such as `superseded by facts/port.md since 2026-05-24`.
    pub fn mark(&self) -> Option<String> {
        let newer = superseded_mark(self.superseded_by.as_deref(), self.superseded_since.as_deref());
        let unapproved = self.unapproved.map(|from| format!("unapproved: {from}"));
        newer.into_iter().chain(unapproved).reduce(|newer, unapproved| format!("{newer}; {unapproved}"))
    }
}

request!(Show "show" => Shown, Reads, |name| {
    let names = ["long_term", "scratchpad", "daily:2026-05-24", &format!("note:{name}"), "agents/a/entries/core/a.md"];
    let item = |(name, kind)| Self { kind, ..Self::new(name) };
    names.map(|name| (name, None)).into_iter().chain([(name, Some(ItemKind::Entry))]).map(item).collect()
});

impl Run<FilesCall<'_>> for Show {
    async fn run(self, with: &FilesCall<'_>) -> Result<Shown, Error> {
        show(with.names(), with.origin, self).await
    }
}

/// Reads an item, or a part of its file.
pub(crate) async fn show(with: Names<'_>, origin: &Origin, asked: Show) -> Result<Shown, Error> {
    let Names { call, notebook, entries } = with;
    let Show { name, kind, offset, max_bytes } = asked;
    check_bytes(call, max_bytes)?;
    let (kind, name, path, part, newer, unapproved, entry) = match file_of(with, origin, &name, kind).await? {
        Some(Handle { kind, file }) => {
            let part = read_part(call, &file.path, offset, max_bytes).await?;
            let newer = notebook::successor(call, notebook, &file.path).await;
            (kind, file.name, call.scope.display_path(&file.path), part, newer, file.unapproved, None)
        }
        None => {
            let entry = entries::get(call, entries, origin, &name).await.map_err(unavailable)?;
            let part = match call.scope.whole(&entry.path) {
                Some(path) => read_part(call, &path, offset, max_bytes).await.map_err(unavailable)?,
                None => Part::whole(&entry.content),
            };
            let newer = Successor { path: entry.superseded_by.clone(), since: None };
            (ItemKind::Entry, entry.key.clone(), entry.path.clone(), part, newer, entry.unapproved, Some(entry))
        }
    };
    let Part { state, text, offset, size, next_offset } = part;
    Ok(Shown {
        kind,
        name,
        path,
        state,
        text,
        offset,
        size,
        next_offset,
        superseded_by: newer.path,
        superseded_since: newer.since,
        unapproved,
        entry,
    })
}
