//! [`Files`]: records of all files of a scope.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::{Bound, Range};

use saddlebag_collections::SparseBytes;
use saddlebag_search::literal::{self, LiteralIndex, TextId, Texts};

use super::schemes::ContentHash;
use crate::document::Note;
use crate::protocol::Version;
use crate::store::{DAILY_FOLDER, Date, LONG_TERM_FILE, RelPath, is_name};
use crate::trust::Provenance;

/// Number of a file. A changed file gets a new number, and numbers only grow.
pub(crate) type DocId = TextId;

/// Files of a scope, as they were last read.
#[derive(Debug, Default)]
pub(crate) struct Files {
    docs: Vec<Option<Box<IndexedFile>>>,
    by_path: BTreeMap<RelPath, DocId>,
    live_bytes: u64,
    /// Size of the texts that were removed or changed since the literal index was packed.
    dead_bytes: u64,
    /// Body of the index file, if one was read.
    index_body: SparseBytes,
}

/// A file.
#[derive(Debug)]
pub(crate) struct IndexedFile {
    pub(crate) path: RelPath,
    /// Version; empty if hosts of this scheme have not seen the file yet, or if it could not be read.
    pub(crate) version: Version,
    /// Time of the last change, in nanoseconds since 1970-01-01T00:00:00Z; 0 if unknown.
    pub(crate) modified: u64,
    /// Text; `None` until it is read, if the file is known from the index file.
    pub(crate) text: Option<Box<str>>,
    /// Size of the text in bytes, when it was last in memory.
    size: u64,
    /// Hash of the bytes that it was parsed from.
    pub(crate) hash: ContentHash,
    /// Row in the index file that was read, as long as the bytes are the same.
    pub(crate) row: Option<u32>,
    pub(crate) note: EncodedNote,
    /// Origin of the text, if that keeps it out of prompts. It is good enough for ranking; the file decides what goes into
    /// a prompt.
    pub(crate) unapproved: Option<Provenance>,
    /// Properties for literal search; `None` until it is used.
    pub(crate) rank: Option<Rank>,
    /// True if it is a note of the notebook.
    pub(crate) is_note: bool,
    /// Position in the order of paths; valid after the names are settled.
    pub(crate) order: u32,
}

/// Parsed note in encoded form, because most of it is seldom needed.
#[derive(Debug, Default)]
pub(crate) enum EncodedNote {
    /// Not parsed yet; only the words were needed.
    #[default]
    Unknown,
    /// Bytes of its own.
    Own(Box<[u8]>),
    /// A range of the body of the index file.
    InFile(Range<usize>),
}

/// Properties of a file that literal search needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rank {
    /// True if literal search covers the file.
    pub(crate) is_journal: bool,
    pub(crate) is_long_term: bool,
    /// Day, if it is a daily log.
    pub(crate) date: Option<Date>,
}

impl Rank {
    /// Returns the properties that follow from the path.
    pub(crate) fn from_path(path: &RelPath, is_journal: bool) -> Self {
        let is_log = path.parent().is_some_and(|folder| is_name(folder.file_name(), DAILY_FOLDER));
        Self {
            is_journal,
            is_long_term: is_name(path.file_name(), LONG_TERM_FILE),
            date: if is_log { Date::parse(path.file_stem()) } else { None },
        }
    }
}

impl IndexedFile {
    pub(crate) fn new(path: RelPath, version: Version, modified: u64, text: Option<String>) -> Self {
        Self {
            path,
            version,
            modified,
            size: text.as_ref().map_or(0, String::len) as u64,
            hash: text.as_deref().map(ContentHash::from_text).unwrap_or_default(),
            row: None,
            text: text.map(String::into_boxed_str),
            note: EncodedNote::Unknown,
            unapproved: None,
            rank: None,
            is_note: true,
            order: 0,
        }
    }

    /// Returns the text; empty if it was not read.
    pub(crate) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }
}

impl Files {
    /// Adds a file, and replaces the one with the same path.
    pub(crate) fn insert(&mut self, document: IndexedFile) -> DocId {
        self.remove(&document.path);
        let id = self.next_id();
        self.live_bytes += document.size;
        self.by_path.insert(document.path.clone(), id);
        self.docs.push(Some(Box::new(document)));
        id
    }

    /// Removes a file.
    pub(crate) fn remove(&mut self, path: &RelPath) -> Option<DocId> {
        let id = self.by_path.remove(path)?;
        if let Some(doc) = self.docs.get_mut(id as usize).and_then(Option::take) {
            self.live_bytes -= doc.size;
            self.dead_bytes += doc.size;
        }
        Some(id)
    }

    /// Takes over the files of the index file, with the numbers that they have there. Numbers must grow.
    pub(crate) fn restore(&mut self, documents: Vec<(DocId, IndexedFile)>) {
        for (id, document) in documents {
            if id < self.next_id() {
                continue;
            }
            self.docs.resize_with(id as usize, || None);
            let before = self.by_path.insert(document.path.clone(), id);
            self.docs.push(Some(Box::new(document)));
            if let Some(before) = before.and_then(|before| self.docs.get_mut(before as usize)) {
                *before = None;
            }
        }
    }

    /// Reserves all numbers below `next`.
    pub(crate) fn skip_numbers(&mut self, next: DocId) {
        if next > self.next_id() {
            self.docs.resize_with(next as usize, || None);
        }
    }

    /// Sets the body of the index file that encoded notes are a part of.
    pub(crate) fn set_index_body(&mut self, body: SparseBytes) {
        self.index_body = body;
    }

    pub(crate) fn index_body(&self) -> &SparseBytes {
        &self.index_body
    }

    /// Forgets the versions of files that are known from the index file, so that they are read again.
    pub(crate) fn forget_index_file(&mut self) {
        self.index_body = SparseBytes::default();
        for doc in self.docs.iter_mut().flatten() {
            doc.row = None;
            if matches!(doc.note, EncodedNote::InFile(_)) {
                doc.note = EncodedNote::Unknown;
                doc.version = Version(String::new());
            }
        }
    }

    /// Returns the encoded note of a file.
    pub(crate) fn encoded_note<'a>(&'a self, document: &'a IndexedFile) -> Option<&'a [u8]> {
        match &document.note {
            EncodedNote::Unknown => None,
            EncodedNote::Own(bytes) => Some(bytes),
            EncodedNote::InFile(range) => self.index_body.get(range.clone()),
        }
    }

    /// Returns the parsed note of a file; `None` if it was not parsed yet.
    pub(crate) fn note(&self, document: &IndexedFile) -> Option<Note> {
        postcard::from_bytes(self.encoded_note(document)?).ok()
    }

    /// Replaces the encoded note of a file, for tests.
    #[cfg(test)]
    pub(crate) fn damage_note(&mut self, path: &RelPath, bytes: &[u8]) {
        let id = self.id(path).expect("known");
        self.doc_mut(id).expect("known").note = EncodedNote::Own(bytes.into());
    }

    /// Sets the text of a file that is known but was not read.
    pub(crate) fn set_text(&mut self, id: DocId, text: String) {
        if let Some(doc) = self.docs.get_mut(id as usize).and_then(Option::as_mut) {
            self.live_bytes = self.live_bytes - doc.size + text.len() as u64;
            doc.size = text.len() as u64;
            doc.text = Some(text.into_boxed_str());
        }
    }

    /// Sets the new version of a file with the same bytes, and its text if it has none.
    pub(crate) fn see_again(&mut self, id: DocId, version: Version, modified: u64, text: Option<String>) {
        if let Some(doc) = self.doc_mut(id) {
            (doc.version, doc.modified) = (version, modified);
            if let Some(text) = text.filter(|_| doc.text.is_none()) {
                self.set_text(id, text);
            }
        }
    }

    /// Drops the texts from a number on, if they can be read again.
    pub(crate) fn drop_texts(&mut self, first: DocId) {
        let read = self.docs.iter_mut().skip(first as usize).flatten();
        read.filter(|doc| doc.size > 0).for_each(|doc| doc.text = None);
    }

    /// Returns the number of the next file.
    pub(crate) fn next_id(&self) -> DocId {
        DocId::try_from(self.docs.len()).unwrap_or(DocId::MAX)
    }

    pub(crate) fn doc(&self, id: DocId) -> Option<&IndexedFile> {
        self.docs.get(id as usize)?.as_deref()
    }

    pub(crate) fn doc_mut(&mut self, id: DocId) -> Option<&mut IndexedFile> {
        self.docs.get_mut(id as usize)?.as_deref_mut()
    }

    /// Returns the files from number `first` on, sorted by number.
    pub(crate) fn since(&self, first: DocId) -> impl Iterator<Item = (DocId, &IndexedFile)> {
        let numbered = self.docs.iter().enumerate().skip(first as usize);
        numbered.filter_map(|(id, doc)| Some((DocId::try_from(id).unwrap_or(DocId::MAX), doc.as_deref()?)))
    }

    /// Returns the files, sorted by path.
    pub(crate) fn by_path(&self) -> impl Iterator<Item = (&RelPath, DocId)> {
        self.by_path.iter().map(|(path, &id)| (path, id))
    }

    pub(crate) fn id(&self, path: &RelPath) -> Option<DocId> {
        self.by_path.get(path).copied()
    }

    /// Returns the files directly in a folder with paths after `after` and up to `last`, sorted by path.
    pub(crate) fn in_folder(
        &self,
        folder: Option<&RelPath>,
        after: Option<&RelPath>,
        last: Option<&RelPath>,
    ) -> impl Iterator<Item = (&RelPath, DocId)> {
        // All paths below a folder sort between these two, because '0' follows '/'.
        let ends = folder.map(|folder| (format!("{folder}/"), format!("{folder}0")));
        let start = after.map(|after| Bound::Excluded(after.as_str()));
        let start = start.or_else(|| ends.as_ref().map(|(start, _)| Bound::Included(start.as_str())));
        let end = last.map(|last| Bound::Included(last.as_str()));
        let end = end.or_else(|| ends.as_ref().map(|(_, end)| Bound::Excluded(end.as_str())));
        let (start, end) = (start.unwrap_or(Bound::Unbounded), end.unwrap_or(Bound::Unbounded));
        // A map panics at a range whose start is after its end.
        let is_range = match (&start, &end) {
            (Bound::Excluded(start) | Bound::Included(start), Bound::Excluded(end) | Bound::Included(end)) => {
                start < end
            }
            _ => true,
        };
        let found = is_range.then(|| self.by_path.range::<str, _>((start, end)));
        let folder = folder.cloned();
        found
            .into_iter()
            .flatten()
            .filter(move |(path, _)| path.is_child_of(folder.as_ref()))
            .map(|(path, &id)| (path, id))
    }

    /// Returns true if the file has this version. Also updates its time: a file that changed between a listing and its
    /// reading was recorded with the time of the listing.
    pub(crate) fn is_known(&mut self, id: DocId, version: &Version, modified: u64) -> bool {
        let known = self.doc_mut(id).filter(|doc| doc.version == *version);
        known.map(|doc| doc.modified = modified).is_some()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_path.len()
    }

    /// Returns the size of the kept texts in bytes.
    pub(crate) fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// Prepares the literal index for a search after files were added or removed.
    pub(super) fn settle(&mut self, index: &mut LiteralIndex, is_journal: &dyn Fn(&RelPath) -> bool) {
        if index.pack(self.live_bytes, self.dead_bytes) {
            self.dead_bytes = 0;
        }
        if index.has_names() {
            return;
        }
        let mut order = 0;
        for &id in self.by_path.values() {
            let doc = self.docs.get_mut(id as usize).and_then(Option::as_mut);
            let Some(doc) = doc else { continue };
            let path = &doc.path;
            if !doc.rank.get_or_insert_with(|| Rank::from_path(path, is_journal(path))).is_journal {
                continue;
            }
            index.add_name(id, doc.path.file_name());
            doc.order = order;
            order += 1;
        }
    }
}

impl Texts for Files {
    fn next_id(&self) -> TextId {
        self.next_id()
    }

    fn text(&self, id: TextId) -> Option<&str> {
        self.doc(id).map(IndexedFile::text)
    }

    fn is_searched(&self, id: TextId) -> bool {
        self.doc(id).and_then(|doc| doc.rank.as_ref()).is_some_and(|rank| rank.is_journal)
    }

    fn rank(&self, id: TextId) -> literal::Rank {
        let Some(doc) = self.doc(id) else { return literal::Rank::default() };
        let Some(Rank { is_long_term, date, .. }) = &doc.rank else { return literal::Rank::default() };
        literal::Rank { comes_first: *is_long_term, day: date.map(Date::day_number), order: doc.order }
    }
}
