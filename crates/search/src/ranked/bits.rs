//! [`Bits`]: a set of documents.

use saddlebag_collections::prelude::*;

/// A set of documents, by slot.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub(super) fn new(slots: usize) -> Self {
        Self(vec![0; slots.div_ceil(64)])
    }

    pub(super) fn insert(&mut self, slot: u32) {
        if let Some(bits) = self.0.get_mut(slot as usize / 64) {
            *bits |= 1 << (slot % 64);
        }
    }

    pub(super) fn slots(&self) -> impl Iterator<Item = u32> {
        (0_u32..).zip(&self.0).flat_map(|(block, &bits)| {
            let later = |bits: &u64| Some(bits & (bits - 1)).filter(|bits| *bits != 0);
            let each = core::iter::successors(Some(bits).filter(|bits| *bits != 0), later);
            each.map(move |bits| block * 64 + bits.trailing_zeros())
        })
    }

    pub(super) fn contains(&self, slot: u32) -> bool {
        self.0.get(slot as usize / 64).is_some_and(|bits| bits & (1 << (slot % 64)) != 0)
    }

    /// Returns the set of the same size without any document.
    pub(super) fn none(&self) -> Self {
        Self(vec![0; self.0.len()])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|bits| *bits == 0)
    }

    pub(super) fn combine(&mut self, other: &Self, with: fn(u64, u64) -> u64) {
        for (bits, other) in self.0.iter_mut().zip(&other.0) {
            *bits = with(*bits, *other);
        }
    }
}
