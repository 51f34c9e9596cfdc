//! The fields of a note, and the results of a search.

use core::cmp::Reverse;
use saddlebag_collections::prelude::*;

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
    /// Fields in the order of their positions.
    pub const ALL: [Self; FIELDS] = [Self::Title, Self::Aliases, Self::Headings, Self::Tags, Self::Path, Self::Body];

    /// Returns the name as it is shown.
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

    /// Returns the field that `name:` selects in a query.
    pub fn from_filter_name(name: &str) -> Option<Self> {
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
    /// Adds a field.
    pub fn insert(&mut self, field: Field) {
        self.0 |= 1 << field as u8;
    }

    /// Returns true if the set contains the field.
    pub fn contains(self, field: Field) -> bool {
        self.0 & 1 << field as u8 != 0
    }

    /// Returns the fields, in order.
    pub fn iter(self) -> impl Iterator<Item = Field> {
        Field::ALL.into_iter().filter(move |&field| self.contains(field))
    }
}

/// Order of documents with equal scores: the newer one first, then by path. Neither depends on how the index was
/// built.
pub type Tie<'a> = (Reverse<u64>, &'a str);

/// Documents that match a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// Hits, best first.
    pub hits: Vec<Ranked>,
    /// Number of all documents that match.
    pub total: u32,
    /// True if nothing matched the query as written, so that its phrases were taken as words and its requirements as
    /// wishes.
    pub is_relaxed: bool,
}

/// A document that matches, with the reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Number of the source that has the document.
    pub source: usize,
    /// Number of the document.
    pub doc: u32,
    /// Sum of the parts and the bonuses, multiplied by the weight, and what is inherited.
    pub score: f32,
    /// Words that it has, as they are spelled in the query, without stop words.
    pub terms: Vec<String>,
    /// Fields that have these words.
    pub fields: FieldSet,
    /// Parts of the score, by word and field.
    pub parts: Vec<ScorePart>,
    /// Bonus for the share of the query that it has.
    pub coverage: f32,
    /// Bonus for words that are adjacent as in the query.
    pub phrase: f32,
    /// Bonus for words that are close together.
    pub proximity: f32,
    /// Difference between the score of a superseded document and this document's own score, if the former is higher.
    pub inherited: f32,
    /// Factor for the sum; less than 1 if another document supersedes this one.
    pub weight: f32,
}

/// Part of a score: one word in one field.
#[derive(Clone, Debug, PartialEq)]
pub struct ScorePart {
    /// Word, as it is spelled in the query.
    pub term: String,
    /// Field that has the word.
    pub field: Field,
    /// Number of occurrences in the field, in any form.
    pub tf: u32,
    /// Weight of the word: rarer ones have more.
    pub idf: f32,
    /// Amount that is added.
    pub amount: f32,
}
