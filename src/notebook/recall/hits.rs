//! [`RecallHit`]s from ranked items: path, title and passage, as the files have them.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::super::checks::title_or_stem;
use super::super::superseded::without_older;
use super::corpora::{Corpora, Selection};
use super::search::Asked;
use super::types::{PASSAGE_BYTES, RecallHit, ScorePart};
use crate::document::Note;
use crate::protocol::Error;
use crate::search::ranked::{Competed, Passage, Passages, Pool, Query, Ranked};
use crate::search::{IndexedFile, best_passage};
use crate::trust::{ForModel, TrustState};

/// The texts of the items of a page, whose blocks have competed.
pub(super) struct Texts<'a> {
    passages: Passages,
    competed: Competed,
    items: Vec<Text<'a>>,
}

/// The text of an item, as others may see it.
struct Text<'a> {
    /// Place of the item on the page.
    place: usize,
    /// Number of the item among those that compete; `None` if there were too many.
    number: Option<usize>,
    text: Cow<'a, str>,
    note: Note,
}

/// A passage of an item.
pub(super) struct PassageOf {
    /// Place of the item on the page.
    pub(super) place: usize,
    pub(super) passage: Passage,
    pub(super) score: f32,
}

impl<'a> Texts<'a> {
    /// Lets the blocks of the items compete. Others may have written the index, so the text to show is read from the file.
    pub(super) fn new(corpora: &'a Corpora<'_>, selection: &Selection, query: &Query, page: &[Ranked]) -> Self {
        let mut passages = corpora.with_sources(selection, &|_| false, |sources| Passages::new(sources, query));
        let best = page.iter().map(|ranked| ranked.score).fold(0.0, f32::max);
        let (mut pool, mut items) = (Pool::default(), Vec::new());
        for (place, ranked) in page.iter().enumerate() {
            let Ok((document, _)) = corpora.document(ranked) else { continue };
            let Some(text) = document.text.as_deref() else { continue };
            let Some(note) = corpora.note_of_text(ranked, document) else { continue };
            let text = without_older(text, &note);
            let share = if best > 0.0 { ranked.score / best } else { 0.0 };
            let mut headings = note.headings.iter().map(|heading| heading.span.clone());
            let number = pool.add(&mut passages, &text, note.body.clone(), &mut headings, 1.0 + share);
            items.push(Text { place, number, text, note });
        }
        let competed = pool.compete(&passages);
        Self { passages, competed, items }
    }

    /// Returns the best passage of an item; `None` if it has no text.
    pub(super) fn best(&mut self, place: usize, max_bytes: usize) -> Option<Passage> {
        let Self { passages, competed, items } = self;
        let item = items.iter().find(|item| item.place == place)?;
        match item.number {
            Some(number) => Some(passages.passage(&item.text, competed.best(number, max_bytes)?, max_bytes)),
            None => best_passage(passages, &item.text, &item.note, max_bytes),
        }
    }

    /// Returns the best passages of all items, best first, at most `max_bytes` in all. Neighbours become one.
    pub(super) fn fill(&mut self, max_bytes: usize) -> Vec<PassageOf> {
        let Self { passages, competed, items } = self;
        let mut filled: Vec<(&Text<'a>, Range<usize>, f32)> = Vec::new();
        let mut rest = max_bytes;
        for block in competed.ranked() {
            let Some(item) = items.iter().find(|item| item.number == Some(block.note)) else { continue };
            // A part of a block is shown only if nothing whole fits.
            let most = if filled.is_empty() { PASSAGE_BYTES.min(rest) } else { PASSAGE_BYTES };
            let range = passages.passage(&item.text, block.range, most).range;
            let gap = |from: usize, to: usize| item.text.get(from..to).is_some_and(|gap| gap.trim().is_empty());
            let beside = filled.iter_mut().find(|(other, other_range, _)| {
                let is_beside = gap(other_range.end, range.start) || gap(range.end, other_range.start);
                other.place == item.place && is_beside && joined(other_range, &range).len() <= PASSAGE_BYTES
            });
            let more = match &beside {
                Some((_, other, _)) => joined(other, &range).len() - other.len(),
                None => range.len(),
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

    fn item(&self, place: usize) -> Option<&Text<'a>> {
        self.items.iter().find(|item| item.place == place)
    }
}

fn joined(one: &Range<usize>, other: &Range<usize>) -> Range<usize> {
    one.start.min(other.start)..one.end.max(other.end)
}

/// Returns the hit at a place of the page with its passage.
pub(super) fn hit(
    asked: &Asked<'_>,
    corpora: &Corpora<'_>,
    texts: &Texts<'_>,
    (place, ranked): (usize, &Ranked),
    passage: Option<&Passage>,
) -> Result<RecallHit, Error> {
    let scope = &asked.call.scope;
    let (document, entry) = corpora.document(ranked)?;
    let shown = texts.item(place);
    let note = shown.map(|shown| &shown.note);
    let path = document.path.as_str();
    let text = passage.zip(shown).and_then(|(passage, shown)| shown.text.get(passage.range.clone()));
    // Passage and text are of the same file. A hit without its passage is still a hit.
    debug_assert_eq!(text.is_some(), passage.is_some(), "a broken invariant: a passage outside of its text");
    let title = || title_or_stem(note.map_or("", |note| note.title.as_str()), path);
    let of_text = || document.text.as_deref().and_then(|text| TrustState::from_text(text).unapproved());
    let superseded_by = || {
        let (below, of_user) = scope.layout.below_any_notebook(path)?;
        // An unapproved note supersedes nothing.
        let may = |newer: &IndexedFile| {
            let is_beside = scope.layout.is_of_user(newer.path.as_str()) == of_user;
            is_beside && newer.path.as_str() != path && newer.unapproved.is_none()
        };
        let newer = corpora.notes.newer(below, may)?;
        Some(scope.display_path(&newer.path))
    };
    Ok(RecallHit {
        kind: corpora.kind(document, entry),
        path: scope.display_path(&document.path),
        title: entry.map_or_else(title, |entry| entry.key.clone()),
        category: entry.map(|entry| entry.category.clone()),
        date: entry.map(|entry| entry.updated).or_else(|| note?.created()).unwrap_or_default(),
        score: f64::from(ranked.score),
        terms: ranked.terms.clone(),
        fields: ranked.fields.iter().map(|field| field.name().to_string()).collect(),
        lines: passage.map(|passage| alloc::vec![passage.lines.0, passage.lines.1]).unwrap_or_default(),
        passage: text.unwrap_or_default().to_string(),
        superseded_by: if entry.is_none() { superseded_by() } else { None },
        parts: if asked.request.explain { parts(ranked) } else { Vec::new() },
        unapproved: entry.map_or_else(of_text, |entry| entry.unapproved),
        only_in: entry.map(|entry| entry.only_in.clone()).unwrap_or_default(),
    })
}

fn parts(ranked: &Ranked) -> Vec<ScorePart> {
    let words = ranked.parts.iter().map(|part| ScorePart {
        reason: format!("{} (tf {}, idf {:.3})", part.term, part.tf, part.idf),
        field: part.field.name().to_string(),
        amount: f64::from(part.amount),
    });
    let bonuses = [
        ("coverage", ranked.coverage),
        ("phrase", ranked.phrase),
        ("proximity", ranked.proximity),
        ("inherited", ranked.inherited),
    ];
    let bonuses = bonuses.into_iter().filter(|(_, amount)| *amount != 0.0);
    let factor = (ranked.weight != 1.0).then_some(("superseded, as a factor", ranked.weight));
    let others = bonuses.chain(factor).map(|(reason, amount)| ScorePart {
        reason: reason.to_string(),
        field: String::new(),
        amount: f64::from(amount),
    });
    words.chain(others).collect()
}

/// Renders the hits for a model: each with its source, its lines and its passage.
pub(crate) fn render(hits: &[RecallHit]) -> ForModel {
    let mut rendered = ForModel::default();
    for hit in hits {
        if !rendered.is_empty() {
            rendered.push_ours("\n\n");
        }
        let lines = match hit.lines.as_slice() {
            [first, last] if first != last => format!(":{first}-{last}"),
            [first, ..] => format!(":{first}"),
            [] => String::new(),
        };
        let newer = hit.superseded_by.as_ref().map(|newer| format!(" (superseded by {newer})")).unwrap_or_default();
        let mark = hit.mark();
        let block = format!("{}{lines}  {}{newer}{mark}\n{}", hit.path, hit.title, hit.passage.trim_end());
        rendered.push_escaped(&block);
    }
    rendered
}
