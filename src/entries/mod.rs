//! The entries: keyed facts in categories, hydrated into a prompt under a budget.
//!
//! It does what the documentation of zombie's memory promises, on plain Markdown: one file for each key, its
//! frontmatter above the content. [`EntriesCommand`] is what can be done, [`EntriesReply`] what comes of it.
//! What decides is pure: [`plan`] is hydration, [`over_cap`] and [`is_expired`] are what goes.

mod adopt;
mod category;
mod checks;
mod document;
mod export;
mod files;
mod hydrate;
mod import;
mod read;
mod restore;
mod retention;
mod runs;
mod scope;
mod screen;
mod select;
#[cfg(test)]
mod tests;
mod view;
mod write;

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use atomic_refcell::AtomicRefCell;

pub(crate) use adopt::{Adoption, hash, is_mark};
pub use adopt::{DAILY_LOG, ExchangeState, ExchangedEntry, ForeignEntry};
pub use category::{Category, MAX_CATEGORY_BYTES, Tier};
pub use checks::{MAX_CONTENT_BYTES, MAX_KEY_BYTES, MAX_SOURCE_BYTES, MAX_TAG_BYTES, MAX_TAGS, NewEntry};
pub use export::{EntryFile, ExportReply, MAX_EXPORT_BYTES, MAX_EXPORT_FILES};
pub use hydrate::{
    Budget, Candidate, DEFAULT_HYDRATE_BYTES, OutReason, Placement, Policy, WORKSPACE_SHARE, plan, taken,
};
pub use import::{
    DeletedEntry, ImportFile, ImportMode, ImportReply, ImportRequest, ImportState, ImportedFile, MAX_IMPORT_BYTES,
    MAX_IMPORT_FILE_BYTES, MAX_IMPORT_FILES, MAX_IMPORTED, RetainReply,
};
pub use read::{
    EntryHit, EntryInfo, ExplainReply, Explanation, FindEntriesReply, HydrateReply, HydrateRequest, ListEntriesReply,
};
pub use retention::{DAILY_RETENTION, Kept, MAX_ENTRIES, is_expired, over_cap, stamp};
pub use runs::{CheckpointReply, MAX_CHECKPOINT_BYTES, MAX_HELD, MAX_RUN_BYTES, MAX_RUNS, RunReply, SkippedEntry};
pub use scope::{EntriesConfig, MAX_SCOPE_NAME_BYTES};
pub use select::{EntryFilter, MAX_LIST_ENTRIES};
pub use view::EntryProblem;
pub use write::{ForgetEntryReply, PurgeReply, StoreReply, StoreState};

pub(crate) use files::{ShownFile, create_file, forget_file, rename_file, replace_file, shown_files};
pub(crate) use select::cursor_of;

use crate::engine::Call;
use crate::protocol::{Error, ErrorCode};
use crate::search::Corpus;
use crate::store::{EntryFolder, PathError, RelPath};
use crate::trust::{Provenance, Waiting};
use document::Fields;
use runs::{Dropped, Run};
use scope::EntriesScope;
use view::Parsed;
use write::Base;

/// A command of the entries. Whose they are is decided by the configuration; what is named here can only
/// confirm it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntriesCommand {
    /// The agent; `None` for that of the configuration.
    pub agent: Option<String>,
    /// The workspace; likewise.
    pub workspace: Option<String>,
    /// The run that the command is a part of: what it holds is seen, and what is stored is held by it.
    pub run: Option<String>,
    /// Where the text of a `Store` or an `Import` comes from; `None` for that of the configuration, and for
    /// [`Provenance::Import`] where files are taken in. It can only be trusted less than the configuration. With
    /// [`Provenance::User`], what imported files say of their provenance is believed: for that the memory must be
    /// opened for a person.
    pub provenance: Option<Provenance>,
    /// What to do.
    pub verb: EntriesVerb,
}

/// What can be done with entries.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntriesVerb {
    /// Keeps an entry: makes it, or replaces what its key said.
    Store {
        /// The entry.
        entry: NewEntry,
        /// Only if it still has this version.
        base: Option<String>,
    },
    /// Gives the entry of exactly this key.
    Get {
        /// The key.
        key: String,
    },
    /// Searches.
    Find {
        /// A sentence, or a query as for recall.
        query: String,
        /// How many hits at most.
        limit: u32,
    },
    /// Lists, the newest created first.
    List {
        /// What to list.
        filter: EntryFilter,
        /// How many at most; `None` and more than 100 for 100.
        limit: Option<u32>,
        /// The `next` of the page before.
        cursor: Option<String>,
    },
    /// Forgets an entry. Its file says so, and what was known before does not bring it back.
    Forget {
        /// The key.
        key: String,
        /// Only if it still has this version.
        base: Option<String>,
    },
    /// Puts an entry back: one that is forgotten is shown again, any other says what it said before it was last
    /// overwritten. What that replaces can be restored in turn.
    Restore {
        /// The key.
        key: String,
    },
    /// Removes forgotten entries for good, and files of a key that another file of it has outdated.
    Purge {
        /// That of this key; `None` for all.
        key: Option<String>,
    },
    /// Gives the files of the entries, in pages.
    Export {
        /// Those of forgotten entries, too.
        forgotten: bool,
        /// The `next` of the page before.
        cursor: Option<String>,
    },
    /// Takes files in, as they are.
    Import(ImportRequest),
    /// Forgets what is in none of the files that were imported.
    Retain {
        /// What came of all of them.
        imported: Vec<ImportedFile>,
        /// Only says what it would forget.
        dry_run: bool,
    },
    /// Gives the entries for a prompt.
    Hydrate(HydrateRequest),
    /// Says of every entry why it would be hydrated or not.
    Explain {
        /// How it would be hydrated.
        request: HydrateRequest,
        /// Only of this key.
        key: Option<String>,
    },
    /// Opens the run, or goes on with it under a newer number.
    OpenRun {
        /// Grows with each run of the agent.
        fence: u64,
    },
    /// Stores what the run holds, up to [`MAX_CHECKPOINT_BYTES`].
    Checkpoint,
    /// Stores all that the run holds, and ends it.
    CloseRun,
}

/// What came of an [`EntriesCommand`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EntriesReply {
    /// Of `Store` and `Restore`.
    Stored(StoreReply),
    /// Of `Get`.
    Entry(EntryInfo),
    /// Of `Find`.
    Found(FindEntriesReply),
    /// Of `List`.
    Listed(ListEntriesReply),
    /// Of `Forget`.
    Forgotten(ForgetEntryReply),
    /// Of `Purge`.
    Purged(PurgeReply),
    /// Of `Export`.
    Exported(ExportReply),
    /// Of `Import`.
    Imported(ImportReply),
    /// Of `Retain`.
    Retained(RetainReply),
    /// Of `Hydrate`.
    Hydrated(HydrateReply),
    /// Of `Explain`.
    Explained(ExplainReply),
    /// Of `OpenRun`.
    Opened(RunReply),
    /// Of `Checkpoint` and `CloseRun`.
    Saved(CheckpointReply),
}

impl EntriesCommand {
    /// A command outside of any run, in the scope of the configuration.
    #[must_use]
    pub fn new(verb: EntriesVerb) -> Self {
        Self { agent: None, workspace: None, run: None, provenance: None, verb }
    }

    /// The name of the command, as its context keys begin.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match &self.verb {
            EntriesVerb::Store { .. } => "store-entry",
            EntriesVerb::Get { .. } => "get-entry",
            EntriesVerb::Find { .. } => "find-entries",
            EntriesVerb::List { .. } => "list-entries",
            EntriesVerb::Forget { .. } => "forget-entry",
            EntriesVerb::Restore { .. } => "restore-entry",
            EntriesVerb::Purge { .. } => "purge-entries",
            EntriesVerb::Export { .. } => "export-entries",
            EntriesVerb::Import(_) => "import-entries",
            EntriesVerb::Retain { .. } => "retain-entries",
            EntriesVerb::Hydrate(_) => "hydrate",
            EntriesVerb::Explain { .. } => "explain",
            EntriesVerb::OpenRun { .. } => "open-run",
            EntriesVerb::Checkpoint => "checkpoint",
            EntriesVerb::CloseRun => "close-run",
        }
    }
}

/// What the commands of one memory share.
#[derive(Default)]
pub(crate) struct Entries {
    scope: Option<Arc<EntriesScope>>,
    corpus: Arc<AtomicRefCell<Corpus>>,
    parsed: AtomicRefCell<Parsed>,
    runs: AtomicRefCell<Vec<Run>>,
}

impl Entries {
    pub(crate) fn new(config: Option<EntriesConfig>) -> Result<Self, PathError> {
        let scope = config.map(EntriesScope::new).transpose()?;
        Ok(Self { scope: scope.map(Arc::new), ..Self::default() })
    }

    /// Where the entries are that this memory was opened for.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &EntryFolder> {
        self.scope.iter().flat_map(|scope| scope.pools()).map(|pool| &pool.folder)
    }

    fn scope(&self) -> Result<&Arc<EntriesScope>, Error> {
        self.scope.as_ref().ok_or_else(|| {
            let help = "open the memory with the name of an agent";
            Error::invalid_argument("this memory was opened without an agent", help)
        })
    }

    /// A file of the agent that is no entry, by the names of its folder and itself.
    pub(crate) fn file_beside(&self, folder: &str, name: &str) -> Result<RelPath, Error> {
        self.scope()?.beside.join(folder).and_then(|folder| folder.join(name)).map_err(write::internal)
    }

    /// How many more entries the agent may have than these, which are all that are shown, before the oldest go.
    pub(crate) fn room(&self, shown: &[EntryInfo]) -> Result<usize, Error> {
        let is_own = |entry: &&EntryInfo| entry.category != Category::Workspace.as_str();
        Ok((self.scope()?.own.cap as usize).saturating_sub(shown.iter().filter(is_own).count()))
    }

    /// The agent whose entries they are.
    pub(crate) fn agent(&self) -> Result<String, Error> {
        Ok(self.scope()?.own.owner.clone())
    }
}

/// The entries that wait to be approved; none where there is no agent.
pub(crate) async fn waiting(call: &Call, entries: &Entries) -> Result<Vec<Waiting>, Error> {
    let Some(scope) = entries.scope.clone() else { return Ok(Vec::new()) };
    let view = view::look(call, entries, &scope).await?;
    let now = call.now.epoch_nanoseconds();
    let corpus = entries.corpus.borrow();
    let waiting = view.entries.iter().filter(|stored| stored.is_live(now)).filter_map(|stored| {
        let fields = &stored.entry.fields;
        let provenance = fields.standing.unapproved()?;
        Some(Waiting {
            names: alloc::vec![fields.key.clone()],
            path: stored.path.clone(),
            is_entry: true,
            provenance,
            source: fields.source.clone(),
            version: stored.entry.version.clone(),
            size: corpus.files.doc(stored.doc).map_or(0, |doc| doc.text().len() as u64),
            text: fields.content.clone(),
        })
    });
    Ok(waiting.collect())
}

/// Runs a command.
pub(crate) async fn run(call: &Call, entries: &Entries, command: EntriesCommand) -> Result<EntriesReply, Error> {
    let scope = checked_scope(entries, command.agent.as_deref(), command.workspace.as_deref())?;
    answer(call, entries, scope, command).await.map_err(unavailable)
}

/// Takes entries of another format in.
pub(crate) async fn adopt(
    call: &Call,
    entries: &Entries,
    agent: Option<&str>,
    workspace: Option<&str>,
    adoption: Adoption<'_>,
) -> Result<Vec<ExchangedEntry>, Error> {
    let scope = checked_scope(entries, agent, workspace)?;
    adopt::adopt(call, entries, scope, adoption).await.map_err(unavailable)
}

/// Gives the entries for another format, and the files that are none.
pub(crate) async fn dump(
    call: &Call,
    entries: &Entries,
    agent: Option<&str>,
    workspace: Option<&str>,
    forgotten: bool,
) -> Result<(Vec<ForeignEntry>, Vec<EntryProblem>), Error> {
    let scope = checked_scope(entries, agent, workspace)?;
    adopt::dump(call, entries, scope, forgotten).await.map_err(unavailable)
}

fn checked_scope<'e>(
    entries: &'e Entries,
    agent: Option<&str>,
    workspace: Option<&str>,
) -> Result<&'e EntriesScope, Error> {
    let scope = entries.scope()?;
    scope.check(agent, workspace)?;
    Ok(scope)
}

/// Every entry that is neither forgotten nor too old, one for each key, and the files that are none. Of a key that agent
/// and workspace have it is the agent's.
pub(crate) async fn current(call: &Call, entries: &Entries) -> Result<(Vec<EntryInfo>, Vec<EntryProblem>), Error> {
    let scope = entries.scope()?;
    read::current(call, entries, scope).await.map_err(unavailable)
}

/// Hydrates entries as they are stored, for the block, which makes them harmless itself and reports what it found.
pub(crate) async fn hydrate_as_stored(
    call: &Call,
    entries: &Entries,
    request: HydrateRequest,
    run: Option<&str>,
) -> Result<HydrateReply, Error> {
    read::hydrate(call, entries, entries.scope()?, request, run).await.map_err(unavailable)
}

/// An error of the storage as one of the entries.
pub(crate) fn unavailable(error: Error) -> Error {
    match error.code {
        ErrorCode::Storage => {
            Error { code: ErrorCode::MemoryUnavailable, message: format!("UZ-MEM-003: {}", error.message), ..error }
        }
        _ => error,
    }
}

async fn answer(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    command: EntriesCommand,
) -> Result<EntriesReply, Error> {
    let EntriesCommand { run, provenance, verb, .. } = command;
    let run = run.as_deref();
    Ok(match verb {
        EntriesVerb::Store { entry, base } => {
            let fields = screen::screened(call, &entry, provenance)?;
            let mut reply = store(call, entries, scope, &fields, Base::of(base), run).await?;
            call.screen.tell(&mut reply.message);
            EntriesReply::Stored(reply)
        }
        EntriesVerb::Get { key } => EntriesReply::Entry(read::get(call, entries, scope, &key, run).await?),
        EntriesVerb::Find { query, limit } => {
            EntriesReply::Found(read::find(call, entries, scope, &query, limit, run).await?)
        }
        EntriesVerb::List { filter, limit, cursor } => {
            EntriesReply::Listed(read::list(call, entries, scope, &filter, limit, cursor.as_deref(), run).await?)
        }
        EntriesVerb::Forget { key, base } => {
            EntriesReply::Forgotten(forget(call, entries, scope, &key, &Base::of(base), run).await?)
        }
        EntriesVerb::Restore { key } => EntriesReply::Stored(restore::restore(call, entries, scope, &key).await?),
        EntriesVerb::Purge { key } => EntriesReply::Purged(write::purge(call, entries, scope, key.as_deref()).await?),
        EntriesVerb::Export { forgotten, cursor } => {
            EntriesReply::Exported(export::export(call, entries, scope, forgotten, cursor.as_deref()).await?)
        }
        EntriesVerb::Import(request) => {
            let provenance = screen::of_files(call, provenance)?;
            EntriesReply::Imported(import::import(call, entries, scope, &request, provenance).await?)
        }
        EntriesVerb::Retain { imported, dry_run } => {
            EntriesReply::Retained(import::retain(call, entries, scope, &imported, dry_run).await?)
        }
        EntriesVerb::Hydrate(request) => {
            let mut reply = read::hydrate(call, entries, scope, request, run).await?;
            reply.entries.iter_mut().for_each(EntryInfo::make_harmless);
            EntriesReply::Hydrated(reply)
        }
        EntriesVerb::Explain { request, key } => {
            EntriesReply::Explained(read::explain(call, entries, scope, request, key.as_deref(), run).await?)
        }
        EntriesVerb::OpenRun { fence } => {
            EntriesReply::Opened(runs::open(call, entries, scope, named(run)?, fence).await?)
        }
        EntriesVerb::Checkpoint => EntriesReply::Saved(runs::checkpoint(call, entries, scope, named(run)?).await?),
        EntriesVerb::CloseRun => EntriesReply::Saved(runs::close(call, entries, scope, named(run)?).await?),
    })
}

async fn store(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    fields: &Fields,
    base: Base,
    run: Option<&str>,
) -> Result<StoreReply, Error> {
    scope.pool(&fields.category)?;
    let Some(run) = run else {
        if fields.category == Category::Conversation {
            let help = "name a run that is open, or choose another category";
            return Err(Error::invalid_argument("entries of a conversation live in a run alone", help));
        }
        let applied = write::store(call, entries, scope, fields, &base).await?;
        return Ok(write::reply(call, fields, applied));
    };
    runs::hold(call, entries, scope, run, fields.clone(), base).await?;
    Ok(write::held(fields))
}

async fn forget(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    key: &str,
    base: &Base,
    run: Option<&str>,
) -> Result<ForgetEntryReply, Error> {
    let dropped = match run {
        Some(run) => runs::drop_held(call, entries, scope, run, key).await?,
        None => Dropped::default(),
    };
    if dropped.only_conversation {
        return Ok(write::let_go(key));
    }
    match write::forget(call, entries, scope, key, base).await {
        Err(error) if error.code == ErrorCode::EntryNotFound && dropped.any => Ok(write::let_go(key)),
        forgotten => forgotten,
    }
}

fn named(run: Option<&str>) -> Result<&str, Error> {
    run.ok_or_else(|| Error::invalid_argument("no run is named", "give the run its name"))
}
