//! [`Spec`]: a row of the table of the tools.

use super::types::ToolSet;
use crate::request::Effect;

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Any text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number within these bounds.
    Integer {
        least: i64,
        most: i64,
    },
    Flag,
    /// Texts, at most so many.
    Texts(usize),
    /// Two whole numbers.
    Range,
    /// Objects, of answers alone.
    Objects,
}

/// A field of the arguments or of an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) required: bool,
    /// What its name does not say; empty where that is nothing.
    pub(super) description: &'static str,
}

/// Which tool it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Id {
    Write,
    Read,
    Edit,
    Search,
    Store,
    Recall,
    List,
    Forget,
    Remember,
    RecallNotes,
    Journal,
    Link,
    Related,
    Memory,
}

/// A tool.
#[derive(Debug)]
pub(super) struct Spec {
    pub(super) id: Id,
    pub(super) name: &'static str,
    pub(super) set: ToolSet,
    pub(super) description: &'static str,
    pub(super) fields: &'static [Field],
    /// What its structured answer has; nothing if it has none.
    pub(super) answer: &'static [Field],
    /// That of its commands: the strongest, if there are several.
    pub(super) effect: Effect,
    /// Called again with the same arguments, it changes nothing further.
    pub(super) idempotent: bool,
}

pub(super) const fn needed(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: true, description: "" }
}

pub(super) const fn optional(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: false, description: "" }
}

impl Field {
    pub(super) const fn about(self, description: &'static str) -> Self {
        Self { description, ..self }
    }
}
