//! Types that several commands of the notebook share.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::Range;

use saddlebag_words::words;

use crate::document::Note;
use crate::engine::Scope;
use crate::protocol::Error;

/// Field of a note that names the notes which it replaces.
pub(crate) const SUPERSEDES: &str = "supersedes";

/// A problem that did not stop the command.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// Path of the file, relative to the notebook.
    pub path: String,
    /// Description of the problem, and how the command treated it.
    pub message: String,
}

impl Warning {
    pub(crate) fn new(path: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_string(), message: message.into() }
    }
}

/// Returns the part of a text at a span. The span comes from the index, which may be of another text.
pub(super) fn part_of(text: &str, span: Range<usize>) -> Result<&str, Error> {
    let size = text.len();
    text.get(span.clone()).ok_or_else(|| Error::internal(format!("bytes {span:?} of a text of {size} bytes")))
}

/// Filter for notes: a note matches if it meets every condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoteFilter {
    /// Paths or prefixes of paths, one of which must match.
    pub paths: Vec<String>,
    /// Paths or prefixes of paths that must not match.
    pub exclude: Vec<String>,
    /// Tag conditions as globs, all of which must hold; `a OR b` and `NOT a` are possible in one.
    pub tags: Vec<String>,
    /// If set, selects only notes without tags.
    pub tagless: bool,
    /// Selects notes that one of these links to.
    pub linked_by: Vec<String>,
    /// Selects notes that link to one of these.
    pub link_to: Vec<String>,
    /// Selects notes that none of these links to.
    pub no_linked_by: Vec<String>,
    /// Selects notes that link to none of these.
    pub no_link_to: Vec<String>,
    /// If set, follows links over several notes.
    pub recursive: bool,
    /// Maximum number of links to follow; has an effect only with `recursive`.
    pub max_distance: Option<u32>,
    /// Selects notes two links away from one of these.
    pub related: Vec<String>,
    /// Selects notes with the title or an alias of one of these in their text, as words of its own, whatever the case.
    pub mention: Vec<String>,
    /// Selects notes whose title or alias is in the text of one of these, as words of its own, whatever the case.
    pub mentioned_by: Vec<String>,
    /// If set, selects only notes without links from other notes.
    pub orphan: bool,
    /// If set, selects only notes that do not link back to a note that links to them.
    pub missing_backlink: bool,
    /// Selects notes created on this day, month, year, or at this moment.
    pub created: Option<String>,
    /// Selects notes created before this time.
    pub created_before: Option<String>,
    /// Selects notes created after this time.
    pub created_after: Option<String>,
    /// Selects notes changed on this day, month, year, or at this moment.
    pub modified: Option<String>,
    /// Selects notes changed before this time.
    pub modified_before: Option<String>,
    /// Selects notes changed after this time.
    pub modified_after: Option<String>,
}

impl NoteFilter {
    /// Returns the filter with paths relative to the notebook. Replies show longer paths.
    pub(super) fn below_notebook(mut self, scope: &Scope) -> Self {
        let below = |path: &mut String| {
            if let Some(below) = scope.below_notebook(path) {
                *path = below.into();
            }
        };
        self.paths.iter_mut().chain(&mut self.exclude).for_each(below);
        self.named_notes_mut().into_iter().flatten().for_each(below);
        self
    }

    /// Returns the lists of notes that the filter names.
    pub(super) fn named_notes(&self) -> [&Vec<String>; 7] {
        let Self { linked_by, link_to, no_linked_by, no_link_to, related, mention, mentioned_by, .. } = self;
        [linked_by, link_to, no_linked_by, no_link_to, related, mention, mentioned_by]
    }

    /// Returns the lists of notes that the filter names, to change them.
    pub(super) fn named_notes_mut(&mut self) -> [&mut Vec<String>; 7] {
        let Self { linked_by, link_to, no_linked_by, no_link_to, related, mention, mentioned_by, .. } = self;
        [linked_by, link_to, no_linked_by, no_link_to, related, mention, mentioned_by]
    }

    /// Returns true if the filter needs the texts of notes, which the index does not keep.
    pub(super) fn needs_text(&self) -> bool {
        !self.mention.is_empty() || !self.mentioned_by.is_empty()
    }
}

/// A key to sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// Field to sort by.
    pub by: SortBy,
    /// True for ascending order.
    pub ascending: bool,
}

/// A field to sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// Time of creation; descending by default.
    Created,
    /// Time of the last change; descending by default.
    Modified,
    /// Path.
    Path,
    /// Title.
    Title,
    /// Number of words.
    WordCount,
}

/// The fields of a note that a listing can be sorted by.
#[derive(Clone, Copy, Debug)]
pub struct SortFields<'a> {
    /// Time of creation, in nanoseconds since 1970-01-01T00:00:00Z. A note without one comes after those with one.
    pub created: Option<u64>,
    /// Time of the last change, in nanoseconds since 1970-01-01T00:00:00Z.
    pub modified: u64,
    /// Path.
    pub path: &'a str,
    /// Title.
    pub title: &'a str,
    /// Number of words.
    pub word_count: u32,
}

impl SortKey {
    /// Compares two notes by the first key in which they differ.
    #[must_use]
    pub fn compare(keys: &[Self], a: &SortFields<'_>, b: &SortFields<'_>) -> Ordering {
        let by_key = |key: &Self| {
            let ascending = match (key.by, a.created, b.created) {
                (SortBy::Created, Some(a), Some(b)) => a.cmp(&b),
                (SortBy::Created, Some(_), None) => return Ordering::Less,
                (SortBy::Created, None, Some(_)) => return Ordering::Greater,
                (SortBy::Created, None, None) | (SortBy::Modified, ..) => a.modified.cmp(&b.modified),
                (SortBy::Path, ..) => a.path.cmp(b.path),
                (SortBy::Title, ..) => a.title.cmp(b.title),
                (SortBy::WordCount, ..) => a.word_count.cmp(&b.word_count),
            };
            if key.ascending { ascending } else { ascending.reverse() }
        };
        keys.iter().map(by_key).find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
    }
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
    /// Path relative to the notebook.
    pub(crate) path: &'a str,
    pub(crate) text: &'a str,
    pub(crate) note: &'a Note,
    /// Time of the last change, in nanoseconds since 1970-01-01T00:00:00Z.
    pub(crate) modified: u64,
    /// Time of creation: the date in the frontmatter, else `modified`.
    pub(crate) created: u64,
    /// True if `created` is only the time of the last change. Such a note comes after those with a date.
    pub(crate) is_undated: bool,
}

impl<'a> NoteView<'a> {
    /// Returns the fields to sort by.
    pub(super) fn sort_fields(&self) -> SortFields<'a> {
        SortFields {
            created: (!self.is_undated).then_some(self.created),
            modified: self.modified,
            path: self.path,
            title: &self.note.title,
            word_count: self.note.word_count,
        }
    }
}

/// Number of memories for a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoriesReply {
    /// Number of memories.
    pub memories: u32,
}
