//! The words that several commands of the entries share.

use alloc::string::String;
use alloc::vec::Vec;

use crate::store::utc_text;
use crate::trust::{ForModel, Provenance, TrustState};

/// What storing came to.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "StateView")]
#[non_exhaustive]
pub enum StoreState {
    /// The key is new, or was forgotten and is back with something else to say.
    Stored,
    /// What the key said is replaced.
    Updated,
    /// The entry is of another category now; the text is the one that it had.
    Moved(String),
    /// It says this already; nothing was written.
    Unchanged,
    /// It was forgotten, and this is what was forgotten or what was known before: nothing was written.
    Forgotten,
    /// It no longer has the expected version; nothing was written.
    Conflict,
    /// It is kept by the run, until the next checkpoint if its category is one that is stored at all.
    Held,
}

/// The JSON of a [`StoreState`].
#[derive(serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct StateView {
    /// What came of it.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["stored", "updated", "moved", "unchanged", "forgotten", "conflict", "held"])))]
    state: &'static str,
    /// The category that it had, where it is `moved`.
    moved_from: Option<String>,
}

impl From<StoreState> for StateView {
    fn from(state: StoreState) -> Self {
        let (state, moved_from) = match state {
            StoreState::Stored => ("stored", None),
            StoreState::Updated => ("updated", None),
            StoreState::Unchanged => ("unchanged", None),
            StoreState::Forgotten => ("forgotten", None),
            StoreState::Conflict => ("conflict", None),
            StoreState::Held => ("held", None),
            StoreState::Moved(from) => ("moved", Some(from)),
        };
        Self { state, moved_from }
    }
}

/// What came of storing an entry.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoreReply {
    /// The entry.
    pub key: String,
    /// Its category now.
    pub category: String,
    /// What was done.
    #[serde(flatten)]
    pub state: StoreState,
    /// The version of its file now; empty for what is held by a run.
    pub version: String,
    /// Its file; empty for what is held by a run.
    pub path: String,
    /// The keys that went as they are too old.
    pub swept: Vec<String>,
    /// The keys that went as there are too many.
    pub evicted: Vec<String>,
    /// All of this for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

/// An entry, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "EntryView")]
pub struct EntryInfo {
    /// Its key.
    pub key: String,
    /// Its category.
    pub category: String,
    /// Its content, byte for byte.
    pub content: String,
    /// Its tags, in their order.
    pub tags: Vec<String>,
    /// When it was made, in nanoseconds since 1970-01-01T00:00:00Z.
    pub created: u64,
    /// When its content, its category or its tags last changed, likewise.
    pub updated: u64,
    /// Where it comes from.
    pub source: Option<String>,
    /// The key of the entry that it stands in for.
    pub supersedes: Option<String>,
    /// Of its file; empty for what a run holds.
    pub version: String,
    /// Its file; empty for what a run holds.
    pub path: String,
    /// What budgets count it as: key, content and category, in bytes.
    pub size: u64,
    /// Where its text comes from.
    pub provenance: Provenance,
    /// When a person approved it, in nanoseconds since 1970-01-01T00:00:00Z.
    pub approved: Option<u64>,
}

/// The JSON of an [`EntryInfo`].
#[derive(serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct EntryView {
    /// Its key.
    key: String,
    /// Its category.
    category: String,
    /// Its content.
    content: String,
    /// Its tags, in their order.
    tags: Vec<String>,
    /// When it was made, as RFC 3339.
    created: String,
    /// When its content, its category or its tags last changed, as RFC 3339.
    updated: String,
    /// Where it comes from, for people.
    source: Option<String>,
    /// The key of the entry that it replaces.
    supersedes: Option<String>,
    /// The version of its file; empty if only a run has it.
    version: String,
    /// Its file; empty if only a run has it.
    path: String,
    /// The size that budgets count: key, content and category, in bytes.
    size: u64,
    /// The origin of its text.
    provenance: Provenance,
    /// When a person approved it, as RFC 3339.
    approved: Option<String>,
    /// The origin of its text, if the entry goes into no prompt until it is approved.
    unapproved: Option<Provenance>,
}

impl From<EntryInfo> for EntryView {
    fn from(entry: EntryInfo) -> Self {
        let unapproved = entry.trust_state().unapproved();
        let EntryInfo {
            key, category, content, tags, created, updated, source, supersedes, version, path, size, ..
        } = entry;
        Self {
            key,
            category,
            content,
            tags,
            created: utc_text(created),
            updated: utc_text(updated),
            source,
            supersedes,
            version,
            path,
            size,
            provenance: entry.provenance,
            approved: entry.approved.map(utc_text),
            unapproved,
        }
    }
}

impl EntryInfo {
    /// Whether its text is trusted.
    #[must_use]
    pub fn trust_state(&self) -> TrustState {
        TrustState { provenance: self.provenance, approved: self.approved }
    }

    /// Makes its texts fit to be read by a model.
    pub(super) fn make_harmless(&mut self) {
        let texts = [&mut self.key, &mut self.category, &mut self.content, &mut self.path];
        let texts = texts.into_iter().chain(&mut self.tags).chain(&mut self.source).chain(&mut self.supersedes);
        texts.for_each(|text| *text = ForModel::escaped(text).into_string());
    }
}

/// A file that stands where an entry would, and is none.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntryProblem {
    /// The file.
    pub path: String,
    /// The key that it claims, if that can be told.
    pub key: Option<String>,
    /// What is wrong with it.
    pub message: String,
}

/// An entry that was not stored.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkippedEntry {
    /// Its key.
    pub key: String,
    /// Why.
    pub reason: String,
}
