//! [`Recall`], its reply, and the hits that all recalls share.

use super::super::item_kind::ItemKind;
use super::super::note_filter::NoteFilter;
use super::super::types::{SortKey, Warning};
use crate::request::{SAMPLE_TEXT, request};
use crate::search::Skipped;
use crate::trust::{ForModel, Marks};
use saddlebag_collections::prelude::*;

/// Maximum size of a query in bytes.
pub use crate::search::MAX_QUESTION_BYTES as MAX_RECALL_BYTES;

/// Default number of hits.
pub const DEFAULT_HITS: u32 = 10;

/// Number of the source with the notes.
pub(super) const NOTES: usize = 0;

/// Maximum size of the passage of a hit in bytes.
pub(crate) const PASSAGE_BYTES: usize = 800;

/// Minimum size of a part of a passage that is worth showing, in bytes.
pub(super) const LEAST_BYTES: usize = 32;

/// Finds notes and entries by a question or a query, best first. All are ranked together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recall {
    /// A sentence, or a query: `"a phrase"`, `prefix*`, `-not`, `this | that`, `title:word`.
    pub query: String,
    /// Kinds of items to search; empty for all. Without an agent there are no entries.
    pub kinds: Vec<ItemKind>,
    /// Maximum number of hits.
    pub limit: u32,
    /// Number of hits to skip.
    pub offset: u32,
    /// If given, the hits are passages, best first, and several may be of one item: as many as `rendered` has room for in this
    /// number of bytes, with a line ending. `limit` is not used then; `offset`, `sort` and `explain` are refused.
    pub max_bytes: Option<u32>,
    /// Filter for the notes to search. With a filter, entries are not searched.
    pub filter: NoteFilter,
    /// Sort keys that replace the score, the most important first.
    pub sort: Vec<SortKey>,
    /// If set, returns the parts of each score.
    pub explain: bool,
    /// If set, also searches the notes of all other projects of the store.
    pub everywhere: bool,
    /// If set, the host guarantees that nothing changed since the last command.
    pub assume_unchanged: bool,
}

/// Reply of [`Recall`].
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecallReply {
    /// Hits, best first.
    pub hits: Vec<RecallHit>,
    /// Number of items that match; `hits` is a page of them.
    pub total: u32,
    /// True if no item has enough of what the question says to answer it.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub is_doubtful: bool,
    /// Hits as text for a person or a model, made harmless.
    pub rendered: ForModel,
    /// Problems that do not stop a recall: an invalid configuration, frontmatter that is not YAML, an invalid entry.
    pub warnings: Vec<Warning>,
    /// Files that could not be searched.
    pub skipped: Vec<Skipped>,
}

/// A note or an entry that matches a query, with the reasons.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecallHit {
    /// Kind of the item.
    pub kind: ItemKind,
    /// Path of the file.
    pub path: String,
    /// Title of the note, or key of the entry.
    pub title: String,
    /// Category of the entry.
    pub category: Option<String>,
    /// Date that the item states, in nanoseconds since 1970-01-01T00:00:00Z: the `date` of a note's frontmatter, the day of a log,
    /// the last change of an entry; 0 if it states none.
    #[serde(serialize_with = "crate::json::time")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub date: u64,
    /// Day of `date`, as the item has it, whatever the time zone is.
    pub day: Option<String>,
    /// Score, which is meaningful only in comparison.
    pub score: f64,
    /// Words of the query that the item has.
    pub terms: Vec<String>,
    /// Fields with these words: `title`, `aliases`, `headings`, `tags`, `path`, `body`.
    pub fields: Vec<String>,
    /// First and last line of the passage, counted from 1; empty if the text is not available.
    pub lines: Vec<u32>,
    /// Passage that matches best.
    pub passage: String,
    /// Parts of the score, if requested.
    pub parts: Vec<ScorePart>,
    /// Whether the text is unapproved, superseded or for other projects.
    #[serde(flatten)]
    pub marks: Marks,
}

/// A part of a score.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScorePart {
    /// Word of the query, or another reason: `phrase`, `proximity`, `coverage`, `inherited`, `superseded`.
    pub reason: String,
    /// Field that has the word; empty if the reason has no field.
    pub field: String,
    /// Amount that is added; a factor for `superseded`.
    pub amount: f64,
}

request!(Recall "recall" => RecallReply, Reads, |name| {
    let recall = |query: &str| Self {
        query: query.into(),
        limit: 3,
        explain: true,
        assume_unchanged: true,
        ..Self::default()
    };
    vec![recall(SAMPLE_TEXT), recall(name)]
});
