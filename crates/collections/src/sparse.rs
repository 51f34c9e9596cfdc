//! [`SparseBytes`]: bytes of which only some parts may be in memory. [`Piece`]: a range of shared bytes.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::{Deref, Range};

/// A range of bytes that several owners share.
#[derive(Clone, Debug)]
pub struct Piece {
    bytes: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl Piece {
    /// Creates a piece. It is empty if the bytes do not have the range.
    pub fn new(bytes: Arc<Vec<u8>>, range: Range<usize>) -> Self {
        Self { bytes, range }
    }

    /// Adds the piece to a list. If it continues the last one in memory, that one becomes longer.
    pub fn push_to(self, pieces: &mut Vec<Self>) {
        match pieces.last_mut() {
            Some(last) if Arc::ptr_eq(&last.bytes, &self.bytes) && last.range.end == self.range.start => {
                last.range.end = self.range.end;
            }
            _ => pieces.push(self),
        }
    }
}

impl Deref for Piece {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.get(self.range.clone()).unwrap_or_default()
    }
}

impl From<Vec<u8>> for Piece {
    fn from(bytes: Vec<u8>) -> Self {
        let range = 0..bytes.len();
        Self { bytes: Arc::new(bytes), range }
    }
}

/// Bytes of which only some parts may be in memory, each as it was read. A copy shares the parts.
#[derive(Clone, Debug, Default)]
pub struct SparseBytes {
    length: usize,
    /// Sorted by start. They may overlap.
    parts: Vec<(usize, Arc<Vec<u8>>)>,
}

impl SparseBytes {
    /// Creates bytes of which nothing is in memory.
    pub fn new(length: usize) -> Self {
        Self { length, parts: Vec::new() }
    }

    /// Returns the number of bytes, in memory or not.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns true if there are no bytes at all.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns true if everything is in memory, in one part.
    pub fn is_whole(&self) -> bool {
        self.get(0..self.length).is_some()
    }

    /// Returns bytes; `None` if they are not in one part.
    pub fn get(&self, range: Range<usize>) -> Option<&[u8]> {
        if range.is_empty() {
            return (range.end <= self.length).then_some(&[]);
        }
        let (start, bytes) = self.part(range.start, range.end)?;
        bytes.get(range.start - start..range.end - start)
    }

    /// Returns the last part, and its start, that begins at `start` or before and ends at `end` or after.
    fn part(&self, start: usize, end: usize) -> Option<&(usize, Arc<Vec<u8>>)> {
        let before = self.parts.partition_point(|(before, _)| *before <= start);
        self.parts.get(..before)?.iter().rev().find(|(start, bytes)| end <= start + bytes.len())
    }

    /// Returns bytes to be kept; `None` if they are not in one part.
    pub fn piece(&self, range: Range<usize>) -> Option<Piece> {
        if range.is_empty() {
            return (range.end <= self.length).then(|| Vec::new().into());
        }
        let (start, bytes) = self.part(range.start, range.end)?;
        Some(Piece::new(bytes.clone(), range.start - start..range.end - start))
    }

    /// Returns the pieces that a range consists of; `None` if not all of it is in memory.
    pub fn pieces(&self, range: Range<usize>) -> Option<Vec<Piece>> {
        let (mut pieces, mut next) = (Vec::new(), range.start);
        while next < range.end {
            let (start, bytes) = self.part(next, next + 1)?;
            let end = range.end.min(start + bytes.len());
            pieces.push(Piece::new(bytes.clone(), next - start..end - start));
            next = end;
        }
        Some(pieces)
    }

    /// Adds a part at the end, which makes the bytes longer.
    pub fn push(&mut self, bytes: Vec<u8>) {
        let start = self.length;
        self.length += bytes.len();
        self.parts.push((start, Arc::new(bytes)));
    }

    /// Drops the first parts that end before a place.
    pub fn drop_before(&mut self, place: usize) {
        while self.parts.first().is_some_and(|(start, bytes)| start + bytes.len() <= place) {
            self.parts.remove(0);
        }
    }

    /// Adds a part that was read from `start` on. What is after the end is not kept.
    pub fn add(&mut self, start: usize, mut bytes: Vec<u8>) {
        bytes.truncate(self.length.saturating_sub(start));
        if start == 0 && bytes.len() == self.length {
            self.parts.clear();
        }
        let place = self.parts.partition_point(|(other, _)| *other <= start);
        self.parts.insert(place, (start, Arc::new(bytes)));
    }
}

impl SparseBytes {
    /// Adds the parts of other bytes, which must be the same bytes.
    pub fn merge(&mut self, other: &Self) {
        for (start, bytes) in &other.parts {
            let place = self.parts.partition_point(|(before, _)| before <= start);
            self.parts.insert(place, (*start, bytes.clone()));
        }
    }
}

impl From<Vec<u8>> for SparseBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self { length: bytes.len(), parts: alloc::vec![(0, Arc::new(bytes))] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bytes_without_parts_are_whole_only_if_there_are_none() {
        assert!(SparseBytes::default().is_whole() && SparseBytes::new(0).is_whole());
        assert!(!SparseBytes::new(1).is_whole());
        assert_eq!(SparseBytes::new(1).get(0..1), None);
        assert_eq!(SparseBytes::new(1).get(1..1), Some(&[][..]));
        assert_eq!(SparseBytes::new(1).get(2..2), None);
    }

    #[test]
    fn merged_bytes_have_the_parts_of_both() {
        let (mut one, mut other) = (SparseBytes::new(9), SparseBytes::new(9));
        one.add(6, alloc::vec![6, 7]);
        other.add(1, alloc::vec![1, 2]);
        one.merge(&other);
        assert_eq!((one.get(6..8), one.get(1..3)), (Some(&[6, 7][..]), Some(&[1, 2][..])));
    }

    #[test]
    fn pieces_that_continue_each_other_are_joined() {
        let bytes = Arc::new(alloc::vec![1, 2, 3]);
        let mut pieces = Vec::new();
        for range in [0..1, 1..3, 0..1] {
            Piece::new(bytes.clone(), range).push_to(&mut pieces);
        }
        Piece::from(alloc::vec![2]).push_to(&mut pieces);
        let pieces: Vec<&[u8]> = pieces.iter().map(|piece| &**piece).collect();
        assert_eq!(pieces, [&[1, 2, 3][..], &[1], &[2]]);
    }

    #[test]
    fn parts_before_a_place_are_dropped() {
        let mut sparse = SparseBytes::default();
        sparse.push(alloc::vec![0, 1]);
        sparse.push(alloc::vec![2, 3]);
        sparse.drop_before(1);
        assert!(sparse.pieces(0..4).is_some());
        sparse.drop_before(2);
        assert_eq!((sparse.len(), sparse.get(0..1), sparse.get(2..4)), (4, None, Some(&[2, 3][..])));
    }

    proptest! {
        #[test]
        fn pieces_are_the_bytes_if_all_are_in_memory(
            parts in proptest::collection::vec((0_usize..40, 0_usize..20), 0..6),
            range in (0_usize..40, 0_usize..40),
        ) {
            let all: Vec<u8> = (0..40).collect();
            let mut sparse = SparseBytes::new(all.len());
            let mut is_there = [false; 40];
            for (start, length) in &parts {
                let part = all.iter().copied().skip(*start).take(*length);
                part.clone().for_each(|byte| is_there[usize::from(byte)] = true);
                sparse.add(*start, part.collect());
            }
            let range = range.0.min(range.1)..range.0.max(range.1);
            let pieces = sparse.pieces(range.clone()).map(|pieces| pieces.iter().flat_map(|piece| piece.to_vec()).collect());
            let expected: Option<Vec<u8>> = is_there[range.clone()].iter().all(|&is| is).then(|| all[range].to_vec());
            prop_assert_eq!(pieces, expected);
        }

        #[test]
        fn a_range_is_returned_exactly_if_one_part_has_it(
            parts in proptest::collection::vec((0_usize..40, 0_usize..20), 0..6),
            range in (0_usize..50, 0_usize..50),
        ) {
            let all: Vec<u8> = (0..40).collect();
            let mut sparse = SparseBytes::new(all.len());
            for (start, length) in &parts {
                sparse.add(*start, all.iter().copied().skip(*start).take(*length).collect());
            }
            let range = range.0..range.1;
            let has = |(start, length): &(usize, usize)| {
                *start <= range.start && range.end <= (start + length).min(all.len())
            };
            let expected = all.get(range.clone()).filter(|found| found.is_empty() || parts.iter().any(has));
            if !range.is_empty() || range.start == range.end {
                prop_assert_eq!(sparse.get(range), expected);
            }
        }

        #[test]
        fn whole_bytes_have_every_range(bytes in proptest::collection::vec(any::<u8>(), 0..20), range in (0_usize..20, 0_usize..20)) {
            let sparse = SparseBytes::from(bytes.clone());
            prop_assert!(sparse.is_whole());
            let range = range.0.min(range.1)..range.0.max(range.1);
            prop_assert_eq!(sparse.get(range.clone()), bytes.get(range));
        }
    }
}
