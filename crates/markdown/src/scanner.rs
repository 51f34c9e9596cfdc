//! Blocks of a Markdown file: headings, paragraphs, code, HTML, and definitions of references.
//!
//! The rules are CommonMark's, as far as they decide between headings, paragraphs and code; no tree is built. Every
//! line is read once, and at most [`MAX_DEPTH`] quotes and list items nest, so that the time is linear in the size of
//! the text.

use core::ops::Range;

use memchr::memchr;

use super::content::{Content, join};
use super::html::{self, HtmlEnd};
use super::references::{self, Definition};
use super::text::{at, looked_at, searched};
use saddlebag_collections::SortedMap;
use saddlebag_collections::prelude::*;
use saddlebag_collections::{SlicePart, TextPart};

/// Maximum depth of quotes and list items; deeper ones are text.
const MAX_DEPTH: usize = 64;

/// A block with inline content.
#[derive(Debug)]
pub(super) struct Block {
    /// For a heading: its level, and its lines.
    pub(super) heading: Option<(u8, Range<usize>)>,
    /// Lines, as indexes of [`Blocks::segments`].
    lines: Range<usize>,
    /// True if marks of a quote may be between its lines.
    quoted: bool,
}

/// Returns the starts of the lines that are not read as Markdown: code, comments and raw HTML. In order.
pub fn hidden_lines(text: &str) -> Vec<usize> {
    Blocks::scan(text, 0).hidden
}

/// Blocks of a file.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// Blocks, in the order of the text.
    pub(super) list: Vec<Block>,
    /// Lines of the blocks without indentation, marks of containers and line endings.
    segments: Vec<Range<usize>>,
    /// Definitions by normalized label; the first one of each label.
    pub(super) definitions: SortedMap<String, Definition>,
    /// Start of the line that opens a code or HTML block that is not closed and would contain any appended text.
    pub(super) unclosed: Option<usize>,
    /// True if the file ends in a list.
    pub(super) ends_in_list: bool,
    /// Starts of the lines of code, comments and raw HTML, without the lines that open them.
    pub(super) hidden: Vec<usize>,
}

impl Blocks {
    /// Reads the lines of `text` from `start` on, which must be the start of a line.
    pub(super) fn scan(text: &str, start: usize) -> Self {
        let mut scanner =
            Scanner { text, bytes: text.as_bytes(), blocks: Self::default(), containers: Vec::new(), leaf: Leaf::None };
        let mut line = start;
        while line < text.len() {
            let rest = scanner.bytes.part(line..);
            let next = searched(rest, memchr(b'\n', rest)).map_or(text.len(), |end| line + end + 1);
            let mut end = next;
            if at(scanner.bytes, end - 1) == b'\n' {
                end -= 1;
            }
            if end > line && at(scanner.bytes, end - 1) == b'\r' {
                end -= 1;
            }
            scanner.line(line, end);
            line = next;
        }
        scanner.finish()
    }

    /// Returns the content of a block.
    pub(super) fn content<'a>(&self, text: &'a str, block: &Block) -> Content<'a> {
        join(text, self.segments.part(block.lines.clone()), block.quoted)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Container {
    Quote,
    Item {
        /// Indentation of its content, from the start of its marker's indentation.
        padding: usize,
        /// True if nothing has come after its marker.
        empty: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaf {
    None,
    Paragraph { first: usize, quoted: bool, line: usize },
    Fenced { mark: u8, length: usize, line: usize },
    Indented,
    Html { end: HtmlEnd, line: usize },
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    blocks: Blocks,
    containers: Vec<Container>,
    leaf: Leaf,
}

/// Position in a line; tabs reach to the next column that four divides.
struct Cursor<'a> {
    bytes: &'a [u8],
    end: usize,
    at: usize,
    column: usize,
    /// Remaining columns of a tab before `at` that was read in part.
    tab_rest: usize,
}

impl Cursor<'_> {
    /// Returns the columns of the following white space, and its end.
    fn indent(&self) -> (usize, usize) {
        let mut columns = self.tab_rest;
        let mut at_byte = self.at;
        while at_byte < self.end {
            match at(self.bytes, at_byte) {
                b' ' => columns += 1,
                b'\t' => columns += 4 - (self.column + columns) % 4,
                _ => break,
            }
            at_byte += 1;
        }
        (columns, at_byte)
    }

    /// Reads up to `columns` columns of white space.
    fn skip_columns(&mut self, columns: usize) {
        let mut left = columns;
        while left > 0 {
            if self.tab_rest == 0 {
                match at(self.bytes, self.at) {
                    b' ' if self.at < self.end => self.tab_rest = 1,
                    b'\t' if self.at < self.end => self.tab_rest = 4 - self.column % 4,
                    _ => return,
                }
                self.at += 1;
            }
            let step = left.min(self.tab_rest);
            self.tab_rest -= step;
            self.column += step;
            left -= step;
        }
    }

    /// Skips white space of `columns` columns up to `next`, and a marker of `length` bytes there.
    fn skip_marker(&mut self, columns: usize, next: usize, length: usize) {
        self.at = next + length;
        self.column += columns + length;
        self.tab_rest = 0;
    }
}

impl Scanner<'_> {
    fn line(&mut self, start: usize, end: usize) {
        let mut cursor = Cursor { bytes: self.bytes, end, at: start, column: 0, tab_rest: 0 };
        let matched = self.match_containers(&mut cursor);
        let all = matched == self.containers.len();
        let is_hidden = !matches!(self.leaf, Leaf::Html { end: HtmlEnd::Blank, .. });
        if self.continues_code(&cursor, all) {
            if is_hidden {
                self.blocks.hidden.push(start);
            }
            return;
        }
        // A container that opens on this line ends everything that was open before.
        let mut fresh = false;
        loop {
            let (indent, next) = cursor.indent();
            if next >= end {
                if !fresh {
                    self.begin(matched, false);
                }
                return;
            }
            let paragraph = !fresh && matches!(self.leaf, Leaf::Paragraph { .. });
            // Directly after a paragraph, some blocks cannot begin.
            let interrupts = paragraph && all;
            if indent >= 4 {
                if !paragraph {
                    self.start(matched, fresh);
                    self.leaf = Leaf::Indented;
                    self.blocks.hidden.push(start);
                    return;
                }
                break;
            }
            let rest = self.bytes.part(next..end);
            match at(rest, 0) {
                b'>' if self.has_room(matched, fresh) => {
                    self.open(matched, &mut fresh, Container::Quote);
                    cursor.skip_marker(indent, next, 1);
                    cursor.skip_columns(1);
                    continue;
                }
                b'#' => {
                    if let Some((level, content)) = atx(rest) {
                        self.start(matched, fresh);
                        self.heading(level, start..end, next + content.start..next + content.end);
                        return;
                    }
                }
                b'`' | b'~' => {
                    if let Some((mark, length)) = fence(rest) {
                        self.start(matched, fresh);
                        self.leaf = Leaf::Fenced { mark, length, line: start };
                        return;
                    }
                }
                b'<' => {
                    if let Some(html_end) = html::block(rest, paragraph) {
                        self.start(matched, fresh);
                        if !html_end.is_in(rest) {
                            self.leaf = Leaf::Html { end: html_end, line: start };
                        }
                        return;
                    }
                }
                mark @ (b'=' | b'-')
                    if interrupts && is_underline(rest, mark) && self.setext(if mark == b'=' { 1 } else { 2 }, end) =>
                {
                    return;
                }
                _ => {}
            }
            if super::lines::is_rule(self.text.part(next..end)) {
                self.start(matched, fresh);
                return;
            }
            if let Some(width) = marker(rest, interrupts)
                && self.has_room(matched, fresh)
            {
                self.item(&mut cursor, matched, &mut fresh, (indent, next, width));
                continue;
            }
            break;
        }
        self.text_line(&cursor, start, matched, fresh);
    }

    /// Reads the marks and indentations of the open containers. Returns how many of them continue.
    fn match_containers(&self, cursor: &mut Cursor<'_>) -> usize {
        let mut matched = 0;
        for container in &self.containers {
            let (indent, next) = cursor.indent();
            match *container {
                Container::Quote if indent <= 3 && next < cursor.end && at(self.bytes, next) == b'>' => {
                    cursor.skip_marker(indent, next, 1);
                    cursor.skip_columns(1);
                }
                Container::Item { empty: false, .. } if next >= cursor.end => {}
                Container::Item { padding, .. } if next < cursor.end && indent >= padding => {
                    cursor.skip_columns(padding);
                }
                _ => break,
            }
            matched += 1;
        }
        matched
    }

    /// Returns true if the line belongs to an open block of code or HTML, or closes it.
    fn continues_code(&mut self, cursor: &Cursor<'_>, all: bool) -> bool {
        if matches!(self.leaf, Leaf::None | Leaf::Paragraph { .. }) {
            return false;
        }
        if !all {
            self.leaf = Leaf::None;
            return false;
        }
        let (indent, next) = cursor.indent();
        let rest = self.bytes.part(next..cursor.end);
        match self.leaf {
            Leaf::Fenced { mark, length, .. } => {
                if indent <= 3 && closes_fence(rest, mark, length) {
                    self.leaf = Leaf::None;
                }
                true
            }
            Leaf::Html { end, .. } => {
                if end.is_in(rest) {
                    self.leaf = Leaf::None;
                }
                true
            }
            Leaf::Indented if rest.is_empty() || indent >= 4 => true,
            _ => {
                self.leaf = Leaf::None;
                false
            }
        }
    }

    fn has_room(&self, matched: usize, fresh: bool) -> bool {
        (if fresh { self.containers.len() } else { matched }) < MAX_DEPTH
    }

    /// Ends everything that the line does not continue.
    fn begin(&mut self, matched: usize, fresh: bool) {
        if !fresh {
            self.end_leaf();
            self.containers.truncate(matched);
        }
    }

    fn open(&mut self, matched: usize, fresh: &mut bool, container: Container) {
        self.start(matched, *fresh);
        *fresh = true;
        self.containers.push(container);
    }

    /// Prepares for a block, which is then the content of the innermost item.
    fn start(&mut self, matched: usize, fresh: bool) {
        self.begin(matched, fresh);
        if let Some(Container::Item { empty, .. }) = self.containers.last_mut() {
            *empty = false;
        }
    }

    fn item(
        &mut self,
        cursor: &mut Cursor<'_>,
        matched: usize,
        fresh: &mut bool,
        (indent, next, width): (usize, usize, usize),
    ) {
        cursor.skip_marker(indent, next, width);
        let (gap, text) = cursor.indent();
        let empty = text >= cursor.end;
        let gap = if empty || gap > 4 { 1 } else { gap };
        self.open(matched, fresh, Container::Item { padding: indent + width + gap, empty });
        cursor.skip_columns(gap);
    }

    fn text_line(&mut self, cursor: &Cursor<'_>, line: usize, matched: usize, fresh: bool) {
        let (_, next) = cursor.indent();
        let is_quoted = self.containers.contains(&Container::Quote);
        let rest = self.bytes.part(next..cursor.end);
        let segment = next..next + rest.trim_ascii_end().len();
        if !fresh && let Leaf::Paragraph { quoted, .. } = &mut self.leaf {
            *quoted |= is_quoted;
            self.blocks.segments.push(segment);
            return;
        }
        self.start(matched, fresh);
        let quoted = self.containers.contains(&Container::Quote);
        self.leaf = Leaf::Paragraph { first: self.blocks.segments.len(), quoted, line };
        self.blocks.segments.push(segment);
    }

    fn heading(&mut self, level: u8, span: Range<usize>, content: Range<usize>) {
        let first = self.blocks.segments.len();
        self.blocks.segments.push(content);
        self.blocks.list.push(Block { heading: Some((level, span)), lines: first..first + 1, quoted: false });
    }

    /// Turns the open paragraph into a heading. Returns `false` if it was only definitions.
    fn setext(&mut self, level: u8, end: usize) -> bool {
        let Leaf::Paragraph { first, quoted, line } = self.leaf else { return false };
        self.leaf = Leaf::None;
        let lines = self.without_definitions(first, quoted);
        if lines.is_empty() {
            return false;
        }
        let line = if lines.start == first { line } else { self.line_start(lines.start) };
        self.blocks.list.push(Block { heading: Some((level, line..end)), lines, quoted });
        true
    }

    /// Returns the start of a segment's line.
    fn line_start(&self, segment: usize) -> usize {
        let start = self.blocks.segments.get(segment).map_or(0, |segment| segment.start);
        self.bytes.get(..start).and_then(|before| memchr::memrchr(b'\n', before)).map_or(0, |end| end + 1)
    }

    fn end_leaf(&mut self) {
        if let Leaf::Paragraph { first, quoted, .. } = self.leaf {
            let lines = self.without_definitions(first, quoted);
            if !lines.is_empty() {
                self.blocks.list.push(Block { heading: None, lines, quoted });
            }
        }
        self.leaf = Leaf::None;
    }

    /// Removes the definitions at the head of a paragraph that ends with the last segment.
    fn without_definitions(&mut self, first: usize, quoted: bool) -> Range<usize> {
        let last = self.blocks.segments.len();
        let mut lines = first..last;
        let starts_with_bracket =
            self.blocks.segments.get(first).is_some_and(|line| at(self.bytes, line.start) == b'[');
        if starts_with_bracket {
            let content = join(self.text, self.blocks.segments.part(lines.clone()), quoted);
            let mut read = 0;
            while let Some(found) = references::definition(&content, read) {
                let consumed = content.text.part(read..found.end);
                lines.start += memchr::memchr_iter(b'\n', consumed.as_bytes()).count();
                read = found.end;
                self.blocks.definitions.get_or_insert(found.label, found.definition);
                if read >= content.text.len() {
                    lines.start = last;
                }
            }
        }
        lines
    }

    fn finish(mut self) -> Blocks {
        self.blocks.unclosed = match self.leaf {
            Leaf::Fenced { line, .. } if self.containers.is_empty() => Some(line),
            Leaf::Html { end, line } if self.containers.is_empty() && end != HtmlEnd::Blank => Some(line),
            _ => None,
        };
        self.blocks.ends_in_list = matches!(self.containers.first(), Some(Container::Item { .. }));
        self.end_leaf();
        self.blocks
    }
}

/// Returns the level of an ATX heading, and the range of its content in the line.
fn atx(line: &[u8]) -> Option<(u8, Range<usize>)> {
    let level = looked_at(line.iter().take_while(|&&byte| byte == b'#').count());
    if !(1..=6).contains(&level) || !matches!(at(line, level), b' ' | b'\t' | 0) {
        return None;
    }
    if at(line, level) == 0 && level < line.len() {
        return None;
    }
    let after = line.get(level..)?;
    let start = level + (after.len() - after.trim_ascii_start().len());
    let end = level + after.trim_ascii_end().len();
    if start >= end {
        return Some((u8::try_from(level).ok()?, level..level));
    }
    let content = line.get(start..end)?;
    let closing = looked_at(content.iter().rev().take_while(|&&byte| byte == b'#').count());
    let before = content.get(..content.len() - closing)?;
    let end = match before.last() {
        None => start,
        Some(b' ' | b'\t') if closing > 0 => start + before.trim_ascii_end().len(),
        Some(_) => end,
    };
    Some((u8::try_from(level).ok()?, start..end))
}

/// Returns the mark and the length of a fence that opens a code block.
fn fence(line: &[u8]) -> Option<(u8, usize)> {
    let mark = at(line, 0);
    let length = looked_at(line.iter().take_while(|&&byte| byte == mark).count());
    let info = line.get(length..)?;
    (length >= 3 && !(mark == b'`' && searched(info, memchr(b'`', info)).is_some())).then_some((mark, length))
}

fn closes_fence(line: &[u8], mark: u8, length: usize) -> bool {
    let count = looked_at(line.iter().take_while(|&&byte| byte == mark).count());
    count >= length && line.get(count..).is_some_and(|rest| rest.trim_ascii().is_empty())
}

/// Returns true for the underline of a setext heading.
fn is_underline(line: &[u8], mark: u8) -> bool {
    line.trim_ascii_end().iter().all(|&byte| byte == mark)
}

/// Returns the width of the list marker at the start of the line.
fn marker(line: &[u8], interrupts: bool) -> Option<usize> {
    let digits = line.iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
    let width = match at(line, digits) {
        b'-' | b'*' | b'+' if digits == 0 => 1,
        b'.' | b')' if (1..=9).contains(&digits) => digits + 1,
        _ => return None,
    };
    let after = line.get(width..)?;
    if !matches!(after.first(), None | Some(b' ' | b'\t')) {
        return None;
    }
    // A number at the start of a wrapped line, or a lone dash, does not begin a list.
    if interrupts && (after.trim_ascii().is_empty() || digits > 0 && line.get(..digits) != Some(b"1")) {
        return None;
    }
    Some(width)
}
