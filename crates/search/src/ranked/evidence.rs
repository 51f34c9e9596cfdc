//! [`Judge`]: examines the best documents for phrases and proximity.

use super::index::RankedIndex;
use super::matching::{Cursor, Walk};
use super::plan::Plan;
use super::query::Query;
use super::succession::Successions;
use super::types::{FIELDS, Field, FieldSet, Ranked, ScorePart};
use super::weights::{COVERAGE, Lengths, saturate};
use saddlebag_collections::order;
use saddlebag_collections::prelude::*;

/// Bonus of two adjacent words, as a part of what the more common one adds.
const PHRASE: f32 = 0.6;
/// Bonus of all found words if they are adjacent, as a part of what they add.
const PROXIMITY: f32 = 0.4;
/// Maximum number of positions of one word that count in one document.
const MAX_POSITIONS: usize = 1000;

/// Explains scores.
pub(super) struct Judge<'a> {
    pub(super) query: &'a Query,
    pub(super) plan: &'a Plan,
    pub(super) lengths: &'a Lengths,
    /// Rarities, by concept.
    pub(super) idfs: &'a [f32],
    /// Sum of the masses of all concepts.
    pub(super) total_mass: f32,
}

/// Documents of a source, and the occurrences of the query in them.
pub(super) struct Occurrences<'a> {
    /// Number of the source.
    pub(super) source: usize,
    pub(super) index: &'a RankedIndex,
    /// Walks, by concept.
    pub(super) walks: &'a [Vec<Walk<'a>>],
}

/// Cursors, by concept.
type Cursors<'w> = Vec<Vec<Cursor<'w, 'w>>>;

/// Occurrences of a concept in a document.
#[derive(Clone, Debug, Default)]
struct Evidence {
    is_found: bool,
    /// Rarity of the concept, times its weight.
    mass: f32,
    positions: Vec<u64>,
}

impl Judge<'_> {
    /// Explains the scores of documents. Their slots must ascend.
    pub(super) fn judge_all(
        &self,
        occurrences: &Occurrences<'_>,
        slots: &[u64],
        successions: &Successions<'_>,
    ) -> Vec<Option<Ranked>> {
        let Occurrences { source, index, walks } = *occurrences;
        let mut cursors: Cursors<'_> = walks.iter().map(|walks| walks.iter().map(Walk::cursor).collect()).collect();
        slots.iter().map(|&slot| self.judge((source, index, slot as u32), &mut cursors, successions)).collect()
    }

    fn judge(
        &self,
        (source, index, slot): (usize, &RankedIndex, u32),
        cursors: &mut Cursors<'_>,
        successions: &Successions<'_>,
    ) -> Option<Ranked> {
        let doc = index.docs().get(slot as usize)?;
        let (mut parts, mut fields, mut evidence) = (Vec::new(), FieldSet::default(), Vec::new());
        for (number, cursors) in cursors.iter_mut().enumerate() {
            evidence.push(self.look((index, slot), number, cursors, &mut parts, &mut fields).unwrap_or_default());
        }
        let sum: f32 = parts.iter().map(|part: &ScorePart| part.amount).sum();
        let mass: f32 = evidence.iter().map(|found| found.mass).sum();
        let coverage = if self.total_mass > 0.0 { sum * COVERAGE * mass / self.total_mass } else { 0.0 };
        let phrase = self.phrase(&evidence);
        let proximity = self.proximity(&evidence);
        let weight = successions.weight(doc.id);
        let score = (sum + coverage + phrase + proximity) * weight;
        let terms = self.terms(&evidence);
        let (doc, inherited) = (doc.id, 0.0);
        Some(Ranked { source, doc, score, terms, fields, parts, coverage, phrase, proximity, inherited, weight })
    }

    /// Finds one concept in the document.
    fn look(
        &self,
        (index, slot): (&RankedIndex, u32),
        number: usize,
        cursors: &mut [Cursor<'_, '_>],
        parts: &mut Vec<ScorePart>,
        fields: &mut FieldSet,
    ) -> Option<Evidence> {
        let concept = self.plan.concepts.get(number).filter(|concept| concept.is_scored)?;
        let &idf = self.idfs.get(number)?;
        let has_place = !concept.is_whole && !concept.is_stop_word;
        let mut places = Vec::new();
        let (mut sums, mut counts) = ([0.0_f32; FIELDS], [0_u32; FIELDS]);
        for cursor in cursors {
            let Some((posting, form_weight)) = cursor.find(slot) else { continue };
            if has_place && places.len() < MAX_POSITIONS {
                posting.positions(concept.field, &mut places);
            }
            let found = posting.counts();
            for field in Field::ALL.into_iter().filter(|field| concept.field.is_none_or(|only| only == *field)) {
                let place = field as usize;
                if let (Some(sum), Some(count), Some(&more)) =
                    (sums.get_mut(place), counts.get_mut(place), found.get(place))
                {
                    *sum += form_weight * self.lengths.weigh(index, slot, field, more);
                    *count = count.saturating_add(more);
                }
            }
        }
        let sum: f32 = sums.iter().sum();
        if sum == 0.0 {
            return None;
        }
        let mass = idf * concept.weight;
        for ((field, field_sum), tf) in Field::ALL.into_iter().zip(sums).zip(counts).filter(|(_, tf)| *tf > 0) {
            let amount = mass * saturate(sum) * (field_sum / sum);
            parts.push(ScorePart { term: concept.text.clone(), field, tf, idf, amount });
            if !concept.is_stop_word {
                fields.insert(field);
            }
        }
        places.truncate(MAX_POSITIONS);
        order::sort(&mut places, &mut Vec::new());
        Some(Evidence { is_found: true, mass, positions: places })
    }

    /// Returns the bonus for pairs of words that are adjacent in the query and in the document.
    fn phrase(&self, evidence: &[Evidence]) -> f32 {
        let units = self.query.units.iter().zip(&self.plan.of_unit);
        let mut units = units.filter(|(unit, _)| !unit.is_whole && !unit.is_excluded && !unit.is_stop_word);
        let Some(mut before) = units.next() else { return 0.0 };
        let mut bonus = 0.0;
        for unit in units {
            let distance = unit.0.position.saturating_sub(before.0.position);
            if let (Some(a), Some(b)) = (evidence.get(*before.1), evidence.get(*unit.1))
                && before.1 != unit.1
                && (follows(&a.positions, &b.positions, distance) || follows(&a.positions, &b.positions, 1))
            {
                bonus += PHRASE * if a.mass < b.mass { a.mass } else { b.mass };
            }
            before = unit;
        }
        bonus
    }

    /// Returns the bonus for the smallest part of the document that contains all of its found words.
    fn proximity(&self, evidence: &[Evidence]) -> f32 {
        let with_positions = evidence.iter().filter(|found| !found.positions.is_empty());
        let mut all: Vec<u64> = Vec::new();
        let mut mass = 0.0;
        let mut words = 0;
        for (number, found) in (0_u32..).zip(with_positions) {
            all.extend(found.positions.iter().map(|position| position << 32 | u64::from(number)));
            mass += found.mass;
            words = number as usize + 1;
        }
        if words < 2 {
            return 0.0;
        }
        order::sort(&mut all, &mut Vec::new());
        let mut counts = vec![0_u32; words];
        let (mut missing, mut first, mut smallest) = (words, 0, u64::MAX);
        for &end in &all {
            if let Some(count) = counts.get_mut(end as u32 as usize) {
                missing -= usize::from(*count == 0);
                *count += 1;
            }
            while missing == 0 {
                let Some(&start) = all.get(first) else { break };
                smallest = smallest.min((end >> 32) - (start >> 32));
                first += 1;
                if let Some(count) = counts.get_mut(start as u32 as usize) {
                    *count -= 1;
                    missing += usize::from(*count == 0);
                }
            }
        }
        let least = (words - 1) as f32;
        let span = smallest as f32;
        PROXIMITY * mass * least / if span > least { span } else { least }
    }

    /// Returns the words of the query that were found: a whole word if all of its parts were, else its parts.
    fn terms(&self, evidence: &[Evidence]) -> Vec<String> {
        let mut terms: Vec<String> = Vec::new();
        let is_found = |unit: &usize| {
            let concept = self.plan.of_unit.get(*unit);
            concept.and_then(|&concept| evidence.get(concept)).is_some_and(|found| found.is_found)
        };
        let text = |unit: &usize| self.query.units.get(*unit).filter(|unit| !unit.is_stop_word).map(|unit| &unit.text);
        let mut add = |term: &String| {
            if !terms.contains(term) {
                terms.push(term.clone());
            }
        };
        for word in self.query.words.iter().filter(|word| !word.is_excluded) {
            if let Some(whole) = word.wholes.iter().rev().find(|unit| is_found(unit)) {
                text(whole).into_iter().for_each(&mut add);
            } else if word.parts.len() > 1 && word.parts.iter().all(is_found) {
                add(&word.text);
            } else {
                word.parts.iter().filter(|unit| is_found(unit)).filter_map(text).for_each(&mut add);
            }
        }
        terms
    }
}

/// Returns true if a position of `b` is this far after one of `a`; both ascend.
fn follows(a: &[u64], b: &[u64], distance: u32) -> bool {
    let mut b = b.iter().peekable();
    a.iter().any(|position| {
        let wanted = position + u64::from(distance);
        while b.next_if(|position| **position < wanted).is_some() {}
        b.peek() == Some(&&wanted)
    })
}
