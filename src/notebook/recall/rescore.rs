//! Order of a recall, merged with one that the host makes.
//!
//! The host rates the best passages of the best notes, up to [`MAX_SCORED_TEXTS`]. Each note then has two ranks, by
//! the engine and by the host, counted from 1. The notes are ordered by `1 / (60 + engine) + 1 / (60 + host)`:
//! reciprocal rank fusion, with its usual constant. Equal sums, and equal ratings of the host, stay in the order of
//! the engine. A note whose text must not leave the store has the engine's rank for both. Notes after the best ones
//! keep their places.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::super::superseded::without_older;
use super::corpora::{Corpora, Selection};
use crate::changes::Call;
use crate::order;
use crate::protocol::{FsError, MAX_SCORED_TEXTS};
use crate::search::ranked::{Passages, Query, Ranked};
use crate::search::{DocId, SearchableEntry, best_passage};
use crate::sorted::SortedMap;
use crate::trust::Approved;

/// Number of best notes that are rated.
pub(super) const CANDIDATES: usize = MAX_SCORED_TEXTS;

/// Maximum size of the text in bytes.
const TEXT_BYTES: usize = 1000;
/// Maximum size of all passages in bytes.
const ALL_BYTES: usize = 64 << 10;

/// Constant of reciprocal rank fusion. The larger it is, the less the first ranks count.
const FUSION: f64 = 60.0;

/// Source and number of an item.
type Item = (usize, DocId);

/// Ratings of the host by item. Items that were not sent have none.
pub(super) type Scored = SortedMap<Item, f64>;

/// Asks the host to rate the passages of these notes. Their text must be in memory.
///
/// # Errors
///
/// The host does not rate them.
pub(super) async fn score(call: &Call, asked: &str, texts: Vec<(Item, String)>) -> Result<Scored, FsError> {
    let (items, texts): (Vec<Item>, Vec<String>) = texts.into_iter().unzip();
    let mut scored = Scored::default();
    if !texts.is_empty() {
        let scores = call.fs.score(asked, texts).await?;
        scored.extend(items.into_iter().zip(scores.0));
    }
    Ok(scored)
}

/// Returns the passages of the best items that may leave the store: the best passage of each, read from its file.
pub(super) fn texts(
    corpora: &Corpora<'_>,
    selection: &Selection,
    query: &Query,
    best: &[Ranked],
) -> Vec<(Item, String)> {
    let mut passages = corpora.with_sources(selection, &|_| false, |sources| Passages::new(sources, query));
    let (mut texts, mut room) = (Vec::new(), ALL_BYTES);
    for hit in best.iter().take(CANDIDATES) {
        let Ok((document, entry)) = corpora.document(hit) else { continue };
        let Some(text) = document.text.as_deref() else { continue };
        // Text that must not go into a prompt is not sent to a model either.
        if Approved::judge(text.into()).is_err() || entry.is_some_and(SearchableEntry::is_withheld) {
            continue;
        }
        let note = corpora.note_of_text(hit, document);
        let passage = note.and_then(|note| best_passage(&mut passages, &without_older(text, &note), &note, TEXT_BYTES));
        if let Some(passage) = passage.and_then(|passage| text.get(passage.range)) {
            room = room.saturating_sub(passage.len());
            if room == 0 {
                break;
            }
            texts.push(((hit.source, hit.doc), passage.to_string()));
        }
    }
    texts
}

/// Orders the best notes by both ranks.
pub(super) fn fused(mut hits: Vec<Ranked>, scored: &Scored) -> Vec<Ranked> {
    let others = hits.split_off(hits.len().min(CANDIDATES));
    let rated = (0_u32..)
        .zip(&hits)
        .filter_map(|(place, hit)| Some((place, (hit.source, hit.doc), *scored.get(&(hit.source, hit.doc))?)));
    let mut by_host: Vec<(u32, Item, f64)> = rated.collect();
    // All numbers are finite, so any two can be compared.
    let higher = |one: f64, other: f64| other.partial_cmp(&one).unwrap_or(Ordering::Equal);
    order::sort_slice(&mut by_host, |(place, _, one), (next, _, other)| higher(*one, *other).then(place.cmp(next)));
    let mut host_rank: SortedMap<Item, u32> = SortedMap::default();
    host_rank.extend(by_host.into_iter().map(|(_, item, _)| item).zip(1..));
    let mut sums: Vec<(f64, u32, Ranked)> = (1_u32..)
        .zip(hits)
        .map(|(rank, hit)| {
            let host = host_rank.get(&(hit.source, hit.doc)).copied().unwrap_or(rank);
            (1.0 / (FUSION + f64::from(rank)) + 1.0 / (FUSION + f64::from(host)), rank, hit)
        })
        .collect();
    order::sort_slice(&mut sums, |(one, rank, _), (other, next, _)| other.total_cmp(one).then(rank.cmp(next)));
    sums.into_iter().map(|(_, _, hit)| hit).chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::ranked::FieldSet;

    fn order_of(count: u32, scores: &[(DocId, f64)]) -> Vec<DocId> {
        let hit = |doc| Ranked {
            source: 0,
            doc,
            score: 0.0,
            terms: Vec::new(),
            fields: FieldSet::default(),
            parts: Vec::new(),
            coverage: 0.0,
            phrase: 0.0,
            proximity: 0.0,
            inherited: 0.0,
            weight: 1.0,
        };
        let hits = (0..count).map(hit).collect();
        let mut scored = Scored::default();
        scored.extend(scores.iter().map(|(doc, score)| ((0, *doc), *score)));
        fused(hits, &scored).into_iter().map(|hit| hit.doc).collect()
    }

    #[test]
    fn both_orders_count_and_the_engine_decides_between_equals() {
        assert_eq!(order_of(3, &[]), [0, 1, 2]);
        assert_eq!(order_of(3, &[(0, 0.5), (1, 0.5), (2, 0.5)]), [0, 1, 2]);
        // The last by the engine and the first by the host ties with its opposite.
        assert_eq!(order_of(3, &[(0, -1.0), (1, 0.0), (2, 1.0)]), [0, 2, 1]);
        assert_eq!(order_of(3, &[(0, -1.0), (1, 1.0), (2, 0.0)]), [1, 0, 2]);
        assert_eq!(order_of(2, &[(0, 0.0), (1, -0.0)]), [0, 1]);
    }

    #[test]
    fn a_note_that_the_host_was_not_asked_about_keeps_its_rank() {
        assert_eq!(order_of(3, &[(1, 0.1), (2, 0.9)]), [0, 2, 1]);
    }

    #[test]
    fn notes_after_the_best_ones_keep_their_places() {
        let scores: Vec<(DocId, f64)> = (0..70).map(|doc| (doc, f64::from(doc))).collect();
        let order = order_of(70, &scores);
        assert_eq!(order[64..], [64, 65, 66, 67, 68, 69]);
        assert_eq!(order.len(), 70);
    }
}
