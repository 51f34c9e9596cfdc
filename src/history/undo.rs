//! `undo`: takes operations back, or makes them again.

use super::expunge::Expunge;
use super::list_operations::{is_by, operations};
use super::log::{History, Recorded};
use super::revert::{Left, Reverted};
use super::types::{OperationInfo, begin_again, check_is_kept};
use super::unmade::read_settled;
use crate::changes::{Call, history_of};
use crate::names::Stores;
use crate::notebook::{InitNotebook, counting_again, remove_empty_template_folders};
use crate::request::{Request, Run, request};
use crate::store::{HistoryFolder, RelPath};
use saddlebag_collections::{
    prelude::*,
    sorted::{SortedMap, SortedSet},
};
use saddlebag_protocol::{Error, ErrorCode, ReadOutcome};

/// Maximum number of sessions that an error names.
const MAX_SESSIONS: usize = 5;

/// Maximum number of operations that a message names.
const MAX_NAMED: usize = 3;

/// Number of bytes in which the first line of the state of a session ends.
const MAX_FIRST_LINE: u32 = 8 << 10;

/// Takes operations back, newest first. The undo is an operation itself. Without a selection it takes back the last operation
/// that is not undone yet, so a second `undo` goes further back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undo {
    /// Identifiers of operations, or beginnings of identifiers.
    pub operations: Vec<String>,
    /// All operations of this session.
    pub session: Option<String>,
    /// All operations by this agent, client, tool or session, or with text of this provenance.
    pub by: Option<String>,
    /// All operations at or after this time, in seconds since 1970-01-01T00:00:00Z. Together with a session or an agent, only
    /// theirs.
    pub since: Option<i64>,
    /// All operations after this one.
    pub after: Option<String>,
    /// If set, only operations of the caller count: of the agent and the client that the origin names, and of its session unless
    /// that has changed nothing.
    pub only_own: bool,
    /// If set, operations that a later change touches, or whose text is gone, are left as they are, and named.
    pub skip_conflicts: bool,
    /// If set, only reports what would be undone or made again.
    pub dry_run: bool,
    /// If set, makes the operations of the last undo again, and takes only `dry_run`.
    pub redo: bool,
}

/// What was undone, or made again.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UndoReply {
    /// Operations that were taken back or made again, newest first.
    pub operations: Vec<OperationInfo>,
    /// Paths of the files that were changed.
    pub files: Vec<String>,
    /// Operations that were left as they are, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedOperation>,
    /// Identifier of this operation; `None` if nothing was changed.
    pub operation: Option<String>,
    /// Summary.
    pub message: String,
}

/// An operation that was not undone.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkippedOperation {
    /// The operation.
    pub operation: OperationInfo,
    /// Reason: the later change at the same place, or why the text cannot come back.
    pub reason: String,
}

request!(Undo "undo" => UndoReply, Removes, |name| {
    let session = Self { session: Some(name.into()), ..Self::default() };
    vec![Self { dry_run: true, ..Self::default() }, session, Self { redo: true, ..Self::default() }]
});

impl Run<Stores<'_>> for Undo {
    async fn run(self, with: &Stores<'_>) -> Result<UndoReply, Error> {
        if self.redo {
            let Self { dry_run, .. } = self;
            if self != (Self { redo: true, dry_run, ..Self::default() }) {
                let help = "leave the rest out: `redo` makes the operations of the last undo again";
                return Err(Error::invalid_argument("`redo` takes only `dry_run`", help));
            }
            return begin_again(with.call, || redo(with, dry_run)).await;
        }
        begin_again(with.call, || self.attempt(with)).await
    }
}

impl Undo {
    /// Undoes operations, unless others add to the history meanwhile.
    async fn attempt(&self, with: &Stores<'_>) -> Result<UndoReply, Error> {
        let call = with.call;
        check_is_kept(call)?;
        if !self.only_own {
            call.scope.trust.check_person("undo what others did")?;
        }
        let selects = self.session.is_some() || self.by.is_some() || self.since.is_some() || self.after.is_some();
        if !self.operations.is_empty() && selects {
            let message = "operations are named and selected at the same time";
            return Err(Error::invalid_argument(message, "name operations, or select them by session, agent or time"));
        }
        let history = read_settled(with, self.dry_run).await?;
        // A server without state has a new session for each request; then agent and client say whose operation it is.
        let session = call.writer.session.as_ref();
        let is_of = |recorded: &Recorded| recorded.record.writer.session.as_ref() == session;
        let session = session.filter(|_| history.records.iter().any(is_of));
        let is_own = |recorded: &Recorded| is_own(call, recorded) && (session.is_none() || is_of(recorded));
        let mut all = operations(with, &history, &|recorded, _| !self.only_own || is_own(recorded));
        all.reverse();
        let untied = match &self.session {
            Some(session) if !self.only_own => untied(call, &all, &history, session).await?,
            _ => String::new(),
        };
        let last_made = last_made(&all);
        let mut selected = match () {
            () if !self.operations.is_empty() => self.named(&history, &all)?,
            () => {
                let after = self.after.as_deref().map(|given| history.operation(given)).transpose()?;
                self.selected(&history, all, after)
            }
        };
        // Without a selection one operation is undone: the last of which something is left.
        let is_last = self.operations.is_empty() && !selects;
        if is_last {
            saddlebag_collections::order::sort_slice(&mut selected, |a, b| {
                place(&last_made, a).cmp(&place(&last_made, b))
            });
            begin_with_last(&history, &mut selected);
        }
        let mut reverted = Reverted::new(&history);
        let mut taken = Vec::new();
        let mut skipped: Vec<SkippedOperation> = Vec::new();
        let mut first_error = None;
        for info in selected {
            let may_be_left = is_last || self.skip_conflicts;
            let refusal = format!("operation {} cannot be undone", info.operation);
            let left = match reverted.take_back(with, &history, &info.operation, may_be_left, &refusal).await {
                Err(error) if self.skip_conflicts && is_lasting(error.code) => {
                    skipped.push(SkippedOperation { operation: info, reason: error.message.clone() });
                    first_error = first_error.or(Some(error));
                    continue;
                }
                Err(error) if is_last && is_lasting(error.code) && error.code != ErrorCode::Conflict => {
                    let help = "a person can leave it as it is with `undo --skip-conflicts`";
                    return Err(Error::new(error.code, error.into_message(), help));
                }
                left => left?,
            };
            // What others have taken back counts as undone from now on.
            if left > Left::Unmade {
                taken.push(info);
                if is_last {
                    break;
                }
            }
        }
        if taken.is_empty() {
            return Err(first_error.unwrap_or_else(|| self.nothing(&history)));
        }
        // Taking an undo back makes again what it undid.
        let undoes = taken.iter().filter(|info| info.undoes.is_empty()).map(|info| info.operation.clone()).collect();
        let redoes = taken.iter().flat_map(|info| info.undoes.iter().cloned()).collect();
        let took = Took { words: ["Undid", "would undo"], undoes, redoes, skipped };
        let reply = finish(with, &history, reverted, taken, took, self.dry_run).await?;
        Ok(UndoReply { message: reply.message + &untied, ..reply })
    }

    /// Returns the error that there is nothing to undo, with the sessions whose names begin as the one that is wanted.
    fn nothing(&self, history: &History) -> Error {
        let Some(wanted) = &self.session else {
            if let Some(by) = &self.by {
                let message = format!("no operation by `{}` is left to undo", by.escape_debug());
                return Error::new(ErrorCode::NotFound, message, "`op log` lists the operations, and who made them");
            }
            return Error::new(ErrorCode::NotFound, "there is nothing to undo", "`op log` lists the operations");
        };
        let sessions = history.records.iter().filter_map(|recorded| recorded.record.writer.session.as_deref());
        // An agent learns no names of others.
        let is_alike = |session: &&str| !self.only_own && session.starts_with(wanted.as_str());
        let alike: SortedSet<&str> = sessions.filter(is_alike).collect();
        let help = if alike.is_empty() {
            "`op show OPERATION` names the session of an operation".to_string()
        } else if alike.contains(&wanted.as_str()) {
            "`op log` lists what is undone; `redo` makes the last undone operation again".to_string()
        } else {
            let alike: Vec<String> = alike.iter().take(MAX_SESSIONS).map(|session| format!("`{session}`")).collect();
            format!("give a whole name: {}", alike.join(", "))
        };
        let message = format!("no operation of a session named `{}` is left to undo", wanted.escape_debug());
        Error::new(ErrorCode::NotFound, message, help)
    }

    /// Returns the named operations, newest first.
    fn named(&self, history: &History, all: &[OperationInfo]) -> Result<Vec<OperationInfo>, Error> {
        let mut named = Vec::new();
        for given in &self.operations {
            let operation = history.operation(given)?;
            match all.iter().find(|info| info.operation == operation) {
                Some(info) if info.undone => {
                    let message = format!("operation {operation} is already undone");
                    return Err(Error::invalid_argument(message, "`redo` makes the last undone operation again"));
                }
                Some(_) => named.push(operation),
                None => {
                    let message = format!("operation {operation} is not one of yours");
                    return Err(Error::new(ErrorCode::NotPermitted, message, "ask a person to undo it"));
                }
            }
        }
        Ok(all.iter().filter(|info| named.contains(&info.operation.as_str())).cloned().collect())
    }

    /// Returns the operations of the session, the writer and the time, newest first.
    fn selected(&self, history: &History, all: Vec<OperationInfo>, after: Option<&str>) -> Vec<OperationInfo> {
        let since = self.since.map(|seconds| seconds.saturating_mul(1_000_000_000));
        let is_of = |wanted: &Option<String>, name: &Option<String>| wanted.is_none() || wanted == name;
        let is_late = |info: &OperationInfo| {
            let time = history.records_of(&info.operation).next().map(|recorded| recorded.record.time_ns);
            since.is_none_or(|since| time.is_some_and(|time| time >= since))
        };
        all.into_iter()
            .take_while(|info| after.is_none_or(|after| info.operation != after))
            .filter(|info| {
                // What was expunged cannot come back.
                let is_change = info.undoes.is_empty()
                    && info.redoes.is_empty()
                    && !info.files.is_empty()
                    && info.command != Expunge::NAME
                    // The beginning of a session only notes who got a hand-off.
                    && info.command != "begin-session";
                is_change
                    && !info.undone
                    && is_of(&self.session, &info.session)
                    && self.by.as_deref().is_none_or(|by| is_by(info, by))
                    && is_late(info)
            })
            .collect()
    }
}

/// Makes the operations of the last undo again, unless others add to the history meanwhile. A second redo makes those of the
/// undo before it again.
async fn redo(with: &Stores<'_>, dry_run: bool) -> Result<UndoReply, Error> {
    let call = with.call;
    check_is_kept(call)?;
    call.scope.trust.check_person("make again what was undone")?;
    let history = read_settled(with, dry_run).await?;
    let undone = history.undone();
    let is_in_force = |info: &OperationInfo| info.undoes.iter().any(|operation| undone.contains(&operation.as_str()));
    let all = operations(with, &history, &|_, _| true);
    let mut reverted = Reverted::new(&history);
    let mut skipped: Vec<SkippedOperation> = Vec::new();
    let mut first_error = None;
    for undo in all.iter().rev().filter(|info| is_in_force(info)) {
        let named: Vec<&str> = undo.undoes.iter().map(String::as_str).take(MAX_NAMED).collect();
        let refusal = format!("operation {} cannot be made again", named.join(", "));
        let left = match reverted.take_back(with, &history, &undo.operation, true, &refusal).await {
            // What was expunged or rejected for good since cannot come back, and must not keep the undo before it.
            Err(error) if is_lasting(error.code) && error.code != ErrorCode::Conflict => {
                let undone = all.iter().filter(|info| undo.undoes.contains(&info.operation)).cloned();
                let reason = |info| SkippedOperation { operation: info, reason: error.message.clone() };
                skipped.extend(undone.map(reason));
                first_error = first_error.or(Some(error));
                continue;
            }
            // Undoing the later change would make that the next one to redo, and take the newer text away.
            Err(error) if error.code == ErrorCode::Conflict => {
                let help = "leave the file as it is, or look for the version that you want with `history NAME` and bring it \
                            back with `restore NAME --at N`";
                return Err(Error::new(error.code, error.into_message(), help));
            }
            left => left?,
        };
        if left == Left::Something {
            let redoes = undo.undoes.clone();
            let made = all.iter().rev().filter(|info| redoes.contains(&info.operation)).cloned().collect();
            let took = Took { words: ["Made again", "would make again"], undoes: Vec::new(), redoes, skipped };
            return finish(with, &history, reverted, made, took, dry_run).await;
        }
    }
    let nothing = || Error::new(ErrorCode::NotFound, "there is nothing to redo", "`op log` lists the operations");
    Err(first_error.unwrap_or_else(nothing))
}

/// Returns the words about changes that tools of ours made through another program while a session ran, and that no session was
/// recorded for.
async fn untied(call: &Call, all: &[OperationInfo], history: &History, session: &str) -> Result<String, Error> {
    let time = |info: &OperationInfo| history.records_of(&info.operation).next().map(|found| found.record.time_ns);
    let own = all.iter().filter(|info| info.session.as_deref() == Some(session)).filter_map(time);
    let began = call.fs.read(&call.session_state(session)?, 0, MAX_FIRST_LINE).await.ok();
    let began = began.and_then(|read| match read {
        ReadOutcome::Content(found) => {
            let line = found.bytes.split(|byte| *byte == b'\n').next().map(serde_json::from_slice::<FirstLine>);
            Some(line?.ok()?.at.saturating_mul(1_000_000_000))
        }
        ReadOutcome::Absent => None,
    });
    let times: Vec<i64> = own.chain(began).collect();
    let (Some(first), Some(last)) = (times.iter().min(), times.iter().max()) else { return Ok(String::new()) };
    let is_ours = |tool: &str| ["mem_", "memory_", "notebook_"].iter().any(|start| tool.starts_with(start));
    let is_untied = |info: &&OperationInfo| {
        let is_loose = !info.undone && info.undoes.is_empty() && !history.sessions.contains_key(&info.operation);
        is_loose && info.session.as_deref() != Some(session) && info.tool.as_deref().is_some_and(is_ours)
    };
    let found: Vec<&str> = all
        .iter()
        .filter(is_untied)
        .filter(|info| time(info).is_some_and(|time| (first..=last).contains(&&time)))
        .map(|info| info.operation.as_str())
        .collect();
    let named = found.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = if found.len() > MAX_NAMED { ", …" } else { "" };
    Ok(match found.len() {
        0 => String::new(),
        1 => format!("; 1 change over MCP at that time is not part of it, as no hook named its session: {named}"),
        count => format!(
            "; {count} changes over MCP at that time are not part of it, as no hook named their session: {named}{more}"
        ),
    })
}

/// First line of the state of a session.
#[derive(serde::Deserialize)]
struct FirstLine {
    at: i64,
}

/// Returns the places of operations, newest first. One that was made again has the place of that.
fn last_made(all: &[OperationInfo]) -> SortedMap<String, usize> {
    let mut places: SortedMap<String, usize> = SortedMap::default();
    for (place, info) in all.iter().enumerate().rev() {
        for operation in core::iter::once(&info.operation).chain(&info.redoes) {
            places.insert(operation.clone(), place);
        }
    }
    places
}

/// Moves the first operation to the front that nothing else of these has changed the files of since: a long operation, such as an
/// import, may end after another one has changed its files.
fn begin_with_last(history: &History, selected: &mut [OperationInfo]) {
    let names: SortedSet<&str> = selected.iter().map(|info| info.operation.as_str()).collect();
    let mut last: SortedMap<&RelPath, &str> = SortedMap::default();
    for recorded in &history.records {
        let operation = recorded.record.operation.as_str();
        for path in recorded.paths.iter().flatten().filter(|_| names.contains(&operation)) {
            last.insert(path, operation);
        }
    }
    let is_last = |info: &OperationInfo| {
        let records = history.records_of(&info.operation);
        let mut paths = records.flat_map(|recorded| recorded.paths.iter().flatten());
        paths.all(|path| last.get(&path).is_some_and(|operation| *operation == info.operation))
    };
    if let Some(first) = selected.iter().position(is_last).and_then(|first| selected.get_mut(..=first)) {
        first.rotate_right(1);
    }
}

fn place(places: &SortedMap<String, usize>, info: &OperationInfo) -> usize {
    places.get(&info.operation).copied().unwrap_or(usize::MAX)
}

/// Returns true if an operation cannot be undone: a later change touches it, or its text was expunged or rejected for good.
fn is_lasting(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::Conflict | ErrorCode::NotFound | ErrorCode::Rejected)
}

/// Returns true if the agent and the client of the command made a record.
fn is_own(call: &Call, recorded: &Recorded) -> bool {
    let (recorded, writer) = (&recorded.record.writer, &call.writer);
    recorded.agent == call.recorded_agent() && recorded.client == writer.client
}

/// What was done with operations.
struct Took {
    /// Words for it: as done, and as something that a dry run would do.
    words: [&'static str; 2],
    /// Operations that were taken back.
    undoes: Vec<String>,
    /// Operations that were made again.
    redoes: Vec<String>,
    /// Operations that were left as they are.
    skipped: Vec<SkippedOperation>,
}

/// Changes the files, and reports what was taken back.
async fn finish(
    with: &Stores<'_>,
    history: &History,
    reverted: Reverted<'_>,
    taken: Vec<OperationInfo>,
    Took { words: [done, would], undoes, redoes, skipped }: Took,
    dry_run: bool,
) -> Result<UndoReply, Error> {
    let call = with.call;
    let folder = reverted.folder()?;
    if !dry_run {
        // Of several who undo at once, each takes another operation.
        call.claim_log(&folder, |log| history.size_of(log)).await?;
    }
    let superseded = reverted.superseded(call);
    let changes = reverted.changes(with)?;
    let files: Vec<String> = changes.iter().map(|change| call.scope.display_path(change.path())).collect();
    let mut operation = None;
    let mut again = String::new();
    if dry_run {
        call.check_all_rejected(&changes).await?;
    } else if changes.is_empty() {
        operation = call.record_undo(&folder, undoes, redoes).await?;
    } else {
        // An operation that changed no file of these folders is named in each.
        let changed: Vec<HistoryFolder> =
            changes.iter().map(|change| history_of(change.path())).collect::<Result<_, _>>()?;
        let is_of = |operation: &String, folder: &HistoryFolder| {
            let folders = history.folders_of(operation);
            folders.contains(folder) || !folders.iter().any(|folder| changed.contains(folder))
        };
        let of = |operations: &[String], folder: &HistoryFolder| {
            operations.iter().filter(|operation| is_of(operation, folder)).cloned().collect()
        };
        let undone = |folder: &HistoryFolder| [of(&undoes, folder), of(&redoes, folder)];
        operation = call.apply_all(changes, undone).await?;
        again = counting_again(call, with.notebook, &superseded).await;
        if taken.iter().any(|info| info.command == InitNotebook::NAME) {
            remove_empty_template_folders(call).await?;
        }
    }
    let name = |info: &OperationInfo| info.tool.clone().unwrap_or_else(|| info.command.clone());
    let what: Vec<String> =
        taken.iter().take(MAX_NAMED).map(|info| format!("{} ({})", info.operation, name(info))).collect();
    let more = taken.len().saturating_sub(what.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let done = if dry_run { format!("Dry run, nothing is changed: {would}") } else { done.to_string() };
    let left = match skipped.len() {
        0 => String::new(),
        1 => "; 1 operation is left as it is".to_string(),
        count => format!("; {count} operations are left as they are"),
    };
    let message = format!("{done} {}{more}: {}{again}{left}", what.join(", "), told(&files));
    Ok(UndoReply { operations: taken, files, skipped, operation, message })
}

fn told(files: &[String]) -> String {
    match files {
        [] => "no file had to change".to_string(),
        [file] => file.clone(),
        several => format!("{} files", several.len()),
    }
}
