//! Titles and aliases in the text of notes: [`Names`] finds which there are, [`NameLines`] the lines that name a note.

use hashbrown::{HashMap, HashSet};
use memchr::memmem::Finder;
use unicode_normalization::UnicodeNormalization;

use super::links::{fold, names};
use crate::notebook::types::NoteView;
use saddlebag_collections::{order, prelude::*};
use saddlebag_markdown::Note;

/// Replaces a link; names do not contain it.
const LINK: char = '\u{0}';

/// Finds the lines that have the title or an alias of a note. A name within a link is not a mention.
pub(crate) struct NameLines {
    finders: Vec<Finder<'static>>,
    text: FoldedText,
}

impl NameLines {
    /// Learns the names of a note.
    pub(crate) fn new(named: &NoteView<'_>) -> Self {
        let finders = names(named).map(|name| Finder::new(fold(name).as_bytes()).into_owned());
        Self { finders: finders.collect(), text: FoldedText::default() }
    }

    /// Returns the lines of a file that name the note, counted from 1.
    pub(crate) fn find(&mut self, text: &str, note: &Note) -> Vec<u32> {
        self.text.read(text, note);
        let mut lines: Vec<u32> = Vec::new();
        for finder in &self.finders {
            lines.extend(self.text.places(finder).map(|at| self.text.line(at)));
        }
        order::sort_slice(&mut lines, Ord::cmp);
        lines.dedup();
        lines
    }
}

/// Titles and aliases of notes, to be found in text.
///
/// Reading text takes one look-up for each word and for each length of a name that begins with this word, however many
/// names there are.
#[derive(Default)]
pub(super) struct Names {
    /// By folded name, the notes that have it.
    notes: HashMap<String, Vec<usize>>,
    /// By the first word of names, the lengths of these names in bytes.
    lengths: HashMap<String, Vec<usize>>,
}

impl Names {
    /// Learns the names of notes, each with its place.
    pub(super) fn new<'a, 'n: 'a>(notes: impl Iterator<Item = (usize, &'a NoteView<'n>)>) -> Self {
        let mut all = Self::default();
        for (note, view) in notes {
            for name in names(view).map(fold) {
                let lengths = all.lengths.entry_ref(first_word(&name)).or_default();
                if !lengths.contains(&name.len()) {
                    lengths.push(name.len());
                }
                all.notes.entry(name).or_default().push(note);
            }
        }
        all
    }

    /// The notes whose names are in the title or the text of a note, as separate words. Each is given once, ascending.
    pub(super) fn found_in(&self, view: &NoteView<'_>) -> Vec<usize> {
        let mut text = FoldedText::default();
        text.push(&view.note.title);
        text.text.push(LINK);
        text.push(view.text.get(view.note.frontmatter.span.end..).unwrap_or_default());
        let text = text.text.as_str();
        let mut found: HashSet<&str> = HashSet::new();
        let mut before = None;
        for (at, c) in text.char_indices() {
            let rest = text.get(at..).unwrap_or_default();
            if is_apart(Some(c), before)
                && let Some(lengths) = self.lengths.get(first_word(rest))
            {
                let names = lengths.iter().filter_map(|&length| rest.split_at_checked(length));
                let apart = names.filter(|(name, after)| is_apart(name.chars().next_back(), after.chars().next()));
                found.extend(apart.map(|(name, _)| name).filter(|name| self.notes.contains_key(*name)));
            }
            before = Some(c);
        }
        let mut notes: Vec<usize> =
            found.into_iter().filter_map(|name| self.notes.get(name)).flatten().copied().collect();
        order::sort_slice(&mut notes, Ord::cmp);
        notes.dedup();
        notes
    }
}

/// The characters at the beginning of text that make one word; the first character if it makes none.
fn first_word(text: &str) -> &str {
    let end = text.find(|c| !joins(c)).unwrap_or(text.len());
    let first = text.chars().next().map_or(0, char::len_utf8);
    text.get(..end.max(first)).unwrap_or_default()
}

/// Returns true if a character of a name does not make one word with its neighbour outside of the name.
fn is_apart(inside: Option<char>, outside: Option<char>) -> bool {
    !(inside.is_some_and(joins) && outside.is_some_and(joins))
}

/// The text of a note after its frontmatter, without its links, folded as names are.
#[derive(Default)]
struct FoldedText {
    text: String,
    /// Start of each line.
    lines: Vec<usize>,
    first_line: u32,
}

impl FoldedText {
    fn read(&mut self, text: &str, note: &Note) {
        self.text.clear();
        self.lines.clear();
        let mut at = note.frontmatter.span.end;
        let before = text.get(..at).unwrap_or_default();
        self.first_line = u32::try_from(before.bytes().filter(|byte| *byte == b'\n').count()).unwrap_or(u32::MAX);
        self.lines.push(0);
        for link in &note.links {
            self.push(text.get(at..link.span.start).unwrap_or_default());
            self.text.push(LINK);
            // Line ends within a link count as well.
            for _ in text.get(link.span.clone()).unwrap_or_default().matches('\n') {
                self.lines.push(self.text.len());
            }
            at = at.max(link.span.end);
        }
        self.push(text.get(at..).unwrap_or_default());
    }

    fn push(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            for word in line.split_inclusive(char::is_whitespace) {
                let bare = word.trim_end();
                if bare.is_ascii() {
                    let start = self.text.len();
                    self.text.push_str(bare);
                    if let Some(added) = self.text.get_mut(start..) {
                        added.make_ascii_lowercase();
                    }
                } else {
                    self.text.extend(bare.chars().flat_map(char::to_lowercase).nfc());
                }
                if bare.len() < word.len() && !self.text.ends_with(' ') {
                    self.text.push(' ');
                }
            }
            if line.ends_with('\n') {
                self.lines.push(self.text.len());
            }
        }
    }

    /// The places where a name occurs as separate words.
    fn places(&self, name: &Finder<'_>) -> impl Iterator<Item = usize> {
        let needle = core::str::from_utf8(name.needle()).unwrap_or_default();
        let (first, last) = (needle.chars().next(), needle.chars().next_back());
        name.find_iter(self.text.as_bytes()).filter(move |&at| {
            let before = self.text.get(..at).and_then(|text| text.chars().next_back());
            let after = self.text.get(at + needle.len()..).and_then(|text| text.chars().next());
            is_apart(first, before) && is_apart(last, after)
        })
    }

    /// The line of a place, counted from 1.
    fn line(&self, at: usize) -> u32 {
        let line = u32::try_from(self.lines.partition_point(|&start| start <= at)).unwrap_or(u32::MAX);
        self.first_line.saturating_add(line)
    }
}

/// Returns true if a character makes one word with a neighbour of its kind. Scripts without spaces between words, such
/// as Han, do not separate words.
fn joins(c: char) -> bool {
    let has_no_spaces = matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}');
    (c.is_alphanumeric() || c == '_') && !has_no_spaces
}
