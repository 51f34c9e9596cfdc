//! [`Splice`]: a replaced part of the text. Every byte outside the parts stays.

use std::ops::Range;

/// Part of the text, and the text that replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Splice {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

impl Splice {
    pub(super) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self { range: at..at, text: text.into() }
    }

    pub(super) fn cut(range: Range<usize>) -> Self {
        Self { range, text: String::new() }
    }
}

/// Returns the text with all parts replaced. The parts must be in order and must not overlap.
pub(super) fn spliced(text: &str, splices: &[Splice]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for Splice { range, text: new } in splices {
        // A configuration file must not lose text, so parts that overlap stop the program.
        out.push_str(&text[done..range.start]);
        out.push_str(new);
        done = range.end;
    }
    out.push_str(&text[done..]);
    out
}

/// Returns the offset of the start of the line that contains an offset.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Returns the offset of the line end that ends the line before `start`, or `start` in the first line.
pub(super) fn before_line_end(text: &str, start: usize) -> usize {
    let head = &text[..start];
    let head = head.strip_suffix('\n').unwrap_or(head);
    head.strip_suffix('\r').unwrap_or(head).len()
}

/// Returns the indentation of the line that contains an offset.
pub(super) fn indent_of(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns the offset of the first character at or after `at` that is not a space or a tab.
pub(super) fn after_blanks(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start_matches([' ', '\t']).len()
}

/// Returns the line end that the text uses.
pub(super) fn newline_of(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Returns the line and the column of an offset, both from 1. Columns count characters.
pub(super) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let line = text[..at].matches('\n').count() + 1;
    (line, text[line_start(text, at)..at].chars().count() + 1)
}
