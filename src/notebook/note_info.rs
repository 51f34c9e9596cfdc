//! [`NoteInfo`]: a note in a listing.

use super::config::{LinkFormat, NotebookConfig};
use super::files::below_notebook;
use super::item_kind::ItemKind;
use super::links::{LinkTarget, format_link};
use super::successor::newer_note;
use crate::changes::Call;
use crate::search::{Corpus, IndexedFile};
use crate::trust::{Provenance, Writer};
use saddlebag_collections::{order, part::TextPart, prelude::*};
use saddlebag_markdown::{Note, Value, json_string};

/// A note.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoteInfo {
    /// Path of the file.
    pub path: String,
    /// Title of the note.
    pub title: String,
    /// Beginning of its body, up to the first blank line; empty unless requested.
    pub lead: String,
    /// Text without frontmatter and title; empty unless requested.
    #[serde(skip)]
    pub body: String,
    /// Whole file; empty unless requested.
    #[serde(skip)]
    pub text: String,
    /// Parts that match the filter: the lead, or the blocks with the links; empty unless requested.
    pub snippets: Vec<String>,
    /// Number of words of the file.
    pub word_count: u32,
    /// Tags of its frontmatter and text.
    pub tags: Vec<String>,
    /// Other names of the note.
    pub aliases: Vec<String>,
    /// Frontmatter as JSON, as far as it is valid.
    #[serde(skip)]
    pub metadata: String,
    /// Link to the note, in the format of the configuration.
    pub link: String,
    /// Time of creation, in nanoseconds since 1970-01-01T00:00:00Z.
    #[serde(serialize_with = "crate::json::time")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub created: u64,
    /// Day of creation, as the frontmatter has it, whatever the time zone is.
    #[serde(skip)]
    pub day: String,
    /// Time of the last change, in nanoseconds since 1970-01-01T00:00:00Z; 0 if unknown.
    #[serde(serialize_with = "crate::json::time")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub modified: u64,
    /// Origin of its text, if the text is kept out of prompts until a person approves it.
    pub unapproved: Option<Provenance>,
    /// Kind of the file: a note, a daily log, or the note of a session; `file` for long-term memory and the scratchpad, if
    /// the configuration does not exclude them.
    pub kind: ItemKind,
    /// Agent or client that wrote the note last, as its file says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writer: Option<String>,
    /// Path of the newer note that supersedes this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// Day of the newer note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_since: Option<String>,
}

/// Returns a note as listings show it.
pub(super) fn info(
    call: &Call,
    corpus: &Corpus,
    config: &NotebookConfig,
    document: &IndexedFile,
    note: &Note,
    with_text: bool,
) -> NoteInfo {
    let text = Some(document.text()).filter(|_| with_text);
    let part =
        |range: &core::ops::Range<usize>| text.map(|text| text.part(range.clone()).to_string()).unwrap_or_default();
    let lead = part(&note.lead);
    let stated = note.stated();
    let newer = newer_note(call, corpus, document.path.as_str()).unwrap_or_default();
    NoteInfo {
        path: call.scope.display_path(&document.path),
        title: note.title.clone(),
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
        unapproved: document.unapproved,
        kind: ItemKind::of_note(&call.scope.layout, &document.path),
        writer: Writer::name_in(&note.frontmatter),
        superseded_by: newer.path,
        superseded_since: newer.since,
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
