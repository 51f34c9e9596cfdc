//! The commands of a run: `open-run`, `checkpoint`, which stores what the run holds, and `close-run`, which ends it.

use super::category::{Limit, within};
use super::put::{Applied, store};
use super::room::Removed;
use super::rules::Base;
use super::runs::{check_fence, check_newest, named, read_fence};
use super::scope::EntriesScope;
use super::state::{Entries, EntriesCall, OpenedRun};
use super::types::{SkippedEntry, StoreState};
use crate::changes::{Backups, Call, File};
use crate::request::{Run, request};
use crate::trust::ForModel;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum size of one checkpoint in bytes: keys, contents and categories.
pub const MAX_CHECKPOINT_BYTES: u64 = 262_144;

/// Stores the entries that the run holds, up to [`MAX_CHECKPOINT_BYTES`](super::MAX_CHECKPOINT_BYTES).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint;

/// Result of a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckpointReply {
    /// Keys that were stored.
    pub stored: Vec<String>,
    /// Keys that were stored before with the same text.
    pub unchanged: Vec<String>,
    /// Keys that were not stored, with the reasons.
    pub skipped: Vec<SkippedEntry>,
    /// Keys that the run still holds because the checkpoint was full. The next checkpoint stores them.
    pub truncated: Vec<String>,
    /// Keys of daily entries that were removed because they expired.
    pub swept: Vec<String>,
    /// Keys of entries that were removed because the limit of entries was reached.
    pub evicted: Vec<String>,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

request!(Checkpoint "checkpoint" => CheckpointReply, Removes, needs_run = true, |_| vec![Self]);

impl Run<EntriesCall<'_>> for Checkpoint {
    async fn run(self, with: &EntriesCall<'_>) -> Result<CheckpointReply, Error> {
        checkpoint(with.call, with.entries, with.scope, named(with.run)?).await
    }
}

/// Stores the entries of a run, as many as fit into one checkpoint.
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
                // An entry that this checkpoint stored may be the first to be evicted.
                reply.stored.retain(|key| !evicted.contains(key));
                reply.evicted.extend(evicted);
                reply.note(&fields.key, state);
            }
            Err(error) if error.code == ErrorCode::Storage => return Err(error),
            Err(error) => reply.skip(&fields.key, error.into_message()),
        }
        entries.with_run(run, |run| {
            let Some(place) = run.held.iter().position(|known| known.is_of(fields)) else { return };
            match run.held.get_mut(place) {
                // Text that was stored in the run meanwhile is based on the new version. If nothing was stored, it is
                // based on the version that the run knew.
                Some(known) if known.entry != held.entry => known.base = base.unwrap_or(held.base),
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

/// Maximum number of open runs.
pub const MAX_RUNS: usize = 16;

/// Maximum length of the name of a run in bytes.
pub const MAX_RUN_BYTES: usize = 255;

/// Opens the run that the command names, or continues it with a higher fence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRun {
    /// Fencing number. It must increase with each run of the agent.
    pub fence: u64,
}

/// Result of opening a run.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunReply {
    /// Name of the run.
    pub run: String,
    /// Fencing number of the run.
    pub fence: u64,
    /// Summary for a person or a model. Stored text in it is made harmless.
    pub message: ForModel,
}

request!(OpenRun "open-run" => RunReply, Appends, needs_run = true, |_| vec![Self { fence: 2 }]);

impl Run<EntriesCall<'_>> for OpenRun {
    async fn run(self, with: &EntriesCall<'_>) -> Result<RunReply, Error> {
        let EntriesCall { call, entries, scope, run, .. } = *with;
        let (name, fence) = (named(run)?, self.fence);
        within("run", name.len(), Limit { least: 1, most: MAX_RUN_BYTES })?;
        let is_full = {
            let runs = entries.runs.borrow();
            runs.len() >= MAX_RUNS && !runs.iter().any(|run| run.name == name)
        };
        if is_full {
            let message = format!("{MAX_RUNS} runs are open, the limit is {MAX_RUNS}: 1 too many");
            return Err(Error::new(ErrorCode::Full, message, "close a run first"));
        }
        let change = |file: &File| {
            let newest = read_fence(call, scope, file.bytes())?;
            check_fence(name, fence, newest)?;
            let is_later = newest != Some(fence);
            let later = is_later.then(|| call.screen.rewrite(file, format!("{fence}\n")));
            Ok((later.transpose()?, ()))
        };
        call.update(&scope.fence, Backups::Off, change).await?;
        let mut runs = entries.runs.borrow_mut();
        match runs.iter_mut().find(|run| run.name == name) {
            Some(run) => run.fence = fence,
            None => runs.push(OpenedRun { name: name.into(), fence, held: Vec::new() }),
        }
        let message = format!("Opened run {name} with fence {fence}");
        Ok(RunReply { run: name.into(), fence, message: ForModel::escaped(&message) })
    }
}

/// Stores everything that the run holds, and ends the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloseRun;

request!(CloseRun "close-run" => CheckpointReply, Removes, needs_run = true, |_| vec![Self]);

/// The entries of the conversation are discarded.
impl Run<EntriesCall<'_>> for CloseRun {
    async fn run(self, with: &EntriesCall<'_>) -> Result<CheckpointReply, Error> {
        let EntriesCall { call, entries, scope, .. } = *with;
        let run = named(with.run)?;
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
}
