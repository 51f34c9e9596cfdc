//! [`merge`]: two changes of one content together.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::diff::{Hunk, hunks};

/// How to merge changes that come close to each other. By default they conflict, as in git.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Different insertions at the end.
    pub appends: Appends,
    /// Changes that touch and do not overlap.
    pub adjacent: Adjacent,
}

impl Rules {
    /// Rules to undo an operation: `base` is the content after it, `ours` the content now, `theirs` the content before it. A line that
    /// the operation appended can be removed even if others appended lines after it.
    pub const UNDO: Self = Self { appends: Appends::Conflict, adjacent: Adjacent::Apart };
}

/// Rule for two sides that insert different lines at the end and keep the line before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Appends {
    /// They conflict.
    #[default]
    Conflict,
    /// Both are taken, ours first.
    Both,
}

/// Rule for different changes that touch and do not overlap, such as a deletion and an insertion directly after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adjacent {
    /// They conflict.
    #[default]
    Conflict,
    /// Both are made. Two different insertions at one place still conflict.
    Apart,
}

/// The first part that both sides change in different ways, in bytes of the three contents. The ranges hold whole lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Part of the base; empty for two insertions.
    pub base: Range<usize>,
    /// The same part in ours.
    pub ours: Range<usize>,
    /// The same part in theirs.
    pub theirs: Range<usize>,
}

impl fmt::Display for Conflict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "both sides change the bytes {} to {} of the base", self.base.start, self.base.end)
    }
}

impl core::error::Error for Conflict {}

/// Makes the changes from `base` to `ours` and those from `base` to `theirs` together, by lines.
///
/// A part that one side changed is taken from that side. A change that both made is made once. A line end that the last
/// line lacks or gets is merged separately from the line.
///
/// ```
/// use saddlebag_log::{Rules, merge};
///
/// // Undo an append after which somebody else appended a line.
/// let merged = merge(b"one\nmine\n", b"one\nmine\nyours\n", b"one\n", Rules::UNDO);
/// assert_eq!(merged.unwrap(), b"one\nyours\n");
/// ```
///
/// # Errors
///
/// [`Conflict`] if both sides change the same lines, or lines that touch, in different ways. [`Rules`] has exceptions.
pub fn merge(base: &[u8], ours: &[u8], theirs: &[u8], rules: Rules) -> Result<Vec<u8>, Conflict> {
    let is_ended = |bytes: &[u8]| bytes.is_empty() || bytes.ends_with(b"\n");
    let keeps_end = if is_ended(ours) == is_ended(base) { is_ended(theirs) } else { is_ended(ours) };
    let ended = |bytes| Ended { bytes, with_end: with_end(bytes, is_ended(bytes)) };
    let merge = Merge { base: ended(base), ours: ended(ours), theirs: ended(theirs), rules };
    let mut merged = merge.run()?;
    if !keeps_end && merged.ends_with(b"\n") {
        merged.pop();
    }
    Ok(merged)
}

fn with_end(bytes: &[u8], is_ended: bool) -> Cow<'_, [u8]> {
    if is_ended { Cow::Borrowed(bytes) } else { Cow::Owned([bytes, b"\n"].concat()) }
}

/// A content whose last line has an end.
struct Ended<'a> {
    bytes: &'a [u8],
    with_end: Cow<'a, [u8]>,
}

impl Ended<'_> {
    fn get(&self, range: Range<usize>) -> &[u8] {
        self.with_end.get(range).unwrap_or_default()
    }

    /// Returns the range in the content as it was given.
    fn given(&self, range: &Range<usize>) -> Range<usize> {
        range.start.min(self.bytes.len())..range.end.min(self.bytes.len())
    }
}

struct Merge<'a> {
    base: Ended<'a>,
    ours: Ended<'a>,
    theirs: Ended<'a>,
    rules: Rules,
}

impl Merge<'_> {
    fn run(&self) -> Result<Vec<u8>, Conflict> {
        let of_ours = hunks(&self.base.with_end, &self.ours.with_end);
        let of_theirs = hunks(&self.base.with_end, &self.theirs.with_end);
        let (mut of_ours, mut of_theirs) = (of_ours.as_slice(), of_theirs.as_slice());
        let mut merged = Vec::with_capacity(self.ours.with_end.len());
        let mut position = 0;
        loop {
            let (before, text) = match (of_ours.split_first(), of_theirs.split_first()) {
                (None, None) => break,
                (Some((hunk, rest)), theirs) if theirs.is_none_or(|(other, _)| self.is_apart(&hunk.before, other)) => {
                    of_ours = rest;
                    (hunk.before.clone(), [self.ours.get(hunk.after.clone()), &[]])
                }
                (ours, Some((hunk, rest))) if ours.is_none_or(|(other, _)| self.is_apart(&hunk.before, other)) => {
                    of_theirs = rest;
                    (hunk.before.clone(), [self.theirs.get(hunk.after.clone()), &[]])
                }
                _ => self.both(&mut of_ours, &mut of_theirs)?,
            };
            merged.extend_from_slice(self.base.get(position..before.start));
            for text in text {
                merged.extend_from_slice(text);
            }
            position = before.end;
        }
        merged.extend_from_slice(self.base.get(position..self.base.with_end.len()));
        Ok(merged)
    }

    /// Returns true if a part of the base ends before the part that the hunk of the other side changes.
    fn is_apart(&self, part: &Range<usize>, other: &Hunk) -> bool {
        match self.rules.adjacent {
            Adjacent::Conflict => part.end < other.before.start,
            Adjacent::Apart => part.end <= other.before.start && !(part.is_empty() && *part == other.before),
        }
    }

    /// Takes the next hunks of both sides, as far as they overlap. Returns the part of the base and what replaces it.
    fn both<'t>(
        &'t self,
        of_ours: &mut &[Hunk],
        of_theirs: &mut &[Hunk],
    ) -> Result<(Range<usize>, [&'t [u8]; 2]), Conflict> {
        let begin = [&*of_ours, &*of_theirs].into_iter().filter_map(|hunks| hunks.first());
        let begin = begin.map(|hunk| hunk.before.start).min().unwrap_or_default();
        let mut part = begin..begin;
        let (mut taken_ours, mut taken_theirs) = (Taken::default(), Taken::default());
        loop {
            let is_longer =
                self.take(of_ours, &mut part, &mut taken_ours) || self.take(of_theirs, &mut part, &mut taken_theirs);
            if !is_longer {
                break;
            }
        }
        let (ours, theirs) = (taken_ours.range(&part), taken_theirs.range(&part));
        let texts = [self.ours.get(ours.clone()), self.theirs.get(theirs.clone())];
        let [text_ours, text_theirs] = texts;
        if text_ours == text_theirs {
            return Ok((part, [text_ours, &[]]));
        }
        let is_append = part.is_empty() && part.end == self.base.with_end.len();
        if is_append && self.rules.appends == Appends::Both {
            return Ok((part, texts));
        }
        Err(Conflict { base: self.base.given(&part), ours: self.ours.given(&ours), theirs: self.theirs.given(&theirs) })
    }

    /// Takes the next hunk of one side if it is not apart from the part, and makes the part longer.
    fn take(&self, hunks: &mut &[Hunk], part: &mut Range<usize>, taken: &mut Taken) -> bool {
        let Some((hunk, rest)) = hunks.split_first() else { return false };
        // The part begins empty: it is apart from each hunk that begins there, and still needs them.
        if hunk.before.start != part.start && self.is_apart(part, hunk) {
            return false;
        }
        *hunks = rest;
        part.end = part.end.max(hunk.before.end);
        taken.first.get_or_insert_with(|| hunk.clone());
        taken.last = Some(hunk.clone());
        true
    }
}

/// The hunks of one side that were taken.
#[derive(Default)]
struct Taken {
    first: Option<Hunk>,
    last: Option<Hunk>,
}

impl Taken {
    /// Returns the part of this side that is in the place of a part of the base.
    fn range(&self, part: &Range<usize>) -> Range<usize> {
        let (Some(first), Some(last)) = (&self.first, &self.last) else { return 0..0 };
        let common_before = first.before.start.saturating_sub(part.start);
        let common_after = part.end.saturating_sub(last.before.end);
        first.after.start.saturating_sub(common_before)..last.after.end + common_after
    }
}
