//! The parts of memory that a block is made of.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::sources::{JoinedFile, SourceFamily};
use super::types::LeftOutReason;
use crate::store::Date;
use crate::trust::titles;

/// What a section is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionKind {
    /// `MEMORY.md`, which every project shares.
    LongTerm,
    /// `MEMORY.md` of the project.
    ProjectLongTerm,
    /// The open items of the scratchpad.
    Scratchpad,
    /// A daily log.
    Log {
        /// Its day.
        date: Date,
        /// Whether the day is today.
        today: bool,
    },
    /// What was hydrated.
    Entries,
    /// What was recalled.
    Memories,
}

/// A part of memory, as it was read for the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// What it is.
    pub kind: SectionKind,
    /// Its path as it is shown; of items, that of each is with the item.
    pub path: String,
    /// Its text, or why there is none.
    pub content: SectionContent,
}

/// The text of a section, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SectionContent {
    /// Text of the file.
    Text {
        /// The text, from the end of the file if not all of it was read.
        text: String,
        /// How many bytes before it were not read.
        unread_bytes: u64,
    },
    /// Texts of several files in one piece, which is cut at its end.
    Joined {
        /// The text.
        text: String,
        /// The files, in the order of their lines.
        files: Vec<JoinedFile>,
    },
    /// Items from files of their own, of which [`Overflow::Balanced`](super::Overflow::Balanced) takes each whole or not at all: those that
    /// still fit, in their order.
    Items(Vec<SectionItem>),
    /// The file cannot be shown.
    Unusable {
        /// Why.
        reason: LeftOutReason,
        /// Its size in bytes; 0 where unknown.
        size: u64,
    },
}

/// One of several texts in a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionItem {
    /// The path of its file as it is shown; empty where there is none.
    pub path: String,
    /// What names it in the report.
    pub key: String,
    /// The line above the text.
    pub heading: String,
    /// The text.
    pub text: String,
}

impl SectionKind {
    pub(super) fn title(self) -> String {
        match self {
            Self::LongTerm => titles::LONG_TERM.to_string(),
            Self::ProjectLongTerm => titles::PROJECT_LONG_TERM.to_string(),
            Self::Scratchpad => titles::SCRATCHPAD.to_string(),
            Self::Log { date, today: false } => format!("{} {date}", titles::LOG),
            Self::Log { date, today: true } => format!("{} {date} (today)", titles::LOG),
            Self::Entries => titles::ENTRIES.to_string(),
            Self::Memories => titles::MEMORIES.to_string(),
        }
    }

    pub(super) fn family(self) -> SourceFamily {
        match self {
            Self::Entries => SourceFamily::Entries,
            Self::Memories => SourceFamily::Notebook,
            Self::LongTerm | Self::ProjectLongTerm | Self::Scratchpad | Self::Log { .. } => SourceFamily::Journal,
        }
    }

    /// Returns true for both files of long-term memory.
    pub(super) fn is_long_term(self) -> bool {
        matches!(self, Self::LongTerm | Self::ProjectLongTerm)
    }
}
