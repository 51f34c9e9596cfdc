//! `show`: reads an item, or a part of its file.

use super::types::ItemsCall;
use crate::entries::{self, EntryInfo, unavailable};
use crate::history::text_of_version;
use crate::journal::{FileState, Part, check_bytes, read_part};
use crate::names::{Handle, Stores, file_of, kind_rule};
use crate::notebook::{self, ItemKind};
use crate::origin::Origin;
use crate::request::{Run, request};
use crate::trust::{Marks, TrustState};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{Note, TagSyntax};
use saddlebag_protocol::{Error, ErrorCode};

/// Reads an item, or a part of its file, as it is now or in an earlier version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Show {
    /// Name of the item: a path (absolute, relative to the root, or relative to the notebook), a title, an alias or a file name of
    /// a note, the key of an entry, or `long_term`, `scratchpad`, `daily`, `daily:DATE`, `note:NAME`. The run's own entry of a key
    /// comes first.
    pub name: String,
    /// Kind of the item; `None` for any kind.
    pub kind: Option<ItemKind>,
    /// Number of an earlier version, as [`ListVersions`](crate::history::ListVersions) counts: 1 is the newest. `None` is the item
    /// as it is now, or the version that the name says: `NAME@2`, if no item has that name.
    pub version: Option<u32>,
    /// Position of the first byte.
    pub offset: u64,
    /// Maximum number of bytes.
    pub max_bytes: u32,
}

impl Show {
    /// Reads an item of any kind from its beginning on, at most [`DEFAULT_READ_BYTES`](crate::journal::DEFAULT_READ_BYTES).
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: None, version: None, offset: 0, max_bytes: crate::journal::DEFAULT_READ_BYTES }
    }

    /// Finds the item of a name, and reads none of its text.
    pub fn item(name: impl Into<String>, kind: Option<ItemKind>) -> Self {
        Self { kind, max_bytes: 0, ..Self::new(name) }
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
    /// Number of the version; `None` for the item as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
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
    /// Whether the text is unapproved, superseded or for other projects.
    #[serde(flatten)]
    pub marks: Marks,
    /// The entry as a whole; `None` for every other kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryInfo>,
}

impl Shown {
    fn new(kind: ItemKind, name: String, path: String, part: Part, marks: Marks) -> Self {
        let Part { state, text, offset, size, next_offset } = part;
        Self { kind, name, path, version: None, state, text, offset, size, next_offset, marks, entry: None }
    }

    fn of_entry(entry: EntryInfo, part: Part) -> Self {
        let (name, path, marks) = (entry.key.clone(), entry.path.clone(), entry.marks.clone());
        Self { entry: Some(entry), ..Self::new(ItemKind::Entry, name, path, part, marks) }
    }
}

request!(Show "show" => Shown, Reads, |name| {
    let names = ["long_term", "scratchpad", "daily:2026-05-24", &format!("note:{name}"), "agents/a/entries/core/a.md"];
    let item = |(name, kind)| Self { kind, ..Self::new(name) };
    let now = names.map(|name| (name, None)).into_iter().chain([(name, Some(ItemKind::Entry))]).map(item);
    now.chain([Self { version: Some(1), ..Self::new(format!("notes/{name}.md")) }]).collect()
});

impl Run<ItemsCall<'_>> for Show {
    async fn run(self, with: &ItemsCall<'_>) -> Result<Shown, Error> {
        let ItemsCall { stores, origin, .. } = *with;
        check_bytes(stores.call, self.max_bytes)?;
        if let Some(number) = self.version {
            return show_version(stores, origin, &self, number).await;
        }
        let now = show_now(stores, origin, &self).await;
        let is_lost = match &now {
            Ok(shown) => shown.state == FileState::Missing,
            Err(error) => {
                matches!(error.code, ErrorCode::NotFound | ErrorCode::EntryNotFound | ErrorCode::InvalidDate)
            }
        };
        match name_and_version(&self.name).filter(|_| is_lost && self.max_bytes > 0) {
            Some((name, number)) => show_version(stores, origin, &Show { name, ..self }, number).await,
            None => now,
        }
    }
}

/// Returns the name and the number of a version, for a name such as `Load balancer@2`.
fn name_and_version(name: &str) -> Option<(String, u32)> {
    let (name, number) = name.rsplit_once('@')?;
    Some((name.to_string(), number.parse().ok()?)).filter(|(name, _)| !name.is_empty())
}

async fn show_now(with: Stores<'_>, origin: &Origin, asked: &Show) -> Result<Shown, Error> {
    let Stores { call, notebook, entries } = with;
    let Show { name, kind, offset, max_bytes, .. } = asked;
    match file_of(with, origin, name, *kind).await? {
        Some(Handle { kind, file }) => {
            let part = read_part(call, &file.path, *offset, *max_bytes).await?;
            let newer = notebook::marks_of(call, notebook, &file.path).await;
            let marks = Marks { unapproved: file.unapproved, ..newer };
            Ok(Shown::new(kind, file.name, call.scope.display_path(&file.path), part, marks))
        }
        None => {
            let entry = match kind.is_none() && !entries::is_held(entries, origin, name) {
                true => entries::get_found(call, entries, origin, name).await?,
                false => entries::get(call, entries, origin, name).await?,
            };
            let part = match call.scope.whole(&entry.path) {
                Some(path) => read_part(call, &path, *offset, *max_bytes).await.map_err(unavailable)?,
                None => Part::whole(&entry.content),
            };
            Ok(Shown::of_entry(entry, part))
        }
    }
}

/// Reads an earlier version. What supersedes the item is said as of now, and whether its text waits for approval of this version.
async fn show_version(with: Stores<'_>, origin: &Origin, asked: &Show, number: u32) -> Result<Shown, Error> {
    let Stores { call, notebook, entries } = with;
    let (path, text) = text_of_version(&with, &asked.name, asked.kind, number).await?;
    let part = Part::of_text(&path, text.as_deref(), asked.offset, asked.max_bytes)?;
    let text = text.unwrap_or_default();
    let shown = call.scope.display_path(&path);
    let now = match entries.has(&path) {
        true => entries::get(call, entries, origin, &shown).await.ok(),
        false => None,
    };
    let earlier = match entries::earlier(call, entries, &path, &text, now) {
        Some(entry) => Shown::of_entry(entry, part),
        None => {
            let kind = kind_rule(with, &[&path]).await?(&path);
            let note = Note::parse_file(&text, TagSyntax::default(), path.file_stem());
            let name = if kind.is_note() { note.title } else { path.file_stem().to_string() };
            let unapproved = TrustState::from_parsed(&note.frontmatter, &text).unapproved();
            let newer = notebook::marks_of(call, notebook, &path).await;
            let marks = Marks { unapproved: unapproved.filter(|_| kind.is_note()), ..newer };
            Shown::new(kind, name, shown, part, marks)
        }
    };
    Ok(Shown { version: Some(number), ..earlier })
}
