//! Ranking: BM25 over fields, and bonuses for words that are close together.
//!
//! A word's occurrences are weighted by form and field and divided by the length of the field. Their sum is saturated
//! and multiplied by the rarity of the word. This is done for every document that has a word. The best documents are
//! then examined for phrases and for the smallest window with all words. The arithmetic uses only IEEE 754 operations,
//! so it is the same everywhere.

use alloc::collections::BinaryHeap;
use core::cmp::{Ordering, Reverse};

use super::bits::Bits;
use super::evidence::{Judge, Occurrences};
use super::matching::{Matcher, Walk};
use super::plan::{Concept, Plan};
use super::query::Query;
use super::source::{Frequencies, Source, View};
use super::succession::Successions;
use super::types::{Field, Ranked, Ranking, Tie};
use super::weights::{COVERAGE, Lengths, idf, saturate};
use saddlebag_collections::order;
use saddlebag_collections::prelude::*;

/// Minimum number of documents that are examined closely.
const MIN_CANDIDATES: usize = 64;

/// Returns the best `limit` documents of all sources that match.
pub fn search(sources: &[Source<'_>], query: &Query, limit: usize) -> Ranking {
    let views = View::of_all(sources);
    let counts = View::counts(&views);
    let plan = Plan::new(&views, query, Frequencies::Counted);
    let lengths = Lengths::new(&counts);
    let mut sums: Vec<Sums<'_>> =
        (0..).zip(&views).map(|(number, view)| Sums::new(number, view, &plan, &lengths)).collect();
    let idfs = Sums::add_all(&mut sums, &plan, counts.docs);
    let total_mass: f32 = plan.concepts.iter().zip(&idfs).map(|(concept, idf)| concept.weight * idf).sum();
    let judge = Judge { query, plan: &plan, lengths: &lengths, idfs: &idfs, total_mass };
    let of_sources = sources.iter().zip(sums);
    let mut searches: Vec<Search<'_, '_>> =
        of_sources.map(|(source, sums)| Search::new(source, sums, &judge, limit)).collect();
    searches.iter_mut().for_each(|search| search.find(false));
    let total =
        |searches: &[Search<'_, '_>]| searches.iter().fold(0, |sum, search| search.best.total.saturating_add(sum));
    let mut is_relaxed = false;
    if !plan.is_plain && total(&searches) == 0 {
        searches.iter_mut().for_each(|search| search.find(true));
        is_relaxed = total(&searches) > 0;
    }
    let total = total(&searches);
    let mut hits: Vec<Option<Ranked>> = searches.into_iter().flat_map(|search| search.judged().into_iter()).collect();
    let places = hits.iter().enumerate();
    let places = places.filter_map(|(place, hit)| {
        let hit = hit.as_ref()?;
        let tie = (sources.get(hit.source)?.tie)(hit.doc);
        Some((place, hit.score, tie))
    });
    let mut places: Vec<(usize, f32, Tie<'_>)> = places.collect();
    order::sort_slice(&mut places, |(_, a, one), (_, b, other)| b.total_cmp(a).then_with(|| one.cmp(other)));
    let hits = places.into_iter().take(limit).filter_map(|(place, ..)| hits.get_mut(place)?.take());
    Ranking { hits: hits.collect(), total, is_relaxed }
}

/// Search of one source.
struct Search<'s, 'a> {
    source: &'s Source<'a>,
    sums: Sums<'s>,
    judge: &'s Judge<'s>,
    successions: Successions<'s>,
    /// Documents that match; empty for a query that is only words.
    matching: Bits,
    best: Best<'a>,
}

impl<'s, 'a> Search<'s, 'a> {
    fn new(source: &'s Source<'a>, sums: Sums<'s>, judge: &'s Judge<'s>, limit: usize) -> Self {
        let docs = source.index.docs();
        let best = Best::new(limit.saturating_mul(4).max(MIN_CANDIDATES).min(docs.len()));
        let successions = Successions::new(docs, source.superseded);
        Self { source, sums, judge, successions, matching: Bits::new(0), best }
    }

    /// Finds the documents that match. With `is_relaxed`, a phrase may be found in part, and `AND` counts as a space.
    fn find(&mut self, is_relaxed: bool) {
        let slots: Vec<u32> = if self.judge.plan.is_plain {
            let touched = (0_u32..).zip(&self.sums.slots).filter(|(_, sum)| sum.score > 0.0).map(|(slot, _)| slot);
            let is_heir = |new: &u32| {
                !self.sums.has_words(*new) && self.successions.superseded_by(*new).any(|old| self.sums.has_words(old))
            };
            touched.chain(self.successions.newer().filter(is_heir)).collect()
        } else {
            let Sums { slots, walks, found, .. } = &self.sums;
            let mut live = Bits::new(slots.len());
            (0_u32..).zip(slots).filter(|(_, sum)| sum.body > 0.0).for_each(|(slot, _)| live.insert(slot));
            let Judge { query, plan, .. } = *self.judge;
            self.matching = Matcher { query, plan, walks, found, live: &live, is_relaxed }.matches();
            self.matching.slots().collect()
        };
        slots.into_iter().for_each(|slot| self.offer(slot));
    }

    fn is_match(&self, slot: u32) -> bool {
        if self.judge.plan.is_plain { self.sums.has_words(slot) } else { self.matching.contains(slot) }
    }

    fn offer(&mut self, slot: u32) {
        let Some(doc) = self.source.index.docs().get(slot as usize) else { return };
        if self.sums.view.has(slot) && (self.source.accepted)(doc.id) {
            let whole = |slot: u32| self.sums.whole(slot, self.judge.total_mass);
            let inherited = self.successions.superseded_by(slot).filter(|old| self.is_match(*old)).map(whole);
            let score = inherited.fold(whole(slot) * self.successions.weight(doc.id), f32::max);
            let source = self.source;
            self.best.offer(slot, score, &|| (source.tie)(doc.id));
        }
    }

    /// Returns the best documents with the reasons for their scores.
    fn judged(self) -> Vec<Option<Ranked>> {
        let Self { source, sums: Sums { source: number, walks, .. }, judge, successions, .. } = &self;
        let occurrences = Occurrences { source: *number, index: source.index, walks };
        let best = self.best.slots();
        let mut hits = judge.judge_all(&occurrences, &best, successions);
        for (&slot, hit) in best.iter().zip(&mut hits).filter(|_| !source.superseded.is_empty()) {
            let olds = u32::try_from(slot).ok().into_iter().flat_map(|slot| successions.superseded_by(slot));
            let mut olds: Vec<u64> = olds.filter(|old| self.is_match(*old)).map(u64::from).collect();
            olds.dedup();
            if let Some(hit) = hit.as_mut().filter(|_| !olds.is_empty()) {
                judge.judge_all(&occurrences, &olds, successions).iter().flatten().for_each(|old| hit.inherit(old));
            }
        }
        hits
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

/// Scores of all documents of a source.
struct Sums<'a> {
    /// Number of the source.
    source: usize,
    view: &'a View<'a>,
    plan: &'a Plan,
    lengths: &'a Lengths,
    slots: Vec<Sum>,
    /// Documents that have the current concept.
    touched: Vec<u32>,
    /// Walks, by concept.
    walks: Vec<Vec<Walk<'a>>>,
    found: Vec<Bits>,
}

impl<'a> Sums<'a> {
    fn new(source: usize, view: &'a View<'a>, plan: &'a Plan, lengths: &'a Lengths) -> Self {
        let concepts = plan.concepts.len();
        let slots = (0_u32..).zip(view.index.docs()).map(|(slot, _)| {
            let body = if view.has(slot) { lengths.weigh(view.index, slot, Field::Body, 1) } else { 0.0 };
            Sum { body, ..Sum::default() }
        });
        let slots: Vec<Sum> = slots.collect();
        let found = Bits::new(if plan.is_plain { 0 } else { slots.len() });
        Self {
            source,
            view,
            plan,
            lengths,
            slots,
            touched: Vec::new(),
            walks: core::iter::repeat_with(Vec::new).take(concepts).collect(),
            found: vec![found; concepts],
        }
    }

    /// Adds all concepts to the scores of all sources, of which `docs` documents count. Returns the rarities, by concept.
    fn add_all(all: &mut [Self], plan: &Plan, docs: u32) -> Vec<f32> {
        let mut idfs = vec![0.0; plan.concepts.len()];
        // Stop words come last: they add to the score of documents but do not find any.
        for is_stop_word in [false, true] {
            let concepts = plan.concepts.iter().zip(&mut idfs).enumerate();
            for (number, (concept, known)) in concepts.filter(|(_, (concept, _))| concept.is_stop_word == is_stop_word)
            {
                all.iter_mut().for_each(|sums| sums.count(number, concept));
                let having: usize = all.iter().map(|sums| sums.touched.len()).sum();
                let having = u32::try_from(having).unwrap_or(u32::MAX);
                *known = if having > 0 && concept.is_scored { idf(docs, having) } else { 0.0 };
                all.iter_mut().for_each(|sums| sums.add(number, concept, *known));
            }
        }
        idfs
    }

    fn has_words(&self, slot: u32) -> bool {
        self.slots.get(slot as usize).is_some_and(|sum| sum.score > 0.0)
    }

    /// Returns the score of a document with its bonus for the share of the query that it has.
    fn whole(&self, slot: u32, total_mass: f32) -> f32 {
        let sum = self.slots.get(slot as usize).copied().unwrap_or_default();
        let coverage = if total_mass > 0.0 { sum.mass / total_mass } else { 0.0 };
        sum.score * (1.0 + COVERAGE * coverage)
    }

    /// Counts the occurrences of a concept, document by document.
    fn count(&mut self, number: usize, concept: &Concept) {
        let Some((walks, forms)) = self.walks.get_mut(number).zip(concept.forms.get(self.source)) else { return };
        let may_be_body = concept.field.is_none_or(|field| field == Field::Body);
        for (form, weight) in forms {
            for postings in self.view.index.postings(form) {
                walks.push(Walk::through(postings, *weight, |posting| {
                    let Some(sum) = self.slots.get_mut(posting.slot as usize).filter(|sum| sum.body > 0.0) else {
                        return;
                    };
                    let occurrences = if posting.only_body == 0 {
                        self.lengths.weigh_fields(self.view.index, posting, concept.field)
                    } else if may_be_body {
                        posting.only_body as f32 * sum.body
                    } else {
                        return;
                    };
                    if sum.occurrences == 0.0 && occurrences > 0.0 {
                        self.touched.push(posting.slot);
                    }
                    sum.occurrences += weight * occurrences;
                }));
            }
        }
    }

    /// Adds a concept to the scores of the documents that have it.
    fn add(&mut self, number: usize, concept: &Concept, idf: f32) {
        let mass = idf * concept.weight;
        let finds = !concept.is_stop_word || !self.plan.is_plain;
        for &slot in &self.touched {
            let Some(sum) = self.slots.get_mut(slot as usize) else { continue };
            if finds || sum.score > 0.0 {
                sum.score += mass * saturate(sum.occurrences);
                sum.mass += mass;
            }
            sum.occurrences = 0.0;
        }
        if let (false, Some(found)) = (self.plan.is_plain, self.found.get_mut(number)) {
            self.touched.iter().for_each(|slot| found.insert(*slot));
        }
        self.touched.clear();
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
    fn slots(&self) -> Vec<u64> {
        let mut slots: Vec<u64> = self.heap.iter().map(|candidate| u64::from(candidate.0.slot)).collect();
        order::sort(&mut slots, &mut Vec::new());
        slots
    }
}
