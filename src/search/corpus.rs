//! [`Corpus`]: the searched files as they were last read.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;

use saddlebag_search::literal::{self, LiteralIndex, Match, Terms};
use saddlebag_search::ranked::{Fields, RankedIndex, Tie};

use super::files::{DocId, EncodedNote, Files, IndexedFile};
use super::render;
use super::schemes::{ContentHash, OtherSchemes};
use super::scopes::{is_markdown, skipped_names};
use super::types::{MAX_HIT_LINES, SearchHit, SearchResults, SkipReason, Skipped, TermCount};
use crate::document::{FrontmatterProblem, Note, TagSyntax, Value};
use crate::engine::{Limits, Loaded};
use crate::part::TextPart;
use crate::protocol::{Entry, EntryKind, Error, ErrorCode, FsError, LeftOut, Version};
use crate::sorted::{SortedMap, SortedSet};
use crate::store::{Layout, NOTE_SUFFIX, RelPath};
use crate::trust::TrustState;

/// How many notes are indexed between two looks at whether the index is to be packed.
const SETTLE_EVERY: DocId = 512;

/// Which files are notes, by their paths.
pub(crate) type Coverage = Arc<dyn Fn(&RelPath) -> bool + Send + Sync>;

/// What an index file gives.
pub(super) struct Restored {
    pub(super) file: Arc<Vec<u8>>,
    pub(super) ranked: RankedIndex,
    pub(super) documents: Vec<(DocId, IndexedFile)>,
    pub(super) supersedes: SortedMap<String, Vec<DocId>>,
    pub(super) problems: SortedMap<RelPath, FrontmatterProblem>,
    /// What is listed unchanged is known by `documents`.
    pub(super) pages: Pages,
    pub(super) others: OtherSchemes,
}

/// One page of a folder as it was last listed.
#[derive(Clone, Debug)]
pub(super) struct Page {
    pub(super) after: Option<RelPath>,
    pub(super) next: Option<RelPath>,
    pub(super) version: Option<Version>,
    /// The folders on it.
    pub(super) folders: Vec<RelPath>,
    /// What the folder has under names that no path may have.
    pub(super) left_out: LeftOut,
}

/// By folder, its pages.
pub(super) type Pages = SortedMap<Option<RelPath>, Vec<Page>>;

/// The files that a search covers, what could not be read of them, and the indexes of their words.
pub(crate) struct Corpus {
    pub(crate) files: Files,
    pub(super) literal: LiteralIndex,
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
    /// What hosts with other versions know of the files.
    pub(super) others: OtherSchemes,
    /// Whether the index file was looked for.
    pub(super) has_looked_for_index: bool,
    pub(super) skipped: SortedMap<RelPath, SkipReason>,
    /// What the folders were when they were last listed.
    pub(super) pages: Pages,
    /// Which files are notes.
    coverage: Coverage,
    /// The version of the configuration that `coverage` is by; `None` where there is none.
    configuration: Option<Version>,
    /// Which files literal search covers, notes or not.
    journal: Coverage,
    /// How often what counts as a note, or as a tag, was changed: a list from before says nothing.
    pub(super) rules: u64,
    /// Whether the last try to bring it up to date succeeded.
    pub(super) loaded: bool,
    /// Whether literal search, which needs every text, was ever asked for.
    pub(super) keeps_texts: bool,
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
            others: OtherSchemes::default(),
            has_looked_for_index: false,
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

    /// Whether a file is kept: as a note, or for literal search.
    pub(super) fn covers(&self, path: &RelPath) -> bool {
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

    /// The next try looks at every folder again. What the pages say of names that are skipped stays.
    pub(super) fn forget_page_versions(&mut self) {
        for (folder, mut pages) in core::mem::take(&mut self.pages).into_entries() {
            pages.iter_mut().for_each(|page| page.version = None);
            self.pages.insert(folder, pages);
        }
    }

    /// Until this try has succeeded, nothing is known.
    pub(super) fn begin(&mut self) {
        self.loaded = false;
        // What found no room is looked at again, and the host need not say that it is unchanged.
        if self.skipped.values().any(|reason| matches!(reason, SkipReason::IndexFull)) {
            self.pages.clear();
        }
    }

    /// Answers a query from memory.
    ///
    /// `shown` gives the path as it is to be shown; hits from `offset` on, at most `limit`, in the rendering as well;
    /// without a limit the list has [`USUAL_HITS`]. The rendering takes at most `max_bytes` and a truncation marker.
    pub(crate) fn search(
        &mut self,
        terms: &Terms,
        shown: impl Fn(&RelPath) -> String,
        (offset, limit): (usize, Option<usize>),
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
        let others = others.map(|folder| Skipped { path: shown(folder), reason: SkipReason::OtherMemory });
        let pages = self.pages.iter().flat_map(|(folder, pages)| pages.iter().map(move |page| (folder.as_ref(), page)));
        let left_out = pages.flat_map(|(folder, page)| skipped_names(folder, &page.left_out, is_of, &shown));
        skipped.chain(others).chain(left_out).collect()
    }

    /// Forgets what a page has no longer, and gives what is new on it or changed.
    pub(super) fn plan(
        &mut self,
        folder: Option<&RelPath>,
        page: &Page,
        present: Vec<Entry>,
        limits: &Limits,
    ) -> Vec<Entry> {
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
            // What is not a file has no version, as a file that hosts of this scheme have not seen.
            let is_same_kind = entry.kind == EntryKind::File || self.skipped.contains_key(&entry.path);
            let is_known = is_same_kind && id.is_some_and(|id| self.files.is_known(id, &entry.version, entry.modified));
            has_room_now || !is_known
        };
        let present = present.into_iter().zip(ids);
        present.filter(|(entry, id)| is_to_be_read(entry, *id)).map(|(entry, _)| entry).collect()
    }

    /// Takes what was read of a file. Of one whose text cannot be had, the name is still searched.
    ///
    /// A note that was indexed from these bytes stays what it is, and gets the version. Its text is kept if
    /// `keep_text`.
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
            // Under no version of the file, so that the next search tries again.
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
        // Another search under way may have listed the folder since this file was asked for.
        self.pages.remove(&entry.path.parent());
        if is_text && let Some(id) = self.note_of_bytes(&entry.path, &text) {
            self.files.see_again(id, version, entry.modified, keep_text.then_some(text));
            self.unsaved += 1;
            return;
        }
        self.insert(IndexedFile::new(entry.path, version, entry.modified, Some(text)));
    }

    /// The note of the path, if it was indexed from this text.
    fn note_of_bytes(&self, path: &RelPath, text: &str) -> Option<DocId> {
        let id = self.files.id(path)?;
        let document = self.files.doc(id)?;
        let is_indexed = id < self.ranked_to && !matches!(document.note, EncodedNote::Unknown);
        (is_indexed && document.hash == ContentHash::of(text)).then_some(id)
    }

    pub(super) fn insert(&mut self, mut document: IndexedFile) {
        self.place(&mut document);
        self.forget_words(&document.path);
        self.others.folder_changed(document.path.parent());
        self.files.insert(document);
        self.unsaved += 1;
    }

    /// Says whose file it is.
    fn place(&self, document: &mut IndexedFile) {
        document.is_journal = (self.journal)(&document.path);
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
        self.unsaved += 1;
        self.skipped.remove(path);
    }

    /// Parses the notes that came since the last time, and puts their words into the ranked index.
    pub(crate) fn index_notes(&mut self) {
        // The journal searches literally. Its component is a tenth smaller without what parses notes.
        if cfg!(not(feature = "entries")) {
            return;
        }
        for id in self.ranked_to..self.files.next_id() {
            let Some(doc) = self.files.doc_mut(id).filter(|doc| doc.is_note) else { continue };
            // Words are indexed while the text is at hand. Without it the note would be found by nothing that it says.
            debug_assert!(doc.text.is_some(), "a broken invariant: {} is indexed without its text", doc.path);
            let text = doc.text.as_deref().unwrap_or_default();
            let note = Note::parse_file(text, self.tags, stem(&doc.path));
            let fields = Fields {
                title: &note.title,
                aliases: note.aliases.iter().map(String::as_str).collect(),
                headings: note.headings.iter().map(|heading| heading.text.as_str()).collect(),
                tags: note.tags.iter().map(String::as_str).collect(),
                path: doc.path.as_str(),
                body: text.part(note.body.clone()),
            };
            let is_indexed = self.ranked.insert(id, &fields);
            debug_assert!(is_indexed, "a broken invariant: {} did not come into the index", doc.path);
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
        self.files.skip_numbers(self.ranked.next_id());
        self.supersedes = index.supersedes;
        self.problems = index.problems;
        self.pages = index.pages;
        self.others = index.others;
        self.ranked_to = self.files.next_id();
        let others = self.files.since(0).filter(|(_, doc)| !doc.is_note).map(|(_, doc)| doc.path.clone());
        let others: Vec<RelPath> = others.collect();
        for path in others {
            self.pages.remove(&path.parent());
            self.forget(&path);
        }
        self.literal.forget_names();
    }

    /// Takes over what an index file that was not used knows of other schemes: of each note the place in it, if the
    /// bytes are those that are known here.
    pub(super) fn adopt_others(&mut self, index: Restored) {
        self.others = index.others;
        for (_, listed) in &index.documents {
            match self.files.id(&listed.path).and_then(|id| self.files.doc_mut(id)) {
                Some(document) if document.is_note && document.hash == listed.hash => document.row = listed.row,
                _ => self.others.folder_changed(listed.path.parent()),
            }
        }
        let new = self.files.since(0).filter(|(_, document)| document.row.is_none());
        new.for_each(|(_, document)| self.others.folder_changed(document.path.parent()));
        self.files.set_index_file(index.file);
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

    /// What was parsed of a file; `None` if nothing was, as for a file that is not a note.
    ///
    /// What the index has is a cache: if it cannot be read back, or does not fit the text, the text is parsed again.
    ///
    /// # Errors
    ///
    /// It cannot be read back, and the text is not at hand.
    pub(crate) fn note(&self, document: &IndexedFile) -> Result<Option<Note>, Error> {
        if matches!(document.note, EncodedNote::Unknown) {
            return Ok(None);
        }
        let fits = |note: &Note| document.text.as_deref().is_none_or(|text| note.fits(text));
        let note = self.files.note(document).filter(fits).or_else(|| self.note_of_text(document));
        let unreadable = || {
            let message = alloc::format!("{}: what the index says of it cannot be read", document.path);
            Error::new(ErrorCode::Storage, message, "remove the folders `.saddlebag`, which are made again")
        };
        note.map(Some).ok_or_else(unreadable)
    }

    /// The note that a file says, parsed of its text; `None` where the text is not read.
    pub(crate) fn note_of_text(&self, document: &IndexedFile) -> Option<Note> {
        let text = document.text.as_deref()?;
        Some(Note::parse_file(text, self.tags, stem(&document.path)))
    }

    /// The note that supersedes the one at a path, given below the notebook, of those that may.
    pub(crate) fn newer(&self, path: &str, may: impl Fn(&IndexedFile) -> bool) -> Option<&IndexedFile> {
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

/// How many hits a search lists without a limit.
const USUAL_HITS: usize = 50;

fn hit(doc: &IndexedFile, found: &Match, terms: &Terms, shown: &impl Fn(&RelPath) -> String) -> SearchHit {
    let filename_only = found.lines.is_empty();
    let path = shown(&doc.path);
    let terms: Vec<String> = found.terms.iter().filter_map(|&number| terms.as_slice().get(number).cloned()).collect();
    let unapproved = TrustState::of_text(doc.text()).unapproved();
    SearchHit {
        heading: render::heading(&path, unapproved, &terms),
        path,
        terms,
        lines: found.lines.iter().take(MAX_HIT_LINES).map(|line| line + 1).collect(),
        total_lines: count(found.lines.len()),
        filename_only,
        date: doc.rank.date.map(|date| date.to_string()),
        long_term: doc.rank.is_long_term,
        body: if filename_only { literal::name_match(doc.text()) } else { literal::windows(doc.text(), &found.lines) },
        unapproved,
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
