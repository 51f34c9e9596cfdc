//! [`Frontmatter`]: the YAML at the head of a note.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// The metadata at the head of a note.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frontmatter {
    /// The whole block with both of its fences; empty if there is none.
    pub span: Range<usize>,
    /// The keys of the top level, in lower case, in their order.
    pub entries: Vec<(String, Value)>,
    /// Why the YAML could not be read. The note is searched all the same.
    pub problem: Option<FrontmatterProblem>,
}

/// Why a frontmatter could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrontmatterProblem {
    /// The line of the file, counted from 1.
    pub line: u32,
    /// What is wrong with it.
    pub message: String,
}

/// A YAML value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`, `~`, nothing.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// Text, and everything else that is written plainly, such as a date.
    String(String),
    /// A sequence.
    List(Vec<Value>),
    /// A mapping, in its order.
    Map(Vec<(String, Value)>),
}

impl Frontmatter {
    /// The value of a key, given in lower case.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}
