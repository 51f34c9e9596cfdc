//! Request and reply of the block.

use saddlebag_collections::{prelude::*, words};

use super::form::BlockForm;
use super::sources::LineSource;
use crate::entries::{Hydrate, HydrationPolicy};
use crate::request::request;
use crate::trust::{Flag, ForModel, estimate_tokens};

/// Default size limit of the block in bytes.
pub const DEFAULT_BLOCK_BYTES: u32 = 32_768;

/// Policy for memory that is larger than the budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// Order: long-term memory (of the project, then of all projects), scratchpad, yesterday, today. The end is cut
    /// off. As in zerostack v1.5 and v1.6.
    Documented,
    /// Order: scratchpad, newest log, long-term memory, second-newest log. One section is cut, those after it are left
    /// out. As in zerostack v1.7.
    Prioritised,
    /// Order of `Documented`, and the same block if everything fits. Otherwise every section keeps a share, logs and
    /// long-term memory keep their newest text, each cut is marked, and the budget holds for the whole block.
    #[default]
    Balanced,
}

words!(Overflow, "overflow policy" { Documented = "documented", Prioritised = "prioritised", Balanced = "balanced" });

/// Builds the block that is injected into a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// Policy for memory that is larger than the budget.
    pub overflow: Overflow,
    /// Budget in bytes: of the whole block for [`Overflow::Balanced`]; without wrapper and markers, as in zerostack,
    /// for the other policies.
    pub max_bytes: u32,
    /// If given, adds the memories of this turn as the last section: the notes recalled for it, and those that the
    /// session began with.
    pub turn: Option<u64>,
    /// If given, adds entries as a section before the memories of a turn, those that the command's run holds included.
    pub entries: Option<ContextEntries>,
    /// Form of the block.
    pub form: BlockForm,
}

/// Entries of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextEntries {
    /// Budget of the entries in bytes, as [`Hydrate`] counts them. Entries that do not fit into the block are left out
    /// too; [`Overflow::Balanced`] never cuts one.
    pub max_bytes: u64,
    /// Selection when not all entries fit.
    pub policy: HydrationPolicy,
}

impl From<Hydrate> for ContextEntries {
    fn from(request: Hydrate) -> Self {
        let Hydrate { max_bytes, policy } = request;
        Self { max_bytes, policy }
    }
}

request!(Context "context" => ContextReply, Reads, |_| {
    let entries = Some(ContextEntries { max_bytes: 4000, policy: HydrationPolicy::Greedy });
    let block = |overflow| Self { overflow, turn: Some(1), entries, ..Self::default() };
    [Overflow::Documented, Overflow::Prioritised, Overflow::Balanced].map(block).to_vec()
});

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

/// A block, and a report of what it leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextReply {
    /// The block; `None` if there is nothing to include.
    pub block: Option<ForModel>,
    /// Estimated number of tokens of the block; 0 without one.
    pub tokens: u64,
    /// Report of what was left out, in the order of the sections.
    pub left_out: Vec<LeftOut>,
    /// Findings in the order of the sections: what the text hides or imitates, cut text included.
    pub findings: Vec<Flagged>,
    /// Sources of the lines of stored text, in the order of the block. Each such line has one.
    pub sources: Vec<LineSource>,
}

/// Text that contains more than a reader sees.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Flagged {
    /// Path of the file; empty for an entry that a run holds.
    pub path: String,
    /// Key, if it is an entry.
    pub key: Option<String>,
    /// Title of its section.
    pub section: String,
    /// Findings. In the block they are escaped or made visible.
    pub findings: Vec<Flag>,
}

/// Text that is left out of the block, as a whole or in part.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// Path of the file; empty for an entry that a run holds.
    pub path: String,
    /// Key, if it is an entry.
    pub key: Option<String>,
    /// Title of its section.
    pub section: String,
    /// Kind of the reason.
    pub kind: LeftOutKind,
    /// Reason in words.
    pub reason: String,
    /// Number of bytes of the text in the block.
    pub kept_bytes: u64,
    /// Number of bytes left out. For an entry that was not hydrated, its size in the budget.
    pub left_out_bytes: u64,
}

impl LeftOut {
    /// Returns the report on text of this size that is not in the block at all. It is not an entry.
    pub(crate) fn whole(path: impl Into<String>, section: impl Into<String>, reason: LeftOutReason, size: u64) -> Self {
        let (path, section) = (path.into(), section.into());
        let (kind, reason) = (reason.kind(), reason.to_string());
        Self { path, key: None, section, kind, reason, kept_bytes: 0, left_out_bytes: size }
    }
}

/// Kind of a reason why text is left out of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeftOutKind {
    /// The budget is used up.
    Budget,
    /// The file is larger than the policy permits.
    TooLarge,
    /// The file is not UTF-8.
    NotText,
    /// The file is named like a log, but its name is not a date.
    NotADate,
    /// The file could not be read.
    Unreadable,
    /// The listing has no path for the file.
    NotListed,
    /// Hydration left the entry out, its file could not be parsed, or the entries could not be read.
    NotHydrated,
    /// The text comes from a tool or an import, and nobody has approved it.
    Unapproved,
}

words!(LeftOutKind, "kind of left-out text" {
    Budget = "budget",
    TooLarge = "too-large",
    NotText = "not-text",
    NotADate = "not-a-date",
    Unreadable = "unreadable",
    NotListed = "not-listed",
    NotHydrated = "not-hydrated",
    Unapproved = "unapproved",
});

/// Reason why text is left out of the block.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeftOutReason {
    /// The budget is used up.
    #[error("over the budget")]
    Budget,
    /// The file is larger than the policy permits.
    #[error("file too large")]
    TooLarge,
    /// The file is not UTF-8.
    #[error("not UTF-8 text")]
    NotText,
    /// The file is named like a log, but its name is not a date.
    #[error("its name is not a date")]
    NotADate,
    /// The file could not be read.
    #[error("could not be read: {0}")]
    Unreadable(String),
    /// The listing has no path for the file. The text says why.
    #[error("{0}")]
    NotListed(String),
    /// Hydration left the entry out, its file could not be parsed, or the entries could not be read.
    #[error("not hydrated: {0}")]
    NotHydrated(String),
    /// The note comes from a tool or an import, and nobody has approved it.
    #[error("unapproved")]
    Unapproved,
}

impl LeftOutReason {
    fn kind(&self) -> LeftOutKind {
        match self {
            Self::Budget => LeftOutKind::Budget,
            Self::TooLarge => LeftOutKind::TooLarge,
            Self::NotText => LeftOutKind::NotText,
            Self::NotADate => LeftOutKind::NotADate,
            Self::Unreadable(_) => LeftOutKind::Unreadable,
            Self::NotListed(_) => LeftOutKind::NotListed,
            Self::NotHydrated(_) => LeftOutKind::NotHydrated,
            Self::Unapproved => LeftOutKind::Unapproved,
        }
    }
}

/// Separator between a preamble and the block.
pub(crate) const RULE: &str = "\n\n---\n\n";

/// Appends the block to a preamble, with a rule between them; without a block, returns the preamble.
///
/// ```
/// use saddlebag::context::append_memory_block;
///
/// assert_eq!(append_memory_block("BASE", Some("<memory>x</memory>")), "BASE\n\n---\n\n<memory>x</memory>");
/// assert_eq!(append_memory_block("BASE", None), "BASE");
/// ```
pub fn append_memory_block(preamble: &str, block: Option<&str>) -> String {
    match block {
        Some(block) if !block.is_empty() => format!("{preamble}{RULE}{block}"),
        _ => preamble.into(),
    }
}

/// Returns the number of tokens to reserve beside a conversation: `base` and the block.
pub fn effective_reserve(base: u64, block: Option<&str>) -> u64 {
    base.saturating_add(block.map_or(0, estimate_tokens))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_grows_by_the_block() {
        assert_eq!(effective_reserve(1000, None), 1000);
        assert_eq!(effective_reserve(1000, Some(&"x".repeat(400))), 1100);
        assert_eq!(effective_reserve(u64::MAX, Some("x")), u64::MAX);
    }
}
