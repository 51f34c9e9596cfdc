//! Text without its markup, as a heading or a link shows it.

use core::ops::Range;

use super::text::looked_at;
use saddlebag_collections::TextPart;
use saddlebag_collections::order;
use saddlebag_collections::prelude::*;

/// Ranges to cut out of the text, and marks of emphasis without a partner so far.
#[derive(Debug, Default)]
pub(super) struct Markup {
    cuts: Vec<Cut>,
    marks: Vec<Mark>,
}

#[derive(Debug)]
struct Cut {
    range: Range<usize>,
    /// Character that replaces the range.
    with: Option<char>,
}

/// A run of `*` or `_`.
#[derive(Debug)]
struct Mark {
    start: usize,
    /// Number of remaining characters.
    length: usize,
    /// Original number of characters.
    whole: usize,
    mark: u8,
    opens: bool,
    closes: bool,
}

impl Mark {
    /// Returns true if the run can open what `closer` closes: CommonMark's rule of three.
    fn fits(&self, closer: &Self) -> bool {
        let ambiguous = self.closes || closer.opens;
        let sum_of_three = (self.whole + closer.whole).is_multiple_of(3);
        let each_of_three = self.whole.is_multiple_of(3) && closer.whole.is_multiple_of(3);
        self.mark == closer.mark && !(ambiguous && sum_of_three && !each_of_three)
    }
}

impl Markup {
    pub(super) fn cut(&mut self, range: Range<usize>) {
        self.cuts.push(Cut { range, with: None });
    }

    pub(super) fn replace(&mut self, range: Range<usize>, with: char) {
        self.cuts.push(Cut { range, with: Some(with) });
    }

    /// Returns the number of marks: the index where the marks of a link's text will start.
    pub(super) fn marks(&self) -> usize {
        self.marks.len()
    }

    /// Adds the run of `length` marks at `start`.
    pub(super) fn mark(&mut self, text: &str, start: usize, length: usize) {
        let before = text.get(..start).and_then(|before| before.chars().next_back()).unwrap_or('\n');
        let rest = text.part(start..);
        let mark = rest.bytes().next().unwrap_or(b'*');
        let after = rest.get(length..).and_then(|after| after.chars().next()).unwrap_or('\n');
        let left =
            !after.is_whitespace() && (!is_punctuation(after) || before.is_whitespace() || is_punctuation(before));
        let right =
            !before.is_whitespace() && (!is_punctuation(before) || after.is_whitespace() || is_punctuation(after));
        let within = mark == b'_' && left && right;
        self.marks.push(Mark {
            start,
            length,
            whole: length,
            mark,
            opens: left && (!within || is_punctuation(before)),
            closes: right && (!within || is_punctuation(after)),
        });
    }

    /// Pairs the marks from index `bottom` on; those without a partner are text.
    pub(super) fn pair(&mut self, bottom: usize) {
        let mut open: Vec<Mark> = Vec::new();
        // Below these there is no partner for a closer of the kind, so each opener is skipped only once.
        let mut floors = [0_usize; 12];
        for mut closer in self.marks.drain(bottom.min(self.marks.len())..) {
            while closer.closes && closer.length > 0 {
                let kind = usize::from(closer.mark == b'_') * 6 + usize::from(closer.opens) * 3 + closer.whole % 3;
                let floor = floors.get(kind).copied().unwrap_or(0);
                let partner = (floor..open.len()).rev().find(|&index| {
                    looked_at(1);
                    open.get(index).is_some_and(|open| open.fits(&closer))
                });
                let Some(partner) = partner else {
                    if let Some(floor) = floors.get_mut(kind) {
                        *floor = open.len();
                    }
                    break;
                };
                open.truncate(partner + 1);
                for floor in &mut floors {
                    *floor = (*floor).min(partner);
                }
                let Some(opener) = open.last_mut() else { break };
                let count = opener.length.min(closer.length).min(2);
                opener.length -= count;
                let inner = opener.start + opener.length;
                self.cuts.push(Cut { range: inner..inner + count, with: None });
                self.cuts.push(Cut { range: closer.start..closer.start + count, with: None });
                closer.start += count;
                closer.length -= count;
                if opener.length == 0 {
                    open.pop();
                }
            }
            if closer.opens && closer.length > 0 {
                open.push(closer);
            }
        }
    }

    /// Returns the text without the cut ranges; lines are joined by a space.
    pub(super) fn apply(mut self, text: &str) -> String {
        self.pair(0);
        order::sort_slice_by_key(&mut self.cuts, |cut| cut.range.start);
        let mut plain = String::with_capacity(text.len());
        let mut kept = 0;
        for cut in &self.cuts {
            plain.push_str(text.part(kept..cut.range.start));
            plain.extend(cut.with);
            kept = kept.max(cut.range.end);
        }
        plain.push_str(text.part(kept..));
        if plain.contains('\n') { join_lines(&plain) } else { trimmed(plain) }
    }
}

fn join_lines(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.lines() {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(line.trim());
    }
    trimmed(joined)
}

fn trimmed(text: String) -> String {
    let trim = text.trim();
    if trim.len() == text.len() { text } else { trim.into() }
}

fn is_punctuation(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_punctuation();
    }
    // Unicode has no shorter rule: any other character is punctuation or a symbol, which CommonMark treats the same.
    !character.is_alphanumeric() && !character.is_whitespace() && !character.is_control()
}
