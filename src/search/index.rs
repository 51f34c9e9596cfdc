//! [`LiteralIndex`]: which lines of which files hold a word that contains a term.
//!
//! A term has no white space in it, so wherever it occurs, it lies within one word of one line.
//! The index therefore keeps every distinct word once, folded, in one buffer, and for each word the
//! lines that have it. A search scans the buffer of words, not the text: it gives exactly the lines
//! that scanning every file gives, in time that grows with the vocabulary and the matches.
//!
//! Indexing costs more than one scan. So the first search scans the text of every file, and only when
//! there is a second are the words indexed; later ones scan nothing but what changed since.

use alloc::string::String;
use alloc::vec::Vec;
use core::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use memchr::memmem;

use super::files::{DocId, Files};
use super::fold::Folder;
use crate::store::NOTE_SUFFIX;

/// Where a term occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) doc: DocId,
    /// Counted from 0.
    pub(super) line: u32,
}

/// An index of the words of [`Files`].
#[derive(Debug, Default)]
pub(super) struct LiteralIndex {
    /// Files with a lower number are in `words`; the others are scanned.
    indexed: DocId,
    searches: u64,
    words: Words,
    folder: Folder,
    names: Names,
}

/// The file names, folded, in one buffer, sorted by path.
#[derive(Debug, Default)]
struct Names {
    buffer: Vec<u8>,
    /// Where each name starts, and whose it is.
    starts: Vec<(u32, DocId)>,
}

/// Dead text that is worth a rebuild, in bytes, whatever the size of the index.
const MIN_DEAD_BYTES: u64 = 1 << 20;

impl LiteralIndex {
    /// The names changed: files came or went.
    pub(super) fn unsettle(&mut self) {
        self.names = Names::default();
    }

    /// Makes the index ready to be searched after files came and went.
    pub(super) fn settle(&mut self, files: &mut Files) {
        if files.dead_bytes() >= MIN_DEAD_BYTES.max(files.live_bytes()) {
            // Most of what it holds belongs to files that are gone or changed.
            *self = Self { searches: self.searches, ..Self::default() };
            files.forget_dead();
        }
        if !self.names.starts.is_empty() {
            return;
        }
        let mut folded = String::new();
        let mut order = 0;
        let ids: Vec<DocId> = files.by_path().map(|(_, id)| id).collect();
        for id in ids {
            let Some(doc) = files.doc_mut(id).filter(|doc| doc.is_journal) else { continue };
            folded.clear();
            self.folder.fold_into(doc.path.file_name(), &mut folded);
            let start = u32::try_from(self.names.buffer.len()).unwrap_or(u32::MAX);
            self.names.starts.push((start, id));
            self.names.buffer.extend_from_slice(folded.as_bytes());
            self.names.buffer.push(WORD_END);
            doc.order = order;
            order += 1;
        }
    }

    /// The files whose names contain the folded term. The extension that every file has says nothing
    /// about it, so a match must begin before it: `md` names no file, `auth.md` does.
    pub(super) fn named(&self, folded_term: &str) -> Vec<DocId> {
        let Names { buffer, starts } = &self.names;
        let mut docs = Vec::new();
        find_entries(buffer, folded_term, |at| {
            let entry = starts.partition_point(|&(start, _)| start as usize <= at).saturating_sub(1);
            let end = starts.get(entry + 1).map_or(buffer.len(), |&(next, _)| next as usize);
            match starts.get(entry) {
                Some(&(_, doc)) if at + 1 + NOTE_SUFFIX.len() < end => docs.push(doc),
                _ => {}
            }
            end
        });
        docs
    }

    /// Every line that contains one of the terms, once for each: sorted by file, line and the term's
    /// place in the query.
    pub(super) fn occurrences(&mut self, files: &Files, folded_terms: &[String]) -> Vec<Occurrence> {
        if self.searches > 0 {
            self.index_words(files);
        }
        self.searches += 1;
        let mut found = Vec::new();
        for (term, folded) in folded_terms.iter().enumerate() {
            let start = found.len();
            let words = self.words.containing(folded);
            for &word in &words {
                self.words.places(word, |place| {
                    if files.doc(place.doc).is_some_and(|doc| doc.is_journal) {
                        found.push(Occurrence { place, term });
                    }
                });
            }
            if words.len() > 1
                && let Some(of_term) = found.get_mut(start..)
            {
                of_term.sort_unstable();
            }
        }
        self.scan(files, folded_terms, &mut found);
        if folded_terms.len() > 1 {
            found.sort_unstable();
        }
        found.dedup();
        found
    }

    /// Folds the terms of a query as the text is folded.
    pub(super) fn fold_terms(&mut self, terms: &[String]) -> Vec<String> {
        terms.iter().map(|term| self.folder.folded(term)).collect()
    }

    /// Puts the words of files that came since into the index.
    fn index_words(&mut self, files: &Files) {
        let Self { words, folder, indexed, .. } = self;
        for (doc, document) in files.since(*indexed) {
            for (line, text) in document.text().lines().enumerate() {
                let line = u32::try_from(line).unwrap_or(u32::MAX);
                for word in text.split_whitespace() {
                    words.add(folder, word, Place { doc, line });
                }
            }
        }
        *indexed = files.next_id();
    }

    /// Finds the terms in the text of files whose words are not in the index.
    fn scan(&mut self, files: &Files, folded_terms: &[String], found: &mut Vec<Occurrence>) {
        let finders: Vec<memmem::Finder<'_>> =
            folded_terms.iter().map(|term| memmem::Finder::new(term.as_bytes())).collect();
        let mut folded = String::new();
        for (id, doc) in files.since(self.indexed).filter(|(_, doc)| doc.is_journal) {
            folded.clear();
            self.folder.fold_into(doc.text(), &mut folded);
            let text = folded.as_bytes();
            for (term, finder) in finders.iter().enumerate() {
                let (mut from, mut line) = (0, 0);
                while let Some(rest) = text.get(from..)
                    && let Some(at) = finder.find(rest)
                {
                    let passed = memchr::memchr_iter(LINE_END, rest.get(..at).unwrap_or_default()).count();
                    line += u32::try_from(passed).unwrap_or(u32::MAX);
                    found.push(Occurrence { place: Place { doc: id, line }, term });
                    // The other occurrences on this line say nothing more.
                    let behind = rest.get(at..).unwrap_or_default();
                    let Some(end) = memchr::memchr(LINE_END, behind) else { break };
                    from += at + end + 1;
                    line += 1;
                }
            }
        }
    }
}

/// A line that contains a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Occurrence {
    pub(super) place: Place,
    /// The term's place in the query.
    pub(super) term: usize,
}

const LINE_END: u8 = b'\n';

/// The end of a word in the buffer. No word contains it, as it is white space.
const WORD_END: u8 = b'\n';

/// Every distinct word, and the lines that have it.
#[derive(Debug, Default)]
struct Words {
    buffer: Vec<u8>,
    /// Where each word starts in the buffer, ascending.
    starts: Vec<u32>,
    postings: Vec<Postings>,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
    scratch: String,
}

/// The lines of one word: LEB128 numbers, for each line the distance from the document before and,
/// within one document, from the line before.
#[derive(Debug, Default)]
struct Postings {
    bytes: Vec<u8>,
    last: Option<Place>,
}

impl Words {
    fn add(&mut self, folder: &mut Folder, word: &str, place: Place) {
        self.scratch.clear();
        folder.fold_into(word, &mut self.scratch);
        let (buffer, starts, folded) = (&self.buffer, &self.starts, self.scratch.as_bytes());
        let hash = self.hasher.hash_one(folded);
        let found = self.numbers.find(hash, |&number| word_at(buffer, starts, number) == folded);
        let number = match found {
            Some(&number) => number,
            None => {
                let number = u32::try_from(starts.len()).unwrap_or(u32::MAX);
                let start = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
                self.buffer.extend_from_slice(folded);
                self.buffer.push(WORD_END);
                self.starts.push(start);
                self.postings.push(Postings::default());
                let (buffer, starts, hasher) = (&self.buffer, &self.starts, &self.hasher);
                self.numbers.insert_unique(hash, number, |&number| hasher.hash_one(word_at(buffer, starts, number)));
                number
            }
        };
        if let Some(postings) = self.postings.get_mut(number as usize) {
            postings.push(place);
        }
    }

    /// The words that contain the term.
    fn containing(&self, term: &str) -> Vec<u32> {
        let mut words = Vec::new();
        find_entries(&self.buffer, term, |at| {
            let word = self.starts.partition_point(|&start| start as usize <= at).saturating_sub(1);
            words.push(u32::try_from(word).unwrap_or(u32::MAX));
            self.starts.get(word + 1).map_or(self.buffer.len(), |&next| next as usize)
        });
        words
    }

    fn places(&self, word: u32, mut visit: impl FnMut(Place)) {
        let Some(postings) = self.postings.get(word as usize) else { return };
        let mut bytes = postings.bytes.as_slice();
        let mut place = Place { doc: 0, line: 0 };
        while !bytes.is_empty() {
            let documents = read_number(&mut bytes);
            let lines = read_number(&mut bytes);
            place = if documents == 0 {
                Place { doc: place.doc, line: place.line.wrapping_add(lines) }
            } else {
                Place { doc: place.doc.wrapping_add(documents), line: lines }
            };
            visit(place);
        }
    }
}

impl Postings {
    fn push(&mut self, place: Place) {
        if self.last == Some(place) {
            return;
        }
        let last = self.last.unwrap_or(Place { doc: 0, line: 0 });
        let documents = place.doc - last.doc;
        let lines = if documents == 0 { place.line - last.line } else { place.line };
        write_number(&mut self.bytes, documents);
        write_number(&mut self.bytes, lines);
        self.last = Some(place);
    }
}

/// Finds `term` in a buffer of entries; `found` is told where, and gives where the next entry starts.
fn find_entries(buffer: &[u8], term: &str, mut found: impl FnMut(usize) -> usize) {
    let finder = memmem::Finder::new(term.as_bytes());
    let mut from = 0;
    while let Some(at) = buffer.get(from..).and_then(|rest| finder.find(rest)) {
        from = found(from + at);
    }
}

fn word_at<'a>(buffer: &'a [u8], starts: &[u32], number: u32) -> &'a [u8] {
    let start = starts.get(number as usize).map_or(0, |&start| start as usize);
    let end = starts.get(number as usize + 1).map_or(buffer.len(), |&next| next as usize);
    buffer.get(start..end.saturating_sub(1)).unwrap_or_default()
}

fn write_number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push((number as u8 & 0x7f) | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read_number(bytes: &mut &[u8]) -> u32 {
    let mut number = 0;
    let mut shift = 0;
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= u32::from(byte & 0x7f).wrapping_shl(shift);
        if byte < 0x80 {
            break;
        }
        shift += 7;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Version;
    use crate::search::files::Document;
    use crate::store::RelPath;
    use alloc::string::ToString;
    use proptest::prelude::*;

    /// Files and their index.
    #[derive(Default)]
    struct Indexed(Files, LiteralIndex);

    impl Indexed {
        fn insert(&mut self, path: &str, text: &str) {
            let path = RelPath::parse(path).expect("valid");
            let version = Version(text.len().to_string());
            self.0.insert(Document::new(path, version, 0, Some(text.to_string())));
        }
    }

    fn index(files: &[(&str, &str)]) -> Indexed {
        let mut index = Indexed::default();
        for (path, text) in files {
            index.insert(path, text);
        }
        index
    }

    /// The lines that a scan finds, which are those that the index finds.
    fn lines(index: &mut Indexed, term: &str) -> Vec<(String, u32)> {
        let scanned = lines_once(index, term);
        let indexed = lines_once(index, term);
        assert_eq!(index.1.indexed, index.0.next_id());
        assert_eq!(scanned, indexed);
        indexed
    }

    fn lines_once(index: &mut Indexed, term: &str) -> Vec<(String, u32)> {
        let Indexed(files, index) = index;
        let terms = index.fold_terms(&[term.to_string()]);
        let found = index.occurrences(files, &terms);
        found.iter().filter_map(|o| Some((files.doc(o.place.doc)?.path.to_string(), o.place.line))).collect()
    }

    #[test]
    fn a_term_matches_within_words_and_once_a_line() {
        let mut index = index(&[("a", "reporting port\nnothing\nPort"), ("b", "x")]);
        assert_eq!(lines(&mut index, "port"), [("a".to_string(), 0), ("a".to_string(), 2)]);
        assert!(lines(&mut index, "xx").is_empty());
    }

    #[test]
    fn a_changed_file_leaves_nothing_behind() {
        let mut index = index(&[("a", "old"), ("b", "old")]);
        index.insert("a", "new");
        assert_eq!(lines(&mut index, "old"), [("b".to_string(), 0)]);
        assert_eq!(lines(&mut index, "new"), [("a".to_string(), 0)]);
        index.0.remove(&RelPath::parse("b").expect("valid"));
        assert!(lines(&mut index, "old").is_empty());
    }

    #[test]
    fn compaction_changes_no_answer() {
        let mut index = index(&[("a", "keep me")]);
        let big = "filler ".repeat(200_000);
        for _ in 0..3 {
            index.insert("b", &big);
        }
        let Indexed(files, literal) = &mut index;
        literal.settle(files);
        assert_eq!(files.dead_bytes(), 0);
        assert_eq!(lines(&mut index, "keep"), [("a".to_string(), 0)]);
        assert_eq!(lines(&mut index, "ille").len(), 1);
    }

    proptest! {
        /// The model is the original's rule: every line against the term's case-insensitive regex.
        #[test]
        fn the_index_gives_the_lines_that_scanning_gives(
            texts in prop::collection::vec("[aAbBkK\u{212a}σςΣß \t\r\n.*é]{0,60}", 1..6),
            term in "[aAbBkKσΣß.*é]{1,3}",
        ) {
            let files: Vec<(String, String)> =
                texts.into_iter().enumerate().map(|(i, text)| (alloc::format!("f{i}"), text)).collect();
            let borrowed: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
            let regex = regex::RegexBuilder::new(&regex::escape(&term)).case_insensitive(true).build().expect("valid");
            let expected: Vec<(String, u32)> = files
                .iter()
                .flat_map(|(path, text)| text.lines().enumerate().map(move |(i, line)| (path.clone(), i as u32, line)))
                .filter(|(_, _, line)| regex.is_match(line))
                .map(|(path, i, _)| (path, i))
                .collect();
            prop_assert_eq!(lines(&mut index(&borrowed), &term), expected);
        }
    }
}
