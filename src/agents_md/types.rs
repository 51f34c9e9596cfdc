//! The command and its reply.

use alloc::string::String;
use alloc::vec::Vec;

use saddlebag_words::words;

use crate::context::LeftOut;
use crate::engine::Call;
use crate::entries::{Entries, EntryProblem};
use crate::trust::ForModel;

/// A command about AGENTS.md runs with this.
#[derive(Clone, Copy)]
pub(crate) struct AgentsMdCall<'a> {
    pub(crate) call: &'a Call,
    pub(crate) entries: &'a Entries,
}

/// How large a section may be unless told otherwise, in bytes.
pub const DEFAULT_SECTION_BYTES: u32 = 8_192;

/// How large the file may be, in bytes.
pub const MAX_AGENTS_MD_BYTES: u32 = 1 << 20;

/// How long the identity of a file may be, in bytes.
pub const MAX_IDENTITY_BYTES: usize = 4_096;

/// Brings the managed section of a file such as AGENTS.md and the entries together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncAgentsMd {
    /// What the file is called in messages, and as the source of what is read from it.
    pub name: String,
    /// Which file it is: its whole path without links, or whatever else tells it from every other file. A copy of the
    /// file elsewhere has another identity, and a section that this store has not written.
    pub identity: String,
    /// The bytes of the whole file, at most [`MAX_AGENTS_MD_BYTES`]; `None` where there is no file.
    pub content: Option<Vec<u8>>,
    /// Facts with one of these tags. What is added in the section gets all of them.
    pub tags: Vec<String>,
    /// Facts with these keys. Without tags and keys the section goes on with the facts that it lists.
    pub keys: Vec<String>,
    /// Of the section with its markers, in bytes. What does not fit is counted in it and named in the reply. A fact in
    /// conflict stays, whatever the budget.
    pub max_bytes: u32,
    /// What counts where both sides have changed; `None` leaves both as they are.
    pub prefer: Option<Side>,
    /// The [`Unconfirmed::digest`] of an earlier reply, which a person has looked at. It needs a memory that is opened
    /// for a person.
    pub confirmed: Option<String>,
    /// Change nothing in the store, and only say what would come of it.
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

/// What came of bringing section and entries together.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncAgentsMdReply {
    /// The bytes of the file now; `None` where it stays as it is.
    #[serde(serialize_with = "crate::json::text")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub content: Option<Vec<u8>>,
    /// Set if a person must confirm the changes first: then nothing was changed, and the changes are what would be.
    pub unconfirmed: Option<Unconfirmed>,
    /// What changed on either side, and what could not; by key.
    pub changes: Vec<FactChange>,
    /// How many facts the section has.
    pub listed: u32,
    /// The facts that its budget has no room for.
    pub left_out: Vec<LeftOut>,
    /// Files that stand where entries would, and are none.
    pub problems: Vec<EntryProblem>,
    /// All of this for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

/// What became of one fact.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FactChange {
    /// Its key.
    pub key: String,
    /// Its line in the file as it was given, counted from 1.
    pub line: Option<u32>,
    /// What was done.
    #[serde(flatten)]
    pub kind: FactChangeKind,
    /// What the entry said before, made harmless; `None` where there was no entry.
    pub entry: Option<String>,
    /// What the section said before, made harmless; `None` where it did not have the fact.
    pub section: Option<String>,
}

/// Changes that wait for a person.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unconfirmed {
    /// Of the changes as they are shown: [`SyncAgentsMd::confirmed`] takes it, and confirms these and no others.
    pub digest: String,
    /// Why a person must look.
    pub reason: String,
}

/// What was done with a fact.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "ChangeView")]
#[non_exhaustive]
pub enum FactChangeKind {
    /// It is in the section now.
    Listed,
    /// The section says what the entry says now.
    Refreshed,
    /// It is no longer in the section.
    Unlisted,
    /// The section has it, and it is an entry now: of provenance `import`, so that it waits to be approved.
    Stored,
    /// The section has changed it, and the entry says the same now. It waits to be approved if it did before; else a
    /// person has confirmed it.
    Updated,
    /// The section has it no longer, and the entry is forgotten.
    Forgotten,
    /// Both sides have changed it, as the text says. Both stay as they are.
    Conflict(String),
    /// The store does not take what the section says, for this reason. Both stay as they are.
    Refused(String),
}

impl FactChangeKind {
    /// Returns the change in one word, and why nothing was done if nothing was.
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

/// The JSON of a [`FactChangeKind`].
#[derive(serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ChangeView {
    /// What came of it.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["listed", "refreshed", "unlisted", "stored", "updated", "forgotten", "conflict", "refused"])))]
    change: &'static str,
    /// The reason, where it is a `conflict` or `refused`.
    reason: Option<String>,
}

impl From<FactChangeKind> for ChangeView {
    fn from(kind: FactChangeKind) -> Self {
        let (change, reason) = kind.words();
        Self { change, reason: reason.map(String::from) }
    }
}
