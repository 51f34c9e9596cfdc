//! Constants and formulas of BM25: the weight of an occurrence in its field, and the rarity of a word.

use super::index::{Counts, RankedIndex};
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
    pub(super) fn new(counts: &Counts) -> Self {
        Self { means: Field::ALL.map(|field| counts.mean_length(field)) }
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

/// Returns the rarity of a word: `having` of `all` documents have it.
pub(super) fn idf(all: u32, having: u32) -> f32 {
    let (all, having) = (f64::from(all.max(having)), f64::from(having));
    ln(1.0 + (all - having + 0.5) / (having + 0.5)) as f32
}

/// Returns the natural logarithm of a positive, normal number, to about 15 digits. The standard library's is missing
/// without `std`, and not the same on every machine.
pub(super) fn ln(x: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff << 52;
    let bits = x.to_bits();
    let mut exponent = ((bits & EXPONENT) >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits(bits & !EXPONENT | 1023 << 52);
    if mantissa > core::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 (s + s³/3 + s⁵/5 + …) for s = (m − 1) / (m + 1), which is below 0.172.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let series = (0..12).rev().fold(0.0, |sum, term| sum * square + 1.0 / f64::from(2 * term + 1));
    2.0 * s * series + exponent as f64 * core::f64::consts::LN_2
}
