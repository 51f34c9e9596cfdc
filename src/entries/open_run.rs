//! `open-run`: opens a run, or continues it with a higher fence.

use super::limits::{Limit, within};
use super::runs::{check_fence, named, read_fence};
use super::state::{EntriesCall, OpenedRun};
use crate::changes::{Backups, File};
use crate::request::{Run, request};
use crate::trust::ForModel;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

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
