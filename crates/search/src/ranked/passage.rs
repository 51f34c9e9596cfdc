//! [`Passages`]: the parts of notes that answer a question best.
//!
//! The body of a note is split into blocks: headings, paragraphs, and the entries of lists and long logs. The blocks of one note, or
//! those of all notes in a [`Pool`], compete: each is scored by BM25, with its rarities in the notes and among the blocks, and
//! by its neighbours, its heading, and its note. A block that a person said in a log of a chat counts more. All of it takes time
//! linear in the text, except for the order of the blocks that have a word.

use core::ops::Range;

use hashbrown::HashMap;

use super::echo::Said;
use super::index::pieces;
use super::language::Language;
use super::plan::{COMPOUND, Plan};
use super::query::Query;
use super::source::{Frequencies, Source, View};
use super::tokens::{TokenKind, Tokens};
use super::weights::{COVERAGE, idf, saturate};
use saddlebag_collections::prelude::*;
use saddlebag_collections::{SlicePart, order};

/// Size in bytes from which a block of several lines is split into its entries.
const LONG_BLOCK: usize = 480;

/// Weight of the length of a block. It is less than that of a note, since blocks differ less.
const B: f32 = 0.5;
/// Part of a neighbour's score that a block gets.
const NEIGHBOUR: f32 = 0.2;
/// Part of the score of its heading that a block gets.
const HEADING: f32 = 0.2;
/// Weight of a word of the title in a block that lacks it.
const TITLE: f32 = 0.5;
/// Factor for the turns of a person in the log of a chat: what people said of themselves is asked for more often than what
/// they were told.
const PERSON: f32 = 1.75;
/// Factor for a block that only asks what the query asks.
const ECHO: f32 = 0.25;

/// Labels of the turns of a person, as chats are written down.
const PERSONS: [&str; 5] = ["user", "human", "me", "person", "asked"];
/// Labels of the turns of a program.
const ASSISTANTS: [&str; 11] =
    ["assistant", "ai", "agent", "bot", "model", "system", "tool", "claude", "chatgpt", "gemini", "answered"];
/// Maximum length of a label.
const MAX_SPEAKER_BYTES: usize = 24;

/// Maximum size of the notes in a pool, in bytes.
const MAX_POOLED_BYTES: usize = 32 << 20;

/// Mark of a passage that begins or ends within a line.
pub const CUT: &str = "…";

/// A part of a note.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// Byte range in the note.
    pub range: Range<usize>,
    /// First and last line, counted from 1.
    pub lines: (u32, u32),
    /// Words of the query that it has, as they are spelled in the query.
    pub terms: Vec<String>,
    /// Byte ranges of these words in the note, ascending, without overlaps.
    pub highlights: Vec<Range<usize>>,
}

/// Finds passages for one query.
pub struct Passages {
    terms: HashMap<Box<[u8]>, Term>,
    pub(super) asked: Vec<Asked>,
    /// Number of notes that count.
    pub(super) notes: u32,
    /// Languages that the function words of the query tell.
    pub(super) languages: Vec<Language>,
    tokens: Tokens,
}

/// A scored term.
#[derive(Clone, Copy)]
struct Term {
    /// Word of the query.
    asked: usize,
    weight: f32,
    /// True if it is only a compound with the word, or a part of it.
    is_compound: bool,
}

/// A word of the query.
pub(super) struct Asked {
    pub(super) text: String,
    pub(super) is_stop_word: bool,
    /// Rarity in the notes.
    pub(super) idf: f32,
    /// 1, or less for a part of a word.
    pub(super) part: f32,
}

/// An occurrence of a word of the query.
pub(super) struct Hit {
    pub(super) span: Range<usize>,
    pub(super) asked: usize,
    pub(super) is_compound: bool,
    weight: f32,
}

pub(super) struct Block {
    range: Range<usize>,
    /// Number of the section, which no other note of the pool has.
    pub(super) section: usize,
    pub(super) is_heading: bool,
    /// True in the turn of a person in the log of a chat.
    is_of_person: bool,
    /// True if it only asks what the query asks.
    only_asks: bool,
    /// Weighed occurrences of the words of the query.
    counts: Vec<(usize, f32)>,
    /// Words of the query that stand in it, not only in compounds.
    pub(super) words: Vec<usize>,
    /// Score; 0 if all of its words of the query are stop words.
    score: f32,
}

impl Block {
    fn new(range: Range<usize>, section: usize, is_heading: bool) -> Self {
        let (counts, words) = (Vec::new(), Vec::new());
        Self { range, section, is_heading, is_of_person: false, only_asks: false, counts, words, score: 0.0 }
    }
}

/// Blocks of several notes that compete.
#[derive(Default)]
pub struct Pool {
    blocks: Vec<Block>,
    notes: Vec<PooledNote>,
    sections: usize,
    bytes: usize,
}

struct PooledNote {
    blocks: Range<usize>,
    /// Factor for the scores of its blocks.
    weight: f32,
}

/// Blocks of several notes with their scores.
pub struct Competed {
    blocks: Vec<Block>,
    notes: Vec<PooledNote>,
}

/// A block that competes.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// Number of the note in its pool.
    pub note: usize,
    /// Byte range in the note.
    pub range: Range<usize>,
    /// Score, which is meaningful only in comparison.
    pub score: f32,
}

impl Passages {
    /// Creates a finder for the words of a query, with all their forms in the indexes.
    pub fn new(sources: &[Source<'_>], query: &Query) -> Self {
        let views = View::of_all(sources);
        let notes = View::counts(&views).docs;
        let plan = Plan::new(&views, query, Frequencies::Counted);
        let mut terms = HashMap::new();
        let mut asked = Vec::new();
        for concept in plan.concepts.into_iter().filter(|concept| concept.is_scored) {
            for (form, weight) in concept.forms.into_iter().flatten() {
                let is_compound = weight <= COMPOUND;
                let term = Term { asked: asked.len(), weight: weight * concept.weight, is_compound };
                let known: &mut Term = terms.entry(form.name).or_insert(term);
                if known.weight < term.weight {
                    *known = term;
                }
            }
            asked.push(Asked {
                text: concept.text,
                is_stop_word: concept.is_stop_word,
                idf: concept.rough_idf,
                part: if concept.is_stop_word { 1.0 } else { concept.weight },
            });
        }
        Self { terms, asked, notes, languages: query.languages.clone(), tokens: Tokens::default() }
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
        let mut blocks = self.read(text, body, headings, 0, false);
        self.score(&mut blocks);
        let range = widened(&blocks, max_bytes)?;
        Some(self.passage(text, range, max_bytes))
    }

    /// Returns a part of a note as a passage. A part that is too long is cut to the window with most of the query.
    pub fn passage(&mut self, text: &str, range: Range<usize>, max_bytes: usize) -> Passage {
        let hits = self.hits(text, &range);
        let range = fit(text, range, &hits, max_bytes);
        let mut highlights: Vec<Range<usize>> = Vec::new();
        let mut found = vec![false; self.asked.len()];
        for hit in hits.iter().filter(|hit| range.start <= hit.span.start && hit.span.end <= range.end) {
            let Some((found, asked)) = found.get_mut(hit.asked).zip(self.asked.get(hit.asked)) else { continue };
            if asked.is_stop_word {
                continue;
            }
            *found = true;
            match highlights.last_mut() {
                Some(last) if hit.span.start <= last.end => last.end = last.end.max(hit.span.end),
                _ => highlights.push(hit.span.clone()),
            }
        }
        let found = self.asked.iter().zip(found).filter(|(_, found)| *found);
        let terms = found.map(|(asked, _)| asked.text.clone()).collect();
        let first = 1 + newlines(text, 0..range.start);
        let lines = (first, first + newlines(text, range.clone()));
        Passage { range, lines, terms, highlights }
    }

    /// Splits the body of a note into blocks, and counts the words of the query in each. `sections` is the number of sections
    /// before. `has_prompts` is true for a note of a session.
    fn read(
        &mut self,
        text: &str,
        body: Range<usize>,
        headings: &mut dyn Iterator<Item = Range<usize>>,
        sections: usize,
        has_prompts: bool,
    ) -> Vec<Block> {
        let body = body.start.min(text.len())..body.end.min(text.len());
        let body =
            if text.get(body.clone()).is_some_and(|body| !body.trim().is_empty()) { body } else { 0..text.len() };
        let hits = self.hits(text, &body);
        let mut blocks = blocks(text, &body, headings, sections);
        let mut hits = hits.iter().peekable();
        let mut is_of_person = false;
        let mut spans = Vec::new();
        let says = (0..).zip(&self.asked).filter(|(_, asked)| !asked.is_stop_word).map(|(number, _)| number);
        let says: Vec<usize> = says.collect();
        for block in &mut blocks {
            let written = text.get(block.range.clone()).unwrap_or_default();
            let turn = speaker(written);
            is_of_person = turn.unwrap_or(is_of_person);
            block.is_of_person = is_of_person;
            // The label of a turn is not said.
            let said = written.find(':').filter(|_| turn.is_some()).map_or(0, |colon| colon + 1);
            let start = block.range.start + said;
            spans.clear();
            while hits.next_if(|hit| hit.span.start < block.range.start).is_some() {}
            while let Some(hit) = hits.next_if(|hit| hit.span.start < block.range.end) {
                if !hit.is_compound && !block.words.contains(&hit.asked) {
                    block.words.push(hit.asked);
                }
                if hit.span.start >= start {
                    spans.push(hit.span.start - start..hit.span.end - start);
                }
                match block.counts.iter_mut().find(|(asked, _)| *asked == hit.asked) {
                    Some((_, count)) => *count += hit.weight,
                    None => block.counts.push((hit.asked, hit.weight)),
                }
            }
            // One word is a subject and not yet a question.
            let has_all = says.len() > 1 && says.iter().all(|asked| block.words.contains(asked));
            let is_of_person = is_of_person || has_prompts;
            let text = written.get(said..).unwrap_or_default();
            block.only_asks = !block.is_heading && Said { text, spans: &spans, has_all, is_of_person }.only_asks();
        }
        blocks
    }

    /// Returns the occurrences of the query's words, sorted by start.
    pub(super) fn hits(&mut self, text: &str, body: &Range<usize>) -> Vec<Hit> {
        let mut hits: Vec<Hit> = Vec::new();
        let mut start = body.start;
        for piece in pieces(text.get(body.clone()).unwrap_or_default()) {
            self.tokens.read(piece, 0);
            for token in self.tokens.iter().filter(|token| token.kind != TokenKind::Last) {
                if let Some(&Term { asked, weight, is_compound }) = self.terms.get(token.text) {
                    let span = start + token.span.start..start + token.span.end;
                    hits.push(Hit { span, asked, is_compound, weight });
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

    /// Adds the words of a title to the blocks that have words of the query and lack these.
    fn add_title(&mut self, title: &str, blocks: &mut [Block]) {
        for hit in self.hits(title, &(0..title.len())) {
            for block in blocks.iter_mut().filter(|block| !block.counts.is_empty()) {
                if block.counts.iter().all(|(asked, _)| *asked != hit.asked) {
                    block.counts.push((hit.asked, TITLE * hit.weight));
                }
            }
        }
    }

    /// Scores blocks that compete.
    fn score(&self, blocks: &mut [Block]) {
        let idfs = self.idfs(blocks);
        let says = |(asked, idf): (&Asked, &f32)| if asked.is_stop_word { 0.0 } else { *idf };
        let total: f32 = self.asked.iter().zip(&idfs).map(says).sum();
        let bytes: usize = blocks.iter().map(|block| block.range.len()).sum();
        let mean = (bytes / blocks.len().max(1)).max(1) as f32;
        for block in blocks.iter_mut() {
            let length = 1.0 - B + B * block.range.len() as f32 / mean;
            let (mut sum, mut mass) = (0.0, 0.0);
            for (asked, count) in &block.counts {
                let Some((asked, idf)) = self.asked.get(*asked).zip(idfs.get(*asked)) else { continue };
                sum += idf * saturate(count / length);
                mass += says((asked, idf));
            }
            let person = if block.is_of_person { PERSON } else { 1.0 };
            block.score = if mass > 0.0 { sum * (1.0 + COVERAGE * mass / total) * person } else { 0.0 };
        }
        let (mut before, mut heading) = (0.0, 0.0);
        let mut section = None;
        for place in 0..blocks.len() {
            let next = blocks.get(place + 1).map(|next| (next.section, next.score));
            let Some(block) = blocks.get_mut(place) else { break };
            if section != Some(block.section) {
                (section, before, heading) = (Some(block.section), 0.0, 0.0);
            }
            let own = block.score;
            if own > 0.0 {
                let next = next.filter(|(section, _)| *section == block.section).map_or(0.0, |(_, score)| score);
                block.score += NEIGHBOUR * (before + next) + HEADING * heading;
            }
            before = own;
            if block.is_heading {
                heading = own;
            }
        }
        // What stands beside a question may answer it, and keeps its part of the score.
        blocks.iter_mut().filter(|block| block.only_asks).for_each(|block| block.score *= ECHO);
    }

    /// Returns the rarities of the words of the query: in the notes, and among the blocks.
    fn idfs(&self, blocks: &[Block]) -> Vec<f32> {
        let mut having = vec![0_u32; self.asked.len()];
        for (asked, _) in blocks.iter().flat_map(|block| &block.counts) {
            if let Some(having) = having.get_mut(*asked) {
                *having += 1;
            }
        }
        let all = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
        self.asked.iter().zip(having).map(|(asked, having)| asked.idf + idf(all, having)).collect()
    }
}

impl Pool {
    /// Adds a note, and returns its number. `body` and `headings` are those of [`Passages::best`]; `weight` is a factor for the
    /// scores of its blocks. The words of the title count in every block that has a word of the query. `None` if the pool is
    /// full: the note does not compete then.
    pub fn add(
        &mut self,
        passages: &mut Passages,
        (title, text): (&str, &str),
        body: Range<usize>,
        headings: &mut dyn Iterator<Item = Range<usize>>,
        weight: f32,
    ) -> Option<usize> {
        self.make_room(text)?;
        let mut blocks = passages.read(text, body, headings, self.sections, false);
        passages.add_title(title, &mut blocks);
        Some(self.push(blocks, weight))
    }

    /// Adds the note of a session, like [`add`](Self::add). It has the prompts of a person, and the first one is its title, which
    /// does not count.
    pub fn add_session(
        &mut self,
        passages: &mut Passages,
        text: &str,
        body: Range<usize>,
        headings: &mut dyn Iterator<Item = Range<usize>>,
        weight: f32,
    ) -> Option<usize> {
        self.make_room(text)?;
        let blocks = passages.read(text, body, headings, self.sections, true);
        Some(self.push(blocks, weight))
    }

    /// Counts the bytes of a note. `None` if it has no room.
    fn make_room(&mut self, text: &str) -> Option<()> {
        self.bytes = self.bytes.saturating_add(text.len());
        (self.bytes <= MAX_POOLED_BYTES || self.notes.is_empty()).then_some(())
    }

    fn push(&mut self, blocks: Vec<Block>, weight: f32) -> usize {
        let first = self.blocks.len();
        self.blocks.extend(blocks);
        self.sections = self.blocks.last().map_or(self.sections, |last| last.section + 1);
        self.notes.push(PooledNote { blocks: first..self.blocks.len(), weight });
        self.notes.len() - 1
    }

    /// Scores the blocks of all notes.
    pub fn compete(self, passages: &Passages) -> Competed {
        let Self { mut blocks, notes, .. } = self;
        passages.score(&mut blocks);
        for note in &notes {
            let blocks = blocks.get_mut(note.blocks.clone()).into_iter().flatten();
            blocks.for_each(|block| block.score *= note.weight);
        }
        Competed { blocks, notes }
    }
}

impl Competed {
    /// Returns the best part of a note, at most `max_bytes` unless it is one block; `None` if the note has no text.
    pub fn best(&self, note: usize, max_bytes: usize) -> Option<Range<usize>> {
        widened(self.blocks_of(note), max_bytes)
    }

    /// Returns the blocks of a note.
    pub(super) fn blocks_of(&self, note: usize) -> &[Block] {
        self.notes.get(note).map(|note| self.blocks.part(note.blocks.clone())).unwrap_or_default()
    }

    /// Returns the score of the best block of a note; 0 if it has no word of the query.
    pub fn best_score(&self, note: usize) -> f32 {
        self.blocks_of(note).iter().map(|block| block.score).fold(0.0, f32::max)
    }

    /// Returns the range of the best block of a note.
    pub fn best_block(&self, note: usize) -> Option<Range<usize>> {
        widened(self.blocks_of(note), 0)
    }

    /// Returns true if the block of a note with most of the query only asks what the query asks.
    pub fn only_asks(&self, note: usize) -> bool {
        let most = |asks: bool| {
            let blocks = self.blocks_of(note).iter().filter(|block| block.only_asks == asks);
            blocks.map(|block| block.score).fold(0.0, f32::max)
        };
        most(true) / ECHO > most(false)
    }

    /// Returns the blocks with words of the query that are not headings, best first.
    pub fn ranked(&self) -> Vec<Scored> {
        let of_notes = self.notes.iter().enumerate();
        let blocks = of_notes.flat_map(|(number, note)| {
            let blocks = self.blocks.part(note.blocks.clone()).iter();
            blocks.map(move |block| (number, block))
        });
        let blocks = blocks.filter(|(_, block)| block.score > 0.0 && !block.is_heading);
        let mut ranked: Vec<Scored> =
            blocks.map(|(note, block)| Scored { note, range: block.range.clone(), score: block.score }).collect();
        order::sort_slice(&mut ranked, |a, b| {
            b.score.total_cmp(&a.score).then(a.note.cmp(&b.note)).then(a.range.start.cmp(&b.range.start))
        });
        ranked
    }
}

/// Returns true if a block begins the turn of a person in the log of a chat, false if it begins that of another speaker; `None` if it
/// begins no turn.
fn speaker(block: &str) -> Option<bool> {
    let line = block.trim_start_matches(['#', '*', '_', '>', '-', ' ']);
    let end = line.find(':').filter(|end| *end <= MAX_SPEAKER_BYTES)?;
    let name = line.get(..end)?.trim_end_matches(['*', '_', ' ']);
    let is = |names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
    match () {
        () if is(&PERSONS) => Some(true),
        () if is(&ASSISTANTS) => Some(false),
        () => None,
    }
}

/// Returns the best block with its neighbours, as far as there is room.
fn widened(blocks: &[Block], max_bytes: usize) -> Option<Range<usize>> {
    let mut best: Option<(usize, f32)> = None;
    for (place, block) in blocks.iter().enumerate() {
        if best.is_none_or(|(_, best)| best < block.score) {
            best = Some((place, block.score));
        }
    }
    Some(widen(blocks, best?.0, max_bytes))
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
    let max_bytes = max_bytes.saturating_sub(2 * CUT.len());
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
    let end = text.floor_char_boundary((start + max_bytes).min(range.end)).max(start);
    // No word is cut where words have spaces between them.
    let space = |place: Range<usize>| text.get(place).unwrap_or_default();
    let skipped = space(start..best.start).find(char::is_whitespace).filter(|_| start > range.start);
    let kept = space(best.end..end).rfind(char::is_whitespace).filter(|_| end < range.end);
    start + skipped.map_or(0, |space| space + 1)..kept.map_or(end, |space| best.end + space)
}

/// Splits the body into blocks, in order. Together they have every line that is not blank.
fn blocks(
    text: &str,
    body: &Range<usize>,
    headings: &mut dyn Iterator<Item = Range<usize>>,
    sections: usize,
) -> Vec<Block> {
    let mut headings = headings.peekable();
    let mut blocks: Vec<Block> = Vec::new();
    let mut paragraph: Vec<Range<usize>> = Vec::new();
    let mut section = sections;
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
                    blocks.push(Block::new(range, section, true));
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

/// Creates one block from lines or, if they are many or a list, one per entry.
fn end_paragraph(text: &str, lines: &mut Vec<Range<usize>>, section: usize, blocks: &mut Vec<Block>) {
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return };
    let is_long = last.end - first.start > LONG_BLOCK;
    let mut is_first = true;
    for line in lines.iter() {
        let written = text.get(line.clone()).unwrap_or_default();
        // An indented line belongs to the entry above.
        let begins = if is_long { !written.starts_with([' ', '\t']) } else { is_list_item(written) };
        let above = blocks.last_mut().filter(|above| !is_first && line.end - above.range.start <= LONG_BLOCK);
        match above.filter(|_| !begins) {
            Some(entry) => entry.range.end = line.end,
            None => blocks.push(Block::new(line.clone(), section, false)),
        }
        is_first = false;
    }
    lines.clear();
}

/// Returns true if a line begins an item of a list that is not indented.
fn is_list_item(line: &str) -> bool {
    let rest = line.strip_prefix(['-', '*', '+']).or_else(|| {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        (rest.len() < line.len()).then(|| rest.strip_prefix(['.', ')']))?
    });
    rest.is_some_and(|rest| rest.starts_with(' '))
}

fn newlines(text: &str, range: Range<usize>) -> u32 {
    let bytes = text.as_bytes().part(range);
    u32::try_from(memchr::memchr_iter(b'\n', bytes).count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use core::cmp::Reverse;

    use super::super::{Fields, RankedIndex};
    use super::*;
    use proptest::prelude::*;

    /// Returns the best passage of a note, with its headings as the parser would find them.
    fn best_of(text: &str, query: &str, max_bytes: usize) -> Option<Passage> {
        let mut index = RankedIndex::default();
        index.insert(0, &Fields { body: text, ..Fields::default() });
        index.insert(1, &Fields { body: "something else", ..Fields::default() });
        let query = Query::parse(query).unwrap();
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

    /// Returns the blocks of notes, best first, as note and text.
    fn ranked<'t>(texts: &[&'t str], query: &str) -> Vec<(usize, &'t str)> {
        let mut index = RankedIndex::default();
        for (number, text) in (0..).zip(texts) {
            index.insert(number, &Fields { body: text, ..Fields::default() });
        }
        let query = Query::parse(query).unwrap();
        let mut passages = Passages::new(&[Source::new(&index, &|_| (Reverse(0), ""))], &query);
        let mut pool = Pool::default();
        for text in texts {
            pool.add(&mut passages, ("", text), 0..text.len(), &mut headings(text).into_iter(), 1.0).unwrap();
        }
        let ranked = pool.compete(&passages).ranked();
        ranked.into_iter().map(|block| (block.note, &texts[block.note][block.range])).collect()
    }

    #[test]
    fn blocks_of_all_notes_compete_and_several_of_one_may_win() {
        let port = "# Ports\n\nStaging listens on port 8443.\n\nNothing here.\n\nProduction listens on port 443.\n";
        let found = ranked(&["The harbour is a port.\n", port], "which port does production listen on?");
        let expected = [
            (1, "Production listens on port 443."),
            (1, "Staging listens on port 8443."),
            (0, "The harbour is a port."),
        ];
        assert_eq!(found, expected);
        assert_eq!(ranked(&[port], "of the and"), []);
    }

    #[test]
    fn what_a_person_said_in_a_chat_counts_more() {
        let chat = "user: My daughter is 12.\n\nassistant: Your daughter is 12.\n\n**User:** Her dog is old.\n\nThe daughter.\n";
        let found = ranked(&[chat, "Else.\n"], "daughter");
        assert_eq!(found[0].1, "The daughter.");
        assert_eq!(found[2].1, "assistant: Your daughter is 12.");
    }

    #[test]
    fn a_block_that_only_asks_counts_less_than_an_answer() {
        let asked = "Which port does staging listen on?\n\nNothing here.\n";
        let fact = "Staging listens on port 8443.\n";
        let query = "which port does staging listen on?";
        assert_eq!(ranked(&[asked, fact], query)[0], (1, "Staging listens on port 8443."));
        let chat = "user: which port does staging listen on\n\nassistant: Staging is on port 8443.\n";
        assert_eq!(ranked(&[chat, "Else.\n"], query)[0].1, "assistant: Staging is on port 8443.");
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
        assert_eq!((passage.range.start, passage.terms.len()), (0, 0));
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
