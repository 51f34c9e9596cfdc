//! Results of a search.

use saddlebag_collections::{prelude::*, words};

use crate::trust::{ForModel, Provenance};
use saddlebag_protocol::FsError;

/// Maximum number of line numbers of a hit; `total_lines` counts all.
pub const MAX_HIT_LINES: usize = 1000;

/// Answer to a search.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchResults {
    /// Terms of the query, each with the number of lines that have it.
    pub terms: Vec<TermCount>,
    /// Number of matching files.
    pub total_files: u32,
    /// Requested page of matches, best first.
    pub hits: Vec<SearchHit>,
    /// Hits as text for a model or a person, within the requested number of bytes.
    pub rendered: ForModel,
    /// Number of hits in `rendered`.
    pub rendered_hits: u32,
    /// Files that could not be searched.
    pub skipped: Vec<Skipped>,
}

/// A term and the number of lines that have it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TermCount {
    /// Term, as it is in the query.
    pub term: String,
    /// Number of lines in all files.
    pub lines: u32,
}

/// A file that matches.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchHit {
    /// Path of the file.
    pub path: String,
    /// Terms that the file has, in the order of the query.
    pub terms: Vec<String>,
    /// Matching lines, counted from 1, at most [`MAX_HIT_LINES`]; empty if only the name matches.
    pub lines: Vec<u32>,
    /// Number of matching lines.
    pub total_lines: u32,
    /// True if only the name of the file matches.
    pub filename_only: bool,
    /// Date, if it is a daily log.
    pub date: Option<String>,
    /// True if the file is long-term memory.
    pub long_term: bool,
    /// Line above the body in [`SearchResults::rendered`].
    pub heading: ForModel,
    /// Lines around the first matches.
    pub body: String,
    /// Origin of its text, if the text is kept out of prompts until a person approves it.
    pub unapproved: Option<Provenance>,
}

/// A file that could not be searched.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Skipped {
    /// Path of the file.
    pub path: String,
    /// Kind of the reason.
    pub kind: SkipKind,
    /// Reason in words.
    pub reason: String,
}

impl Skipped {
    pub(crate) fn new(path: String, reason: &SkipReason) -> Self {
        Self { path, kind: reason.kind(), reason: reason.to_string() }
    }
}

/// Kind of a reason why a file was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkipKind {
    /// The file is not UTF-8.
    NotText,
    /// The file is larger than the limit.
    TooLarge,
    /// The file is a symbolic link, a device or a pipe.
    NotRegular,
    /// The index holds the maximum amount of text.
    IndexFull,
    /// The file could not be read.
    Unreadable,
    /// On some file systems the folder is the folder of another project, agent or workspace.
    OtherMemory,
    /// The name cannot be a path.
    Unnameable,
}

words!(SkipKind, "kind of skipped file" {
    NotText = "not-text",
    TooLarge = "too-large",
    NotRegular = "not-regular",
    IndexFull = "index-full",
    Unreadable = "unreadable",
    OtherMemory = "other-memory",
    Unnameable = "unnameable",
});

/// Reason why a file was skipped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SkipReason {
    /// The file is not UTF-8.
    #[error("not UTF-8 text")]
    NotText,
    /// The file is larger than the limit. The value is its size in bytes.
    #[error("too large ({0} bytes)")]
    TooLarge(u64),
    /// The file is a symbolic link, a device or a pipe.
    #[error("a symbolic link or special file")]
    NotRegular,
    /// The index holds the maximum amount of text.
    #[error("the index is full")]
    IndexFull,
    /// The file could not be read.
    #[error("could not be read: {0}")]
    Unreadable(FsError),
    /// On some file systems the folder is the folder of another project, agent or workspace.
    #[error("its name counts as the folder of another memory on some systems; rename it to read its notes")]
    OtherMemory,
    /// The name cannot be a path. The given path is the closest valid spelling.
    #[error("its name is not UTF-8, or has `\\` or a control character; rename it to make it readable")]
    Unnameable,
    /// The folder has this many further files and folders with such names.
    #[error(
        "{0} more files or folders in it have names that are not UTF-8, or have `\\` or a control character; rename them"
    )]
    MoreUnnameable(u32),
}

impl SkipReason {
    fn kind(&self) -> SkipKind {
        match self {
            Self::NotText => SkipKind::NotText,
            Self::TooLarge(_) => SkipKind::TooLarge,
            Self::NotRegular => SkipKind::NotRegular,
            Self::IndexFull => SkipKind::IndexFull,
            Self::Unreadable(_) => SkipKind::Unreadable,
            Self::OtherMemory => SkipKind::OtherMemory,
            Self::Unnameable | Self::MoreUnnameable(_) => SkipKind::Unnameable,
        }
    }
}
