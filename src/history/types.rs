//! Types and functions that the commands about the history share.

use saddlebag_collections::{prelude::*, words};
use saddlebag_log::{Change, Record, State};

use crate::changes::Call;
use crate::entries::Entries;
use crate::store::{Layout, RelPath, rfc3339};
use crate::trust::Provenance;
use saddlebag_protocol::{Error, ErrorCode};

/// Default number of operations or versions in a reply.
pub const DEFAULT_HISTORY_ITEMS: u32 = 50;

/// Maximum number of operations or versions in a reply.
pub const MAX_HISTORY_ITEMS: u32 = 10_000;

/// Minimum number of digits that mean an operation. Fewer may be a number of something else.
pub const MIN_OPERATION_DIGITS: usize = 4;
/// What a change did to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// The file is new.
    Created,
    /// The file has other bytes.
    Changed,
    /// The file is gone.
    Removed,
    /// The file was at another path before.
    Moved,
}

words!(ChangeKind, "kind of a change" { Created = "created", Changed = "changed", Removed = "removed", Moved = "moved" });

/// A file that an operation changed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileChange {
    /// Path of the file.
    pub path: String,
    /// What happened to it.
    pub kind: ChangeKind,
    /// Path before a move.
    pub moved_from: Option<String>,
    /// Size before, in bytes; 0 if the file did not exist.
    pub before: u64,
    /// Size after, in bytes; 0 if the file does not exist.
    pub after: u64,
}

/// An operation: one command, with everything that it changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationInfo {
    /// Identifier of the operation.
    pub operation: String,
    /// Time of the change, as RFC 3339 in the local time of the writer.
    pub time: String,
    /// Name of the command.
    pub command: String,
    /// Provenance of the text: `user`, `agent`, `tool` or `import`.
    pub provenance: String,
    /// Agent that gave the command.
    pub agent: Option<String>,
    /// Client program.
    pub client: Option<String>,
    /// Session of the client.
    pub session: Option<String>,
    /// Tool.
    pub tool: Option<String>,
    /// Reason that was given.
    pub reason: Option<String>,
    /// True if a later operation has undone it.
    pub undone: bool,
    /// Operations that it undid.
    pub undoes: Vec<String>,
    /// Operations that it made again.
    pub redoes: Vec<String>,
    /// Files that it changed, in the order of the changes.
    pub files: Vec<FileChange>,
}

/// Returns what a record did to a file; `None` if nothing, which a snapshot records.
pub(super) fn file_change(call: &Call, path: &RelPath, change: &Change) -> Option<FileChange> {
    let kind = match (change.before, change.after) {
        _ if change.moved_from.is_some() => ChangeKind::Moved,
        (before, after) if before == after => return None,
        (State::Absent, _) => ChangeKind::Created,
        (_, State::Absent) => ChangeKind::Removed,
        _ => ChangeKind::Changed,
    };
    let folder = Layout::history_of(path).ok();
    let moved_from = change.moved_from.as_ref().and_then(|from| folder?.absolute(from));
    Some(FileChange {
        path: call.scope.display_path(path),
        kind,
        moved_from: moved_from.map(|from| call.scope.display_path(&from)),
        before: change.before_size,
        after: change.after_size,
    })
}

/// Returns the operation of a record, without files. A memory that is not opened for a person learns nothing of other agents.
pub(super) fn operation_info(call: &Call, entries: &Entries, record: &Record) -> OperationInfo {
    let writer = &record.writer;
    let is_person = call.scope.trust.provenance == Provenance::User;
    let is_shown = is_person || writer.agent.is_none() || writer.agent == entries.agent().ok();
    let name = |name: &Option<String>| name.clone().filter(|_| is_shown);
    OperationInfo {
        operation: record.operation.clone(),
        time: rfc3339(record.time_ns.div_euclid(1_000_000), record.utc_offset_seconds),
        command: record.command.clone(),
        provenance: writer.provenance.clone(),
        agent: name(&writer.agent),
        client: name(&writer.client),
        session: name(&writer.session),
        tool: name(&writer.tool),
        reason: name(&record.reason),
        undone: false,
        undoes: record.undoes.clone(),
        redoes: record.redoes.clone(),
        files: Vec::new(),
    }
}

/// Refuses the history of a memory that keeps none.
pub(super) fn check_is_kept(call: &Call) -> Result<(), Error> {
    match call.recorder {
        Some(_) => Ok(()),
        None => {
            let message = "this memory keeps no history";
            Err(Error::new(ErrorCode::NotPermitted, message, "open it with the name of a machine (`config.machine`)"))
        }
    }
}

/// Returns the error for a version whose content the history does not have.
pub(super) fn not_kept(path: &str, why: impl core::fmt::Display) -> Error {
    let message = format!("the history does not have this version of {path}: {why}");
    Error::new(ErrorCode::NotFound, message, "`history` lists the versions, and says which are kept")
}

/// Maximum number of times that a change of the history is begun while others change it.
const MAX_ATTEMPTS: u32 = 64;

/// Returns true if something was recorded a moment ago.
pub(super) fn is_recent(call: &Call, record: &Record) -> bool {
    call.is_recent(record.time_ns.max(0).unsigned_abs())
}

/// Begins a change again while others change the history or the files, and nothing of it is recorded.
pub(super) async fn begin_again<T, Attempt: Future<Output = Result<T, Error>>>(
    call: &Call,
    attempt: impl Fn() -> Attempt,
) -> Result<T, Error> {
    let mut attempts = 1;
    loop {
        match attempt().await {
            Err(error)
                if error.code == ErrorCode::Contention && attempts < MAX_ATTEMPTS && call.has_recorded_nothing() =>
            {
                attempts += 1;
            }
            Err(error) if error.code == ErrorCode::Contention && call.has_recorded_nothing() => {
                let message =
                    format!("others changed the history {attempts} times in a row meanwhile; nothing was changed");
                return Err(Error::new(ErrorCode::Contention, message, "try again when they are done"));
            }
            done => return done,
        }
    }
}
