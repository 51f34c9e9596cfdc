//! [`Body`]: the text of a file as blocks, and the white space between them.

use alloc::vec::Vec;

use saddlebag_markdown::{FenceTracker, heading, list_item};

/// What a block is, as far as the space around it depends on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// A heading.
    Heading,
    /// An item of a list.
    Item,
    /// A row of a table.
    Row,
    /// A paragraph, code, or anything else.
    Paragraph,
}

impl Class {
    /// Returns true if blocks of this class stand in lines one after another.
    pub(crate) fn is_tight(self) -> bool {
        matches!(self, Self::Item | Self::Row)
    }

    fn of(line: &str) -> Self {
        if heading(line).is_some() {
            Self::Heading
        } else if list_item(line).is_some() {
            Self::Item
        } else if line.trim_start().starts_with('|') {
            Self::Row
        } else {
            Self::Paragraph
        }
    }
}

/// A part that is merged as a whole: a paragraph, an item of a list, a row of a table, a heading, or code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block<'a> {
    /// Lines of the block, without the end of the last one.
    pub(crate) text: &'a str,
    pub(crate) class: Class,
    /// White space up to the next block, or to the end of the text.
    pub(crate) gap: &'a str,
}

impl Block<'_> {
    /// Returns the number of bytes of white space before the text.
    pub(crate) fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start().len()
    }

    /// Returns how deep the block is: a block is below the last one that is less deep.
    pub(crate) fn depth(&self) -> usize {
        if self.class == Class::Heading { 0 } else { 1 + self.indent() }
    }
}

/// A text as blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body<'a> {
    pub(crate) blocks: Vec<Block<'a>>,
    /// White space before the first block.
    pub(crate) start: &'a str,
}

impl<'a> Body<'a> {
    pub(crate) fn parse(text: &'a str) -> Self {
        let mut found: Vec<(usize, usize, Class)> = Vec::new();
        let mut fences = FenceTracker::default();
        let (mut at, mut was_code, mut is_open) = (0, false, false);
        for with_end in text.split_inclusive('\n') {
            let line = with_end.trim_end_matches(['\n', '\r']);
            let begin = at;
            at += with_end.len();
            let is_code = fences.is_code(line);
            if !is_code && line.trim().is_empty() {
                (is_open, was_code) = (false, false);
                continue;
            }
            let class = if is_code { Class::Paragraph } else { Class::of(line) };
            let continues = match found.last() {
                Some(_) if is_code && was_code => true,
                Some(&(.., before)) if is_open && !is_code && !was_code => {
                    matches!((before, class), (Class::Paragraph | Class::Item, Class::Paragraph))
                }
                _ => false,
            };
            let end = begin + line.len();
            match found.last_mut() {
                Some(last) if continues => last.1 = end,
                _ => found.push((begin, end, class)),
            }
            (is_open, was_code) = (true, is_code);
        }
        let part = |begin: usize, end: usize| text.get(begin..end).unwrap_or_default();
        let next = found.iter().skip(1).map(|&(begin, ..)| begin).chain([text.len()]);
        let blocks = found.iter().zip(next).map(|(&(begin, end, class), next)| Block {
            text: part(begin, end),
            class,
            gap: part(end, next),
        });
        Self { blocks: blocks.collect(), start: part(0, found.first().map_or(text.len(), |&(begin, ..)| begin)) }
    }

    /// Returns the texts of the blocks.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.blocks.iter().map(|block| block.text)
    }

    /// Returns the white space after a place: 0 is the start of the text, and `n` the block `n`, counted from 1.
    pub(crate) fn gap_after(&self, place: usize) -> &'a str {
        match place.checked_sub(1) {
            None => self.start,
            Some(index) => self.blocks.get(index).map_or("", |block| block.gap),
        }
    }
}
