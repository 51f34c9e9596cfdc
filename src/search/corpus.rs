//! [`Corpus`]: the searched files as they were last read.

use core::cmp::Reverse;
use core::ops::Range;

use saddlebag_search::literal::{self, LiteralIndex, Match, Terms};
use saddlebag_search::ranked::{Fields, RankedIndex, Tie};

use super::files::{DocId, EncodedNote, Extent, Files, IndexedFile, SearchedFiles, Table};
use super::parts::Body;
use super::render;
use super::schemes::{ContentHash, OtherSchemes};
use super::scopes::{FolderScope, is_markdown, skipped_names};
use super::types::{MAX_HIT_LINES, SearchHit, SearchResults, SkipReason, Skipped, TermCount};
use crate::engine::{Limits, Loaded};
use crate::store::{Layout, NOTE_SUFFIX, RelPath, SESSIONS_FOLDER, is_of_entries, text_of_name};
use crate::trust::TrustState;
use saddlebag_collections::{
    part::TextPart,
    prelude::*,
    sorted::{SortedMap, SortedSet},
};
use saddlebag_markdown::{Frontmatter, FrontmatterProblem, Note, TagSyntax, Value};
use saddlebag_protocol::{Entry, EntryKind, Error, ErrorCode, FsError, LeftOut, Version};

/// Number of notes that are indexed between two checks if the index should be packed.
const SETTLE_EVERY: DocId = 512;

/// Size from which on parsed notes are put into a separate piece of memory. Small pieces of each note between words
/// that come and go would leave holes in the memory of the component, which cannot be given back.
const RECORDS_BYTES: usize = 128 << 10;

/// Predicate: true for paths of notes.
pub(crate) type Coverage = Arc<dyn Fn(&RelPath) -> bool + Send + Sync>;

/// Content of an index file.
pub(super) struct Restored {
    pub(super) body: Body,
    pub(super) ranked: RankedIndex,
    pub(super) table: Table,
    /// Version of the configuration that defines which of the files are notes.
    pub(super) configuration: Option<Version>,
    pub(super) supersedes: SortedMap<String, Vec<DocId>>,
    pub(super) problems: SortedMap<RelPath, FrontmatterProblem>,
    /// Pages of the listings. Files that are listed unchanged are known by `table`.
    pub(super) pages: Pages,
    /// Token of the store at which the index has all of its files.
    pub(super) generation: Option<String>,
    pub(super) others: OtherSchemes,
}

/// One page of a folder, as it was last listed.
#[derive(Clone, Debug)]
pub(super) struct Page {
    pub(super) after: Option<RelPath>,
    pub(super) next: Option<RelPath>,
    pub(super) version: Option<Version>,
    /// Folders on the page.
    pub(super) folders: Vec<RelPath>,
    /// Files and folders with names that no path can have.
    pub(super) left_out: LeftOut,
}

/// An index file that had all files of the store when it was written.
struct CompleteIndex {
    /// Number of its writing.
    writing: u64,
    /// Files that were added, changed or removed since.
    changed: SortedSet<RelPath>,
    /// Token for which the changes are recorded.
    generation: String,
}

/// A running update of the corpus.
pub(super) struct Update {
    number: u64,
    /// True if no other update was running when it began.
    is_alone: bool,
    _running: Arc<()>,
}

/// Pages, by folder.
pub(super) type Pages = SortedMap<Option<RelPath>, Vec<Page>>;

/// Files that a search covers, files that could not be read, and the indexes of their words.
pub(crate) struct Corpus {
    pub(crate) files: Files,
    pub(super) literal: LiteralIndex,
    ranked: RankedIndex,
    /// Body of the index file, if one was read.
    body: Body,
    /// Number of times that the index file turned out to be damaged.
    damages: u64,
    /// Lower bound of the file numbers that are not in `ranked` yet.
    ranked_to: DocId,
    /// Syntax of tags.
    tags: TagSyntax,
    /// Notes that supersede another one, by the path of the superseded note.
    supersedes: SortedMap<String, Vec<DocId>>,
    /// Notes whose frontmatter could not be parsed completely, with the problems.
    problems: SortedMap<RelPath, FrontmatterProblem>,
    /// Number of files that were read since the index file was read or written.
    unsaved: usize,
    /// Index file that has all files of some token.
    complete_index: Option<CompleteIndex>,
    /// Versions that hosts of other schemes have recorded.
    pub(super) others: OtherSchemes,
    /// True if the index file was looked for.
    pub(super) has_looked_for_index: bool,
    pub(super) skipped: SortedMap<RelPath, SkipReason>,
    /// Folders that may not be listed.
    unlisted: Vec<RelPath>,
    /// Pages of all folders, as they were last listed.
    pub(super) pages: Pages,
    /// Token of the store before the last update. The corpus has all files as long as the store has this token.
    generation: Option<String>,
    /// True if the host has no tokens.
    pub(super) has_no_generation: bool,
    /// Number of updates that have begun.
    updates: u64,
    /// Each running update has a copy.
    running: Arc<()>,
    /// Predicate for files that are notes.
    coverage: Coverage,
    /// Version of the configuration that `coverage` follows; `None` without one.
    configuration: Option<Version>,
    /// Predicate for files that literal search covers, notes or not.
    journal: Coverage,
    /// Folders of the files; empty for the folders of the notes.
    scopes: Vec<FolderScope>,
    /// Number of changes of the rules for notes and tags. A listing from before a change is outdated.
    pub(super) rules: u64,
    /// True if the last update succeeded.
    pub(super) loaded: bool,
    /// True if literal search, which needs all text, was ever used.
    pub(crate) keeps_texts: bool,
}

impl Default for Corpus {
    fn default() -> Self {
        Self {
            files: Files::default(),
            literal: LiteralIndex::new(NOTE_SUFFIX),
            ranked: RankedIndex::default(),
            body: Body::default(),
            damages: 0,
            ranked_to: 0,
            tags: TagSyntax::default(),
            supersedes: SortedMap::default(),
            problems: SortedMap::default(),
            unsaved: 0,
            complete_index: None,
            others: OtherSchemes::default(),
            has_looked_for_index: false,
            skipped: SortedMap::default(),
            unlisted: Vec::new(),
            pages: SortedMap::default(),
            generation: None,
            has_no_generation: false,
            updates: 0,
            running: Arc::new(()),
            coverage: Arc::new(is_markdown),
            configuration: None,
            journal: Arc::new(|_| true),
            scopes: Vec::new(),
            rules: 0,
            loaded: false,
            keeps_texts: false,
        }
    }
}

impl Corpus {
    /// Creates an empty corpus of a scope.
    pub(crate) fn new(layout: &Layout) -> Self {
        let layout = layout.clone();
        Self { journal: Arc::new(move |path| layout.is_journal(path)), ..Self::default() }
    }

    /// Creates an empty corpus of other folders than those of the notes.
    pub(crate) fn of_folders<'a>(folders: impl Iterator<Item = &'a RelPath>) -> Self {
        let scopes = folders.map(|folder| FolderScope { folder: Some(folder.clone()), tree: true });
        Self { scopes: scopes.collect(), ..Self::default() }
    }

    /// Returns the folders of its files.
    pub(crate) fn scopes(&self, layout: &Layout) -> Vec<FolderScope> {
        if self.scopes.is_empty() { FolderScope::all(layout) } else { self.scopes.clone() }
    }

    /// Returns true if the host's guarantee that nothing changed is enough to answer from memory.
    pub(crate) fn is_loaded(&self) -> bool {
        self.loaded
    }

    /// Makes a search look at the store again, although the host guarantees that nothing else has changed it: a command of
    /// this memory has.
    pub(crate) fn expect_own_changes(&mut self) {
        self.loaded = false;
    }

    /// Sets which files are notes, by the configuration of this version. A file that becomes a note, or stops being
    /// one, counts as a new file: its old index entries are skipped, and its text is kept if it is in memory.
    pub(crate) fn cover(&mut self, coverage: Coverage, configuration: Option<Version>) {
        self.coverage = coverage;
        self.configuration = configuration;
        let known = self.files.since(0).filter(|(_, doc)| doc.is_note != (self.coverage)(&doc.path));
        let changed: Vec<IndexedFile> = known
            .map(|(_, doc)| {
                let text = doc.text.as_deref().map(String::from);
                IndexedFile::new(doc.path.clone(), doc.version.clone(), doc.modified, text)
            })
            .collect();
        for document in changed {
            self.problems.remove(&document.path);
            if document.text.is_some() {
                self.insert(document);
            } else {
                self.forget(&document.path);
            }
        }
        self.new_rules();
    }

    /// Returns true if a file is kept, as a note or for literal search.
    pub(super) fn covers(&self, path: &RelPath) -> bool {
        self.is_note(path) || (self.journal)(path)
    }

    /// Returns true if the configuration makes a file a note.
    pub(crate) fn is_note(&self, path: &RelPath) -> bool {
        (self.coverage)(path)
    }

    /// Sets the syntax of tags. Notes that were indexed with another syntax are indexed again. Notes that are known
    /// only from an index file are read again.
    pub(crate) fn read_tags(&mut self, tags: TagSyntax) {
        if self.tags == tags {
            return;
        }
        self.tags = tags;
        self.ranked = RankedIndex::default();
        self.ranked_to = 0;
        self.supersedes.clear();
        self.problems.clear();
        let unread = self.files.since(0).filter(|(_, doc)| doc.text.is_none()).map(|(_, doc)| doc.path.clone());
        let unread: Vec<RelPath> = unread.collect();
        unread.iter().for_each(|path| self.forget(path));
        self.new_rules();
    }

    /// Makes listings from before outdated.
    pub(super) fn new_rules(&mut self) {
        self.forget_page_versions();
        self.generation = None;
        self.loaded = false;
        self.rules += 1;
    }

    fn forget_pages(&mut self) {
        self.pages.clear();
        self.generation = None;
    }

    /// Makes the next update look at every folder again. Records of skipped names stay.
    pub(super) fn forget_page_versions(&mut self) {
        for (folder, mut pages) in core::mem::take(&mut self.pages).into_entries() {
            pages.iter_mut().for_each(|page| page.version = None);
            self.pages.insert(folder, pages);
        }
    }

    /// Begins an update. Until it succeeds, the corpus counts as not loaded.
    pub(super) fn begin(&mut self) -> Update {
        self.loaded = false;
        self.generation = None;
        self.unlisted.clear();
        let is_alone = Arc::strong_count(&self.running) == 1;
        self.updates += 1;
        // Files that had no room are tried again, so the host must not answer that they are unchanged.
        if self.skipped.values().any(|reason| matches!(reason, SkipReason::IndexFull)) {
            self.pages.clear();
        }
        Update { number: self.updates, is_alone, _running: self.running.clone() }
    }

    /// Returns true if an update has begun.
    pub(super) fn was_updated(&self) -> bool {
        self.updates > 0
    }

    /// Ends an update that began with this token of the store. An update beside another one may have seen an older state of some
    /// folders, so it does not keep the token.
    pub(super) fn end(&mut self, update: &Update, generation: Option<String>) {
        let is_retried = |reason: &SkipReason| matches!(reason, SkipReason::Unreadable(_) | SkipReason::IndexFull);
        let is_complete = self.unlisted.is_empty() && !self.skipped.values().any(is_retried);
        let was_alone = update.is_alone && update.number == self.updates;
        self.generation = generation.filter(|_| is_complete && was_alone && self.loaded);
    }

    /// Returns true if nothing has changed since the corpus was brought up to date: the store still has this token.
    pub(super) fn is_of(&self, generation: &str) -> bool {
        self.generation.as_deref() == Some(generation)
    }

    /// Returns the token at which the corpus has all files.
    pub(super) fn generation(&self) -> Option<&str> {
        self.generation.as_deref()
    }

    /// Prepares a literal search after files were added or removed.
    pub(super) fn settle(&mut self) {
        self.files.settle(&mut self.literal, &*self.journal);
    }

    /// Answers a query from memory, after [`read_all`](super::read_all).
    ///
    /// `shown` returns the path as it is to be shown. The list and the rendering have hits from `offset` on, at most
    /// `limit`; without a limit the list has [`USUAL_HITS`]. The rendering has at most `max_bytes`, without a
    /// truncation marker.
    pub(crate) fn search(
        &mut self,
        terms: &Terms,
        extent: Extent,
        shown: impl Fn(&RelPath) -> String,
        (offset, limit): (usize, Option<usize>),
        max_bytes: usize,
    ) -> SearchResults {
        let searched = SearchedFiles { files: &self.files, extent };
        let matches = literal::find(&mut self.literal, &searched, terms);
        let counted = terms.as_slice().iter().zip(&matches.counts);
        let counts: Vec<TermCount> = counted.map(|(term, &lines)| TermCount { term: term.clone(), lines }).collect();
        let page = matches.from(offset);
        let remaining = page.len();
        let mut all = page.filter_map(|found| {
            let doc = self.files.doc(found.text);
            debug_assert!(doc.is_some(), "a broken invariant: a match in file {}, which is gone", found.text);
            Some(hit(doc?, &found, terms, &shown))
        });
        let hits: Vec<SearchHit> = all.by_ref().take(limit.unwrap_or(USUAL_HITS)).collect();
        let more = all.take(if limit.is_some() { 0 } else { usize::MAX });
        let blocks = hits.iter().map(SearchHit::block).chain(more.map(|hit| hit.block()));
        let (rendered, rendered_hits) = render::render(&counts, matches.len(), remaining, blocks, max_bytes);
        SearchResults {
            terms: counts,
            total_files: count(matches.len()),
            hits,
            rendered,
            rendered_hits: count(rendered_hits),
            skipped: match extent {
                Extent::Journal => self.skipped_of(shown, &*self.journal),
                Extent::All => self.skipped(shown),
            },
        }
    }

    /// Returns the reason why a file of the index could not be read; `None` if it could.
    pub(crate) fn skip_reason(&self, path: &RelPath) -> Option<&SkipReason> {
        self.skipped.get(path)
    }

    /// Returns the notes that could not be read.
    pub(crate) fn skipped(&self, shown: impl Fn(&RelPath) -> String) -> Vec<Skipped> {
        self.skipped_of(shown, &*self.coverage)
    }

    /// Returns the folders that were listed.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &RelPath> {
        self.pages.keys().flatten()
    }

    fn skipped_of(&self, shown: impl Fn(&RelPath) -> String, is_of: &dyn Fn(&RelPath) -> bool) -> Vec<Skipped> {
        let skipped = self.skipped.iter().filter(|(path, _)| is_of(path));
        let skipped = skipped.map(|(path, reason)| Skipped::new(shown(path), reason));
        let folders = self.pages.values().flatten().flat_map(|page| &page.folders);
        let others = folders.filter(|folder| Layout::is_other_memory(folder));
        let others = others.map(|folder| Skipped::new(shown(folder), &SkipReason::OtherMemory));
        let pages = self.pages.iter().flat_map(|(folder, pages)| pages.iter().map(move |page| (folder.as_ref(), page)));
        let left_out = pages.flat_map(|(folder, page)| skipped_names(folder, &page.left_out, is_of, &shown));
        let unlisted = self.unlisted.iter();
        let unlisted = unlisted.map(|path| Skipped::new(shown(path), &SkipReason::Unreadable(FsError::Denied)));
        skipped.chain(unlisted).chain(others).chain(left_out).collect()
    }

    /// Drops the files of a folder that may not be listed.
    pub(super) fn leave_out(&mut self, folder: &RelPath, limits: &Limits) {
        let page = Page { after: None, next: None, version: None, folders: Vec::new(), left_out: LeftOut::default() };
        self.plan(Some(folder), &page, Vec::new(), limits);
        self.unlisted.push(folder.clone());
    }

    /// Drops files that left a page, and returns those that are new or changed.
    pub(super) fn plan(
        &mut self,
        folder: Option<&RelPath>,
        page: &Page,
        present: Vec<Entry>,
        limits: &Limits,
    ) -> Vec<Entry> {
        // Both are sorted by path.
        let mut known = self.files.in_folder(folder, page.after.as_ref(), page.next.as_ref()).peekable();
        let mut gone: Vec<DocId> = Vec::new();
        let mut ids: Vec<Option<DocId>> = Vec::with_capacity(present.len());
        for entry in &present {
            while let Some((_, id)) = known.next_if(|(path, _)| *path < entry.path.as_str()) {
                gone.push(id);
            }
            ids.push(known.next_if(|(path, _)| *path == entry.path.as_str()).map(|(_, id)| id));
        }
        gone.extend(known.map(|(_, id)| id));
        let gone: Vec<RelPath> = gone.into_iter().filter_map(|id| Some(self.files.doc(id)?.path.clone())).collect();
        gone.iter().for_each(|path| self.forget(path));
        let mut is_to_be_read = |entry: &Entry, id: Option<DocId>| {
            let has_room_now = matches!(self.skipped.get(&entry.path), Some(SkipReason::IndexFull))
                && self.files.live_bytes().saturating_add(entry.size) <= limits.max_index_bytes;
            // Only files have versions. A file without one was not seen by hosts of this scheme.
            let is_same_kind = entry.kind == EntryKind::File || self.skipped.contains_key(&entry.path);
            let is_known = is_same_kind && id.is_some_and(|id| self.files.is_known(id, &entry.version, entry.modified));
            has_room_now || !is_known
        };
        let present = present.into_iter().zip(ids);
        present.filter(|(entry, id)| is_to_be_read(entry, *id)).map(|(entry, _)| entry).collect()
    }

    /// Takes the result of reading a file. If the text is not available, the name can still be searched.
    ///
    /// A note that was indexed from the same bytes is unchanged and gets the new version. Its text is kept if
    /// `keep_text` is set.
    pub(super) fn take(&mut self, entry: Entry, loaded: Result<Loaded, FsError>, limits: &Limits, keep_text: bool) {
        let (version, text) = match loaded {
            Ok(Loaded::Whole { bytes, version }) => {
                let size = self.files.live_bytes().saturating_add(bytes.len() as u64);
                let text = if size > limits.max_index_bytes {
                    Err(SkipReason::IndexFull)
                } else {
                    String::from_utf8(bytes).map_err(|_| SkipReason::NotText)
                };
                (version, text)
            }
            Ok(Loaded::TooLarge(size)) => (entry.version, Err(SkipReason::TooLarge(size))),
            Ok(Loaded::Absent) => {
                return self.forget(&entry.path);
            }
            // Without a version, the next search tries again.
            Err(error) => (Version(String::new()), Err(SkipReason::Unreadable(error))),
        };
        let is_text = text.is_ok();
        let text = match text {
            Ok(text) => {
                self.skipped.remove(&entry.path);
                text
            }
            Err(reason) => {
                self.skipped.insert(entry.path.clone(), reason);
                String::new()
            }
        };
        // A concurrent search may have listed the folder since this file was requested. The folder stays known: if it is gone by
        // the next listing, its files are too.
        let folder = entry.path.parent();
        if let Some(pages) = self.pages.remove(&folder) {
            self.pages.insert(folder, pages.into_iter().map(|page| Page { version: None, ..page }).collect());
        }
        if is_text && let Some(id) = self.note_of_bytes(&entry.path, &text) {
            self.files.see_again(id, version, entry.modified, keep_text.then_some(text));
            self.count_change(&entry.path);
            return;
        }
        self.insert(IndexedFile::new(entry.path, version, entry.modified, Some(text)));
    }

    /// Returns the note of the path, if it was indexed from this text.
    fn note_of_bytes(&self, path: &RelPath, text: &str) -> Option<DocId> {
        let id = self.files.id(path)?;
        let document = self.files.doc(id)?;
        let is_indexed = id < self.ranked_to && !matches!(document.note, EncodedNote::Unknown);
        (is_indexed && document.hash == ContentHash::from_text(text)).then_some(id)
    }

    pub(super) fn insert(&mut self, mut document: IndexedFile) {
        self.place(&mut document);
        self.forget_words(&document.path);
        self.others.folder_changed(document.path.parent());
        self.count_change(&document.path);
        self.files.insert(document);
    }

    fn count_change(&mut self, path: &RelPath) {
        self.unsaved += 1;
        if let Some(index) = &mut self.complete_index {
            index.changed.insert(path.clone());
        }
    }

    /// Sets if the file is a note.
    fn place(&self, document: &mut IndexedFile) {
        document.is_note = (self.coverage)(&document.path);
    }

    fn forget_words(&mut self, path: &RelPath) {
        self.literal.forget_names();
        if let Some(id) = self.files.id(path) {
            self.ranked.remove(id);
        }
    }

    pub(super) fn forget(&mut self, path: &RelPath) {
        self.forget_words(path);
        self.others.folder_changed(path.parent());
        self.files.remove(path);
        self.problems.remove(path);
        self.count_change(path);
        self.skipped.remove(path);
    }

    /// Parses the notes that are new since the last call, and adds their words to the ranked index.
    pub(crate) fn index_notes(&mut self) {
        let (mut records, mut ends) = (Vec::new(), Vec::new());
        for id in self.ranked_to..self.files.next_id() {
            let Some(doc) = self.files.doc_mut(id).filter(|doc| doc.is_note) else { continue };
            // The text must be in memory while its words are indexed. Without it, the words of the note would be
            // missing.
            debug_assert!(doc.text.is_some(), "a broken invariant: {} is indexed without its text", doc.path);
            let text = doc.text.as_deref().unwrap_or_default();
            let note = Note::parse_file(text, self.tags, doc.path.file_stem());
            // The name of an entry's file is its key in escapes.
            let key = is_of_entries(&doc.path).then(|| key_of(&note, &doc.path));
            let is_session = is_session_note(&note, &doc.path);
            let body = said(text.part(note.body.clone()), is_session);
            let title = if is_session { asked_in(&note.title) } else { &note.title };
            let fields = Fields {
                title: key.as_deref().filter(|_| note.title == doc.path.file_stem()).unwrap_or(title),
                aliases: note.aliases.iter().map(String::as_str).collect(),
                headings: note.headings.iter().filter(|_| !is_session).map(|heading| heading.text.as_str()).collect(),
                tags: note.tags.iter().map(String::as_str).collect(),
                path: key.as_deref().unwrap_or(if is_session { "" } else { doc.path.as_str() }),
                body: &body,
            };
            let is_indexed = self.ranked.insert(id, &fields);
            debug_assert!(is_indexed, "a broken invariant: {} did not come into the index", doc.path);
            doc.unapproved = TrustState::from_parsed(&note.frontmatter, text).unapproved();
            for path in note.frontmatter.texts("supersedes") {
                if let Some(newer) = self.supersedes.get_or_insert(path.into(), Vec::new()) {
                    newer.push(id);
                }
            }
            match note.problem(text) {
                Some(problem) => self.problems.insert(doc.path.clone(), problem),
                None => drop(self.problems.remove(&doc.path)),
            }
            let encoded = note.encode();
            // Every note can be encoded. If not, its words are still found.
            debug_assert!(encoded.is_some(), "a broken invariant: {} cannot be encoded", doc.path);
            records.extend_from_slice(&encoded.unwrap_or_default());
            ends.push((id, records.len()));
            if records.len() >= RECORDS_BYTES {
                self.files.set_notes(&records, &ends);
                records.clear();
                ends.clear();
            }
            if id % SETTLE_EVERY == 0 {
                self.ranked.settle();
            }
        }
        self.files.set_notes(&records, &ends);
        self.ranked_to = self.files.next_id();
        self.ranked.settle();
    }

    /// Merges the parts of the ranked index. Returns `false` if not all of it is in memory.
    pub(super) fn pack_words(&mut self) -> bool {
        self.ranked.pack()
    }

    /// Returns true if nothing was ever added.
    pub(super) fn is_untouched(&self) -> bool {
        self.files.next_id() == 0 && self.skipped.is_empty()
    }

    /// Takes over the content of an index file.
    pub(super) fn restore(&mut self, index: Restored) {
        self.ranked = index.ranked;
        self.set_complete_index(index.body.writing(), index.generation.clone());
        self.files.restore(index.table);
        self.set_body(index.body);
        self.files.skip_numbers(self.ranked.next_id());
        self.supersedes = index.supersedes;
        self.problems = index.problems;
        self.pages = index.pages;
        self.generation = index.generation;
        self.others = index.others;
        self.ranked_to = self.files.next_id();
        if self.configuration != index.configuration {
            self.generation = None;
            self.complete_index = None;
            let others = self.files.since(0).filter(|(_, doc)| !(self.coverage)(&doc.path));
            let others: Vec<RelPath> = others.map(|(_, doc)| doc.path.clone()).collect();
            for path in others {
                self.pages.remove(&path.parent());
                self.forget(&path);
            }
        }
        self.literal.forget_names();
    }

    /// Takes over the records of other schemes from an index file that was not used: for each note with the same
    /// bytes, its row.
    pub(super) fn adopt_others(&mut self, index: Restored) {
        self.others = index.others;
        for (number, row) in (0..).map_while(|number| Some((number, index.table.rows.row(number as usize)?))) {
            let Ok(path) = RelPath::new(row.path) else { continue };
            match self.files.id(&path).and_then(|id| self.files.doc_mut(id)) {
                Some(document) if document.is_note && document.hash == row.hash => document.row = Some(number),
                _ => self.others.folder_changed(path.parent()),
            }
        }
        let new = self.files.since(0).filter(|(_, document)| document.row.is_none());
        new.for_each(|(_, document)| self.others.folder_changed(document.path.parent()));
        self.files.set_index_body(index.body.bytes().clone());
    }

    /// Returns the body of the index file that the ranked index was read from.
    pub(super) fn body(&self) -> &Body {
        &self.body
    }

    /// Returns how many times the index file turned out to be damaged.
    pub(super) fn damages(&self) -> u64 {
        self.damages
    }

    /// Sets the parts of the index file that are in memory.
    pub(super) fn set_body(&mut self, body: Body) {
        self.ranked.set_body(body.bytes().clone());
        self.files.set_index_body(body.bytes().clone());
        self.body = body;
    }

    /// Forgets what the index file said, because a part of it cannot be read. Its notes are read again by the next update,
    /// and keep their words until then.
    pub(super) fn forget_index_file(&mut self) {
        self.damages += 1;
        self.complete_index = None;
        self.body = Body::default();
        self.files.forget_index_file();
        self.others = OtherSchemes::default();
        self.forget_pages();
        self.loaded = false;
    }

    /// Returns the notes that supersede another one, by the path of the superseded note.
    pub(crate) fn supersedes(&self) -> &SortedMap<String, Vec<DocId>> {
        &self.supersedes
    }

    /// Returns the number of files that were added or removed since the index file was read or written.
    pub(super) fn unsaved(&self) -> usize {
        self.unsaved
    }

    /// Records that the index was written, and the token at which it has all files.
    pub(super) fn saved(&mut self, writing: u64, generation: Option<String>) {
        self.unsaved = 0;
        self.others.own_written();
        self.set_complete_index(writing, generation);
    }

    fn set_complete_index(&mut self, writing: u64, generation: Option<String>) {
        let complete = |generation| CompleteIndex { writing, changed: SortedSet::default(), generation };
        self.complete_index = generation.map(complete);
    }

    /// Returns the number of the writing of the index file, if it had all files of the store.
    pub(super) fn writing(&self) -> Option<u64> {
        self.complete_index.as_ref().map(|index| index.writing)
    }

    /// Returns the files that were added, changed or removed since the index file was written.
    pub(super) fn changed(&self) -> impl Iterator<Item = &RelPath> {
        self.complete_index.iter().flat_map(|index| index.changed.iter())
    }

    /// Returns the token at which the corpus has all files, if their changes are not recorded for it. Files that could not be read
    /// are not recorded.
    pub(super) fn unrecorded_generation(&self) -> Option<&str> {
        let index = self.complete_index.as_ref().filter(|_| self.skipped.is_empty())?;
        self.generation().filter(|generation| *generation != index.generation)
    }

    /// Returns true if the corpus has a token and the index file has none: a host without tokens has written it.
    pub(super) fn has_new_generation(&self) -> bool {
        self.complete_index.is_none() && self.skipped.is_empty() && self.generation().is_some()
    }

    /// Records that the file of the changes has this token. The corpus may have a later one by now.
    pub(super) fn recorded(&mut self, generation: String) {
        if let Some(index) = &mut self.complete_index {
            index.generation = generation;
        }
    }

    /// Returns the version of the configuration that defines the notes.
    pub(super) fn configuration(&self) -> Option<&Version> {
        self.configuration.as_ref()
    }

    /// Returns the pages of all folders, as they were last listed.
    pub(super) fn pages(&self) -> &Pages {
        &self.pages
    }

    pub(super) fn is_skipped(&self, path: &RelPath) -> bool {
        self.skipped.contains_key(path)
    }

    pub(super) fn tags(&self) -> TagSyntax {
        self.tags
    }

    /// Returns the order of equal scores: the file that was changed later comes first.
    pub(crate) fn tie(&self, id: DocId) -> Tie<'_> {
        self.files.doc(id).map_or((Reverse(0), ""), |doc| (Reverse(doc.modified), doc.path.as_str()))
    }

    /// Returns the ranked index.
    pub(crate) fn ranked(&self) -> &RankedIndex {
        &self.ranked
    }

    /// Returns the parsed note of a file; `None` if it was not parsed, for example because it is not a note.
    ///
    /// The record in the index is a cache: if it cannot be decoded, or does not fit the text, the text is parsed again.
    ///
    /// # Errors
    ///
    /// It cannot be decoded, and the text is not in memory.
    pub(crate) fn note(&self, document: &IndexedFile) -> Result<Option<Note>, Error> {
        if matches!(document.note, EncodedNote::Unknown) {
            return Ok(None);
        }
        let fits = |note: &Note| document.text.as_deref().is_none_or(|text| note.fits(text));
        let note = self.files.note(document).filter(fits).or_else(|| self.note_of_text(document));
        let unreadable = || {
            let message = format!("{}: its record in the index cannot be decoded", document.path);
            Error::new(ErrorCode::Storage, message, "remove the folders `.saddlebag/index`; they are created again")
        };
        note.map(Some).ok_or_else(unreadable)
    }

    /// Returns the frontmatter of a file, as the index has it.
    pub(crate) fn frontmatter(&self, document: &IndexedFile) -> Option<Frontmatter> {
        Note::decode_frontmatter(self.files.encoded_note(document)?)
    }

    /// Returns true for a note that is known from the index file, and whose text was not read.
    pub(crate) fn is_known_from_index_only(&self, id: DocId) -> bool {
        let document = self.files.doc(id);
        document.is_some_and(|document| matches!(document.note, EncodedNote::InFile(_)) && document.text.is_none())
    }

    /// Parses a note from its text, if it is known from the index file. Returns false if the index said something else of it, or
    /// if its text could not be read.
    pub(crate) fn is_as_its_file(&mut self, id: DocId) -> bool {
        let Some(document) = self.files.doc(id) else { return false };
        if !matches!(document.note, EncodedNote::InFile(_)) {
            return true;
        }
        let Some(note) = self.note_of_text(document) else { return false };
        let unapproved = TrustState::from_parsed(&note.frontmatter, document.text()).unapproved();
        let encoded = note.encode().unwrap_or_default();
        let is_same = self.files.encoded_note(document) == Some(encoded.as_slice());
        self.files.set_notes(&encoded, &[(id, encoded.len())]);
        if let Some(document) = self.files.doc_mut(id) {
            document.unapproved = unapproved;
        }
        is_same
    }

    /// Returns the parsed note of a file like [`note`](Self::note), without the parts that only a single note needs.
    pub(crate) fn outline(&self, document: &IndexedFile) -> Result<Option<Note>, Error> {
        let fits = |note: &Note| document.text.as_deref().is_none_or(|text| note.fits(text));
        match self.files.encoded_note(document).and_then(Note::decode_outline).filter(fits) {
            Some(note) => Ok(Some(note)),
            None => self.note(document),
        }
    }

    /// Drops the text of notes that was read for one answer, unless text is kept.
    pub(crate) fn drop_texts_of(&mut self, ids: &[DocId]) {
        if !self.keeps_texts {
            self.files.drop_texts_of(ids);
        }
    }

    /// Parses the note from the text of a file; `None` if the text was not read.
    pub(crate) fn note_of_text(&self, document: &IndexedFile) -> Option<Note> {
        let text = document.text.as_deref()?;
        Some(Note::parse_file(text, self.tags, document.path.file_stem()))
    }

    /// Returns the note that supersedes the one at a path (relative to the notebook), of those that `may` permits.
    pub(crate) fn newer(&self, path: &str, may: impl Fn(&IndexedFile) -> bool) -> Option<&IndexedFile> {
        let stem = path.strip_suffix(NOTE_SUFFIX).unwrap_or(path);
        let newer = [path, stem].into_iter().filter_map(|path| self.supersedes.get(path)).flatten();
        newer.rev().filter_map(|&id| self.files.doc(id)).find(|document| may(document))
    }

    /// Returns true if any note supersedes another.
    pub(crate) fn has_superseded(&self) -> bool {
        !self.supersedes.is_empty()
    }

    /// Returns the notes whose frontmatter could not be parsed completely, with the problems.
    pub(crate) fn problems(&self) -> impl Iterator<Item = (&RelPath, &FrontmatterProblem)> {
        self.problems.iter()
    }

    /// Drops the files in folders that no longer exist.
    pub(super) fn keep_folders(&mut self, present: &SortedSet<Option<RelPath>>) {
        if self.pages.keys().all(|folder| present.contains(folder)) {
            return;
        }
        self.pages.retain(|folder, _| present.contains(folder));
        let known = self.files.by_path().map(|(path, _)| path);
        let gone: Vec<RelPath> = known.filter(|path| !present.contains(&path.parent())).cloned().collect();
        gone.iter().for_each(|path| self.forget(path));
    }
}

/// Number of hits that a search lists without a limit.
const USUAL_HITS: usize = 50;

/// Returns true for the note of a session, whose title, headings and path a hook has written.
fn is_session_note(note: &Note, path: &RelPath) -> bool {
    let folder = path.parent();
    note.frontmatter.value("session").is_some() && folder.is_some_and(|folder| folder.file_name() == SESSIONS_FOLDER)
}

/// Returns what somebody asked, of the title of a session such as `Session of 2026-05-24 (codex): move the port`.
fn asked_in(title: &str) -> &str {
    match title.strip_prefix("Session of ") {
        Some(rest) => rest.split_once(": ").map_or("", |(_, asked)| asked),
        None => title,
    }
}

/// Returns the body of a note with spaces in place of what our own templates write: the target of a link that is an item by
/// itself, and the headings of a session. Nobody asks for `files` or `decisions` because of them.
fn said(body: &str, is_session: bool) -> Cow<'_, str> {
    let templated = |line: &str| is_session && line.starts_with("## ") || line.starts_with("- ") && line.contains('[');
    if !body.lines().any(templated) {
        return Cow::Borrowed(body);
    }
    let mut said = String::with_capacity(body.len());
    for line in body.split_inclusive('\n') {
        let written = line.trim_end();
        let item = written.strip_prefix("- Supersedes: ").or_else(|| written.strip_prefix("- "));
        let from = written.len() - item.map_or(0, str::len);
        let target = item.and_then(target_of).map_or(0..0, |target| from + target.start..from + target.end);
        let hidden = if is_session && line.starts_with("## ") { 0..written.len() } else { target };
        said.push_str(line.part(..hidden.start));
        said.extend(core::iter::repeat_n(' ', hidden.len()));
        said.push_str(line.part(hidden.end..));
    }
    Cow::Owned(said)
}

/// Returns the target of a link that is the whole text, or the folders of it if it is the name, too.
fn target_of(item: &str) -> Option<Range<usize>> {
    if let Some(inner) = item.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]")) {
        let end = inner.find('|').or_else(|| inner.rfind('/'))?;
        return Some(2..2 + end);
    }
    let start = item.strip_prefix('[')?.find("](")? + 3;
    item.ends_with(')').then(|| start..item.len() - 1)
}

/// Returns the key of an entry, as people search for it.
fn key_of(note: &Note, path: &RelPath) -> String {
    match note.frontmatter.value("key") {
        Some(Value::String(key)) if !key.is_empty() => key.clone(),
        _ => text_of_name(path.file_stem()),
    }
}

fn hit(doc: &IndexedFile, found: &Match, terms: &Terms, shown: &impl Fn(&RelPath) -> String) -> SearchHit {
    let filename_only = found.lines.is_empty();
    let path = shown(&doc.path);
    let terms: Vec<String> = found.terms.iter().filter_map(|&number| terms.as_slice().get(number).cloned()).collect();
    let frontmatter = Frontmatter::parse(doc.text());
    let unapproved = TrustState::from_parsed(&frontmatter, doc.text()).unapproved();
    let (text, lines) = without_frontmatter(doc.text(), &frontmatter, &found.lines);
    SearchHit {
        heading: render::heading(&path, unapproved, &terms),
        path,
        terms,
        lines: found.lines.iter().take(MAX_HIT_LINES).map(|line| line + 1).collect(),
        total_lines: count(found.lines.len()),
        filename_only,
        date: doc.rank.as_ref().and_then(|rank| rank.date).map(|date| date.to_string()),
        long_term: doc.rank.as_ref().is_some_and(|rank| rank.is_long_term),
        body: if filename_only { literal::name_match(text) } else { literal::windows(text, &lines) },
        unapproved,
    }
}

/// Returns text after its frontmatter, which says nothing to a reader of the hit, and the numbers that lines have
/// there. If only the frontmatter has matches, the hit shows the first line.
fn without_frontmatter<'a>(text: &'a str, frontmatter: &Frontmatter, lines: &[u32]) -> (&'a str, Vec<u32>) {
    if frontmatter.span.is_empty() {
        return (text, lines.to_vec());
    }
    let (before, body) = text.split_at_checked(frontmatter.span.end).unwrap_or(("", text));
    let above = count(before.lines().count());
    let mut lines: Vec<u32> = lines.iter().filter_map(|line| line.checked_sub(above)).collect();
    if lines.is_empty() {
        lines.push(0);
    }
    (body, lines)
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
