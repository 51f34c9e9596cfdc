//! [`Concept`]: the terms of the indexes for a token of the query.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::index::{Form, RankedIndex};
use super::query::{Node, Query};
use super::source::{Frequencies, Source, View};
use super::types::Field;
use super::weights::idf;
use saddlebag_collections::SortedMap;
use saddlebag_collections::order;

/// Weight of another form of the same stem, relative to the word itself.
const OTHER_FORM: f32 = 0.6;
/// Weight of a stop word.
const STOP_WORD: f32 = 0.15;
/// Weight of one part of an identifier, or of one pair of characters of several.
const FRAGMENT: f32 = 0.5;
/// Maximum number of words of a segment that a prefix matches.
const MAX_EXPANSIONS: usize = 1000;
/// Maximum number of tokens of a long sentence that are scored: the rarest ones.
const MAX_SCORED: usize = 64;

/// A token, with its terms in each index. Equal tokens are one concept.
#[derive(Debug)]
pub(super) struct Concept {
    /// Text in the query.
    pub(super) text: String,
    /// Terms of each index, and their weights: 1 for the token itself.
    pub(super) forms: Vec<Vec<(Form, f32)>>,
    pub(super) field: Option<Field>,
    pub(super) is_stop_word: bool,
    pub(super) is_whole: bool,
    /// True if it adds to the score; a concept that is only excluded does not.
    pub(super) is_scored: bool,
    /// Weight relative to other concepts.
    pub(super) weight: f32,
    /// Rarity, from an estimated number of documents.
    pub(super) rough_idf: f32,
}

/// Tokens of a query, looked up in all indexes of a search.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) concepts: Vec<Concept>,
    /// Concept of each unit of the query.
    pub(super) of_unit: Vec<usize>,
    /// True if any of the words may be found, and nothing is required or excluded.
    pub(super) is_plain: bool,
}

impl Plan {
    pub(super) fn new(views: &[View<'_>], query: &Query, frequencies: Frequencies) -> Self {
        let all = View::counts(views).docs;
        let mut known = SortedMap::default();
        let mut concepts: Vec<Concept> = Vec::new();
        let mut of_unit = Vec::new();
        for unit in &query.units {
            let next = concepts.len();
            let number =
                known.get_or_insert((&unit.term, unit.field, unit.is_prefix), next).map_or(next, |number| *number);
            of_unit.push(number);
            let weight = match (unit.is_stop_word, unit.is_fragment) {
                (true, _) => STOP_WORD,
                (_, true) => FRAGMENT,
                _ => 1.0,
            };
            if let Some(concept) = concepts.get_mut(number) {
                concept.is_scored |= !unit.is_excluded;
                concept.weight = concept.weight.max(weight);
                concept.is_stop_word &= unit.is_stop_word;
                continue;
            }
            let forms_of = |view: &View<'_>| forms(view.index, &unit.term, unit.is_prefix);
            let forms: Vec<Vec<(Form, f32)>> = views.iter().map(forms_of).collect();
            let of_views = views.iter().zip(&forms);
            let of_forms = of_views.flat_map(|(view, forms)| forms.iter().map(move |(form, _)| (view, form)));
            let docs = of_forms.fold(0_u32, |sum, (view, form)| sum.saturating_add(view.frequency(form, frequencies)));
            concepts.push(Concept {
                text: unit.text.clone(),
                rough_idf: idf(all, docs.min(all)),
                forms,
                field: unit.field,
                is_stop_word: unit.is_stop_word,
                is_whole: unit.is_whole,
                is_scored: !unit.is_excluded,
                weight,
            });
        }
        let is_plain = is_plain(&query.root);
        // Which tokens are common depends only on documents that count, and only their postings tell.
        if is_plain && (frequencies == Frequencies::Counted || views.iter().all(View::is_whole)) {
            drop_common(&mut concepts);
        }
        Self { concepts, of_unit, is_plain }
    }
}

impl Source<'_> {
    /// Returns the ranges of the body of the first index that a search of all these sources needs. They stay the same until
    /// an index [settles](RankedIndex::settle).
    #[must_use]
    pub fn needed_ranges(sources: &[Self], query: &Query) -> Vec<Range<usize>> {
        let Some(first) = sources.first() else { return Vec::new() };
        let plan = Plan::new(&View::of_all(sources), query, Frequencies::Stored);
        let forms = plan.concepts.iter().filter_map(|concept| concept.forms.first()).flatten();
        forms.filter_map(|(form, _)| first.index.range_in_body(form)).collect()
    }
}

fn forms(index: &RankedIndex, term: &[u8], is_prefix: bool) -> Vec<(Form, f32)> {
    let found = if is_prefix { index.starting_with(term, MAX_EXPANSIONS) } else { index.forms(term) };
    found
        .into_iter()
        .map(|form| {
            let weight = if is_prefix || *form.name == *term { 1.0 } else { OTHER_FORM };
            (form, weight)
        })
        .collect()
}

/// Returns true if the query is only words, any of which may be found.
fn is_plain(node: &Node) -> bool {
    match node {
        Node::Word(_) => true,
        Node::Beside(nodes) | Node::Any(nodes) => nodes.iter().all(is_plain),
        _ => false,
    }
}

/// Keeps only the rarest tokens of a long sentence.
fn drop_common(concepts: &mut [Concept]) {
    if concepts.len() <= MAX_SCORED {
        return;
    }
    let mut by_worth: Vec<u64> = Vec::new();
    for (number, concept) in (0_u32..).zip(concepts.iter()) {
        let worth = if concept.forms.iter().all(Vec::is_empty) { 0.0 } else { concept.rough_idf * concept.weight };
        by_worth.push(order::pair(order::descending(worth), number));
    }
    order::sort(&mut by_worth, &mut Vec::new());
    for worth in by_worth.into_iter().skip(MAX_SCORED) {
        if let Some(concept) = concepts.get_mut(worth as u32 as usize) {
            concept.forms.iter_mut().for_each(Vec::clear);
        }
    }
}
