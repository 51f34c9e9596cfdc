//! The terms of a query, and what they match.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::index::{DocId, Document, LiteralIndex};
use crate::store::RelPath;

/// A query as the words it is made of: split at white space, each word once whatever its ASCII case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms(Vec<String>);

impl Terms {
    /// Splits a query. A query of white space alone has no terms.
    #[must_use]
    pub fn of(query: &str) -> Self {
        let mut terms: Vec<String> = Vec::new();
        for word in query.split_whitespace() {
            if !terms.iter().any(|term| term.eq_ignore_ascii_case(word)) {
                terms.push(word.to_string());
            }
        }
        Self(terms)
    }

    /// The terms, in the order of the query.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }
}

/// What a file is, as far as ranking cares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rank {
    pub(super) is_long_term: bool,
    /// The stem of a daily log, else `None`.
    pub(super) date: Option<String>,
}

/// A file that matches.
#[derive(Clone, Debug)]
pub(super) struct Match {
    pub(super) doc: DocId,
    /// Which terms, by their place in the query.
    pub(super) terms: Vec<usize>,
    /// The lines that match any term, ascending, counted from 0; none if only the name matches.
    pub(super) lines: Vec<u32>,
    pub(super) rank: Rank,
}

/// The matches of a query, best first, and for each term the number of lines that have it.
pub(super) fn find(index: &mut LiteralIndex, terms: &Terms, rank: impl Fn(&RelPath) -> Rank) -> (Vec<u32>, Vec<Match>) {
    let folded: Vec<String> = terms.as_slice().iter().map(|term| index.fold_term(term)).collect();
    let mut by_doc: BTreeMap<DocId, (Vec<usize>, Vec<u32>)> = BTreeMap::new();
    let mut counts = Vec::with_capacity(folded.len());
    for (number, term) in folded.iter().enumerate() {
        let places = index.places(term);
        counts.push(u32::try_from(places.len()).unwrap_or(u32::MAX));
        for same_doc in places.chunk_by(|a, b| a.doc == b.doc) {
            let Some(first) = same_doc.first() else { continue };
            let (terms, lines) = by_doc.entry(first.doc).or_default();
            terms.push(number);
            lines.extend(same_doc.iter().map(|place| place.line));
        }
    }
    let mut named: BTreeMap<DocId, Vec<usize>> = BTreeMap::new();
    for (number, term) in folded.iter().enumerate() {
        for doc in index.named(term) {
            // A name adds nothing to a file that has a term in its text.
            if !by_doc.contains_key(&doc) {
                named.entry(doc).or_default().push(number);
            }
        }
    }
    let by_content = by_doc.into_iter().map(|(doc, (terms, mut lines))| {
        lines.sort_unstable();
        lines.dedup();
        (doc, terms, lines)
    });
    let by_name = named.into_iter().map(|(doc, terms)| (doc, terms, Vec::new()));
    let mut matches: Vec<(u32, Match)> = by_content
        .chain(by_name)
        .filter_map(|(doc, terms, lines)| {
            let Document { path, order, .. } = index.doc(doc)?;
            Some((*order, Match { doc, terms, lines, rank: rank(path) }))
        })
        .collect();
    matches.sort_by(|(order_a, a), (order_b, b)| {
        let better_first = |m: &Match| (m.rank.is_long_term, m.terms.len(), !m.lines.is_empty(), m.lines.len());
        let by_rank = better_first(b).cmp(&better_first(a));
        by_rank.then_with(|| b.rank.date.cmp(&a.rank.date)).then(order_a.cmp(order_b))
    });
    (counts, matches.into_iter().map(|(_, found)| found).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_words_without_regard_to_ascii_case() {
        assert_eq!(Terms::of("foo FOO Foo bar").as_slice(), ["foo", "bar"]);
        assert_eq!(Terms::of("Ü ü").as_slice(), ["Ü", "ü"]);
        assert!(Terms::of(" \u{3000}\t").as_slice().is_empty());
    }
}
