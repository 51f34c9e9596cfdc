//! [`Texts`]: the texts of the items of a page, and their passages, which compete.

use core::ops::Range;

use super::super::superseded::without_older;
use super::corpora::{Corpora, Selection};
use super::types::{LEAST_BYTES, PASSAGE_BYTES};
use crate::search::ranked::{CUT, Competed, Fit, Fits, Grams, Passage, Passages, Pool, Query, Ranked, Scored};
use crate::search::{DocId, best_passage};
use saddlebag_collections::{prelude::*, sorted::SortedMap};
use saddlebag_markdown::Note;

/// The best items, whose blocks have competed.
pub(super) struct Contest {
    passages: Passages,
    competed: Competed,
    /// The items, by their indexes and documents.
    items: SortedMap<(usize, DocId), Competitor>,
}

/// An item of a contest.
#[derive(Clone, Copy)]
struct Competitor {
    /// Number among those that compete; `None` if there were too many.
    number: Option<usize>,
    /// How alike the question and its best block are; 0 if that was not asked.
    likeness: f32,
}

/// The texts of the items of a page, whose blocks have competed.
pub(super) struct Texts<'a> {
    passages: Passages,
    competed: Competed,
    items: Vec<Text<'a>>,
}

/// The text of an item, as others may see it.
pub(super) struct Text<'a> {
    /// Place of the item on the page.
    place: usize,
    number: Option<usize>,
    pub(super) text: Cow<'a, str>,
    pub(super) note: Note,
}

/// A passage of an item.
pub(super) struct PassageOf {
    /// Place of the item on the page.
    pub(super) place: usize,
    pub(super) passage: Passage,
    pub(super) score: f32,
}

impl Contest {
    /// Lets the blocks of the items compete. `is_left_out` is a predicate for paths of notes that do not count. With the groups of
    /// letters of a question, the best blocks are compared with them.
    pub(super) fn new(
        corpora: &Corpora<'_>,
        selection: &Selection,
        is_left_out: &dyn Fn(&str) -> bool,
        query: &Query,
        hits: &[Ranked],
        question: Option<&Grams>,
    ) -> Self {
        let mut passages = corpora.with_sources(selection, is_left_out, |sources| Passages::new(sources, query));
        let best = hits.iter().map(|ranked| ranked.score).fold(0.0, f32::max);
        let (mut pool, mut texts) = (Pool::default(), Vec::new());
        for ranked in hits {
            let Some((text, note)) = text_of(corpora, ranked) else { continue };
            let share = if best > 0.0 { ranked.score / best } else { 0.0 };
            let mut headings = note.headings.iter().map(|heading| heading.span.clone());
            let weight = 1.0 + share;
            let number = if corpora.is_session(ranked) {
                pool.add_session(&mut passages, &text, below_title(&text, &note), &mut headings, weight)
            } else {
                pool.add(&mut passages, (&note.title, &text), note.body.clone(), &mut headings, weight)
            };
            texts.push(((ranked.source, ranked.doc), number, text, note.title));
        }
        let competed = pool.compete(&passages);
        let mut items = SortedMap::default();
        for (place, number, text, title) in texts {
            let best = question.zip(number.and_then(|number| competed.best_block(number)));
            let best = best.map(|(question, range)| (question, text.get(range).unwrap_or_default()));
            let likeness = best.map_or(0.0, |(question, block)| question.likeness(&Grams::new(&[&title, block])));
            items.insert(place, Competitor { number, likeness });
        }
        Self { passages, competed, items }
    }

    fn number(&self, ranked: &Ranked) -> Option<usize> {
        self.items.get(&(ranked.source, ranked.doc))?.number
    }

    /// Returns the score of the best block of an item; 0 if it did not compete.
    pub(super) fn best_score(&self, ranked: &Ranked) -> f32 {
        self.number(ranked).map_or(0.0, |number| self.competed.best_score(number))
    }

    /// Returns how alike the question and the best block of an item are.
    pub(super) fn likeness(&self, ranked: &Ranked) -> f32 {
        self.items.get(&(ranked.source, ranked.doc)).map_or(0.0, |item| item.likeness)
    }

    /// Returns true if the best that an item has is the question itself.
    pub(super) fn only_asks(&self, ranked: &Ranked) -> bool {
        self.number(ranked).is_some_and(|number| self.competed.only_asks(number))
    }

    /// Returns true if all items competed, or would have if there had been room.
    pub(super) fn has_all(&self, hits: &[Ranked]) -> bool {
        hits.iter().all(|ranked| self.items.contains_key(&(ranked.source, ranked.doc)))
    }
}

/// Returns the part of a note below its title, which may be in the frontmatter and in a heading.
fn below_title(text: &str, note: &Note) -> Range<usize> {
    let Range { start, end } = note.body;
    let first = note.headings.first().map(|heading| heading.span.clone()).filter(|heading| heading.end <= end);
    let is_first = |heading: &Range<usize>| text.get(start..heading.start).is_some_and(|gap| gap.trim().is_empty());
    let is_title = |heading: &Range<usize>| text.get(heading.clone()).is_some_and(|text| text.ends_with(&note.title));
    first.filter(|heading| is_first(heading) && is_title(heading)).map_or(start, |heading| heading.end)..end
}

/// Returns the text of an item with its note; `None` if it was not read. Others may have written the index, so the text to
/// show is read from the file.
fn text_of<'a>(corpora: &'a Corpora<'_>, ranked: &Ranked) -> Option<(Cow<'a, str>, Note)> {
    let (document, _) = corpora.document(ranked).ok()?;
    let text = document.text.as_deref()?;
    let note = corpora.note_of_text(ranked, document)?;
    Some((without_older(text, &note), note))
}

impl<'a> Texts<'a> {
    /// Reads the items of a page that have competed.
    pub(super) fn new(corpora: &'a Corpora<'_>, contest: Contest, page: &[Ranked]) -> Self {
        let Contest { passages, competed, items: competitors } = contest;
        let items = page.iter().enumerate().filter_map(|(place, ranked)| {
            let (text, note) = text_of(corpora, ranked)?;
            let number = competitors.get(&(ranked.source, ranked.doc)).and_then(|item| item.number);
            Some(Text { place, number, text, note })
        });
        Self { passages, competed, items: items.collect() }
    }

    /// Returns the best passage of an item; `None` if it has no text.
    pub(super) fn best(&mut self, place: usize, max_bytes: usize) -> Option<Passage> {
        let Self { passages, competed, items } = self;
        let item = items.iter().find(|item| item.place == place)?;
        // A file of frontmatter alone says nothing.
        if item.text.get(item.note.body.clone()).is_none_or(|body| body.trim().is_empty()) {
            return None;
        }
        match item.number {
            Some(number) => Some(passages.passage(&item.text, competed.best(number, max_bytes)?, max_bytes)),
            None => best_passage(passages, &item.text, &item.note, max_bytes),
        }
    }

    /// Returns true if the best that an item has is the question itself.
    pub(super) fn only_asks(&self, place: usize) -> bool {
        let number = self.item(place).and_then(|item| item.number);
        number.is_some_and(|number| self.competed.only_asks(number))
    }

    /// Weighs the words of the query.
    pub(super) fn weighed(&self) -> Fits {
        Fits::new(&self.passages)
    }

    /// Returns how well an item fits the whole query; `None` if its text was not read. `key` is that of an entry. Its title is a
    /// name of what it is about, unless `has_title` is false.
    pub(super) fn fit(&mut self, fits: &Fits, place: usize, key: Option<&str>, has_title: bool) -> Option<Fit> {
        let Self { passages, competed, items } = self;
        let item = items.iter().find(|item| item.place == place)?;
        let title = Some(&item.note.title).filter(|_| has_title);
        let of_note = title.into_iter().chain(&item.note.aliases).map(String::as_str);
        let names: Vec<&str> = key.into_iter().chain(of_note).collect();
        Some(fits.of(passages, competed, item.number?, &names))
    }

    /// Returns how well an item fits of which only the words are known.
    pub(super) fn fit_of_terms(&self, fits: &Fits, terms: &[String]) -> Fit {
        fits.of_terms(&self.passages, terms)
    }

    /// Returns the best passages of all items, best first, at most `max_bytes` in all. Neighbours become one. `around` returns
    /// what an item needs beside a passage.
    pub(super) fn fill(&mut self, max_bytes: usize, around: &dyn Fn(usize) -> usize) -> Vec<PassageOf> {
        let Self { passages, competed, items } = self;
        let mut filled: Vec<(&Text<'a>, Range<usize>, f32)> = Vec::new();
        let mut rest = max_bytes;
        for (item, block) in candidates(competed, items) {
            let around = around(item.place);
            // A part of a block is shown only if nothing whole fits.
            let room = rest.saturating_sub(around);
            let most = if filled.is_empty() { PASSAGE_BYTES.min(room) } else { PASSAGE_BYTES };
            if most < LEAST_BYTES.min(block.range.len()) {
                continue;
            }
            let range = passages.passage(&item.text, block.range, most).range;
            let gap = |from: usize, to: usize| item.text.get(from..to).is_some_and(|gap| gap.trim().is_empty());
            let beside = filled.iter_mut().find(|(other, other_range, _)| {
                let is_beside = gap(other_range.end, range.start) || gap(range.end, other_range.start);
                other.place == item.place && is_beside && joined(other_range, &range).len() <= PASSAGE_BYTES
            });
            let more = match &beside {
                Some((_, other, _)) => joined(other, &range).len() - other.len(),
                None => around + with_cuts(&item.text, &range).map_or(0, |text| text.len()),
            };
            let Some(less) = rest.checked_sub(more).filter(|_| !range.is_empty()) else { continue };
            rest = less;
            match beside {
                Some((_, other, _)) => *other = joined(other, &range),
                None => filled.push((item, range, block.score)),
            }
        }
        let passages = filled.into_iter().map(|(item, range, score)| {
            let passage = passages.passage(&item.text, range, PASSAGE_BYTES);
            PassageOf { place: item.place, passage, score }
        });
        passages.collect()
    }

    /// Returns the text of an item; `None` if it was not read.
    pub(super) fn item(&self, place: usize) -> Option<&Text<'a>> {
        self.items.iter().find(|item| item.place == place)
    }
}

/// Returns the blocks of items with words of the query, best first. An item that has such words only in its names has its beginning
/// among them, before the first block of an item that follows it on the page.
fn candidates<'i, 'a>(competed: &Competed, items: &'i [Text<'a>]) -> Vec<(&'i Text<'a>, Scored)> {
    let ranked = competed.ranked();
    let is_named = |item: &&Text<'_>| item.number.is_some_and(|number| ranked.iter().all(|block| block.note != number));
    let beginning = |item: &'i Text<'a>, score: f32| {
        let note = item.number?;
        Some((item, Scored { note, range: competed.best(note, PASSAGE_BYTES)?, score }))
    };
    let mut named = items.iter().filter(is_named).peekable();
    let mut candidates = Vec::new();
    for block in &ranked {
        let Some(item) = items.iter().find(|item| item.number == Some(block.note)) else { continue };
        while let Some(named) = named.next_if(|named| named.place < item.place) {
            candidates.extend(beginning(named, block.score));
        }
        candidates.push((item, block.clone()));
    }
    candidates.extend(named.filter_map(|named| beginning(named, 0.0)));
    candidates
}

/// Returns a part of the text of an item, with a mark where it begins or ends within a line.
pub(super) fn with_cuts(text: &str, range: &Range<usize>) -> Option<String> {
    let is_text = |part: Option<&str>| part.is_some_and(|part| !part.trim().is_empty());
    let before = is_text(text.get(..range.start)?.rsplit('\n').next());
    let after = is_text(text.get(range.end..)?.split('\n').next());
    let part = text.get(range.clone())?;
    Some([if before { CUT } else { "" }, part, if after { CUT } else { "" }].concat())
}

fn joined(one: &Range<usize>, other: &Range<usize>) -> Range<usize> {
    one.start.min(other.start)..one.end.max(other.end)
}
