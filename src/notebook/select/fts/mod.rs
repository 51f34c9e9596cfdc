//! zk's full-text search: the matches and the order that SQLite's FTS5 gives, without an index.
//!
//! One pass over the notes counts words and notes where the words of the query stand. Recall ranks
//! otherwise; this is for those who come from zk (`reference/notebook.md`, section 2.4).

mod porter;
mod query;
mod tokens;

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use self::query::{Columns, Expr, Phrase};
use crate::notebook::NoteView;

/// How many phrases one search may have.
const MAX_PHRASES: usize = 1024;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// What words count that stand in more than half of the notes.
const LEAST_IDF: f64 = 1e-6;

/// In the order in which their tokens are numbered.
const COLUMN_WEIGHTS: [(Columns, f64); 3] = [(query::PATH, 1000.0), (query::TITLE, 500.0), (query::BODY, 1.0)];

/// Queries, all of which must match.
#[derive(Clone, Debug, Default)]
pub(super) struct FullText {
    all: Vec<Expr>,
    phrases: usize,
}

/// A note that matches. The higher the score the better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Match {
    pub(super) note: usize,
    pub(super) score: f64,
}

impl FullText {
    /// Adds a query in zk's syntax. The error says what is wrong with it.
    pub(super) fn add_query(&mut self, query: &str) -> Result<(), String> {
        let expr = query::parse(&query::convert(query))?;
        self.add(expr)
    }

    /// Adds: one of these names, as a phrase.
    pub(super) fn add_names<'a>(&mut self, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let names = names.map(Expr::phrase).filter(|phrase| *phrase != Expr::Nothing);
        self.add(Expr::Or(names.collect()))
    }

    fn add(&mut self, expr: Expr) -> Result<(), String> {
        let mut phrases = Vec::new();
        collect(&expr, &mut phrases);
        self.phrases += phrases.len();
        if self.phrases > MAX_PHRASES {
            return Err(alloc::format!("{} terms, the limit is {MAX_PHRASES}", self.phrases));
        }
        self.all.push(expr);
        Ok(())
    }

    /// Whether there is nothing to match.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The notes that match, in their order.
    pub(super) fn run(&self, notes: &[NoteView<'_>]) -> Vec<Match> {
        let mut phrases = Vec::new();
        for expr in &self.all {
            collect(expr, &mut phrases);
        }
        let mut scanner = Scanner::new(&phrases);
        let mut containing = vec![0_u32; phrases.len()];
        let mut matched = Vec::new();
        let (mut all_tokens, mut note_tokens) = (0_u64, Vec::new());
        for (note, view) in notes.iter().enumerate() {
            let tokens = scanner.scan(view);
            all_tokens += tokens;
            let frequencies: Vec<f64> = (0..phrases.len()).map(|phrase| scanner.frequency(phrase)).collect();
            for (count, frequency) in containing.iter_mut().zip(&frequencies) {
                *count += u32::from(*frequency > 0.0);
            }
            let mut counted = vec![0.0; phrases.len()];
            let mut at = 0;
            // Every query is evaluated, so that the numbers of the phrases stay in step.
            let matches =
                self.all.iter().fold(true, |all, expr| evaluate(expr, &frequencies, &mut counted, &mut at) && all);
            if matches {
                matched.push((note, counted));
                note_tokens.push(tokens);
            }
        }
        let total = as_f64(notes.len() as u64);
        let average = as_f64(all_tokens) / total;
        let idf: Vec<f64> = containing
            .iter()
            .map(|&count| {
                let count = f64::from(count);
                ln((total - count + 0.5) / (count + 0.5)).max(LEAST_IDF)
            })
            .collect();
        matched
            .into_iter()
            .zip(note_tokens)
            .map(|((note, frequencies), tokens)| {
                let length = K1 * (1.0 - B + B * as_f64(tokens) / average);
                let parts = idf.iter().zip(frequencies);
                let score = parts.fold(0.0, |sum, (idf, f)| sum + idf * ((f * (K1 + 1.0)) / (f + length)));
                Match { note, score }
            })
            .collect()
    }
}

/// Which of the names, each a text of one's own, stand in a note as phrases.
pub(super) fn mentions<'a>(note: &NoteView<'_>, names: impl Iterator<Item = &'a str>) -> Vec<bool> {
    let mut column_tokens: Vec<Vec<Vec<u8>>> = Vec::new();
    let mut places: hashbrown::HashMap<Vec<u8>, Vec<(usize, usize)>> = hashbrown::HashMap::new();
    for (column, text) in columns(note).into_iter().enumerate() {
        let stems = tokens::stems(text);
        for (at, stem) in stems.iter().enumerate() {
            places.entry_ref(stem.as_slice()).or_default().push((column, at));
        }
        column_tokens.push(stems);
    }
    names
        .map(|name| {
            let Expr::Phrase(phrase) = Expr::phrase(name) else { return false };
            let first = phrase.stems.first().and_then(|stem| places.get(stem));
            first.into_iter().flatten().any(|&(column, at)| {
                let stems = column_tokens.get(column).and_then(|stems| stems.get(at..));
                stems.is_some_and(|stems| stems.starts_with(&phrase.stems))
            })
        })
        .collect()
}

fn columns<'a>(note: &NoteView<'a>) -> [&'a str; 3] {
    [note.path, note.note.title.as_str(), note.text.get(note.note.body.clone()).unwrap_or_default()]
}

/// The phrases of an expression, in the order in which they are numbered.
fn collect<'a>(expr: &'a Expr, phrases: &mut Vec<&'a Phrase>) {
    match expr {
        Expr::Nothing => {}
        Expr::Phrase(phrase) => phrases.push(phrase),
        Expr::And(parts) | Expr::Or(parts) => parts.iter().for_each(|part| collect(part, phrases)),
        Expr::Not(wanted, unwanted) => {
            collect(wanted, phrases);
            unwanted.iter().for_each(|part| collect(part, phrases));
        }
    }
}

/// Whether the expression matches, and which phrases count for it. `at` numbers the phrases.
fn evaluate(expr: &Expr, frequencies: &[f64], counted: &mut [f64], at: &mut usize) -> bool {
    match expr {
        Expr::Nothing => false,
        Expr::Phrase(_) => {
            let frequency = frequencies.get(*at).copied().unwrap_or_default();
            if let Some(counted) = counted.get_mut(*at) {
                *counted = frequency;
            }
            *at += 1;
            frequency > 0.0
        }
        Expr::And(parts) => all_of(parts.iter(), frequencies, counted, at),
        Expr::Or(parts) => parts.iter().fold(false, |any, part| evaluate(part, frequencies, counted, at) || any),
        Expr::Not(wanted, unwanted) => {
            let start = *at;
            let is_wanted = evaluate(wanted, frequencies, counted, at);
            let wanted_end = *at;
            let is_unwanted = unwanted.iter().fold(false, |any, part| evaluate(part, frequencies, counted, at) || any);
            let matches = is_wanted && !is_unwanted;
            forget(counted, if matches { wanted_end } else { start }, *at);
            matches
        }
    }
}

fn all_of<'a>(parts: impl Iterator<Item = &'a Expr>, frequencies: &[f64], counted: &mut [f64], at: &mut usize) -> bool {
    let start = *at;
    let mut all = true;
    for part in parts {
        all &= evaluate(part, frequencies, counted, at);
    }
    if !all {
        forget(counted, start, *at);
    }
    all
}

/// Phrases of a part that does not match add nothing to the score.
fn forget(counted: &mut [f64], from: usize, to: usize) {
    if let Some(counted) = counted.get_mut(from..to) {
        counted.fill(0.0);
    }
}

/// Finds the words of the phrases in one note after the other.
struct Scanner<'q> {
    phrases: &'q [&'q Phrase],
    /// Of each phrase its words, as numbers of `units`.
    words: Vec<Vec<usize>>,
    units: Vec<Unit<'q>>,
    /// By the first byte of a word: the units that it may match.
    by_first_byte: Vec<Vec<usize>>,
    /// Of each unit where it stands: the column and the token, ascending.
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
    fn new(phrases: &'q [&'q Phrase]) -> Self {
        let units_of = |phrase: &&'q Phrase| {
            let last = phrase.stems.len().saturating_sub(1);
            let is_prefix = phrase.is_prefix;
            let stems: &'q [Vec<u8>] = &phrase.stems;
            stems.iter().enumerate().map(move |(i, stem)| Unit { stem, is_prefix: is_prefix && i == last })
        };
        let mut units: Vec<Unit<'q>> = phrases.iter().flat_map(units_of).collect();
        units.sort_unstable();
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
    fn scan(&mut self, note: &NoteView<'_>) -> u64 {
        self.places.iter_mut().for_each(Vec::clear);
        let mut total = 0;
        for (column, text) in columns(note).into_iter().enumerate() {
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
            let kept = unit.stem.get(..unit.stem.len().saturating_sub(2)).unwrap_or_default();
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

    /// What the occurrences of a phrase in the note count.
    fn frequency(&self, phrase: usize) -> f64 {
        let (Some(words), Some(phrase)) = (self.words.get(phrase), self.phrases.get(phrase)) else { return 0.0 };
        let Some((&first, others)) = words.split_first() else { return 0.0 };
        let mut sum = 0.0;
        for &(column, at) in self.places.get(first).into_iter().flatten() {
            let Some(&(bit, weight)) = COLUMN_WEIGHTS.get(column) else { continue };
            if phrase.columns & bit == 0 || (phrase.is_first && at != 0) {
                continue;
            }
            let follows = others.iter().zip(1_u32..).all(|(&word, distance)| {
                let place = (column, at.saturating_add(distance));
                self.places.get(word).is_some_and(|places| places.binary_search(&place).is_ok())
            });
            if follows {
                sum += weight;
            }
        }
        sum
    }
}

#[allow(clippy::cast_precision_loss)]
fn as_f64(count: u64) -> f64 {
    count as f64
}

/// The natural logarithm of a positive, normal number: `core` has none, and an order must not depend
/// on the platform's.
fn ln(x: f64) -> f64 {
    const LN_2: f64 = core::f64::consts::LN_2;
    let bits = x.to_bits();
    let mut exponent = i32::try_from((bits >> 52) & 0x7ff).unwrap_or_default() - 1023;
    let mut mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    if mantissa > core::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 (s + s³/3 + s⁵/5 …) with s = (m − 1) / (m + 1), of which |s| is below 0.172.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let series = (0..12).rev().fold(0.0, |sum, i| sum * square + 1.0 / f64::from(2 * i + 1));
    2.0 * s * series + f64::from(exponent) * LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words and non-words of every ending, and scripts other than Latin.
    #[test]
    fn tokens_are_those_of_fts5() {
        let recorded = include_str!("../../../../tests/vectors/zk/fts5-tokens.json");
        let recorded: serde_json::Value = serde_json::from_str(recorded).expect("valid");
        for pair in recorded["tokens"].as_array().expect("pairs") {
            let text = pair[0].as_str().expect("text");
            let expected: Vec<&[u8]> = pair[1]
                .as_array()
                .expect("tokens")
                .iter()
                .filter_map(|token| Some(token.as_str()?.as_bytes()))
                .collect();
            assert_eq!(tokens::stems(text), expected, "{text}");
        }
    }

    #[test]
    fn the_logarithm_is_exact_to_the_last_digits() {
        for i in 1..20_000_u32 {
            let x = f64::from(i) / 37.0;
            let error = (ln(x) - x.ln()).abs();
            assert!(error <= 4e-16 * x.ln().abs().max(1.0), "{x} {error}");
        }
    }
}
