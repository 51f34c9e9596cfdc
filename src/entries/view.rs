//! Current entries: files are brought up to date through the index, parsed, and reduced to one per key.
//!
//! The index is a [`Corpus`] apart from the corpus of journal and notebook. It covers only the folders of the scope, so
//! no filter is needed to keep `find` off the notes, or search and recall off the entries. It is empty, and no folder
//! is listed, until the first command that uses entries.

use core::cmp::Reverse;

use super::category::checked_key;
use super::document::{Entry, Problem};
use super::retention::is_expired;
use super::scope::{EntriesScope, Pool};
use super::state::{Entries, Parsed};
use super::types::EntryProblem;
use crate::changes::Call;
use crate::engine::{Loaded, Scope, load_all};
use crate::search::{Corpus, DocId, Needed, SkipReason, catch_up, load_texts};
use crate::store::{RelPath, is_conflict_copy, portable_path, utc_text};
use saddlebag_collections::{order, prelude::*};
use saddlebag_protocol::{Cause, EntryKind, Error, ErrorCode, FsError};

/// A file with an entry.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) path: RelPath,
    pub(super) doc: DocId,
    pub(super) shared: bool,
    pub(super) entry: Arc<Entry>,
}

/// Entries at one moment.
#[derive(Debug, Default)]
pub(super) struct View {
    /// Entries, one per key and pool, forgotten ones included; the last changed comes first.
    pub(super) entries: Vec<Stored>,
    /// Files of keys that a newer file has too.
    pub(super) outdated: Vec<Stored>,
    pub(super) problems: Vec<EntryProblem>,
    /// Files that the host could not read: the key that the name gives, and the error. They are also among the
    /// problems.
    pub(super) unread: Vec<(Option<String>, Error)>,
}

/// Brings the index up to date and returns the entries with their text.
pub(super) async fn look(call: &Call, entries: &Entries, scope: &EntriesScope) -> Result<View, Error> {
    survey(call, entries, scope, None).await
}

/// Brings the index up to date and returns the entries, with the text of one key alone.
pub(super) async fn look_at(call: &Call, entries: &Entries, scope: &EntriesScope, key: &str) -> Result<View, Error> {
    survey(call, entries, scope, Some(&|view| view.docs_of(|stored| stored.entry.fields.key == key))).await
}

/// Files whose text a command needs.
pub(super) type Wanted<'a> = &'a (dyn Fn(&View) -> Vec<DocId> + Sync);

/// Brings the index up to date, with its copy in the store, and returns the entries. Others may have written the copy, so what a
/// command shows or changes is `wanted`: it is as its file says. Without `wanted`, all text is read. Entries whose text is not in
/// memory have neither content nor version.
pub(super) async fn survey(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    wanted: Option<Wanted<'_>>,
) -> Result<View, Error> {
    let folder = scope.own.folder.root().parent().unwrap_or_else(|| scope.fence.clone());
    let layout = call.scope.layout.clone().in_folder(folder);
    let (of_index, corpus) = (call.of_scope(Scope { layout, ..Scope::clone(&call.scope) })?, &entries.corpus);
    catch_up(&of_index, corpus, Needed::Everything).await?;
    corpus.borrow_mut().keeps_texts |= wanted.is_none();
    known(call, entries, scope, wanted).await
}

/// Returns the entries like [`survey`], as the index already has them.
async fn known(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    wanted: Option<Wanted<'_>>,
) -> Result<View, Error> {
    let corpus = &entries.corpus;
    let mut view: Option<View> = None;
    loop {
        let unread = {
            let (corpus, mut parsed) = (corpus.borrow(), entries.parsed.borrow_mut());
            let mut unread = parsed.follow(&corpus, scope, wanted.is_none());
            if let Some(view) = view.take_if(|view| unread.is_empty() && view.take_texts(&parsed)) {
                return Ok(view);
            }
            if unread.is_empty() {
                let found = View::from_corpus(call, scope, &corpus, &parsed)?;
                unread = wanted.map(|wanted| wanted(&found)).unwrap_or_default();
                unread.retain(|&id| corpus.files.doc(id).is_some_and(|doc| doc.text.is_none()));
                if unread.is_empty() {
                    return Ok(found);
                }
                view = Some(found);
            }
            unread
        };
        load_texts(call, corpus, &unread).await;
    }
}

/// Returns the entries like [`look`], and the key that a name means: the key itself, or the path of the entry's file. If there
/// is no such entry, it looks a second time: folders are listed one after the other, so an entry that is moved meanwhile can
/// be missing from both.
pub(super) async fn look_for(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    name: &str,
) -> Result<(View, String), Error> {
    check_name(call, scope, name)?;
    let named = |view: &View| view.docs_named(call, name);
    let mut is_last = false;
    loop {
        let mut view = survey(call, entries, scope, Some(&named)).await?;
        match view.take_named(call, name) {
            Some(key) => return Ok((view, key)),
            None if is_last => return Ok((view, name.into())),
            None => is_last = true,
        }
    }
}

/// Returns the entries like [`look_for`], as the index has them: this command has looked and has changed nothing since.
pub(super) async fn look_again(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    name: &str,
) -> Result<(View, String), Error> {
    let mut view = known(call, entries, scope, Some(&|view| view.docs_named(call, name))).await?;
    match view.take_named(call, name) {
        Some(key) => Ok((view, key)),
        None => look_for(call, entries, scope, name).await,
    }
}

/// Refuses a name that is neither a key nor the path of a file below the folders of the scope.
pub(super) fn check_name(call: &Call, scope: &EntriesScope, name: &str) -> Result<(), Error> {
    let path = call.scope.whole(name);
    let is_path = path.is_some_and(|path| scope.pools().any(|pool| path.is_below(pool.folder.root())));
    match call.scope.original(name) {
        Some(original) if is_path => Err(call.scope.is_backup(name, &original)),
        _ if is_path => Ok(()),
        _ => checked_key("key", name).map(|_| ()),
    }
}

/// Returns true if the folder of another category has a file of this key, under the name that the key gives. Files that were
/// outdated `before` do not count.
pub(super) async fn has_rival(
    call: &Call,
    pool: &Pool,
    before: &View,
    path: &RelPath,
    key: &str,
) -> Result<bool, Error> {
    let entries = call.list(Some(pool.folder.root())).await?;
    let folders = entries.iter().filter(|entry| entry.kind == EntryKind::Directory);
    let files = folders.filter_map(|entry| entry.path.join(path.file_name()).ok()).filter(|file| file != path);
    let files: Vec<RelPath> = files.collect();
    let reads: Vec<&RelPath> = files.iter().collect();
    let found = load_all(&call.fs, &reads, call.scope.limits.max_file_bytes).await;
    let is_of_key = |(file, loaded): (&RelPath, &Result<Loaded, FsError>)| {
        let Ok(Loaded::Whole { bytes, .. }) = loaded else { return false };
        // A file that is not text is not an entry of any key.
        let Ok(text) = core::str::from_utf8(bytes) else { return false };
        Entry::parse(&pool.folder, file, text, 0, pool.shared)
            .is_ok_and(|entry| entry.fields.key == key && !before.has_copy(file, &entry))
    };
    Ok(files.iter().zip(&found).any(is_of_key))
}

impl View {
    pub(super) fn from_corpus(
        call: &Call,
        scope: &EntriesScope,
        corpus: &Corpus,
        parsed: &Parsed,
    ) -> Result<Self, Error> {
        let shown = |path: &RelPath| call.scope.display_path(path);
        let mut view = Self::default();
        for (path, id) in corpus.files.by_path() {
            let Some(pool) = scope.pools().find(|pool| pool.folder.has(path)) else { continue };
            let Some(found) = parsed.by_doc.get(&id) else {
                return Err(Error::internal(format!("{path} is listed in the index but was not parsed")));
            };
            if let Some(reason) = corpus.skip_reason(path) {
                let (_, key) = pool.folder.names_of(path);
                if let SkipReason::Unreadable(error) = reason {
                    view.unread.push((key.clone(), Error::storage(Some(path), error)));
                }
                view.problems.push(EntryProblem { path: shown(path), key, message: format!("{reason}") });
                continue;
            }
            match &found.entry {
                // The other machine's text is merged, not taken: a change would be written to the copy.
                Ok(entry) if is_copy(pool, path, entry) => {
                    let message = "it is a conflict copy, and no command changes it; `sync` merges it".into();
                    view.problems.push(EntryProblem { path: shown(path), key: None, message });
                }
                Ok(entry) => {
                    view.entries.push(Stored { path: path.clone(), doc: id, shared: pool.shared, entry: entry.clone() })
                }
                Err(Problem { key, message }) => {
                    let (key, message) = (key.clone(), message.clone());
                    view.problems.push(EntryProblem { path: shown(path), key, message });
                }
            }
        }
        let is_problem = |path: &str| view.problems.iter().any(|problem| problem.path == path);
        let others = corpus.skipped(shown).into_iter().filter(|file| !is_problem(&file.path));
        let others = others.map(|file| EntryProblem { path: file.path, key: None, message: file.reason });
        let mut others: Vec<EntryProblem> = others.collect();
        order::sort_slice(&mut others, |a, b| a.path.cmp(&b.path));
        view.problems.extend(others);
        view.keep_one_for_each_key(&shown);
        order::sort_slice(&mut view.entries, |a, b| recency(a).cmp(&recency(b)));
        Ok(view)
    }

    /// Takes over the text that was read. Returns false if a file has changed, or says something else than the index.
    fn take_texts(&mut self, parsed: &Parsed) -> bool {
        self.entries.iter_mut().chain(&mut self.outdated).all(|stored| {
            let known = parsed.by_doc.get(&stored.doc).and_then(|file| file.entry.as_ref().ok());
            let before = known.map(|entry| core::mem::replace(&mut stored.entry, entry.clone()));
            before.is_some_and(|before| before.is_of(&stored.entry))
        })
    }

    /// Keeps, of two files that claim one key, the one that was changed or forgotten last, and reports the other.
    fn keep_one_for_each_key(&mut self, shown: &dyn Fn(&RelPath) -> String) {
        order::sort_slice(&mut self.entries, |a, b| claim(a).cmp(&claim(b)));
        let mut kept: Vec<Stored> = Vec::with_capacity(self.entries.len());
        for stored in core::mem::take(&mut self.entries) {
            match kept.last() {
                Some(first) if first.is_of(stored.shared, &stored.entry.fields.key) => {
                    self.problems.push(EntryProblem {
                        path: shown(&stored.path),
                        key: Some(stored.entry.fields.key.clone()),
                        message: format!("{} has this key and was changed later", shown(&first.path)),
                    });
                    self.outdated.push(stored);
                }
                _ => kept.push(stored),
            }
        }
        self.entries = kept;
    }

    /// Returns the key that a name means: the key itself, or that of the file with this path.
    fn key_named<'a>(&'a self, call: &Call, name: &'a str) -> Option<&'a str> {
        if self.entries.iter().any(|stored| stored.entry.fields.key == name) {
            return Some(name);
        }
        let path = call.scope.whole(name)?;
        self.entries.iter().find(|stored| stored.path == path).map(|stored| stored.entry.fields.key.as_str())
    }

    /// Returns the key that a name means. If it is the path of a file, the other entry of this key is dropped: agent and
    /// workspace may both have the key.
    pub(super) fn take_named(&mut self, call: &Call, name: &str) -> Option<String> {
        let key = self.key_named(call, name)?.to_string();
        if let Some(path) = call.scope.whole(name).filter(|_| key != name) {
            self.entries.retain(|stored| stored.path == path || stored.entry.fields.key != key);
        }
        Some(key)
    }

    /// Returns the entry of a key in a pool, even a forgotten one.
    pub(super) fn of_key(&self, shared: bool, key: &str) -> Option<&Stored> {
        self.entries.iter().find(|stored| stored.is_of(shared, key))
    }

    /// Returns the files of the entry that a name means, outdated ones included.
    fn docs_named(&self, call: &Call, name: &str) -> Vec<DocId> {
        let key = self.key_named(call, name);
        key.map_or(Vec::new(), |key| self.docs_of(|stored| stored.entry.fields.key == key))
    }

    /// Returns the files of some entries, outdated ones included.
    pub(super) fn docs_of(&self, is_meant: impl Fn(&Stored) -> bool) -> Vec<DocId> {
        self.entries.iter().chain(&self.outdated).filter(|stored| is_meant(stored)).map(|stored| stored.doc).collect()
    }

    /// Returns the outdated files of a key in a pool.
    pub(super) fn copies_of<'a>(&'a self, shared: bool, key: &'a str) -> impl Iterator<Item = &'a Stored> {
        self.outdated.iter().filter(move |stored| stored.is_of(shared, key))
    }

    /// Returns true if a file was an outdated one, with the same text.
    pub(super) fn has_copy(&self, path: &RelPath, entry: &Entry) -> bool {
        self.outdated.iter().any(|copy| copy.path == *path && copy.entry.version == entry.version)
    }

    /// Returns the entries of a pool.
    pub(super) fn of_pool(&self, pool: &Pool) -> impl Iterator<Item = &Stored> {
        let shared = pool.shared;
        self.entries.iter().filter(move |stored| stored.shared == shared)
    }

    /// Returns the latest time of any entry of a pool.
    pub(super) fn newest(&self, pool: &Pool) -> Option<u64> {
        self.of_pool(pool).map(|stored| stored.entry.updated.max(stored.entry.forgotten.unwrap_or(0))).max()
    }

    /// Returns the file that claims a key and could not be parsed.
    pub(super) fn problem_of(&self, key: &str) -> Option<&EntryProblem> {
        self.problems.iter().find(|problem| problem.key.as_deref() == Some(key))
    }
}

impl Stored {
    fn is_of(&self, shared: bool, key: &str) -> bool {
        self.shared == shared && self.entry.fields.key == key
    }

    /// Returns the text of its file, as the index had it when the entry was parsed.
    pub(super) fn text<'c>(&self, corpus: &'c Corpus) -> Result<&'c str, Error> {
        let text = corpus.files.doc(self.doc).and_then(|doc| doc.text.as_deref());
        text.ok_or_else(|| Error::internal(format!("the index has lost the text of {}", self.path)))
    }

    /// Returns true if the entry is neither forgotten nor expired.
    pub(super) fn is_live(&self, now: u64) -> bool {
        self.entry.forgotten.is_none() && !self.is_expired(now)
    }

    pub(super) fn is_expired(&self, now: u64) -> bool {
        is_expired(&self.entry.fields.category, self.entry.updated, now)
    }
}

/// Returns true if a file is a conflict copy by its name, which is not that of its key.
fn is_copy(pool: &Pool, path: &RelPath, entry: &Entry) -> bool {
    pool.folder.names_of(path).1.as_ref() != Some(&entry.fields.key) && is_conflict_copy(path.file_name())
}

fn claim(stored: &Stored) -> (bool, &str, Reverse<u64>, &RelPath) {
    let Entry { fields, updated, forgotten, .. } = &*stored.entry;
    (stored.shared, &fields.key, Reverse((*updated).max(forgotten.unwrap_or(0))), &stored.path)
}

/// Returns the sort key of hydration: last changed first; at the same time, lesser key first, agent before workspace.
fn recency(stored: &Stored) -> (Reverse<u64>, &str, bool) {
    (Reverse(stored.entry.updated), &stored.entry.fields.key, stored.shared)
}

/// Returns the agent's entry of a key, else the workspace's. A forgotten entry is returned only if there is no other.
pub(super) fn found<'a>(view: &'a View, scope: &'a EntriesScope, key: &str) -> Option<(&'a Pool, &'a Stored)> {
    let mut of_pools = scope.pools().filter_map(|pool| Some((pool, view.of_key(pool.shared, key)?)));
    let first = of_pools.next()?;
    match (first.1.entry.forgotten, of_pools.next()) {
        (Some(_), Some(second)) if second.1.entry.forgotten.is_none() => Some(second),
        _ => Some(first),
    }
}

/// Returns the error for a key without an entry, or with one that could not be parsed.
pub(super) fn absent(view: &View, key: &str) -> Error {
    let of_key = |(unread, _): &&(Option<String>, Error)| unread.as_deref() == Some(key);
    if let Some((_, error)) = view.unread.iter().find(of_key) {
        return error.clone();
    }
    let forgotten = view.entries.iter().find(|stored| stored.entry.fields.key == key).map(|stored| &stored.entry);
    let help = match (view.problem_of(key), forgotten.and_then(|entry| Some((entry, entry.forgotten?)))) {
        (Some(problem), _) => format!("{} claims this key but is not an entry: {}", problem.path, problem.message),
        (None, Some((entry, moment))) => {
            format!(
                "it was forgotten at {}; `restore` brings it back; its version is {}",
                utc_text(moment),
                entry.version
            )
        }
        (None, None) => return Cause::NoEntry(key.into()).into(),
    };
    Error::new(ErrorCode::EntryNotFound, format!("no entry `{key}`"), help)
}

/// Returns the entries of a view with their paths in an export, sorted by path.
pub(super) fn by_path(view: &View, is_meant: impl Fn(&Stored) -> bool) -> Result<Vec<(RelPath, &Stored)>, Error> {
    let files = view.entries.iter().filter(|stored| is_meant(stored)).map(|stored| Ok((path_of(stored)?, stored)));
    let mut files: Vec<(RelPath, &Stored)> = files.collect::<Result<_, Error>>()?;
    order::sort_slice(&mut files, |a, b| a.0.as_str().cmp(b.0.as_str()));
    Ok(files)
}

/// Returns the path of an entry in an export. It depends on the entry's fields, not on where a person moved its file.
pub(super) fn path_of(stored: &Stored) -> Result<RelPath, Error> {
    let fields = &stored.entry.fields;
    portable_path(fields.category.as_str(), &fields.key)
        .map_err(|error| Error::internal(format!("`{}` has no path in an export: {error}", fields.key)))
}
