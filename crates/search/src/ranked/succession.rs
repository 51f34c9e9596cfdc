//! [`Succession`]: a document that a newer one supersedes. The newer one inherits its score.

use super::index::Doc;
use super::types::Ranked;
use saddlebag_collections::order;
use saddlebag_collections::prelude::*;

/// Factor for the score of a superseded document.
pub(super) const SUPERSEDED_WEIGHT: f32 = 0.4;

/// A document, and the one that supersedes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Succession {
    /// Superseded document.
    pub old: u32,
    /// Document that supersedes it, and is not superseded itself.
    pub new: u32,
}

/// Successions of a search, by slot.
pub(super) struct Successions<'a> {
    /// Sorted by the superseded document.
    by_old: &'a [Succession],
    /// Slots of the newer and of the superseded document, sorted.
    by_new: Vec<(u32, u32)>,
}

impl<'a> Successions<'a> {
    pub(super) fn new(docs: &[Doc], by_old: &'a [Succession]) -> Self {
        debug_assert!(by_old.is_sorted_by_key(|succession| succession.old), "a broken invariant: unsorted");
        let slot = |id: u32| {
            let slot = docs.binary_search_by_key(&id, |doc| doc.id).ok()?;
            docs.get(slot).filter(|doc| doc.is_live)?;
            u32::try_from(slot).ok()
        };
        let slots = by_old.iter().filter_map(|&Succession { old, new }| Some((slot(new)?, slot(old)?)));
        let mut by_new: Vec<(u32, u32)> = slots.collect();
        order::sort_slice(&mut by_new, Ord::cmp);
        Self { by_old, by_new }
    }

    /// Returns the factor for the score of a document.
    pub(super) fn weight(&self, doc: u32) -> f32 {
        let is_superseded = self.by_old.binary_search_by_key(&doc, |succession| succession.old).is_ok();
        if is_superseded { SUPERSEDED_WEIGHT } else { 1.0 }
    }

    /// Returns the slots of the documents that the one at a slot supersedes.
    pub(super) fn superseded_by(&self, new: u32) -> impl Iterator<Item = u32> {
        let start = self.by_new.partition_point(|(other, _)| *other < new);
        let of_new = self.by_new.iter().skip(start).take_while(move |(other, _)| *other == new);
        of_new.map(|(_, old)| *old)
    }

    /// Returns the slots of the documents that supersede others, ascending.
    pub(super) fn newer(&self) -> impl Iterator<Item = u32> {
        self.by_new.chunk_by(|a, b| a.0 == b.0).filter_map(|same| same.first()).map(|(new, _)| *new)
    }
}

impl Ranked {
    /// Takes over the score of a superseded document, and the words that led to it, if the score is higher.
    pub(super) fn inherit(&mut self, old: &Self) {
        let score = old.score / old.weight;
        if score <= self.score {
            return;
        }
        self.inherited += score - self.score;
        self.score = score;
        for term in &old.terms {
            if !self.terms.contains(term) {
                self.terms.push(term.clone());
            }
        }
        old.fields.iter().for_each(|field| self.fields.insert(field));
    }
}
