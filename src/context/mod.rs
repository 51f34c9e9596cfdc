//! The `<memory>` block that is injected into a prompt.
//!
//! `gather` reads the sections and asks for the entries, `block` makes the block of them under an [`Overflow`] policy: a
//! pure function of sections, policy and budget. Whatever is left out is in the report, with the
//! reason. Stored text is escaped by [`for_model`](crate::trust::for_model), so it can neither close nor forge
//! the block.
//!
//! # How is the context block made?
//!
//! `gather.rs` reads the sections together: long-term memory of the project and of all projects, the open items of the
//! scratchpad, two daily logs. A request
//! with `entries` adds what hydration gives under a budget of its own, one with a `turn` what the session has in memory for
//! that turn, as the last section. Then `overflow.rs` makes the block as a pure function of sections, policy and budget. No
//! other file of the store is read, so the cost does not depend on the number of notes.
//!
//! | Policy | Order | When it is too much | Budget holds for |
//! | --- | --- | --- | --- |
//! | `documented` | Long-term memory of the project, that of all projects, scratchpad, yesterday, today | The end is cut off, with a marker | The text, without wrapper and marker |
//! | `prioritised` | Scratchpad, newest log, long-term memory of the project, that of all projects, second-newest log | One section is cut, those behind it are named only | The same |
//! | `balanced`, the default | As `documented`, and the same block when everything fits | Small sections stay whole, the others share evenly; logs and long-term memory keep their newest text, the scratchpad its first items, the recalled notes the best of them, and of the entries each that still fits is in whole; each cut is marked. If a share would be useless, a section is left out: the older log, then what was recalled, then the scratchpad, then the log of today, then the entries, then the memory of all projects | The whole block |
//!
//! The first two are those of zerostack v1.5 to v1.7 and leave long-term memory over 131,072 bytes out. `prioritised` lists
//! the folder of the logs and takes the two newest that have text, whatever their day.
//!
//! **Escaping** comes before the cuts of the policies. A `<`, or what looks like one, before the name of our tag becomes
//! `&lt;`, whatever the case, white space or invisible characters in between; so does one before the tag of a role or a tool.
//! Characters that nobody sees become visible, unless the script or the emoji that they stand in needs them. A line that reads like a title or a marker of
//! ours gets a `\` in front. All other text is unchanged. Where a cut takes the `\` off a line, the marks that made it a
//! title go as well. Every line of an entry, as of a recalled note, is indented below its heading, so that none can pose as
//! another one (`list_item`).
//!
//! **Forms.** `form.rs` has what differs for Claude, for OpenAI and as plain text: start, end, titles, and a mark before every
//! line of stored text, which no line of the block's own begins with. The escapes come first in all of them, the marks before
//! the cuts; a cut that takes the mark off a line puts it back.
//!
//! **The report** (`left-out`) names each file that is missing or cut: why, how many bytes are in the block, how many are
//! not. The reasons are the budget, the size, bytes that are not UTF-8, a log whose name is no day, and the host's error.
//! Each entry is named by its key, with hydration's reason where it did not get as far as the block; each recalled note that
//! nobody has approved is named, too. Beside it, `flags` counts by section what the texts hide or pose as.
//!
//! **The memories of a session** are in the component's memory and nowhere else. `load-memories` takes the newest facts,
//! `recall-for-turn` what a turn asks for; `memory-context` gives both as a section of Markdown, each note with its source,
//! its lines indented and escaped, in whole entries under a budget.

mod form;
mod gather;
mod overflow;
mod preamble;
mod tokens;

use alloc::string::String;
use alloc::vec::Vec;

use saddlebag_words::words;

use crate::entries::{Hydrate, Policy};
use crate::request::{Effect, Request};
use crate::trust::{Flag, ForModel};
pub use form::{BLOCK_END, BLOCK_START, BlockForm};
pub use overflow::{Section, SectionContent, SectionItem, SectionKind, block, block_in};
pub use preamble::{DEFAULT_PREAMBLE_BYTES, Preamble, PreambleFile, PreamblePart, PreambleReply, PreambleRole};
pub use tokens::{effective_reserve, estimate_tokens};

pub(crate) use gather::{TurnMemories, context};
pub(crate) use preamble::preamble;

/// How large the block may be unless told otherwise, in bytes.
pub const DEFAULT_BLOCK_BYTES: u32 = 32_768;

/// What happens when memory is larger than the budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// Long-term memory (of the project, then of all), scratchpad, yesterday, today; the end is cut off. zerostack v1.5 and v1.6.
    Documented,
    /// Scratchpad, newest log, long-term memory, second-newest log; one section is cut, those behind
    /// it are left out. zerostack v1.7.
    Prioritised,
    /// The order of `Documented`, and the same block when everything fits. Otherwise every section
    /// keeps a share, logs and long-term memory keep their newest text, each cut is marked, and the
    /// budget holds for the whole block.
    #[default]
    Balanced,
}

words!(Overflow, "overflow policy" { Documented = "documented", Prioritised = "prioritised", Balanced = "balanced" });

/// Makes the block that is injected into a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// What happens when memory is larger than the budget.
    pub overflow: Overflow,
    /// In bytes: of the whole block for [`Overflow::Balanced`]; without wrapper and markers, as in
    /// zerostack, for the others.
    pub max_bytes: u32,
    /// Put the memories of this turn in as the last section: what was recalled for it, and what the
    /// session began with.
    pub turn: Option<u64>,
    /// Put entries in as a section, before the memories of a turn; `None` for a block without.
    pub entries: Option<ContextEntries>,
    /// For whom the block is written.
    pub form: BlockForm,
}

/// The entries of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextEntries {
    /// Which are hydrated. What of them does not fit into the block is left out as well, each entry whole for
    /// [`Overflow::Balanced`].
    pub request: Hydrate,
    /// The run whose entries are seen, too; it must be open.
    pub run: Option<String>,
}

impl Request for Context {
    type Reply = ContextReply;
    const NAME: &'static str = "context";
    const EFFECT: Effect = Effect::Reads;

    fn samples(_: &str) -> Vec<Self> {
        let request = Hydrate { max_bytes: 4000, policy: Policy::Greedy };
        let entries = Some(ContextEntries { request, run: None });
        let block = |overflow| Self { overflow, turn: Some(1), entries: entries.clone(), ..Self::default() };
        [Overflow::Documented, Overflow::Prioritised, Overflow::Balanced].map(block).to_vec()
    }
}

impl Default for Context {
    fn default() -> Self {
        Self {
            overflow: Overflow::default(),
            max_bytes: DEFAULT_BLOCK_BYTES,
            turn: None,
            entries: None,
            form: BlockForm::default(),
        }
    }
}

/// The block, and what it does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextReply {
    /// The block; `None` where there is nothing to say.
    pub block: Option<ForModel>,
    /// About how many tokens the block is; 0 without one.
    pub tokens: u64,
    /// What was left out, in the order of the sections.
    pub left_out: Vec<LeftOut>,
    /// What the texts hide or pose as, in the order of the sections; of what is cut, too.
    pub flags: Vec<Flagged>,
}

/// Text in which there is more than a reader sees.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Flagged {
    /// The file; empty for an entry that a run holds.
    pub path: String,
    /// The key, for an entry.
    pub key: Option<String>,
    /// The title of its section.
    pub section: String,
    /// What is in it. In the block it is escaped or shown.
    pub flags: Vec<Flag>,
}

/// Something that the block does not say.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// The file; empty for an entry that a run holds.
    pub path: String,
    /// The key, for an entry.
    pub key: Option<String>,
    /// The title of its section.
    pub section: String,
    /// Why.
    #[serde(serialize_with = "crate::json::display")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub reason: LeftOutReason,
    /// How many bytes of text the block has of it.
    pub kept_bytes: u64,
    /// How many bytes of text it has not; of an entry that was not hydrated, what budgets count it as.
    pub left_out_bytes: u64,
}

/// Why something was left out of the block.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeftOutReason {
    /// The budget is used up.
    #[error("over the budget")]
    Budget,
    /// The file is larger than the policy takes.
    #[error("file too large")]
    TooLarge,
    /// The file is not UTF-8.
    #[error("not UTF-8 text")]
    NotText,
    /// The file is named like a log, but its name is no day of the calendar.
    #[error("its name is not a date")]
    NotADate,
    /// The file could not be read.
    #[error("could not be read: {0}")]
    Unreadable(crate::protocol::FsError),
    /// The entry is left out by hydration, or its file is none, or the entries could not be read.
    #[error("not hydrated: {0}")]
    NotHydrated(String),
    /// The note is of a tool or an import, and nobody has approved it.
    #[error("unapproved")]
    Unapproved,
}

/// What stands between a preamble and the block.
pub(crate) const RULE: &str = "\n\n---\n\n";

/// Puts the block behind a preamble: both with a rule between them, or the preamble alone.
///
/// ```
/// use saddlebag::context::append_memory_block;
///
/// assert_eq!(append_memory_block("BASE", Some("<memory>x</memory>")), "BASE\n\n---\n\n<memory>x</memory>");
/// assert_eq!(append_memory_block("BASE", None), "BASE");
/// ```
#[must_use]
pub fn append_memory_block(preamble: &str, block: Option<&str>) -> String {
    match block {
        Some(block) if !block.is_empty() => alloc::format!("{preamble}{RULE}{block}"),
        _ => preamble.into(),
    }
}
