//! [`Content`]: the text of a block, whose lines may be separate in the file.

use core::ops::Range;
use saddlebag_collections::TextPart;
use saddlebag_collections::prelude::*;

/// Text of a block, with its positions in the file.
#[derive(Debug)]
pub(super) struct Content<'a> {
    pub(super) text: Cow<'a, str>,
    /// Start of the text in the file; of the first line if it had to be joined.
    start: usize,
    /// For joined lines: the start of each in `text` and in the file.
    lines: Vec<(usize, usize)>,
}

impl Content<'_> {
    /// Creates the content of text that is one piece in the file.
    pub(super) fn plain(text: &str, start: usize) -> Content<'_> {
        Content { text: Cow::Borrowed(text), start, lines: Vec::new() }
    }

    fn source(&self, offset: usize) -> usize {
        let line = self.lines.partition_point(|&(start, _)| start <= offset).checked_sub(1);
        match line.and_then(|line| self.lines.get(line)) {
            Some(&(start, source)) => source + (offset - start),
            None => self.start + offset,
        }
    }

    /// Returns the range of the file for a range of the text.
    pub(super) fn source_range(&self, range: Range<usize>) -> Range<usize> {
        let start = self.source(range.start);
        if range.is_empty() {
            return start..start;
        }
        // The end of a line is not the start of the next: marks of a quote may be between them.
        start..self.source(range.end - 1) + 1
    }
}

pub(super) fn join<'a>(text: &'a str, lines: &[Range<usize>], quoted: bool) -> Content<'a> {
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
        return Content::plain("", 0);
    };
    if !quoted || lines.len() == 1 {
        return Content::plain(text.part(first.start..last.end), first.start);
    }
    let mut joined = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
    let mut starts = Vec::with_capacity(lines.len());
    for line in lines {
        if !joined.is_empty() {
            joined.push('\n');
        }
        starts.push((joined.len(), line.start));
        joined.push_str(text.part(line.clone()));
    }
    Content { text: Cow::Owned(joined), start: first.start, lines: starts }
}
