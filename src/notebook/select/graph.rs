//! The graph of the links: neighbours, distances, orphans, links that lead nowhere, and the links that a listing shows.

use alloc::collections::VecDeque;
use core::cmp::Reverse;

use super::links::{LinkTable, Resolution, Resolver};
use super::paths::{index_order, named};
use crate::notebook::note_filter::{ConditionKind, NoteFilter};
use crate::notebook::types::NoteView;
use saddlebag_collections::{order, prelude::*, sorted::SortedMap};
use saddlebag_protocol::Error;

/// A way to follow links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From a note to those that it links to.
    Forward,
    /// From a note to those that link to it.
    Backward,
}

/// The notes next to each note, each once, ascending. A note is not next to itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    forward: Vec<Vec<usize>>,
    backward: Vec<Vec<usize>>,
}

impl Graph {
    /// The graph of so many notes.
    pub(crate) fn new(notes: usize, links: &LinkTable) -> Self {
        let mut graph = Self { forward: vec![Vec::new(); notes], backward: vec![Vec::new(); notes] };
        for (from, forward) in graph.forward.iter_mut().enumerate() {
            let targets = links.targets(from).iter().flatten().copied();
            forward.extend(targets.filter(|&to| to != from && to < notes));
            order::sort_slice(forward, Ord::cmp);
            forward.dedup();
            for &to in forward.iter() {
                if let Some(backward) = graph.backward.get_mut(to) {
                    backward.push(from);
                }
            }
        }
        graph
    }

    /// The notes that a note links to.
    pub(crate) fn forward(&self, note: usize) -> &[usize] {
        self.forward.get(note).map_or(&[], Vec::as_slice)
    }

    /// The notes that link to a note.
    pub(crate) fn backlinks(&self, note: usize) -> &[usize] {
        self.backward.get(note).map_or(&[], Vec::as_slice)
    }

    fn next(&self, note: usize, direction: Direction) -> &[usize] {
        match direction {
            Direction::Forward => self.forward(note),
            Direction::Backward => self.backlinks(note),
        }
    }

    /// Number of links from each note to the nearest of the starts other than itself.
    pub(super) fn distances(&self, starts: &[usize], direction: Direction, max: u32) -> Vec<Option<u32>> {
        // Of each note up to two starts that reach it, nearest first: one of them is not the note itself.
        let mut reached: Vec<[Option<(usize, u32)>; 2]> = vec![[None; 2]; self.forward.len()];
        let mut queue: VecDeque<(usize, usize, u32)> = starts.iter().map(|&start| (start, start, 0)).collect();
        while let Some((note, start, distance)) = queue.pop_front() {
            let Some(slots) = reached.get_mut(note) else { continue };
            if slots.iter().flatten().any(|&(known, _)| known == start) {
                continue;
            }
            let Some(slot) = slots.iter_mut().find(|slot| slot.is_none()) else { continue };
            *slot = Some((start, distance));
            if distance < max {
                queue.extend(self.next(note, direction).iter().map(|&next| (next, start, distance + 1)));
            }
        }
        let other_start = |(note, slots): (usize, &[Option<(usize, u32)>; 2])| {
            slots.iter().flatten().find(|&&(start, _)| start != note).map(|&(_, distance)| distance)
        };
        reached.iter().enumerate().map(other_start).collect()
    }

    /// Notes exactly two links in one direction away from one of the starts, and not next to it.
    pub(super) fn two_away(&self, starts: &[usize]) -> Vec<bool> {
        let mut is_two_away = vec![false; self.forward.len()];
        for &start in starts {
            let is_near = |note: usize| {
                note == start
                    || [Direction::Forward, Direction::Backward]
                        .iter()
                        .any(|&way| self.next(start, way).binary_search(&note).is_ok())
            };
            for direction in [Direction::Forward, Direction::Backward] {
                let between = self.next(start, direction).iter();
                for &note in between.flat_map(|&note| self.next(note, direction)) {
                    if !is_near(note)
                        && let Some(place) = is_two_away.get_mut(note)
                    {
                        *place = true;
                    }
                }
            }
        }
        is_two_away
    }

    /// Returns true if a note that links to this one is not linked back.
    pub(super) fn misses_backlink(&self, note: usize) -> bool {
        self.backlinks(note).iter().any(|from| self.forward(note).binary_search(from).is_err())
    }
}

/// A note that is linked with another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Related {
    pub(crate) index: usize,
    /// 1 for a link between both, 2 for a note between them.
    pub(crate) distance: u32,
    pub(crate) reason: RelatedReason,
}

/// Reason why a note is related.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RelatedReason {
    /// Each links to the other.
    LinksBothWays,
    /// It links to the note: a backlink.
    LinksHere,
    /// The note links to it.
    LinkedFromHere,
    /// Both are linked with these notes, whichever way; ascending.
    Shares(Vec<usize>),
}

/// The notes that are related with a note: links both ways, backlinks, links from it, then notes that link to the same
/// notes, those with the most of them first. Equal ones are sorted by title and path.
pub(crate) fn related(notes: &[NoteView<'_>], graph: &Graph, note: usize) -> Vec<Related> {
    let (forward, backward) = (graph.forward(note), graph.backlinks(note));
    let mut found: SortedMap<usize, RelatedReason> = SortedMap::default();
    found.extend(forward.iter().map(|&to| (to, RelatedReason::LinkedFromHere)));
    for &from in backward {
        let reason = if found.contains_key(&from) { RelatedReason::LinksBothWays } else { RelatedReason::LinksHere };
        found.insert(from, reason);
    }
    let near: Vec<usize> = found.keys().copied().collect();
    for &between in &near {
        for &far in graph.forward(between).iter().chain(graph.backlinks(between)) {
            if far == note {
                continue;
            }
            if let Some(RelatedReason::Shares(shared)) = found.get_or_insert(far, RelatedReason::Shares(Vec::new()))
                && shared.last() != Some(&between)
            {
                shared.push(between);
            }
        }
    }
    let mut related: Vec<Related> = found
        .into_entries()
        .map(|(index, reason)| {
            let distance = if matches!(reason, RelatedReason::Shares(_)) { 2 } else { 1 };
            Related { index, distance, reason }
        })
        .collect();
    let kind = |related: &Related| match &related.reason {
        RelatedReason::LinksBothWays => (0, Reverse(0)),
        RelatedReason::LinksHere => (1, Reverse(0)),
        RelatedReason::LinkedFromHere => (2, Reverse(0)),
        RelatedReason::Shares(shared) => (3, Reverse(shared.len())),
    };
    let name = |related: &Related| notes.get(related.index).map(|view| (view.note.title.as_str(), view.path));
    order::sort_slice(&mut related, |a, b| (kind(a), name(a)).cmp(&(kind(b), name(b))));
    related
}

/// A link that leads to no note, or to more than one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeadLink {
    /// The note that has it.
    pub(crate) note: usize,
    /// Its place among the links of the note.
    pub(crate) link: usize,
    /// The notes that it may mean; empty if the link is dead.
    pub(crate) candidates: Vec<usize>,
}

/// Every link that does not lead to one note, in the order of the notes.
pub(crate) fn dead_links(notes: &[NoteView<'_>], resolver: &Resolver<'_>) -> Vec<DeadLink> {
    let mut dead = Vec::new();
    for (note, view) in notes.iter().enumerate() {
        for (number, link) in view.note.links.iter().enumerate() {
            match resolver.resolve(note, link) {
                Resolution::To(_) | Resolution::External => {}
                Resolution::Dead => dead.push(DeadLink { note, link: number, candidates: Vec::new() }),
                Resolution::Ambiguous(candidates) => dead.push(DeadLink { note, link: number, candidates }),
            }
        }
    }
    dead
}

/// A link between two notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    /// Its place among the links of the note.
    pub(crate) link: usize,
    pub(crate) to: usize,
}

/// The links between the notes of a selection, as zk lists them: by the number of the note that has them, then by the
/// path of the target, then in the order of the text.
pub(crate) fn edges(notes: &[NoteView<'_>], links: &LinkTable, selected: &[usize]) -> Vec<Edge> {
    let mut is_selected = vec![false; notes.len()];
    for &note in selected {
        if let Some(place) = is_selected.get_mut(note) {
            *place = true;
        }
    }
    let mut numbers = vec![0; notes.len()];
    for (number, note) in index_order(notes).into_iter().enumerate() {
        if let Some(place) = numbers.get_mut(note) {
            *place = number;
        }
    }
    let is_selected = |note: usize| is_selected.get(note).copied().unwrap_or_default();
    let of_note = |from: usize| {
        let targets = links.targets(from).iter().enumerate();
        targets.filter_map(move |(link, to)| Some(Edge { from, link, to: (*to)? }))
    };
    let mut edges: Vec<Edge> = (0..notes.len())
        .filter(|&from| is_selected(from))
        .flat_map(of_note)
        .filter(|edge| is_selected(edge.to))
        .collect();
    order::sort_slice_by_key(&mut edges, |edge| {
        (numbers.get(edge.from).copied(), numbers.get(edge.to).copied(), edge.link)
    });
    edges
}

/// The links of each note whose blocks a listing shows: those that were followed. A note without them shows its lead.
pub(crate) struct Snippets {
    /// By note: from these, and to these.
    linking: Vec<bool>,
    linked: Vec<bool>,
}

impl Snippets {
    /// For the notes that [`select`](super::select) gives for the filter.
    pub(crate) fn new(notes: &[NoteView<'_>], filter: &NoteFilter) -> Result<Self, Error> {
        let marked = |kind| -> Result<Vec<bool>, Error> {
            let paths = filter.values(kind);
            let mut marked = vec![false; if paths.is_empty() { 0 } else { notes.len() }];
            for note in named(notes, &paths)? {
                if let Some(place) = marked.get_mut(note) {
                    *place = true;
                }
            }
            Ok(marked)
        };
        Ok(Self { linking: marked(ConditionKind::LinkedBy)?, linked: marked(ConditionKind::LinkTo)? })
    }

    /// The links whose blocks are shown for a note, each as the note that has it and its place there.
    pub(crate) fn blocks(&self, notes: &[NoteView<'_>], links: &LinkTable, note: usize) -> Vec<(usize, usize)> {
        let mut blocks = Vec::new();
        let is_marked = |marks: &[bool], note: usize| marks.get(note).copied().unwrap_or_default();
        for from in (0..self.linking.len()).filter(|&from| is_marked(&self.linking, from)) {
            push_blocks(&mut blocks, notes, links, from, |to| to == note);
        }
        if !self.linked.is_empty() {
            push_blocks(&mut blocks, notes, links, note, |to| is_marked(&self.linked, to));
        }
        blocks
    }
}

/// Adds the links of a note that lead where they should.
fn push_blocks(
    blocks: &mut Vec<(usize, usize)>,
    notes: &[NoteView<'_>],
    links: &LinkTable,
    from: usize,
    leads_there: impl Fn(usize) -> bool,
) {
    let Some(view) = notes.get(from) else { return };
    let links = (0..view.note.links.len()).zip(links.targets(from));
    blocks.extend(links.filter(|(_, target)| target.is_some_and(&leads_there)).map(|(link, _)| (from, link)));
}
