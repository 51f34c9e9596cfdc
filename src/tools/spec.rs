//! [`Spec`]: a row of the table of tools.

use super::types::ToolSet;
use crate::request::Effect;

/// Type of a value.
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
    /// List of strings, at most this many.
    Texts(usize),
    /// Two whole numbers.
    Range,
    /// List of objects; only in answers.
    Objects,
}

/// A field of the arguments or of an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) required: bool,
    /// Description, if the name alone is not clear; else empty.
    pub(super) description: &'static str,
}

/// Identifies a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Id {
    Ask,
    Show,
    Keep,
    Change,
    Drop,
    ListItems,
    Undo,
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

/// A tool: a row of the table.
#[derive(Debug)]
pub(super) struct Spec {
    pub(super) id: Id,
    pub(super) name: &'static str,
    pub(super) set: ToolSet,
    pub(super) description: &'static str,
    pub(super) fields: &'static [Field],
    /// Fields of the structured answer; empty if the tool answers in text only.
    pub(super) answer: &'static [Field],
    /// Effect of the tool's command. If it has several commands, the strongest effect.
    pub(super) effect: Effect,
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
