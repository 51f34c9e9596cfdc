//! [`Grams`]: a text as groups of three letters. Two texts can be alike in them without a word in common, and no language needs a
//! table for it.

use saddlebag_collections::prelude::*;

/// Number of counters. Groups that share one add little noise in a paragraph.
const COUNTERS: usize = 2048;

/// How often each group of three letters occurs in a text.
pub struct Grams {
    counts: Vec<u16>,
    /// Counter of each group of the text, in order.
    places: Vec<u16>,
    /// Sum of the squares of the counts.
    square: u64,
}

impl Grams {
    /// Counts the groups of letters of texts, in lower case. Between words is one space.
    pub fn new(texts: &[&str]) -> Self {
        let mut grams = Self { counts: vec![0; COUNTERS], places: Vec::new(), square: 0 };
        let (mut first, mut second) = (' ', ' ');
        for letter in texts.iter().flat_map(|text| text.chars().chain([' '])).flat_map(char::to_lowercase) {
            let third = if letter.is_alphanumeric() { letter } else { ' ' };
            if (second, third) == (' ', ' ') {
                continue;
            }
            let mixed = [first, second, third]
                .iter()
                .fold(0_u32, |mixed, letter| (mixed ^ u32::from(*letter)).wrapping_mul(0x9E37_79B1).rotate_left(15));
            let place = mixed as usize % COUNTERS;
            if let Some(count) = grams.counts.get_mut(place).filter(|count| **count < u16::MAX) {
                grams.square += 2 * u64::from(*count) + 1;
                *count += 1;
                grams.places.push(place as u16);
            }
            (first, second) = (second, third);
        }
        grams
    }

    /// Returns the cosine of the counts: from 0 for nothing in common to 1.
    pub fn likeness(&self, other: &Self) -> f32 {
        let shared = self.places.iter().filter_map(|place| other.counts.get(usize::from(*place)));
        let product: u64 = shared.map(|count| u64::from(*count)).sum();
        product as f32 / (self.square.isqrt() * other.square.isqrt()).max(1) as f32
    }
}
