//! Searching the text of a store.
//!
//! A `Corpus` keeps the text of the files that a search covers and an index of their words. It is
//! brought up to date by listing the folders and reading only what changed; `Corpus::search` then
//! answers from memory. [`saddlebag_search`] finds and ranks; this room keeps the files that it is asked about,
//! and says which notes are newer than others, and which files are memory of the journal. Ranking, windows and rendering are byte for byte those of zerostack v1.7.2.

mod corpus;
mod files;
mod index_file;
mod refresh;
mod render;
mod scopes;

use alloc::string::String;
use alloc::vec::Vec;

pub use render::TRUNCATED;
pub use saddlebag_search::literal::Terms;

pub(crate) use corpus::Corpus;
pub(crate) use files::{DocId, Document, Files};
pub(crate) use index_file::{read as read_index_file, save as save_index_file};
pub(crate) use refresh::{Purpose, load_texts, read_all, refresh};
pub(crate) use saddlebag_search::ranked;
pub(crate) use scopes::{FolderScope, list_markdown, list_tree};

use crate::document::Note;
use crate::protocol::FsError;
use crate::trust::{ForModel, Provenance};

/// How many line numbers a hit carries at most; `total_lines` counts all.
pub const MAX_HIT_LINES: usize = 1000;

/// How long a question for ranked search may be, in bytes.
pub const MAX_QUESTION_BYTES: usize = 65_536;

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
    /// The windows of lines around the first matches.
    pub body: String,
    /// Where its text comes from, if that keeps it out of prompts until it is approved.
    pub unapproved: Option<Provenance>,
}

/// The best passage of a note, of `max_bytes` at most.
pub(crate) fn best_passage(
    passages: &mut ranked::Passages,
    text: &str,
    note: &Note,
    max_bytes: usize,
) -> Option<ranked::Passage> {
    let mut headings = note.headings.iter().map(|heading| heading.span.clone());
    passages.best(text, note.body.clone(), &mut headings, max_bytes)
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
}
