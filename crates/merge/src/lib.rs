//! Three-way merges of Markdown files by frontmatter field, paragraph and entry of a log, without conflict marks and without
//! any I/O.
//!
//! * [`merge`] makes two changes of one file together. Its result does not depend on which side is ours, and merging it
//!   again with either side changes nothing.
//! * [`common_version`] finds a version that both sides come from, if nobody recorded it.
//!
//! ```
//! use saddlebag_merge::{Kind, Sides, merge};
//!
//! let sides = Sides { base: Some("- bread\n"), ours: Some("- bread\n- milk\n"), theirs: Some("- rye bread\n") };
//! let merged = merge(Kind::Note, sides);
//! assert_eq!(merged.text.unwrap(), "- rye bread\n- milk\n");
//! assert!(merged.conflicts.is_empty());
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::panic, clippy::unwrap_used))]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::string_slice, clippy::unreachable))]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod blocks;
mod body;
mod common;
mod fields;
mod head;
mod matching;
mod similar;
#[cfg(test)]
mod tests;

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

pub use common::common_version;

use body::merge_bodies;
use fields::{FORGOTTEN, TextOf, merge_heads};
use head::Head;

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

/// Makes the changes from the base to ours and those from the base to theirs together.
///
/// - A paragraph, an item, or a field that one side changed or deleted is taken from that side.
/// - A paragraph that both changed is kept in both versions, the version of the older file first, or in the order of their bytes.
/// - Lists in the frontmatter are sets. The time of the last change is the later one. Other fields have the newer value.
/// - What one side deleted stays deleted, also if the other side edited it. A forgotten entry stays forgotten, with the
///   edited text.
/// - Fields that say who wrote and approved a text come from the side of the text. A text of both has the provenance
///   that is trusted less, and no approval.
/// - Without a base, nothing counts as deleted.
#[must_use]
pub fn merge(kind: Kind, sides: Sides<'_>) -> Merged {
    let ends = [sides.base, sides.ours, sides.theirs].map(|side| side.map(LineEnds::of));
    let is_mixed = ends.contains(&Some(LineEnds::Mixed));
    let [base, ours, theirs] = [sides.base, sides.ours, sides.theirs].map(|side| {
        side.map(|text| if is_mixed { Cow::Borrowed(text) } else { Cow::Owned(text.replace("\r\n", "\n")) })
    });
    let mut merged = merge_ended(kind, base.as_deref(), ours.as_deref(), theirs.as_deref());
    let [base, ours, theirs] = ends.map(|end| end == Some(LineEnds::Windows));
    let is_windows = if ours == base { theirs } else { ours };
    if is_windows && !is_mixed {
        merged.text = merged.text.map(|text| text.replace('\n', "\r\n"));
    }
    merged
}

/// How the lines of a text end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineEnds {
    Unix,
    Windows,
    Mixed,
}

impl LineEnds {
    fn of(text: &str) -> Self {
        let windows = text.matches("\r\n").count();
        match windows {
            0 => Self::Unix,
            _ if windows == text.matches('\n').count() => Self::Windows,
            _ => Self::Mixed,
        }
    }
}

fn merge_ended(kind: Kind, base: Option<&str>, ours: Option<&str>, theirs: Option<&str>) -> Merged {
    let unchanged = |text: Option<&str>| Merged { text: text.map(String::from), conflicts: Vec::new() };
    if ours == theirs || theirs == base {
        return unchanged(ours);
    }
    if ours == base {
        return unchanged(theirs);
    }
    match (ours, theirs) {
        (Some(ours), Some(theirs)) => both(kind, base, ours, theirs),
        // What was added to a log stays.
        _ if kind == Kind::Log => {
            let mut merged = both(kind, base, ours.unwrap_or_default(), theirs.unwrap_or_default());
            merged.text = merged.text.filter(|text| !text.trim().is_empty());
            merged
        }
        _ => {
            let text = |side: Option<&str>| side.map(|side| side.trim_end().into());
            let conflict = Conflict { part: Part::File, base: text(base), ours: text(ours), theirs: text(theirs) };
            Merged { text: None, conflicts: Vec::from([conflict]) }
        }
    }
}

/// Merges two texts that both differ from the base.
fn both(kind: Kind, base: Option<&str>, ours: &str, theirs: &str) -> Merged {
    let heads = [base.unwrap_or_default(), ours, theirs].map(Head::parse);
    let [of_base, of_ours, of_theirs] = &heads;
    let is_swapped = (of_ours.changed(), ours) > (of_theirs.changed(), theirs);
    let (one, other) = if is_swapped { (of_theirs, of_ours) } else { (of_ours, of_theirs) };
    let mut conflicts = Vec::new();
    let body = merge_bodies(kind, base.map(|_| of_base.body), one.body, other.body, &mut conflicts);
    let text_of = TextOf::new(body == one.body, body == other.body);
    let mut text = merge_heads(of_base, one, other, text_of, &mut conflicts);
    for (forgetting, edited) in [(one, other), (other, one)] {
        let is_forgotten = |head: &Head<'_>| head.value(FORGOTTEN).is_some();
        if is_forgotten(forgetting) && !is_forgotten(of_base) && !is_forgotten(edited) && edited.body != of_base.body {
            let text = |head: &Head<'_>| Some(head.body.trim().into());
            let (ours, theirs) = if core::ptr::eq(edited, one) { (text(one), None) } else { (None, text(other)) };
            conflicts.push(Conflict { part: Part::File, base: text(of_base), ours, theirs });
        }
    }
    text.push_str(&body);
    if is_swapped {
        for conflict in &mut conflicts {
            core::mem::swap(&mut conflict.ours, &mut conflict.theirs);
        }
    }
    Merged { text: Some(text), conflicts }
}
