//! [`Corpus`]: the searched files as they were last read.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::RefCell;

use super::index::{Document, LiteralIndex};
use super::query::{self, Match, Rank, Terms};
use super::render;
use super::{MAX_HIT_LINES, SearchHit, SearchResults, SkipReason, Skipped, TermCount};
use crate::engine::{Fs, Limits, Loaded, load_all};
use crate::protocol::{Entry, EntryKind, Error, ErrorCode, FsError, Version};
use crate::store::{Date, LONG_TERM_FILE, NOTE_SUFFIX, RelPath};

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

/// The text of the files that a search covers, and what could not be read of them.
#[derive(Debug, Default)]
pub(crate) struct Corpus {
    index: LiteralIndex,
    skipped: BTreeMap<RelPath, SkipReason>,
    /// Whether it was ever brought up to date.
    loaded: bool,
}

impl Corpus {
    /// Whether the host's word that nothing changed is enough to answer from memory.
    pub(crate) fn is_loaded(&self) -> bool {
        self.loaded
    }

    /// Answers a query from memory.
    ///
    /// `shown` gives the path as it is to be shown; hits from `offset` on, at most `limit`; the
    /// rendering takes at most `max_bytes` and a truncation marker.
    pub(crate) fn search(
        &mut self,
        terms: &Terms,
        daily_folder: &RelPath,
        shown: impl Fn(&RelPath) -> String,
        (offset, limit): (usize, usize),
        max_bytes: usize,
    ) -> SearchResults {
        let rank = |path: &RelPath| Rank {
            is_long_term: path.file_name() == LONG_TERM_FILE,
            date: path
                .is_child_of(Some(daily_folder))
                .then(|| Date::parse(path.file_stem()).map(|date| date.to_string()))
                .flatten(),
        };
        let (counts, matches) = query::find(&mut self.index, terms, rank);
        let terms_with_counts: Vec<TermCount> =
            terms.as_slice().iter().zip(counts).map(|(term, lines)| TermCount { term: term.clone(), lines }).collect();
        let page = matches.get(offset..).unwrap_or_default();
        let mut all = page.iter().filter_map(|found| Some(self.hit(self.index.doc(found.doc)?, found, terms, &shown)));
        let hits: Vec<SearchHit> = all.by_ref().take(limit).collect();
        // A rendering is bounded by its bytes alone: it may go on behind the last hit of the page.
        let blocks = hits.iter().map(SearchHit::block).chain(all.map(|hit| hit.block()));
        let (rendered, rendered_hits) =
            render::render(&terms_with_counts, matches.len(), page.len(), blocks, max_bytes);
        SearchResults {
            terms: terms_with_counts,
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

    fn hit(&self, doc: &Document, found: &Match, terms: &Terms, shown: &impl Fn(&RelPath) -> String) -> SearchHit {
        let filename_only = found.lines.is_empty();
        SearchHit {
            path: shown(&doc.path),
            terms: found.terms.iter().filter_map(|&number| terms.as_slice().get(number).cloned()).collect(),
            lines: found.lines.iter().take(MAX_HIT_LINES).map(|line| line + 1).collect(),
            total_lines: count(found.lines.len()),
            filename_only,
            date: found.rank.date.clone(),
            long_term: found.rank.is_long_term,
            body: if filename_only { render::name_match(&doc.text) } else { render::windows(&doc.text, &found.lines) },
        }
    }

    /// Forgets what is gone and gives what is new or changed.
    fn plan(&mut self, present: Vec<Entry>) -> Vec<Entry> {
        let paths: BTreeSet<&RelPath> = present.iter().map(|entry| &entry.path).collect();
        let gone: Vec<RelPath> = self.index.paths().filter(|path| !paths.contains(path)).cloned().collect();
        for path in gone {
            self.index.remove(&path);
            self.skipped.remove(&path);
        }
        present.into_iter().filter(|entry| self.index.version(&entry.path) != Some(&entry.version)).collect()
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
        self.index.insert(entry.path, version, text);
    }
}

/// Brings the corpus up to date: lists the folders, reads what changed, forgets what is gone.
pub(crate) async fn refresh(
    fs: &Fs,
    corpus: &Rc<RefCell<Corpus>>,
    scopes: &[FolderScope],
    limits: &Limits,
) -> Result<(), Error> {
    let mut present = Vec::new();
    for scope in scopes {
        present.extend(list_markdown(fs, scope, limits).await?);
    }
    let changed = corpus.borrow_mut().plan(present);
    let (regular, special): (Vec<Entry>, Vec<Entry>) =
        changed.into_iter().partition(|entry| entry.kind == EntryKind::File);
    for entry in special {
        let mut corpus = corpus.borrow_mut();
        corpus.skipped.insert(entry.path.clone(), SkipReason::NotRegular);
        corpus.index.insert(entry.path, entry.version, String::new());
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
    let mut corpus = corpus.borrow_mut();
    corpus.index.compact();
    corpus.loaded = true;
    Ok(())
}

/// The Markdown files of a folder that a search covers, and what is named like one.
pub(crate) async fn list_markdown(fs: &Fs, scope: &FolderScope, limits: &Limits) -> Result<Vec<Entry>, Error> {
    let mut found = Vec::new();
    let mut after = None;
    let mut entries = 0;
    loop {
        let page = fs.list(scope.folder.as_ref(), after, limits.max_list_entries).await;
        let page = page.map_err(|error| Error::storage(scope.folder.as_ref(), &error))?;
        entries += page.entries.len();
        if entries > MAX_FOLDER_ENTRIES {
            return Err(folder_too_large(scope.folder.as_ref()));
        }
        found.extend(page.entries.into_iter().filter(|entry| {
            entry.kind != EntryKind::Directory
                && entry.path.as_str().ends_with(NOTE_SUFFIX)
                && scope.only.as_ref().is_none_or(|only| *only == entry.path)
        }));
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(found),
        }
    }
}

fn folder_too_large(folder: Option<&RelPath>) -> Error {
    let place = folder.map_or("the root of the store", RelPath::as_str);
    let message = alloc::format!("{place}: more than {MAX_FOLDER_ENTRIES} entries");
    Error::new(ErrorCode::TooLarge, message, "move what is not memory out of the folder")
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
