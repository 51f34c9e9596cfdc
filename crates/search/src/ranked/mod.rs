//! Ranked search: which notes answer a question best, and which passage of them.
//!
//! A [`RankedIndex`] holds for every word the notes, fields and positions that have it. A [`Query`] is a
//! sentence, or words with the operators of `zk --match`; [`RankedIndex::search`] gives the notes that
//! match it, best first, each with the parts of its score. [`Passages`] finds the part of a note's text
//! that says most about the query.

mod evidence;
mod index;
mod matching;
mod passage;
mod plan;
mod postings;
mod query;
mod score;
mod segment;
mod stem;
#[cfg(test)]
mod tests;
mod tokens;

pub use index::{Fields, RankedIndex};
pub use passage::{Passage, Passages};
pub use query::{EmptyQuery, Joining, Query};
pub use score::{Ranked, Ranking, ScorePart, Tie};

/// Number of fields of a note.
pub const FIELDS: usize = 6;

/// A part of a note that is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// The title.
    Title,
    /// Other names of the note.
    Aliases,
    /// The headings in the text.
    Headings,
    /// The tags.
    Tags,
    /// The path of the file.
    Path,
    /// The text.
    Body,
}

impl Field {
    /// In the order of their positions.
    pub const ALL: [Self; FIELDS] = [Self::Title, Self::Aliases, Self::Headings, Self::Tags, Self::Path, Self::Body];

    /// The name as it is shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Aliases => "aliases",
            Self::Headings => "headings",
            Self::Tags => "tags",
            Self::Path => "path",
            Self::Body => "body",
        }
    }

    /// The field that `name:` means in a query.
    pub fn of_filter(name: &str) -> Option<Self> {
        match name {
            "title" => Some(Self::Title),
            "alias" | "aliases" => Some(Self::Aliases),
            "heading" | "headings" => Some(Self::Headings),
            "tag" | "tags" => Some(Self::Tags),
            "path" => Some(Self::Path),
            "body" => Some(Self::Body),
            _ => None,
        }
    }
}

/// A set of fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldSet(u8);

impl FieldSet {
    /// Puts a field in.
    pub fn insert(&mut self, field: Field) {
        self.0 |= 1 << field as u8;
    }

    /// Returns true if the field is among them.
    #[must_use]
    pub fn contains(self, field: Field) -> bool {
        self.0 & 1 << field as u8 != 0
    }

    /// The fields, in their order.
    pub fn iter(self) -> impl Iterator<Item = Field> {
        Field::ALL.into_iter().filter(move |&field| self.contains(field))
    }
}
