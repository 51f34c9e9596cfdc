//! The part of a body that shows a match, as FTS5's `snippet` cuts it.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use saddlebag_collections::order;

use super::scan::{Row, Scanner};
use super::search::{FullText, collect};
use super::tokens;
use saddlebag_collections::TextPart;

/// Number of tokens that are shown.
const TOKENS: usize = 20;

/// Mark for text that is left out.
const ELLIPSIS: &str = "…";

/// The column of the body.
const BODY: usize = 2;

/// The score of the first match of a phrase, and of every further one.
const FIRST_MATCH: u32 = 1000;
const NEXT_MATCH: u32 = 1;

/// The score of the beginning of the text, and of a sentence.
const TEXT_START: u32 = 120;
const SENTENCE_START: u32 = 100;

impl FullText {
    /// Twenty words of the body, those with the most matches.
    #[must_use]
    pub fn snippet(&self, note: &Row<'_>) -> String {
        let mut phrases = Vec::new();
        for expr in &self.all {
            collect(expr, &mut phrases);
        }
        let mut scanner = Scanner::new(&phrases);
        scanner.scan(note);
        let (_, counted) = self.evaluate(&scanner, phrases.len());
        let mut matches = Vec::new();
        for (number, (phrase, counted)) in phrases.iter().zip(counted).enumerate() {
            if counted == 0.0 {
                continue;
            }
            let of_body = scanner.occurrences(number).filter(|&(column, _)| column == BODY);
            matches.extend(of_body.map(|(_, at)| Found {
                at: at as usize,
                phrase: number,
                length: phrase.stems.len(),
            }));
        }
        order::sort_slice_by_key(&mut matches, |found: &Found| (found.at, found.phrase));
        let body = note.body;
        let spans = spans(body);
        cut(body, &spans, best_start(body, &spans, &matches, phrases.len()))
    }
}

/// A match: the token that it begins with, and the number of its phrase.
struct Found {
    at: usize,
    phrase: usize,
    length: usize,
}

fn spans(body: &str) -> Vec<Range<usize>> {
    let mut tokens = tokens::tokens(body);
    let mut spans = Vec::new();
    while let Some((span, _)) = tokens.next() {
        spans.push(span);
    }
    spans
}

/// The token to begin with.
fn best_start(body: &str, spans: &[Range<usize>], matches: &[Found], phrases: usize) -> usize {
    if spans.len() <= TOKENS {
        return 0;
    }
    let sentences = sentence_starts(body, spans);
    let (mut best, mut best_score) = (0, 0);
    for found in matches {
        let (score, centred) = score(matches, found.at, phrases, spans.len());
        if score > best_score {
            (best, best_score) = (centred, score);
        }
        let sentence = sentences.partition_point(|&start| start <= found.at).checked_sub(1);
        if let Some(&start) = sentence.and_then(|number| sentences.get(number))
            && start < found.at
        {
            let (score, _) = self::score(matches, start, phrases, spans.len());
            let score = score + if start == 0 { TEXT_START } else { SENTENCE_START };
            if score > best_score {
                (best, best_score) = (start, score);
            }
        }
    }
    best
}

/// The score of the matches in the window that begins with a token, and where the window has to begin for them to be
/// in its middle.
fn score(matches: &[Found], from: usize, phrases: usize, tokens: usize) -> (u32, usize) {
    let mut seen = vec![false; phrases];
    let mut score = 0_u32;
    let (mut first, mut end) = (None, 0);
    let begin = matches.partition_point(|found| found.at < from);
    for found in matches.iter().skip(begin).take_while(|found| found.at < from + TOKENS) {
        let is_known = seen.get_mut(found.phrase).is_none_or(|seen| core::mem::replace(seen, true));
        score = score.saturating_add(if is_known { NEXT_MATCH } else { FIRST_MATCH });
        first = first.or(Some(found.at));
        end = found.at + found.length;
    }
    let first = first.unwrap_or(from);
    // A phrase may be longer than the window.
    let width = end.saturating_sub(first);
    let centred =
        if width > TOKENS { first + (width - TOKENS) / 2 } else { first.saturating_sub((TOKENS - width) / 2) };
    (score, centred.min(tokens.saturating_sub(TOKENS)))
}

/// The tokens that begin a sentence: the first, and those that white space separates from `.` or `:`.
fn sentence_starts(body: &str, spans: &[Range<usize>]) -> Vec<usize> {
    let begins = |span: &Range<usize>| {
        let before = body.part(..span.start);
        let trimmed = before.trim_end_matches([' ', '\t', '\n', '\r']);
        trimmed.is_empty() || (trimmed.len() < before.len() && trimmed.ends_with(['.', ':']))
    };
    spans.iter().enumerate().filter(|(_, span)| begins(span)).map(|(number, _)| number).collect()
}

fn cut(body: &str, spans: &[Range<usize>], start: usize) -> String {
    let from = if start == 0 { 0 } else { spans.get(start).map_or(0, |span| span.start) };
    let is_whole = start + TOKENS >= spans.len();
    let to = if is_whole { body.len() } else { spans.get(start + TOKENS - 1).map_or(body.len(), |span| span.end) };
    let mut snippet = String::new();
    if start > 0 {
        snippet.push_str(ELLIPSIS);
    }
    snippet.push_str(body.part(from..to));
    if !is_whole {
        snippet.push_str(ELLIPSIS);
    }
    snippet
}
