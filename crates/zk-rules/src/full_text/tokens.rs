//! The tokens of FTS5's `porter unicode61 remove_diacritics 1 tokenchars "'&/"`.

use alloc::vec::Vec;
use core::ops::Range;

use unicode_normalization::char::{decompose_canonical, is_combining_mark};

use super::porter;

/// A token before it is stemmed.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    folded: Vec<u8>,
}

/// The tokens of the text, folded.
pub(super) fn tokens(text: &str) -> Tokens<'_> {
    Tokens { text, at: 0, folded: Vec::new() }
}

/// The stems of the tokens of the text.
pub(super) fn stems(text: &str) -> Vec<Vec<u8>> {
    let mut tokens = tokens(text);
    let mut stems = Vec::new();
    while let Some((_, folded)) = tokens.next() {
        let mut word = folded.to_vec();
        porter::stem(&mut word);
        stems.push(word);
    }
    stems
}

impl Tokens<'_> {
    /// Returns the range of the next token, and its folded text.
    pub(super) fn next(&mut self) -> Option<(Range<usize>, &[u8])> {
        self.folded.clear();
        let bytes = self.text.as_bytes();
        let mut start = None;
        while let Some(&byte) = bytes.get(self.at) {
            let from = self.at;
            let is_token = if byte.is_ascii() {
                self.at += 1;
                let is_token = byte.is_ascii_alphanumeric() || matches!(byte, b'\'' | b'&' | b'/');
                if is_token {
                    self.folded.push(byte.to_ascii_lowercase());
                }
                is_token
            } else {
                let c = self.text.get(from..).and_then(|rest| rest.chars().next())?;
                self.at += c.len_utf8();
                // A mark belongs to the word around it, and does not begin a word.
                let is_token = is_token_char(c) || (start.is_some() && is_diacritic(c));
                if is_token && let Some(folded) = fold(c) {
                    self.folded.extend_from_slice(folded.encode_utf8(&mut [0; 4]).as_bytes());
                }
                is_token
            };
            match (start, is_token) {
                (None, true) => start = Some(from),
                (Some(start), false) => return Some((start..from, &self.folded)),
                _ => {}
            }
        }
        start.map(|start| (start..self.at, self.folded.as_slice()))
    }
}

/// Letters, numbers and characters for private use.
fn is_token_char(c: char) -> bool {
    let is_private = matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{ffffd}' | '\u{100000}'..='\u{10fffd}');
    // Signs in circles are alphabetic to Unicode, but symbols.
    let is_circled = matches!(c, '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f189}');
    is_private || (c.is_alphanumeric() && !is_combining_mark(c) && !is_circled)
}

/// The marks that FTS5 knows as diacritics.
fn is_diacritic(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{331}') && {
        let at = (c as u32).wrapping_sub(0x300);
        let mask: u64 = 0x0003_61f8_0802_9fdf;
        mask.checked_shr(at).is_some_and(|rest| rest & 1 == 1)
    }
}

/// Lower case; an ASCII letter with exactly one mark loses the mark.
fn fold(c: char) -> Option<char> {
    if is_diacritic(c) {
        return None;
    }
    let lower = match c {
        'ς' => 'σ',
        'ſ' => 's',
        'µ' => 'μ',
        _ => {
            let mut lower = c.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(single), None) => single,
                _ => c,
            }
        }
    };
    let (mut base, mut parts) = (lower, 0_u8);
    decompose_canonical(lower, |part| {
        if parts == 0 {
            base = part;
        }
        parts = parts.saturating_add(1);
    });
    Some(if parts == 2 && base.is_ascii_alphabetic() { base.to_ascii_lowercase() } else { lower })
}
