//! What the block is asked for, and what it says of itself.

use alloc::string::String;
use alloc::vec::Vec;

use saddlebag_words::words;

use super::form::BlockForm;
use super::sources::{JoinedFile, LineSource};
use crate::engine::Call;
use crate::entries::{Entries, Hydrate, HydrationPolicy};
use crate::request::{Effect, Request};
use crate::trust::{Flag, ForModel};

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
    /// Put entries in as a section, before the memories of a turn; `None` for a block without. Those that the run of the
    /// command holds are among them.
    pub entries: Option<ContextEntries>,
    /// For whom the block is written.
    pub form: BlockForm,
}

/// What a turn has recalled.
#[derive(Debug, Default)]
pub(crate) struct TurnMemories {
    /// The items of the section, escaped; empty where there are none.
    pub(crate) text: String,
    /// The lines of each note in the text.
    pub(crate) files: Vec<JoinedFile>,
    /// The notes that nobody has approved.
    pub(crate) unapproved: Vec<String>,
    /// What the texts hide or pose as.
    pub(crate) findings: Vec<Flag>,
}

/// A command that makes the text of a prompt runs with this.
#[derive(Clone, Copy)]
pub(crate) struct PromptCall<'a> {
    pub(crate) call: &'a Call,
    pub(crate) entries: &'a Entries,
    /// The run that the command is a part of.
    pub(crate) run: Option<&'a str>,
    /// Gives what a turn has recalled, of so many bytes at most.
    pub(crate) memories: &'a (dyn Fn(u64, usize) -> TurnMemories + Sync),
}

/// The entries of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextEntries {
    /// How many bytes of entries, as [`Hydrate`] counts them. What of them does not fit into the
    /// block is left out as well, each entry whole for [`Overflow::Balanced`].
    pub max_bytes: u64,
    /// Which are taken when not all fit.
    pub policy: HydrationPolicy,
}

impl From<Hydrate> for ContextEntries {
    fn from(request: Hydrate) -> Self {
        let Hydrate { max_bytes, policy } = request;
        Self { max_bytes, policy }
    }
}

impl Request for Context {
    type Reply = ContextReply;
    const NAME: &'static str = "context";
    const EFFECT: Effect = Effect::Reads;

    fn samples(_: &str) -> Vec<Self> {
        let entries = Some(ContextEntries { max_bytes: 4000, policy: HydrationPolicy::Greedy });
        let block = |overflow| Self { overflow, turn: Some(1), entries, ..Self::default() };
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
    pub findings: Vec<Flagged>,
    /// The files that the lines of stored text come from, in the order of the block. Each such line has one.
    pub sources: Vec<LineSource>,
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
    pub findings: Vec<Flag>,
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
