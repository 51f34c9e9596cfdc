//! [`LiteralIndex`]: the lines that contain a word which contains a term.
//!
//! A term has no white space, so every occurrence is inside of one word of one line. The index therefore keeps every
//! distinct word once, folded, in one buffer, and for each word its lines. A search scans the buffer of words instead
//! of the documents. It returns exactly the lines that scanning every document returns, in time that grows with the
//! vocabulary and the matches.
//!
//! Indexing costs more than one scan. So the first search scans every document, and only the second one indexes the
//! words; later searches scan only documents that changed since.

use core::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use memchr::memmem;

use super::fold::Folder;
use saddlebag_collections::prelude::*;
use saddlebag_collections::{SlicePart, order};

/// Number of a document. Numbers only grow, and a changed document gets a new one.
pub type TextId = u32;

/// Documents to search. The caller keeps them; an index is always used with the same ones.
pub trait Texts {
    /// Returns the number of the next document.
    fn next_id(&self) -> TextId;

    /// Returns the document with this number; `None` if it is gone.
    fn text(&self, id: TextId) -> Option<&str>;

    /// Returns true if searches cover the document with this number.
    fn is_searched(&self, id: TextId) -> bool;

    /// Returns the properties that rank a document besides its terms.
    fn rank(&self, id: TextId) -> Rank;
}

/// Properties that rank a document besides its terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rank {
    /// True if the document comes before all documents without this flag.
    pub comes_first: bool,
    /// Day of the document, as a number that increases with time. Among documents with equally many matching lines, the
    /// later one comes first.
    pub day: Option<u32>,
    /// Position among all documents, which decides between otherwise equal documents.
    pub order: u32,
}

/// Position of an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) text: TextId,
    /// Line, counted from 0.
    pub(super) line: u32,
}

/// An index of the names and words of [`Texts`].
#[derive(Debug, Default)]
pub struct LiteralIndex {
    /// Lower bound of the numbers that are not in `words`; these documents are scanned.
    indexed: TextId,
    searches: u64,
    words: Words,
    folder: Folder,
    names: Names,
    /// Length of the extension that every name has, in bytes.
    suffix_bytes: usize,
}

/// Names, folded, in one buffer.
#[derive(Debug, Default)]
struct Names {
    buffer: String,
    /// Start of each name, and its document.
    starts: Vec<(u32, TextId)>,
}

/// Size of removed documents that justifies a rebuild, in bytes, whatever the size of the index.
const MIN_DEAD_BYTES: u64 = 1 << 20;

impl LiteralIndex {
    /// Creates an empty index. `suffix` is the extension that every name has.
    pub fn new(suffix: &str) -> Self {
        Self { suffix_bytes: suffix.len(), ..Self::default() }
    }

    /// Drops the words if most of them belong to removed or changed documents. Returns true if so; the caller then
    /// counts removed documents from 0 again.
    ///
    /// `live_bytes` is the size of the documents, `dead_bytes` the size of the removed ones.
    pub fn pack(&mut self, live_bytes: u64, dead_bytes: u64) -> bool {
        let is_due = dead_bytes >= MIN_DEAD_BYTES.max(live_bytes);
        if is_due {
            *self = Self { searches: self.searches, suffix_bytes: self.suffix_bytes, ..Self::default() };
        }
        is_due
    }

    /// Drops the names. They must all be added again after documents were added or removed.
    pub fn forget_names(&mut self) {
        self.names = Names::default();
    }

    /// Returns true if there are names.
    pub fn has_names(&self) -> bool {
        !self.names.starts.is_empty()
    }

    /// Adds the name of a document. The names of all searched documents must be added before a search.
    pub fn add_name(&mut self, id: TextId, name: &str) {
        let Names { buffer, starts } = &mut self.names;
        starts.push((u32::try_from(buffer.len()).unwrap_or(u32::MAX), id));
        self.folder.fold_into(name, buffer);
        buffer.push(char::from(WORD_END));
    }

    /// Returns the documents whose names contain the folded term. All names have the same extension, so a match must
    /// begin before it: `md` matches no file, `auth.md` does.
    pub(super) fn named(&self, folded_term: &str) -> Vec<TextId> {
        let Names { buffer, starts } = &self.names;
        let mut found = Vec::new();
        find_entries(buffer.as_bytes(), folded_term, |at| {
            let entry = starts.partition_point(|&(start, _)| start as usize <= at).saturating_sub(1);
            let end = starts.get(entry + 1).map_or(buffer.len(), |&(next, _)| next as usize);
            match starts.get(entry) {
                Some(&(_, text)) if at + 1 + self.suffix_bytes < end => found.push(text),
                _ => {}
            }
            end
        });
        found
    }

    /// Returns every line that contains one of the terms, once per term: sorted by document, line and the term's
    /// position in the query.
    pub(super) fn occurrences(&mut self, texts: &impl Texts, folded_terms: &[String]) -> Vec<Occurrence> {
        if self.searches > 0 {
            self.index_words(texts);
        }
        self.searches += 1;
        let mut found = Vec::new();
        for (term, folded) in folded_terms.iter().enumerate() {
            for word in self.words.containing(folded) {
                self.words.places(word, |place| {
                    if texts.text(place.text).is_some() && texts.is_searched(place.text) {
                        found.push(Occurrence { place, term });
                    }
                });
            }
        }
        self.scan(texts, folded_terms, &mut found);
        if !found.is_sorted() {
            found = sorted(&found);
        }
        found.dedup();
        found
    }

    /// Folds the terms of a query like the documents.
    pub(super) fn fold_terms(&mut self, terms: &[String]) -> Vec<String> {
        terms.iter().map(|term| self.folder.folded(term)).collect()
    }

    /// Adds the words of new documents to the index.
    fn index_words(&mut self, texts: &impl Texts) {
        let Self { words, folder, indexed, .. } = self;
        for id in *indexed..texts.next_id() {
            let Some(text) = texts.text(id) else { continue };
            for (number, line) in text.lines().enumerate() {
                let number = u32::try_from(number).unwrap_or(u32::MAX);
                for word in line.split_whitespace() {
                    words.add(folder, word, Place { text: id, line: number });
                }
            }
        }
        *indexed = texts.next_id();
    }

    /// Finds the terms in the documents whose words are not in the index.
    fn scan(&mut self, texts: &impl Texts, folded_terms: &[String], found: &mut Vec<Occurrence>) {
        let finders: Vec<memmem::Finder<'_>> =
            folded_terms.iter().map(|term| memmem::Finder::new(term.as_bytes())).collect();
        let mut folded = String::new();
        for id in (self.indexed..texts.next_id()).filter(|&id| texts.is_searched(id)) {
            let Some(text) = texts.text(id) else { continue };
            folded.clear();
            self.folder.fold_into(text, &mut folded);
            let text = folded.as_bytes();
            for (term, finder) in finders.iter().enumerate() {
                let (mut from, mut line) = (0, 0);
                while let Some(rest) = text.get(from..)
                    && let Some(at) = finder.find(rest)
                {
                    let passed = memchr::memchr_iter(LINE_END, rest.part(..at)).count();
                    line += u32::try_from(passed).unwrap_or(u32::MAX);
                    found.push(Occurrence { place: Place { text: id, line }, term });
                    // Further occurrences on this line add nothing.
                    let after = rest.part(at..);
                    let Some(end) = memchr::memchr(LINE_END, after) else { break };
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
    /// Position of the term in the query.
    pub(super) term: usize,
}

/// Sorts by document, line and term: all by document, then the lines of each document.
fn sorted(found: &[Occurrence]) -> Vec<Occurrence> {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let (mut lines, mut spare) = (Vec::new(), Vec::new());
    let mut texts: Vec<u64> = (0..).zip(found).map(|(at, one)| order::pair(one.place.text, at)).collect();
    order::sort(&mut texts, &mut spare);
    let mut sorted = Vec::with_capacity(found.len());
    for of_text in texts.chunk_by(|a, b| a >> 32 == b >> 32) {
        let found = of_text.iter().filter_map(|at| found.get(*at as u32 as usize));
        lines.clear();
        lines.extend(found.map(|one| order::pair(one.place.line, number(one.term))));
        order::sort(&mut lines, &mut spare);
        let text = of_text.first().map_or(0, |first| (first >> 32) as u32);
        let occurrence =
            |line: &u64| Occurrence { place: Place { text, line: (line >> 32) as u32 }, term: *line as u32 as usize };
        sorted.extend(lines.iter().map(occurrence));
    }
    sorted
}

const LINE_END: u8 = b'\n';

/// End of a word in the buffer. It is white space, so no word contains it.
const WORD_END: u8 = b'\n';

/// Distinct words, and the lines of each.
#[derive(Debug, Default)]
struct Words {
    buffer: Vec<u8>,
    /// Start of each word in the buffer, ascending.
    starts: Vec<u32>,
    postings: Vec<Postings>,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
    scratch: String,
}

/// Lines of one word as LEB128 numbers: for each line the distance from the previous document and, within one document,
/// from the previous line.
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

    /// Returns the words that contain the term.
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
        let mut place = Place { text: 0, line: 0 };
        while !bytes.is_empty() {
            let texts = read_number(&mut bytes);
            let lines = read_number(&mut bytes);
            place = if texts == 0 {
                Place { text: place.text, line: place.line.wrapping_add(lines) }
            } else {
                Place { text: place.text.wrapping_add(texts), line: lines }
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
        let last = self.last.unwrap_or(Place { text: 0, line: 0 });
        let texts = place.text - last.text;
        let lines = if texts == 0 { place.line - last.line } else { place.line };
        write_number(&mut self.bytes, texts);
        write_number(&mut self.bytes, lines);
        self.last = Some(place);
    }
}

/// Finds `term` in a buffer of entries. `found` gets the position, and returns the start of the next entry.
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
    buffer.part(start..end.saturating_sub(1))
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
    use proptest::prelude::*;

    /// Documents, each with a name, and their index.
    #[derive(Default)]
    struct Indexed(Named, LiteralIndex);

    #[derive(Default)]
    struct Named {
        texts: Vec<Option<(String, String)>>,
        dead_bytes: u64,
    }

    impl Named {
        fn remove(&mut self, name: &str) {
            for text in self.texts.iter_mut().filter(|text| text.as_ref().is_some_and(|text| text.0 == name)) {
                self.dead_bytes += text.take().map_or(0, |(_, text)| text.len() as u64);
            }
        }

        fn live_bytes(&self) -> u64 {
            self.texts.iter().flatten().map(|(_, text)| text.len() as u64).sum()
        }
    }

    impl Texts for Named {
        fn next_id(&self) -> TextId {
            TextId::try_from(self.texts.len()).expect("few")
        }

        fn text(&self, id: TextId) -> Option<&str> {
            self.texts.get(id as usize)?.as_ref().map(|(_, text)| text.as_str())
        }

        fn is_searched(&self, _: TextId) -> bool {
            true
        }

        fn rank(&self, id: TextId) -> Rank {
            Rank { order: id, ..Rank::default() }
        }
    }

    impl Indexed {
        fn insert(&mut self, name: &str, text: &str) {
            self.0.remove(name);
            self.0.texts.push(Some((name.to_string(), text.to_string())));
        }
    }

    fn index(texts: &[(&str, &str)]) -> Indexed {
        let mut index = Indexed::default();
        for (name, text) in texts {
            index.insert(name, text);
        }
        index
    }

    /// Returns the lines that a scan finds, and checks that the index finds the same.
    fn lines(index: &mut Indexed, term: &str) -> Vec<(String, u32)> {
        let scanned = lines_once(index, term);
        let indexed = lines_once(index, term);
        assert_eq!(index.1.indexed, index.0.next_id());
        assert_eq!(scanned, indexed);
        indexed
    }

    fn lines_once(index: &mut Indexed, term: &str) -> Vec<(String, u32)> {
        let Indexed(named, index) = index;
        let terms = index.fold_terms(&[term.to_string()]);
        let found = index.occurrences(named, &terms);
        let name = |id: TextId| Some(named.texts[id as usize].as_ref()?.0.clone());
        found.iter().filter_map(|o| Some((name(o.place.text)?, o.place.line))).collect()
    }

    #[test]
    fn a_term_matches_within_words_and_once_a_line() {
        let mut index = index(&[("a", "reporting port\nnothing\nPort"), ("b", "x")]);
        assert_eq!(lines(&mut index, "port"), [("a".to_string(), 0), ("a".to_string(), 2)]);
        assert!(lines(&mut index, "xx").is_empty());
    }

    #[test]
    fn a_changed_file_leaves_no_old_words() {
        let mut index = index(&[("a", "old"), ("b", "old")]);
        index.insert("a", "new");
        assert_eq!(lines(&mut index, "old"), [("b".to_string(), 0)]);
        assert_eq!(lines(&mut index, "new"), [("a".to_string(), 0)]);
        index.0.remove("b");
        assert!(lines(&mut index, "old").is_empty());
    }

    #[test]
    fn a_name_matches_before_its_extension() {
        let mut index = LiteralIndex::new(".md");
        index.add_name(3, "auth.md");
        index.add_name(7, "Admd.md");
        assert!(index.has_names());
        assert_eq!(index.named("md"), [7]);
        assert_eq!(index.named("a"), [3, 7]);
        assert_eq!(index.named("h.m"), [3]);
        index.forget_names();
        assert_eq!(index.named("a"), [0; 0]);
    }

    #[test]
    fn compaction_changes_no_answer() {
        let mut index = index(&[("a", "keep me")]);
        let big = "filler ".repeat(200_000);
        for _ in 0..3 {
            index.insert("b", &big);
        }
        lines(&mut index, "keep");
        let Indexed(named, literal) = &mut index;
        assert!(!literal.pack(named.live_bytes(), named.live_bytes() - 1));
        assert!(literal.pack(named.live_bytes(), named.dead_bytes));
        assert_eq!(literal.indexed, 0);
        assert_eq!(lines(&mut index, "keep"), [("a".to_string(), 0)]);
        assert_eq!(lines(&mut index, "ille").len(), 1);
    }

    proptest! {
        /// The word index of literal search changes no answer.
        ///
        /// The model is the original's rule: every line is matched with the term's case-insensitive regex.
        #[test]
        fn the_index_gives_the_lines_that_scanning_gives(
            texts in prop::collection::vec("[aAbBkK\u{212a}σςΣß \t\r\n.*é]{0,60}", 1..6),
            term in "[aAbBkKσΣß.*é]{1,3}",
        ) {
            let files: Vec<(String, String)> =
                texts.into_iter().enumerate().map(|(i, text)| (format!("f{i}"), text)).collect();
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
