//! Sections of memory for a block, and the parts of a memory that they are read from.

use super::sources::{JoinedFile, SourceFamily};
use super::types::LeftOutReason;
use crate::changes::Call;
use crate::entries::Entries;
use crate::store::Date;
use crate::trust::{Approved, titles};
use saddlebag_collections::prelude::*;

/// Kind of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SectionKind {
    /// `MEMORY.md`, which all projects share.
    LongTerm,
    /// `MEMORY.md` of the project.
    ProjectLongTerm,
    /// Notes for all projects.
    UserNotes,
    /// Open items of the scratchpad.
    Scratchpad,
    /// A daily log.
    Log {
        /// Day of the log.
        date: Date,
        /// True if the day is today.
        today: bool,
    },
    /// Names of what is in memory.
    Map,
    /// Note of an earlier session.
    HandOff,
    /// Hydrated entries.
    Entries,
    /// Recalled notes.
    Memories,
}

/// A section of memory, as it was read for the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// Kind of the section.
    pub(crate) kind: SectionKind,
    /// Path of the file as it is shown. Items have their own paths.
    pub(crate) path: String,
    /// Text, or the reason why there is no text.
    pub(crate) content: SectionContent,
}

/// Content of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SectionContent {
    /// Text of one file.
    Text {
        /// The text; only the end of it if the file was not read completely.
        text: Approved,
        /// Number of bytes before the text that were not read.
        unread_bytes: u64,
    },
    /// Text of several files, joined and cut at its end.
    Joined {
        /// The text.
        text: Approved,
        /// Files, in the order of their lines.
        files: Vec<JoinedFile>,
    },
    /// Items from separate files. [`Overflow::Balanced`](super::Overflow::Balanced) includes each item whole or not at
    /// all, in order, as long as it fits. No policy cuts the heading of an item.
    Items(Vec<SectionItem>),
    /// The file cannot be shown.
    Unusable {
        /// Reason in words.
        reason: LeftOutReason,
        /// Size in bytes; 0 if unknown.
        size: u64,
    },
}

/// One of several items in a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SectionItem {
    /// Path of its file as it is shown; empty if it has none.
    pub(crate) path: String,
    /// Name in the report and of its lines, if the item has another one than its path.
    pub(crate) key: Option<String>,
    /// Line above the text.
    pub(crate) heading: Approved,
    /// The text.
    pub(crate) text: Approved,
}

/// Memories of a turn.
#[derive(Debug, Default)]
pub(crate) struct TurnMemories {
    /// Notes, best first.
    pub(crate) items: Vec<SectionItem>,
    /// Notes that nobody has approved.
    pub(crate) unapproved: Vec<String>,
}

/// Parts of a memory that the commands for prompts need.
#[derive(Clone, Copy)]
pub(crate) struct PromptCall<'a> {
    pub(crate) call: &'a Call,
    pub(crate) entries: &'a Entries,
    /// Run that the command belongs to.
    pub(crate) run: Option<&'a str>,
    /// Returns the memories of a turn.
    pub(crate) memories: &'a (dyn Fn(u64) -> TurnMemories + Sync),
}

impl Section {
    /// Returns true if text of this file is in the section.
    pub(super) fn has_file(&self, path: &str) -> bool {
        match &self.content {
            SectionContent::Text { .. } => self.path == path,
            SectionContent::Joined { files, .. } => files.iter().any(|file| file.path == path),
            SectionContent::Items(items) => items.iter().any(|item| item.path == path),
            SectionContent::Unusable { .. } => false,
        }
    }
}

impl SectionKind {
    pub(super) fn title(self) -> String {
        match self {
            Self::LongTerm => titles::LONG_TERM.to_string(),
            Self::ProjectLongTerm => titles::PROJECT_LONG_TERM.to_string(),
            Self::UserNotes => titles::USER_NOTES.to_string(),
            Self::Scratchpad => titles::SCRATCHPAD.to_string(),
            Self::Log { date, today: false } => format!("{} {date}", titles::LOG),
            Self::Log { date, today: true } => format!("{} {date} (today)", titles::LOG),
            Self::Map => titles::MAP.to_string(),
            Self::HandOff => titles::HAND_OFF.to_string(),
            Self::Entries => titles::ENTRIES.to_string(),
            Self::Memories => titles::MEMORIES.to_string(),
        }
    }

    pub(super) fn family(self) -> SourceFamily {
        match self {
            Self::Entries => SourceFamily::Entries,
            Self::Memories | Self::Map | Self::HandOff | Self::UserNotes => SourceFamily::Notebook,
            Self::LongTerm | Self::ProjectLongTerm | Self::Scratchpad | Self::Log { .. } => SourceFamily::Journal,
        }
    }

    /// Returns true for both files of long-term memory.
    pub(super) fn is_long_term(self) -> bool {
        matches!(self, Self::LongTerm | Self::ProjectLongTerm)
    }
}
