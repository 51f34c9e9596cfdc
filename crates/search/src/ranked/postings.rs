//! [`Postings`]: the occurrences of a term, as bytes.
//!
//! A posting consists of variable-length integers: the distance from the previous document, with the shape in
//! the low two bits; from three occurrences on their number, or, if they are not only in the body, the
//! fields that have the term; then the number of bytes that follow, the number of occurrences in each of these
//! fields, and the distances between the positions. The positions of a document are counted over all of
//! its fields, in order, with gaps between them.
//!
//! Postings may come from a damaged file: whatever the bytes, reading ends and never leaves them.

use super::types::{FIELDS, Field};
use saddlebag_collections::prelude::*;

/// Once, in the body.
const ONCE: u32 = 0;
/// Twice, in the body.
const TWICE: u32 = 1;
/// Often, in the body.
const OFTEN: u32 = 2;
/// In other fields too.
const FIELDED: u32 = 3;

const BODY: usize = Field::Body as usize;

/// Occurrences of a term in one document.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Posting<'a> {
    /// Slot of the document.
    pub(super) slot: u32,
    /// Number of occurrences in the body if no other field has the term, else 0.
    pub(super) only_body: u32,
    /// Fields that have the term, if not only the body.
    fields: u32,
    /// Numbers for these fields, and the positions.
    rest: &'a [u8],
}

impl Posting<'_> {
    /// Returns the number of occurrences in each field.
    pub(super) fn counts(&self) -> [u32; FIELDS] {
        self.read_counts().0
    }

    /// Returns the counts, and a reader of the positions.
    fn read_counts(&self) -> ([u32; FIELDS], Reader<'_>) {
        let mut counts = [0; FIELDS];
        let mut reader = Reader(self.rest);
        counts[BODY] = self.only_body;
        for (field, count) in counts.iter_mut().enumerate() {
            if self.fields & 1 << field != 0 {
                *count = reader.varint().unwrap_or(0);
            }
        }
        (counts, reader)
    }

    /// Adds the positions of the term, ascending; only those in one field if it is given.
    pub(super) fn positions(&self, only: Option<Field>, out: &mut Vec<u64>) {
        let (counts, mut reader) = self.read_counts();
        let mut position = 0_u32;
        for (field, count) in Field::ALL.into_iter().zip(counts) {
            for _ in 0..count {
                let Some(distance) = reader.varint() else { return };
                position = position.saturating_add(distance);
                if only.is_none_or(|only| only == field) {
                    out.push(u64::from(position));
                }
            }
        }
    }
}

/// Reader of postings, by ascending document.
#[derive(Clone, Debug, Default)]
pub(super) struct Postings<'a> {
    reader: Reader<'a>,
    /// Least slot that the next document can have.
    next: u32,
    /// One more than the last slot.
    end: u32,
}

impl<'a> Postings<'a> {
    /// Creates a reader for the postings of a segment with the documents from `first` to before `end`.
    pub(super) fn new(bytes: &'a [u8], first: u32, end: u32) -> Self {
        Self { reader: Reader(bytes), next: first, end }
    }

    /// Returns the next posting, its encoded bytes after the first number, and its shape.
    pub(super) fn next_raw(&mut self) -> Option<(Posting<'a>, u32, &'a [u8])> {
        let mut before = self.reader;
        let posting = self.next()?;
        let shape = before.varint()? & 3;
        let raw = before.0.get(..before.0.len() - self.reader.0.len())?;
        Some((posting, shape, raw))
    }

    /// Returns the position in the bytes, to continue later with [`Self::at`].
    pub(super) fn place(&self) -> (u32, usize) {
        (self.next, self.reader.0.len())
    }

    /// Returns the same postings from a position on.
    pub(super) fn at(&self, (next, left): (u32, usize)) -> Self {
        let start = self.reader.0.len().saturating_sub(left);
        Self { reader: Reader(self.reader.0.get(start..).unwrap_or_default()), next, end: self.end }
    }
}

impl<'a> Iterator for Postings<'a> {
    type Item = Posting<'a>;

    #[inline]
    fn next(&mut self) -> Option<Posting<'a>> {
        let first = self.reader.varint()?;
        let slot = self.next.checked_add(first >> 2).filter(|slot| *slot < self.end)?;
        self.next = slot + 1;
        let shape = first & 3;
        let start = self.reader.0;
        Some(match shape {
            ONCE | TWICE => {
                self.reader.varint()?;
                if shape == TWICE {
                    self.reader.varint()?;
                }
                let rest = start.get(..start.len() - self.reader.0.len())?;
                Posting { slot, only_body: shape + 1, fields: 0, rest }
            }
            OFTEN => {
                let only_body = self.reader.varint()?;
                Posting { slot, only_body, fields: 0, rest: self.reader.block()? }
            }
            _ => {
                let fields = self.reader.varint()?;
                Posting { slot, only_body: 0, fields, rest: self.reader.block()? }
            }
        })
    }
}

/// Adds a posting.
///
/// `skipped` is the number of documents between the previous one and this one; `positions` ascend.
pub(super) fn push(
    out: &mut Vec<u8>,
    skipped: u32,
    counts: &[u32; FIELDS],
    positions: impl Iterator<Item = u32> + Clone,
) {
    let total: u32 = counts.iter().sum();
    let shape = match counts[BODY] {
        body if body != total => FIELDED,
        1 => ONCE,
        2 => TWICE,
        _ => OFTEN,
    };
    push_head(out, skipped, shape);
    let distances = || {
        positions.clone().scan(0, |before, position| {
            let distance = position - *before;
            *before = position;
            Some(distance)
        })
    };
    let present = counts.iter().enumerate().filter(|(_, count)| shape == FIELDED && **count > 0);
    if shape == FIELDED {
        push_varint(out, present.clone().fold(0, |fields, (field, _)| fields | 1 << field));
    } else if shape == OFTEN {
        push_varint(out, total);
    }
    if matches!(shape, OFTEN | FIELDED) {
        let counts = present.clone().map(|(_, count)| *count);
        let bytes: usize = counts.chain(distances()).map(varint_length).sum();
        push_varint(out, u32::try_from(bytes).unwrap_or(u32::MAX));
    }
    for (_, &count) in present {
        push_varint(out, count);
    }
    for distance in distances() {
        push_varint(out, distance);
    }
}

/// Adds a posting that was read with [`Postings::next_raw`].
pub(super) fn push_raw(out: &mut Vec<u8>, skipped: u32, shape: u32, raw: &[u8]) {
    push_head(out, skipped, shape);
    out.extend_from_slice(raw);
}

fn push_head(out: &mut Vec<u8>, skipped: u32, shape: u32) {
    push_varint(out, skipped << 2 | shape);
}

#[inline(never)]
fn push_varint(out: &mut Vec<u8>, mut value: u32) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn varint_length(value: u32) -> usize {
    match value {
        0..=0x7f => 1,
        0x80..=0x3fff => 2,
        0x4000..=0x1f_ffff => 3,
        0x20_0000..=0xfff_ffff => 4,
        _ => 5,
    }
}

/// Reads numbers from the front of bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    #[inline]
    fn varint(&mut self) -> Option<u32> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        if first < 0x80 {
            return Some(u32::from(first));
        }
        self.long_varint(first)
    }

    // Separate from the common case, which is small enough to be inlined.
    #[inline(never)]
    fn long_varint(&mut self, first: u8) -> Option<u32> {
        let mut value = u32::from(first & 0x7f);
        for shift in [7, 14, 21, 28] {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Returns bytes that are preceded by their number.
    fn block(&mut self) -> Option<&'a [u8]> {
        let length = self.varint()? as usize;
        let (block, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Written = (u32, [u32; FIELDS], Vec<u32>);

    fn postings() -> impl Strategy<Value = Vec<Written>> {
        let counts = prop_oneof![
            (1_u32..6).prop_map(|body| [0, 0, 0, 0, 0, body]),
            proptest::array::uniform6(0_u32..4).prop_filter("a posting", |counts| counts.iter().sum::<u32>() > 0),
        ];
        let posting = (0_u32..300, counts).prop_flat_map(|(skipped, counts)| {
            let total = counts.iter().sum::<u32>() as usize;
            (Just(skipped), Just(counts), proptest::collection::vec(0_u32..70_000, total))
        });
        proptest::collection::vec(posting, 0..20)
    }

    fn coded(postings: &[Written]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (skipped, counts, distances) in postings {
            let positions = distances.iter().scan(0, |sum, distance| {
                *sum += distance;
                Some(*sum)
            });
            push(&mut bytes, *skipped, counts, positions);
        }
        bytes
    }

    proptest! {
        #[test]
        fn pushed_postings_are_read(postings in postings()) {
            let bytes = coded(&postings);
            let read: Vec<Posting<'_>> = Postings::new(&bytes, 7, u32::MAX).collect();
            prop_assert_eq!(read.len(), postings.len());
            let mut next = 7;
            for (read, (skipped, counts, distances)) in read.iter().zip(&postings) {
                prop_assert_eq!(read.slot, next + skipped);
                next = read.slot + 1;
                prop_assert_eq!(&read.counts(), counts);
                let mut positions = Vec::new();
                read.positions(None, &mut positions);
                prop_assert_eq!(positions.len(), distances.len());
                prop_assert_eq!(positions.last().copied().unwrap_or(0), u64::from(distances.iter().sum::<u32>()));
            }
        }

        #[test]
        fn any_bytes_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..200), end in 0_u32..100) {
            let mut last = None;
            for posting in Postings::new(&bytes, 0, end) {
                prop_assert!(posting.slot < end && last < Some(posting.slot));
                last = Some(posting.slot);
                let mut positions = Vec::new();
                posting.positions(None, &mut positions);
                prop_assert!(positions.len() <= bytes.len());
            }
        }
    }
}
