//! The fields of a note, and the results of a search.

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

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

/// Orders documents of equal score: the newer one first, then by path. Neither says how the index came
/// to be.
pub type Tie<'a> = (Reverse<u64>, &'a str);

/// The documents that match a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// Best first.
    pub hits: Vec<Ranked>,
    /// Number of all documents that match.
    pub total: u32,
    /// True if nothing matched as the query asks for it, so that its phrases were taken as words and what
    /// it requires as wishes.
    pub is_relaxed: bool,
}

/// A document that matches, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// The number of the document.
    pub doc: u32,
    /// The sum of the parts and the bonuses, multiplied with the document's weight.
    pub score: f32,
    /// The words that it has, as the query has them; stop words are not named.
    pub terms: Vec<String>,
    /// Where it has them.
    pub fields: FieldSet,
    /// The part that each word in each field adds.
    pub parts: Vec<ScorePart>,
    /// For the share of the query that it has.
    pub coverage: f32,
    /// For words that stand side by side as in the query.
    pub phrase: f32,
    /// For words that stand close together.
    pub proximity: f32,
    /// The weight that the caller gives the document.
    pub weight: f32,
}

/// The part of a score that one word in one field adds.
#[derive(Clone, Debug, PartialEq)]
pub struct ScorePart {
    /// As the query has it.
    pub term: String,
    /// The field that has the word.
    pub field: Field,
    /// Number of occurrences in the field, in any form.
    pub tf: u32,
    /// The weight of the word: rarer ones have more.
    pub idf: f32,
    /// The amount that is added.
    pub amount: f32,
}
