//! The words that several commands of the notebook share.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use saddlebag_words::words;

use crate::document::Note;
use crate::engine::Scope;
use crate::protocol::Error;

/// The field of a note that names the notes which it takes the place of.
pub(crate) const SUPERSEDES: &str = "supersedes";

/// Something that is not as its author may think; the command went on.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// The file that it is about, below the root of the notebook.
    pub path: String,
    /// The problem, and what is done about it.
    pub message: String,
}

impl Warning {
    pub(crate) fn new(path: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_string(), message: message.into() }
    }
}

/// The part of a text that something parsed from this text spans. What the index says of a file need not be parsed from
/// the file as it is.
pub(super) fn part_of(text: &str, span: Range<usize>) -> Result<&str, Error> {
    let size = text.len();
    text.get(span.clone()).ok_or_else(|| Error::internal(format!("bytes {span:?} of a text of {size} bytes")))
}

/// Selects notes: a note is listed if it meets every condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoteFilter {
    /// Queries; all of them must match.
    pub matches: Vec<String>,
    /// The way in which the queries match.
    pub strategy: MatchStrategy,
    /// Paths, or beginnings of paths; one of them must fit.
    pub paths: Vec<String>,
    /// Paths that must not fit.
    pub exclude: Vec<String>,
    /// Tags as globs: all must be there; `a OR b`, `NOT a` in one.
    pub tags: Vec<String>,
    /// No tags at all.
    pub tagless: bool,
    /// Notes that one of these links to.
    pub linked_by: Vec<String>,
    /// Notes that link to one of these.
    pub link_to: Vec<String>,
    /// Notes that none of these links to.
    pub no_linked_by: Vec<String>,
    /// Notes that link to none of these.
    pub no_link_to: Vec<String>,
    /// Follow links over several notes.
    pub recursive: bool,
    /// The most links to follow; of effect with `recursive`.
    pub max_distance: Option<u32>,
    /// Notes two links away from one of these.
    pub related: Vec<String>,
    /// Notes that mention the title or an alias of one of these.
    pub mention: Vec<String>,
    /// Notes whose title or alias one of these mentions.
    pub mentioned_by: Vec<String>,
    /// Nothing links to it.
    pub orphan: bool,
    /// A note links to it to which it does not link back.
    pub missing_backlink: bool,
    /// Created on this day, month, year, or at this moment.
    pub created: Option<String>,
    /// Created before.
    pub created_before: Option<String>,
    /// Created after.
    pub created_after: Option<String>,
    /// Changed on this day, month, year, or at this moment.
    pub modified: Option<String>,
    /// Changed before.
    pub modified_before: Option<String>,
    /// Changed after.
    pub modified_after: Option<String>,
}

impl NoteFilter {
    /// The filter with its paths below the notebook: replies show them with more before them.
    pub(super) fn below_notebook(mut self, scope: &Scope) -> Self {
        let lists = [
            &mut self.paths,
            &mut self.exclude,
            &mut self.linked_by,
            &mut self.link_to,
            &mut self.no_linked_by,
            &mut self.no_link_to,
            &mut self.related,
            &mut self.mention,
            &mut self.mentioned_by,
        ];
        for path in lists.into_iter().flatten() {
            if let Some(below) = scope.below_notebook(path) {
                *path = below.into();
            }
        }
        self
    }

    /// Returns true if the filter looks into the texts of notes, which the index does not keep.
    pub(super) fn needs_text(&self) -> bool {
        self.matches.iter().any(|query| !query.is_empty()) || !self.mention.is_empty() || !self.mentioned_by.is_empty()
    }
}

/// The way in which the queries of a filter match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchStrategy {
    /// Words of path, title and body, stemmed; zk's query syntax.
    #[default]
    FullText,
    /// The text as it stands anywhere in the file, whatever the case of ASCII letters.
    Exact,
}

/// A key to sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// The field.
    pub by: SortBy,
    /// From small to large.
    pub ascending: bool,
}

/// A field to sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// When it was created; descending unless told otherwise.
    Created,
    /// When it was changed; descending unless told otherwise.
    Modified,
    /// Its path.
    Path,
    /// Its title.
    Title,
    /// The number of its words.
    WordCount,
}

words!(SortBy, "sorting key" {
    Created = "created",
    Modified = "modified",
    Path = "path",
    Title = "title",
    WordCount = "word-count",
});

/// A note of the index, as filters and links see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoteView<'a> {
    /// Below the root of the notebook, not of the store.
    pub(crate) path: &'a str,
    pub(crate) text: &'a str,
    pub(crate) note: &'a Note,
    /// In nanoseconds since 1970-01-01T00:00:00Z.
    pub(crate) modified: u64,
    /// From the frontmatter's date, else `modified`.
    pub(crate) created: u64,
}

/// The number of memories that there are for a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoriesReply {
    /// The number of memories.
    pub memories: u32,
}
