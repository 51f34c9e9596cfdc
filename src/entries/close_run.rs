//! `close-run`: stores everything that a run holds, and ends the run.

use super::checkpoint::{CheckpointReply, checkpoint};
use super::runs::named;
use super::state::EntriesCall;
use crate::request::{Run, request};
use crate::trust::ForModel;
use saddlebag_protocol::Error;

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
