//! [`Scanner`]: finds where the words of a query are in a note.

use alloc::vec;
use alloc::vec::Vec;

use saddlebag_collections::order;

use super::query::{self, Columns, Phrase};
use super::{porter, tokens};
use saddlebag_collections::SlicePart;

/// In the order in which their tokens are numbered.
const COLUMN_WEIGHTS: [(Columns, f64); 3] = [(query::PATH, 1000.0), (query::TITLE, 500.0), (query::BODY, 1.0)];

/// A note as the search sees it, with a column for each field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row<'a> {
    /// Below the root of the notebook.
    pub path: &'a str,
    /// The title.
    pub title: &'a str,
    /// The text without title and frontmatter.
    pub body: &'a str,
}

impl<'a> Row<'a> {
    pub(super) fn columns(&self) -> [&'a str; 3] {
        [self.path, self.title, self.body]
    }
}

/// Finds the words of the phrases in one note after the other.
pub(super) struct Scanner<'q> {
    phrases: &'q [&'q Phrase],
    /// For each phrase its words, as numbers of `units`.
    words: Vec<Vec<usize>>,
    units: Vec<Unit<'q>>,
    /// By the first byte of a word: the units that it may match.
    by_first_byte: Vec<Vec<usize>>,
    /// For each unit its places: the column and the token, ascending.
    places: Vec<Vec<(usize, u32)>>,
    stem: Vec<u8>,
}

/// A word of the query.
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
struct Unit<'q> {
    stem: &'q [u8],
    is_prefix: bool,
}

impl<'q> Scanner<'q> {
    pub(super) fn new(phrases: &'q [&'q Phrase]) -> Self {
        let units_of = |phrase: &&'q Phrase| {
            let last = phrase.stems.len().saturating_sub(1);
            let is_prefix = phrase.is_prefix;
            let stems: &'q [Vec<u8>] = &phrase.stems;
            stems.iter().enumerate().map(move |(i, stem)| Unit { stem, is_prefix: is_prefix && i == last })
        };
        let mut units: Vec<Unit<'q>> = phrases.iter().flat_map(units_of).collect();
        order::sort_slice(&mut units, Ord::cmp);
        units.dedup();
        let words = phrases
            .iter()
            .map(|phrase| units_of(phrase).filter_map(|unit| units.binary_search(&unit).ok()).collect())
            .collect();
        let mut by_first_byte = vec![Vec::new(); 256];
        for (number, unit) in units.iter().enumerate() {
            let first = unit.stem.first().and_then(|&byte| by_first_byte.get_mut(usize::from(byte)));
            if let Some(numbers) = first {
                numbers.push(number);
            }
        }
        let places = vec![Vec::new(); units.len()];
        Self { phrases, words, units, by_first_byte, places, stem: Vec::new() }
    }

    /// Notes where the words stand; gives the number of tokens.
    pub(super) fn scan(&mut self, note: &Row<'_>) -> u64 {
        self.places.iter_mut().for_each(Vec::clear);
        let mut total = 0;
        for (column, text) in note.columns().into_iter().enumerate() {
            let mut tokens = tokens::tokens(text);
            let mut number = 0_u32;
            while let Some((_, word)) = tokens.next() {
                self.place(word, (column, number));
                number = number.saturating_add(1);
            }
            total += u64::from(number);
        }
        total
    }

    fn place(&mut self, word: &[u8], place: (usize, u32)) {
        let candidates = word.first().and_then(|&byte| self.by_first_byte.get(usize::from(byte)));
        let mut is_stemmed = false;
        for &number in candidates.into_iter().flatten() {
            let Some(unit) = self.units.get(number) else { continue };
            // A stem differs from its word in its last two letters at most (`-biliti` gives `-ble`), so
            // that few words need to be stemmed.
            let kept = unit.stem.part(..unit.stem.len().saturating_sub(2));
            if !word.starts_with(kept) {
                continue;
            }
            if !is_stemmed {
                self.stem.clear();
                self.stem.extend_from_slice(word);
                porter::stem(&mut self.stem);
                is_stemmed = true;
            }
            let matches = if unit.is_prefix { self.stem.starts_with(unit.stem) } else { self.stem == unit.stem };
            if matches && let Some(places) = self.places.get_mut(number) {
                places.push(place);
            }
        }
    }

    /// The weighted number of occurrences of a phrase in the note.
    pub(super) fn frequency(&self, phrase: usize) -> f64 {
        self.occurrences(phrase).filter_map(|(column, _)| COLUMN_WEIGHTS.get(column)).map(|(_, weight)| weight).sum()
    }

    /// Returns the places of a phrase in the note: the column and its first token.
    pub(super) fn occurrences(&self, phrase: usize) -> impl Iterator<Item = (usize, u32)> {
        debug_assert!(phrase < self.words.len(), "a broken invariant: phrase {phrase} is not searched for");
        let words = self.words.get(phrase).map(Vec::as_slice).unwrap_or_default();
        let (first, others) = words.split_first().map_or((None, words), |(first, others)| (Some(first), others));
        let phrase = self.phrases.get(phrase);
        let places = first.and_then(|&first| self.places.get(first)).into_iter().flatten().copied();
        places.filter(move |&(column, at)| {
            let Some((phrase, (bit, _))) = phrase.zip(COLUMN_WEIGHTS.get(column)) else { return false };
            let follows = |(&word, distance): (&usize, u32)| {
                let place = (column, at.saturating_add(distance));
                self.places.get(word).is_some_and(|places| places.binary_search(&place).is_ok())
            };
            phrase.columns & bit != 0 && (at == 0 || !phrase.is_first) && others.iter().zip(1..).all(follows)
        })
    }
}
