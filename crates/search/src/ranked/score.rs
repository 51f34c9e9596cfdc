//! Ranking: BM25 over fields, and bonuses for words that are close together.
//!
//! A word's occurrences are weighted by form and field and divided by the length of the field. Their sum is saturated
//! and multiplied by the rarity of the word. This is done for every document that has a word. The best documents are
//! then examined for phrases and for the smallest window with all words. The arithmetic uses only IEEE 754 operations,
//! so it is the same everywhere.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};

use super::evidence::Judge;
use super::index::RankedIndex;
use super::matching::{Bits, Matcher, Walk};
use super::plan::{Concept, Plan};
use super::query::Query;
use super::succession::{Succession, Successions};
use super::types::{Field, Ranking, Tie};
use super::weights::{COVERAGE, Lengths, idf, saturate};
use saddlebag_collections::order;

/// Minimum number of documents that are examined closely.
const MIN_CANDIDATES: usize = 64;

impl RankedIndex {
    /// Returns the rarity of a word that one document has. It grows with the number of documents, as scores do.
    #[must_use]
    pub fn greatest_rarity(&self) -> f32 {
        idf(self.live_count(), 1)
    }

    /// Returns the best `limit` documents that match and that `accept` permits. Equal scores are ordered by `tie`.
    ///
    /// `superseded` must be sorted by the superseded document, which keeps a part of its score. The document that supersedes it has at
    /// least its whole score. If the query has no operators, it is found even if only the superseded one matches.
    pub fn search<'a>(
        &self,
        query: &Query,
        limit: usize,
        accept: &dyn Fn(u32) -> bool,
        superseded: &[Succession],
        tie: &dyn Fn(u32) -> Tie<'a>,
    ) -> Ranking {
        let plan = Plan::new(self, query);
        let lengths = Lengths::new(self);
        let mut sums = Sums::new(self, &plan, &lengths);
        sums.add_all();
        let Sums { slots, idfs, walks, found, .. } = sums;
        let total_mass: f32 = plan.concepts.iter().zip(&idfs).map(|(concept, idf)| concept.weight * idf).sum();
        let successions = Successions::new(self.docs(), superseded);
        let whole = |slot: u32| {
            let sum = slots.get(slot as usize).copied().unwrap_or_default();
            let coverage = if total_mass > 0.0 { sum.mass / total_mass } else { 0.0 };
            sum.score * (1.0 + COVERAGE * coverage)
        };
        let offer = |best: &mut Best<'a>, slot: u32, is_match: &dyn Fn(u32) -> bool| {
            let Some(doc) = self.docs().get(slot as usize) else { return };
            if doc.is_live && accept(doc.id) {
                let inherited = successions.superseded_by(slot).filter(|old| is_match(*old)).map(whole);
                let score = inherited.fold(whole(slot) * successions.weight(doc.id), f32::max);
                best.offer(slot, score, &|| tie(doc.id));
            }
        };
        let mut best = Best::new(limit.saturating_mul(4).max(MIN_CANDIDATES).min(self.docs().len()));
        let mut is_relaxed = false;
        let mut matching = Bits::new(if plan.is_plain { 0 } else { slots.len() });
        let has_words = |slot: u32| slots.get(slot as usize).is_some_and(|sum| sum.score > 0.0);
        if plan.is_plain {
            let touched = (0_u32..).zip(&slots).filter(|(_, sum)| sum.score > 0.0).map(|(slot, _)| slot);
            touched.for_each(|slot| offer(&mut best, slot, &has_words));
            let is_heir = |new: &u32| !has_words(*new) && successions.superseded_by(*new).any(has_words);
            successions.newer().filter(is_heir).for_each(|slot| offer(&mut best, slot, &has_words));
        } else {
            let mut live = Bits::new(slots.len());
            (0_u32..).zip(&slots).filter(|(_, sum)| sum.body > 0.0).for_each(|(slot, _)| live.insert(slot));
            let mut matcher = Matcher { query, plan: &plan, walks: &walks, found: &found, live: &live, is_relaxed };
            matching = matcher.matches();
            matching.slots().for_each(|slot| offer(&mut best, slot, &|slot| matching.contains(slot)));
            if best.total == 0 && matcher.can_relax() {
                matcher.is_relaxed = true;
                matching = matcher.matches();
                matching.slots().for_each(|slot| offer(&mut best, slot, &|slot| matching.contains(slot)));
                is_relaxed = best.total > 0;
            }
        }
        let is_match = |slot: u32| if plan.is_plain { has_words(slot) } else { matching.contains(slot) };
        let total = best.total;
        let judge =
            Judge { index: self, query, plan: &plan, lengths: &lengths, walks: &walks, idfs: &idfs, total_mass };
        let best = best.slots();
        let mut hits = judge.judge_all(&best, &successions);
        for (&slot, hit) in best.iter().zip(&mut hits).filter(|_| !superseded.is_empty()) {
            let olds = u32::try_from(slot).ok().into_iter().flat_map(|slot| successions.superseded_by(slot));
            let mut olds: Vec<u64> = olds.filter(|old| is_match(*old)).map(u64::from).collect();
            olds.dedup();
            if let Some(hit) = hit.as_mut().filter(|_| !olds.is_empty()) {
                judge.judge_all(&olds, &successions).iter().flatten().for_each(|old| hit.inherit(old));
            }
        }
        let places = hits.iter().enumerate();
        let places = places.filter_map(|(place, hit)| hit.as_ref().map(|hit| (place, hit.doc, hit.score)));
        let mut places: Vec<(usize, u32, f32)> = places.collect();
        order::sort_slice(&mut places, |(_, one, a), (_, other, b)| {
            b.total_cmp(a).then_with(|| tie(*one).cmp(&tie(*other)))
        });
        let hits = places.into_iter().take(limit).filter_map(|(place, ..)| hits.get_mut(place)?.take());
        Ranking { hits: hits.collect(), total, is_relaxed }
    }
}

/// Score of a document, summed concept by concept.
#[derive(Clone, Copy, Default)]
struct Sum {
    /// Weight of one occurrence in the body; 0 if the document is dead.
    body: f32,
    /// Weighted occurrences of the current concept.
    occurrences: f32,
    score: f32,
    /// Share of the query that the document has.
    mass: f32,
}

/// Scores of all documents.
struct Sums<'a> {
    index: &'a RankedIndex,
    plan: &'a Plan,
    lengths: &'a Lengths,
    slots: Vec<Sum>,
    /// Rarities, by concept.
    idfs: Vec<f32>,
    walks: Vec<Vec<Walk<'a>>>,
    found: Vec<Bits>,
}

impl<'a> Sums<'a> {
    fn new(index: &'a RankedIndex, plan: &'a Plan, lengths: &'a Lengths) -> Self {
        let concepts = plan.concepts.len();
        let slots = (0_u32..).zip(index.docs()).map(|(slot, doc)| {
            let body = if doc.is_live { lengths.weigh(index, slot, Field::Body, 1) } else { 0.0 };
            Sum { body, ..Sum::default() }
        });
        let slots: Vec<Sum> = slots.collect();
        let found = Bits::new(if plan.is_plain { 0 } else { slots.len() });
        Self {
            index,
            plan,
            lengths,
            slots,
            idfs: alloc::vec![0.0; concepts],
            walks: core::iter::repeat_with(Vec::new).take(concepts).collect(),
            found: alloc::vec![found; concepts],
        }
    }

    fn add_all(&mut self) {
        let mut touched: Vec<u32> = Vec::new();
        // Stop words come last: they add to the score of documents but do not find any.
        for is_stop_word in [false, true] {
            for (number, concept) in self.plan.concepts.iter().enumerate() {
                if concept.is_stop_word == is_stop_word {
                    self.count(number, concept, &mut touched);
                    self.add(number, concept, &mut touched);
                }
            }
        }
    }

    /// Counts the occurrences of a concept, document by document.
    fn count(&mut self, number: usize, concept: &Concept, touched: &mut Vec<u32>) {
        let Some(walks) = self.walks.get_mut(number) else { return };
        let may_be_body = concept.field.is_none_or(|field| field == Field::Body);
        for (form, weight) in &concept.forms {
            for postings in self.index.postings(form) {
                walks.push(Walk::through(postings, *weight, |posting| {
                    let Some(sum) = self.slots.get_mut(posting.slot as usize).filter(|sum| sum.body > 0.0) else {
                        return;
                    };
                    let occurrences = if posting.only_body == 0 {
                        self.lengths.weigh_fields(self.index, posting, concept.field)
                    } else if may_be_body {
                        posting.only_body as f32 * sum.body
                    } else {
                        return;
                    };
                    if sum.occurrences == 0.0 && occurrences > 0.0 {
                        touched.push(posting.slot);
                    }
                    sum.occurrences += weight * occurrences;
                }));
            }
        }
    }

    /// Adds a concept to the scores of the documents that have it.
    fn add(&mut self, number: usize, concept: &Concept, touched: &mut Vec<u32>) {
        let docs = u32::try_from(touched.len()).unwrap_or(u32::MAX);
        let idf = if docs > 0 && concept.is_scored { idf(self.index.live_count(), docs) } else { 0.0 };
        let mass = idf * concept.weight;
        let finds = !concept.is_stop_word || !self.plan.is_plain;
        for &slot in touched.iter() {
            let Some(sum) = self.slots.get_mut(slot as usize) else { continue };
            if finds || sum.score > 0.0 {
                sum.score += mass * saturate(sum.occurrences);
                sum.mass += mass;
            }
            sum.occurrences = 0.0;
        }
        if let (false, Some(found)) = (self.plan.is_plain, self.found.get_mut(number)) {
            touched.iter().for_each(|slot| found.insert(*slot));
        }
        if let Some(known) = self.idfs.get_mut(number) {
            *known = idf;
        }
        touched.clear();
    }
}

/// Best documents so far.
struct Best<'a> {
    limit: usize,
    total: u32,
    /// Heap with the worst on top.
    heap: BinaryHeap<Reverse<Candidate<'a>>>,
}

#[derive(Clone, Copy, PartialEq)]
struct Candidate<'a> {
    score: f32,
    tie: Tie<'a>,
    slot: u32,
}

impl Eq for Candidate<'_> {}

impl Ord for Candidate<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.tie.cmp(&self.tie)).then(other.slot.cmp(&self.slot))
    }
}

impl PartialOrd for Candidate<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<'a> Best<'a> {
    fn new(limit: usize) -> Self {
        Self { limit, total: 0, heap: BinaryHeap::with_capacity(limit + 1) }
    }

    #[inline(never)]
    fn offer(&mut self, slot: u32, score: f32, tie: &dyn Fn() -> Tie<'a>) {
        self.total += 1;
        if self.heap.len() < self.limit {
            self.heap.push(Reverse(Candidate { score, tie: tie(), slot }));
        } else if let Some(mut worst) = self.heap.peek_mut()
            // Most are worse by their score alone, and need no further lookup.
            && worst.0.score <= score
        {
            let candidate = Candidate { score, tie: tie(), slot };
            if worst.0 < candidate {
                *worst = Reverse(candidate);
            }
        }
    }

    /// Returns the slots, ascending.
    fn slots(self) -> Vec<u64> {
        let mut slots: Vec<u64> = self.heap.into_iter().map(|candidate| u64::from(candidate.0.slot)).collect();
        order::sort(&mut slots, &mut Vec::new());
        slots
    }
}
