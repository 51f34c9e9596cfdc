//! The baseline: BM25 over single turns, plus half of the score of both neighbours in the session.

use std::collections::{BTreeMap, BTreeSet};

use rust_stemmers::{Algorithm, Stemmer};

use super::formats::History;

const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Part of the score of a neighbour that a turn gets.
const NEIGHBOUR: f64 = 0.5;

/// Words that are left out.
const STOP_WORDS: &str = "a about after again all am an and any are as at be because been before being below between both \
    but by can could did do does doing down during each few for from further had has have having he her here hers him his \
    how i if in into is it its just me more most my no nor not now of off on once only or other our out over own same she \
    should so some such than that the their them then there these they this those through to too under until up very was \
    we were what when where which while who whom why will with would you your";

/// Turns of a history, ready to be ranked.
pub(crate) struct Turns {
    stemmer: Stemmer,
    stop_words: BTreeSet<&'static str>,
    /// Session of each turn, and its place there.
    places: Vec<(usize, usize)>,
    counts: Vec<BTreeMap<String, f64>>,
    lengths: Vec<f64>,
    mean: f64,
    having: BTreeMap<String, f64>,
}

impl Turns {
    pub(crate) fn new(history: &History) -> Self {
        let mut turns = Self {
            stemmer: Stemmer::create(Algorithm::English),
            stop_words: STOP_WORDS.split_whitespace().collect(),
            places: Vec::new(),
            counts: Vec::new(),
            lengths: Vec::new(),
            mean: 1.0,
            having: BTreeMap::new(),
        };
        for (number, session) in history.sessions.iter().enumerate() {
            for (place, turn) in session.turns.iter().enumerate() {
                let mut counts: BTreeMap<String, f64> = BTreeMap::new();
                for word in turns.words(&turn.text) {
                    *counts.entry(word).or_default() += 1.0;
                }
                for word in counts.keys() {
                    *turns.having.entry(word.clone()).or_default() += 1.0;
                }
                turns.lengths.push(counts.values().sum());
                turns.counts.push(counts);
                turns.places.push((number, place));
            }
        }
        turns.mean = (turns.lengths.iter().sum::<f64>() / turns.lengths.len().max(1) as f64).max(1.0);
        turns
    }

    fn words(&self, text: &str) -> Vec<String> {
        let text = text.to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty() && !self.stop_words.contains(word));
        words.map(|word| self.stemmer.stem(word).into_owned()).collect()
    }

    /// Returns the turns with a word of the question or beside one, best first.
    pub(crate) fn ranked(&self, question: &str) -> Vec<(usize, usize)> {
        let words: BTreeSet<String> = self.words(question).into_iter().collect();
        let all = self.counts.len() as f64;
        let own: Vec<f64> = (0..self.counts.len())
            .map(|turn| {
                let length = 1.0 - B + B * self.lengths[turn] / self.mean;
                let found = words.iter().filter_map(|word| {
                    let count = self.counts[turn].get(word)?;
                    let having = self.having[word];
                    let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
                    Some(rarity * count * (K1 + 1.0) / (count + K1 * length))
                });
                found.sum()
            })
            .collect();
        let beside = |turn: usize, other: Option<usize>| {
            let other = other.filter(|other| self.places.get(*other).is_some_and(|at| at.0 == self.places[turn].0));
            other.map_or(0.0, |other| NEIGHBOUR * own[other])
        };
        let mut ranked: Vec<(f64, usize)> = (0..own.len())
            .map(|turn| (own[turn] + beside(turn, turn.checked_sub(1)) + beside(turn, Some(turn + 1)), turn))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        ranked.into_iter().map(|(_, turn)| self.places[turn]).collect()
    }
}
