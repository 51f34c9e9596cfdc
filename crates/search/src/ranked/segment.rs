//! [`Segment`]: an index as two runs of bytes, used in place.
//!
//! The head has a header of [`HEADER`] numbers, the documents, the terms (sorted by name), the terms by stem and the
//! names of the terms. The body has the postings, of which a search needs only the postings of its terms. All numbers
//! are little-endian. Only the documents are read when it is loaded, so a damaged file may give wrong answers but
//! neither panics nor loops.

use core::ops::Range;

use super::language::Language;
use super::postings::Postings;
use saddlebag_collections::prelude::*;
use saddlebag_collections::{Piece, SparseBytes, order};

/// "SBR2".
const MAGIC: u32 = u32::from_le_bytes(*b"SBR2");
/// Number of numbers in the header: magic, documents, bytes of postings, terms, terms with a stem, bytes of names.
const HEADER: usize = 6;
const WORD: usize = 4;
/// Size of a document: its number, the length of the body and of the other fields, in 16 bits each.
pub(super) const DOC_BYTES: usize = 2 * WORD + 5 * 2;
/// Size of a term: end of its name, end of its postings, number of documents.
const TERM_BYTES: usize = 3 * WORD;
/// Size of a stem: its hash, the term.
const STEM_BYTES: usize = 2 * WORD;
/// Size from which on a part of the body that is being written is closed.
const PART_BYTES: usize = 128 << 10;

/// Terms and postings in a file.
#[derive(Debug, Default)]
pub(super) struct Segment {
    head: Arc<Vec<u8>>,
    body: SparseBytes,
    docs: Range<usize>,
    terms: Range<usize>,
    stems: Range<usize>,
    names: Range<usize>,
    /// Range in the body.
    postings: Range<usize>,
}

impl Segment {
    /// Finds the parts of a segment that [`Writer`] wrote. `None` if they do not fill the ranges in head and body.
    pub(super) fn open(
        (head, range): (Arc<Vec<u8>>, Range<usize>),
        (body, postings): (SparseBytes, Range<usize>),
    ) -> Option<Self> {
        let bytes = head.get(range.clone())?;
        if number(bytes, 0)? != MAGIC {
            return None;
        }
        let mut at = range.start + HEADER * WORD;
        let mut part = |index: usize, size: usize| {
            let length = (number(bytes, index * WORD)? as usize).checked_mul(size)?;
            let start = at;
            at = at.checked_add(length)?;
            Some(start..at)
        };
        let docs = part(1, DOC_BYTES)?;
        let terms = part(3, TERM_BYTES)?;
        let stems = part(4, STEM_BYTES)?;
        let names = part(5, 1)?;
        let is_filled = at == range.end
            && number(bytes, 2 * WORD)? as usize == postings.len()
            && postings.start <= postings.end
            && postings.end <= body.len();
        is_filled.then_some(Self { head, body, docs, terms, stems, names, postings })
    }

    /// Returns the bytes of each document, [`DOC_BYTES`].
    pub(super) fn docs(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.part(&self.docs).chunks_exact(DOC_BYTES)
    }

    pub(super) fn doc_count(&self) -> u32 {
        u32::try_from(self.docs.len() / DOC_BYTES).unwrap_or(u32::MAX)
    }

    pub(super) fn term_count(&self) -> u32 {
        u32::try_from(self.terms.len() / TERM_BYTES).unwrap_or(u32::MAX)
    }

    pub(super) fn posting_bytes(&self) -> usize {
        self.postings.len()
    }

    /// Returns the bytes of the head.
    pub(super) fn head_bytes(&self) -> &[u8] {
        let start = self.docs.start.saturating_sub(HEADER * WORD);
        self.head.get(start..self.names.end).unwrap_or_default()
    }

    /// Returns the bytes of the body; `None` if not all are in memory.
    pub(super) fn body_pieces(&self) -> Option<Vec<Piece>> {
        self.body.pieces(self.postings.clone())
    }

    /// Drops the postings of the terms before this one, as far as nobody else has them.
    pub(super) fn drop_before(&mut self, term: u32) {
        let place = self.postings_range(term).start;
        self.body.drop_before(place);
    }

    /// Replaces the body by the same with other parts in memory.
    pub(super) fn set_body(&mut self, body: SparseBytes) {
        self.body = body;
    }

    pub(super) fn name(&self, term: u32) -> &[u8] {
        self.part(&self.names).get(self.range(term, 0)).unwrap_or_default()
    }

    pub(super) fn postings(&self, term: u32) -> Postings<'_> {
        let bytes = self.body.get(self.postings_range(term));
        debug_assert!(bytes.is_some(), "a broken invariant: the postings of term {term} are not in memory");
        Postings::new(bytes.unwrap_or_default(), 0, self.doc_count())
    }

    /// Returns the range of a term's postings in the body; empty if it would be outside of it.
    pub(super) fn postings_range(&self, term: u32) -> Range<usize> {
        let Range { start, end } = self.range(term, WORD);
        if start <= end && end <= self.postings.len() {
            self.postings.start + start..self.postings.start + end
        } else {
            self.postings.start..self.postings.start
        }
    }

    /// Returns the number of documents with the term, removed ones included.
    pub(super) fn doc_frequency(&self, term: u32) -> u32 {
        number(self.part(&self.terms), term as usize * TERM_BYTES + 2 * WORD).unwrap_or(0)
    }

    pub(super) fn find(&self, name: &[u8]) -> Option<u32> {
        let term = self.lower_bound(name);
        (term < self.term_count() && self.name(term) == name).then_some(term)
    }

    /// Returns the terms with this prefix, in order.
    pub(super) fn starting_with(&self, prefix: &[u8]) -> impl Iterator<Item = u32> {
        (self.lower_bound(prefix)..self.term_count()).take_while(move |&term| self.name(term).starts_with(prefix))
    }

    /// Returns the terms whose stem has this hash.
    pub(super) fn with_stem(&self, hash: u32) -> impl Iterator<Item = u32> {
        let stems = self.part(&self.stems);
        let count = stems.len() / STEM_BYTES;
        let hash_at = move |at: usize| number(stems, at * STEM_BYTES).unwrap_or(u32::MAX);
        let first = partition(count, |at| hash_at(at) < hash);
        let same = (first..count).take_while(move |&at| hash_at(at) == hash);
        same.filter_map(move |at| number(stems, at * STEM_BYTES + WORD))
    }

    fn lower_bound(&self, name: &[u8]) -> u32 {
        let bound = partition(self.term_count() as usize, |term| self.name(u32::try_from(term).unwrap_or(0)) < name);
        u32::try_from(bound).unwrap_or(u32::MAX)
    }

    /// Returns the range that belongs to a term. It ends at the number at `offset` in the term's entry.
    #[inline(never)]
    fn range(&self, term: u32, offset: usize) -> Range<usize> {
        let terms = self.part(&self.terms);
        let end_of = |term: usize| number(terms, term * TERM_BYTES + offset);
        let start = if term == 0 { Some(0) } else { end_of(term as usize - 1) };
        start.zip(end_of(term as usize)).map_or(0..0, |(start, end)| start as usize..end as usize)
    }

    fn part(&self, range: &Range<usize>) -> &[u8] {
        self.head.get(range.clone()).unwrap_or_default()
    }
}

/// Writes a segment: the documents, then the terms in the order of their names.
///
/// The body is made of parts, so that it needs no room twice while it grows. A part ends with a term.
#[derive(Default)]
pub(super) struct Writer {
    head: Vec<u8>,
    body: SparseBytes,
    /// Last part of the body, to which the postings of a term are added.
    pub(super) part: Vec<u8>,
    terms: Vec<u8>,
    names: Vec<u8>,
    /// Hash of the stem, and term.
    stems: Vec<u64>,
    stem: String,
}

impl Writer {
    pub(super) fn new(docs: impl Iterator<Item = [u8; DOC_BYTES]>) -> Self {
        let mut head = vec![0; HEADER * WORD];
        docs.for_each(|doc| head.extend_from_slice(&doc));
        Self { head, ..Self::default() }
    }

    /// Ends a term whose postings were added to the body. A term without postings is left out.
    pub(super) fn end_term(&mut self, name: &[u8], doc_frequency: u32) {
        if doc_frequency == 0 {
            return;
        }
        if Language::form_of(name, &mut self.stem) {
            self.stems.push(order::pair(hash(self.stem.as_bytes()), count(self.terms.len() / TERM_BYTES)));
        }
        self.names.extend_from_slice(name);
        for number in [count(self.names.len()), count(self.body.len() + self.part.len()), doc_frequency] {
            self.terms.extend_from_slice(&number.to_le_bytes());
        }
        if self.part.len() >= PART_BYTES {
            self.end_part();
        }
    }

    fn end_part(&mut self) {
        self.body.push(self.part.as_slice().into());
        self.part.clear();
    }

    pub(super) fn finish(mut self) -> Option<Segment> {
        self.end_part();
        order::sort(&mut self.stems, &mut Vec::new());
        let docs = self.head.len() - HEADER * WORD;
        let (terms, stems) = (self.terms.len() / TERM_BYTES, self.stems.len());
        let header = [docs / DOC_BYTES, self.body.len(), terms, stems, self.names.len()];
        let header = core::iter::once(MAGIC).chain(header.into_iter().map(count));
        for (byte, value) in self.head.iter_mut().zip(header.flat_map(u32::to_le_bytes)) {
            *byte = value;
        }
        self.head.reserve_exact(self.terms.len() + stems * STEM_BYTES + self.names.len());
        self.head.extend_from_slice(&self.terms);
        self.head.extend(self.stems.iter().flat_map(|stem| stem.rotate_left(32).to_le_bytes()));
        self.head.extend_from_slice(&self.names);
        let (head, body) = (0..self.head.len(), 0..self.body.len());
        Segment::open((Arc::new(self.head), head), (self.body, body))
    }
}

/// Computes a hash that is the same on every machine.
pub(super) fn hash(bytes: &[u8]) -> u32 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = bytes.len() as u64;
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        hash = (hash.rotate_left(5) ^ u64::from_le_bytes(*chunk)).wrapping_mul(FACTOR);
    }
    let last = rest.iter().fold(0, |last: u64, &b| last << 8 | u64::from(b));
    hash = (hash.rotate_left(5) ^ last).wrapping_mul(FACTOR);
    ((hash ^ hash >> 29).wrapping_mul(FACTOR) >> 32) as u32
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let number = bytes.get(at..)?.first_chunk::<WORD>()?;
    Some(u32::from_le_bytes(*number))
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Returns the first of `0..count` for which the predicate does not hold.
fn partition(count: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
