//! [`Grams`]: a text as groups of three letters. Two texts can be alike in them without a word in common, and no language needs a
//! table for it.

use saddlebag_collections::prelude::*;

/// Number of counters. Groups that share one add little noise in a paragraph.
const COUNTERS: usize = 2048;

/// How often each group of three letters occurs in a text.
pub struct Grams(Vec<u16>);

impl Grams {
    /// Counts the groups of letters of texts, in lower case. Between words is one space.
    pub fn new(texts: &[&str]) -> Self {
        let mut counts = vec![0_u16; COUNTERS];
        let (mut first, mut second) = (' ', ' ');
        for letter in texts.iter().flat_map(|text| text.chars().chain([' '])).flat_map(char::to_lowercase) {
            let third = if letter.is_alphanumeric() { letter } else { ' ' };
            if (second, third) == (' ', ' ') {
                continue;
            }
            let mixed = [first, second, third]
                .iter()
                .fold(0_u32, |mixed, letter| (mixed ^ u32::from(*letter)).wrapping_mul(0x9E37_79B1).rotate_left(15));
            if let Some(count) = counts.get_mut(mixed as usize % COUNTERS) {
                *count = count.saturating_add(1);
            }
            (first, second) = (second, third);
        }
        Self(counts)
    }

    /// Returns the cosine of the counts: from 0 for nothing in common to 1.
    pub fn likeness(&self, other: &Self) -> f32 {
        let product = |one: &Self, other: &Self| -> u64 {
            one.0.iter().zip(&other.0).map(|(a, b)| u64::from(*a) * u64::from(*b)).sum()
        };
        let length = product(self, self).isqrt() * product(other, other).isqrt();
        product(self, other) as f32 / length.max(1) as f32
    }
}
