//! [`Passages`]: the part of a note that matches a query best.
//!
//! The body is split into blocks: headings, paragraphs, and the entries of long lists and logs. A block scores its words of the
//! query, plus half of the score of each neighbour in its section. The best block is then extended, as far as there is room, by
//! neighbours with words of the query, and by the heading above it. All of it takes time linear in the text.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use hashbrown::HashMap;

use super::index::pieces;
use super::plan::Plan;
use super::query::Query;
use super::source::{Frequencies, Source, View};
use super::tokens::{TokenKind, Tokens};
use saddlebag_collections::SlicePart;

/// Size in bytes from which a block of several lines is split into its entries.
const LONG_BLOCK: usize = 480;

/// A part of a note.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// Byte range in the note.
    pub range: Range<usize>,
    /// First and last line, counted from 1.
    pub lines: (u32, u32),
    /// Score of its best block; 0 if it has no word of the query.
    pub score: f32,
    /// Words of the query that it has, as they are spelled in the query.
    pub terms: Vec<String>,
    /// Byte ranges of these words in the note, ascending, without overlaps.
    pub highlights: Vec<Range<usize>>,
}

/// Finds passages for one query, note after note.
pub struct Passages {
    /// Word of the query and weight for each scored term.
    terms: HashMap<Box<[u8]>, (usize, f32)>,
    /// Words of the query, each with true if it is a stop word.
    asked: Vec<(String, bool)>,
    tokens: Tokens,
}

/// An occurrence of a word of the query.
struct Hit {
    span: Range<usize>,
    asked: usize,
    weight: f32,
}

struct Block {
    range: Range<usize>,
    /// Number of the section.
    section: usize,
    is_heading: bool,
    score: f32,
}

impl Passages {
    /// Creates a finder for the words of a query, with all their forms in the indexes.
    pub fn new(sources: &[Source<'_>], query: &Query) -> Self {
        let plan = Plan::new(&View::of_all(sources), query, Frequencies::Counted);
        let mut terms = HashMap::new();
        let mut asked = Vec::new();
        for concept in plan.concepts.into_iter().filter(|concept| concept.is_scored) {
            let says = concept.rough_idf * concept.weight;
            for (form, weight) in concept.forms.into_iter().flatten() {
                let weighed = (asked.len(), weight * says);
                let known: &mut (usize, f32) = terms.entry(form.name).or_insert(weighed);
                if known.1 < weighed.1 {
                    *known = weighed;
                }
            }
            asked.push((concept.text, concept.is_stop_word));
        }
        Self { terms, asked, tokens: Tokens::default() }
    }

    /// Returns the best passage of a note, at most `max_bytes`; its beginning if it has no word of the query. `None`
    /// if the note has no text.
    ///
    /// `body` is the part of the text that is searched; if it is blank, the whole text is. `headings` are the ranges
    /// of the headings, in order.
    pub fn best(
        &mut self,
        text: &str,
        body: Range<usize>,
        headings: &mut dyn Iterator<Item = Range<usize>>,
        max_bytes: usize,
    ) -> Option<Passage> {
        let body = body.start.min(text.len())..body.end.min(text.len());
        let body =
            if text.get(body.clone()).is_some_and(|body| !body.trim().is_empty()) { body } else { 0..text.len() };
        let hits = self.hits(text, &body);
        let mut blocks = blocks(text, &body, headings);
        self.score(&mut blocks, &hits);
        let (best, score) = best_block(&blocks)?;
        let range = fit(text, widen(&blocks, best, max_bytes), &hits, max_bytes);
        let mut highlights: Vec<Range<usize>> = Vec::new();
        let mut found = alloc::vec![false; self.asked.len()];
        for hit in hits.iter().filter(|hit| range.start <= hit.span.start && hit.span.end <= range.end) {
            let Some((asked, (_, is_stop_word))) = found.get_mut(hit.asked).zip(self.asked.get(hit.asked)) else {
                continue;
            };
            if *is_stop_word {
                continue;
            }
            *asked = true;
            match highlights.last_mut() {
                Some(last) if hit.span.start <= last.end => last.end = last.end.max(hit.span.end),
                _ => highlights.push(hit.span.clone()),
            }
        }
        let found = self.asked.iter().zip(found).filter(|(_, found)| *found);
        let terms = found.map(|((text, _), _)| text.clone()).collect();
        let first = 1 + newlines(text, 0..range.start);
        let lines = (first, first + newlines(text, range.clone()));
        Some(Passage { range, lines, score, terms, highlights })
    }

    /// Returns the occurrences of the query's words, sorted by start.
    fn hits(&mut self, text: &str, body: &Range<usize>) -> Vec<Hit> {
        let mut hits: Vec<Hit> = Vec::new();
        let mut start = body.start;
        for piece in pieces(text.get(body.clone()).unwrap_or_default()) {
            self.tokens.read(piece, 0);
            for token in self.tokens.iter().filter(|token| token.kind != TokenKind::Last) {
                if let Some(&(asked, weight)) = self.terms.get(token.text) {
                    hits.push(Hit { span: start + token.span.start..start + token.span.end, asked, weight });
                }
            }
            start += piece.len();
        }
        // Only a whole comes after its parts, so this takes few steps.
        for end in 1..hits.len() {
            let mut at = end;
            while at > 0 && hits.get(at - 1).zip(hits.get(at)).is_some_and(|(a, b)| a.span.start > b.span.start) {
                hits.swap(at - 1, at);
                at -= 1;
            }
        }
        hits
    }

    /// Scores each block by its words of the query. A repeated word adds less.
    fn score(&self, blocks: &mut [Block], hits: &[Hit]) {
        let mut hits = hits.iter().peekable();
        // Weight and number of occurrences of each word in the block.
        let mut counts: Vec<(usize, u32)> = alloc::vec![(usize::MAX, 0); self.asked.len()];
        for (number, block) in blocks.iter_mut().enumerate() {
            while hits.next_if(|hit| hit.span.start < block.range.start).is_some() {}
            while let Some(hit) = hits.next_if(|hit| hit.span.start < block.range.end) {
                let Some((last_block, count)) = counts.get_mut(hit.asked) else { continue };
                *count = if *last_block == number { *count + 1 } else { 1 };
                *last_block = number;
                // 1, then a third, a sixth, a tenth of it, …: never more than twice in all.
                block.score += hit.weight * 2.0 / (*count as f32 * (*count as f32 + 1.0));
            }
        }
    }
}

/// Returns the block with the greatest score, half of its neighbours' included.
fn best_block(blocks: &[Block]) -> Option<(usize, f32)> {
    let mut best: Option<(usize, f32)> = None;
    for (number, block) in blocks.iter().enumerate() {
        let beside = |other: Option<usize>| {
            let other = other.and_then(|other| blocks.get(other)).filter(|other| other.section == block.section);
            other.map_or(0.0, |other| other.score / 2.0)
        };
        let score = block.score + beside(number.checked_sub(1)) + beside(Some(number + 1));
        if best.is_none_or(|(_, best)| best < score) {
            best = Some((number, score));
        }
    }
    best
}

/// Adds neighbours of the same section as far as there is room: those with words of the query, the heading, then what
/// follows.
fn widen(blocks: &[Block], best: usize, max_bytes: usize) -> Range<usize> {
    let Some(block) = blocks.get(best) else { return 0..0 };
    let (mut first, mut last, mut range) = (best, best, block.range.clone());
    let neighbour = |number: Option<usize>| {
        let other = number.and_then(|number| blocks.get(number));
        other.filter(|other| other.section == block.section)
    };
    loop {
        let room = |range: &Range<usize>, other: &&Block| {
            range.end.max(other.range.end) - range.start.min(other.range.start) <= max_bytes
        };
        let before = neighbour(first.checked_sub(1)).filter(|other| room(&range, other));
        let after = neighbour(Some(last + 1)).filter(|other| room(&range, other));
        let is_better = |a: &Block, b: Option<&Block>| a.score > 0.0 && b.is_none_or(|b| a.score >= b.score);
        match (before, after) {
            (Some(other), after) if is_better(other, after) || other.is_heading => {
                range.start = other.range.start;
                first -= 1;
            }
            (_, Some(other)) if other.score > 0.0 || blocks.get(last).is_some_and(|last| last.is_heading) => {
                range.end = other.range.end;
                last += 1;
            }
            _ => return range,
        }
    }
}

/// Cuts a block that is too long to the window with most of the query.
fn fit(text: &str, range: Range<usize>, hits: &[Hit], max_bytes: usize) -> Range<usize> {
    if range.len() <= max_bytes {
        return range;
    }
    let inside = hits.iter().filter(|hit| range.contains(&hit.span.start));
    let inside: Vec<&Hit> = inside.collect();
    let (mut best, mut most, mut sum, mut first) = (range.start..range.start, 0.0, 0.0, 0);
    for hit in &inside {
        sum += hit.weight;
        while let Some(earliest) = inside.get(first).filter(|earliest| hit.span.end > earliest.span.start + max_bytes) {
            sum -= earliest.weight;
            first += 1;
        }
        if sum > most {
            most = sum;
            best = inside.get(first).map_or(hit.span.start, |first| first.span.start)..hit.span.end;
        }
    }
    // The remaining room is divided between both sides.
    let spare = max_bytes.saturating_sub(best.len()) / 2;
    let start = best.start.saturating_sub(spare).clamp(range.start, range.end - max_bytes);
    let start = text.ceil_char_boundary(start);
    start..text.floor_char_boundary((start + max_bytes).min(range.end)).max(start)
}

/// Splits the body into blocks, in order. Together they have every line that is not blank.
fn blocks(text: &str, body: &Range<usize>, headings: &mut dyn Iterator<Item = Range<usize>>) -> Vec<Block> {
    let mut headings = headings.peekable();
    let mut blocks: Vec<Block> = Vec::new();
    let mut paragraph: Vec<Range<usize>> = Vec::new();
    let mut section = 0;
    let mut start = body.start;
    let rest = text.get(body.clone()).unwrap_or_default();
    for line in rest.split_inclusive('\n') {
        let range = start..start + line.trim_end().len();
        start += line.len();
        while headings.next_if(|heading| heading.end <= range.start).is_some() {}
        let heading = headings.peek().filter(|heading| heading.start < range.end.max(range.start + 1));
        if let Some(heading) = heading {
            end_paragraph(text, &mut paragraph, section, &mut blocks);
            // The second line of a heading is part of it.
            match blocks.last_mut().filter(|last| last.is_heading && last.range.start >= heading.start) {
                Some(last) => last.range.end = last.range.end.max(range.end),
                None => {
                    section += 1;
                    blocks.push(Block { range, section, is_heading: true, score: 0.0 });
                }
            }
        } else if line.trim().is_empty() {
            end_paragraph(text, &mut paragraph, section, &mut blocks);
        } else {
            paragraph.push(range);
        }
    }
    end_paragraph(text, &mut paragraph, section, &mut blocks);
    blocks
}

/// Creates one block from lines or, if they are many, one per entry.
fn end_paragraph(text: &str, lines: &mut Vec<Range<usize>>, section: usize, blocks: &mut Vec<Block>) {
    let new = |range| Block { range, section, is_heading: false, score: 0.0 };
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return };
    let all = first.start..last.end;
    if all.len() <= LONG_BLOCK {
        blocks.push(new(all));
    } else {
        let mut is_first = true;
        for line in lines.iter() {
            // An indented line belongs to the entry above.
            let is_indented = text.get(line.clone()).is_some_and(|line| line.starts_with([' ', '\t']));
            match blocks.last_mut().filter(|last| is_indented && !is_first && line.end - last.range.start <= LONG_BLOCK)
            {
                Some(entry) => entry.range.end = line.end,
                None => blocks.push(new(line.clone())),
            }
            is_first = false;
        }
    }
    lines.clear();
}

fn newlines(text: &str, range: Range<usize>) -> u32 {
    let bytes = text.as_bytes().part(range);
    u32::try_from(memchr::memchr_iter(b'\n', bytes).count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use core::cmp::Reverse;

    use super::super::{Fields, Joining, RankedIndex};
    use super::*;
    use proptest::prelude::*;

    /// Returns the best passage of a note, with its headings as the parser would find them.
    fn best_of(text: &str, query: &str, max_bytes: usize) -> Option<Passage> {
        let mut index = RankedIndex::default();
        index.insert(0, &Fields { body: text, ..Fields::default() });
        index.insert(1, &Fields { body: "something else", ..Fields::default() });
        let query = Query::parse(query, Joining::Any).unwrap();
        let mut passages = Passages::new(&[Source::new(&index, &|_| (Reverse(0), ""))], &query);
        passages.best(text, 0..text.len(), &mut headings(text).into_iter(), max_bytes)
    }

    fn headings(text: &str) -> Vec<Range<usize>> {
        let mut headings = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let span = start..start + line.trim_end().len();
            start += line.len();
            if line.starts_with("# ") {
                headings.push(span);
            }
        }
        headings
    }

    const NOTE: &str = "# Database\n\nPostgres listens on port 5432.\n\nIt is fast.\n\n# Deploy\n\n\
        The deploys run at night.\n\nStaging is deployed first.\n";

    #[test]
    fn the_best_section_is_found() {
        let passage = best_of(NOTE, "when do we deploy staging?", 1000).unwrap();
        assert_eq!(&NOTE[passage.range.clone()], "# Deploy\n\nThe deploys run at night.\n\nStaging is deployed first.");
        assert_eq!(passage.lines, (7, 11));
        assert_eq!(passage.terms, ["deploy", "staging"]);
        let highlighted: Vec<&str> = passage.highlights.iter().map(|range| &NOTE[range.clone()]).collect();
        assert_eq!(highlighted, ["Deploy", "deploys", "Staging", "deployed"]);
    }

    #[test]
    fn a_heading_takes_what_follows_it() {
        let passage = best_of(NOTE, "database", 1000).unwrap();
        assert_eq!(&NOTE[passage.range], "# Database\n\nPostgres listens on port 5432.");
    }

    #[test]
    fn a_long_log_is_searched_entry_by_entry() {
        let mut log: String = (0..2000).map(|i| format!("- 10:{:02} nothing happened again\n", i % 60)).collect();
        log.push_str("- 11:00 the zanzibar incident\n  was resolved\n- 11:01 quiet\n");
        let passage = best_of(&log, "zanzibar incident", 200).unwrap();
        assert_eq!(&log[passage.range], "- 11:00 the zanzibar incident\n  was resolved");
        assert_eq!(passage.lines, (2001, 2002));
    }

    #[test]
    fn one_long_line_is_cut_around_the_words() {
        let text = format!("{}needle{}", "é ".repeat(5000), " ü".repeat(5000));
        let passage = best_of(&text, "needle", 100).unwrap();
        assert!(passage.range.len() <= 100 && text[passage.range.clone()].contains("needle"));
    }

    #[test]
    fn a_note_without_the_words_gives_its_beginning() {
        let passage = best_of(NOTE, "zebra", 40).unwrap();
        assert_eq!((passage.range.start, passage.score), (0, 0.0));
        assert_eq!(best_of("", "zebra", 40), None);
    }

    proptest! {
        #[test]
        fn passages_are_parts_of_the_text(
            text in "(# [a-c]{1,3}\n|[a-c日é]{1,9}[ \n]|  \n|- [a-c ]{0,600}\n){0,12}",
            query in "[a-c日 ]{1,9}[a-c]",
            max_bytes in 0_usize..300,
        ) {
            if let Some(passage) = best_of(&text, &query, max_bytes) {
                prop_assert!(text.get(passage.range.clone()).is_some());
                prop_assert!(passage.range.len() <= max_bytes);
                let lines = text[..passage.range.end].matches('\n').count() + 1;
                prop_assert!(passage.lines.0 >= 1 && passage.lines.0 <= passage.lines.1);
                prop_assert_eq!(passage.lines.1 as usize, lines);
                for pair in passage.highlights.windows(2) {
                    prop_assert!(pair[0].end < pair[1].start);
                }
                prop_assert!(passage.highlights.iter().all(|range| text.get(range.clone()).is_some()));
            }
        }
    }
}
