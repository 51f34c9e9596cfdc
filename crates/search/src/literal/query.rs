//! Terms of a query, and the documents that match them.

use core::ops::Range;

use saddlebag_collections::order;

use super::index::{LiteralIndex, Occurrence, Rank, TextId, Texts};
use saddlebag_collections::prelude::*;

/// A query as its words: split at white space, duplicates removed (ignoring ASCII case).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms(Vec<String>);

impl Terms {
    /// Splits a query. A query of only white space has no terms.
    pub fn from_query(query: &str) -> Self {
        let mut terms: Vec<String> = Vec::new();
        for word in query.split_whitespace() {
            if !terms.iter().any(|term| term.eq_ignore_ascii_case(word)) {
                terms.push(word.to_string());
            }
        }
        Self(terms)
    }

    /// Returns the terms, in the order of the query.
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }
}

/// Documents that match a query, best first.
pub struct Matches {
    /// Number of matching lines for each term.
    pub counts: Vec<u32>,
    ranked: Vec<Ranked>,
    occurrences: Vec<Occurrence>,
    named: Vec<(TextId, usize)>,
}

/// A matching document with the properties that ranking needs.
struct Ranked {
    text: TextId,
    rank: Rank,
    terms: u32,
    lines: u32,
    /// Range of its occurrences, or of its names if no line matches.
    evidence: Range<usize>,
}

/// A document that matches.
#[derive(Clone, Debug)]
pub struct Match {
    /// Number of the document.
    pub text: TextId,
    /// Terms, by their position in the query.
    pub terms: Vec<usize>,
    /// Lines that match any term, ascending, counted from 0; empty if only the name matches.
    pub lines: Vec<u32>,
}

impl Matches {
    /// Returns the number of matching documents.
    pub fn len(&self) -> usize {
        self.ranked.len()
    }

    /// Returns true if no document matches.
    pub fn is_empty(&self) -> bool {
        self.ranked.is_empty()
    }

    /// Returns the matches from a position in the ranking on.
    pub fn from(&self, offset: usize) -> impl ExactSizeIterator<Item = Match> {
        self.ranked.get(offset..).unwrap_or_default().iter().map(|ranked| self.detail(ranked))
    }

    fn detail(&self, ranked: &Ranked) -> Match {
        let (terms, lines): (Vec<usize>, Vec<u32>) = if ranked.lines == 0 {
            let named = self.named.get(ranked.evidence.clone()).unwrap_or_default();
            (named.iter().map(|(_, term)| *term).collect(), Vec::new())
        } else {
            let occurrences = self.occurrences.get(ranked.evidence.clone()).unwrap_or_default();
            (occurrences.iter().map(|o| o.term).collect(), occurrences.iter().map(|o| o.place.line).collect())
        };
        Match { text: ranked.text, terms: each_once(terms), lines: each_once(lines) }
    }
}

/// Sorts the items and removes duplicates.
fn each_once<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    order::sort_slice(&mut items, Ord::cmp);
    items.dedup();
    items
}

/// Finds and ranks the documents: by [comes first](Rank::comes_first), number of terms, content before name, matching
/// lines, [day](Rank::day), [order](Rank::order).
pub fn find(index: &mut LiteralIndex, texts: &impl Texts, terms: &Terms) -> Matches {
    let folded = index.fold_terms(terms.as_slice());
    let occurrences = index.occurrences(texts, &folded);
    let mut counts = vec![0_u32; folded.len()];
    let mut ranked = Vec::new();
    let mut seen = SeenTerms::new(folded.len());
    let mut start = 0;
    for same_text in occurrences.chunk_by(|a, b| a.place.text == b.place.text) {
        let mut lines = 0;
        let mut last_line = None;
        let mut terms = 0;
        for Occurrence { place, term } in same_text {
            if let Some(count) = counts.get_mut(*term) {
                *count += 1;
            }
            lines += u32::from(last_line.replace(place.line) != Some(place.line));
            terms += u32::from(seen.is_new(*term, place.text));
        }
        let evidence = start..start + same_text.len();
        start = evidence.end;
        ranked.extend(same_text.first().and_then(|first| rank(texts, first.place.text, terms, lines, evidence)));
    }
    // The name adds nothing if the document has a term.
    let has_text = |text: &TextId| occurrences.binary_search_by_key(text, |found| found.place.text).is_ok();
    let mut named: Vec<(TextId, usize)> = Vec::new();
    for (number, term) in folded.iter().enumerate() {
        named.extend(
            index
                .named(term)
                .into_iter()
                .filter(|text| texts.is_searched(*text) && !has_text(text))
                .map(|text| (text, number)),
        );
    }
    order::sort_slice(&mut named, Ord::cmp);
    let mut start = 0;
    for same_text in named.chunk_by(|a, b| a.0 == b.0) {
        let evidence = start..start + same_text.len();
        start = evidence.end;
        let terms = u32::try_from(same_text.len()).unwrap_or(u32::MAX);
        ranked.extend(same_text.first().and_then(|(text, _)| rank(texts, *text, terms, 0, evidence)));
    }
    order::sort_slice(&mut ranked, |a, b| {
        let better_first = |r: &Ranked| (r.rank.comes_first, r.terms, r.lines > 0, r.lines, r.rank.day);
        better_first(b).cmp(&better_first(a)).then(a.rank.order.cmp(&b.rank.order))
    });
    Matches { counts, ranked, occurrences, named }
}

/// Returns the ranked document; `None` if it is gone.
fn rank(texts: &impl Texts, text: TextId, terms: u32, lines: u32, evidence: Range<usize>) -> Option<Ranked> {
    texts.text(text)?;
    Some(Ranked { text, rank: texts.rank(text), terms, lines, evidence })
}

/// Distinguishes the terms of one document, one document after the other.
struct SeenTerms(Vec<Option<TextId>>);

impl SeenTerms {
    fn new(terms: usize) -> Self {
        Self(vec![None; terms])
    }

    fn is_new(&mut self, term: usize, text: TextId) -> bool {
        self.0.get_mut(term).is_some_and(|last| last.replace(text) != Some(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_words_without_regard_to_ascii_case() {
        assert_eq!(Terms::from_query("foo FOO Foo bar").as_slice(), ["foo", "bar"]);
        assert_eq!(Terms::from_query("Ü ü").as_slice(), ["Ü", "ü"]);
        assert!(Terms::from_query(" \u{3000}\t").as_slice().is_empty());
    }
}
