//! [`Grams`]: counts groups of three letters, to compare texts that need not share a word. It works in any language without tables.

use saddlebag_collections::prelude::*;

/// Number of counters. Groups that share one add little noise in a paragraph.
const COUNTERS: usize = 2048;

/// Number of letters that are read. The counts of so many cannot overflow.
const MAX_LETTERS: usize = 16_384;

/// Counts of the groups of three letters in a text.
pub struct Grams {
    counts: Vec<u32>,
    /// Counter of each group of the text, in order.
    places: Vec<u32>,
    /// Sum of the squares of the counts.
    square: u32,
}

impl Grams {
    /// Counts the groups of letters of texts, in lower case. Between words is one space.
    pub fn new(texts: &[&str]) -> Self {
        let mut grams = Self { counts: vec![0; COUNTERS], places: Vec::new(), square: 0 };
        let (mut first, mut second) = (' ', ' ');
        let letters = texts.iter().flat_map(|text| text.chars().chain([' '])).flat_map(char::to_lowercase);
        for letter in letters.take(MAX_LETTERS) {
            let third = if letter.is_alphanumeric() { letter } else { ' ' };
            if (second, third) == (' ', ' ') {
                continue;
            }
            let mixed = [first, second, third]
                .iter()
                .fold(0_u32, |mixed, letter| (mixed ^ u32::from(*letter)).wrapping_mul(0x9E37_79B1).rotate_left(15));
            let place = mixed as usize % COUNTERS;
            if let Some(count) = grams.counts.get_mut(place) {
                grams.square += 2 * *count + 1;
                *count += 1;
                grams.places.push(place as u32);
            }
            (first, second) = (second, third);
        }
        grams
    }

    /// Returns the cosine of the counts: from 0 for nothing in common to 1.
    pub fn likeness(&self, other: &Self) -> f32 {
        let shared = self.places.iter().filter_map(|place| other.counts.get(*place as usize));
        let product: u32 = shared.sum();
        let square = (self.square as f32 * other.square as f32).max(1.0);
        // The square root, which `core` lacks: a guess from the exponent, and one step of Newton's.
        let guess = f32::from_bits((square.to_bits() >> 1) + 0x1FBD_1DF5);
        product as f32 / (0.5 * (guess + square / guess))
    }
}
