//! [`SparseBytes`]: bytes of which only some parts may be in memory.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

/// Bytes of which only some parts may be in memory, each as it was read. A copy shares the parts.
#[derive(Clone, Debug, Default)]
pub struct SparseBytes {
    length: usize,
    /// Sorted by start. They may overlap.
    parts: Vec<(usize, Arc<Vec<u8>>)>,
}

impl SparseBytes {
    /// Creates bytes of which nothing is in memory.
    #[must_use]
    pub fn new(length: usize) -> Self {
        Self { length, parts: Vec::new() }
    }

    /// Returns the number of bytes, in memory or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Returns true if there are no bytes at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns true if everything is in memory, in one part.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.get(0..self.length).is_some()
    }

    /// Returns bytes; `None` if they are not in one part.
    #[must_use]
    pub fn get(&self, range: Range<usize>) -> Option<&[u8]> {
        if range.is_empty() {
            return (range.end <= self.length).then_some(&[]);
        }
        let before = self.parts.partition_point(|(start, _)| *start <= range.start);
        let before = self.parts.get(..before)?.iter().rev();
        before.filter_map(|(start, bytes)| bytes.get(range.start - start..range.end.checked_sub(*start)?)).next()
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

    proptest! {
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
