//! [`Concept`]: the terms of the indexes for a token of the query.

use core::ops::Range;

use super::compound::Compound;
use super::index::{Form, RankedIndex};
use super::language::Language;
use super::pair::Pair;
use super::query::{Node, Query, Unit};
use super::source::{Frequencies, Source, View};
use super::types::Field;
use super::weights::idf;
use saddlebag_collections::SortedMap;
use saddlebag_collections::prelude::*;
use saddlebag_collections::{SlicePart, TextPart, order};

/// Weight of another form of the same stem, relative to the word itself.
const OTHER_FORM: f32 = 0.6;
/// Weight of a compound that begins or ends with the word, and of a word that it begins or ends with.
pub(super) const COMPOUND: f32 = 0.3;
/// Share of the notes that have a common word of a language, on average, from which on there are notes in this language.
const IN_LANGUAGE: f32 = 0.05;
/// Weight of a stop word.
const STOP_WORD: f32 = 0.15;
/// Weight of one part of an identifier, or of one pair of characters of several.
const FRAGMENT: f32 = 0.5;
/// Weight of such a pair that begins with a function character.
const AFTER_FUNCTION: f32 = 0.25;
/// Maximum size of a unit of measurement after a number, such as `kw`.
const MAX_MEASURE_BYTES: usize = 3;
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
        let languages = languages_of(query, views, all);
        let words: Vec<_> = query.units.iter().map(|unit| in_compounds(unit, &languages)).collect();
        let mut compounds: Vec<Vec<Vec<Form>>> = views.iter().map(|view| Compound::find(&words, view.index)).collect();
        let mut known = SortedMap::default();
        let mut concepts: Vec<Concept> = Vec::new();
        let mut of_unit = Vec::new();
        for (place, unit) in query.units.iter().enumerate() {
            let next = concepts.len();
            let number =
                known.get_or_insert((&unit.term, unit.field, unit.is_prefix), next).map_or(next, |number| *number);
            of_unit.push(number);
            let weight = match () {
                () if unit.is_stop_word => STOP_WORD,
                () if unit.pair == Some(Pair::Before) => AFTER_FUNCTION,
                () if unit.is_fragment => FRAGMENT,
                () => 1.0,
            };
            if let Some(concept) = concepts.get_mut(number) {
                concept.is_scored |= !unit.is_excluded;
                concept.weight = concept.weight.max(weight);
                concept.is_stop_word &= unit.is_stop_word;
                continue;
            }
            let of_views = views.iter().zip(&mut compounds);
            let forms_of = |(view, compounds): (&View<'_>, &mut Vec<Vec<Form>>)| {
                let compounds = compounds.get_mut(place).map(core::mem::take).unwrap_or_default();
                forms(view.index, unit, &languages, compounds)
            };
            let forms: Vec<Vec<(Form, f32)>> = of_views.map(forms_of).collect();
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
    pub fn needed_ranges(sources: &[Self], query: &Query) -> Vec<Range<usize>> {
        let Some(first) = sources.first() else { return Vec::new() };
        let plan = Plan::new(&View::of_all(sources), query, Frequencies::Stored);
        let forms = plan.concepts.iter().filter_map(|concept| concept.forms.first()).flatten();
        forms.filter_map(|(form, _)| first.index.range_in_body(form)).collect()
    }
}

/// Returns the languages in which a query is looked up: those that its function words tell and the notes have, or else those of
/// the notes. The notes are asked only if all of them count.
fn languages_of(query: &Query, views: &[View<'_>], docs: u32) -> Vec<Language> {
    if !views.iter().all(View::is_whole) {
        return query.languages.clone();
    }
    let least = docs as f32 * IN_LANGUAGE;
    let is_of_notes = |language: &&Language| {
        let words = language.common_words();
        let of_word = |word: &&str| views.iter().map(|view| view.docs_with(word.as_bytes())).sum::<u32>();
        let mean = words.iter().map(of_word).sum::<u32>() as f32 / words.len() as f32;
        mean > 0.0 && mean >= least
    };
    let of = |languages: &[Language]| languages.iter().filter(is_of_notes).copied().collect::<Vec<_>>();
    match (of(&query.languages), query.languages.is_empty()) {
        (found, false) if found.is_empty() => query.languages.clone(),
        (found, false) => found,
        (_, true) => of(Language::ALL),
    }
}

/// Returns a word of a query that may be in compounds.
fn in_compounds<'q>(unit: &'q Unit, languages: &[Language]) -> Option<Compound<'q>> {
    let may_be = unit.is_plain() && !unit.is_excluded;
    let language = languages.iter().find(|language| may_be && language.has_compounds())?;
    Compound::new(&unit.term, *language)
}

/// Returns the terms that a token of a query finds, each once, with their weights.
fn forms(index: &RankedIndex, unit: &Unit, languages: &[Language], compounds: Vec<Form>) -> Vec<(Form, f32)> {
    if unit.is_prefix {
        let found = index.starting_with(&unit.term, MAX_EXPANSIONS);
        return found.into_iter().map(|form| (form, 1.0)).collect();
    }
    let weigh = |form: Form| {
        let weight = if *form.name == *unit.term { 1.0 } else { OTHER_FORM };
        (form, weight)
    };
    let mut found: Vec<(Form, f32)> = index.forms(&unit.term).into_iter().map(weigh).collect();
    let mut add = |forms: Vec<Form>, weight: f32| {
        let known = found.len();
        for form in forms {
            if found.iter().take(known).all(|(known, _)| known.name != form.name) {
                found.push((form, weight));
            }
        }
    };
    if unit.pair == Some(Pair::After) {
        let first = core::str::from_utf8(&unit.term).ok().and_then(|pair| pair.chars().next());
        let first = first.map(|first| unit.term.part(..first.len_utf8())).unwrap_or_default();
        add(index.starting_with(first, MAX_EXPANSIONS), OTHER_FORM);
    }
    // Every index has its English stems, which cost nothing.
    for language in languages.iter().filter(|language| unit.is_plain() && **language != Language::English) {
        add(of_stem(index, &unit.term, *language), OTHER_FORM);
    }
    add(compounds, COMPOUND);
    add(of_number(index, &unit.term), COMPOUND);
    found
}

/// Returns the terms with the same number, which one of them continues: `1.5` and `1.5kw`, `1.2.3` and `1.2.3-rc.1`.
fn of_number(index: &RankedIndex, term: &[u8]) -> Vec<Form> {
    let digits = term.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let continues = |rest: &[u8]| match rest {
        [b'-', ..] => true,
        unit => (1..=MAX_MEASURE_BYTES).contains(&unit.len()) && unit.iter().all(u8::is_ascii_lowercase),
    };
    let (number, rest) = term.split_at_checked(digits).unwrap_or_default();
    match rest {
        _ if digits < 2 => Vec::new(),
        [] => {
            let mut found = index.starting_with(number, MAX_EXPANSIONS);
            found.retain(|form| form.name.get(digits..).is_some_and(continues));
            found
        }
        rest if continues(rest) => index.exact(number).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Returns the terms of the same stem.
fn of_stem(index: &RankedIndex, term: &[u8], language: Language) -> Vec<Form> {
    let (mut stem, mut other) = (String::new(), String::new());
    if !language.stem(term, &mut stem) {
        return Vec::new();
    }
    // A stem may end otherwise than its words, so one letter less must be the same.
    let word = core::str::from_utf8(term).unwrap_or_default();
    let same = word.chars().zip(stem.chars()).take_while(|(a, b)| a == b).count().saturating_sub(1).max(2);
    let prefix = word.char_indices().nth(same).map_or(word, |(end, _)| word.part(..end));
    let mut found = index.starting_with(prefix.as_bytes(), MAX_EXPANSIONS);
    found.retain(|form| language.stem(&form.name, &mut other) && other == stem);
    found
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
