//! The sides of a merge, and the merged text: its blocks, and the white space between two that were not neighbours before.

use alloc::string::String;

use crate::merges::blocks::{Block, Body, Class};

/// A block of the result, and its places in the sides, counted from 1.
#[derive(Clone, Copy)]
pub(crate) struct Element<'a> {
    pub(crate) text: &'a str,
    pub(crate) class: Class,
    pub(crate) places: [Option<usize>; 3],
}

impl Element<'_> {
    /// See [`Block::depth`].
    pub(crate) fn depth(&self) -> usize {
        Block { text: self.text, class: self.class, gap: "" }.depth()
    }
}

/// Base, one and other.
pub(crate) struct Sides<'a>(pub(crate) [Body<'a>; 3]);

impl<'a> Sides<'a> {
    pub(crate) fn block(&self, side: usize, index: usize) -> Option<Block<'a>> {
        self.0.get(side)?.blocks.get(index).copied()
    }

    pub(crate) fn length(&self, side: usize) -> usize {
        self.0.get(side).map_or(0, |side| side.blocks.len())
    }

    /// Returns the text of the elements.
    pub(crate) fn render(&self, elements: &[Element<'a>]) -> String {
        let mut text = String::new();
        let ends = [0, 1, 2].map(|side| Some(self.length(side) + 1));
        let start = Element { text: "", class: Class::Paragraph, places: [Some(0); 3] };
        let end = Element { text: "", class: Class::Paragraph, places: ends };
        let mut before = &start;
        for element in elements.iter().chain([&end]) {
            text.push_str(self.gap(before, element, elements.is_empty()));
            text.push_str(element.text);
            before = element;
        }
        text
    }

    /// Returns the white space between two neighbours in the result.
    fn gap(&self, before: &Element<'_>, after: &Element<'_>, is_empty: bool) -> &'a str {
        let gap = |side: usize, place: usize| self.0.get(side).map_or("", |side| side.gap_after(place));
        let is_start = before.places == [Some(0); 3];
        let is_end = after.places == [0, 1, 2].map(|side| Some(self.length(side) + 1));
        let known = [0, 1, 2].map(|side| {
            let (left, right) =
                (before.places.get(side).copied().flatten()?, after.places.get(side).copied().flatten()?);
            (right == left + 1).then(|| gap(side, left))
        });
        if let [base, Some(one), Some(other)] = known {
            return changed(base, one, other);
        }
        if let Some(gap) = known[1].or(known[2]) {
            return gap;
        }
        if is_empty {
            return "";
        }
        if is_start || is_end {
            let [base, one, other] = [0, 1, 2].map(|side| gap(side, if is_start { 0 } else { self.length(side) }));
            // A side without a block does not say what is before or after one.
            return match (self.length(1), self.length(2)) {
                (0, _) => other,
                (_, 0) => one,
                _ => changed(Some(base), one, other),
            };
        }
        // New neighbours: the space that they have beside others like them.
        let is_tight = before.class.is_tight() && before.class == after.class;
        let mut found = "";
        for side in 0..3 {
            let left = before.places.get(side).copied().flatten().map(|place| (place, place + 1));
            let right =
                after.places.get(side).copied().flatten().and_then(|place| Some((place.checked_sub(1)?, place)));
            for (left, right) in [left, right].into_iter().flatten() {
                let class = |place: usize| Some(self.block(side, place.checked_sub(1)?)?.class);
                let (Some(one), Some(other)) = (class(left), class(right)) else { continue };
                if one == before.class && other == after.class {
                    let gap = gap(side, left);
                    found = if is_tight && !found.is_empty() { shorter(found, gap) } else { longer(found, gap) };
                }
            }
        }
        match (found.is_empty(), is_tight) {
            (false, _) => found,
            (true, true) => "\n",
            (true, false) => "\n\n",
        }
    }
}

/// Returns the space that was changed. If both changed it, the longer one is taken.
fn changed<'a>(base: Option<&'a str>, one: &'a str, other: &'a str) -> &'a str {
    if Some(one) == base {
        other
    } else if Some(other) == base {
        one
    } else {
        longer(one, other)
    }
}

fn longer<'a>(one: &'a str, other: &'a str) -> &'a str {
    if (one.len(), one) >= (other.len(), other) { one } else { other }
}

fn shorter<'a>(one: &'a str, other: &'a str) -> &'a str {
    if (one.len(), one) <= (other.len(), other) { one } else { other }
}
