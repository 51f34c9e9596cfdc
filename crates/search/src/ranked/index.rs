//! [`RankedIndex`]: the documents, fields and positions of every word.
//!
//! It has two segments. The loaded or settled part is an immutable [`Segment`], used in the form of the file; the new part is a
//! [`Recent`] one, which grows document by document. A removed document is marked dead: its postings stay, and are skipped,
//! until `settle` merges both segments. Inside, a document is identified by its slot, its position among all documents of the
//! index.

use core::ops::Range;

use hashbrown::{HashMap, HashTable};

use super::language::Language;
use super::postings::{self, Postings};
use super::segment::{DOC_BYTES, Segment, Writer, hash};
use super::tokens::Tokens;
use super::types::{FIELDS, Field};
use saddlebag_collections::prelude::*;
use saddlebag_collections::{Piece, SparseBytes, order};

/// Gap between the positions of two fields, or two headings, larger than any phrase bridges.
const GAP: u32 = 32;
/// Number of bytes of text that are split into words at once.
const PIECE_BYTES: usize = 64 << 10;
/// Maximum length of a field other than the body, in words; longer ones count as this long.
const MAX_FIELD_WORDS: u32 = u16::MAX as u32;
/// Size of new postings in bytes below which settling is not worth it.
const MIN_RECENT_BYTES: usize = 64 << 10;

/// Text of a note.
#[derive(Clone, Debug, Default)]
pub struct Fields<'a> {
    /// See [`Field::Title`].
    pub title: &'a str,
    /// See [`Field::Aliases`].
    pub aliases: Vec<&'a str>,
    /// See [`Field::Headings`]. No phrase crosses from one to the next.
    pub headings: Vec<&'a str>,
    /// See [`Field::Tags`].
    pub tags: Vec<&'a str>,
    /// See [`Field::Path`].
    pub path: &'a str,
    /// See [`Field::Body`].
    pub body: &'a str,
}

/// An index of notes.
#[derive(Debug, Default)]
pub struct RankedIndex {
    base: Segment,
    /// Number of live documents of the base. Without any, the base is dropped.
    base_live: usize,
    /// True if the base was decoded, so that its body may have parts that are not in memory.
    is_decoded: bool,
    recent: Recent,
    docs: Vec<Doc>,
    /// Counts of the live documents.
    counts: Counts,
    scratch: Scratch,
}

/// Counts of documents: all, those that have each field, and the total words of each field.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) docs: u32,
    with_field: [u32; FIELDS],
    words: [u64; FIELDS],
}

/// A document, as ranking sees it.
#[derive(Clone, Debug)]
pub(super) struct Doc {
    pub(super) id: u32,
    pub(super) is_live: bool,
    /// Number of words of each field.
    pub(super) lengths: [u32; FIELDS],
}

/// Documents that were added since the base was made.
#[derive(Debug, Default)]
struct Recent {
    /// Slot of the first document.
    first: u32,
    names: Vec<u8>,
    terms: Vec<Term>,
    by_name: HashTable<u32>,
    /// Last term of each hash of a stem; the others follow by `Term::same_stem`.
    by_stem: HashMap<u32, u32>,
    posting_bytes: usize,
}

#[derive(Debug)]
struct Term {
    name: Range<u32>,
    hash: u32,
    /// Previous term with the same hash of its stem.
    same_stem: Option<u32>,
    doc_frequency: u32,
    /// Slot after the slot of the last posting.
    next_slot: u32,
    postings: Vec<u8>,
}

/// Buffers that are reused for each document.
#[derive(Debug, Default)]
struct Scratch {
    tokens: Tokens,
    /// Term and position of each token, in one number that sorts by both.
    occurrences: Vec<u64>,
    spare: Vec<u64>,
    stem: String,
}

/// A term, in either segment or both.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub(super) name: Box<[u8]>,
    in_base: Option<u32>,
    in_recent: Option<u32>,
}

impl RankedIndex {
    /// Adds a document. Numbers must grow: returns `false`, and does nothing, for a number that is not greater than
    /// all before. A changed document is removed and added under a new number.
    pub fn insert(&mut self, doc: u32, fields: &Fields<'_>) -> bool {
        let is_next = self.docs.last().is_none_or(|last| last.id < doc);
        // The distance between two slots has 30 bits.
        let Some(slot) = u32::try_from(self.docs.len()).ok().filter(|slot| is_next && *slot < 1 << 30) else {
            return false;
        };
        let mut scratch = core::mem::take(&mut self.scratch);
        scratch.occurrences.clear();
        let mut reading = Reading { recent: &mut self.recent, scratch: &mut scratch, position: 0, starts: [0; FIELDS] };
        let lengths = reading.read(fields);
        let starts = reading.starts;
        order::sort(&mut scratch.occurrences, &mut scratch.spare);
        self.recent.add(slot, &scratch.occurrences, &starts);
        self.scratch = scratch;
        let doc = Doc { id: doc, is_live: true, lengths };
        self.counts.add(&doc.lengths);
        self.docs.push(doc);
        true
    }

    /// Removes a document.
    pub fn remove(&mut self, doc: u32) {
        let Ok(slot) = self.docs.binary_search_by_key(&doc, |doc| doc.id) else { return };
        let Some(doc) = self.docs.get_mut(slot).filter(|doc| doc.is_live) else { return };
        doc.is_live = false;
        self.counts.remove(&doc.lengths);
        if slot < self.base.doc_count() as usize {
            self.base_live = self.base_live.saturating_sub(1);
            if self.base_live == 0 {
                (self.base, self.is_decoded) = (Segment::default(), false);
            }
        }
    }

    /// Returns the numbers of the documents, ascending.
    pub fn ids(&self) -> impl Iterator<Item = u32> {
        self.docs.iter().filter(|doc| doc.is_live).map(|doc| doc.id)
    }

    /// Returns the least number that [`insert`](Self::insert) accepts.
    pub fn next_id(&self) -> u32 {
        self.docs.last().map_or(0, |last| last.id.saturating_add(1))
    }

    /// Returns the counts of the documents.
    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Merges both segments if it is due: if most documents are dead, or a large part of the index is new. Spread over
    /// the documents, it costs each its own size.
    pub fn settle(&mut self) {
        let dead = self.docs.len() - self.counts.docs as usize;
        let is_mostly_dead = dead > self.counts.docs as usize;
        // Half of this limit takes a third more time in all, and a third less memory at its peak.
        let is_much_recent = self.recent.posting_bytes > (self.base.posting_bytes() / 2).max(MIN_RECENT_BYTES);
        if is_mostly_dead || is_much_recent {
            self.pack();
        }
    }

    /// Merges both segments, and drops the dead documents. Returns `false`, and does nothing, if the index has documents
    /// of a body of which not everything is in memory.
    pub fn pack(&mut self) -> bool {
        let is_packed = self.counts.docs as usize == self.docs.len()
            && self.recent.terms.is_empty()
            && self.docs.len() == self.base.doc_count() as usize
            && self.counts.docs > 0;
        if is_packed {
            return true;
        }
        let has_room = u32::try_from(self.base.posting_bytes() + 2 * self.recent.posting_bytes).is_ok();
        if !has_room || self.base.body_pieces().is_none() {
            return false;
        }
        let end = self.end();
        // Both are dropped term by term as they are merged, so that no two indexes are in memory at once.
        let (mut base, mut recent) = (core::mem::take(&mut self.base), core::mem::take(&mut self.recent));
        // Slot of each document after the dead ones are removed.
        let slots = self.docs.iter().scan(0, |next, doc| {
            let slot = *next;
            *next += u32::from(doc.is_live);
            Some(doc.is_live.then_some(slot))
        });
        let slots: Vec<Option<u32>> = slots.collect();
        self.docs.retain(|doc| doc.is_live);
        let mut writer = Writer::new(self.docs.iter().map(Doc::encode));
        let mut news = recent.sorted(recent.numbers().collect()).into_iter().peekable();
        let mut old = 0..base.term_count();
        let mut next = old.next();
        loop {
            let is_due = |term: &u32| next.is_none_or(|next| recent.name(*term) <= base.name(next));
            let new = news.next_if(is_due);
            let is_old = new.is_none_or(|new| next.is_some_and(|next| recent.name(new) == base.name(next)));
            let of_base = next.filter(|_| is_old);
            if new.is_none() && of_base.is_none() {
                break;
            }
            encode_term(&mut writer, &slots, of_base.map(|term| (&base, term)), new.map(|term| (&recent, term)), end);
            if let Some(term) = new.and_then(|new| recent.terms.get_mut(new as usize)) {
                term.postings = Vec::new();
            }
            if is_old {
                next = old.next();
                // Others have the body of a file too, and a damaged file may name any place.
                if let Some(next) = next.filter(|_| !self.is_decoded) {
                    base.drop_before(next);
                }
            }
        }
        let packed = writer.finish();
        debug_assert!(packed.is_some(), "a broken invariant: an index that was written cannot be opened");
        (self.base, self.is_decoded) = (packed.unwrap_or_default(), false);
        self.base_live = self.docs.len();
        self.recent.first = self.end();
        true
    }

    /// Returns the head and the body for [`RankedIndex::decode`], after [`pack`](Self::pack); `None` if not all of it is
    /// packed.
    pub fn packed(&self) -> Option<(&[u8], Vec<Piece>)> {
        let is_packed =
            self.docs.len() == self.base.doc_count() as usize && self.counts.docs as usize == self.docs.len();
        Some((self.base.head_bytes(), self.base.body_pieces()?)).filter(|_| is_packed)
    }

    /// Uses the index in ranges of a head and a body, without copying them. `None` if it cannot be one. Damaged bytes
    /// may give wrong answers but nothing worse.
    ///
    /// A search needs only some [ranges](super::Source::needed_ranges) of the body. They can be read later, with
    /// [`set_body`](Self::set_body).
    pub fn decode(head: (Arc<Vec<u8>>, Range<usize>), body: (SparseBytes, Range<usize>)) -> Option<Self> {
        let base = Segment::open(head, body)?;
        let docs: Vec<Doc> = base.docs().map(Doc::decode).collect::<Option<_>>()?;
        if !docs.is_sorted_by(|a, b| a.id < b.id) {
            return None;
        }
        let first = base.doc_count();
        let recent = Recent { first, ..Recent::default() };
        let mut index = Self { base, base_live: docs.len(), is_decoded: true, recent, ..Self::default() };
        docs.iter().for_each(|doc| index.counts.add(&doc.lengths));
        index.docs = docs;
        Some(index)
    }

    /// Replaces the body that the index was decoded from by the same with other parts in memory. Does nothing if the index
    /// was packed since.
    pub fn set_body(&mut self, body: SparseBytes) {
        if self.is_decoded {
            self.base.set_body(body);
        }
    }

    /// Returns the documents by slot, dead ones included.
    pub(super) fn docs(&self) -> &[Doc] {
        &self.docs
    }

    /// Returns the term itself.
    pub(super) fn exact(&self, name: &[u8]) -> Option<Form> {
        let (in_base, in_recent) = (self.base.find(name), self.recent.find(name, hash(name)));
        (in_base.is_some() || in_recent.is_some()).then(|| Form { name: name.into(), in_base, in_recent })
    }

    /// Returns all forms of a term, by name.
    pub(super) fn forms(&self, name: &[u8]) -> Vec<Form> {
        let (mut stem, mut other) = (String::new(), String::new());
        if !Language::form_of(name, &mut stem) {
            return self.exact(name).into_iter().collect();
        }
        let mut has_stem = |name: &[u8]| Language::form_of(name, &mut other) && stem == other;
        let hash = hash(stem.as_bytes());
        let base: Vec<u32> = self.base.with_stem(hash).filter(|term| has_stem(self.base.name(*term))).collect();
        let recent = self.recent.with_stem(hash).filter(|term| has_stem(self.recent.name(*term))).collect();
        self.unite(base, self.recent.sorted(recent))
    }

    /// Returns the terms with this prefix, by name; at most `limit` of each segment.
    pub(super) fn starting_with(&self, prefix: &[u8], limit: usize) -> Vec<Form> {
        let base = self.base.starting_with(prefix).take(limit).collect();
        let recent = self.recent.numbers().filter(|term| self.recent.name(*term).starts_with(prefix)).collect();
        let mut recent = self.recent.sorted(recent);
        recent.truncate(limit);
        self.unite(base, recent)
    }

    /// Returns the terms that fulfil a condition, by name. Looks at all of them.
    pub(super) fn terms_that(&self, is_wanted: &dyn Fn(&[u8]) -> bool) -> Vec<Form> {
        let base = (0..self.base.term_count()).filter(|term| is_wanted(self.base.name(*term))).collect();
        let recent = self.recent.numbers().filter(|term| is_wanted(self.recent.name(*term))).collect();
        self.unite(base, self.recent.sorted(recent))
    }

    /// Merges terms of both segments, each sorted by name.
    fn unite(&self, base: Vec<u32>, recent: Vec<u32>) -> Vec<Form> {
        let mut forms = Vec::with_capacity(base.len() + recent.len());
        let mut recent = recent.into_iter().peekable();
        for term in base {
            let name = self.base.name(term);
            while let Some(earlier) = recent.next_if(|earlier| self.recent.name(*earlier) < name) {
                forms.push(Form { name: self.recent.name(earlier).into(), in_base: None, in_recent: Some(earlier) });
            }
            let in_recent = recent.next_if(|same| self.recent.name(*same) == name);
            forms.push(Form { name: name.into(), in_base: Some(term), in_recent });
        }
        for term in recent {
            forms.push(Form { name: self.recent.name(term).into(), in_base: None, in_recent: Some(term) });
        }
        forms
    }

    /// Returns the postings of a term in both segments, in the order of the slots.
    pub(super) fn postings(&self, form: &Form) -> [Postings<'_>; 2] {
        let base = form.in_base.map(|term| self.base.postings(term)).unwrap_or_default();
        [base, form.in_recent.map(|term| self.recent.postings(term, self.end())).unwrap_or_default()]
    }

    /// Returns the range of a term's postings in the body that the index was decoded from; `None` if they are not of it.
    pub(super) fn range_in_body(&self, form: &Form) -> Option<Range<usize>> {
        form.in_base.filter(|_| self.is_decoded).map(|term| self.base.postings_range(term))
    }

    /// Returns the number of documents with the term, dead ones included.
    pub(super) fn rough_doc_frequency(&self, form: &Form) -> u32 {
        let base = form.in_base.map_or(0, |term| self.base.doc_frequency(term));
        let recent = form.in_recent.and_then(|term| self.recent.terms.get(term as usize));
        base.saturating_add(recent.map_or(0, |term| term.doc_frequency))
    }

    /// Returns one more than the last slot.
    fn end(&self) -> u32 {
        u32::try_from(self.docs.len()).unwrap_or(u32::MAX)
    }
}

impl Counts {
    /// Counts a document that has fields of these lengths.
    pub(super) fn add(&mut self, lengths: &[u32; FIELDS]) {
        self.docs = self.docs.saturating_add(1);
        for ((length, words), docs) in lengths.iter().zip(&mut self.words).zip(&mut self.with_field) {
            *docs = docs.saturating_add(u32::from(*length > 0));
            *words = words.saturating_add(u64::from(*length));
        }
    }

    fn remove(&mut self, lengths: &[u32; FIELDS]) {
        self.docs = self.docs.saturating_sub(1);
        for ((length, words), docs) in lengths.iter().zip(&mut self.words).zip(&mut self.with_field) {
            *docs = docs.saturating_sub(u32::from(*length > 0));
            *words = words.saturating_sub(u64::from(*length));
        }
    }

    /// Returns the sum of counts.
    pub(super) fn sum<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        all.fold(Self::default(), |mut sum, one| {
            sum.docs = sum.docs.saturating_add(one.docs);
            sum.with_field.iter_mut().zip(one.with_field).for_each(|(sum, docs)| *sum = sum.saturating_add(docs));
            sum.words.iter_mut().zip(one.words).for_each(|(sum, words)| *sum = sum.saturating_add(words));
            sum
        })
    }

    /// Returns the mean number of words of a field, over the documents that have it.
    pub(super) fn mean_length(&self, field: Field) -> f32 {
        match (self.with_field.get(field as usize), self.words.get(field as usize)) {
            (Some(&docs), Some(&words)) if docs > 0 => (words as f64 / f64::from(docs)) as f32,
            _ => 1.0,
        }
    }
}

/// Writes a term of either segment or both.
fn encode_term(
    writer: &mut Writer,
    slots: &[Option<u32>],
    base: Option<(&Segment, u32)>,
    recent: Option<(&Recent, u32)>,
    end: u32,
) {
    let (mut next, mut doc_frequency) = (0, 0);
    let of_base = base.map(|(base, term)| base.postings(term));
    let of_recent = recent.map(|(recent, term)| recent.postings(term, end));
    for mut postings in of_base.into_iter().chain(of_recent) {
        while let Some((posting, shape, raw)) = postings.next_raw() {
            if let Some(slot) = slots.get(posting.slot as usize).copied().flatten() {
                postings::push_raw(&mut writer.part, slot - next, shape, raw);
                next = slot + 1;
                doc_frequency += 1;
            }
        }
    }
    let name = base.map(|(base, term)| base.name(term)).or_else(|| recent.map(|(recent, term)| recent.name(term)));
    debug_assert!(name.is_some(), "a broken invariant: a term of neither part of the index");
    writer.end_term(name.unwrap_or_default(), doc_frequency);
}

impl Doc {
    fn encode(&self) -> [u8; DOC_BYTES] {
        let mut bytes = [0; DOC_BYTES];
        let [fields @ .., body] = self.lengths;
        let numbers = [self.id, body].into_iter().flat_map(u32::to_le_bytes);
        let lengths = fields.into_iter().flat_map(|length| u16::try_from(length).unwrap_or(u16::MAX).to_le_bytes());
        for (byte, value) in bytes.iter_mut().zip(numbers.chain(lengths)) {
            *byte = value;
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (id, rest) = bytes.split_first_chunk()?;
        let (body, rest) = rest.split_first_chunk()?;
        let mut lengths = [0; FIELDS];
        for (length, bytes) in lengths.iter_mut().zip(rest.as_chunks().0) {
            *length = u32::from(u16::from_le_bytes(*bytes));
        }
        lengths[Field::Body as usize] = u32::from_le_bytes(*body);
        Some(Self { id: u32::from_le_bytes(*id), is_live: true, lengths })
    }
}

impl Recent {
    fn name(&self, term: u32) -> &[u8] {
        self.terms.get(term as usize).map_or(&[], |term| name_of(&self.names, term))
    }

    fn postings(&self, term: u32, end: u32) -> Postings<'_> {
        let term = self.terms.get(term as usize);
        term.map(|term| Postings::new(&term.postings, self.first, end)).unwrap_or_default()
    }

    fn find(&self, name: &[u8], hash: u32) -> Option<u32> {
        let Self { names, terms, by_name, .. } = self;
        let is_same = |term: &u32| {
            terms.get(*term as usize).is_some_and(|term| term.hash == hash && name_of(names, term) == name)
        };
        by_name.find(spread(hash), is_same).copied()
    }

    fn with_stem(&self, hash: u32) -> impl Iterator<Item = u32> {
        let last = self.by_stem.get(&hash).copied();
        core::iter::successors(last, |term| self.terms.get(*term as usize)?.same_stem)
    }

    fn numbers(&self) -> impl Iterator<Item = u32> {
        0..u32::try_from(self.terms.len()).unwrap_or(u32::MAX)
    }

    /// Sorts terms by name.
    fn sorted(&self, mut terms: Vec<u32>) -> Vec<u32> {
        order::sort_by(&mut terms, &|a, b| self.name(a) < self.name(b));
        terms
    }

    /// Returns the number of a term, and adds it if it is new. `None` if there is no room.
    fn intern(&mut self, name: &[u8], stem: &mut String) -> Option<u32> {
        let hash_of_name = hash(name);
        if let Some(term) = self.find(name, hash_of_name) {
            return Some(term);
        }
        let start = u32::try_from(self.names.len()).ok()?;
        let end = u32::try_from(self.names.len() + name.len()).ok()?;
        let term = u32::try_from(self.terms.len()).ok()?;
        self.names.extend_from_slice(name);
        let mut same_stem = None;
        if Language::form_of(name, stem) {
            same_stem = self.by_stem.insert(hash(stem.as_bytes()), term);
        }
        self.terms.push(Term {
            name: start..end,
            hash: hash_of_name,
            same_stem,
            doc_frequency: 0,
            next_slot: self.first,
            postings: Vec::new(),
        });
        let terms = &self.terms;
        let hash_of = |term: &u32| spread(terms.get(*term as usize).map_or(0, |term| term.hash));
        self.by_name.insert_unique(spread(hash_of_name), term, hash_of);
        Some(term)
    }

    /// Adds the postings of a document, whose occurrences are sorted. `starts` has the first position of each field.
    fn add(&mut self, slot: u32, occurrences: &[u64], starts: &[u32; FIELDS]) {
        for same in occurrences.chunk_by(|a, b| a >> 32 == b >> 32) {
            let number = same.first().map_or(0, |first| first >> 32);
            let Some(term) = usize::try_from(number).ok().and_then(|term| self.terms.get_mut(term)) else { continue };
            let positions = same.iter().map(|occurrence| *occurrence as u32);
            let mut counts = [0; FIELDS];
            for position in positions.clone() {
                let field = starts.iter().rposition(|&start| start <= position);
                debug_assert!(field.is_some(), "a broken invariant: position {position} is before every field");
                let field = field.unwrap_or(0);
                if let Some(count) = counts.get_mut(field) {
                    *count += 1;
                }
            }
            let before = term.postings.len();
            postings::push(&mut term.postings, slot.saturating_sub(term.next_slot), &counts, positions);
            self.posting_bytes += term.postings.len() - before;
            term.next_slot = slot + 1;
            term.doc_frequency += 1;
        }
    }
}

/// A document that is being split into words.
struct Reading<'a> {
    recent: &'a mut Recent,
    scratch: &'a mut Scratch,
    position: u32,
    starts: [u32; FIELDS],
}

impl Reading<'_> {
    /// Records the words of all fields. Returns the number of words of each.
    fn read(&mut self, fields: &Fields<'_>) -> [u32; FIELDS] {
        let Fields { title, aliases, headings, tags, path, body } = fields;
        let texts: [&[&str]; FIELDS] = [&[title], aliases, headings, tags, &[path], &[body]];
        let mut lengths = [0; FIELDS];
        for (field, (texts, length)) in texts.into_iter().zip(&mut lengths).enumerate() {
            if let Some(start) = self.starts.get_mut(field) {
                *start = self.position;
            }
            let longest = if field == Field::Body as usize { u32::MAX } else { MAX_FIELD_WORDS };
            for text in texts {
                *length = self.words(text).saturating_add(*length).min(longest);
                self.position = self.position.saturating_add(GAP);
            }
        }
        lengths
    }

    fn words(&mut self, text: &str) -> u32 {
        let before = self.position;
        let Scratch { tokens, occurrences, stem, .. } = &mut *self.scratch;
        for piece in pieces(text) {
            self.position = tokens.read(piece, self.position);
            for token in tokens.iter() {
                if let Some(term) = self.recent.intern(token.text, stem) {
                    occurrences.push(order::pair(term, token.position));
                }
            }
        }
        self.position - before
    }
}

/// Splits a long text between its lines, so that its words take little memory at a time.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    core::iter::from_fn(move || {
        let rest_bytes = rest.as_bytes();
        let cut = if rest.len() <= PIECE_BYTES {
            rest.len()
        } else {
            memchr::memchr(b'\n', rest_bytes.get(PIECE_BYTES..)?).map_or(rest.len(), |at| PIECE_BYTES + at + 1)
        };
        let (piece, after) = rest.split_at_checked(cut)?;
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

fn name_of<'a>(names: &'a [u8], term: &Term) -> &'a [u8] {
    let name = names.get(term.name.start as usize..term.name.end as usize);
    debug_assert!(name.is_some(), "a broken invariant: the name {:?} is not among the names", term.name);
    name.unwrap_or_default()
}

/// Spreads a hash to 64 bits, because the table of terms uses both ends of it.
fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}
