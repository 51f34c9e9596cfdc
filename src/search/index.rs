//! [`LiteralIndex`]: which lines of which files hold a word that contains a term.
//!
//! A term has no white space in it, so wherever it occurs, it lies within one word of one line.
//! The index therefore keeps every distinct word once, folded, in one buffer, and for each word the
//! lines that have it. A search scans the buffer of words, not the text: it gives exactly the lines
//! that scanning every file gives, in time that grows with the vocabulary and the matches.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use memchr::memmem;

use super::fold::Folder;
use crate::protocol::Version;
use crate::store::{NOTE_SUFFIX, RelPath};

/// Numbers the files that the index has seen; a changed file gets a new number.
pub(super) type DocId = u32;

/// Where a term occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) doc: DocId,
    /// Counted from 0.
    pub(super) line: u32,
}

/// The text of a set of files, and an index of its words.
#[derive(Debug, Default)]
pub(super) struct LiteralIndex {
    docs: Vec<Option<Document>>,
    by_path: BTreeMap<RelPath, DocId>,
    words: Words,
    folder: Folder,
    names: Names,
    live_bytes: u64,
    dead_bytes: u64,
}

/// An indexed file.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) path: RelPath,
    pub(super) version: Version,
    pub(super) text: Box<str>,
    /// Where the file stands when all are sorted by path; valid once the index is settled.
    pub(super) order: u32,
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
    /// Puts a file in, in place of the version that the index had.
    pub(super) fn insert(&mut self, path: RelPath, version: Version, text: String) {
        self.remove(&path);
        let id = DocId::try_from(self.docs.len()).unwrap_or(DocId::MAX);
        for (line, words) in text.lines().enumerate() {
            let line = u32::try_from(line).unwrap_or(u32::MAX);
            for word in words.split_whitespace() {
                self.words.add(&mut self.folder, word, Place { doc: id, line });
            }
        }
        self.live_bytes += text.len() as u64;
        self.by_path.insert(path.clone(), id);
        self.docs.push(Some(Document { path, version, text: text.into_boxed_str(), order: 0 }));
        self.names = Names::default();
    }

    /// Takes a file out.
    pub(super) fn remove(&mut self, path: &RelPath) {
        let Some(id) = self.by_path.remove(path) else { return };
        if let Some(doc) = self.docs.get_mut(id as usize).and_then(Option::take) {
            self.live_bytes -= doc.text.len() as u64;
            self.dead_bytes += doc.text.len() as u64;
        }
        self.names = Names::default();
    }

    /// Makes the index ready to be searched after files came and went.
    pub(super) fn settle(&mut self) {
        if self.dead_bytes >= MIN_DEAD_BYTES.max(self.live_bytes) {
            self.rebuild();
        }
        if !self.names.starts.is_empty() {
            return;
        }
        let mut folded = String::new();
        for (order, (path, &id)) in self.by_path.iter().enumerate() {
            folded.clear();
            self.folder.fold_into(path.file_name(), &mut folded);
            let start = u32::try_from(self.names.buffer.len()).unwrap_or(u32::MAX);
            self.names.starts.push((start, id));
            self.names.buffer.extend_from_slice(folded.as_bytes());
            self.names.buffer.push(WORD_END);
            if let Some(doc) = self.docs.get_mut(id as usize).and_then(Option::as_mut) {
                doc.order = u32::try_from(order).unwrap_or(u32::MAX);
            }
        }
    }

    /// Most of what it holds belongs to files that are gone or changed.
    fn rebuild(&mut self) {
        let old = core::mem::take(self);
        for doc in old.docs.into_iter().flatten() {
            self.insert(doc.path, doc.version, doc.text.into_string());
        }
    }

    /// The version of the file that is indexed.
    pub(super) fn version(&self, path: &RelPath) -> Option<&Version> {
        self.by_path.get(path).and_then(|&id| self.doc(id)).map(|doc| &doc.version)
    }

    /// The files, sorted by path.
    pub(super) fn paths(&self) -> impl Iterator<Item = &RelPath> {
        self.by_path.keys()
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

    /// One file.
    pub(super) fn doc(&self, id: DocId) -> Option<&Document> {
        self.docs.get(id as usize).and_then(Option::as_ref)
    }

    /// How much text is indexed, in bytes.
    pub(super) fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// A term as the index compares it.
    pub(super) fn fold_term(&mut self, term: &str) -> String {
        self.folder.folded(term)
    }

    /// Every line that contains the folded term, sorted and without repetition.
    pub(super) fn places(&self, folded_term: &str) -> Vec<Place> {
        let words = self.words.containing(folded_term);
        let mut places = Vec::new();
        for &word in &words {
            self.words.places(word, |place| {
                if self.doc(place.doc).is_some() {
                    places.push(place);
                }
            });
        }
        if words.len() > 1 {
            places.sort_unstable();
            places.dedup();
        }
        places
    }
}

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
    use alloc::string::ToString;
    use proptest::prelude::*;

    fn index(files: &[(&str, &str)]) -> LiteralIndex {
        let mut index = LiteralIndex::default();
        for (path, text) in files {
            let path = RelPath::parse(*path).expect("valid");
            index.insert(path, Version(text.len().to_string()), (*text).to_string());
        }
        index
    }

    fn lines(index: &mut LiteralIndex, term: &str) -> Vec<(String, u32)> {
        let term = index.fold_term(term);
        let found = index.places(&term);
        found.iter().filter_map(|place| Some((index.doc(place.doc)?.path.to_string(), place.line))).collect()
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
        index.insert(RelPath::parse("a").expect("valid"), Version("2".into()), "new".into());
        assert_eq!(lines(&mut index, "old"), [("b".to_string(), 0)]);
        assert_eq!(lines(&mut index, "new"), [("a".to_string(), 0)]);
        index.remove(&RelPath::parse("b").expect("valid"));
        assert!(lines(&mut index, "old").is_empty());
    }

    #[test]
    fn compaction_changes_no_answer() {
        let mut index = index(&[("a", "keep me")]);
        let big = "filler ".repeat(200_000);
        for version in 0..3 {
            index.insert(RelPath::parse("b").expect("valid"), Version(version.to_string()), big.clone());
        }
        index.settle();
        assert_eq!(index.dead_bytes, 0);
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
