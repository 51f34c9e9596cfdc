//! Constants and formulas of BM25: the weight of an occurrence in its field.

use super::index::RankedIndex;
use super::postings::Posting;
use super::types::{FIELDS, Field};

/// Saturation: the smaller it is, the less further occurrences add.
const K1: f32 = 1.2;
/// Weight of the length of a field.
const B: f32 = 0.75;
/// Weight of an occurrence in each field.
const FIELD_WEIGHTS: [f32; FIELDS] = [6.0, 4.0, 2.5, 3.0, 2.0, 1.0];
/// Bonus of a document that has all words, as a part of its score.
pub(super) const COVERAGE: f32 = 0.5;

/// Weights of occurrences by the length of their field.
pub(super) struct Lengths {
    means: [f32; FIELDS],
}

impl Lengths {
    pub(super) fn new(index: &RankedIndex) -> Self {
        Self { means: Field::ALL.map(|field| index.mean_length(field)) }
    }

    /// Returns the weight of this many occurrences in a field.
    pub(super) fn weigh(&self, index: &RankedIndex, slot: u32, field: Field, count: u32) -> f32 {
        let place = field as usize;
        let length = index.docs().get(slot as usize).and_then(|doc| doc.lengths.get(place).copied());
        match (length, self.means.get(place), FIELD_WEIGHTS.get(place)) {
            (Some(length), Some(mean), Some(weight)) => count as f32 * (weight / (1.0 - B + B * length as f32 / mean)),
            _ => 0.0,
        }
    }

    /// Returns the weight of the occurrences in any field, or of those in one.
    #[inline(never)]
    pub(super) fn weigh_fields(&self, index: &RankedIndex, posting: &Posting<'_>, only: Option<Field>) -> f32 {
        let counts = Field::ALL.into_iter().zip(posting.counts());
        let counted = counts.filter(|(field, count)| *count > 0 && only.is_none_or(|only| only == *field));
        counted.map(|(field, count)| self.weigh(index, posting.slot, field, count)).sum()
    }
}

/// Returns the saturated weight of occurrences.
pub(super) fn saturate(sum: f32) -> f32 {
    (K1 + 1.0) * sum / (K1 + sum)
}
