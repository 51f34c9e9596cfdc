//! [`Recorder`]: the operation of a command in the history. [`HistoryPolicy`]: what is kept of it.

use atomic_refcell::AtomicRefCell;
use saddlebag_log::State;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::written::WrittenLogs;
use crate::store::{HistoryFolder, RelPath};
use crate::trust::HostSecret;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Precondition;

/// Default age in days after which the log of a month is removed.
const DEFAULT_MAX_AGE_DAYS: u32 = 730;

/// Default size of the logs of one machine and one scope, in bytes, above which the oldest months are removed.
const DEFAULT_MAX_BYTES: u64 = 256 << 20;

/// The operation of a command, to which its changes belong in the history.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// Name of this machine, which is the writer of the log.
    pub(crate) machine: String,
    /// Agent that the memory was opened for.
    pub(crate) agent: Option<String>,
    /// Name of the command.
    pub(crate) command: &'static str,
    /// Who gave the command; `None` if it is the call of this recorder.
    pub(crate) writer: Option<saddlebag_log::Writer>,
    pub(crate) reason: Option<String>,
    /// Number that no other command of the store has, except one of a host that repeats its epochs.
    pub(crate) seed: [u64; 2],
    /// Key of the host, for digests that nobody else can compute.
    pub(crate) secret: Option<HostSecret>,
    /// Logs that the memory wrote last.
    pub(crate) written: Arc<AtomicRefCell<WrittenLogs>>,
    pub(crate) state: AtomicRefCell<Progress>,
}

/// What a recorder knows of its operation.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Identifier of the operation; `None` until the first change.
    pub(crate) operation: Option<String>,
    /// True if the host gave the identifier.
    pub(crate) is_given: bool,
    /// Operations that this one undoes.
    pub(crate) undoes: Vec<String>,
    /// Operations that this one makes again.
    pub(crate) redoes: Vec<String>,
    /// Reason in place of the one that was given.
    pub(crate) reason: Option<String>,
    /// Policy of the store; `None` until it is read.
    pub(crate) policy: Option<HistoryPolicy>,
    /// Logs that have a record of this operation.
    pub(crate) logs: Vec<RelPath>,
    /// Log that the next record goes to, and its condition; `None` if the record may come after any other.
    pub(crate) claim: Option<(RelPath, Precondition)>,
    /// Files that a move removes next, as they are then. The record of their new files has their removal too.
    pub(crate) moved: Vec<(RelPath, State)>,
    /// Folders in which nothing is left of an operation that was interrupted.
    pub(crate) completed: Vec<HistoryFolder>,
}

impl Recorder {
    /// Returns the identifier of the operation. A command that runs again with the same clock and the same keys finds
    /// another log, so the log's size tells the two apart.
    pub(super) fn operation(&self, log_size: u64) -> String {
        let mut state = self.state.borrow_mut();
        let made = || {
            let [epoch, command] = self.seed;
            let seed = format!("{} {epoch} {command} {log_size}", self.machine);
            Sha256::digest(seed.as_bytes()).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
        };
        state.operation.get_or_insert_with(made).clone()
    }

    /// Returns the recorder of another operation, which this command finishes for its writer.
    pub(super) fn of_operation(
        &self,
        operation: String,
        command: &'static str,
        writer: Option<saddlebag_log::Writer>,
    ) -> Self {
        let known = self.state.borrow();
        let state = Progress {
            operation: Some(operation),
            is_given: true,
            policy: known.policy,
            completed: known.completed.clone(),
            ..Progress::default()
        };
        Self {
            machine: self.machine.clone(),
            agent: self.agent.clone(),
            command,
            writer,
            reason: None,
            seed: self.seed,
            secret: self.secret.clone(),
            written: self.written.clone(),
            state: AtomicRefCell::new(state),
        }
    }

    /// Says which operations this one undoes, and which it makes again.
    pub(super) fn set_undone(&self, undoes: Vec<String>, redoes: Vec<String>) {
        let mut state = self.state.borrow_mut();
        (state.undoes, state.redoes) = (undoes, redoes);
    }

    /// Returns true if a log has a record of the operation.
    pub(super) fn has_recorded(&self) -> bool {
        !self.state.borrow().logs.is_empty()
    }

    /// Begins another operation, because nothing of this one was done.
    pub(super) fn begin_again(&self) {
        let mut state = self.state.borrow_mut();
        state.logs.clear();
        if !state.is_given {
            state.operation = None;
        }
    }

    /// Returns the condition of the next record, if it is for this log. It holds for one record.
    pub(super) fn claimed(&self, log: &RelPath) -> Option<Precondition> {
        let claim = self.state.borrow_mut().claim.take();
        claim.filter(|(claimed, _)| claimed == log).map(|(_, condition)| condition)
    }

    /// Returns true if this is the first record of the operation in a log.
    pub(super) fn is_first_in(&self, log: &RelPath) -> bool {
        let mut state = self.state.borrow_mut();
        let is_first = !state.logs.contains(log);
        if is_first {
            state.logs.push(log.clone());
        }
        is_first
    }
}

/// Policy of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct HistoryPolicy {
    /// True if changes are recorded.
    pub(crate) record: bool,
    /// Age in days after which the log of a month is removed.
    pub(crate) max_age_days: u32,
    /// Size in bytes above which the oldest months are removed.
    pub(crate) max_log_bytes: u64,
}

impl Default for HistoryPolicy {
    fn default() -> Self {
        Self { record: true, max_age_days: DEFAULT_MAX_AGE_DAYS, max_log_bytes: DEFAULT_MAX_BYTES }
    }
}
