//! Selects and sorts the notes of a listing: zk's filters over the notes of the index.
//!
//! [`select`] is pure: notes, links and time are arguments. [`Links`] says where links lead, by the rule
//! of [`Resolver`] or of zk; [`Graph`] is what follows from them. Where zk answers a mistake
//! with nothing, a [`SelectError`] says what the mistake is.

mod dates;
mod error;
mod filter_text;
mod graph;
mod links;
mod mentions;
mod paths;
mod snippets;
mod tags;
#[cfg(test)]
mod tests;
mod text;

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::Range;

pub(crate) use self::error::SelectError;
pub use self::error::is_query_syntax_error;
pub(crate) use self::graph::{DeadLink, Edge, Graph, RelatedReason, dead_links, edges, related};
pub(crate) use self::links::{LinkTable, Links, Resolution, Resolver, resolve_path};
pub(crate) use self::mentions::unlinked_mentions;
pub(crate) use self::snippets::Snippets;
pub(crate) use self::tags::tag_counts;

use self::filter_text::{full_text, named, queries, row};
use self::graph::Direction;
pub(super) use saddlebag_markdown::paths::parts as path_parts;
use saddlebag_zk_rules::mentions;
pub(crate) use saddlebag_zk_rules::zk_href;

use self::tags::TagFilter;
use self::text::Exact;
use super::types::{MatchStrategy, NoteFilter, NoteView, SortBy, SortKey};
use crate::order;
use crate::store::Timestamp;

/// The notes that a filter lets through, as their places among `notes`: at most `limit`, sorted.
///
/// Sorted by the keys, then by how well they match, by how near they are, by title (its bytes) and by path. A filter
/// without anything but empty queries selects every note.
pub(crate) fn select(
    notes: &[NoteView<'_>],
    filter: &NoteFilter,
    sort: &[SortKey],
    limit: Option<u32>,
    now: Timestamp,
    links: &dyn Links,
) -> Result<Vec<usize>, SelectError> {
    let mut selection = Selection { keep: vec![true; notes.len()], scores: None, distances: None };
    selection.filter_facts(notes, filter, now)?;
    selection.filter_links(notes, filter, links)?;
    selection.filter_text(notes, filter)?;
    let mut selected: Vec<usize> = (0..notes.len()).filter(|&note| selection.keeps(note)).collect();
    order::sort_slice(&mut selected, |&a, &b| selection.compare(notes, sort, a, b));
    selected.truncate(limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)));
    Ok(selected)
}

/// The notes that are left, and what is known about them.
struct Selection {
    keep: Vec<bool>,
    /// The score of each note for the query.
    scores: Option<Vec<f64>>,
    /// Over how many links each note is reached.
    distances: Option<Vec<u32>>,
}

impl Selection {
    fn keeps(&self, note: usize) -> bool {
        self.keep.get(note).copied().unwrap_or_default()
    }

    fn retain(&mut self, fits: impl Fn(usize) -> bool) {
        for (note, keep) in self.keep.iter_mut().enumerate() {
            *keep = *keep && fits(note);
        }
    }

    fn retain_these(&mut self, notes: &[usize], wanted: bool) {
        let mut is_listed = vec![false; self.keep.len()];
        for &note in notes {
            if let Some(listed) = is_listed.get_mut(note) {
                *listed = true;
            }
        }
        self.retain(|note| is_listed.get(note) == Some(&wanted));
    }

    /// Paths, tags and dates.
    fn filter_facts(&mut self, notes: &[NoteView<'_>], filter: &NoteFilter, now: Timestamp) -> Result<(), SelectError> {
        let listed =
            |paths: &[String]| -> Vec<usize> { paths.iter().flat_map(|path| paths::listed(notes, path)).collect() };
        if !filter.paths.is_empty() {
            self.retain_these(&listed(&filter.paths), true);
        }
        if !filter.exclude.is_empty() {
            self.retain_these(&listed(&filter.exclude), false);
        }
        let tags = TagFilter::new(&filter.tags)?;
        let dates = Dates::new(filter, now)?;
        let fits = |view: &NoteView<'_>| {
            (view.note.tags.is_empty() || !filter.tagless) && tags.matches(&view.note.tags) && dates.fit(view)
        };
        self.retain(|note| notes.get(note).is_some_and(fits));
        Ok(())
    }

    fn filter_links(
        &mut self,
        notes: &[NoteView<'_>],
        filter: &NoteFilter,
        links: &dyn Links,
    ) -> Result<(), SelectError> {
        let reached = [
            (&filter.linked_by, Direction::Forward, true),
            (&filter.link_to, Direction::Backward, true),
            (&filter.no_linked_by, Direction::Forward, false),
            (&filter.no_link_to, Direction::Backward, false),
        ];
        let asks_for_links = reached.iter().any(|(paths, ..)| !paths.is_empty())
            || !filter.related.is_empty()
            || filter.orphan
            || filter.missing_backlink;
        if !asks_for_links {
            return Ok(());
        }
        let graph = Graph::new(notes.len(), links);
        let max = if filter.recursive { filter.max_distance.filter(|max| *max > 0).unwrap_or(u32::MAX) } else { 1 };
        for (paths, direction, wanted) in reached {
            if paths.is_empty() {
                continue;
            }
            let distances = graph.distances(&named(notes, paths)?, direction, max);
            self.retain(|note| distances.get(note).copied().flatten().is_some() == wanted);
            if wanted {
                self.note_distances(&distances);
            }
        }
        if !filter.related.is_empty() {
            let is_related = graph.two_away(&named(notes, &filter.related)?);
            self.retain(|note| is_related.get(note) == Some(&true));
        }
        if filter.orphan {
            self.retain(|note| graph.backlinks(note).is_empty());
        }
        if filter.missing_backlink {
            self.retain(|note| graph.misses_backlink(note));
        }
        Ok(())
    }

    fn note_distances(&mut self, distances: &[Option<u32>]) {
        let known = self.distances.get_or_insert_with(|| vec![u32::MAX; distances.len()]);
        for (known, distance) in known.iter_mut().zip(distances) {
            *known = (*known).min(distance.unwrap_or(u32::MAX));
        }
    }

    /// Queries and mentions. They come last: they read the text.
    fn filter_text(&mut self, notes: &[NoteView<'_>], filter: &NoteFilter) -> Result<(), SelectError> {
        match filter.strategy {
            MatchStrategy::FullText => {}
            MatchStrategy::Exact => {
                let exact = Exact::new(queries(filter));
                self.retain_text(notes, |text| exact.matches(text));
            }
        }
        if !filter.mention.is_empty() {
            self.retain_these(&named(notes, &filter.mention)?, false);
        }
        if !filter.mentioned_by.is_empty() {
            self.filter_mentioned_by(notes, &named(notes, &filter.mentioned_by)?);
        }
        let full_text = full_text(notes, filter)?;
        if !full_text.is_empty() {
            let mut scores = vec![None; notes.len()];
            for found in full_text.run(&mut notes.iter().map(row)) {
                if let Some(score) = scores.get_mut(found.note) {
                    *score = Some(found.score);
                }
            }
            self.retain(|note| scores.get(note).copied().flatten().is_some());
            self.scores = Some(scores.into_iter().map(Option::unwrap_or_default).collect());
        }
        Ok(())
    }

    fn retain_text(&mut self, notes: &[NoteView<'_>], matches: impl Fn(&str) -> bool) {
        for (keep, view) in self.keep.iter_mut().zip(notes) {
            *keep = *keep && matches(view.text);
        }
    }

    fn filter_mentioned_by(&mut self, notes: &[NoteView<'_>], mentioning: &[usize]) {
        let names: Vec<(usize, &str)> = notes
            .iter()
            .enumerate()
            .flat_map(|(note, view)| links::names(view).map(move |name| (note, name)))
            .collect();
        let mut is_mentioned = vec![false; notes.len()];
        for view in mentioning.iter().filter_map(|&note| notes.get(note)) {
            for (&(note, _), stands) in names.iter().zip(mentions(&row(view), names.iter().map(|(_, name)| *name))) {
                if let Some(mentioned) = is_mentioned.get_mut(note) {
                    *mentioned |= stands;
                }
            }
        }
        self.retain(|note| is_mentioned.get(note) == Some(&true));
        self.retain_these(mentioning, false);
    }

    fn compare(&self, notes: &[NoteView<'_>], keys: &[SortKey], a: usize, b: usize) -> Ordering {
        let (Some(first), Some(second)) = (notes.get(a), notes.get(b)) else { return a.cmp(&b) };
        let by_key = |key: &SortKey| {
            let ascending = match key.by {
                SortBy::Created => first.created.cmp(&second.created),
                SortBy::Modified => first.modified.cmp(&second.modified),
                SortBy::Path => first.path.cmp(second.path),
                SortBy::Title => first.note.title.cmp(&second.note.title),
                SortBy::WordCount => first.note.word_count.cmp(&second.note.word_count),
            };
            if key.ascending { ascending } else { ascending.reverse() }
        };
        let by_keys = keys.iter().map(by_key).find(|ordering| ordering.is_ne());
        let by_score = || match &self.scores {
            Some(scores) => scores.get(b).unwrap_or(&0.0).total_cmp(scores.get(a).unwrap_or(&0.0)),
            None => Ordering::Equal,
        };
        let by_distance = || match &self.distances {
            Some(distances) => distances.get(a).cmp(&distances.get(b)),
            None => Ordering::Equal,
        };
        by_keys
            .unwrap_or(Ordering::Equal)
            .then_with(by_score)
            .then_with(by_distance)
            .then_with(|| first.note.title.cmp(&second.note.title))
            .then_with(|| first.path.cmp(second.path))
    }
}

/// When notes must have been created and changed, in nanoseconds since 1970-01-01T00:00:00Z.
struct Dates {
    created: Range<u64>,
    modified: Range<u64>,
}

impl Dates {
    fn new(filter: &NoteFilter, now: Timestamp) -> Result<Self, SelectError> {
        let span = |on: &Option<_>, before: &Option<_>, after: &Option<_>| -> Result<Range<u64>, SelectError> {
            let parse = |text: &Option<String>| text.as_deref().map(|text| dates::parse(text, now)).transpose();
            let on = parse(on)?.unwrap_or(0..u64::MAX);
            let before = parse(before)?.map_or(u64::MAX, |span| span.start);
            let after = parse(after)?.map_or(0, |span| span.start);
            Ok(on.start.max(after)..on.end.min(before))
        };
        Ok(Self {
            created: span(&filter.created, &filter.created_before, &filter.created_after)?,
            modified: span(&filter.modified, &filter.modified_before, &filter.modified_after)?,
        })
    }

    fn fit(&self, view: &NoteView<'_>) -> bool {
        self.created.contains(&view.created) && self.modified.contains(&view.modified)
    }
}
