//! Selects and sorts the notes of a listing: zk's filters over the notes of the index.
//!
//! [`select`] is pure: notes, links and time are arguments. [`LinkTable`] says where links lead, by the rule
//! of [`Resolver`] or of zk; [`Graph`] is what follows from them. Where zk answers a mistake
//! with nothing, an error says what the mistake is.

mod dates;
mod graph;
mod links;
mod mentions;
mod paths;
mod spoken;
mod tags;
#[cfg(test)]
mod tests;
mod zk_links;

use core::cmp::Ordering;
use core::ops::Range;

pub(crate) use self::graph::{Graph, RelatedReason, Snippets, dead_links, edges, related};
pub(crate) use self::links::{LinkTable, Resolution, Resolver, fold, link_table, resolve_path};
pub(crate) use self::mentions::NameLines;
pub(crate) use self::paths::notes_named;
pub(crate) use self::spoken::{asks_for_latest, time_in, time_of, without_time, words_of};
pub(crate) use self::tags::tag_counts;
pub(crate) use self::zk_links::zk_href;
pub(super) use saddlebag_markdown::paths::parts as path_parts;

use self::graph::Direction;
use self::mentions::Names;
use self::paths::named;
use self::tags::TagFilter;
use super::note_filter::{ConditionKind, NoteCondition, NoteFilter};
use super::types::{NoteView, SortKey};
use crate::store::Timestamp;
use saddlebag_collections::{order, prelude::*};
use saddlebag_protocol::Error;

/// The notes that a filter lets through, as their places among `notes`: at most `limit`, sorted.
///
/// Sorted by the keys, then by how near they are, by title (its bytes) and by path. An empty filter selects every note.
pub(crate) fn select(
    notes: &[NoteView<'_>],
    filter: &NoteFilter,
    sort: &[SortKey],
    limit: Option<u32>,
    now: Timestamp,
    links: &LinkTable,
) -> Result<Vec<usize>, Error> {
    let mut selection = Selection { keep: vec![true; notes.len()], distances: None };
    selection.filter_facts(notes, filter, now)?;
    selection.filter_links(notes, filter, links)?;
    selection.filter_mentions(notes, filter)?;
    let mut selected: Vec<usize> = (0..notes.len()).filter(|&note| selection.keeps(note)).collect();
    order::sort_slice(&mut selected, |&a, &b| selection.compare(notes, sort, a, b));
    selected.truncate(limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)));
    Ok(selected)
}

/// The notes that are left, and what is known about them.
struct Selection {
    keep: Vec<bool>,
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
    fn filter_facts(&mut self, notes: &[NoteView<'_>], filter: &NoteFilter, now: Timestamp) -> Result<(), Error> {
        let listed =
            |paths: &[&str]| -> Vec<usize> { paths.iter().flat_map(|path| paths::listed(notes, path)).collect() };
        for (kind, wanted) in [(ConditionKind::Path, true), (ConditionKind::Exclude, false)] {
            let paths = filter.values(kind);
            if !paths.is_empty() {
                self.retain_these(&listed(&paths), wanted);
            }
        }
        let facts = Facts::new(filter, now)?;
        let fits = |view: &NoteView<'_>| facts.fit(&view.note.tags, view.created, view.calendar, view.modified);
        self.retain(|note| notes.get(note).is_some_and(fits));
        Ok(())
    }

    fn filter_links(&mut self, notes: &[NoteView<'_>], filter: &NoteFilter, links: &LinkTable) -> Result<(), Error> {
        let reached = [
            (ConditionKind::LinkedBy, Direction::Forward, true),
            (ConditionKind::LinkTo, Direction::Backward, true),
            (ConditionKind::NoLinkedBy, Direction::Forward, false),
            (ConditionKind::NoLinkTo, Direction::Backward, false),
        ]
        .map(|(kind, direction, wanted)| (filter.values(kind), direction, wanted));
        let related = filter.values(ConditionKind::Related);
        if !filter.needs_links() {
            return Ok(());
        }
        let graph = Graph::new(notes.len(), links);
        let max = if filter.recursive { filter.max_distance.filter(|max| *max > 0).unwrap_or(u32::MAX) } else { 1 };
        for (paths, direction, wanted) in reached {
            if paths.is_empty() {
                continue;
            }
            let distances = graph.distances(&named(notes, &paths)?, direction, max);
            self.retain(|note| distances.get(note).copied().flatten().is_some() == wanted);
            if wanted {
                self.note_distances(&distances);
            }
        }
        if !related.is_empty() {
            let is_related = graph.two_away(&named(notes, &related)?);
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

    /// Mentions come last: they read the text.
    fn filter_mentions(&mut self, notes: &[NoteView<'_>], filter: &NoteFilter) -> Result<(), Error> {
        let (mention, mentioned_by) = (ConditionKind::Mention, ConditionKind::MentionedBy);
        let (mention, mentioned_by) = (filter.values(mention), filter.values(mentioned_by));
        if !mention.is_empty() {
            let mentioned = named(notes, &mention)?;
            let names = Names::new(mentioned.iter().filter_map(|&note| Some((note, notes.get(note)?))));
            let is_mentioning: Vec<bool> =
                notes.iter().zip(&self.keep).map(|(view, &keep)| keep && !names.found_in(view).is_empty()).collect();
            self.retain(|note| is_mentioning.get(note) == Some(&true));
            self.retain_these(&mentioned, false);
        }
        if !mentioned_by.is_empty() {
            let mentioning = named(notes, &mentioned_by)?;
            let names = Names::new(notes.iter().enumerate());
            let views = mentioning.iter().filter_map(|&note| notes.get(note));
            let mentioned: Vec<usize> = views.flat_map(|view| names.found_in(view)).collect();
            self.retain_these(&mentioned, true);
            self.retain_these(&mentioning, false);
        }
        Ok(())
    }

    fn compare(&self, notes: &[NoteView<'_>], keys: &[SortKey], a: usize, b: usize) -> Ordering {
        let (Some(first), Some(second)) = (notes.get(a), notes.get(b)) else { return a.cmp(&b) };
        let by_distance = || match &self.distances {
            Some(distances) => distances.get(a).cmp(&distances.get(b)),
            None => Ordering::Equal,
        };
        SortKey::compare(keys, &first.sort_fields(), &second.sort_fields())
            .then_with(by_distance)
            .then_with(|| first.note.title.cmp(&second.note.title))
            .then_with(|| first.path.cmp(second.path))
    }
}

/// Position of a time relative to a date.
enum Relation {
    On,
    Before,
    After,
}

/// Conditions of a filter on tags and dates. Items of every kind have both.
pub(crate) struct Facts {
    tags: TagFilter,
    tagless: bool,
    dates: Dates,
}

impl Facts {
    pub(crate) fn new(filter: &NoteFilter, now: Timestamp) -> Result<Self, Error> {
        let tags = TagFilter::new(&filter.values(ConditionKind::Tag))?;
        Ok(Self { tags, tagless: filter.tagless, dates: Dates::new(filter, now)? })
    }

    /// Returns true if an item with these tags and times fits. `calendar` is the creation on the calendar of the reader.
    pub(crate) fn fit(&self, tags: &[String], created: u64, calendar: u64, modified: u64) -> bool {
        let Dates { created: moments, calendar: days, modified: changes } = &self.dates;
        let is_in_time = moments.contains(&created) && days.contains(&calendar) && changes.contains(&modified);
        is_in_time && (tags.is_empty() || !self.tagless) && self.tags.matches(tags)
    }
}

/// Ranges of creation and change, in nanoseconds since 1970-01-01T00:00:00Z.
struct Dates {
    created: Range<u64>,
    /// Of `created` on the calendar.
    calendar: Range<u64>,
    modified: Range<u64>,
}

/// Returns the time that a text names, such as `2026-05-30`, `yesterday` or `last week`, in nanoseconds since
/// 1970-01-01T00:00:00Z. Without an offset, it is in the time zone of `now`.
///
/// # Errors
///
/// The text names no time. The help of the error lists the forms.
pub fn named_time(text: &str, now: Timestamp) -> Result<Range<u64>, Error> {
    dates::parse(text, now).or_else(|error| spoken::whole(text, now).ok_or(error))
}

impl Dates {
    fn new(filter: &NoteFilter, now: Timestamp) -> Result<Self, Error> {
        let mut dates = Self { created: 0..u64::MAX, calendar: 0..u64::MAX, modified: 0..u64::MAX };
        for NoteCondition { kind, value } in &filter.conditions {
            let created = if dates::is_moment(value) { &mut dates.created } else { &mut dates.calendar };
            let (range, relation) = match kind {
                ConditionKind::Created => (created, Relation::On),
                ConditionKind::CreatedBefore => (created, Relation::Before),
                ConditionKind::CreatedAfter => (created, Relation::After),
                ConditionKind::Modified => (&mut dates.modified, Relation::On),
                ConditionKind::ModifiedBefore => (&mut dates.modified, Relation::Before),
                ConditionKind::ModifiedAfter => (&mut dates.modified, Relation::After),
                _ => continue,
            };
            let span = named_time(value, now)?;
            let (start, end) = match relation {
                Relation::On => (span.start, span.end),
                Relation::Before => (0, span.start),
                Relation::After => (span.start, u64::MAX),
            };
            *range = range.start.max(start)..range.end.min(end);
        }
        Ok(dates)
    }
}
