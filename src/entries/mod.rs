//! The entries: keyed facts in categories, hydrated into a prompt under a budget.
//!
//! It does what the documentation of zombie's memory promises, on plain Markdown: one file for each key, its
//! frontmatter above the content. Each command is a struct in a file of its own, such as [`StoreEntry`] with
//! [`StoreReply`]. What decides is pure: [`plan`](plan()) is hydration,
//! [`over_cap`] and [`is_expired`] are what goes.
//!
//! # How do entries work?
//!
//! docs/entries.md has the rules. What decides is pure (`hydrate.rs`, `retention.rs`, `select.rs`,
//! `document.rs`); the commands around it do four things.
//!
//! **Look** (`view.rs`). A `Corpus` of their own, by the same code as the other families', is brought up to date over the
//! folders of the agent and of its workspace; what is new in it is parsed once, by its number. Of each key one file counts.
//! It is apart from the corpus of journal and notebook for isolation: no search or recall of theirs can find an entry, and
//! no `find` a note, whatever its filter. It is empty, and asks for nothing, until the first command that needs entries.
//!
//! **Change** (`write.rs`). Each change is computed from the bytes that it replaces, by `engine::update`: the view only says
//! which file is meant. Text that is no entry, or another key's, is an error there, so no hand-written file is lost. What
//! goes by age or at the cap goes afterwards, each file under the version that was seen.
//!
//! **Hold** (`runs.rs`). A run is in memory alone. Each of its entries remembers the version that it was written on, which is
//! the precondition when it is stored.
//!
//! **Move** (`export.rs`, `import.rs`). Pages of files go out and parts of an import come in; what came of the parts before is
//! handed in with each, so the memory holds no state of an import. A file is parsed where it would be in the store. It
//! replaces its entry by one write in its old place, and is copied to the folder of its category only then: whatever is cut
//! short leaves an entry whole, and at most a copy of it, which the next import removes. The program around it only reads and
//! writes folders and tar streams (`cli/src/entries/`), and believes nothing of them.

mod adopt;
mod category;
mod checkpoint;
mod checks;
mod close_run;
mod decision;
mod document;
mod explain;
mod export;
mod files;
mod find;
mod foreign;
mod forget;
mod get;
mod held;
mod hydrate;
mod import;
mod intake;
mod limits;
mod list;
mod mark;
mod open_run;
mod plan;
mod purge;
mod put;
mod readable;
mod removal;
mod restore;
mod retain;
mod retention;
mod room;
mod rules;
mod runs;
mod scope;
mod screen;
mod select;
mod settle;
mod state;
mod store;
#[cfg(test)]
mod tests;
mod types;
mod view;

use alloc::format;
use alloc::vec::Vec;

pub use category::{Category, MAX_CATEGORY_BYTES, Tier};
pub use checkpoint::{Checkpoint, CheckpointReply, MAX_CHECKPOINT_BYTES};
pub use checks::{MAX_CONTENT_BYTES, MAX_SOURCE_BYTES, MAX_TAG_BYTES, MAX_TAGS, NewEntry};
pub use close_run::CloseRun;
pub use decision::{Explanation, Hydrate};
pub use explain::{Explain, ExplainReply};
pub use export::{EntryFile, ExportEntries, ExportReply, MAX_EXPORT_BYTES, MAX_EXPORT_FILES};
pub use find::{DEFAULT_FOUND_ENTRIES, EntryHit, FindEntries, FindEntriesReply};
pub use foreign::{DAILY_LOG, ExchangeState, ExchangedEntry, ForeignEntry};
pub use forget::{ForgetEntry, ForgetEntryReply};
pub use get::GetEntry;
pub use held::MAX_HELD;
pub use hydrate::HydrateReply;
pub use import::{
    ImportEntries, ImportFile, ImportMode, ImportReply, ImportState, ImportedFile, MAX_IMPORT_BYTES,
    MAX_IMPORT_FILE_BYTES, MAX_IMPORT_FILES, MAX_IMPORTED,
};
pub use limits::MAX_KEY_BYTES;
pub use list::{ListEntries, ListEntriesReply};
pub use open_run::{MAX_RUN_BYTES, MAX_RUNS, OpenRun, RunReply};
pub use plan::{
    Budget, Candidate, DEFAULT_HYDRATE_BYTES, HydrationPolicy, OutReason, Placement, WORKSPACE_SHARE, plan, taken,
};
pub use purge::{PurgeEntries, PurgeReply};
pub use restore::RestoreEntry;
pub use retain::{DeletedEntry, RetainEntries, RetainReply};
pub use retention::{DAILY_RETENTION, Kept, MAX_ENTRIES, is_expired, over_cap, stamp};
pub use scope::{EntriesConfig, MAX_SCOPE_NAME_BYTES};
pub use select::{EntryFilter, MAX_LIST_ENTRIES};
pub use store::StoreEntry;
pub use types::{EntryInfo, EntryProblem, SkippedEntry, StoreReply, StoreState};

pub(crate) use files::{ShownFile, create_file, forget_file, rename_file, replace_file, shown_files};
pub(crate) use foreign::Adoption;
pub(crate) use mark::{hash, is_mark};
pub(crate) use select::cursor_of;
pub(crate) use state::Entries;

use crate::engine::Call;
use crate::family::family;
use crate::origin::Origin;
use crate::protocol::{Error, ErrorCode};
use crate::request::Run;
use crate::trust::PendingApproval;
use state::EntriesCall;

family! {
    "entries", run with EntriesCall<'_>;
    /// A command of the entries. The configuration decides whose entries they are.
    EntriesCommand =>
    /// The reply of an [`EntriesCommand`].
    EntriesReply {
        StoreEntry,
        GetEntry,
        FindEntries,
        ListEntries,
        ForgetEntry,
        RestoreEntry,
        PurgeEntries,
        ExportEntries,
        ImportEntries,
        RetainEntries,
        Hydrate,
        Explain,
        OpenRun,
        Checkpoint,
        CloseRun,
    }
}

/// The entries that wait to be approved; none where there is no agent.
pub(crate) async fn pending_approvals(call: &Call, entries: &Entries) -> Result<Vec<PendingApproval>, Error> {
    let Some(scope) = entries.scope.clone() else { return Ok(Vec::new()) };
    let view = view::look(call, entries, &scope).await?;
    let now = call.now.epoch_nanoseconds();
    let corpus = entries.corpus.borrow();
    let pending = view.entries.iter().filter(|stored| stored.is_live(now)).filter_map(|stored| {
        let fields = &stored.entry.fields;
        let provenance = fields.trust_state.unapproved()?;
        Some(stored.text(&corpus).map(|text| PendingApproval {
            names: alloc::vec![fields.key.clone()],
            path: stored.path.clone(),
            is_entry: true,
            provenance,
            source: fields.source.clone(),
            version: stored.entry.version.clone(),
            size: text.len() as u64,
            text: fields.content.clone(),
        }))
    });
    pending.collect()
}

/// Runs one command.
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
    command.run(&with_origin(call, entries, origin)?).await.map_err(unavailable)
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

/// Takes entries of another format in.
pub(crate) async fn adopt(
    call: &Call,
    entries: &Entries,
    adoption: Adoption<'_>,
) -> Result<Vec<ExchangedEntry>, Error> {
    let scope = entries.scope()?;
    adopt::adopt(call, entries, scope, adoption).await.map_err(unavailable)
}

/// Gives the entries for another format, and the files that are none.
pub(crate) async fn dump(
    call: &Call,
    entries: &Entries,
    forgotten: bool,
) -> Result<(Vec<ForeignEntry>, Vec<EntryProblem>), Error> {
    let scope = entries.scope()?;
    foreign::dump(call, entries, scope, forgotten).await.map_err(unavailable)
}

/// Every entry that is neither forgotten nor too old, one for each key, and the files that are none. Of a key that agent
/// and workspace have it is the agent's.
pub(crate) async fn current(call: &Call, entries: &Entries) -> Result<(Vec<EntryInfo>, Vec<EntryProblem>), Error> {
    let scope = entries.scope()?;
    readable::current(call, entries, scope).await.map_err(unavailable)
}

/// Hydrates entries as they are stored, for the block, which makes them harmless itself and reports what it found.
pub(crate) async fn hydrate_as_stored(
    call: &Call,
    entries: &Entries,
    request: Hydrate,
    run: Option<&str>,
) -> Result<HydrateReply, Error> {
    hydrate::hydrate(call, entries, entries.scope()?, request, run).await.map_err(unavailable)
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
