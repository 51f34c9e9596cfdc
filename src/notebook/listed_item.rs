//! [`ListedItem`]: an item in a list.

use super::config::{LinkFormat, NotebookConfig};
use super::files::below_notebook;
use super::item_kind::ItemKind;
use super::links::{LinkTarget, format_link};
use super::successor::newer_note;
use super::types::{SortFields, Warning};
use crate::changes::Call;
use crate::entries::EntryInfo;
use crate::search::{Corpus, IndexedFile, Skipped};
use crate::trust::{Marks, Writer};
use saddlebag_collections::{order, part::TextPart, prelude::*};
use saddlebag_markdown::{Note, Value, json_string};

/// Items in the order of a list, and the links between them.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ItemList {
    /// Requested page of items, in the requested order.
    pub items: Vec<ListedItem>,
    /// Links of the notes on the page to notes that match, if they were requested.
    pub links: Vec<GraphLink>,
    /// Number of items that match, on all pages.
    pub total: u32,
    /// Value of `after` for the next page; `None` on the last page.
    pub next: Option<String>,
    /// Problems that do not stop a list; only on the first page.
    pub warnings: Vec<Warning>,
    /// Files that could not be read; only on the first page.
    pub skipped: Vec<Skipped>,
}

/// An item in a list. What only notes have is empty for the others.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedItem {
    /// Kind of the item; `file` also for long-term memory and the scratchpad, if the notebook's configuration does not exclude them.
    pub kind: ItemKind,
    /// Title of a note, key of an entry, name of another file.
    pub name: String,
    /// Path of the file, or the path that a forgotten item had; empty if only a run holds the entry.
    pub path: String,
    /// Category of an entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Beginning of the body of a note, up to the first blank line; empty unless requested.
    pub lead: String,
    /// Text of a note without frontmatter and title; empty unless requested.
    #[serde(skip)]
    pub body: String,
    /// Whole file of a note; empty unless requested.
    #[serde(skip)]
    pub text: String,
    /// Parts of a note that match the filter: the lead, or the blocks with the links; empty unless requested.
    pub snippets: Vec<String>,
    /// Number of words of a note.
    pub word_count: u32,
    /// Tags of an entry, or of the frontmatter and the text of a note.
    pub tags: Vec<String>,
    /// Other names of a note.
    pub aliases: Vec<String>,
    /// Frontmatter of a note as JSON, as far as it is valid.
    #[serde(skip)]
    pub metadata: String,
    /// Link to a note, in the format of the configuration.
    pub link: String,
    /// Time of creation, in nanoseconds since 1970-01-01T00:00:00Z; 0 if unknown.
    #[serde(serialize_with = "crate::json::time")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub created: u64,
    /// Day of creation of a note, as the frontmatter has it, whatever the time zone is.
    #[serde(skip)]
    pub day: String,
    /// Time of the last change, or when it was forgotten, in nanoseconds since 1970-01-01T00:00:00Z; 0 if unknown.
    #[serde(serialize_with = "crate::json::time")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub modified: u64,
    /// Agent or client that wrote a note last, as its file says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writer: Option<String>,
    /// Whether the text is unapproved, superseded or for other projects.
    #[serde(flatten)]
    pub marks: Marks,
    /// The entry as a whole; `None` for every other kind, and for a forgotten entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryInfo>,
}

impl ListedItem {
    /// Returns an item of which nothing else is known.
    pub(crate) fn new(kind: ItemKind, name: String, path: String, modified: u64) -> Self {
        Self { kind, name, path, modified, ..Self::default() }
    }

    /// Returns what lists sort by.
    pub(crate) fn sort_fields(&self) -> SortFields<'_> {
        let Self { created, modified, path, name, word_count, .. } = self;
        // A note without a date has the time of its last change for that of its creation.
        let created = Some(*created).filter(|created| created != modified || self.kind == ItemKind::Entry);
        SortFields { created, modified: *modified, path, title: name, word_count: *word_count }
    }
}

impl From<EntryInfo> for ListedItem {
    fn from(entry: EntryInfo) -> Self {
        let mut item = Self::new(ItemKind::Entry, entry.key.clone(), entry.path.clone(), entry.updated);
        item.category = Some(entry.category.clone());
        (item.tags, item.created) = (entry.tags.clone(), entry.created);
        item.marks = entry.marks.clone();
        item.entry = Some(entry);
        item
    }
}

/// A link between two notes.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GraphLink {
    /// Path of the note with the link.
    pub source: String,
    /// Path of the note that it leads to.
    pub target: String,
    /// Text of the link.
    pub title: String,
    /// Target with its anchor; of a Markdown link relative to the root of the notebook.
    pub href: String,
    /// Kind: `wiki-link`, `markdown`, `embed`, or `property` for a link of the frontmatter.
    pub kind: String,
    /// Relations: `up`, `down`, or the words of the link's title.
    pub relations: Vec<String>,
    /// Block with the link; if it has more than 1,024 bytes, the part around the link. Empty unless requested.
    pub snippet: String,
    /// Start of the snippet in the file, in bytes.
    #[serde(skip)]
    pub snippet_start: u64,
    /// End of the snippet in the file, in bytes.
    #[serde(skip)]
    pub snippet_end: u64,
}

/// Returns a note as listings show it.
pub(super) fn info(
    call: &Call,
    corpus: &Corpus,
    config: &NotebookConfig,
    document: &IndexedFile,
    note: &Note,
    with_text: bool,
) -> ListedItem {
    let text = Some(document.text()).filter(|_| with_text);
    let part =
        |range: &core::ops::Range<usize>| text.map(|text| text.part(range.clone()).to_string()).unwrap_or_default();
    let lead = part(&note.lead);
    let stated = note.stated();
    let newer = newer_note(call, corpus, document.path.as_str()).unwrap_or_default();
    ListedItem {
        path: call.scope.display_path(&document.path),
        name: note.title.clone(),
        snippets: if lead.is_empty() { Vec::new() } else { vec![lead.clone()] },
        lead,
        body: part(&note.body),
        text: text.unwrap_or_default().to_string(),
        word_count: note.word_count,
        tags: note.tags.clone(),
        aliases: note.aliases.clone(),
        metadata: json_object(&note.frontmatter.entries),
        link: link_to(config, below_notebook(call, &document.path), &note.title),
        created: stated.map_or(document.modified, |date| call.now.moment_of(date)),
        day: call.now.day_of(stated.map_or(document.modified, |date| call.now.calendar_of(date))),
        modified: document.modified,
        kind: ItemKind::of_note(&call.scope.layout, &document.path),
        writer: Writer::name_in(&note.frontmatter),
        marks: Marks { unapproved: document.unapproved, ..newer },
        ..ListedItem::default()
    }
}

/// Returns a link to a note as zk lists it: a wiki link shows its target.
fn link_to(config: &NotebookConfig, path: &str, title: &str) -> String {
    let title = if config.link_format == LinkFormat::Wiki { "" } else { title };
    format_link(config, "", LinkTarget { path, title })
}

/// Renders frontmatter as a JSON object with sorted keys.
fn json_object(entries: &[(String, Value)]) -> String {
    let mut sorted: Vec<&(String, Value)> = entries.iter().collect();
    order::sort_slice(&mut sorted, |a, b| a.0.cmp(&b.0));
    let fields: Vec<String> =
        sorted.into_iter().map(|(key, value)| format!("{}:{}", json_string(key), json(value))).collect();
    format!("{{{}}}", fields.join(","))
}

/// Renders a value of the frontmatter as JSON.
pub(super) fn json(value: &Value) -> String {
    match value {
        Value::Null => "null".to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) if value.is_finite() => format!("{value:?}"),
        Value::Float(_) => "null".to_string(),
        Value::String(text) => json_string(text),
        Value::List(values) => format!("[{}]", values.iter().map(json).collect::<Vec<_>>().join(",")),
        Value::Map(entries) => json_object(entries),
    }
}
