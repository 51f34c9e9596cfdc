//! Runs: what an agent stores in one goes to the disk at a checkpoint, entry by entry.
//!
//! The number of the newest run, its fence, is in a file beside the agent's entries. A run with a lesser one
//! is an old one and writes nothing any more. Each entry is stored on what the run knew of it: what was
//! changed or forgotten meanwhile stays as it is.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Entries;
use super::category::Category;
use super::checks::{Limit, within};
use super::document::{Entry, Fields};
use super::retention::stamp;
use super::scope::EntriesScope;
use super::view::look;
use super::write::{Applied, Base, Removed, StoreState, approves, check_standing, store};
use crate::engine::{Backups, Call, Change, Loaded, load, update};
use crate::protocol::{Error, ErrorCode};
use crate::trust::{ForModel, Screened};

/// How many bytes of keys, contents and categories one checkpoint stores.
pub const MAX_CHECKPOINT_BYTES: u64 = 262_144;

/// How many runs may be open.
pub const MAX_RUNS: usize = 16;

/// How long the name of a run may be, in bytes.
pub const MAX_RUN_BYTES: usize = 255;

/// How many entries a run may hold, those of its conversation and those to be stored.
pub const MAX_HELD: usize = 1_000;

/// A run that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunReply {
    /// The run.
    pub run: String,
    /// Its number.
    pub fence: u64,
    /// All of this for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

/// What became of the entries of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckpointReply {
    /// The keys that were stored.
    pub stored: Vec<String>,
    /// The keys that said it already.
    pub unchanged: Vec<String>,
    /// The keys that were not stored, with the reasons.
    pub skipped: Vec<SkippedEntry>,
    /// The keys that the run still holds, as the checkpoint was full: the next one stores them.
    pub truncated: Vec<String>,
    /// The keys that went as they are too old.
    pub swept: Vec<String>,
    /// The keys that went as there are too many.
    pub evicted: Vec<String>,
    /// All of this for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

/// An entry that was not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedEntry {
    /// Its key.
    pub key: String,
    /// Why.
    pub reason: String,
}

/// An open run.
#[derive(Clone, Debug)]
pub(super) struct Run {
    name: String,
    fence: u64,
    held: Vec<Held>,
}

/// An entry that a run holds.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) entry: Entry,
    /// What was stored when the run first wrote it.
    base: Base,
}

impl Held {
    /// Whether it lives only in the run.
    pub(super) fn is_of_conversation(&self) -> bool {
        self.entry.fields.category == Category::Conversation
    }
}

/// Opens a run, or goes on with it.
pub(super) async fn open(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    name: &str,
    fence: u64,
) -> Result<RunReply, Error> {
    within("run", name.len(), Limit { least: 1, most: MAX_RUN_BYTES })?;
    let is_full = {
        let runs = entries.runs.borrow();
        runs.len() >= MAX_RUNS && !runs.iter().any(|run| run.name == name)
    };
    if is_full {
        let message = format!("{MAX_RUNS} runs are open, the limit is {MAX_RUNS}: 1 too many");
        return Err(Error::new(ErrorCode::TooLarge, message, "close a run first"));
    }
    let change = |bytes: Option<&[u8]>| {
        let newest = read_fence(call, scope, bytes)?;
        check_fence(name, fence, newest)?;
        Ok(match newest {
            Some(newest) if newest == fence => Change::Keep(()),
            _ => Change::Write(Screened::ours(format!("{fence}\n").into_bytes()), ()),
        })
    };
    update(&call.fs, &scope.fence, call.scope.limits.max_file_bytes, Backups::Off, change).await?;
    let mut runs = entries.runs.borrow_mut();
    match runs.iter_mut().find(|run| run.name == name) {
        Some(run) => run.fence = fence,
        None => runs.push(Run { name: name.into(), fence, held: Vec::new() }),
    }
    let message = format!("Opened run {name} with fence {fence}");
    Ok(RunReply { run: name.into(), fence, message: ForModel::escaped(&message) })
}

/// Holds an entry for a run. Those of its conversation cause no operation.
pub(super) async fn hold(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    run: &str,
    fields: Fields,
    base: Base,
) -> Result<(), Error> {
    entries.with_run(run, |_| ())?;
    let (base, before) = if fields.category == Category::Conversation {
        (Base::Any, None)
    } else {
        let view = look(call, entries, scope).await?;
        let known = view.of_key(scope.pool(&fields.category)?.shared, &fields.key).map(|stored| &stored.entry);
        let is_stale = matches!(&base, Base::Version(base) if known.is_none_or(|entry| entry.version != *base));
        let is_forgotten = known.is_some_and(|entry| entry.forgotten.is_some());
        if is_stale || (is_forgotten && base == Base::Any && known.is_some_and(|entry| fields.is_same(&entry.fields))) {
            let message = format!("`{}` is no longer what it was, or was forgotten", fields.key);
            let help = "look at it again; with its version as `base` it can be stored";
            return Err(Error::new(ErrorCode::Contention, message, help));
        }
        let base = known.map_or(Base::Absent, |entry| Base::Version(entry.version.clone()));
        (base, known.map(|entry| (entry.created, entry.updated)))
    };
    let now = call.now.epoch_nanoseconds();
    entries.with_run(run, |run| {
        let newest = run.held.iter().map(|held| held.entry.updated).max();
        let updated = stamp(now, newest.max(before.map(|(_, updated)| updated)));
        let known = run.held.iter().position(|held| held.is_of(&fields));
        if known.is_none() && run.held.len() >= MAX_HELD {
            let message = format!("run {} holds {MAX_HELD} entries, the limit is {MAX_HELD}: 1 too many", run.name);
            return Err(Error::new(ErrorCode::TooLarge, message, "make a checkpoint first"));
        }
        match known.and_then(|place| run.held.get_mut(place)) {
            Some(held) => {
                let mut fields = fields;
                check_standing(&held.entry.fields, &fields)?;
                if !fields.is_same(&held.entry.fields) {
                    held.entry.updated = updated;
                } else if !approves(&held.entry.fields, &fields) {
                    fields.standing = held.entry.fields.standing;
                }
                held.entry.fields = fields;
            }
            None => {
                let created = before.map_or(updated, |(created, _)| created);
                let version = String::new();
                let entry = Entry { fields, owner: None, created, updated, forgotten: None, version };
                run.held.push(Held { entry, base });
            }
        }
        Ok(())
    })?
}

impl Held {
    /// Whether it is what fields would replace: a conversation has keys of its own, and so have the workspace
    /// and the agent.
    fn is_of(&self, fields: &Fields) -> bool {
        let room = |category: &Category| match category {
            Category::Conversation => 0,
            Category::Workspace => 1,
            _ => 2,
        };
        self.entry.fields.key == fields.key && room(&self.entry.fields.category) == room(&fields.category)
    }
}

/// What a run has let go of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dropped {
    pub(super) any: bool,
    /// It was of the conversation, and of nothing else.
    pub(super) only_conversation: bool,
}

/// Lets go of what a run holds under a key, if no newer run has begun.
pub(super) async fn drop_held(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    run: &str,
    key: &str,
) -> Result<Dropped, Error> {
    let is_it = |held: &&Held| held.entry.fields.key == key;
    let dropped = entries.with_run(run, |run| {
        let any = run.held.iter().any(|held| is_it(&held));
        Dropped { any, only_conversation: any && run.held.iter().filter(is_it).all(Held::is_of_conversation) }
    })?;
    if !dropped.only_conversation {
        check_newest(call, entries, scope, run).await?;
    }
    entries.with_run(run, |run| run.held.retain(|held| held.entry.fields.key != key))?;
    Ok(dropped)
}

/// Refuses a run that is not the newest.
async fn check_newest(call: &Call, entries: &Entries, scope: &EntriesScope, run: &str) -> Result<(), Error> {
    let fence = entries.with_run(run, |run| run.fence)?;
    let limit = call.scope.limits.max_file_bytes;
    let newest = match load(&call.fs, &scope.fence, limit).await? {
        Loaded::Absent => None,
        Loaded::Whole { bytes, .. } => read_fence(call, scope, Some(&bytes))?,
        Loaded::TooLarge(size) => return Err(Error::file_too_large(&scope.fence, size, u64::from(limit))),
    };
    check_fence(run, fence, newest)
}

/// Stores what a run holds, as much as fits into one checkpoint.
pub(super) async fn checkpoint(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    run: &str,
) -> Result<CheckpointReply, Error> {
    check_newest(call, entries, scope, run).await?;
    let mut reply = CheckpointReply::default();
    let mut bytes = 0;
    loop {
        let next = entries.with_run(run, |run| run.held.iter().find(|held| !held.is_of_conversation()).cloned())?;
        let Some(held) = next else { break };
        let fields = &held.entry.fields;
        bytes += fields.size();
        if bytes > MAX_CHECKPOINT_BYTES {
            reply.truncated = entries.with_run(run, |run| {
                let left = run.held.iter().filter(|held| !held.is_of_conversation());
                left.map(|held| held.entry.fields.key.clone()).collect()
            })?;
            break;
        }
        let mut base = None;
        match store(call, entries, scope, fields, &held.base).await {
            Ok(Applied { state, version, removed: Removed { swept, evicted }, .. }) => {
                base = Some(Base::Version(version));
                reply.swept.extend(swept);
                // What this very checkpoint has stored may have been the coldest.
                reply.stored.retain(|key| !evicted.contains(key));
                reply.evicted.extend(evicted);
                reply.note(&fields.key, state);
            }
            Err(error) if error.code == ErrorCode::Storage => return Err(error),
            Err(error) => reply.skip(&fields.key, error.message),
        }
        entries.with_run(run, |run| {
            let Some(place) = run.held.iter().position(|known| known.is_of(fields)) else { return };
            match run.held.get_mut(place) {
                // What was stored in the run meanwhile goes on top of what is stored now.
                Some(known) if known.entry != held.entry => known.base = base.unwrap_or_default(),
                _ => drop(run.held.remove(place)),
            }
        })?;
    }
    let counts = [
        ("stored", reply.stored.len()),
        ("unchanged", reply.unchanged.len()),
        ("skipped", reply.skipped.len()),
        ("left for the next checkpoint", reply.truncated.len()),
        ("swept", reply.swept.len()),
        ("evicted", reply.evicted.len()),
    ];
    let counts: Vec<String> = counts.iter().filter(|(_, n)| *n > 0).map(|(what, n)| format!("{n} {what}")).collect();
    reply.message = match counts.as_slice() {
        [] => ForModel::ours("Nothing to store"),
        counts => ForModel::escaped(&counts.join(", ")),
    };
    Ok(reply)
}

/// Stores all that a run holds and ends it; what is of its conversation is gone with it.
pub(super) async fn close(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    run: &str,
) -> Result<CheckpointReply, Error> {
    let mut whole = CheckpointReply::default();
    loop {
        let CheckpointReply { stored, unchanged, skipped, truncated, swept, evicted, message } =
            checkpoint(call, entries, scope, run).await?;
        whole.stored.retain(|key| !evicted.contains(key));
        whole.stored.extend(stored);
        whole.unchanged.extend(unchanged);
        whole.skipped.extend(skipped);
        whole.swept.extend(swept);
        whole.evicted.extend(evicted);
        whole.message = message;
        if truncated.is_empty() {
            break;
        }
    }
    let message = format!("Closed run {run}: {} stored, {} skipped", whole.stored.len(), whole.skipped.len());
    whole.message = ForModel::escaped(&message);
    entries.runs.borrow_mut().retain(|open| open.name != run);
    Ok(whole)
}

impl CheckpointReply {
    fn note(&mut self, key: &str, state: StoreState) {
        match state {
            StoreState::Unchanged => self.unchanged.push(key.into()),
            StoreState::Forgotten => self.skip(key, "it was forgotten during the run".into()),
            StoreState::Conflict => self.skip(key, "it was changed by others during the run".into()),
            _ => self.stored.push(key.into()),
        }
    }

    fn skip(&mut self, key: &str, reason: String) {
        self.skipped.push(SkippedEntry { key: key.into(), reason });
    }
}

impl Entries {
    /// Looks at an open run.
    pub(super) fn with_run<T>(&self, name: &str, look: impl FnOnce(&mut Run) -> T) -> Result<T, Error> {
        let mut runs = self.runs.borrow_mut();
        match runs.iter_mut().find(|run| run.name == name) {
            Some(run) => Ok(look(run)),
            None => {
                let message = format!("no run `{name}` is open");
                Err(Error::new(ErrorCode::NotFound, message, "open it first; a closed run stays closed"))
            }
        }
    }

    /// What a run holds.
    pub(super) fn held(&self, run: Option<&str>) -> Result<Vec<Held>, Error> {
        run.map_or(Ok(Vec::new()), |run| self.with_run(run, |run| run.held.clone()))
    }
}

fn read_fence(call: &Call, scope: &EntriesScope, bytes: Option<&[u8]>) -> Result<Option<u64>, Error> {
    let Some(bytes) = bytes else { return Ok(None) };
    let newest = core::str::from_utf8(bytes).ok().and_then(|text| text.trim().parse().ok());
    let refused = || {
        let message = format!("{} is no number of a run", call.scope.shown(&scope.fence));
        Error::invalid_argument(message, "write the number of the newest run into it, or remove it")
    };
    newest.map(Some).ok_or_else(refused)
}

fn check_fence(run: &str, fence: u64, newest: Option<u64>) -> Result<(), Error> {
    match newest {
        Some(newest) if fence < newest => {
            let message = format!("UZ-RUN-005: run `{run}` has the fence {fence}, a newer one has {newest}");
            Err(Error::new(ErrorCode::StaleFence, message, "an old run writes nothing any more; open a new one"))
        }
        _ => Ok(()),
    }
}
