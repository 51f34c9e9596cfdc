//! The versions of a file, and what a merge makes of them.

use alloc::string::String;
use alloc::vec::Vec;

/// What a file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A note, an entry, or any other text.
    #[default]
    Note,
    /// A log whose entries begin with a heading such as `### 14:05 — heading`. What both sides add is put in the order of time.
    Log,
}

/// The three versions of a file. `None` is a version in which the file does not exist; for the base also that none is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sides<'a> {
    /// A version that both sides had.
    pub base: Option<&'a str>,
    /// One version that came from the base.
    pub ours: Option<&'a str>,
    /// The other version.
    pub theirs: Option<&'a str>,
}

/// Result of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Text of the file; `None` if the file is deleted.
    pub text: Option<String>,
    /// Parts that both sides changed, for a person to look at.
    pub conflicts: Vec<Conflict>,
}

/// A part that both sides changed in different ways.
///
/// If both sides have a text, a paragraph is in the result twice, and a field has the newer value. If one side deleted the part,
/// it stays deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The part.
    pub part: Part,
    /// Its text in the base; `None` if both sides added it.
    pub base: Option<String>,
    /// Its text on our side; `None` if it was deleted.
    pub ours: Option<String>,
    /// Its text on their side; `None` if it was deleted.
    pub theirs: Option<String>,
}

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of the file.
    File,
    /// The frontmatter, which cannot be read as fields.
    Frontmatter,
    /// A field of the frontmatter, by its key.
    Field(String),
    /// A paragraph, an item of a list, a row of a table, a heading, or code.
    Paragraph,
}
