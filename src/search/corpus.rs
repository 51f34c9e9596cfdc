//! [`Corpus`]: the searched files as they were last read.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::RefCell;

use super::index::{Document, LiteralIndex, Rank};
use super::query::{self, Match, Terms};
use super::render;
use super::{MAX_HIT_LINES, SearchHit, SearchResults, SkipReason, Skipped, TermCount};
use crate::engine::{Fs, Limits, Loaded, load_all};
use crate::protocol::{Entry, EntryKind, Error, ErrorCode, FsError, ListOutcome, Listing, Version};
use crate::store::{DAILY_FOLDER, Date, LONG_TERM_FILE, NOTE_SUFFIX, RelPath};

/// How many files are read together.
const READ_BATCH: usize = 256;

/// How many entries a folder may have. A host could otherwise keep a command busy for ever.
const MAX_FOLDER_ENTRIES: usize = 1 << 20;

/// A folder that a search covers.
#[derive(Clone, Debug)]
pub(crate) struct FolderScope {
    /// `None` for the root.
    pub(crate) folder: Option<RelPath>,
    /// The only file of it that counts; `None`: every Markdown file.
    pub(crate) only: Option<RelPath>,
}

/// One page of a folder as it was last listed.
#[derive(Clone, Debug)]
struct Page {
    after: Option<RelPath>,
    next: Option<RelPath>,
    version: Option<Version>,
}

/// The text of the files that a search covers, and what could not be read of them.
#[derive(Debug, Default)]
pub(crate) struct Corpus {
    index: LiteralIndex,
    skipped: BTreeMap<RelPath, SkipReason>,
    /// What the folders were when they were last listed.
    pages: BTreeMap<Option<RelPath>, Vec<Page>>,
    /// Whether the last try to bring it up to date succeeded.
    loaded: bool,
}

impl Corpus {
    /// Whether the host's word that nothing changed is enough to answer from memory.
    pub(crate) fn is_loaded(&self) -> bool {
        self.loaded
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
        let matches = query::find(&mut self.index, terms);
        let counted = terms.as_slice().iter().zip(&matches.counts);
        let counts: Vec<TermCount> = counted.map(|(term, &lines)| TermCount { term: term.clone(), lines }).collect();
        let page = matches.from(offset);
        let remaining = page.len();
        let mut all = page.filter_map(|found| Some(hit(self.index.doc(found.doc)?, &found, terms, &shown)));
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
            skipped: self.skipped(shown),
        }
    }

    fn skipped(&self, shown: impl Fn(&RelPath) -> String) -> Vec<Skipped> {
        let skipped = self.skipped.iter();
        skipped.map(|(path, reason)| Skipped { path: shown(path), reason: reason.clone() }).collect()
    }

    /// Forgets what a page has no longer, and gives what is new on it or changed.
    fn plan(&mut self, folder: Option<&RelPath>, page: &Page, present: Vec<Entry>, limits: &Limits) -> Vec<Entry> {
        let paths: BTreeSet<&RelPath> = present.iter().map(|entry| &entry.path).collect();
        let is_on_page = |path: &RelPath| {
            path.is_child_of(folder)
                && page.after.as_ref().is_none_or(|after| path > after)
                && page.next.as_ref().is_none_or(|next| path <= next)
        };
        let gone = self.index.paths().filter(|path| is_on_page(path) && !paths.contains(path));
        for path in gone.cloned().collect::<Vec<RelPath>>() {
            self.index.remove(&path);
            self.skipped.remove(&path);
        }
        let is_to_be_read = |entry: &Entry| {
            let has_room_now = matches!(self.skipped.get(&entry.path), Some(SkipReason::IndexFull))
                && self.index.live_bytes().saturating_add(entry.size) <= limits.max_index_bytes;
            has_room_now || self.index.version(&entry.path) != Some(&entry.version)
        };
        present.into_iter().filter(is_to_be_read).collect()
    }

    /// Takes what was read of a file. Of one whose text cannot be had, the name is still searched.
    fn take(&mut self, entry: Entry, loaded: Result<Loaded, FsError>, limits: &Limits) {
        let (version, text) = match loaded {
            Ok(Loaded::Whole { bytes, version }) => {
                let size = self.index.live_bytes().saturating_add(bytes.len() as u64);
                let text = if size > limits.max_index_bytes {
                    Err(SkipReason::IndexFull)
                } else {
                    String::from_utf8(bytes).map_err(|_| SkipReason::NotText)
                };
                (version, text)
            }
            Ok(Loaded::TooLarge(size)) => (entry.version, Err(SkipReason::TooLarge(size))),
            Ok(Loaded::Absent) => {
                self.skipped.remove(&entry.path);
                return self.index.remove(&entry.path);
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
        let rank = rank(&entry.path);
        self.index.insert(entry.path, version, text, rank);
    }
}

/// Brings the corpus up to date: lists the folders, reads what changed, forgets what is gone.
pub(crate) async fn refresh(
    fs: &Fs,
    corpus: &Rc<RefCell<Corpus>>,
    scopes: &[FolderScope],
    limits: &Limits,
) -> Result<(), Error> {
    let mut changed = Vec::new();
    let mut listed = Vec::new();
    corpus.borrow_mut().begin();
    for scope in scopes {
        let pages = look_through(fs, corpus, scope, limits, &mut changed).await?;
        listed.push((scope.folder.clone(), pages));
    }
    read(fs, corpus, changed, limits).await;
    let mut corpus = corpus.borrow_mut();
    // Only what was read as well as listed is known, lest another search under way trust the list.
    corpus.pages.extend(listed);
    if corpus.skipped.values().any(|reason| matches!(reason, SkipReason::Unreadable(_))) {
        corpus.pages.clear();
    }
    corpus.index.settle();
    corpus.loaded = true;
    Ok(())
}

/// Lists a folder, pages that are unchanged by their version alone, and adds what is to be read.
async fn look_through(
    fs: &Fs,
    corpus: &Rc<RefCell<Corpus>>,
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
                let page = Page { after, next, version };
                let present = entries.into_iter().filter(|entry| scope.covers(entry)).collect();
                changed.extend(corpus.borrow_mut().plan(scope.folder.as_ref(), &page, present, limits));
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
async fn read(fs: &Fs, corpus: &Rc<RefCell<Corpus>>, changed: Vec<Entry>, limits: &Limits) {
    let (regular, special): (Vec<Entry>, Vec<Entry>) =
        changed.into_iter().partition(|entry| entry.kind == EntryKind::File);
    for entry in special {
        let mut corpus = corpus.borrow_mut();
        corpus.skipped.insert(entry.path.clone(), SkipReason::NotRegular);
        let rank = rank(&entry.path);
        corpus.index.insert(entry.path, entry.version, String::new(), rank);
    }
    let mut regular = regular.into_iter().peekable();
    while regular.peek().is_some() {
        let batch: Vec<Entry> = regular.by_ref().take(READ_BATCH).collect();
        let (small, large): (Vec<Entry>, Vec<Entry>) =
            batch.into_iter().partition(|entry| entry.size <= u64::from(limits.max_file_bytes));
        let paths: Vec<(&RelPath, Option<Version>)> = small.iter().map(|entry| (&entry.path, None)).collect();
        let answers = load_all(fs, &paths, limits.max_file_bytes).await;
        let mut corpus = corpus.borrow_mut();
        for (entry, answer) in small.into_iter().zip(answers) {
            corpus.take(entry, answer, limits);
        }
        for entry in large {
            let size = entry.size;
            corpus.take(entry, Ok(Loaded::TooLarge(size)), limits);
        }
    }
}

impl FolderScope {
    fn covers(&self, entry: &Entry) -> bool {
        entry.kind != EntryKind::Directory
            && entry.path.as_str().ends_with(NOTE_SUFFIX)
            && self.only.as_ref().is_none_or(|only| *only == entry.path)
    }
}

/// The Markdown files of a folder that a search covers, and what is named like one.
pub(crate) async fn list_markdown(fs: &Fs, scope: &FolderScope, limits: &Limits) -> Result<Vec<Entry>, Error> {
    let mut found = Vec::new();
    let mut after = None;
    let mut bound = FolderBound::new(scope);
    loop {
        let listed = fs.list(scope.folder.as_ref(), after, limits.max_list_entries, None).await;
        match listed.map_err(|error| Error::storage(scope.folder.as_ref(), &error))? {
            ListOutcome::Unchanged => return Ok(found),
            ListOutcome::Page(page) => {
                bound.take(&page)?;
                found.extend(page.entries.into_iter().filter(|entry| scope.covers(entry)));
                match page.next {
                    Some(next) => after = Some(next),
                    None => return Ok(found),
                }
            }
        }
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
        body: if filename_only { render::name_match(&doc.text) } else { render::windows(&doc.text, &found.lines) },
    }
}

/// What ranking knows of a file by its path.
fn rank(path: &RelPath) -> Rank {
    let is_log = path.parent().is_some_and(|folder| folder.file_name() == DAILY_FOLDER);
    Rank {
        is_long_term: path.file_name() == LONG_TERM_FILE,
        date: if is_log { Date::parse(path.file_stem()) } else { None },
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
