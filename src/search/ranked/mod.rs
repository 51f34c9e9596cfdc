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

pub(crate) use index::{Fields, RankedIndex};
pub(crate) use passage::Passages;
pub(crate) use query::{Joining, Query};
pub(crate) use score::{Ranked, Ranking, Tie};

/// How many fields a note has.
pub(crate) const FIELDS: usize = 6;

/// A part of a note that is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Field {
    Title,
    Aliases,
    Headings,
    Tags,
    Path,
    Body,
}

impl Field {
    /// In the order of their positions.
    pub(crate) const ALL: [Self; FIELDS] =
        [Self::Title, Self::Aliases, Self::Headings, Self::Tags, Self::Path, Self::Body];

    /// As it is shown.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Aliases => "aliases",
            Self::Headings => "headings",
            Self::Tags => "tags",
            Self::Path => "path",
            Self::Body => "body",
        }
    }

    /// The field that `name:` stands for in a query.
    pub(crate) fn of_filter(name: &str) -> Option<Self> {
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

/// Several fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSet(u8);

impl FieldSet {
    pub(crate) fn insert(&mut self, field: Field) {
        self.0 |= 1 << field as u8;
    }

    pub(crate) fn contains(self, field: Field) -> bool {
        self.0 & 1 << field as u8 != 0
    }

    /// The fields, in their order.
    pub(crate) fn iter(self) -> impl Iterator<Item = Field> {
        Field::ALL.into_iter().filter(move |&field| self.contains(field))
    }
}
