//! What a search gives.

use alloc::string::String;
use alloc::vec::Vec;

use crate::protocol::FsError;
use crate::trust::{ForModel, Provenance};

/// How many line numbers a hit carries at most; `total_lines` counts all.
pub const MAX_HIT_LINES: usize = 1000;

/// The answer to a search.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchResults {
    /// The terms of the query, each with the number of lines that have it.
    pub terms: Vec<TermCount>,
    /// How many files match.
    pub total_files: u32,
    /// The page of matches that was asked for, best first.
    pub hits: Vec<SearchHit>,
    /// The hits as text for a model or a person, within the byte budget that was asked for.
    pub rendered: ForModel,
    /// How many hits are in `rendered`.
    pub rendered_hits: u32,
    /// Files that could not be searched.
    pub skipped: Vec<Skipped>,
}

/// A term and the number of lines that have it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TermCount {
    /// The term as it stands in the query.
    pub term: String,
    /// Lines over all files.
    pub lines: u32,
}

/// A file that matches.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchHit {
    /// The file.
    pub path: String,
    /// The terms that it has, in the order of the query.
    pub terms: Vec<String>,
    /// The lines that match, counted from 1, at most [`MAX_HIT_LINES`]; none if only the name does.
    pub lines: Vec<u32>,
    /// How many lines match.
    pub total_lines: u32,
    /// Only the name of the file matches.
    pub filename_only: bool,
    /// The date of a daily log.
    pub date: Option<String>,
    /// Whether the file is long-term memory.
    pub long_term: bool,
    /// The line above the body in [`SearchResults::rendered`].
    pub heading: ForModel,
    /// The windows of lines around the first matches.
    pub body: String,
    /// Where its text comes from, if that keeps it out of prompts until it is approved.
    pub unapproved: Option<Provenance>,
}

/// A file that could not be searched.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Skipped {
    /// The file.
    pub path: String,
    /// Why.
    #[serde(serialize_with = "crate::json::display")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub reason: SkipReason,
}

/// Why a file was left out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkipReason {
    /// It is not UTF-8.
    #[error("not UTF-8 text")]
    NotText,
    /// It is larger than the limit; the number is its size in bytes.
    #[error("too large ({0} bytes)")]
    TooLarge(u64),
    /// It is a symbolic link, a device or a pipe.
    #[error("a symbolic link or special file")]
    NotRegular,
    /// The index holds as much text as it may.
    #[error("the index is full")]
    IndexFull,
    /// It could not be read.
    #[error("could not be read: {0}")]
    Unreadable(FsError),
    /// It is a folder that some file systems take for that of another project, agent or workspace.
    #[error("named like the folder of another memory, in another spelling; rename it, and its notes are read")]
    OtherMemory,
    /// It has a name that no path may have. The path spells it as well as a path can.
    #[error("its name is not UTF-8, or has `\\` or a control character; rename it, and it is read")]
    Unnameable,
    /// It is a folder that has this many more files and folders under such names.
    #[error("{0} more in it have names that are not UTF-8, or have `\\` or a control character; rename them")]
    MoreUnnameable(u32),
}
