//! [`FullText`]: the matches of queries and their scores.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::query::{self, Expr, Phrase};
use super::scan::{Row, Scanner};
use super::tokens;

/// The most phrases of one search.
const MAX_PHRASES: usize = 1024;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Weight of words that are in more than half of the notes.
const LEAST_IDF: f64 = 1e-6;

/// Queries, all of which must match.
#[derive(Clone, Debug, Default)]
pub struct FullText {
    pub(super) all: Vec<Expr>,
    phrases: usize,
}

/// A note that matches. The higher the score the better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// Its place among the notes.
    pub note: usize,
    /// The score of the match.
    pub score: f64,
}

impl FullText {
    /// Adds a query in zk's syntax.
    ///
    /// # Errors
    ///
    /// The problem of the query, in words.
    pub fn add_query(&mut self, query: &str) -> Result<(), String> {
        let expr = query::parse(&query::convert(query))?;
        self.add(expr)
    }

    /// Adds: one of these names, as a phrase.
    ///
    /// # Errors
    ///
    /// There are too many terms; the text has their number and the limit.
    pub fn add_names<'a>(&mut self, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
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

    /// Returns true if there is nothing to match.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The notes that match, in their order.
    pub fn run(&self, notes: &mut dyn Iterator<Item = Row<'_>>) -> Vec<Match> {
        let mut phrases = Vec::new();
        for expr in &self.all {
            collect(expr, &mut phrases);
        }
        let mut scanner = Scanner::new(&phrases);
        let mut containing = vec![0_u32; phrases.len()];
        let mut matched = Vec::new();
        let (mut all_tokens, mut note_tokens) = (0_u64, Vec::new());
        let mut count = 0_u64;
        for (note, row) in notes.enumerate() {
            count += 1;
            let tokens = scanner.scan(&row);
            all_tokens += tokens;
            for (phrase, count) in containing.iter_mut().enumerate() {
                *count += u32::from(scanner.occurrences(phrase).next().is_some());
            }
            let (matches, counted) = self.evaluate(&scanner, phrases.len());
            if matches {
                matched.push((note, counted));
                note_tokens.push(tokens);
            }
        }
        let total = as_f64(count);
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

    /// Matches the note that was scanned; gives the number of occurrences that count for it, by phrase.
    pub(super) fn evaluate(&self, scanner: &Scanner<'_>, phrases: usize) -> (bool, Vec<f64>) {
        let frequencies: Vec<f64> = (0..phrases).map(|phrase| scanner.frequency(phrase)).collect();
        let mut counted = vec![0.0; phrases];
        let matches = all_of(&self.all, &frequencies, &mut counted, &mut 0);
        (matches, counted)
    }
}

/// For each name, in their order, true if the note has it as a phrase.
pub fn mentions<'a>(note: &Row<'_>, names: impl Iterator<Item = &'a str>) -> Vec<bool> {
    let mut stands = Vec::new();
    let mut phrases: HashMap<Vec<Vec<u8>>, Vec<usize>> = HashMap::new();
    // By first word the lengths of the phrases, so that each place is looked up once for each length.
    let mut lengths: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
    for (number, name) in names.enumerate() {
        stands.push(false);
        if let Expr::Phrase(Phrase { stems, .. }) = Expr::phrase(name)
            && let Some(first) = stems.first()
        {
            let lengths = lengths.entry_ref(first.as_slice()).or_default();
            if !lengths.contains(&stems.len()) {
                lengths.push(stems.len());
            }
            phrases.entry(stems).or_default().push(number);
        }
    }
    for text in note.columns() {
        let stems = tokens::stems(text);
        for (at, first) in stems.iter().enumerate() {
            for window in lengths.get(first).into_iter().flatten().filter_map(|length| stems.get(at..at + length)) {
                // What was found once needs no second look.
                for number in phrases.remove(window).into_iter().flatten() {
                    if let Some(stands) = stands.get_mut(number) {
                        *stands = true;
                    }
                }
            }
        }
    }
    stands
}

/// The phrases of an expression, in the order in which they are numbered.
pub(super) fn collect<'a>(expr: &'a Expr, phrases: &mut Vec<&'a Phrase>) {
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

/// Returns true if the expression matches. Notes which phrases count for it. `at` numbers the phrases.
fn evaluate(expr: &Expr, frequencies: &[f64], counted: &mut [f64], at: &mut usize) -> bool {
    match expr {
        Expr::Nothing => false,
        Expr::Phrase(_) => {
            debug_assert!(*at < frequencies.len(), "a broken invariant: phrase {at} was not counted");
            let frequency = frequencies.get(*at).copied().unwrap_or_default();
            if let Some(counted) = counted.get_mut(*at) {
                *counted = frequency;
            }
            *at += 1;
            frequency > 0.0
        }
        Expr::And(parts) => all_of(parts, frequencies, counted, at),
        Expr::Or(parts) => any_of(parts, frequencies, counted, at),
        Expr::Not(wanted, unwanted) => {
            let start = *at;
            let is_wanted = evaluate(wanted, frequencies, counted, at);
            let wanted_end = *at;
            let matches = !any_of(unwanted, frequencies, counted, at) && is_wanted;
            forget(counted, if matches { wanted_end } else { start }, *at);
            matches
        }
    }
}

// Both evaluate every part, so that the numbers of the phrases stay in step.

fn all_of(parts: &[Expr], frequencies: &[f64], counted: &mut [f64], at: &mut usize) -> bool {
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

fn any_of(parts: &[Expr], frequencies: &[f64], counted: &mut [f64], at: &mut usize) -> bool {
    let mut any = false;
    for part in parts {
        any |= evaluate(part, frequencies, counted, at);
    }
    any
}

/// Phrases of a part that does not match add nothing to the score.
fn forget(counted: &mut [f64], from: usize, to: usize) {
    if let Some(counted) = counted.get_mut(from..to) {
        counted.fill(0.0);
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
