//! A managed section of AGENTS.md: chosen facts of an agent, between two markers.
//!
//! The file is outside of the store: the host gives its bytes with [`AgentsMdRequest`] and writes those that
//! [`AgentsMdReply`] has, if there are any, provided that the file is still the one that was read. Entries become items of
//! the section, and what people change in the section becomes changes of entries. The last marker tells what each fact
//! was when the section was written, so that a change on one side is told from a change on the other; where both have
//! changed, neither is lost, and the reply names the conflict.
//!
//! `section` finds, reads and writes the section, `item` one fact of it, `sync` compares the two sides.

mod item;
mod section;
mod sync;
#[cfg(test)]
mod tests;

use alloc::string::String;
use alloc::vec::Vec;

use crate::context::LeftOut;
use crate::entries::EntryProblem;
use crate::protocol::Error;
use crate::trust::ForModel;

pub(crate) use sync::sync;

/// How large a section may be unless told otherwise, in bytes.
pub const DEFAULT_SECTION_BYTES: u32 = 8_192;

/// How large the file may be, in bytes.
pub const MAX_AGENTS_MD_BYTES: u32 = 1 << 20;

/// A file, and which facts its section is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentsMdRequest {
    /// What the file is called in messages, and as the source of what is read from it.
    pub name: String,
    /// The bytes of the whole file, at most [`MAX_AGENTS_MD_BYTES`]; `None` where there is no file.
    pub content: Option<Vec<u8>>,
    /// Facts with one of these tags.
    pub tags: Vec<String>,
    /// Facts with these keys.
    pub keys: Vec<String>,
    /// Of the section with its markers, in bytes. What does not fit is counted in it and named in the reply. A fact in
    /// conflict stays, whatever the budget.
    pub max_bytes: u32,
    /// What counts where both sides have changed; `None` leaves both as they are.
    pub prefer: Option<Side>,
    /// Change nothing in the store, and only say what would come of it.
    pub dry_run: bool,
}

/// One of the two places of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The section of the file.
    Section,
    /// The store.
    Store,
}

impl Side {
    /// Parses `section` or `store`.
    ///
    /// # Errors
    ///
    /// Any other word.
    pub fn parse(word: &str) -> Result<Self, Error> {
        match word {
            "section" => Ok(Self::Section),
            "store" => Ok(Self::Store),
            _ => Err(Error::invalid_argument(alloc::format!("unknown side: {word}"), "one of section, store")),
        }
    }
}

impl Default for AgentsMdRequest {
    fn default() -> Self {
        Self {
            name: "AGENTS.md".into(),
            content: None,
            tags: Vec::new(),
            keys: Vec::new(),
            max_bytes: DEFAULT_SECTION_BYTES,
            prefer: None,
            dry_run: false,
        }
    }
}

/// What came of bringing section and entries together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentsMdReply {
    /// The bytes of the file now; `None` where it stays as it is.
    pub content: Option<Vec<u8>>,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactChange {
    /// Its key.
    pub key: String,
    /// Its line in the file as it was given, counted from 1.
    pub line: Option<u32>,
    /// What was done.
    pub kind: FactChangeKind,
}

/// What was done with a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FactChangeKind {
    /// It is in the section now.
    Listed,
    /// The section says what the entry says now.
    Refreshed,
    /// It is no longer in the section.
    Unlisted,
    /// The section has it, and it is an entry now.
    Stored,
    /// The section has changed it, and so has the entry.
    Updated,
    /// The section has it no longer, and the entry is forgotten.
    Forgotten,
    /// Both sides have changed it, as the text says. Both stay as they are.
    Conflict(String),
    /// The store does not take what the section says, for this reason. Both stay as they are.
    Refused(String),
}
