//! [`Files`]: records of all files of a scope.

use alloc::collections::BTreeMap;
use core::cmp::Ordering;
use core::ops::{Bound, Range};

use once_cell::race::OnceBox;
use saddlebag_collections::{Piece, SparseBytes, prelude::*};
use saddlebag_search::literal::{self, LiteralIndex, TextId, Texts};

use super::rows::Rows;
use super::schemes::{ContentHash, Seen, SeenColumn};
use crate::store::{DAILY_FOLDER, Date, LONG_TERM_FILE, RelPath, is_name};
use crate::trust::Provenance;
use saddlebag_markdown::Note;
use saddlebag_protocol::Version;

/// Number of a file. A changed file gets a new number, and numbers only grow.
pub(crate) type DocId = TextId;

/// Files of a scope, as they were last read.
#[derive(Default)]
pub(crate) struct Files {
    slots: Vec<Slot>,
    /// Files that are not in the table.
    by_path: BTreeMap<RelPath, DocId>,
    live_bytes: u64,
    /// Size of the text that was removed or changed since the literal index was packed.
    dead_bytes: u64,
    table: Table,
    /// Body of the index file, if one was read.
    index_body: SparseBytes,
}

/// Place of a file.
enum Slot {
    Gone,
    Known(Box<IndexedFile>),
    /// A row of the table, which is decoded when the file is asked for. A file that changes is taken out of the table.
    InTable(u32, OnceBox<IndexedFile>),
}

/// Files of the index file that was read.
#[derive(Default)]
pub(super) struct Table {
    pub(super) rows: Rows,
    /// Range in the body of what hosts of this scheme have seen; `None` if there is no such column.
    seen: Option<Range<usize>>,
    /// Number of rows that are files.
    live: usize,
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
    /// Bytes that were not read from the index file. Notes that were parsed together share them.
    Own(Piece),
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
        Self { is_journal, is_long_term: is_name(path.file_name(), LONG_TERM_FILE), date: day_of_log(path) }
    }
}

/// Returns the day that the name of a log states; `None` for another file.
pub(crate) fn day_of_log(path: &RelPath) -> Option<Date> {
    let is_log = path.parent().is_some_and(|folder| is_name(folder.file_name(), DAILY_FOLDER));
    Date::parse(path.file_stem()).filter(|_| is_log)
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

impl Table {
    pub(super) fn new(rows: Rows, seen: Option<Range<usize>>) -> Self {
        Self { live: rows.len(), rows, seen }
    }

    /// Returns what hosts of this scheme have seen of the file in a row.
    fn seen<'a>(&self, row: usize, body: &'a SparseBytes) -> Option<Seen<'a>> {
        match &self.seen {
            Some(column) => SeenColumn::new(body.get(column.clone())?, self.rows.len())?.seen(row),
            // A host of a new scheme has seen nothing.
            None => Some(Seen::default()),
        }
    }

    fn decode(&self, number: u32, body: &SparseBytes) -> Option<IndexedFile> {
        let row = self.rows.row(number as usize)?;
        let Seen { version, modified } = self.seen(number as usize, body)?;
        let path = RelPath::new(row.path).ok()?;
        Some(IndexedFile {
            hash: row.hash,
            row: Some(number),
            note: EncodedNote::InFile(row.note),
            unapproved: row.unapproved,
            ..IndexedFile::new(path, Version(version.into()), modified, None)
        })
    }
}

impl Files {
    /// Adds a file, and replaces the one with the same path.
    pub(crate) fn insert(&mut self, document: IndexedFile) -> DocId {
        self.remove(&document.path);
        let id = self.next_id();
        self.live_bytes += document.size;
        self.by_path.insert(document.path.clone(), id);
        self.slots.push(Slot::Known(Box::new(document)));
        id
    }

    /// Removes a file.
    pub(crate) fn remove(&mut self, path: &RelPath) -> Option<DocId> {
        let id = self.id(path)?;
        let slot = core::mem::replace(self.slots.get_mut(id as usize)?, Slot::Gone);
        match slot {
            Slot::Gone => {}
            Slot::Known(doc) => {
                self.by_path.remove(path);
                self.live_bytes -= doc.size;
                self.dead_bytes += doc.size;
            }
            Slot::InTable(..) => self.table.live -= 1,
        }
        Some(id)
    }

    /// Takes over the files of an index file, with the numbers that they have there. There must be no others.
    pub(super) fn restore(&mut self, table: Table) {
        for (row, id) in (0..).zip(table.rows.ids()) {
            self.slots.resize_with(id as usize, || Slot::Gone);
            self.slots.push(Slot::InTable(row, OnceBox::new()));
        }
        self.table = table;
    }

    /// Reserves all numbers below `next`.
    pub(crate) fn skip_numbers(&mut self, next: DocId) {
        if next > self.next_id() {
            self.slots.resize_with(next as usize, || Slot::Gone);
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
        let ids: Vec<DocId> = self.since(0).map(|(id, _)| id).collect();
        for id in ids {
            let Some(doc) = self.doc_mut(id) else { continue };
            doc.row = None;
            if matches!(doc.note, EncodedNote::InFile(_)) {
                doc.note = EncodedNote::Unknown;
                doc.version = Version(String::new());
            }
        }
        self.index_body = SparseBytes::default();
    }

    /// Returns the encoded note of a file.
    pub(crate) fn encoded_note<'a>(&'a self, document: &'a IndexedFile) -> Option<&'a [u8]> {
        match &document.note {
            EncodedNote::Unknown => None,
            EncodedNote::Own(bytes) => Some(bytes),
            EncodedNote::InFile(range) => self.index_body.get(range.clone()),
        }
    }

    /// Returns the encoded note of a file, to be kept.
    pub(crate) fn shared_note(&self, document: &IndexedFile) -> Option<Piece> {
        match &document.note {
            EncodedNote::Unknown => None,
            EncodedNote::Own(bytes) => Some(bytes.clone()),
            EncodedNote::InFile(range) => self.index_body.piece(range.clone()),
        }
    }

    /// Returns the parsed note of a file; `None` if it was not parsed yet.
    pub(crate) fn note(&self, document: &IndexedFile) -> Option<Note> {
        Note::decode(self.encoded_note(document)?)
    }

    /// Returns the range of the parsed notes in the body of the index file.
    pub(crate) fn notes_of_index(&self) -> Range<usize> {
        0..self.table.rows.notes_len()
    }

    /// Sets the encoded notes of files, by the numbers of the files and the ends of the notes.
    pub(crate) fn set_notes(&mut self, notes: &[u8], ends: &[(DocId, usize)]) {
        let (notes, mut start) = (Arc::new(notes.to_vec()), 0);
        for &(id, end) in ends {
            if let Some(doc) = self.doc_mut(id) {
                doc.note = EncodedNote::Own(Piece::new(notes.clone(), start..end));
            }
            start = end;
        }
    }

    /// Replaces the encoded note of a file, for tests.
    #[cfg(test)]
    pub(crate) fn damage_note(&mut self, path: &RelPath, bytes: &[u8]) {
        let id = self.id(path).expect("known");
        self.doc_mut(id).expect("known").note = EncodedNote::Own(Piece::from(bytes.to_vec()));
    }

    /// Replaces the encoded note of a file as a forged index file would, for tests.
    #[cfg(test)]
    pub(crate) fn forge_note(&mut self, path: &RelPath, bytes: &[u8]) {
        let id = self.id(path).expect("known");
        self.index_body = SparseBytes::from(bytes.to_vec());
        self.doc_mut(id).expect("known").note = EncodedNote::InFile(0..bytes.len());
    }

    /// Sets the text of a file that is known but was not read.
    pub(crate) fn set_text(&mut self, id: DocId, text: String) {
        let Some(doc) = self.doc_mut(id) else { return };
        let before = core::mem::replace(&mut doc.size, text.len() as u64);
        let size = doc.size;
        doc.text = Some(text.into_boxed_str());
        self.live_bytes = self.live_bytes - before + size;
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

    /// Drops the text from a number on, if it can be read again.
    pub(crate) fn drop_texts(&mut self, first: DocId) {
        for slot in self.slots.iter_mut().skip(first as usize) {
            if let Slot::Known(doc) = slot
                && doc.size > 0
            {
                doc.text = None;
            }
        }
    }

    /// Drops the text of files, if it can be read again.
    pub(crate) fn drop_texts_of(&mut self, ids: &[DocId]) {
        for &id in ids {
            if let Some(Slot::Known(doc)) = self.slots.get_mut(id as usize)
                && doc.size > 0
            {
                doc.text = None;
            }
        }
    }

    /// Returns the number of the next file.
    pub(crate) fn next_id(&self) -> DocId {
        DocId::try_from(self.slots.len()).unwrap_or(DocId::MAX)
    }

    pub(crate) fn doc(&self, id: DocId) -> Option<&IndexedFile> {
        match self.slots.get(id as usize)? {
            Slot::Gone => None,
            Slot::Known(doc) => Some(doc),
            Slot::InTable(row, decoded) => {
                let decode = || self.table.decode(*row, &self.index_body).map(Box::new).ok_or(());
                let doc = decoded.get_or_try_init(decode).ok();
                debug_assert!(doc.is_some(), "a broken invariant: row {row} of the index was not checked");
                doc
            }
        }
    }

    /// Returns a file to change.
    pub(crate) fn doc_mut(&mut self, id: DocId) -> Option<&mut IndexedFile> {
        let slot = self.slots.get_mut(id as usize)?;
        if let Slot::InTable(row, _) = slot {
            let doc = self.table.decode(*row, &self.index_body)?;
            self.table.live -= 1;
            self.by_path.insert(doc.path.clone(), id);
            *slot = Slot::Known(Box::new(doc));
        }
        match slot {
            Slot::Known(doc) => Some(doc),
            _ => None,
        }
    }

    /// Returns the path of a file.
    pub(crate) fn path(&self, id: DocId) -> Option<&str> {
        match self.slots.get(id as usize)? {
            Slot::Gone => None,
            Slot::Known(doc) => Some(doc.path.as_str()),
            Slot::InTable(row, _) => self.table.rows.path(*row as usize),
        }
    }

    /// Returns the numbers of the files whose text may go into a prompt, ascending.
    pub(crate) fn approved(&self) -> Vec<DocId> {
        let is_approved = |slot: &Slot| match slot {
            Slot::Gone => false,
            Slot::Known(doc) => doc.unapproved.is_none(),
            Slot::InTable(row, _) => self.table.rows.unapproved(*row as usize).is_none(),
        };
        let numbered = (0..).zip(&self.slots);
        numbered.filter(|(_, slot)| is_approved(slot)).map(|(id, _)| id).collect()
    }

    /// Returns the files from number `first` on, sorted by number.
    pub(crate) fn since(&self, first: DocId) -> impl Iterator<Item = (DocId, &IndexedFile)> {
        (first..self.next_id()).filter_map(|id| Some((id, self.doc(id)?)))
    }

    /// Returns the files, sorted by path.
    pub(crate) fn by_path(&self) -> impl Iterator<Item = (&RelPath, DocId)> {
        let ids = self.between(Bound::Unbounded, Bound::Unbounded);
        ids.filter_map(|id| Some((&self.doc(id)?.path, id)))
    }

    pub(crate) fn id(&self, path: &RelPath) -> Option<DocId> {
        self.by_path.get(path).copied().or_else(|| {
            let place = self.table.rows.places(&|other| other.cmp(path.as_str()));
            self.in_table(place.start).filter(|_| !place.is_empty())
        })
    }

    /// Returns the file at a place in the order of paths of the table, if it is still the same.
    fn in_table(&self, place: usize) -> Option<DocId> {
        let rows = &self.table.rows;
        let id = rows.id(rows.row_at(place)?)?;
        matches!(self.slots.get(id as usize), Some(Slot::InTable(..))).then_some(id)
    }

    /// Returns the files directly in a folder with paths after `after` and up to `last`, sorted by path.
    pub(crate) fn in_folder<'a>(
        &'a self,
        folder: Option<&RelPath>,
        after: Option<&RelPath>,
        last: Option<&RelPath>,
    ) -> impl Iterator<Item = (&'a str, DocId)> + use<'a> {
        // All paths below a folder sort between these two, because '0' follows '/'.
        let ends = folder.map(|folder| (format!("{folder}/"), format!("{folder}0")));
        let start = after.map(|after| Bound::Excluded(after.as_str()));
        let start = start.or_else(|| ends.as_ref().map(|(start, _)| Bound::Included(start.as_str())));
        let end = last.map(|last| Bound::Included(last.as_str()));
        let end = end.or_else(|| ends.as_ref().map(|(_, end)| Bound::Excluded(end.as_str())));
        let below = folder.map_or(0, |folder| folder.as_str().len() + 1);
        let found = self.between(start.unwrap_or(Bound::Unbounded), end.unwrap_or(Bound::Unbounded));
        let named = found.filter_map(|id| Some((self.path(id)?, id)));
        named.filter(move |(path, _)| path.get(below..).is_some_and(|name| !name.contains('/')))
    }

    /// Returns the files with paths between two bounds, sorted by path.
    fn between<'a>(&'a self, start: Bound<&str>, end: Bound<&str>) -> impl Iterator<Item = DocId> + use<'a> {
        // A map panics at a range whose start is after its end.
        let is_range = match (&start, &end) {
            (Bound::Excluded(start) | Bound::Included(start), Bound::Excluded(end) | Bound::Included(end)) => {
                start < end
            }
            _ => true,
        };
        let is_before = |path: &str| match start {
            Bound::Included(start) => path < start,
            Bound::Excluded(start) => path <= start,
            Bound::Unbounded => false,
        };
        let is_after = |path: &str| match end {
            Bound::Included(end) => path > end,
            Bound::Excluded(end) => path >= end,
            Bound::Unbounded => false,
        };
        let places = self.table.rows.places(&|path| match (is_before(path), is_after(path)) {
            (true, _) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => Ordering::Equal,
        });
        let places = if is_range { places } else { 0..0 };
        let own = is_range.then(|| self.by_path.range::<str, _>((start, end)));
        let mut own = own.into_iter().flatten().map(|(_, &id)| id).peekable();
        let mut of_table = places.filter_map(|place| self.in_table(place)).peekable();
        core::iter::from_fn(move || match (own.peek(), of_table.peek()) {
            (Some(&one), Some(&other)) if self.path(one) < self.path(other) => own.next(),
            (_, Some(_)) => of_table.next(),
            _ => own.next(),
        })
    }

    /// Returns true if the file has this version. Also updates its time: a file that changed between a listing and its
    /// reading was recorded with the time of the listing.
    pub(crate) fn is_known(&mut self, id: DocId, version: &Version, modified: u64) -> bool {
        let seen = match self.slots.get(id as usize) {
            None | Some(Slot::Gone) => None,
            Some(Slot::Known(doc)) => Some(Seen { version: &doc.version.0, modified: doc.modified }),
            Some(Slot::InTable(row, _)) => self.table.seen(*row as usize, &self.index_body),
        };
        let Some(seen) = seen.filter(|seen| seen.version == version.0) else { return false };
        if seen.modified != modified
            && let Some(doc) = self.doc_mut(id)
        {
            doc.modified = modified;
        }
        true
    }

    pub(crate) fn len(&self) -> usize {
        self.by_path.len() + self.table.live
    }

    /// Returns the size of the kept text in bytes.
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
        let ids: Vec<DocId> = self.by_path().map(|(_, id)| id).collect();
        for id in ids {
            let Some(doc) = self.doc_mut(id) else { continue };
            let path = &doc.path;
            let rank = doc.rank.get_or_insert_with(|| Rank::from_path(path, is_journal(path)));
            if !rank.is_journal && !doc.is_note {
                continue;
            }
            index.add_name(id, doc.path.file_name());
            doc.order = order;
            order += 1;
        }
    }
}

/// Files that a search covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Those of the journal.
    Journal,
    /// Those that `recall` covers too.
    All,
}

/// The files that a literal search covers.
pub(super) struct SearchedFiles<'a> {
    pub(super) files: &'a Files,
    pub(super) extent: Extent,
}

impl Texts for SearchedFiles<'_> {
    fn next_id(&self) -> TextId {
        self.files.next_id()
    }

    fn text(&self, id: TextId) -> Option<&str> {
        self.files.doc(id).map(IndexedFile::text)
    }

    fn is_searched(&self, id: TextId) -> bool {
        let Some(doc) = self.files.doc(id) else { return false };
        doc.rank.as_ref().is_some_and(|rank| rank.is_journal) || (self.extent == Extent::All && doc.is_note)
    }

    fn rank(&self, id: TextId) -> literal::Rank {
        let Some(doc) = self.files.doc(id) else { return literal::Rank::default() };
        let Some(Rank { is_long_term, date, .. }) = &doc.rank else { return literal::Rank::default() };
        literal::Rank { comes_first: *is_long_term, day: date.map(Date::day_number), order: doc.order }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::tests::table_of;
    use super::*;
    use proptest::prelude::*;

    fn file(path: &str) -> IndexedFile {
        IndexedFile::new(RelPath::new(path).expect("a path"), Version("1".into()), 1, Some("text".into()))
    }

    /// Returns what the searches see of the files.
    fn seen(files: &Files) -> (Vec<String>, Vec<Vec<String>>, usize, Vec<DocId>) {
        let all = files.by_path().map(|(path, id)| {
            assert_eq!((files.id(path), files.path(id)), (Some(id), Some(path.as_str())));
            path.to_string()
        });
        let bounds =
            &[None, Some("a"), Some("a/b"), Some("b")].map(|path| path.and_then(|path| RelPath::new(path).ok()));
        let folders = bounds.iter().flat_map(|folder| {
            bounds.iter().flat_map(move |after| bounds.iter().map(move |last| (folder, after, last)))
        });
        let listed = folders.map(|(folder, after, last)| {
            let found = files.in_folder(folder.as_ref(), after.as_ref(), last.as_ref());
            found.map(|(path, _)| path.to_string()).collect()
        });
        (all.collect(), listed.collect(), files.len(), files.since(0).map(|(id, _)| id).collect())
    }

    proptest! {
        #[test]
        fn files_of_a_table_are_like_files_that_were_read(
            paths in proptest::collection::btree_set("[ab](/[ab]){0,2}", 0..8),
            changes in proptest::collection::vec((0_u8..4, "[ab](/[ab]){0,2}"), 0..8),
        ) {
            let paths: Vec<String> = paths.into_iter().rev().collect();
            let (mut of_table, mut read) = (Files::default(), Files::default());
            of_table.restore(Table::new(table_of(&paths), None));
            for path in &paths {
                // The numbers of the table are 1, 4, 7 and so on.
                read.skip_numbers(read.next_id() + if read.next_id() == 0 { 1 } else { 2 });
                read.insert(file(path));
            }
            for (change, path) in changes {
                for files in [&mut of_table, &mut read] {
                    let path = RelPath::new(path.as_str()).expect("a path");
                    match (change, files.id(&path)) {
                        (0, _) => drop(files.insert(file(path.as_str()))),
                        (1, _) => drop(files.remove(&path)),
                        (2, Some(id)) => files.set_text(id, "another".into()),
                        (_, Some(id)) => assert_eq!(files.doc(id).map(|doc| &doc.path), Some(&path)),
                        _ => {}
                    }
                }
                prop_assert_eq!(seen(&of_table), seen(&read));
            }
            prop_assert_eq!(seen(&of_table), seen(&read));
            of_table.forget_index_file();
            prop_assert_eq!(seen(&of_table), seen(&read));
        }
    }

    #[test]
    fn a_file_of_a_table_whose_text_is_dropped_and_removed_leaves_no_bytes() {
        let mut files = Files::default();
        files.restore(Table::new(table_of(&["a".into(), "b".into()]), None));
        files.set_text(1, "text".into());
        assert_eq!((files.live_bytes(), files.len()), (4, 2));
        files.drop_texts(0);
        assert_eq!(files.doc(1).map(|doc| doc.text.is_none()), Some(true));
        let path = RelPath::new("a").expect("a path");
        assert_eq!((files.remove(&path), files.live_bytes(), files.len()), (Some(1), 0, 1));
        assert_eq!((files.id(&path), files.path(1)), (None, None));
    }
}
