//! [`merge`]: the three-way merge of a file.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::merges::body::merge_bodies;
use crate::merges::fields::{FORGOTTEN, TextOf, merge_heads};
use crate::merges::head::Head;
use crate::merges::types::{Conflict, Kind, Merged, Part, Sides};

/// Makes the changes from the base to ours and those from the base to theirs together.
///
/// - A paragraph, an item, or a field that one side changed or deleted is taken from that side.
/// - A paragraph that both changed is kept in both versions, the version of the older file first, or in the order of their bytes.
/// - Lists in the frontmatter are sets. The time of the last change is the later one. Other fields have the
///   value of the file with the later `updated`, or without it of the one that is later in the order of bytes.
/// - A paragraph that both moved is there once, at the first of the two places.
/// - What one side deleted stays deleted, also if the other side edited it. A forgotten entry stays forgotten, with the
///   edited text.
/// - Fields that say who wrote and approved text come from the side of the text. Text of both has the provenance
///   that is trusted less, and no approval.
/// - Without a base, nothing counts as deleted, and what both have is there once.
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

/// How lines end.
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
