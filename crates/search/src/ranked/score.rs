//! Ranking: BM25 over fields, and what is added for words that stand together.
//!
//! A word's occurrences are weighted by form and field and divided by the length of the field; their sum
//! is saturated and multiplied with the rarity of the word. This is done for every document that has a
//! word; the best are then looked at more closely, for phrases and the smallest window with all words.
//! The arithmetic is that of IEEE 754 alone, so the same everywhere.

use alloc::collections::BinaryHeap;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};

use super::evidence::Judge;
use super::index::RankedIndex;
use super::matching::{Bits, Matcher, Walk};
use super::plan::{Concept, Plan};
use super::postings::Posting;
use super::query::Query;
use super::{FIELDS, Field, FieldSet};
use saddlebag_collections::order;

/// Saturation: the smaller, the sooner more occurrences add little.
const K1: f32 = 1.2;
/// Weight of the length of a field.
const B: f32 = 0.75;
/// Weight of an occurrence in each field.
const FIELD_WEIGHTS: [f32; FIELDS] = [6.0, 4.0, 2.5, 3.0, 2.0, 1.0];
/// Gain of a document that has all words, as a part of its score.
pub(super) const COVERAGE: f32 = 0.5;
/// The least number of documents that are looked at closely.
const MIN_CANDIDATES: usize = 64;

/// Orders documents of equal score: the newer one first, then by path. Neither says how the index came
/// to be.
pub type Tie<'a> = (Reverse<u64>, &'a str);

/// The documents that match a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// Best first.
    pub hits: Vec<Ranked>,
    /// Number of all documents that match.
    pub total: u32,
    /// True if nothing matched as the query asks for it, so that its phrases were taken as words and what
    /// it requires as wishes.
    pub is_relaxed: bool,
}

/// A document that matches, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// The number of the document.
    pub doc: u32,
    /// The sum of the parts and the bonuses, multiplied with the document's weight.
    pub score: f32,
    /// The words that it has, as the query has them; stop words are not named.
    pub terms: Vec<String>,
    /// Where it has them.
    pub fields: FieldSet,
    /// The part that each word in each field adds.
    pub parts: Vec<ScorePart>,
    /// For the share of the query that it has.
    pub coverage: f32,
    /// For words that stand side by side as in the query.
    pub phrase: f32,
    /// For words that stand close together.
    pub proximity: f32,
    /// The weight that the caller gives the document.
    pub weight: f32,
}

/// The part of a score that one word in one field adds.
#[derive(Clone, Debug, PartialEq)]
pub struct ScorePart {
    /// As the query has it.
    pub term: String,
    /// The field that has the word.
    pub field: Field,
    /// Number of occurrences in the field, in any form.
    pub tf: u32,
    /// The weight of the word: rarer ones have more.
    pub idf: f32,
    /// The amount that is added.
    pub amount: f32,
}

impl RankedIndex {
    /// The best `limit` documents that match and that `accept` takes. Each score is multiplied with what
    /// `weight` gives the document. Of equal scores the first is the one that `tie` puts first.
    pub fn search<'a>(
        &self,
        query: &Query,
        limit: usize,
        accept: &dyn Fn(u32) -> bool,
        weight: &dyn Fn(u32) -> f32,
        tie: &dyn Fn(u32) -> Tie<'a>,
    ) -> Ranking {
        let plan = Plan::new(self, query);
        let lengths = Lengths::new(self);
        let mut sums = Sums::new(self, &plan, &lengths);
        sums.add_all();
        let Sums { slots, idfs, walks, found, .. } = sums;
        let total_mass: f32 = plan.concepts.iter().zip(&idfs).map(|(concept, idf)| concept.weight * idf).sum();
        let offer = |best: &mut Best<'a>, slot: u32| {
            let Some((sum, doc)) = slots.get(slot as usize).zip(self.docs().get(slot as usize)) else { return };
            if doc.is_live && accept(doc.id) {
                let coverage = if total_mass > 0.0 { sum.mass / total_mass } else { 0.0 };
                best.offer(slot, sum.score * (1.0 + COVERAGE * coverage) * weight(doc.id), &|| tie(doc.id));
            }
        };
        let mut best = Best::new(limit.saturating_mul(4).max(MIN_CANDIDATES).min(self.docs().len()));
        let mut is_relaxed = false;
        if plan.is_plain {
            let touched = (0_u32..).zip(&slots).filter(|(_, sum)| sum.score > 0.0).map(|(slot, _)| slot);
            touched.for_each(|slot| offer(&mut best, slot));
        } else {
            let mut live = Bits::new(slots.len());
            (0_u32..).zip(&slots).filter(|(_, sum)| sum.body > 0.0).for_each(|(slot, _)| live.insert(slot));
            let mut matcher = Matcher { query, plan: &plan, walks: &walks, found: &found, live: &live, is_relaxed };
            matcher.matches().slots().for_each(|slot| offer(&mut best, slot));
            if best.total == 0 && matcher.can_relax() {
                matcher.is_relaxed = true;
                matcher.matches().slots().for_each(|slot| offer(&mut best, slot));
                is_relaxed = best.total > 0;
            }
        }
        let total = best.total;
        let judge =
            Judge { index: self, query, plan: &plan, lengths: &lengths, walks: &walks, idfs: &idfs, total_mass };
        let mut hits = judge.judge_all(&best.slots(), weight);
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

/// What the length of a field makes of an occurrence in it.
pub(super) struct Lengths {
    means: [f32; FIELDS],
}

impl Lengths {
    fn new(index: &RankedIndex) -> Self {
        Self { means: Field::ALL.map(|field| index.mean_length(field)) }
    }

    /// What so many occurrences in a field count.
    pub(super) fn weigh(&self, index: &RankedIndex, slot: u32, field: Field, count: u32) -> f32 {
        let place = field as usize;
        let length = index.docs().get(slot as usize).and_then(|doc| doc.lengths.get(place).copied());
        match (length, self.means.get(place), FIELD_WEIGHTS.get(place)) {
            (Some(length), Some(mean), Some(weight)) => count as f32 * (weight / (1.0 - B + B * length as f32 / mean)),
            _ => 0.0,
        }
    }

    /// What the occurrences in any field count, or those in one.
    #[inline(never)]
    fn weigh_fields(&self, index: &RankedIndex, posting: &Posting<'_>, only: Option<Field>) -> f32 {
        let counts = Field::ALL.into_iter().zip(posting.counts());
        let counted = counts.filter(|(field, count)| *count > 0 && only.is_none_or(|only| only == *field));
        counted.map(|(field, count)| self.weigh(index, posting.slot, field, count)).sum()
    }
}

/// What weighted occurrences count once they are saturated.
pub(super) fn saturate(sum: f32) -> f32 {
    (K1 + 1.0) * sum / (K1 + sum)
}

/// A document's score, as it grows concept by concept.
#[derive(Clone, Copy, Default)]
struct Sum {
    /// What one occurrence in the body counts; nothing if the document is dead.
    body: f32,
    /// The weighted occurrences of the concept under way.
    occurrences: f32,
    score: f32,
    /// How much of the query the document has.
    mass: f32,
}

/// The scores of all documents.
struct Sums<'a> {
    index: &'a RankedIndex,
    plan: &'a Plan,
    lengths: &'a Lengths,
    slots: Vec<Sum>,
    /// By concept.
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
        // Stop words come last: they add to what was found, and find nothing themselves.
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

    /// Adds what a concept says to the scores of the documents that have it.
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

/// The best of the documents that were offered.
struct Best<'a> {
    limit: usize,
    total: u32,
    /// The worst on top.
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
            // Most are worse by their score alone, and need not be looked up.
            && worst.0.score <= score
        {
            let candidate = Candidate { score, tie: tie(), slot };
            if worst.0 < candidate {
                *worst = Reverse(candidate);
            }
        }
    }

    /// In ascending order.
    fn slots(self) -> Vec<u64> {
        let mut slots: Vec<u64> = self.heap.into_iter().map(|candidate| u64::from(candidate.0.slot)).collect();
        order::sort(&mut slots, &mut Vec::new());
        slots
    }
}

/// How much a word says that so many documents of all have.
pub(super) fn idf(all: u32, having: u32) -> f32 {
    let (all, having) = (f64::from(all.max(having)), f64::from(having));
    ln(1.0 + (all - having + 0.5) / (having + 0.5)) as f32
}

/// The natural logarithm of a positive, normal number, to about 15 digits. The standard library's is not
/// there without `std`, and not the same on every machine.
pub(super) fn ln(x: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff << 52;
    let bits = x.to_bits();
    let mut exponent = ((bits & EXPONENT) >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits(bits & !EXPONENT | 1023 << 52);
    if mantissa > core::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 (s + s³/3 + s⁵/5 + …) for s = (m − 1) / (m + 1), which is below 0.172.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let series = (0..12).rev().fold(0.0, |sum, term| sum * square + 1.0 / f64::from(2 * term + 1));
    2.0 * s * series + exponent as f64 * core::f64::consts::LN_2
}
