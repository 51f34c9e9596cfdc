//! The entries: keyed facts in categories, hydrated into a prompt within a budget.
//!
//! They follow the documentation of zombie's memory on plain Markdown: one file per key, with frontmatter above the content.
//! Each command is a struct in its own file, such as [`WriteEntry`] with [`StoreReply`]. Decisions are pure functions:
//! [`plan`](plan()) decides about hydration, [`over_cap`] and [`is_expired`] about removal.
//!
//! # How do entries work?
//!
//! docs/entries.md has the rules. Decisions are pure functions (`hydrate.rs`, `retention.rs`, `find.rs`,
//! `document.rs`); the commands around them do four things.
//!
//! **Look** (`view.rs`). A separate `Corpus`, with the code that the other families use, is brought up to date over the
//! folders of the agent and its workspace, from its copy in `.saddlebag/index/` of the agent's folder. Of the files that the copy
//! knows, only those are read whose text a command shows or changes. New files are parsed once. One file per key counts. The
//! corpus is separate from the corpus of journal and notebook for isolation: their searches cannot find an entry, and `find`
//! cannot find a note, whatever the filter. It is empty and needs no operation until the first command that uses entries.
//!
//! **Change** (`put.rs`). Each change is computed by `Call::update` from the bytes that it replaces. The view only
//! selects the file. A file that is not an entry, or is of another key, is an error there, so no hand-written file is
//! lost. Expired entries, and entries over the limit, are removed afterwards, each only if it still has the version
//! that was seen.
//!
//! **Hold** (`runs.rs`). A run exists in memory only. Each of its entries remembers the version that it was based on, which is
//! the precondition when it is stored.
//!
//! **Move** (`export.rs`, `import.rs`). An export returns pages of files, an import takes several commands. Each
//! command of an import gets the results of the previous ones, so the memory keeps no state of an import. A file is
//! parsed at the path that it will have in the store. It replaces its entry by one write in the old place, and is then
//! copied to the folder of its category. An interrupted import leaves every entry complete, and at most one extra copy,
//! which the next import removes. The program only reads and writes folders and tar streams (`cli/src/import/`,
//! `cli/src/export/`), and does not trust their content.

mod adopt;
mod category;
mod checkpoint;
mod checks;
mod document;
mod edit;
mod export;
mod files;
mod find;
mod foreign;
mod hydrate;
mod import;
mod intake;
mod mark;
mod plan;
mod purge;
mod put;
mod readable;
mod removal;
mod retain;
mod retention;
mod room;
mod rules;
mod runs;
mod scope;
mod screen;
mod settle;
mod state;
mod store;
#[cfg(test)]
mod tests;
mod types;
mod view;

pub use category::{Category, MAX_CATEGORY_BYTES, MAX_KEY_BYTES, Tier};
pub use checkpoint::{
    Checkpoint, CheckpointReply, CloseRun, MAX_CHECKPOINT_BYTES, MAX_RUN_BYTES, MAX_RUNS, OpenRun, RunReply,
};
pub use checks::{MAX_CONTENT_BYTES, MAX_SOURCE_BYTES, MAX_TAG_BYTES, MAX_TAGS, NewEntry};
pub use document::with_project_renamed;
pub use export::{EntryFile, ExportEntries, ExportReply, MAX_EXPORT_BYTES, MAX_EXPORT_FILES};
pub use foreign::{ExchangeState, ExchangedEntry, ForeignEntry};
pub use hydrate::{Explanation, Hydrate, HydrateReply};
pub use import::{
    ImportEntries, ImportFile, ImportMode, ImportReply, ImportState, ImportedFile, MAX_IMPORT_BYTES,
    MAX_IMPORT_FILE_BYTES, MAX_IMPORT_FILES, MAX_IMPORTED,
};
pub use plan::{
    Budget, Candidate, DEFAULT_HYDRATE_BYTES, HydrationPolicy, OutReason, Placement, WORKSPACE_SHARE, plan, taken,
};
pub use purge::{PurgeEntries, PurgeReply};
pub use retain::{DeletedEntry, RetainEntries, RetainReply};
pub use retention::{DAILY_RETENTION, Kept, MAX_ENTRIES, is_expired, over_cap, stamp};
pub use scope::{EntriesConfig, MAX_SCOPE_NAME_BYTES};
pub use state::MAX_HELD;
pub use store::WriteEntry;
pub use types::{EntryInfo, EntryProblem, SkippedEntry, StoreReply, StoreState};

pub(crate) use adopt::adopt;
pub(crate) use document::{Entry, is_confined};
pub(crate) use edit::EntryChange;
pub(crate) use files::{ShownFile, create_file, forget_file, rename_file, replace_file, shown_files};
pub(crate) use find::{
    EntryHit, EntryList, EntryOrder, EntryPage, ForgottenEntry, Found, cursor_of, forgotten, held_hits,
};
pub(crate) use foreign::{Adoption, dump};
pub(crate) use hydrate::hydrate;
pub(crate) use mark::{hash, is_mark};
pub(crate) use purge::{ForgottenAs, as_restored};
pub(crate) use readable::{current, earlier, searchable};
pub(crate) use state::Entries;

use crate::changes::Call;
use crate::engine::NamedFile;
use crate::family::family;
use crate::origin::Origin;
use crate::request::Run;
use crate::store::RelPath;
use crate::trust::{PendingApproval, Provenance};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};
use state::EntriesCall;

family! {
    "entries", run with EntriesCall<'_>;
    /// A command of the entries. The configuration decides whose entries it sees.
    EntriesCommand =>
    /// Reply of an [`EntriesCommand`].
    EntriesReply {
        PurgeEntries { key },
        Hydrate,
        OpenRun { fence },
        Checkpoint {} | CloseRun {},
    }
}

/// Returns the entries that wait for approval, and those that go into the prompts of one project; empty without an agent.
pub(crate) async fn pending_approvals(
    call: &Call,
    entries: &Entries,
) -> Result<(Vec<PendingApproval>, Vec<EntryProblem>), Error> {
    let Some(scope) = entries.scope.clone() else { return Ok((Vec::new(), Vec::new())) };
    let view = view::look(call, entries, &scope).await?;
    let now = call.now.epoch_nanoseconds();
    let corpus = entries.corpus.borrow();
    let pending = view.entries.iter().filter(|stored| stored.is_live(now)).filter_map(|stored| {
        let fields = &stored.entry.fields;
        let provenance = match fields.trust_state.unapproved() {
            Some(provenance) => provenance,
            None if fields.is_confined() && fields.trust_state.approved.is_none() => {
                fields.trust_state.provenance.max(Provenance::Agent)
            }
            None => return None,
        };
        Some(stored.text(&corpus).map(|text| PendingApproval {
            name: fields.key.clone(),
            path: stored.path.clone(),
            is_entry: true,
            provenance,
            projects: fields.projects.clone(),
            source: fields.source.clone(),
            writer: fields.writer.clone(),
            version: stored.entry.version.clone(),
            size: text.len() as u64,
            text: fields.content.clone(),
        }))
    });
    let pending = pending.collect::<Result<_, Error>>()?;
    Ok((pending, view.problems))
}

/// Returns the entry that a name may mean: the live one of this key, or the one whose file has this path.
pub(crate) async fn named(call: &Call, entries: &Entries, name: &str) -> Result<Option<NamedFile>, Error> {
    let found = stored(call, entries, name).await?.filter(|found| found.key != name || found.is_live);
    Ok(found.map(|StoredEntry { path, key, unapproved, .. }| NamedFile { path, name: key, unapproved }))
}

/// An entry in its file, forgotten or not.
pub(crate) struct StoredEntry {
    pub(crate) path: RelPath,
    key: String,
    is_live: bool,
    unapproved: Option<Provenance>,
    pub(crate) version: String,
    pub(crate) content: String,
    pub(crate) is_forgotten: bool,
}

/// Returns the entry of a key, or the one whose file has this path.
pub(crate) async fn stored(call: &Call, entries: &Entries, name: &str) -> Result<Option<StoredEntry>, Error> {
    let Some(scope) = entries.scope.clone() else { return Ok(None) };
    if view::check_name(call, &scope, name).is_err() {
        return Ok(None);
    }
    let (view, key) = view::look_for(call, entries, &scope, name).await?;
    let now = call.now.epoch_nanoseconds();
    Ok(view::found(&view, &scope, &key).map(|(_, stored)| StoredEntry {
        path: stored.path.clone(),
        is_live: stored.is_live(now),
        unapproved: stored.entry.fields.trust_state.unapproved(),
        key,
        version: stored.entry.version.clone(),
        content: stored.entry.fields.content.clone(),
        is_forgotten: stored.entry.forgotten.is_some(),
    }))
}

/// Returns the entry of a key, or the one whose file has this path. The run's own entry comes first.
pub(crate) async fn get(call: &Call, entries: &Entries, origin: &Origin, name: &str) -> Result<EntryInfo, Error> {
    find::get(&with_origin(call, entries, origin)?, name).await.map_err(unavailable)
}

/// Returns the entry like [`get`], for a command that has just found it and changed nothing: the folders are not listed again.
pub(crate) async fn get_found(call: &Call, entries: &Entries, origin: &Origin, name: &str) -> Result<EntryInfo, Error> {
    find::get_found(&with_origin(call, entries, origin)?, name).await.map_err(unavailable)
}

/// Searches the entries, best first.
pub(crate) async fn find(
    call: &Call,
    entries: &Entries,
    origin: &Origin,
    query: &str,
    limit: u32,
) -> Result<Found, Error> {
    find::find(&with_origin(call, entries, origin)?, query, limit).await.map_err(unavailable)
}

/// Lists entries.
pub(crate) async fn list(
    call: &Call,
    entries: &Entries,
    origin: &Origin,
    asked: EntryList<'_>,
) -> Result<EntryPage, Error> {
    find::list(&with_origin(call, entries, origin)?, asked).await.map_err(unavailable)
}

/// Changes the text or the tags of an entry.
pub(crate) async fn edit(
    call: &Call,
    entries: &Entries,
    origin: &Origin,
    name: &str,
    change: &EntryChange<'_>,
) -> Result<StoreReply, Error> {
    edit::edit(&with_origin(call, entries, origin)?, name, change).await.map_err(unavailable)
}

/// Forgets an entry, if it has the expected version.
pub(crate) async fn forget(
    call: &Call,
    entries: &Entries,
    origin: &Origin,
    name: &str,
    expected_version: Option<String>,
) -> Result<ForgottenAs, Error> {
    purge::forget(&with_origin(call, entries, origin)?, name, expected_version).await.map_err(unavailable)
}

/// Brings back a forgotten entry, or the text that an entry had before.
pub(crate) async fn restore(call: &Call, entries: &Entries, origin: &Origin, name: &str) -> Result<StoreReply, Error> {
    purge::restore(&with_origin(call, entries, origin)?, name).await.map_err(unavailable)
}

/// Returns true if the run of the origin holds an entry of this key.
pub(crate) fn is_held(entries: &Entries, origin: &Origin, key: &str) -> bool {
    entries.held(origin.run.as_deref()).is_ok_and(|held| held.iter().any(|held| held.entry.fields.key == key))
}

/// Runs a request about entries.
pub(crate) async fn run<R>(call: &Call, entries: &Entries, origin: &Origin, request: R) -> Result<R::Reply, Error>
where
    R: for<'a> Run<EntriesCall<'a>>,
{
    request.run(&with_origin(call, entries, origin)?).await.map_err(unavailable)
}

/// Runs a command of any kind.
pub(crate) async fn run_any(
    call: &Call,
    entries: &Entries,
    origin: &Origin,
    command: EntriesCommand,
) -> Result<EntriesReply, Error> {
    command.run(&with_origin(call, entries, origin)?).await
}

fn with_origin<'a>(call: &'a Call, entries: &'a Entries, origin: &'a Origin) -> Result<EntriesCall<'a>, Error> {
    let scope = entries.scope()?;
    Ok(EntriesCall { call, entries, scope, run: origin.run.as_deref(), provenance: origin.provenance })
}

/// Refuses an origin that names another agent or workspace.
pub(crate) fn check_origin(entries: &Entries, origin: &Origin) -> Result<(), Error> {
    if origin.agent.is_none() && origin.workspace.is_none() {
        return Ok(());
    }
    entries.scope()?.check(origin.agent.as_deref(), origin.workspace.as_deref())
}

/// Returns an error of the storage as one of the entries.
pub(crate) fn unavailable(mut error: Error) -> Error {
    if error.code == ErrorCode::Storage {
        error.code = ErrorCode::MemoryUnavailable;
    }
    error
}
