//! The commands of the entries.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::category::Category;
use super::checks::NewEntry;
use super::document::Fields;
use super::export::ExportReply;
use super::hydrate::Policy;
use super::import::{ImportEntries, ImportFile, ImportMode, ImportReply, ImportedFile, RetainReply};
use super::read::{EntryInfo, ExplainReply, FindEntriesReply, Hydrate, HydrateReply, ListEntriesReply};
use super::runs::{CheckpointReply, Dropped, RunReply};
use super::scope::EntriesScope;
use super::select::EntryFilter;
use super::write::{Base, ForgetEntryReply, PurgeReply, StoreReply};
use super::{Entries, EntriesCommand, export, import, read, restore, runs, screen, write};
use crate::catalogue::{SAMPLE_RUN, SAMPLE_TEXT};
use crate::engine::Call;
use crate::memory::Command;
use crate::protocol::{Error, ErrorCode};
use crate::request::{Effect, Request, Run};
use crate::trust::Provenance;

/// The parts of a memory that the commands of the entries share, and the scope that one names.
pub(crate) struct EntriesCall<'a> {
    pub(super) call: &'a Call,
    pub(super) entries: &'a Entries,
    pub(super) scope: &'a EntriesScope,
    pub(super) run: Option<&'a str>,
    pub(super) provenance: Option<Provenance>,
}

/// Keeps an entry: makes it, or replaces what its key said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreEntry {
    /// The entry.
    pub entry: NewEntry,
    /// Only if it still has this version.
    pub base: Option<String>,
}

impl Request for StoreEntry {
    type Reply = StoreReply;
    const NAME: &'static str = "store-entry";
    const EFFECT: Effect = Effect::Replaces;

    fn samples(name: &str) -> Vec<Self> {
        let entry = |key: &str, category: &str| NewEntry::new(key, "another text", category);
        let store = |entry| Self { entry, base: None };
        [entry("new", "core"), entry(name, "core"), entry(name, "notes"), entry(name, "workspace")].map(store).to_vec()
    }
}

impl Run<EntriesCall<'_>> for StoreEntry {
    async fn run(self, with: &EntriesCall<'_>) -> Result<StoreReply, Error> {
        let fields = screen::screened(with.call, &self.entry, with.provenance)?;
        let mut reply = store(with.call, with.entries, with.scope, &fields, Base::of(self.base), with.run).await?;
        with.call.screen.tell(&mut reply.message);
        Ok(reply)
    }
}

/// Gives the entry of exactly this key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetEntry {
    /// The key.
    pub key: String,
}

impl Request for GetEntry {
    type Reply = EntryInfo;
    const NAME: &'static str = "get-entry";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        alloc::vec![Self { key: name.into() }]
    }
}

impl Run<EntriesCall<'_>> for GetEntry {
    async fn run(self, with: &EntriesCall<'_>) -> Result<EntryInfo, Error> {
        read::get(with.call, with.entries, with.scope, &self.key, with.run).await
    }
}

/// Searches the entries, best first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindEntries {
    /// A sentence, or a query as for recall.
    pub query: String,
    /// The most hits to give.
    pub limit: u32,
}

impl Request for FindEntries {
    type Reply = FindEntriesReply;
    const NAME: &'static str = "find-entries";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        [SAMPLE_TEXT, name].map(|query| Self { query: query.into(), limit: 3 }).to_vec()
    }
}

impl Run<EntriesCall<'_>> for FindEntries {
    async fn run(self, with: &EntriesCall<'_>) -> Result<FindEntriesReply, Error> {
        read::find(with.call, with.entries, with.scope, &self.query, self.limit, with.run).await
    }
}

/// Lists the entries, the newest created first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListEntries {
    /// The entries to list.
    pub filter: EntryFilter,
    /// The most entries to give; `None` and more than 100 for 100.
    pub limit: Option<u32>,
    /// The `next` of the page before.
    pub cursor: Option<String>,
}

impl Request for ListEntries {
    type Reply = ListEntriesReply;
    const NAME: &'static str = "list-entries";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        let filters = [EntryFilter::default(), EntryFilter { category: Some(name.into()), ..EntryFilter::default() }];
        filters.map(|filter| Self { filter, limit: None, cursor: None }).to_vec()
    }
}

impl Run<EntriesCall<'_>> for ListEntries {
    async fn run(self, with: &EntriesCall<'_>) -> Result<ListEntriesReply, Error> {
        read::list(with.call, with.entries, with.scope, &self.filter, self.limit, self.cursor.as_deref(), with.run)
            .await
    }
}

/// Forgets an entry. Its file says so, and what was known before does not bring it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgetEntry {
    /// The key.
    pub key: String,
    /// Only if it still has this version.
    pub base: Option<String>,
}

impl Request for ForgetEntry {
    type Reply = ForgetEntryReply;
    const NAME: &'static str = "forget-entry";
    const EFFECT: Effect = Effect::Removes;

    fn samples(name: &str) -> Vec<Self> {
        alloc::vec![Self { key: name.into(), base: None }]
    }
}

impl Run<EntriesCall<'_>> for ForgetEntry {
    async fn run(self, with: &EntriesCall<'_>) -> Result<ForgetEntryReply, Error> {
        forget(with.call, with.entries, with.scope, &self.key, &Base::of(self.base), with.run).await
    }
}

/// Puts an entry back: one that is forgotten is shown again, any other says what it said before it was last
/// overwritten. A second restore undoes the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreEntry {
    /// The key.
    pub key: String,
}

impl Request for RestoreEntry {
    type Reply = StoreReply;
    const NAME: &'static str = "restore-entry";
    const EFFECT: Effect = Effect::Replaces;

    fn samples(name: &str) -> Vec<Self> {
        alloc::vec![Self { key: name.into() }]
    }
}

impl Run<EntriesCall<'_>> for RestoreEntry {
    async fn run(self, with: &EntriesCall<'_>) -> Result<StoreReply, Error> {
        restore::restore(with.call, with.entries, with.scope, &self.key).await
    }
}

/// Removes forgotten entries for good, and files of a key that another file of it has outdated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgeEntries {
    /// That of this key; `None` for all.
    pub key: Option<String>,
}

impl Request for PurgeEntries {
    type Reply = PurgeReply;
    const NAME: &'static str = "purge-entries";
    const EFFECT: Effect = Effect::Removes;

    fn samples(_: &str) -> Vec<Self> {
        alloc::vec![Self { key: None }, Self { key: Some("forgotten".into()) }]
    }
}

impl Run<EntriesCall<'_>> for PurgeEntries {
    async fn run(self, with: &EntriesCall<'_>) -> Result<PurgeReply, Error> {
        write::purge(with.call, with.entries, with.scope, self.key.as_deref()).await
    }
}

/// Gives the files of the entries, byte for byte, in pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportEntries {
    /// Those of forgotten entries, too.
    pub forgotten: bool,
    /// The `next` of the page before.
    pub cursor: Option<String>,
}

impl Request for ExportEntries {
    type Reply = ExportReply;
    const NAME: &'static str = "export-entries";
    const EFFECT: Effect = Effect::Reads;

    fn samples(_: &str) -> Vec<Self> {
        alloc::vec![Self { forgotten: true, cursor: None }]
    }
}

impl Run<EntriesCall<'_>> for ExportEntries {
    async fn run(self, with: &EntriesCall<'_>) -> Result<ExportReply, Error> {
        export::export(with.call, with.entries, with.scope, self.forgotten, self.cursor.as_deref()).await
    }
}

/// Forgets what is in none of the files that were imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetainEntries {
    /// The results of all of them.
    pub imported: Vec<ImportedFile>,
    /// Only says what it would forget.
    pub dry_run: bool,
}

impl Request for RetainEntries {
    type Reply = RetainReply;
    const NAME: &'static str = "retain-entries";
    const EFFECT: Effect = Effect::Removes;

    fn samples(_: &str) -> Vec<Self> {
        alloc::vec![Self { imported: Vec::new(), dry_run: true }, Self { imported: Vec::new(), dry_run: false }]
    }
}

impl Run<EntriesCall<'_>> for RetainEntries {
    async fn run(self, with: &EntriesCall<'_>) -> Result<RetainReply, Error> {
        import::retain(with.call, with.entries, with.scope, &self.imported, self.dry_run).await
    }
}

/// Says of every entry why it would be hydrated or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explain {
    /// The hydration that is explained.
    pub request: Hydrate,
    /// Only of this key.
    pub key: Option<String>,
}

impl Request for Explain {
    type Reply = ExplainReply;
    const NAME: &'static str = "explain";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        let request = Hydrate { max_bytes: 1000, policy: Policy::Greedy };
        [None, Some(name.into())].map(|key| Self { request, key }).to_vec()
    }
}

impl Run<EntriesCall<'_>> for Explain {
    async fn run(self, with: &EntriesCall<'_>) -> Result<ExplainReply, Error> {
        read::explain(with.call, with.entries, with.scope, self.request, self.key.as_deref(), with.run).await
    }
}

/// Opens the run of the command, or goes on with it under a newer number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRun {
    /// Grows with each run of the agent.
    pub fence: u64,
}

impl Request for OpenRun {
    type Reply = RunReply;
    const NAME: &'static str = "open-run";
    const EFFECT: Effect = Effect::Appends;

    fn samples(_: &str) -> Vec<Self> {
        alloc::vec![Self { fence: 2 }]
    }

    fn sample_commands(name: &str) -> Vec<Command> {
        in_sample_run(Self::samples(name))
    }
}

impl Run<EntriesCall<'_>> for OpenRun {
    async fn run(self, with: &EntriesCall<'_>) -> Result<RunReply, Error> {
        runs::open(with.call, with.entries, with.scope, named(with.run)?, self.fence).await
    }
}

/// Stores what the run holds, up to [`MAX_CHECKPOINT_BYTES`](super::MAX_CHECKPOINT_BYTES).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint;

impl Request for Checkpoint {
    type Reply = CheckpointReply;
    const NAME: &'static str = "checkpoint";
    const EFFECT: Effect = Effect::Removes;

    fn samples(_: &str) -> Vec<Self> {
        alloc::vec![Self]
    }

    fn sample_commands(name: &str) -> Vec<Command> {
        in_sample_run(Self::samples(name))
    }
}

impl Run<EntriesCall<'_>> for Checkpoint {
    async fn run(self, with: &EntriesCall<'_>) -> Result<CheckpointReply, Error> {
        runs::checkpoint(with.call, with.entries, with.scope, named(with.run)?).await
    }
}

/// Stores all that the run holds, and ends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloseRun;

impl Request for CloseRun {
    type Reply = CheckpointReply;
    const NAME: &'static str = "close-run";
    const EFFECT: Effect = Effect::Removes;

    fn samples(_: &str) -> Vec<Self> {
        alloc::vec![Self]
    }

    fn sample_commands(name: &str) -> Vec<Command> {
        in_sample_run(Self::samples(name))
    }
}

impl Run<EntriesCall<'_>> for CloseRun {
    async fn run(self, with: &EntriesCall<'_>) -> Result<CheckpointReply, Error> {
        runs::close(with.call, with.entries, with.scope, named(with.run)?).await
    }
}

impl Request for ImportEntries {
    type Reply = ImportReply;
    const NAME: &'static str = "import-entries";
    const EFFECT: Effect = Effect::Removes;

    fn samples(name: &str) -> Vec<Self> {
        let text = Ok(format!("---\ncategory: core\n---\n\nthe text of {name}, imported").into_bytes());
        let file = ImportFile { path: format!("core/{name}.md"), content: text };
        alloc::vec![Self { files: alloc::vec![file], mode: ImportMode::Upsert, dry_run: false, earlier: Vec::new() }]
    }
}

impl Run<EntriesCall<'_>> for ImportEntries {
    async fn run(self, with: &EntriesCall<'_>) -> Result<ImportReply, Error> {
        let provenance = screen::of_files(with.call, with.provenance)?;
        import::import(with.call, with.entries, with.scope, &self, provenance).await
    }
}

impl Request for Hydrate {
    type Reply = HydrateReply;
    const NAME: &'static str = "hydrate";
    const EFFECT: Effect = Effect::Reads;

    fn samples(_: &str) -> Vec<Self> {
        [Policy::Greedy, Policy::Prefix].map(|policy| Self { max_bytes: 1000, policy }).to_vec()
    }
}

impl Run<EntriesCall<'_>> for Hydrate {
    async fn run(self, with: &EntriesCall<'_>) -> Result<HydrateReply, Error> {
        let mut reply = read::hydrate(with.call, with.entries, with.scope, self, with.run).await?;
        reply.entries.iter_mut().for_each(EntryInfo::make_harmless);
        Ok(reply)
    }
}

/// The commands in the run that the samples have open.
fn in_sample_run<R: Into<Command>>(verbs: Vec<R>) -> Vec<Command>
where
    EntriesCommand<R>: Into<Command>,
{
    let in_run = |verb| EntriesCommand { run: Some(SAMPLE_RUN.into()), ..EntriesCommand::new(verb) };
    verbs.into_iter().map(|verb| in_run(verb).into()).collect()
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
