//! [`Entries`]: state that the entries commands of one memory share. [`EntriesCall`]: environment of one command.

use atomic_refcell::AtomicRefCell;

use super::category::Category;
use super::document::{Entry, Fields, Problem};
use super::rules::Base;
use super::scope::{EntriesConfig, EntriesScope};
use crate::changes::{Call, history_of};
use crate::search::{Corpus, DocId};
use crate::store::{EntryFolder, HistoryFolder, Layout, PathError, RelPath};
use crate::trust::Provenance;
use saddlebag_collections::{prelude::*, sorted::SortedMap};
use saddlebag_protocol::{Error, ErrorCode};

/// Parts of a memory that the entries commands need, and the scope that the command names.
#[derive(Clone, Copy)]
pub(crate) struct EntriesCall<'a> {
    pub(super) call: &'a Call,
    pub(super) entries: &'a Entries,
    pub(super) scope: &'a EntriesScope,
    pub(super) run: Option<&'a str>,
    pub(super) provenance: Option<Provenance>,
}

/// State that the entries commands of one memory share.
#[derive(Default)]
pub(crate) struct Entries {
    pub(super) scope: Option<Arc<EntriesScope>>,
    pub(super) corpus: Arc<AtomicRefCell<Corpus>>,
    pub(super) parsed: AtomicRefCell<Parsed>,
    pub(super) runs: AtomicRefCell<Vec<OpenedRun>>,
}

impl Entries {
    pub(crate) fn new(config: Option<EntriesConfig>) -> Result<Self, PathError> {
        Ok(Self::of_scope(config.map(EntriesScope::new).transpose()?.map(Arc::new)))
    }

    fn of_scope(scope: Option<Arc<EntriesScope>>) -> Self {
        let folders = scope.iter().flat_map(|scope| scope.pools()).map(|pool| pool.folder.root());
        let corpus = Arc::new(AtomicRefCell::new(Corpus::of_folders(folders)));
        Self { scope, corpus, ..Self::default() }
    }

    /// Returns the state of the same scope, of whose files nothing is known yet.
    pub(crate) fn unread(&self) -> Self {
        Self::of_scope(self.scope.clone())
    }

    /// Returns the time of the last change of a file of the entries, as they were last read.
    pub(crate) fn newest(&self) -> u64 {
        self.corpus.borrow().files.since(0).map(|(_, file)| file.modified).max().unwrap_or_default()
    }

    /// Returns the folders with the entries of this memory.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &EntryFolder> {
        self.scope.iter().flat_map(|scope| scope.pools()).map(|pool| &pool.folder)
    }

    /// Returns true if a path is that of a file with an entry of this memory.
    pub(crate) fn has(&self, path: &RelPath) -> bool {
        self.folders().any(|folder| folder.has(path))
    }

    /// Returns the folders with the history of the files of this memory, entries included.
    pub(crate) fn history_folders(&self, layout: &Layout) -> Result<Vec<HistoryFolder>, Error> {
        let mut files = vec![layout.shared_long_term().clone(), layout.scratchpad().clone()];
        files.extend(self.folders().filter_map(|folder| folder.root().join("entry").ok()));
        let mut folders: Vec<HistoryFolder> = Vec::new();
        for file in &files {
            let folder = history_of(file)?;
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        Ok(folders)
    }

    pub(super) fn scope(&self) -> Result<&Arc<EntriesScope>, Error> {
        self.scope.as_ref().ok_or_else(|| {
            let help = "open the memory with an agent";
            Error::invalid_argument("this memory was opened without an agent", help)
        })
    }

    /// Returns the agent that owns the entries.
    pub(crate) fn agent(&self) -> Result<String, Error> {
        Ok(self.scope()?.own.owner.clone())
    }

    /// Calls a function with an open run.
    pub(super) fn with_run<T>(&self, name: &str, look: impl FnOnce(&mut OpenedRun) -> T) -> Result<T, Error> {
        let mut runs = self.runs.borrow_mut();
        match runs.iter_mut().find(|run| run.name == name) {
            Some(run) => Ok(look(run)),
            None => {
                let message = format!("no run `{name}` is open");
                Err(Error::new(ErrorCode::NotFound, message, "open it first; a closed run stays closed"))
            }
        }
    }

    /// Returns the entries that a run holds.
    pub(super) fn held(&self, run: Option<&str>) -> Result<Vec<Held>, Error> {
        run.map_or(Ok(Vec::new()), |run| self.with_run(run, |run| run.held.clone()))
    }
}

/// Maximum number of entries that a run holds, entries of its conversation included.
pub const MAX_HELD: usize = 1_000;

/// An open run.
#[derive(Clone, Debug)]
pub(super) struct OpenedRun {
    pub(super) name: String,
    pub(super) fence: u64,
    pub(super) held: Vec<Held>,
}

/// An entry that a run holds.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) entry: Entry,
    /// Stored state of the entry when the run first wrote it.
    pub(super) base: Base,
}

impl Held {
    /// Returns true if it is never stored.
    pub(super) fn is_of_conversation(&self) -> bool {
        self.entry.fields.category == Category::Conversation
    }

    /// Returns true if these fields would replace it: conversation, workspace and agent each have separate keys.
    pub(super) fn is_of(&self, fields: &Fields) -> bool {
        let room = |category: &Category| match category {
            Category::Conversation => 0,
            Category::Workspace => 1,
            _ => 2,
        };
        self.entry.fields.key == fields.key && room(&self.entry.fields.category) == room(&fields.category)
    }
}

/// Parsed files, by their numbers in the index.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) by_doc: SortedMap<DocId, ParsedFile>,
}

#[derive(Debug)]
pub(super) struct ParsedFile {
    pub(super) entry: Result<Arc<Entry>, Problem>,
    /// True if the text was read. Without it, content and version are missing.
    pub(super) has_text: bool,
}

impl Parsed {
    /// Drops files that left the index, and parses those that are new or whose text is. Returns those that cannot be parsed
    /// without their text; with `all`, all that have none.
    pub(super) fn follow(&mut self, corpus: &Corpus, scope: &EntriesScope, all: bool) -> Vec<DocId> {
        self.by_doc.retain(|&id, _| corpus.files.doc(id).is_some());
        let mut unread = Vec::new();
        for (path, id) in corpus.files.by_path() {
            let Some(doc) = corpus.files.doc(id) else { continue };
            let has_text = doc.text.is_some();
            if self.by_doc.get(&id).is_some_and(|known| known.has_text || !has_text && !all) {
                continue;
            }
            let Some(pool) = scope.pools().find(|pool| pool.folder.has(path)) else { continue };
            let of_index = || corpus.frontmatter(doc).filter(|frontmatter| !all && !frontmatter.span.is_empty());
            let entry = match doc.text.as_deref() {
                Some(text) => Entry::parse(&pool.folder, path, text, doc.modified, pool.shared),
                None => match of_index() {
                    Some(of_index) => {
                        Entry::from_frontmatter(&pool.folder, path, (&of_index, ""), doc.modified, pool.shared)
                    }
                    None => {
                        unread.push(id);
                        continue;
                    }
                },
            };
            self.by_doc.insert(id, ParsedFile { entry: entry.map(Arc::new), has_text });
        }
        unread
    }
}
