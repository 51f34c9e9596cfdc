//! [`matching`]: what two lists of ids have in common.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;
use core::ops::Range;

use crate::hunks;
use hashbrown::HashMap;

/// Most pairs of ids that are compared one with the other: beyond it, the time would grow with their number.
const MOST_COMPARED: usize = 1 << 22;

/// Number of digits of an id in the lines that are compared.
const DIGITS: usize = 16;

/// Returns pairs of equal ids, as positions in both lists, in order.
///
/// If one list is a part of the other, in order, all its ids have a partner. Ids that occur once in both lists are
/// matched first, so that the time grows with the length of the lists even if they have little in common.
pub(crate) fn matching(one: &[usize], other: &[usize]) -> Vec<(usize, usize)> {
    let ids = [one, other];
    let mut pairs = Vec::new();
    let mut open = Vec::from([(0..one.len(), 0..other.len())]);
    while let Some((in_one, in_other)) = open.pop() {
        let part = |side: usize, range: &Range<usize>| {
            ids.get(side).and_then(|ids| ids.get(range.clone())).unwrap_or_default()
        };
        let (part_one, part_other) = (part(0, &in_one), part(1, &in_other));
        if part_one.is_empty() || part_other.is_empty() {
            continue;
        }
        let anchors = unique_in_order(part_one, part_other);
        if anchors.is_empty() {
            let common = match part_one.len().saturating_mul(part_other.len()) {
                ..=MOST_COMPARED => common_lines(part_one, part_other),
                _ => common_of_many(part_one, part_other),
            };
            pairs.extend(common.into_iter().map(|(a, b)| (in_one.start + a, in_other.start + b)));
            continue;
        }
        let (mut from_one, mut from_other) = (in_one.start, in_other.start);
        for (a, b) in anchors {
            let (a, b) = (in_one.start + a, in_other.start + b);
            open.push((from_one..a, from_other..b));
            pairs.push((a, b));
            (from_one, from_other) = (a + 1, b + 1);
        }
        open.push((from_one..in_one.end, from_other..in_other.end));
    }
    pairs.sort_unstable();
    pairs
}

/// Returns pairs of equal ids of long lists in which every id that both have occurs several times: all ids of one list, if it is a part of
/// the other in order, and otherwise the longest sequence in which each occurrence has the same number in both lists.
fn common_of_many(one: &[usize], other: &[usize]) -> Vec<(usize, usize)> {
    let part_of = |part: &[usize], whole: &[usize]| {
        let mut places = whole.iter().enumerate();
        let place = |id: &usize| places.by_ref().find(|(_, known)| *known == id).map(|(place, _)| place);
        part.iter().map(place).collect::<Option<Vec<usize>>>()
    };
    if let Some(places) = part_of(one, other) {
        return places.into_iter().enumerate().collect();
    }
    if let Some(places) = part_of(other, one) {
        return places.into_iter().enumerate().map(|(in_other, in_one)| (in_one, in_other)).collect();
    }
    let numbered = |ids: &[usize]| {
        let mut counts: HashMap<usize, usize> = HashMap::new();
        let number = |&id: &usize| {
            let count = counts.entry(id).or_default();
            *count += 1;
            (id, *count)
        };
        ids.iter().map(number).collect::<Vec<_>>()
    };
    let places: HashMap<(usize, usize), usize> = numbered(other).into_iter().zip(0..).collect();
    let pairs = numbered(one).into_iter().enumerate().filter_map(|(place, id)| Some((place, *places.get(&id)?)));
    longest_rising(&pairs.collect::<Vec<_>>())
}

/// Returns the longest sequence of ids that occur once in both lists and are in the same order there.
fn unique_in_order(one: &[usize], other: &[usize]) -> Vec<(usize, usize)> {
    let once = |ids: &[usize]| {
        let mut places: HashMap<usize, Option<usize>> = HashMap::new();
        for (place, &id) in ids.iter().enumerate() {
            places.entry(id).and_modify(|known| *known = None).or_insert(Some(place));
        }
        places
    };
    let (in_one, in_other) = (once(one), once(other));
    let mut pairs = Vec::new();
    for (place, id) in one.iter().enumerate() {
        let both = (in_one.get(id).copied().flatten(), in_other.get(id).copied().flatten());
        if let (Some(_), Some(there)) = both {
            pairs.push((place, there));
        }
    }
    longest_rising(&pairs)
}

/// Returns the longest sequence of pairs whose second parts rise. The first parts rise already.
fn longest_rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the pair that ends the sequence of this length with the smallest second part.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let second = |index: usize| pairs.get(index).map_or(0, |pair| pair.1);
    for (index, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| second(end) < pair.1);
        before.push(length.checked_sub(1).and_then(|length| ends.get(length).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut rising = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(index) = next {
        rising.extend(pairs.get(index).copied());
        next = before.get(index).copied().flatten();
    }
    rising.reverse();
    rising
}

/// Returns the pairs of a shortest difference.
fn common_lines(one: &[usize], other: &[usize]) -> Vec<(usize, usize)> {
    let lines = |ids: &[usize]| {
        let mut lines = String::with_capacity(ids.len() * (DIGITS + 1));
        for id in ids {
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "{id:0DIGITS$x}");
        }
        lines
    };
    let mut pairs = Vec::new();
    let (mut at_one, mut at_other) = (0, 0);
    let different = hunks(lines(one).as_bytes(), lines(other).as_bytes());
    let line = |byte: usize| byte / (DIGITS + 1);
    let parts = different.iter().map(|hunk| (line(hunk.before.start), line(hunk.before.end), line(hunk.after.end)));
    for (start, end, end_other) in parts.chain([(one.len(), one.len(), other.len())]) {
        pairs.extend((at_one..start).zip(at_other..));
        (at_one, at_other) = (end, end_other);
    }
    pairs
}
