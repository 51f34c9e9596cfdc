//! `checkpoint`: stores what a run holds, up to a limit.

use super::put::{Applied, store};
use super::room::Removed;
use super::rules::Base;
use super::runs::{check_newest, named};
use super::scope::EntriesScope;
use super::state::{Entries, EntriesCall};
use super::types::{SkippedEntry, StoreState};
use crate::changes::Call;
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
