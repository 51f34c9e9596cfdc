//! Brings a [`Corpus`] up to date: lists the folders and reads only changed files.

use atomic_refcell::AtomicRefCell;

use super::corpus::{Corpus, Page};
use super::files::{DocId, IndexedFile};
use super::index_file::{self, Needed, read_needed, read_recent, save};
use super::scopes::{FolderBound, FolderScope, Walk, subfolders};
use super::types::SkipReason;
use crate::changes::Call;
use crate::engine::{Fs, Limits, Loaded, load_all};
use crate::store::RelPath;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Entry, EntryKind, Error, FsError, ListOutcome, Listing, Operation, Version, join};

/// Number of folders that are listed together.
const LIST_BATCH: usize = 16;

/// Number of files that are read together.
const READ_BATCH: usize = 256;
/// Number of files after which the index is written first, and after four times as many again.
const FIRST_SAVE: usize = 512;

/// Number of bytes that are read together, except for a single larger file. They are in memory at once, and parsed
/// within the time of one call.
const READ_BYTES: u64 = 8 << 20;

/// Purpose of reading files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Literal search: the text is kept.
    Literal,
    /// Ranked search: text is indexed when it arrives, and read again if a passage of it is to be shown.
    Ranked,
}

/// Brings the corpus up to date for ranked search, with its copy in the store: reads the part of it that is needed, and writes it if
/// enough has changed.
pub(crate) async fn catch_up(
    call: &Call,
    corpus: &Arc<AtomicRefCell<Corpus>>,
    needed: Needed<'_>,
) -> Result<(), Error> {
    index_file::read(call, corpus).await;
    loop {
        refresh(call, corpus, Purpose::Ranked).await?;
        corpus.borrow_mut().index_notes();
        // If the index file is damaged, the next round reads every note, and nothing of the file.
        if read_needed(call, corpus, needed).await {
            break;
        }
    }
    save(call, corpus).await;
    // A literal search may have read notes meanwhile, and does not index them.
    corpus.borrow_mut().index_notes();
    Ok(())
}

/// Brings the corpus up to date: lists the folders, reads changed files, drops removed ones.
pub(crate) async fn refresh(call: &Call, corpus: &Arc<AtomicRefCell<Corpus>>, purpose: Purpose) -> Result<(), Error> {
    let (fs, limits) = (&call.fs, &call.scope.limits);
    let generation = generation(fs, corpus).await;
    if let Some(generation) = &generation
        && corpus.borrow().is_of(generation)
    {
        corpus.borrow_mut().loaded = true;
        return Ok(());
    }
    let recent = match &generation {
        Some(generation) => read_recent(call, corpus, generation).await,
        None => None,
    };
    let update = corpus.borrow_mut().begin();
    let rules = corpus.borrow().rules;
    if let Some((changed, pages)) = recent {
        read(call, corpus, changed, purpose).await;
        let mut corpus = corpus.borrow_mut();
        corpus.loaded = corpus.rules == rules;
        if corpus.loaded {
            corpus.pages = pages;
        }
        generation.iter().for_each(|generation| corpus.recorded(generation.clone()));
        corpus.end(&update, generation);
        return Ok(());
    }
    let mut changed = Vec::new();
    let mut listed = Vec::new();
    let scopes = corpus.borrow().scopes(&call.scope.layout);
    let tops: Vec<Option<RelPath>> = scopes.iter().map(|scope| scope.folder.clone()).collect();
    let mut walk = Walk::from_scopes(scopes);
    loop {
        let folders = walk.next_batch(LIST_BATCH)?;
        if folders.is_empty() {
            break;
        }
        let first_pages = folders.into_iter().map(|scope| FirstPage::request(fs, corpus, scope, limits));
        let (folders, requests): (Vec<FirstPage>, Vec<_>) = first_pages.unzip();
        for (folder, listed_first) in folders.into_iter().zip(join(requests).await) {
            let FirstPage { scope, known } = folder;
            let listed_first = match (listed_first, &scope.folder) {
                (Err(FsError::Denied), Some(path)) if !tops.contains(&scope.folder) => {
                    corpus.borrow_mut().leave_out(path, limits);
                    continue;
                }
                (listed_first, _) => listed_first,
            };
            let pages = look_through(fs, corpus, &scope, known, listed_first, limits, &mut changed).await?;
            pages.iter().for_each(|page| walk.add(&page.folders));
            listed.push((scope.folder, pages));
        }
    }
    corpus.borrow_mut().keep_folders(&walk.seen);
    read(call, corpus, changed, purpose).await;
    let mut corpus = corpus.borrow_mut();
    // A file counts as known only after it was listed and read, so that a concurrent search does not trust the
    // listing.
    let is_current = corpus.rules == rules;
    if is_current {
        corpus.pages.extend(listed);
    }
    if corpus.skipped.values().any(|reason| matches!(reason, SkipReason::Unreadable(_))) {
        corpus.forget_page_versions();
    }
    corpus.loaded = is_current;
    corpus.end(&update, generation);
    Ok(())
}

/// Returns the token of the store; `None` if the host cannot tell. A host that has none is not asked again.
async fn generation(fs: &Fs, corpus: &AtomicRefCell<Corpus>) -> Option<String> {
    if corpus.borrow().has_no_generation {
        return None;
    }
    let answer = fs.generation().await;
    corpus.borrow_mut().has_no_generation = answer == Err(FsError::Unsupported);
    answer.ok()
}

/// A folder whose first page was requested.
struct FirstPage {
    scope: FolderScope,
    /// Pages, as they were last listed.
    known: Vec<Page>,
}

impl FirstPage {
    /// Requests the first page of a folder.
    fn request(
        fs: &Fs,
        corpus: &AtomicRefCell<Corpus>,
        scope: FolderScope,
        limits: &Limits,
    ) -> (Self, Operation<ListOutcome>) {
        let known = corpus.borrow_mut().pages.remove(&scope.folder).unwrap_or_default();
        let unless = page_after(&known, 0, None).and_then(|page| page.version.clone());
        let request = fs.list(scope.folder.as_ref(), None, limits.max_list_entries, unless);
        (Self { scope, known }, request)
    }
}

/// Returns the page with this number as it was last listed, if it began after the same path.
fn page_after<'a>(known: &'a [Page], number: usize, after: Option<&RelPath>) -> Option<&'a Page> {
    known.get(number).filter(|page| page.after.as_ref() == after)
}

/// Looks at the first page of a folder, lists the others, and adds the files to read. An unchanged page is answered by its
/// version only.
async fn look_through(
    fs: &Fs,
    corpus: &Arc<AtomicRefCell<Corpus>>,
    scope: &FolderScope,
    known: Vec<Page>,
    first: Result<ListOutcome, FsError>,
    limits: &Limits,
    changed: &mut Vec<Entry>,
) -> Result<Vec<Page>, Error> {
    let mut pages: Vec<Page> = Vec::new();
    let mut bound = FolderBound::new(scope);
    let mut listed = first;
    loop {
        let after = pages.last().and_then(|page| page.next.clone());
        let before = page_after(&known, pages.len(), after.as_ref());
        let page = match (listed.map_err(|error| Error::storage(scope.folder.as_ref(), &error))?, before) {
            (ListOutcome::Page(listing), _) => {
                bound.take(&listing)?;
                let Listing { entries, next, left_out, version } = listing;
                let folders = if scope.tree { subfolders(&entries) } else { Vec::new() };
                let page = Page { after, next, version, folders, left_out };
                let mut corpus = corpus.borrow_mut();
                let is_covered = |entry: &Entry| scope.covers(entry, |path| corpus.covers(path));
                let present = entries.into_iter().filter(is_covered).collect();
                changed.extend(corpus.plan(scope.folder.as_ref(), &page, present, limits));
                page
            }
            (ListOutcome::Unchanged, Some(page)) => page.clone(),
            (ListOutcome::Unchanged, None) => return Err(Error::storage(scope.folder.as_ref(), &FsError::Unsupported)),
        };
        let next = page.next.clone();
        pages.push(page);
        if next.is_none() {
            return Ok(pages);
        }
        let unless = page_after(&known, pages.len(), next.as_ref()).and_then(|page| page.version.clone());
        listed = fs.list(scope.folder.as_ref(), next, limits.max_list_entries, unless).await;
    }
}

/// Reads files into the corpus, many at once. An index of what was read so far is written now and then, so that a command that
/// is given up leaves progress.
async fn read(call: &Call, corpus: &Arc<AtomicRefCell<Corpus>>, changed: Vec<Entry>, purpose: Purpose) {
    let (fs, limits) = (&call.fs, &call.scope.limits);
    let mut next_save = FIRST_SAVE;
    let (regular, special): (Vec<Entry>, Vec<Entry>) =
        changed.into_iter().partition(|entry| entry.kind == EntryKind::File);
    for entry in special {
        let mut corpus = corpus.borrow_mut();
        corpus.skipped.insert(entry.path.clone(), SkipReason::NotRegular);
        corpus.insert(IndexedFile::new(entry.path, entry.version, entry.modified, Some(String::new())));
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
        let paths: Vec<&RelPath> = small.iter().map(|entry| &entry.path).collect();
        let answers = load_all(fs, &paths, limits.max_file_bytes).await;
        let is_time = {
            let mut found = corpus.borrow_mut();
            let first = found.files.next_id();
            let keep_texts = purpose == Purpose::Literal || found.keeps_texts;
            for (entry, answer) in small.into_iter().zip(answers) {
                found.take(entry, answer, limits, keep_texts);
            }
            for entry in large {
                let size = entry.size;
                found.take(entry, Ok(Loaded::TooLarge(size)), limits, keep_texts);
            }
            let is_ranked = purpose == Purpose::Ranked;
            if is_ranked {
                found.index_notes();
                if !found.keeps_texts {
                    found.files.drop_texts(first);
                }
            }
            // With few files left, the index is written after them.
            is_ranked && found.unsaved() >= next_save && regular.len() * 9 >= found.files.len()
        };
        if is_time {
            next_save *= 4;
            save(call, corpus).await;
        }
    }
}

/// Reads the text of files that are known from the index file. A file that changed since is a new file.
pub(crate) async fn load_texts(call: &Call, corpus: &Arc<AtomicRefCell<Corpus>>, ids: &[DocId]) {
    let limits = &call.scope.limits;
    for batch in ids.chunks(READ_BATCH) {
        let wanted: Vec<(DocId, RelPath, u64)> = {
            let corpus = corpus.borrow();
            let docs = batch.iter().filter_map(|&id| Some((id, corpus.files.doc(id)?)));
            docs.map(|(id, doc)| (id, doc.path.clone(), doc.modified)).collect()
        };
        let paths: Vec<&RelPath> = wanted.iter().map(|(_, path, _)| path).collect();
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
                    // Only the host vouches for the version. A file that is not text is reported instead of shown as
                    // empty.
                    Err(error) => Ok(Loaded::Whole { bytes: error.into_bytes(), version }),
                },
                answer => answer,
            };
            let entry = Entry { path, kind: EntryKind::File, size: 0, version: Version(String::new()), modified };
            // A search that has listed the folder meanwhile does not know of this file.
            corpus.new_rules();
            corpus.take(entry, answer, limits, true);
        }
    }
}

/// Prepares a literal search: reads all text that is known only from the index file, and the names of new files.
pub(crate) async fn read_all(call: &Call, corpus: &Arc<AtomicRefCell<Corpus>>) {
    let missing: Vec<DocId> = {
        let mut corpus = corpus.borrow_mut();
        corpus.keeps_texts = true;
        corpus.files.since(0).filter(|(_, doc)| doc.text.is_none()).map(|(id, _)| id).collect()
    };
    if !missing.is_empty() {
        load_texts(call, corpus, &missing).await;
    }
    corpus.borrow_mut().settle();
}
