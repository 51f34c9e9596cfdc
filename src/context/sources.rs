//! Sources of the lines of a block.

use core::ops::Range;

use saddlebag_collections::{prelude::*, words};

use super::form::BlockForm;
use crate::trust::ForModel;

/// Source of consecutive lines of a block. Lines end in a line feed. Titles, markers and empty lines between sections
/// belong to the block itself and have no source.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineSource {
    /// First line, counted from 1.
    pub first_line: u32,
    /// Last line.
    pub last_line: u32,
    /// Path of the file; empty for an entry that a run holds.
    pub path: String,
    /// Key, if it is an entry.
    pub key: Option<String>,
    /// Text of the heading above or at the start of the lines, made harmless; `None` if the file has no heading in the
    /// block.
    pub heading: Option<String>,
    /// Title of the section.
    pub section: String,
    /// Family that owns the file.
    pub family: SourceFamily,
}

/// Family that owns a file in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceFamily {
    /// The journal.
    Journal,
    /// The entries.
    Entries,
    /// The notebook.
    Notebook,
}

words!(SourceFamily, "family" { Journal = "journal", Entries = "entries", Notebook = "notebook" });

/// Lines of a file in a [`SectionContent::Joined`](super::SectionContent::Joined).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JoinedFile {
    /// Path of the file as it is shown.
    pub(crate) path: String,
    /// Lines of the file in the text, counted from 0.
    pub(crate) lines: Range<usize>,
}

/// Source of lines of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Lines of the section's text, counted from 0.
    pub(super) lines: Range<usize>,
    pub(super) path: String,
    pub(super) key: Option<String>,
}

/// Section that lines belong to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) title: &'a str,
    pub(super) family: SourceFamily,
    pub(super) form: BlockForm,
}

/// Text of a block while it is built, and the sources of its lines.
///
/// Lines are counted instead of bytes: if two pieces of text would form a tag when joined, joining them inserts an
/// escape, and the following text moves.
#[derive(Debug, Default)]
pub(super) struct Content {
    text: ForModel,
    line: usize,
    sources: Vec<LineSource>,
}

impl Content {
    /// Creates a content that begins after the first lines of the block.
    pub(super) fn after(start: &'static str) -> Self {
        Self { text: ForModel::default(), line: line_feeds(start), sources: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Adds text of the block itself.
    pub(super) fn push(&mut self, own: &ForModel) {
        self.line += line_feeds(own.as_str());
        self.text.push(own);
    }

    /// Adds stored text of a section: its lines from `first` on, counted from 0.
    pub(super) fn push_stored(&mut self, place: Place<'_>, stored: &ForModel, first: usize, parts: &[Part]) {
        let lines = first..first + lines_of(stored.as_str());
        let mut texts = stored.as_str().split('\n');
        let mut at = first;
        for part in parts {
            let (start, end) = (part.lines.start.max(lines.start), part.lines.end.min(lines.end));
            if start >= end {
                continue;
            }
            let before = self.line + start - first;
            let skipped = start - at;
            let texts = texts.by_ref().skip(skipped).take(end - start);
            at = end;
            self.sources.extend(by_heading(place, part, before, texts));
        }
        self.line += line_feeds(stored.as_str());
        self.text.push(stored);
    }

    /// Returns the text and its sources. Text over `max` bytes is cut, and `marker` follows it.
    pub(super) fn truncated(mut self, max: usize, marker: &ForModel) -> (ForModel, Vec<LineSource>) {
        if self.text.len() <= max {
            return (self.text, self.sources);
        }
        let lost = line_feeds(self.text.as_str());
        let kept = self.text.part(0..self.text.as_str().floor_char_boundary(max));
        let end = self.line - lost + lines_of(kept.as_str());
        self.sources.retain_mut(|source| {
            source.last_line = source.last_line.min(count(end));
            source.first_line <= source.last_line
        });
        let mut text = kept;
        text.push(marker);
        (text, self.sources)
    }

    pub(super) fn whole(self) -> (ForModel, Vec<LineSource>) {
        (self.text, self.sources)
    }
}

/// Splits the source of a part at each heading.
fn by_heading<'a>(
    place: Place<'_>,
    part: &Part,
    before: usize,
    lines: impl Iterator<Item = &'a str>,
) -> Vec<LineSource> {
    let mut sources: Vec<LineSource> = Vec::new();
    let mut is_code = false;
    for (number, line) in (before + 1..).zip(lines) {
        let text = place.form.unmarked(line);
        let is_fence = || text.starts_with("```") || text.starts_with("~~~");
        // The first byte of most lines shows that they are neither a fence nor a heading.
        is_code ^= matches!(text.as_bytes().first(), Some(b'`' | b'~')) && is_fence();
        let heading = heading(text).filter(|_| !is_code && part.key.is_none());
        match sources.last_mut() {
            Some(source) if heading.is_none() => source.last_line = count(number),
            _ => sources.push(LineSource {
                first_line: count(number),
                last_line: count(number),
                path: part.path.clone(),
                key: part.key.clone(),
                heading: heading.map(ToString::to_string),
                section: place.title.to_string(),
                family: place.family,
            }),
        }
    }
    sources
}

/// Returns the text of a Markdown heading. A heading that reads like a title of the block has a `\` before it.
fn heading(line: &str) -> Option<&str> {
    if !matches!(line.as_bytes().first(), Some(b'#' | b'\\')) {
        return None;
    }
    let text = line.strip_prefix('\\').unwrap_or(line).trim_start_matches('#');
    let level = line.len() - text.len();
    let text = text.strip_prefix(' ').filter(|_| (1..=7).contains(&level))?.trim();
    (!text.is_empty()).then_some(text)
}

pub(super) fn line_feeds(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

/// Counts the lines of the text. A line feed at the end does not begin a further line.
fn lines_of(text: &str) -> usize {
    match text.strip_suffix('\n') {
        Some(text) => line_feeds(text) + 1,
        None => line_feeds(text) + usize::from(!text.is_empty()),
    }
}

/// Converts a number of lines. A block has at most 4 GiB.
fn count(lines: usize) -> u32 {
    u32::try_from(lines).unwrap_or(u32::MAX)
}
