//! The command and its reply.

use alloc::string::String;
use alloc::vec::Vec;

use saddlebag_words::words;

use crate::changes::Call;
use crate::context::LeftOut;
use crate::entries::{Entries, EntryProblem};
use crate::trust::ForModel;

/// Parts of a memory that the commands about AGENTS.md need.
#[derive(Clone, Copy)]
pub(crate) struct AgentsMdCall<'a> {
    pub(crate) call: &'a Call,
    pub(crate) entries: &'a Entries,
}

/// Default size limit of a section in bytes.
pub const DEFAULT_SECTION_BYTES: u32 = 8_192;

/// Maximum size of the file in bytes.
pub const MAX_AGENTS_MD_BYTES: u32 = 1 << 20;

/// Maximum length of the identity of a file in bytes.
pub const MAX_IDENTITY_BYTES: usize = 4_096;

/// Merges the managed section of a file such as AGENTS.md with the entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncAgentsMd {
    /// Name of the file in messages and in the source of text that is read from it.
    pub name: String,
    /// Identity of the file, for example its absolute path with links resolved. It must differ from the identity of
    /// every other file. A copy of the file has another identity, so its section counts as foreign.
    pub identity: String,
    /// Bytes of the whole file, at most [`MAX_AGENTS_MD_BYTES`]; `None` if the file does not exist.
    pub content: Option<Vec<u8>>,
    /// Tags of the facts to list: one of them is enough. A fact that is added in the section gets all of them.
    pub tags: Vec<String>,
    /// Keys of further facts to list. Without tags and keys, the section keeps the facts that it lists.
    pub keys: Vec<String>,
    /// Size limit of the section with its markers, in bytes. Facts that do not fit are counted in the section and
    /// named in the reply. A fact in conflict stays, whatever the budget.
    pub max_bytes: u32,
    /// Side that wins if both have changed; `None` leaves both unchanged.
    pub prefer: Option<Side>,
    /// The [`Unconfirmed::digest`] of an earlier reply that a person has looked at. The memory must be opened for a
    /// person.
    pub confirmed: Option<String>,
    /// If set, changes nothing in the store, and only reports what would change.
    pub dry_run: bool,
}

impl Default for SyncAgentsMd {
    fn default() -> Self {
        Self {
            name: "AGENTS.md".into(),
            identity: "AGENTS.md".into(),
            content: None,
            tags: Vec::new(),
            keys: Vec::new(),
            max_bytes: DEFAULT_SECTION_BYTES,
            prefer: None,
            confirmed: None,
            dry_run: false,
        }
    }
}

/// One of the two places of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The section of the file.
    Section,
    /// The store.
    Store,
}

words!(Side, "side" { Section = "section", Store = "store" });

/// Result of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncAgentsMdReply {
    /// New bytes of the file; `None` if the file is unchanged.
    #[serde(serialize_with = "crate::json::text")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub content: Option<Vec<u8>>,
    /// Changes that a person must confirm. If set, nothing was changed, and the reply has the changes that would be
    /// made.
    pub unconfirmed: Option<Unconfirmed>,
    /// Changes on either side, and facts that could not be changed, sorted by key.
    pub changes: Vec<FactChange>,
    /// Number of facts in the section.
    pub listed: u32,
    /// Facts that do not fit the budget.
    pub left_out: Vec<LeftOut>,
    /// Files that could not be parsed as entries.
    pub problems: Vec<EntryProblem>,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

/// Result for one fact.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FactChange {
    /// Key of the fact.
    pub key: String,
    /// Line in the given file, counted from 1.
    pub line: Option<u32>,
    /// Kind of change.
    #[serde(flatten)]
    pub kind: FactChangeKind,
    /// Previous text of the entry, made harmless; `None` if there was no entry.
    pub entry: Option<String>,
    /// Previous text of the section, made harmless; `None` if the section did not have the fact.
    pub section: Option<String>,
}

/// Changes that wait for a person.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unconfirmed {
    /// Digest of the changes as they are shown. [`SyncAgentsMd::confirmed`] with this digest confirms exactly these.
    pub digest: String,
    /// Reason why a person must look.
    pub reason: String,
}

/// Kind of a change.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "ChangeView")]
#[non_exhaustive]
pub enum FactChangeKind {
    /// Listed: the fact is in the section now.
    Listed,
    /// Refreshed: the section has the new text of the entry.
    Refreshed,
    /// Unlisted: the fact is no longer in the section.
    Unlisted,
    /// Stored: the fact of the section is a new entry. Its provenance is `import`, so it waits for approval.
    Stored,
    /// Updated: the entry has the new text of the section. It waits for approval if it did before; otherwise a person
    /// confirmed it.
    Updated,
    /// Forgotten: the fact left the section, and its entry is forgotten.
    Forgotten,
    /// Conflict: both sides changed and stay as they are. The value says how.
    Conflict(String),
    /// Refused: the store refused the text of the section, and both sides stay as they are. The value is the reason.
    Refused(String),
}

impl FactChangeKind {
    /// Returns the change in one word, and the reason if nothing was done.
    #[must_use]
    pub fn words(&self) -> (&'static str, Option<&str>) {
        match self {
            Self::Listed => ("listed", None),
            Self::Refreshed => ("refreshed", None),
            Self::Unlisted => ("unlisted", None),
            Self::Stored => ("stored", None),
            Self::Updated => ("updated", None),
            Self::Forgotten => ("forgotten", None),
            Self::Conflict(reason) => ("conflict", Some(reason)),
            Self::Refused(reason) => ("refused", Some(reason)),
        }
    }
}

/// JSON form of a [`FactChangeKind`].
#[derive(serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ChangeView {
    /// Kind of change.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["listed", "refreshed", "unlisted", "stored", "updated", "forgotten", "conflict", "refused"])))]
    change: &'static str,
    /// Reason, if the change is `conflict` or `refused`.
    reason: Option<String>,
}

impl From<FactChangeKind> for ChangeView {
    fn from(kind: FactChangeKind) -> Self {
        let (change, reason) = kind.words();
        Self { change, reason: reason.map(String::from) }
    }
}
