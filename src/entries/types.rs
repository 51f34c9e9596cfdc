//! Types that several commands of the entries share.

use crate::json::word_and_value;
use crate::trust::{Approved, ForModel, Marks, Provenance, TrustState};
use saddlebag_collections::prelude::*;

/// Result of storing an entry.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "StateView")]
#[non_exhaustive]
pub enum StoreState {
    /// Created: the key is new, or was forgotten with different text.
    Stored,
    /// Updated: the text or the tags of the key were replaced.
    Updated,
    /// Moved from the category in the value. Text and tags may have been replaced too.
    Moved(String),
    /// Unchanged: the entry already has this text. Nothing was written.
    Unchanged,
    /// Forgotten: this is the text that was forgotten, or an earlier one. Nothing was written.
    Forgotten,
    /// Conflict: the entry no longer has the expected version. Nothing was written.
    Conflict,
    /// Held by the run. The next checkpoint stores it, unless its category is `conversation`.
    Held,
}

word_and_value! {
    StoreState as StateView;
    /// Result of storing the entry.
    state {
        Stored = "stored",
        Updated = "updated",
        Moved(from) = "moved",
        Unchanged = "unchanged",
        Forgotten = "forgotten",
        Conflict = "conflict",
        Held = "held",
    }
    /// Previous category, if the state is `moved`.
    moved_from: String
}

/// Reply to storing an entry.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoreReply {
    /// Key of the entry.
    pub key: String,
    /// Category of the entry after the command.
    pub category: String,
    /// Result of the command.
    #[serde(flatten)]
    pub state: StoreState,
    /// Version of its file after the command; empty if a run holds the entry.
    pub version: String,
    /// Path of its file; empty if a run holds the entry.
    pub path: String,
    /// Keys of daily entries that were removed because they expired.
    pub swept: Vec<String>,
    /// Keys of entries that were removed because the limit of entries was reached.
    pub evicted: Vec<String>,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

/// An entry, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntryInfo {
    /// Key of the entry.
    pub key: String,
    /// Category of the entry.
    pub category: String,
    /// Content, byte for byte.
    pub content: String,
    /// Tags, in order.
    pub tags: Vec<String>,
    /// Time of creation, in nanoseconds since 1970-01-01T00:00:00Z.
    #[serde(serialize_with = "crate::json::moment")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub created: u64,
    /// Time of the last change of content, category or tags, in nanoseconds since 1970-01-01T00:00:00Z.
    #[serde(serialize_with = "crate::json::moment")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub updated: u64,
    /// Origin for people.
    pub source: Option<String>,
    /// Key of the entry that this one replaces.
    pub supersedes: Option<String>,
    /// Version of its file; empty if only a run holds it.
    pub version: String,
    /// Path of its file; empty if only a run holds it.
    pub path: String,
    /// Size that budgets count, in bytes: key, content and category.
    pub size: u64,
    /// Origin of its text.
    pub provenance: Provenance,
    /// Time when a person approved it, in nanoseconds since 1970-01-01T00:00:00Z.
    #[serde(serialize_with = "crate::json::moment_if_any")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub approved: Option<u64>,
    /// Whether the text is unapproved, superseded or for other projects.
    #[serde(flatten)]
    pub marks: Marks,
}

impl EntryInfo {
    /// Returns its text for a prompt.
    ///
    /// # Errors
    ///
    /// The origin that keeps it out of prompts.
    pub(crate) fn text_for_prompt(&self) -> Result<Approved, Provenance> {
        Approved::with_state(TrustState { provenance: self.provenance, approved: self.approved }, self.content.clone())
    }

    /// Makes its text safe for a model to read.
    pub(super) fn make_harmless(&mut self) {
        let texts = [&mut self.key, &mut self.category, &mut self.content, &mut self.path];
        let texts = texts
            .into_iter()
            .chain(&mut self.tags)
            .chain(&mut self.source)
            .chain(&mut self.supersedes)
            .chain(&mut self.marks.superseded_by)
            .chain(&mut self.marks.only_in);
        texts.for_each(|text| *text = ForModel::escaped(text).into_string());
    }
}

/// A file that could not be parsed as an entry.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntryProblem {
    /// Path of the file.
    pub path: String,
    /// Key that the file claims, if it is known.
    pub key: Option<String>,
    /// Description of the problem.
    pub message: String,
}

/// An entry that was not stored.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkippedEntry {
    /// Key of the entry.
    pub key: String,
    /// Reason in words.
    pub reason: String,
}
