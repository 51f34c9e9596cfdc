//! Links in double brackets: `[[target|text]]`.

use core::ops::Range;

use super::references;
use super::text::{at, looked_at};
use saddlebag_collections::TextPart;
use saddlebag_collections::prelude::*;

/// A wiki link, as ranges of the text.
#[derive(Debug)]
pub(super) struct Wiki {
    pub(super) target: Range<usize>,
    pub(super) label: Option<Range<usize>>,
    pub(super) end: usize,
}

impl Wiki {
    /// Parses the wiki link whose `opening` brackets are at `start`; it ends on its line.
    pub(super) fn read(text: &str, start: usize, opening: usize) -> Option<Self> {
        let bytes = text.as_bytes();
        let inner = start + opening;
        let mut bar: Option<Range<usize>> = None;
        let mut next = inner;
        let close = loop {
            looked_at(1);
            match *bytes.get(next)? {
                // In a table, a bar would end the cell. No file name in a link has one.
                b'\\' if bar.is_none() && at(bytes, next + 1) == b'|' => {
                    bar = Some(next..next + 2);
                    next += 1;
                }
                b'\\' if at(bytes, next + 1) != b'\n' => next += 1,
                b'\n' => return None,
                b'[' if at(bytes, next + 1) == b'[' => return None,
                b']' if at(bytes, next + 1) == b']' && (opening == 2 || at(bytes, next + 2) == b']') => {
                    break next;
                }
                b'|' if bar.is_none() => bar = Some(next..next + 1),
                _ => {}
            }
            next += 1;
        };
        let target = trim(text, inner..bar.as_ref().map_or(close, |bar| bar.start));
        let label = bar.map(|bar| trim(text, bar.end..close)).filter(|label| !label.is_empty());
        (!target.is_empty()).then_some(Self { target, label, end: close + opening })
    }
}

/// Returns the target of a wiki link, the anchor after it, and true if it leads out of the notebook.
pub(super) fn destination(raw: &str) -> (String, Option<String>, bool) {
    if raw.contains("://") && references::has_scheme(raw) || raw.starts_with("mailto:") {
        return (unescape(raw), None, true);
    }
    let (path, anchor) = match unescaped_hash(raw).and_then(|hash| raw.split_at_checked(hash)) {
        Some((path, anchor)) => (path, anchor.strip_prefix('#')),
        None => (raw, None),
    };
    (unescape(path.trim_end()), anchor.map(|anchor| unescape(anchor.trim())), false)
}

/// Returns the text without backslashes before punctuation, which they escape. A backslash before a letter is one.
pub(super) fn unescape(text: &str) -> String {
    if !text.contains('\\') {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let escaped = if character == '\\' { characters.next_if(char::is_ascii_punctuation) } else { None };
        plain.push(escaped.unwrap_or(character));
    }
    plain
}

/// Returns the first `#` of a wiki target that is not escaped by a backslash.
fn unescaped_hash(raw: &str) -> Option<usize> {
    let mut bytes = raw.bytes().enumerate();
    while let Some((index, byte)) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'#' => return Some(index),
            _ => {}
        }
    }
    None
}

/// Returns the range without the white space at its ends.
fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let text = text.part(range.clone());
    let start = range.start + (text.len() - text.trim_start().len());
    start..start + text.trim().len()
}
