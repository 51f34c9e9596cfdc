//! [`NoteInfo`]: a note as listings give it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::config::{LinkFormat, NotebookConfig};
use super::links::{LinkTarget, format_link};
use super::snapshot::Snapshot;
use super::template::json_string;
use crate::document::Value;
use crate::order;
use crate::part::TextPart;
use crate::protocol::Error;
use crate::trust::{Provenance, TrustState};

/// A note.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoteInfo {
    /// The file.
    pub path: String,
    /// Its title.
    pub title: String,
    /// Its body up to the first blank line.
    pub lead: String,
    /// Its text without frontmatter and title; empty unless asked for.
    #[serde(skip)]
    pub body: String,
    /// The whole file; empty unless asked for.
    #[serde(skip)]
    pub text: String,
    /// The parts that fit the filter: a part of the text, or the blocks that have the links.
    pub snippets: Vec<String>,
    /// The number of words of the file.
    pub word_count: u32,
    /// The tags of its frontmatter and text.
    pub tags: Vec<String>,
    /// Other names.
    pub aliases: Vec<String>,
    /// The frontmatter as JSON, as far as it could be read.
    #[serde(skip)]
    pub metadata: String,
    /// A link to it, as the configuration writes links.
    pub link: String,
    /// In nanoseconds since 1970-01-01T00:00:00Z.
    #[serde(serialize_with = "crate::json::time")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub created: u64,
    /// In nanoseconds since 1970-01-01T00:00:00Z; 0 where unknown.
    #[serde(serialize_with = "crate::json::time")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub modified: u64,
    /// Where its text comes from, if that keeps it out of prompts until a person approves it.
    pub unapproved: Option<Provenance>,
}

/// The note at a place, as listings give it.
pub(super) fn info(
    snapshot: &Snapshot<'_>,
    config: &NotebookConfig,
    place: usize,
    with_text: bool,
) -> Result<NoteInfo, Error> {
    let view = snapshot.view(place)?;
    let note = view.note;
    let part = |range: &core::ops::Range<usize>| view.text.part(range.clone()).to_string();
    let lead = part(&note.lead);
    Ok(NoteInfo {
        path: snapshot.display_path(place)?,
        title: note.title.clone(),
        snippets: if lead.is_empty() { Vec::new() } else { alloc::vec![lead.clone()] },
        lead,
        body: if with_text { part(&note.body) } else { String::new() },
        text: if with_text { view.text.to_string() } else { String::new() },
        word_count: note.word_count,
        tags: note.tags.clone(),
        aliases: note.aliases.clone(),
        metadata: json_object(&note.frontmatter.entries),
        link: link_to(config, view.path, &note.title),
        created: view.created,
        modified: view.modified,
        unapproved: TrustState::of(&note.frontmatter).unapproved(),
    })
}

/// A link to a note as zk lists it: a wiki-link shows its target.
fn link_to(config: &NotebookConfig, path: &str, title: &str) -> String {
    let title = if config.link_format == LinkFormat::Wiki { "" } else { title };
    format_link(config, "", LinkTarget { path, title })
}

/// Frontmatter as a JSON object, its keys sorted.
fn json_object(entries: &[(String, Value)]) -> String {
    let mut sorted: Vec<&(String, Value)> = entries.iter().collect();
    order::sort_slice(&mut sorted, |a, b| a.0.cmp(&b.0));
    let fields: Vec<String> =
        sorted.into_iter().map(|(key, value)| format!("{}:{}", json_string(key), json(value))).collect();
    format!("{{{}}}", fields.join(","))
}

/// A value of the frontmatter as JSON.
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
