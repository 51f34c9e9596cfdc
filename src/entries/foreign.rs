//! [`ForeignEntry`]: an entry on its way between Saddlebag and another agent's format.

use alloc::string::String;
use alloc::vec::Vec;

use super::document::Entry;
use super::mark::{SUMMARY_FIELD, summary_of};
use super::scope::EntriesScope;
use super::state::Entries;
use super::types::EntryProblem;
use super::view::{Stored, look};
use crate::document::Frontmatter;
use crate::engine::Call;
use crate::protocol::Error;
use crate::trust::{Provenance, TrustState};

/// What daily entries that are too old to be kept as such come in as: a category of its own, which does not expire.
pub const DAILY_LOG: &str = "daily-log";

/// The keys that a frontmatter has for the fields of an entry, and for whose it is.
const KNOWN_FIELDS: [&str; 18] = [
    "key",
    "category",
    "tags",
    "created",
    "created_at",
    "updated",
    "updated_at",
    "source",
    "supersedes",
    "forgotten",
    "agent",
    "zombie_id",
    "fleet_id",
    "workspace",
    "owner",
    "provenance",
    "approved",
    SUMMARY_FIELD,
];

/// An entry on its way between Saddlebag and another agent's format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignEntry {
    /// Names it.
    pub key: String,
    /// `core`, `daily`, `workspace` or any other.
    pub category: String,
    /// In their order.
    pub tags: Vec<String>,
    /// What it says.
    pub content: String,
    /// What it is about, in one line.
    pub summary: Option<String>,
    /// The key of an entry that it stands in for.
    pub supersedes: Option<String>,
    /// When it was made, in nanoseconds since 1970-01-01T00:00:00Z, if that is known.
    pub created: Option<u64>,
    /// When it was last changed, likewise.
    pub updated: Option<u64>,
    /// When it was forgotten.
    pub forgotten: Option<u64>,
    /// Where it comes from, for people. On the way in only of a format that keeps it.
    pub source: Option<String>,
    /// The file that it is in.
    pub path: String,
    /// Its line there, counted from 1.
    pub line: u32,
    /// Whether it comes from a dump of our own: then its fields count as they are.
    pub is_exact: bool,
    /// Whether its key only says where it stood, so that the same text is the same entry under another.
    pub is_positional: bool,
    /// Where its text comes from. On the way in only of a dump of our own, and only where it is believed.
    pub trust_state: TrustState,
    /// What else its file says, by the names of the frontmatter: on the way out, what no format has a place for.
    pub others: Vec<String>,
}

/// What came of an entry from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExchangedEntry {
    /// The file that it is in, as it was given.
    pub path: String,
    /// Its line there, counted from 1.
    pub line: u32,
    /// The key that it has here.
    pub key: String,
    /// Whether it is of the workspace.
    #[serde(skip)]
    pub shared: bool,
    /// Tells what it says from anything else, as the source does.
    #[serde(skip)]
    pub digest: String,
    /// What was done.
    #[serde(flatten)]
    pub state: ExchangeState,
}

/// What taking an entry in came to.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "StateView")]
#[non_exhaustive]
pub enum ExchangeState {
    /// The key is new here.
    Stored,
    /// It was changed there and not here, and is as it is there.
    Updated,
    /// There is nothing new in it.
    Unchanged,
    /// The key it has there says something else here, which stays: it is stored under another key. The text is
    /// the key it has there.
    Renamed(String),
    /// What is here stays, for this reason.
    Kept(String),
    /// It cannot be an entry, for this reason.
    Rejected(String),
}

/// The JSON of an [`ExchangeState`].
#[derive(serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct StateView {
    /// What came of it.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["stored", "updated", "unchanged", "renamed", "kept", "rejected"])))]
    state: &'static str,
    /// The key that it has there, where it is `renamed`; the reason, where it is `kept` or `rejected`.
    detail: Option<String>,
}

impl From<ExchangeState> for StateView {
    fn from(state: ExchangeState) -> Self {
        let (state, detail) = match state {
            ExchangeState::Stored => ("stored", None),
            ExchangeState::Updated => ("updated", None),
            ExchangeState::Unchanged => ("unchanged", None),
            ExchangeState::Renamed(key) => ("renamed", Some(key)),
            ExchangeState::Kept(reason) => ("kept", Some(reason)),
            ExchangeState::Rejected(reason) => ("rejected", Some(reason)),
        };
        Self { state, detail }
    }
}

/// Entries to take in.
pub(crate) struct Adoption<'a> {
    /// The format that they come from, as the source says it.
    pub(crate) format: &'a str,
    /// Where the files are, as the source says it.
    pub(crate) origin: &'a str,
    pub(crate) entries: Vec<ForeignEntry>,
    /// What came of those before, in this import.
    pub(crate) earlier: &'a [ExchangedEntry],
    pub(crate) dry_run: bool,
    /// What they are to be marked as; `None` for imports.
    pub(crate) provenance: Option<Provenance>,
}

/// Every entry that is shown, as something to hand on; with those that are forgotten if they are asked for.
pub(super) async fn dump(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    forgotten: bool,
) -> Result<(Vec<ForeignEntry>, Vec<EntryProblem>), Error> {
    let view = look(call, entries, scope).await?;
    let now = call.now.epoch_nanoseconds();
    let corpus = entries.corpus.borrow();
    let is_meant = |stored: &&Stored| !stored.is_expired(now) && (forgotten || stored.entry.forgotten.is_none());
    let dumped = view.entries.iter().filter(is_meant).map(|stored| {
        let frontmatter = Frontmatter::parse(stored.text(&corpus)?);
        let Entry { fields, created, updated, forgotten, .. } = &*stored.entry;
        let is_other = |name: &&String| !KNOWN_FIELDS.contains(&name.as_str());
        Ok(ForeignEntry {
            key: fields.key.clone(),
            category: fields.category.as_str().into(),
            tags: fields.tags.clone(),
            content: fields.content.clone(),
            summary: summary_of(&frontmatter),
            supersedes: fields.supersedes.clone(),
            created: Some(*created),
            updated: Some(*updated),
            forgotten: *forgotten,
            source: fields.source.clone(),
            path: call.scope.display_path(&stored.path),
            line: 1,
            is_exact: true,
            is_positional: false,
            trust_state: fields.trust_state,
            others: frontmatter.entries.iter().map(|(name, _)| name).filter(is_other).cloned().collect(),
        })
    });
    Ok((dumped.collect::<Result<_, Error>>()?, view.problems))
}
