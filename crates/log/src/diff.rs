//! The difference of two contents by lines.

use alloc::vec::Vec;
use core::ops::Range;

use hashbrown::HashMap;
use memchr::{memchr, memrchr};

/// Maximum number of lines of either side that are compared, without the common lines at both ends.
const MOST_LINES: usize = 1 << 20;

/// Maximum number of lines that are removed or inserted in a difference. The memory grows with its square: 4 MiB.
const MOST_EDITS: usize = 1024;

/// Maximum number of steps: comparisons of two lines, and diagonals that are looked at.
const MOST_STEPS: usize = 1 << 25;

/// A part that is different. Both ranges are bytes, and begin and end at the beginning of a line or at the end of the content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Bytes that are replaced; empty for an insertion.
    pub before: Range<usize>,
    /// Bytes that replace them; empty for a deletion.
    pub after: Range<usize>,
}

/// Returns the parts in which two contents differ, in their order. Between two of them is at least one common line.
///
/// The number of changed lines is the smallest (Myers' algorithm) up to a limit on work and memory. Beyond it, all between the
/// common lines at the beginning and at the end is one hunk, so 16 MiB of any bytes take less than a second.
pub fn hunks(before: &[u8], after: &[u8]) -> Vec<Hunk> {
    if before == after {
        return Vec::new();
    }
    let (prefix, suffix) = common_lines(before, after);
    let middle_before = prefix..before.len().saturating_sub(suffix);
    let middle_after = prefix..after.len().saturating_sub(suffix);
    let lines = Lines::new(
        before.get(middle_before.clone()).unwrap_or_default(),
        after.get(middle_after.clone()).unwrap_or_default(),
    );
    let runs = lines.as_ref().and_then(|lines| lines.common_runs());
    let (Some(lines), Some(runs)) = (lines, runs) else {
        return Vec::from([Hunk { before: middle_before, after: middle_after }]);
    };
    let mut hunks = Vec::new();
    let (mut line_before, mut line_after) = (0, 0);
    let end = Run { before: lines.before.ids.len(), after: lines.after.ids.len(), len: 0 };
    for run in runs.into_iter().chain([end]) {
        if run.before > line_before || run.after > line_after {
            hunks.push(Hunk {
                before: prefix + lines.before.start(line_before)..prefix + lines.before.start(run.before),
                after: prefix + lines.after.start(line_after)..prefix + lines.after.start(run.after),
            });
        }
        (line_before, line_after) = (run.before + run.len, run.after + run.len);
    }
    joined(moved_down(hunks, before, after), before, after)
}

/// Moves each insertion and deletion down as far as the lines are equal, as git does, so that the same change is at the same place
/// whatever else differs. A hunk that reaches the next one becomes part of it.
fn moved_down(hunks: Vec<Hunk>, before: &[u8], after: &[u8]) -> Vec<Hunk> {
    // From the last to the first, in reverse.
    let mut moved: Vec<Hunk> = Vec::with_capacity(hunks.len());
    for mut hunk in hunks.into_iter().rev() {
        let next = moved.last().map_or(before.len(), |next| next.before.start);
        let lines = match (hunk.before.is_empty(), hunk.after.is_empty()) {
            (true, false) => after.get(hunk.after.start..).zip(after.get(hunk.after.end..)),
            (false, true) => before.get(hunk.before.start..).zip(before.get(hunk.before.end..)),
            _ => None,
        };
        if let Some((changed, common)) = lines {
            let common = common.get(..next.saturating_sub(hunk.before.end)).unwrap_or_default();
            let equal = common.get(..common_prefix(changed, common)).unwrap_or_default();
            let distance = memrchr(b'\n', equal).map_or(0, |end| end + 1);
            for place in [&mut hunk.before, &mut hunk.after] {
                *place = place.start + distance..place.end + distance;
            }
        }
        match moved.last_mut() {
            Some(next) if next.before.start == hunk.before.end => {
                next.before.start = hunk.before.start;
                next.after.start = hunk.after.start;
            }
            _ => moved.push(hunk),
        }
    }
    moved.reverse();
    moved
}

/// Moves a deletion up to the insertion before it if the lines between are equal, and an insertion up to a deletion: together they
/// replace lines.
fn joined(hunks: Vec<Hunk>, before: &[u8], after: &[u8]) -> Vec<Hunk> {
    let mut joined: Vec<Hunk> = Vec::with_capacity(hunks.len());
    for hunk in hunks {
        if let Some(last) = joined.last_mut() {
            let distance = hunk.before.start.saturating_sub(last.before.end);
            let is_equal = match (hunk.before.is_empty(), hunk.after.is_empty()) {
                (true, false) => !last.before.is_empty() && can_move_up(after, &hunk.after, distance),
                (false, true) => !last.after.is_empty() && can_move_up(before, &hunk.before, distance),
                _ => false,
            };
            if is_equal {
                last.before.end = hunk.before.end.saturating_sub(distance);
                last.after.end = hunk.after.end.saturating_sub(distance);
                continue;
            }
        }
        joined.push(hunk);
    }
    joined
}

/// Returns true if the bytes that a part has at its end are those before it, so many of them.
fn can_move_up(bytes: &[u8], part: &Range<usize>, distance: usize) -> bool {
    let Some(end) = part.end.checked_sub(distance) else { return false };
    let moved_over = bytes.get(part.start.saturating_sub(distance)..part.start).unwrap_or_default();
    bytes.get(end..part.end) == Some(moved_over) && bytes.get(..end).is_some_and(|bytes| bytes.ends_with(b"\n"))
}

/// Returns the number of bytes that two contents have in common at their beginnings.
pub(crate) fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    // Whole chunks first: they are compared many bytes at a time.
    let chunks = a.chunks_exact(64).zip(b.chunks_exact(64)).take_while(|(a, b)| a == b).count() * 64;
    let rests = (a.iter().skip(chunks), b.iter().skip(chunks));
    chunks + rests.0.zip(rests.1).take_while(|(a, b)| a == b).count()
}

/// Returns the number of bytes that two contents have in common at their ends.
pub(crate) fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    let chunks = a.rchunks_exact(64).zip(b.rchunks_exact(64)).take_while(|(a, b)| a == b).count() * 64;
    let rests = (a.iter().rev().skip(chunks), b.iter().rev().skip(chunks));
    chunks + rests.0.zip(rests.1).take_while(|(a, b)| a == b).count()
}

/// Returns the sizes in bytes of the common lines at the beginning and at the end of two different contents.
fn common_lines(before: &[u8], after: &[u8]) -> (usize, usize) {
    let prefix = before.get(..common_prefix(before, after)).unwrap_or_default();
    let prefix = memrchr(b'\n', prefix).map_or(0, |end| end + 1);
    let (before, after) = (before.get(prefix..).unwrap_or_default(), after.get(prefix..).unwrap_or_default());
    let suffix = common_suffix(before, after);
    let begins_line = |bytes: &[u8]| match bytes.len().checked_sub(suffix + 1) {
        None => true,
        Some(last) => bytes.get(last) == Some(&b'\n'),
    };
    if begins_line(before) && begins_line(after) {
        return (prefix, suffix);
    }
    let common = before.get(before.len().saturating_sub(suffix)..).unwrap_or_default();
    (prefix, memchr(b'\n', common).map_or(0, |end| common.len().saturating_sub(end + 1)))
}

/// The lines of both sides. Equal lines have the same number.
struct Lines {
    before: Side,
    after: Side,
}

#[derive(Default)]
struct Side {
    /// Number of each line.
    ids: Vec<u32>,
    /// End of each line, in bytes.
    ends: Vec<usize>,
}

impl Side {
    /// Returns the byte at which a line begins. The line after the last one begins at the end.
    fn start(&self, line: usize) -> usize {
        line.checked_sub(1).and_then(|line| self.ends.get(line)).copied().unwrap_or_default()
    }
}

/// Lines that are equal on both sides.
struct Run {
    before: usize,
    after: usize,
    len: usize,
}

impl Lines {
    /// Returns `None` if there are too many lines.
    fn new(before: &[u8], after: &[u8]) -> Option<Self> {
        let mut known = HashMap::new();
        Some(Self { before: Self::side(before, &mut known)?, after: Self::side(after, &mut known)? })
    }

    fn side<'a>(mut bytes: &'a [u8], known: &mut HashMap<&'a [u8], u32>) -> Option<Side> {
        let mut side = Side::default();
        let mut position = 0;
        while !bytes.is_empty() {
            if side.ids.len() == MOST_LINES {
                return None;
            }
            let end = memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
            let (line, rest) = bytes.split_at_checked(end)?;
            let next = known.len() as u32;
            side.ids.push(*known.entry(line).or_insert(next));
            position += end;
            side.ends.push(position);
            bytes = rest;
        }
        Some(side)
    }

    /// Returns the runs of common lines, in their order; `None` if the difference is too large.
    ///
    /// E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986): for each number of edits `d`, the furthest point that
    /// is reached on each diagonal. A diagonal has the same difference of the two lines everywhere.
    fn common_runs(&self) -> Option<Vec<Run>> {
        let (before, after) = (self.before.ids.as_slice(), self.after.ids.as_slice());
        let mut steps = 0;
        let mut rounds: Vec<Round> = Vec::new();
        for edits in 0..=MOST_EDITS.min(before.len() + after.len()) {
            let mut round = Round::new(edits);
            for diagonal in round.diagonals() {
                let entered = match rounds.last() {
                    None => Some(0),
                    Some(last) => last.step(diagonal, before.len(), after.len()).map(|(line, _)| line),
                };
                steps += 1;
                let Some(entered) = entered else { continue };
                let line_after = entered.checked_add_signed(-diagonal)?;
                let rests = (before.get(entered..)?.iter(), after.get(line_after..)?.iter());
                let len = rests.0.zip(rests.1).take_while(|(a, b)| a == b).count();
                steps += len;
                if steps > MOST_STEPS {
                    return None;
                }
                round.set(diagonal, entered + len);
                if entered + len == before.len() && line_after + len == after.len() {
                    rounds.push(round);
                    return Self::runs_of(&rounds, before.len(), after.len());
                }
            }
            rounds.push(round);
        }
        None
    }

    /// Goes back from the end through the rounds.
    fn runs_of(rounds: &[Round], len_before: usize, len_after: usize) -> Option<Vec<Run>> {
        let mut runs = Vec::new();
        let mut diagonal = len_before.checked_signed_diff(len_after)?;
        let mut line = len_before;
        for edits in (0..rounds.len()).rev() {
            let (entered, next) = match edits.checked_sub(1).and_then(|edits| rounds.get(edits)) {
                None => (0, None),
                Some(last) => {
                    let (entered, from) = last.step(diagonal, len_before, len_after)?;
                    (entered, Some((from, last.get(from)?)))
                }
            };
            if line > entered {
                let after = entered.checked_add_signed(-diagonal)?;
                runs.push(Run { before: entered, after, len: line - entered });
            }
            let Some(next) = next else { break };
            (diagonal, line) = next;
        }
        runs.reverse();
        Some(runs)
    }
}

/// The furthest line before on each diagonal, for one number of edits.
struct Round {
    edits: isize,
    /// Every second diagonal from `-edits` to `edits`; [`Self::NOWHERE`] if it leaves the contents.
    lines: Vec<u32>,
}

impl Round {
    const NOWHERE: u32 = u32::MAX;

    fn new(edits: usize) -> Self {
        Self { edits: edits as isize, lines: vec![Self::NOWHERE; edits + 1] }
    }

    fn diagonals(&self) -> impl Iterator<Item = isize> + use<> {
        (-self.edits..=self.edits).step_by(2)
    }

    fn place(&self, diagonal: isize) -> Option<usize> {
        usize::try_from(diagonal + self.edits).ok().map(|place| place / 2)
    }

    fn get(&self, diagonal: isize) -> Option<usize> {
        let line = *self.lines.get(self.place(diagonal)?)?;
        (line != Self::NOWHERE).then_some(line as usize)
    }

    fn set(&mut self, diagonal: isize, line: usize) {
        if let Some(place) = self.place(diagonal).and_then(|place| self.lines.get_mut(place)) {
            *place = line as u32;
        }
    }

    /// Returns the line before that one more edit reaches on a diagonal, and the diagonal from which it comes.
    fn step(&self, diagonal: isize, len_before: usize, len_after: usize) -> Option<(usize, isize)> {
        let removal = self.get(diagonal - 1).map(|line| line + 1).filter(|line| *line <= len_before);
        let is_inside = |line: &usize| line.checked_add_signed(-diagonal).is_some_and(|after| after <= len_after);
        let insertion = self.get(diagonal + 1).filter(is_inside);
        match (removal, insertion) {
            (Some(removal), Some(insertion)) if insertion > removal => Some((insertion, diagonal + 1)),
            (Some(removal), _) => Some((removal, diagonal - 1)),
            (None, Some(insertion)) => Some((insertion, diagonal + 1)),
            (None, None) => None,
        }
    }
}
