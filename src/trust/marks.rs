//! [`Marks`]: whether the text of an item is unapproved, superseded or for other projects.

use super::provenance::Provenance;
use saddlebag_collections::prelude::*;

/// Whether the text of an item is unapproved, superseded or for other projects. Everything that shows an item shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Marks {
    /// Origin of its text, if the text is kept out of prompts until a person approves it.
    pub unapproved: Option<Provenance>,
    /// Projects whose prompts it is for, because an agent wrote it there; empty if it is for the prompts of this memory.
    pub only_in: Vec<String>,
    /// Path of the newer note, or key of the newer entry, that supersedes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// Day of the newer note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_since: Option<String>,
}

impl Marks {
    /// Returns true if its text may not go into the prompts of this memory.
    pub fn is_withheld(&self) -> bool {
        self.unapproved.is_some() || !self.only_in.is_empty()
    }

    /// Returns the marks in words, such as `superseded by facts/port.md since 2026-05-24` and `unapproved: tool`.
    ///
    /// ```
    /// use saddlebag::trust::{Marks, Provenance};
    ///
    /// let marks = Marks {
    ///     unapproved: Some(Provenance::Tool),
    ///     superseded_by: Some("facts/port.md".into()),
    ///     ..Marks::default()
    /// };
    /// assert_eq!(marks.texts(), ["superseded by facts/port.md", "unapproved: tool"]);
    /// ```
    pub fn texts(&self) -> Vec<String> {
        let since = self.superseded_since.as_ref().map(|day| format!(" since {day}")).unwrap_or_default();
        let newer = self.superseded_by.as_ref().map(|by| format!("superseded by {by}{since}"));
        let withheld = match (self.unapproved, self.only_in.as_slice()) {
            (Some(from), _) => Some(format!("unapproved: {from}")),
            (None, []) => None,
            (None, projects) => Some(format!("only in {}", projects.join(", "))),
        };
        newer.into_iter().chain(withheld).collect()
    }
}
