//! Types that several commands of the notebook share.

use core::cmp::Ordering;
use core::fmt::{self, Display, Formatter};
use core::ops::Range;

use saddlebag_collections::{prelude::*, words};

use crate::journal::Target;
use crate::trust::Provenance;
use saddlebag_markdown::Note;
use saddlebag_protocol::Error;

pub(crate) use crate::context::SUPERSEDES;
/// End of a warning about a second note with the same title. The message begins with the path of that note.
pub(super) const SAME_TITLE: &str = "has the same title, so a title now means both";
/// End of a warning about a second note whose title differs in case alone.
pub(super) const SAME_TITLE_BUT_FOR_CASE: &str = "has the same title in other case, so a title now means both";
/// Field of the frontmatter with the name of the session that a note is about.
pub(crate) const SESSION: &str = "session";
/// Field with the session that got the note as its hand-off.
pub(crate) const CLAIMED_BY: &str = "claimed-by";
/// Field with the choice of a person about the hand-off.
pub(crate) const HAND_OFF: &str = "hand-off";

/// A problem that did not stop the command.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// Path of the file, relative to the notebook; empty if it is about the command.
    pub path: String,
    /// Description of the problem, and how the command treated it.
    pub message: String,
}

impl Display for Warning {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Self { path, message } = self;
        if path.is_empty() { out.write_str(message) } else { write!(out, "{path}: {message}") }
    }
}

impl Warning {
    pub(crate) fn new(path: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_string(), message: message.into() }
    }
}

/// Returns the part of the text at a span. The span comes from the index, which may be of other text.
pub(super) fn part_of(text: &str, span: Range<usize>) -> Result<&str, Error> {
    let size = text.len();
    text.get(span.clone()).ok_or_else(|| Error::internal(format!("bytes {span:?} of text of {size} bytes")))
}

/// Returns the problem of a note's title that is a word for another file, such as `daily`.
pub(super) fn title_problem(title: &str) -> Option<String> {
    let is_page = Target::from_name(title).is_ok_and(|target| matches!(target, Target::Page(name) if name == title));
    (!is_page).then(|| format!("its title means another file: name the note `page:{title}`, or by its path"))
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
    /// `created` on the calendar of the reader: the day that the frontmatter says.
    pub(crate) calendar: u64,
    /// True if `created` is only the time of the last change. Such a note comes after those with a date.
    pub(crate) is_undated: bool,
    /// Origin of the text, if it keeps the note out of prompts.
    pub(crate) unapproved: Option<Provenance>,
}

impl<'a> NoteView<'a> {
    /// Returns a note of which only the names are known.
    pub(super) fn named(path: &'a str, note: &'a Note, unapproved: Option<Provenance>) -> Self {
        Self { path, text: "", note, modified: 0, created: 0, calendar: 0, is_undated: false, unapproved }
    }

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

/// A tag.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TagCount {
    /// Name without marks.
    pub name: String,
    /// Number of notes with the tag.
    pub notes: u32,
    /// Number that zk gives the tag: from 1, in the order in which it finds them.
    pub number: u64,
}

/// Number of memories for a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoriesReply {
    /// Number of memories.
    pub memories: u32,
}
