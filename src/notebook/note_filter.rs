//! [`NoteFilter`]: selects notes by conditions.

use crate::engine::Scope;
use saddlebag_collections::prelude::*;

/// Filter for notes: a note matches if it meets the conditions and every field that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NoteFilter {
    /// Conditions with a value. The kind of a condition says how many of its kind must hold.
    pub conditions: Vec<NoteCondition>,
    /// If set, selects only notes without tags.
    pub tagless: bool,
    /// If set, selects only notes without links from other notes.
    pub orphan: bool,
    /// If set, selects only notes that do not link back to a note that links to them.
    pub missing_backlink: bool,
    /// If set, conditions on links also follow links of linked notes.
    pub recursive: bool,
    /// Maximum number of links to follow; has an effect only with `recursive`.
    pub max_distance: Option<u32>,
}

/// A condition on a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteCondition {
    /// Meaning of the value.
    pub kind: ConditionKind,
    /// A path, a tag, a note or a date, as the kind says.
    pub value: String,
}

/// Kind of a [`NoteCondition`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionKind {
    /// The path is the value, or begins with it. One condition of this kind must hold.
    Path,
    /// The path neither is the value nor begins with it. All must hold.
    Exclude,
    /// The note has this tag. A glob, `a OR b` and `NOT a` are possible. All must hold.
    Tag,
    /// This note links to it. One must hold.
    LinkedBy,
    /// It links to this note. One must hold.
    LinkTo,
    /// This note does not link to it. All must hold.
    NoLinkedBy,
    /// It does not link to this note. All must hold.
    NoLinkTo,
    /// It is two links away from this note. One must hold.
    Related,
    /// It contains the title or an alias of this note, as whole words, ignoring case. One must hold.
    Mention,
    /// This note contains its title or an alias, as whole words, ignoring case. One must hold.
    MentionedBy,
    /// It was created on this day, month, year, or at this moment. All must hold.
    Created,
    /// It was created before this time. All must hold.
    CreatedBefore,
    /// It was created after this time. All must hold.
    CreatedAfter,
    /// It was changed on this day, month, year, or at this moment. All must hold.
    Modified,
    /// It was changed before this time. All must hold.
    ModifiedBefore,
    /// It was changed after this time. All must hold.
    ModifiedAfter,
}

impl ConditionKind {
    /// Returns true if the value names a note.
    pub(super) fn names_a_note(self) -> bool {
        match self {
            Self::LinkedBy
            | Self::LinkTo
            | Self::NoLinkedBy
            | Self::NoLinkTo
            | Self::Related
            | Self::Mention
            | Self::MentionedBy => true,
            Self::Path
            | Self::Exclude
            | Self::Tag
            | Self::Created
            | Self::CreatedBefore
            | Self::CreatedAfter
            | Self::Modified
            | Self::ModifiedBefore
            | Self::ModifiedAfter => false,
        }
    }
}

impl NoteFilter {
    /// Adds a condition for each value.
    ///
    /// ```
    /// use saddlebag::notebook::{ConditionKind, NoteFilter};
    ///
    /// let filter = NoteFilter::default().with(ConditionKind::Tag, ["rust", "NOT draft"]);
    /// assert_eq!(filter.values(ConditionKind::Tag), ["rust", "NOT draft"]);
    /// ```
    pub fn with(mut self, kind: ConditionKind, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.conditions.extend(values.into_iter().map(|value| NoteCondition { kind, value: value.into() }));
        self
    }

    /// Returns the values of the conditions of a kind.
    pub fn values(&self, kind: ConditionKind) -> Vec<&str> {
        let values = self.conditions.iter().filter(|condition| condition.kind == kind);
        values.map(|condition| condition.value.as_str()).collect()
    }

    /// Returns the filter with paths relative to the notebook. Replies show longer paths.
    pub(crate) fn below_notebook(mut self, scope: &Scope) -> Self {
        for NoteCondition { kind, value } in &mut self.conditions {
            let is_path = kind.names_a_note() || matches!(kind, ConditionKind::Path | ConditionKind::Exclude);
            if let Some(below) = scope.below_notebook(value).filter(|_| is_path) {
                *value = below.into();
            }
        }
        self
    }

    /// Returns true if the filter has a condition that names a note.
    pub fn names_notes(&self) -> bool {
        self.conditions.iter().any(|condition| condition.kind.names_a_note())
    }

    /// Returns true if the filter follows links.
    pub(super) fn needs_links(&self) -> bool {
        let is_about_links = |kind| {
            matches!(
                kind,
                ConditionKind::LinkedBy
                    | ConditionKind::LinkTo
                    | ConditionKind::NoLinkedBy
                    | ConditionKind::NoLinkTo
                    | ConditionKind::Related
            )
        };
        self.orphan || self.missing_backlink || self.conditions.iter().any(|condition| is_about_links(condition.kind))
    }

    /// Returns true if the filter is about nothing but tags and dates, which items of every kind have.
    pub(crate) fn is_of_facts(&self) -> bool {
        let is_place = |kind| matches!(kind, ConditionKind::Path | ConditionKind::Exclude);
        !self.orphan
            && !self.missing_backlink
            && self.conditions.iter().all(|condition| !condition.kind.names_a_note() && !is_place(condition.kind))
    }

    /// Returns true if the filter needs the text of notes, which the index does not keep.
    pub(super) fn needs_text(&self) -> bool {
        let is_mention = |kind| matches!(kind, ConditionKind::Mention | ConditionKind::MentionedBy);
        self.conditions.iter().any(|condition| is_mention(condition.kind))
    }
}
