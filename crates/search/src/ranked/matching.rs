//! Finds the documents that match a query, before ranking.

use super::bits::Bits;
use super::plan::Plan;
use super::postings::{Posting, Postings};
use super::query::{Node, Query};
use super::types::Field;
use saddlebag_collections::order;
use saddlebag_collections::prelude::*;

/// Number of postings between two remembered positions.
const STRIDE: usize = 64;

/// Postings of one term in one segment, with positions to start reading at.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    postings: Postings<'a>,
    places: Vec<(u32, usize)>,
    /// Weight of the term.
    pub(super) weight: f32,
}

impl<'a> Walk<'a> {
    /// Reads all postings.
    #[inline]
    pub(super) fn through(postings: Postings<'a>, weight: f32, mut visit: impl FnMut(&Posting<'a>)) -> Self {
        let mut places = Vec::new();
        let mut reading = postings.clone();
        loop {
            places.push(reading.place());
            for _ in 0..STRIDE {
                let Some(posting) = reading.next() else { return Self { postings, places, weight } };
                visit(&posting);
            }
        }
    }

    /// Returns a cursor that reads forwards from the start.
    pub(super) fn cursor(&self) -> Cursor<'_, 'a> {
        Cursor { walk: self, place: 0, postings: self.postings.clone(), current: None }
    }
}

/// Finds one document after the other, in ascending order.
pub(super) struct Cursor<'w, 'a> {
    walk: &'w Walk<'a>,
    /// Last of the walk's positions that was passed.
    place: usize,
    postings: Postings<'a>,
    current: Option<Posting<'a>>,
}

impl<'a> Cursor<'_, 'a> {
    /// Returns the posting of a document, and the weight of the term.
    #[inline(never)]
    pub(super) fn find(&mut self, slot: u32) -> Option<(&Posting<'a>, f32)> {
        let places = self.walk.places.get(self.place + 1..).unwrap_or_default();
        let passed = places.partition_point(|(next, _)| *next <= slot);
        if let Some(place) = passed.checked_sub(1).and_then(|last| places.get(last)) {
            self.place += passed;
            self.postings = self.walk.postings.at(*place);
            self.current = None;
        }
        while self.current.is_none_or(|current| current.slot < slot) {
            self.current = Some(self.postings.next()?);
        }
        self.current.as_ref().filter(|current| current.slot == slot).map(|current| (current, self.walk.weight))
    }
}

/// Collects the positions of all forms of a concept in a document, ascending.
fn positions(cursors: &mut [Cursor<'_, '_>], slot: u32, field: Option<Field>, out: &mut Vec<u64>) {
    out.clear();
    let mut forms = 0;
    for cursor in cursors {
        if let Some((posting, _)) = cursor.find(slot) {
            posting.positions(field, out);
            forms += 1;
        }
    }
    if forms > 1 {
        order::sort(out, &mut Vec::new());
    }
}

/// Evaluates the operators of a query.
pub(super) struct Matcher<'a> {
    pub(super) query: &'a Query,
    pub(super) plan: &'a Plan,
    /// Walks of each concept: its postings and documents.
    pub(super) walks: &'a [Vec<Walk<'a>>],
    pub(super) found: &'a [Bits],
    pub(super) live: &'a Bits,
    /// True if a phrase may be found in part, and `AND` counts as a space: the last resort for a query without
    /// matches.
    pub(super) is_relaxed: bool,
}

impl Matcher<'_> {
    /// Returns the documents that match.
    pub(super) fn matches(&self) -> Bits {
        let mut bits = self.evaluate(&self.query.root, self.is_relaxed);
        bits.combine(self.live, |a, b| a & b);
        bits
    }

    fn evaluate(&self, node: &Node, is_relaxed: bool) -> Bits {
        match node {
            Node::Word(word) => self.any_part(*word),
            Node::Phrase(word) if is_relaxed => self.any_part(*word),
            Node::Phrase(word) => self.phrase(*word),
            Node::InField(node) => self.evaluate(node, false),
            Node::Not(node) => {
                let mut bits = self.live.clone();
                bits.combine(&self.evaluate(node, false), |a, b| a & !b);
                bits
            }
            Node::Any(nodes) => self.any(nodes.iter(), is_relaxed),
            Node::All(nodes) if !is_relaxed => self.all(nodes.iter(), is_relaxed),
            Node::All(nodes) | Node::Beside(nodes) => {
                let is_strict = |node: &Node| match node {
                    Node::Phrase(_) | Node::All(_) => !is_relaxed,
                    node => node.is_strict(),
                };
                let strict = nodes.iter().filter(|node| is_strict(node));
                let is_enough = strict.clone().any(|node| !matches!(node, Node::Not(_)));
                let mut bits = self.all(strict, is_relaxed);
                let others = nodes.iter().filter(|node| !is_strict(node));
                // Stop words find documents only if there is nothing else to search for.
                let telling = others.clone().filter(|node| !self.is_stop_word(node));
                if !is_enough && telling.clone().next().is_some() {
                    bits.combine(&self.any(telling, is_relaxed), |a, b| a & b);
                } else if !is_enough && others.clone().next().is_some() {
                    bits.combine(&self.any(others, is_relaxed), |a, b| a & b);
                }
                bits
            }
        }
    }

    fn any<'n>(&self, nodes: impl Iterator<Item = &'n Node>, is_relaxed: bool) -> Bits {
        let mut bits = self.live.none();
        nodes.for_each(|node| bits.combine(&self.evaluate(node, is_relaxed), |a, b| a | b));
        bits
    }

    fn all<'n>(&self, nodes: impl Iterator<Item = &'n Node>, is_relaxed: bool) -> Bits {
        let mut bits = self.live.clone();
        nodes.for_each(|node| bits.combine(&self.evaluate(node, is_relaxed), |a, b| a & b));
        bits
    }

    #[inline(never)]
    fn any_part(&self, word: usize) -> Bits {
        let mut bits = self.live.none();
        if let Some(word) = self.query.words.get(word) {
            let concepts = word.parts.iter().chain(&word.wholes).filter_map(|&unit| self.plan.of_unit.get(unit));
            for found in concepts.filter_map(|&concept| self.found.get(concept)) {
                bits.combine(found, |a, b| a | b);
            }
        }
        bits
    }

    fn is_stop_word(&self, node: &Node) -> bool {
        let Node::Word(word) = node else { return false };
        let units = self.query.words.get(*word).map_or([].as_slice(), |word| &word.parts);
        units.iter().all(|&unit| self.query.units.get(unit).is_some_and(|unit| unit.is_stop_word))
    }

    /// Returns the documents in which the parts of a word are adjacent.
    #[inline(never)]
    fn phrase(&self, word: usize) -> Bits {
        let mut candidates = self.live.clone();
        let parts = self.query.words.get(word).map_or([].as_slice(), |word| &word.parts);
        let field = parts.first().and_then(|&unit| self.query.units.get(unit)).and_then(|unit| unit.field);
        let concepts = parts.iter().filter_map(|&unit| self.plan.of_unit.get(unit).copied());
        for found in concepts.clone().filter_map(|concept| self.found.get(concept)) {
            candidates.combine(found, |a, b| a & b);
        }
        if parts.len() < 2 || candidates.is_empty() {
            return candidates;
        }
        let walks = concepts.filter_map(|concept| self.walks.get(concept));
        let mut cursors: Vec<Vec<Cursor<'_, '_>>> =
            walks.map(|walks| walks.iter().map(Walk::cursor).collect()).collect();
        let mut matches = candidates.none();
        let (mut ends, mut next) = (Vec::new(), Vec::new());
        for slot in candidates.slots() {
            for (number, cursors) in cursors.iter_mut().enumerate() {
                positions(cursors, slot, field, &mut next);
                if number > 0 {
                    next.retain(|position| position.checked_sub(1).is_some_and(|end| ends.binary_search(&end).is_ok()));
                }
                core::mem::swap(&mut ends, &mut next);
                if ends.is_empty() {
                    break;
                }
            }
            if !ends.is_empty() {
                matches.insert(slot);
            }
        }
        matches
    }
}
