//! [`Corpus`]: the searched files as they were last read.

use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use atomic_refcell::AtomicRefCell;
use core::cmp::Reverse;

use saddlebag_search::literal::{self, LiteralIndex, Match};

use super::files::{DocId, Document, EncodedNote, Files};
use super::ranked::{Fields, RankedIndex, Tie};
use super::render;
use super::{MAX_HIT_LINES, SearchHit, SearchResults, SkipReason, Skipped, TermCount, Terms};
use crate::document::{FrontmatterProblem, Note, TagSyntax, Value};
use crate::engine::{Call, Fs, Limits, Loaded, load_all};
use crate::protocol::{Entry, EntryKind, Error, ErrorCode, FsError, ListOutcome, Listing, Version};
use crate::sorted::{SortedMap, SortedSet};
use crate::store::{self, Layout, NOTE_SUFFIX, RelPath};
use crate::trust::Standing;

/// How many files are read together.
const READ_BATCH: usize = 256;

/// How many bytes are read together, but for one larger file. What is read together is in memory at once, and parsed
/// within the time of one call.
const READ_BYTES: u64 = 8 << 20;

/// How many entries a folder may have. A host could otherwise keep a command busy for ever.
const MAX_FOLDER_ENTRIES: usize = 1 << 20;

/// How many folders a tree may have.
const MAX_FOLDERS: usize = 1 << 16;

/// How many notes are indexed between two looks at whether the index is to be packed.
const SETTLE_EVERY: DocId = 512;

/// What files are read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Their texts, which are kept.
    Literal,
    /// Their words: a text is indexed as it comes, and read again if a passage of it is to be shown.
    Ranked,
}

/// A folder that a search covers.
#[derive(Clone, Debug)]
pub(crate) struct FolderScope {
    /// `None` for the root.
    pub(crate) folder: Option<RelPath>,
    /// Also everything below it, except hidden folders and the memory of other scopes. Hidden files never belong to it.
    pub(crate) tree: bool,
}

/// Which files are notes, by their paths.
pub(crate) type Coverage = Arc<dyn Fn(&RelPath) -> bool + Send + Sync>;

/// What an index file gives.
pub(super) struct Restored {
    pub(super) file: Arc<Vec<u8>>,
    pub(super) ranked: RankedIndex,
    pub(super) documents: Vec<(DocId, Document)>,
    pub(super) supersedes: SortedMap<String, Vec<DocId>>,
    pub(super) problems: SortedMap<RelPath, FrontmatterProblem>,
    /// What is listed unchanged is known by `documents`.
    pub(super) pages: Pages,
}

/// One page of a folder as it was last listed.
#[derive(Clone, Debug)]
pub(super) struct Page {
    pub(super) after: Option<RelPath>,
    pub(super) next: Option<RelPath>,
    pub(super) version: Option<Version>,
    /// The folders on it.
    pub(super) folders: Vec<RelPath>,
}

/// By folder, its pages.
pub(super) type Pages = SortedMap<Option<RelPath>, Vec<Page>>;

/// The files that a search covers, what could not be read of them, and the indexes of their words.
pub(crate) struct Corpus {
    pub(crate) files: Files,
    literal: LiteralIndex,
    ranked: RankedIndex,
    /// Files with a lower number are in `ranked`.
    ranked_to: DocId,
    /// How tags are read.
    tags: TagSyntax,
    /// By the path that a note says it supersedes, the notes that say so.
    supersedes: SortedMap<String, Vec<DocId>>,
    /// The notes of which not everything is known, and why.
    problems: SortedMap<RelPath, FrontmatterProblem>,
    /// How many files were read since the index file was read or written.
    unsaved: usize,
    skipped: SortedMap<RelPath, SkipReason>,
    /// What the folders were when they were last listed.
    pages: Pages,
    /// Which files are notes.
    coverage: Coverage,
    /// The version of the configuration that `coverage` is by; `None` where there is none.
    configuration: Option<Version>,
    /// Which files literal search covers, notes or not.
    journal: Coverage,
    /// How often what counts as a note, or as a tag, was changed: a list from before says nothing.
    rules: u64,
    /// Whether the last try to bring it up to date succeeded.
    loaded: bool,
    /// Whether literal search, which needs every text, was ever asked for.
    keeps_texts: bool,
}

impl Default for Corpus {
    fn default() -> Self {
        Self {
            files: Files::default(),
            literal: LiteralIndex::new(NOTE_SUFFIX),
            ranked: RankedIndex::default(),
            ranked_to: 0,
            tags: TagSyntax::default(),
            supersedes: SortedMap::default(),
            problems: SortedMap::default(),
            unsaved: 0,
            skipped: SortedMap::default(),
            pages: SortedMap::default(),
            coverage: Arc::new(is_markdown),
            configuration: None,
            journal: Arc::new(|_| true),
            rules: 0,
            loaded: false,
            keeps_texts: false,
        }
    }
}

impl Corpus {
    /// Of a scope, with nothing in it.
    pub(crate) fn new(layout: &Layout) -> Self {
        let layout = layout.clone();
        Self { journal: Arc::new(move |path| layout.is_journal(path)), ..Self::default() }
    }

    /// Whether the host's word that nothing changed is enough to answer from memory.
    pub(crate) fn is_loaded(&self) -> bool {
        self.loaded
    }

    /// Other files are notes from here on, by the configuration of this version. One that becomes a note, or is
    /// none any more, is a new file: what was indexed of it is passed over, and a text that is at hand is kept.
    pub(crate) fn cover(&mut self, coverage: Coverage, configuration: Option<Version>) {
        self.coverage = coverage;
        self.configuration = configuration;
        let known = self.files.since(0).filter(|(_, doc)| doc.is_note != (self.coverage)(&doc.path));
        let changed: Vec<Document> = known
            .map(|(_, doc)| {
                let text = doc.text.as_deref().map(String::from);
                Document::new(doc.path.clone(), doc.version.clone(), doc.modified, text)
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

    /// Whether a file is kept: as a note, or for literal search.
    fn covers(&self, path: &RelPath) -> bool {
        (self.coverage)(path) || (self.journal)(path)
    }

    /// Tags are read so from here on. What was indexed otherwise is indexed anew; what is known from an
    /// index file alone is read again.
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

    fn new_rules(&mut self) {
        self.pages.clear();
        self.loaded = false;
        self.rules += 1;
    }

    /// Until this try has succeeded, nothing is known.
    fn begin(&mut self) {
        self.loaded = false;
        // What found no room is looked at again, and the host need not say that it is unchanged.
        if self.skipped.values().any(|reason| matches!(reason, SkipReason::IndexFull)) {
            self.pages.clear();
        }
    }

    /// Answers a query from memory.
    ///
    /// `shown` gives the path as it is to be shown; hits from `offset` on, at most `limit`; the
    /// rendering takes at most `max_bytes` and a truncation marker.
    pub(crate) fn search(
        &mut self,
        terms: &Terms,
        shown: impl Fn(&RelPath) -> String,
        (offset, limit): (usize, usize),
        max_bytes: usize,
    ) -> SearchResults {
        let matches = literal::find(&mut self.literal, &self.files, terms);
        let counted = terms.as_slice().iter().zip(&matches.counts);
        let counts: Vec<TermCount> = counted.map(|(term, &lines)| TermCount { term: term.clone(), lines }).collect();
        let page = matches.from(offset);
        let remaining = page.len();
        let mut all = page.filter_map(|found| {
            let doc = self.files.doc(found.text);
            debug_assert!(doc.is_some(), "a broken invariant: a match in file {}, which is gone", found.text);
            Some(hit(doc?, &found, terms, &shown))
        });
        let hits: Vec<SearchHit> = all.by_ref().take(limit).collect();
        // A rendering is bounded by its bytes alone: it may go on behind the last hit of the page.
        let blocks = hits.iter().map(SearchHit::block).chain(all.map(|hit| hit.block()));
        let (rendered, rendered_hits) = render::render(&counts, matches.len(), remaining, blocks, max_bytes);
        SearchResults {
            terms: counts,
            total_files: count(matches.len()),
            hits,
            rendered,
            rendered_hits: count(rendered_hits),
            skipped: self.skipped_of(shown, &*self.journal),
        }
    }

    /// The notes that could not be read.
    pub(crate) fn skipped(&self, shown: impl Fn(&RelPath) -> String) -> Vec<Skipped> {
        self.skipped_of(shown, &*self.coverage)
    }

    fn skipped_of(&self, shown: impl Fn(&RelPath) -> String, is_of: &dyn Fn(&RelPath) -> bool) -> Vec<Skipped> {
        let skipped = self.skipped.iter().filter(|(path, _)| is_of(path));
        let skipped = skipped.map(|(path, reason)| Skipped { path: shown(path), reason: reason.clone() });
        let folders = self.pages.values().flatten().flat_map(|page| &page.folders);
        let others = folders.filter(|folder| Layout::is_other_memory(folder));
        skipped.chain(others.map(|folder| Skipped { path: shown(folder), reason: SkipReason::OtherMemory })).collect()
    }

    /// Forgets what a page has no longer, and gives what is new on it or changed.
    fn plan(&mut self, folder: Option<&RelPath>, page: &Page, present: Vec<Entry>, limits: &Limits) -> Vec<Entry> {
        // Both are sorted by path.
        let mut known = self.files.in_folder(folder, page.after.as_ref(), page.next.as_ref()).peekable();
        let mut gone: Vec<RelPath> = Vec::new();
        let mut ids: Vec<Option<DocId>> = Vec::with_capacity(present.len());
        for entry in &present {
            while let Some((path, _)) = known.next_if(|(path, _)| **path < entry.path) {
                gone.push(path.clone());
            }
            ids.push(known.next_if(|(path, _)| **path == entry.path).map(|(_, id)| id));
        }
        gone.extend(known.map(|(path, _)| path.clone()));
        gone.iter().for_each(|path| self.forget(path));
        let mut is_to_be_read = |entry: &Entry, id: Option<DocId>| {
            let has_room_now = matches!(self.skipped.get(&entry.path), Some(SkipReason::IndexFull))
                && self.files.live_bytes().saturating_add(entry.size) <= limits.max_index_bytes;
            let is_known = id.is_some_and(|id| self.files.is_known(id, &entry.version, entry.modified));
            has_room_now || !is_known
        };
        let present = present.into_iter().zip(ids);
        present.filter(|(entry, id)| is_to_be_read(entry, *id)).map(|(entry, _)| entry).collect()
    }

    /// Takes what was read of a file. Of one whose text cannot be had, the name is still searched.
    fn take(&mut self, entry: Entry, loaded: Result<Loaded, FsError>, limits: &Limits) {
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
            // Under no version of the file, so that the next search tries again.
            Err(error) => (Version(String::new()), Err(SkipReason::Unreadable(error))),
        };
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
        // Another search under way may have listed the folder since this file was asked for.
        self.pages.remove(&entry.path.parent());
        self.insert(Document::new(entry.path, version, entry.modified, Some(text)));
    }

    fn insert(&mut self, mut document: Document) {
        self.place(&mut document);
        self.forget_words(&document.path);
        self.files.insert(document);
        self.unsaved += 1;
    }

    /// Says whose file it is.
    fn place(&self, document: &mut Document) {
        document.is_journal = (self.journal)(&document.path);
        document.is_note = (self.coverage)(&document.path);
    }

    fn forget_words(&mut self, path: &RelPath) {
        self.literal.forget_names();
        if let Some(id) = self.files.id(path) {
            self.ranked.remove(id);
        }
    }

    fn forget(&mut self, path: &RelPath) {
        self.forget_words(path);
        self.files.remove(path);
        self.problems.remove(path);
        self.unsaved += 1;
        self.skipped.remove(path);
    }

    /// Parses the notes that came since the last time, and puts their words into the ranked index.
    pub(crate) fn index_notes(&mut self) {
        for id in self.ranked_to..self.files.next_id() {
            let Some(doc) = self.files.doc_mut(id).filter(|doc| doc.is_note) else { continue };
            let text = doc.text.as_deref().unwrap_or_default();
            let note = Note::parse_file(text, self.tags, stem(&doc.path));
            let fields = Fields {
                title: &note.title,
                aliases: note.aliases.iter().map(String::as_str).collect(),
                headings: note.headings.iter().map(|heading| heading.text.as_str()).collect(),
                tags: note.tags.iter().map(String::as_str).collect(),
                path: doc.path.as_str(),
                body: text.get(note.body.clone()).unwrap_or_default(),
            };
            self.ranked.insert(id, &fields);
            note_superseded(&mut self.supersedes, id, &note);
            match note.problem(text) {
                Some(problem) => self.problems.insert(doc.path.clone(), problem),
                None => drop(self.problems.remove(&doc.path)),
            }
            let encoded = postcard::to_allocvec(&note);
            // A note has nothing that cannot be encoded. Without it the words of the note are found all the same.
            debug_assert!(encoded.is_ok(), "a broken invariant: {}: {encoded:?}", doc.path);
            let encoded = encoded.unwrap_or_default();
            doc.note = EncodedNote::Own(encoded.into_boxed_slice());
            if id % SETTLE_EVERY == 0 {
                self.ranked.settle();
            }
        }
        self.ranked_to = self.files.next_id();
        self.ranked.settle();
    }

    /// Whether nothing was ever put into it.
    pub(super) fn is_untouched(&self) -> bool {
        self.files.next_id() == 0 && self.skipped.is_empty()
    }

    /// Takes over what an index file knows.
    pub(super) fn restore(&mut self, index: Restored) {
        self.ranked = index.ranked;
        self.files.set_index_file(index.file);
        for (id, mut document) in index.documents {
            self.place(&mut document);
            self.files.restore(id, document);
        }
        self.supersedes = index.supersedes;
        self.problems = index.problems;
        self.pages = index.pages;
        self.ranked_to = self.files.next_id();
        let others = self.files.since(0).filter(|(_, doc)| !doc.is_note).map(|(_, doc)| doc.path.clone());
        let others: Vec<RelPath> = others.collect();
        for path in others {
            self.pages.remove(&path.parent());
            self.forget(&path);
        }
        self.literal.forget_names();
    }

    /// By the path that a note says it supersedes, the notes that say so.
    pub(super) fn supersedes(&self) -> &SortedMap<String, Vec<DocId>> {
        &self.supersedes
    }

    /// How many files came or went since the index file was read or written.
    pub(super) fn unsaved(&self) -> usize {
        self.unsaved
    }

    pub(super) fn saved(&mut self) {
        self.unsaved = 0;
    }

    /// The version of the configuration that says which files are notes.
    pub(super) fn configuration(&self) -> Option<&Version> {
        self.configuration.as_ref()
    }

    /// What the folders were when they were last listed.
    pub(super) fn pages(&self) -> &Pages {
        &self.pages
    }

    pub(super) fn is_skipped(&self, path: &RelPath) -> bool {
        self.skipped.contains_key(path)
    }

    pub(super) fn tags(&self) -> TagSyntax {
        self.tags
    }

    /// What decides between equal scores: the file that was changed later is first.
    pub(crate) fn tie(&self, id: DocId) -> Tie<'_> {
        self.files.doc(id).map_or((Reverse(0), ""), |doc| (Reverse(doc.modified), doc.path.as_str()))
    }

    /// The ranked index.
    pub(crate) fn ranked(&self) -> &RankedIndex {
        &self.ranked
    }

    /// The note that a file says, parsed of its text; `None` where the text is not read.
    pub(crate) fn note_of_text(&self, document: &Document) -> Option<Note> {
        let text = document.text.as_deref()?;
        Some(Note::parse_file(text, self.tags, stem(&document.path)))
    }

    /// The note that supersedes the one at a path, given below the notebook, of those that may.
    pub(crate) fn newer(&self, path: &str, may: impl Fn(&Document) -> bool) -> Option<&Document> {
        let stem = path.strip_suffix(NOTE_SUFFIX).unwrap_or(path);
        let newer = [path, stem].into_iter().filter_map(|path| self.supersedes.get(path)).flatten();
        newer.rev().filter_map(|&id| self.files.doc(id)).find(|document| may(document))
    }

    /// Whether any note supersedes another.
    pub(crate) fn has_superseded(&self) -> bool {
        !self.supersedes.is_empty()
    }

    /// The notes of which not everything is known, and why.
    pub(crate) fn problems(&self) -> impl Iterator<Item = (&RelPath, &FrontmatterProblem)> {
        self.problems.iter()
    }

    /// Forgets what was in folders that are no more.
    fn keep_folders(&mut self, present: &SortedSet<Option<RelPath>>) {
        if self.pages.keys().all(|folder| present.contains(folder)) {
            return;
        }
        self.pages.retain(|folder, _| present.contains(folder));
        let known = self.files.by_path().map(|(path, _)| path);
        let gone: Vec<RelPath> = known.filter(|path| !present.contains(&path.parent())).cloned().collect();
        gone.iter().for_each(|path| self.forget(path));
    }
}

/// Brings the corpus up to date: lists the folders, reads what changed, forgets what is gone.
pub(crate) async fn refresh(
    call: &Call,
    corpus: &Arc<AtomicRefCell<Corpus>>,
    scopes: Vec<FolderScope>,
    purpose: Purpose,
) -> Result<(), Error> {
    let (fs, limits) = (&call.fs, &call.scope.limits);
    let mut changed = Vec::new();
    let mut listed = Vec::new();
    corpus.borrow_mut().begin();
    let rules = corpus.borrow().rules;
    let mut walk = Walk::of(scopes);
    while let Some(scope) = walk.next()? {
        let pages = look_through(fs, corpus, &scope, limits, &mut changed).await?;
        pages.iter().for_each(|page| walk.add(&page.folders));
        listed.push((scope.folder, pages));
    }
    corpus.borrow_mut().keep_folders(&walk.seen);
    read(fs, corpus, changed, limits, purpose).await;
    let mut corpus = corpus.borrow_mut();
    // Only what was read as well as listed is known, lest another search under way trust the list.
    let is_current = corpus.rules == rules;
    if is_current {
        corpus.pages.extend(listed);
    }
    if corpus.skipped.values().any(|reason| matches!(reason, SkipReason::Unreadable(_))) {
        corpus.pages.clear();
    }
    let Corpus { files, literal, .. } = &mut *corpus;
    files.settle(literal);
    corpus.loaded = is_current;
    Ok(())
}

/// Lists a folder, pages that are unchanged by their version alone, and adds what is to be read.
async fn look_through(
    fs: &Fs,
    corpus: &Arc<AtomicRefCell<Corpus>>,
    scope: &FolderScope,
    limits: &Limits,
    changed: &mut Vec<Entry>,
) -> Result<Vec<Page>, Error> {
    let known = corpus.borrow_mut().pages.remove(&scope.folder).unwrap_or_default();
    let mut pages: Vec<Page> = Vec::new();
    let mut bound = FolderBound::new(scope);
    loop {
        let after = pages.last().and_then(|page| page.next.clone());
        let before = known.get(pages.len()).filter(|page| page.after == after);
        let unless = before.and_then(|page| page.version.clone());
        let listed = fs.list(scope.folder.as_ref(), after.clone(), limits.max_list_entries, unless).await;
        let page = match (listed.map_err(|error| Error::storage(scope.folder.as_ref(), &error))?, before) {
            (ListOutcome::Page(listing), _) => {
                bound.take(&listing)?;
                let Listing { entries, next, version } = listing;
                let folders = if scope.tree { subfolders(&entries) } else { Vec::new() };
                let page = Page { after, next, version, folders };
                let mut corpus = corpus.borrow_mut();
                let is_covered = |entry: &Entry| scope.covers(entry, |path| corpus.covers(path));
                let present = entries.into_iter().filter(is_covered).collect();
                changed.extend(corpus.plan(scope.folder.as_ref(), &page, present, limits));
                page
            }
            (ListOutcome::Unchanged, Some(page)) => page.clone(),
            (ListOutcome::Unchanged, None) => return Err(Error::storage(scope.folder.as_ref(), &FsError::Unsupported)),
        };
        let is_last = page.next.is_none();
        pages.push(page);
        if is_last {
            return Ok(pages);
        }
    }
}

/// Reads files into the corpus, many at once.
async fn read(fs: &Fs, corpus: &Arc<AtomicRefCell<Corpus>>, changed: Vec<Entry>, limits: &Limits, purpose: Purpose) {
    let (regular, special): (Vec<Entry>, Vec<Entry>) =
        changed.into_iter().partition(|entry| entry.kind == EntryKind::File);
    for entry in special {
        let mut corpus = corpus.borrow_mut();
        corpus.skipped.insert(entry.path.clone(), SkipReason::NotRegular);
        corpus.insert(Document::new(entry.path, entry.version, entry.modified, Some(String::new())));
    }
    let mut regular = regular.into_iter().peekable();
    while regular.peek().is_some() {
        let mut batch: Vec<Entry> = Vec::new();
        let mut bytes = 0_u64;
        while let Some(entry) = regular.next_if(|entry| {
            batch.is_empty() || batch.len() < READ_BATCH && bytes.saturating_add(entry.size) <= READ_BYTES
        }) {
            bytes = bytes.saturating_add(entry.size);
            batch.push(entry);
        }
        let (small, large): (Vec<Entry>, Vec<Entry>) =
            batch.into_iter().partition(|entry| entry.size <= u64::from(limits.max_file_bytes));
        let paths: Vec<(&RelPath, Option<Version>)> = small.iter().map(|entry| (&entry.path, None)).collect();
        let answers = load_all(fs, &paths, limits.max_file_bytes).await;
        let mut corpus = corpus.borrow_mut();
        let first = corpus.files.next_id();
        for (entry, answer) in small.into_iter().zip(answers) {
            corpus.take(entry, answer, limits);
        }
        for entry in large {
            let size = entry.size;
            corpus.take(entry, Ok(Loaded::TooLarge(size)), limits);
        }
        if purpose == Purpose::Ranked {
            corpus.index_notes();
            if !corpus.keeps_texts {
                corpus.files.drop_texts(first);
            }
        }
    }
}

/// Reads the texts of files that the index was not made from. One that has changed since is a new file.
pub(crate) async fn load_texts(call: &Call, corpus: &Arc<AtomicRefCell<Corpus>>, ids: &[DocId]) {
    let limits = &call.scope.limits;
    for batch in ids.chunks(READ_BATCH) {
        let wanted: Vec<(DocId, RelPath, u64)> = {
            let corpus = corpus.borrow();
            let docs = batch.iter().filter_map(|&id| Some((id, corpus.files.doc(id)?)));
            docs.map(|(id, doc)| (id, doc.path.clone(), doc.modified)).collect()
        };
        let paths: Vec<(&RelPath, Option<Version>)> = wanted.iter().map(|(_, path, _)| (path, None)).collect();
        let answers = load_all(&call.fs, &paths, limits.max_file_bytes).await;
        let mut corpus = corpus.borrow_mut();
        for ((id, path, modified), answer) in wanted.into_iter().zip(answers) {
            let is_same = |version: &Version| corpus.files.doc(id).is_some_and(|doc| doc.version == *version);
            let answer = match answer {
                Ok(Loaded::Whole { bytes, version }) if is_same(&version) => match String::from_utf8(bytes) {
                    Ok(text) => {
                        corpus.files.set_text(id, text);
                        continue;
                    }
                    // The version is the host's word alone. A file that is not text is named, not shown as empty.
                    Err(error) => Ok(Loaded::Whole { bytes: error.into_bytes(), version }),
                },
                answer => answer,
            };
            let entry = Entry { path, kind: EntryKind::File, size: 0, version: Version(String::new()), modified };
            corpus.take(entry, answer, limits);
        }
    }
}

/// Reads every text that the index was not made from.
pub(crate) async fn read_all(call: &Call, corpus: &Arc<AtomicRefCell<Corpus>>) {
    let missing: Vec<DocId> = {
        let mut corpus = corpus.borrow_mut();
        corpus.keeps_texts = true;
        corpus.files.since(0).filter(|(_, doc)| doc.text.is_none()).map(|(id, _)| id).collect()
    };
    if !missing.is_empty() {
        load_texts(call, corpus, &missing).await;
        let mut corpus = corpus.borrow_mut();
        let Corpus { files, literal, .. } = &mut *corpus;
        files.settle(literal);
    }
}

/// The name of a file without its last extension, as links name it.
fn stem(path: &RelPath) -> &str {
    let name = path.file_name();
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn add_superseded(supersedes: &mut SortedMap<String, Vec<DocId>>, path: &str, id: DocId) {
    if let Some(newer) = supersedes.get_or_insert(path.into(), Vec::new()) {
        newer.push(id);
    }
}

fn note_superseded(supersedes: &mut SortedMap<String, Vec<DocId>>, id: DocId, note: &Note) {
    match note.frontmatter.value("supersedes") {
        Some(Value::String(path)) => add_superseded(supersedes, path, id),
        Some(Value::List(paths)) => {
            for path in paths {
                if let Value::String(path) = path {
                    add_superseded(supersedes, path, id);
                }
            }
        }
        _ => {}
    }
}

impl FolderScope {
    /// What makes up the memory of a scope.
    pub(crate) fn all(layout: &Layout) -> Vec<Self> {
        let tree = Self { folder: layout.project_folder().cloned(), tree: true };
        match &tree.folder {
            None => alloc::vec![tree],
            Some(_) => alloc::vec![Self { folder: None, tree: false }, tree],
        }
    }

    /// Whether listing this comes to a Markdown file of the path, if there is one.
    pub(crate) fn reaches(&self, path: &RelPath) -> bool {
        is_markdown(path) && self.holds(path)
    }

    /// Whether listing this comes to a file of the path, if there is one, whatever its extension.
    pub(crate) fn holds(&self, path: &RelPath) -> bool {
        if is_hidden(path) || Layout::is_other_memory(path) {
            return false;
        }
        let mut folder = path.parent();
        while self.tree && folder != self.folder {
            let Some(inner) = folder else { return false };
            if is_hidden(&inner) || Layout::is_other_memory(&inner) {
                return false;
            }
            folder = inner.parent();
        }
        folder == self.folder
    }

    fn covers(&self, entry: &Entry, is_covered: impl Fn(&RelPath) -> bool) -> bool {
        entry.kind != EntryKind::Directory && is_covered(&entry.path) && !is_hidden(&entry.path)
    }
}

/// The folders among entries that belong to the tree, and those that are taken for another memory although they are
/// not spelt as one: they are not walked, and named.
fn subfolders(entries: &[Entry]) -> Vec<RelPath> {
    let folders = entries.iter().filter(|entry| entry.kind == EntryKind::Directory).map(|entry| &entry.path);
    let is_named = |path: &RelPath| !Layout::is_other_memory(path) || Layout::is_alias_of_other_memory(path);
    folders.filter(|path| !is_hidden(path) && is_named(path)).cloned().collect()
}

fn is_markdown(path: &RelPath) -> bool {
    path.as_str().ends_with(NOTE_SUFFIX)
}

fn is_hidden(path: &RelPath) -> bool {
    store::is_hidden(path.file_name())
}

/// The Markdown files of scopes, and what is named like one; folders are those that are left out as another memory's.
pub(crate) async fn list_markdown(fs: &Fs, scopes: Vec<FolderScope>, limits: &Limits) -> Result<Vec<Entry>, Error> {
    let mut found = Vec::new();
    let mut walk = Walk::of(scopes);
    while let Some(scope) = walk.next()? {
        let mut after = None;
        let mut bound = FolderBound::new(&scope);
        loop {
            let listed = fs.list(scope.folder.as_ref(), after, limits.max_list_entries, None).await;
            let outcome = listed.map_err(|error| Error::storage(scope.folder.as_ref(), &error))?;
            let ListOutcome::Page(page) = outcome else { break };
            bound.take(&page)?;
            if scope.tree {
                walk.add(&subfolders(&page.entries));
            }
            let is_left_out = |entry: &Entry| {
                scope.tree && entry.kind == EntryKind::Directory && Layout::is_alias_of_other_memory(&entry.path)
            };
            let is_listed = |entry: &Entry| scope.covers(entry, is_markdown) || is_left_out(entry);
            found.extend(page.entries.into_iter().filter(is_listed));
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
    }
    Ok(found)
}

/// Every file and folder below a folder, but for those of other scopes and of tools that keep thousands.
pub(crate) async fn list_tree(fs: &Fs, folder: Option<&RelPath>, limits: &Limits) -> Result<Vec<RelPath>, Error> {
    let mut found = Vec::new();
    let mut walk = Walk::of(alloc::vec![FolderScope { folder: folder.cloned(), tree: true }]);
    while let Some(scope) = walk.next()? {
        let mut after = None;
        let mut bound = FolderBound::new(&scope);
        loop {
            let listed = fs.list(scope.folder.as_ref(), after, limits.max_list_entries, None).await;
            // A folder that cannot be listed, such as a hidden one of another user, is not memory.
            let Ok(ListOutcome::Page(page)) = listed else { break };
            bound.take(&page)?;
            let folders = page.entries.iter().filter(|entry| entry.kind == EntryKind::Directory);
            let folders = folders.map(|entry| &entry.path).filter(|path| {
                let is_of_tool = |tool: &str| store::is_name(path.file_name(), tool);
                !Layout::is_other_memory(path) && ![".git", ".saddlebag", "node_modules"].into_iter().any(is_of_tool)
            });
            walk.add(&folders.cloned().collect::<Vec<_>>());
            found.extend(page.entries.into_iter().map(|entry| entry.path));
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
    }
    Ok(found)
}

/// Goes through folders, each once.
struct Walk {
    queue: VecDeque<FolderScope>,
    seen: SortedSet<Option<RelPath>>,
}

impl Walk {
    fn of(scopes: Vec<FolderScope>) -> Self {
        Self { queue: scopes.into(), seen: SortedSet::default() }
    }

    fn add(&mut self, folders: &[RelPath]) {
        let folders = folders.iter().filter(|folder| !Layout::is_other_memory(folder));
        let scopes = folders.map(|folder| FolderScope { folder: Some(folder.clone()), tree: true });
        self.queue.extend(scopes);
    }

    fn next(&mut self) -> Result<Option<FolderScope>, Error> {
        while let Some(scope) = self.queue.pop_front() {
            if self.seen.insert(scope.folder.clone()) {
                if self.seen.len() > MAX_FOLDERS {
                    let message = alloc::format!("more than {MAX_FOLDERS} folders of notes");
                    return Err(Error::new(ErrorCode::TooLarge, message, "move what is not memory out of the store"));
                }
                return Ok(Some(scope));
            }
        }
        Ok(None)
    }
}

/// Counts the entries of a folder, page after page.
struct FolderBound<'a> {
    folder: Option<&'a RelPath>,
    entries: usize,
}

impl<'a> FolderBound<'a> {
    fn new(scope: &'a FolderScope) -> Self {
        Self { folder: scope.folder.as_ref(), entries: 0 }
    }

    fn take(&mut self, page: &Listing) -> Result<(), Error> {
        self.entries += page.entries.len();
        if self.entries <= MAX_FOLDER_ENTRIES {
            return Ok(());
        }
        let place = self.folder.map_or("the root of the store", RelPath::as_str);
        let message = alloc::format!("{place}: more than {MAX_FOLDER_ENTRIES} entries");
        Err(Error::new(ErrorCode::TooLarge, message, "move what is not memory out of the folder"))
    }
}

fn hit(doc: &Document, found: &Match, terms: &Terms, shown: &impl Fn(&RelPath) -> String) -> SearchHit {
    let filename_only = found.lines.is_empty();
    SearchHit {
        path: shown(&doc.path),
        terms: found.terms.iter().filter_map(|&number| terms.as_slice().get(number).cloned()).collect(),
        lines: found.lines.iter().take(MAX_HIT_LINES).map(|line| line + 1).collect(),
        total_lines: count(found.lines.len()),
        filename_only,
        date: doc.rank.date.map(|date| date.to_string()),
        long_term: doc.rank.is_long_term,
        body: if filename_only { literal::name_match(doc.text()) } else { literal::windows(doc.text(), &found.lines) },
        unapproved: Standing::of_text(doc.text()).unapproved(),
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
