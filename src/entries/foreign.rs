//! [`ForeignEntry`]: an entry in transit between Saddlebag and the format of another agent.

use super::document::Entry;
use super::mark::{Mark, SUMMARY_FIELD, digest, summary_of};
use super::state::Entries;
use super::types::EntryProblem;
use super::view::{Stored, look};
use crate::changes::Call;
use crate::json::word_and_value;
use crate::trust::{Provenance, TrustState};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{Frontmatter, Value};
use saddlebag_protocol::Error;

/// Category of imported daily entries that are too old for `daily`. It does not expire.
pub(super) const DAILY_LOG: &str = "daily-log";

/// Prefix of the keys of the frontmatter that hold fields of another format.
pub(crate) const KEPT_PREFIX: &str = "from_";

/// Keys of the frontmatter that hold the fields and the owner of an entry.
const KNOWN_FIELDS: [&str; 19] = [
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
    "origin-project",
    SUMMARY_FIELD,
];

/// An entry in transit between Saddlebag and the format of another agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignEntry {
    /// Key of the entry.
    pub key: String,
    /// Category: `core`, `daily`, `workspace` or any other.
    pub category: String,
    /// Tags, in order.
    pub tags: Vec<String>,
    /// Content of the entry.
    pub content: String,
    /// Summary in one line.
    pub summary: Option<String>,
    /// Key of the entry that this one replaces.
    pub supersedes: Option<String>,
    /// Time of creation, in nanoseconds since 1970-01-01T00:00:00Z, if known.
    pub created: Option<u64>,
    /// Time of the last change, in nanoseconds since 1970-01-01T00:00:00Z, if known.
    pub updated: Option<u64>,
    /// Time when it was forgotten.
    pub forgotten: Option<u64>,
    /// Origin for people. An import sets it only for formats that keep it.
    pub source: Option<String>,
    /// Path of its file.
    pub path: String,
    /// Line in the file, counted from 1.
    pub line: u32,
    /// True if it comes from a dump of Saddlebag, whose fields are used unchanged.
    pub is_exact: bool,
    /// True if the key is only a position. The same text is then the same entry, even under another key.
    pub is_positional: bool,
    /// Provenance and approval. An import sets it only from a dump of Saddlebag, and only if the dump is believed.
    pub trust_state: TrustState,
    /// Projects whose prompts it may go into, if nobody approved it for all; empty for all. An import sets it like
    /// `trust_state`.
    pub projects: Vec<String>,
    /// Fields of the format that it was imported from and that entries do not have, such as the title of a note. Their
    /// names begin with `from_`. An export to the same format writes them again.
    pub kept: Vec<(String, String)>,
    /// Names of further fields in the file's frontmatter. An export reports them, because no format can carry them.
    pub others: Vec<String>,
}

/// Result for an imported entry.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExchangedEntry {
    /// Path of its file, as the caller gave it.
    pub path: String,
    /// Line in the file, counted from 1.
    pub line: u32,
    /// Key of the entry in this memory.
    pub key: String,
    /// True if it belongs to the workspace.
    #[serde(skip)]
    pub shared: bool,
    /// Digest of its text, as its source has it.
    #[serde(skip)]
    pub digest: String,
    /// Result of the import.
    #[serde(flatten)]
    pub state: ExchangeState,
}

/// Result of importing one entry.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "StateView")]
#[non_exhaustive]
pub enum ExchangeState {
    /// Stored under a new key.
    Stored,
    /// Updated: it changed there and not here.
    Updated,
    /// Unchanged: the entry here is the same.
    Unchanged,
    /// Stored under another key, because different text has its key. The value is its key in the original.
    Renamed(String),
    /// Not imported: the entry here stays. The value is the reason.
    Kept(String),
    /// Not imported: the text cannot be an entry. The value is the reason.
    Rejected(String),
}

word_and_value! {
    ExchangeState as StateView;
    /// Result of the import.
    state {
        Stored = "stored",
        Updated = "updated",
        Unchanged = "unchanged",
        Renamed(key) = "renamed",
        Kept(reason) = "kept",
        Rejected(reason) = "rejected",
    }
    /// For `renamed`, the key in the original; for `kept` and `rejected`, the reason.
    detail: String
}

impl ForeignEntry {
    /// Returns a field that an import has kept.
    pub(crate) fn kept(&self, name: &str) -> Option<&str> {
        self.kept.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns true if nobody has changed the entry since it was imported.
    pub(crate) fn is_as_imported(&self) -> bool {
        let mark = self.source.as_deref().and_then(Mark::from_source);
        let digest = || digest(&self.category, &self.tags, &self.content, self.summary.as_deref());
        mark.is_some_and(|mark| mark.digest == digest())
    }

    /// Returns the line that the entry was imported from; 0 if it was not.
    pub(crate) fn imported_line(&self) -> u32 {
        self.source.as_deref().and_then(Mark::from_source).map_or(0, |mark| mark.line)
    }
}

/// Entries to import.
pub(crate) struct Adoption<'a> {
    /// Name of the format, as the source records it.
    pub(crate) format: &'a str,
    /// Folder of the files, as the source records it.
    pub(crate) origin: &'a str,
    pub(crate) entries: Vec<ForeignEntry>,
    /// Results of the previous commands of this import.
    pub(crate) earlier: &'a [ExchangedEntry],
    pub(crate) dry_run: bool,
    /// Provenance to mark them with; `None` for the usual mark of imports.
    pub(crate) provenance: Option<Provenance>,
    /// Project whose prompts they go into; `None` for all.
    pub(crate) project: Option<&'a str>,
}

/// Returns a field that an import has kept.
fn kept_field((name, value): &(String, Value)) -> Option<(String, String)> {
    let value = value.text().filter(|_| name.starts_with(KEPT_PREFIX))?;
    Some((name.clone(), value))
}

/// Returns every entry that is shown, for an export. Forgotten entries are included on request.
pub(crate) async fn dump(
    call: &Call,
    entries: &Entries,
    forgotten: bool,
) -> Result<(Vec<ForeignEntry>, Vec<EntryProblem>), Error> {
    let view = look(call, entries, entries.scope()?).await?;
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
            projects: fields.projects.clone(),
            kept: frontmatter.entries.iter().filter_map(kept_field).collect(),
            others: frontmatter
                .entries
                .iter()
                .filter(|field| kept_field(field).is_none())
                .map(|(name, _)| name)
                .filter(is_other)
                .cloned()
                .collect(),
        })
    });
    Ok((dumped.collect::<Result<_, Error>>()?, view.problems))
}
