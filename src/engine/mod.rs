//! The engine: runs commands as tasks, mints context keys, routes results.
//!
//! A command is an `async fn` over [`Fs`]. Awaiting an operation puts it in the command's mailbox;
//! [`Engine::handle_result`] completes it. A task is polled again when *all* the operations that it
//! has asked for are answered, so it cannot see in which order they were: the same commands and
//! results give the same bytes, whatever the host runs in parallel.
//!
//! The executor is single-threaded and deterministic. Nothing else in the crate knows that requests
//! and results exist.

mod files;
mod mailbox;
mod scope;
mod validate;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use atomic_refcell::AtomicRefCell;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

use crate::protocol::{
    AppendOutcome, CommandId, ContextKey, Error, ErrorCode, Finished, FsError, FsOp, FsOutcome, FsRequest, FsResult,
    ProtocolError, RemoveOutcome, RenameOutcome, Step, WriteOutcome,
};
use crate::sorted::{SortedMap, SortedSet};
use mailbox::{Mailbox, Slot};

pub(crate) use files::{
    Backup, Backups, Change, Loaded, append, append_computed, create, finish_backup, load, load_all, remove,
    remove_version, rename, replace, update, write_cache, write_version,
};
pub(crate) use mailbox::Fs;
pub(crate) use scope::{Call, Scope};

/// What an engine takes at once. The host's own limits come on top of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest file that is read whole, and the largest answer to one read, in bytes.
    pub max_file_bytes: u32,
    /// How many entries one page of a listing may have.
    pub max_list_entries: u32,
    /// How many requests may be owed a result at once.
    pub max_requests: u32,
    /// How many commands may be in flight.
    pub max_commands: u32,
    /// How many bytes of text the search index keeps; files beyond are reported as skipped.
    pub max_index_bytes: u64,
}

impl Default for Limits {
    /// 16 MiB a file, 16,384 entries a page, 256 requests, 64 commands, 256 MiB of indexed text.
    fn default() -> Self {
        Self {
            max_file_bytes: 16 << 20,
            max_list_entries: 16_384,
            max_requests: 256,
            max_commands: 64,
            max_index_bytes: 256 << 20,
        }
    }
}

/// The folder of the index, below the root or a project.
const INDEX_FOLDER: &str = ".saddlebag";

/// How many commands that ended are remembered.
const MAX_ENDED: usize = 4_096;

/// The commands in flight and the requests that are owed a result.
pub(crate) struct Engine<R> {
    epoch: u64,
    limits: Limits,
    last_command: Option<CommandId>,
    /// Their ids grow.
    tasks: Vec<(CommandId, Task<R>)>,
    owed: SortedMap<String, Owed>,
    /// The last commands that ended, with the name and the number of requests of each: it tells a key that was
    /// used from one that was never issued.
    ended: VecDeque<(CommandId, &'static str, u32)>,
    /// Keys of cancelled commands: their results are taken and ignored, once each.
    abandoned: SortedSet<String>,
}

struct Task<R> {
    operation: &'static str,
    future: Pin<Box<dyn Future<Output = Result<R, Error>> + Send>>,
    mailbox: Arc<AtomicRefCell<Mailbox>>,
    requests_made: u32,
    in_flight: u32,
    /// An operation of it has changed the store, or may have.
    has_changed: bool,
}

struct Owed {
    command: CommandId,
    slot: Slot,
    op: FsOp,
}

impl<R: 'static> Engine<R> {
    pub(crate) fn new(epoch: u64, limits: Limits) -> Self {
        Self {
            epoch,
            limits,
            last_command: None,
            tasks: Vec::new(),
            owed: SortedMap::default(),
            ended: VecDeque::new(),
            abandoned: SortedSet::default(),
        }
    }

    /// Starts a command. `operation` names it in its context keys.
    pub(crate) fn start<F>(
        &mut self,
        id: CommandId,
        operation: &'static str,
        command: impl FnOnce(Fs) -> F,
    ) -> Result<Step<R>, ProtocolError>
    where
        F: Future<Output = Result<R, Error>> + Send + 'static,
    {
        if let Some(last) = self.last_command
            && id <= last
        {
            return Err(ProtocolError::CommandIdNotNew { given: id.0, last: last.0 });
        }
        if self.tasks.len() >= self.limits.max_commands as usize {
            return Err(ProtocolError::TooManyCommands(self.limits.max_commands));
        }
        self.last_command = Some(id);
        let fs = Fs::default();
        let mailbox = fs.mailbox.clone();
        let future = Box::pin(command(fs));
        self.tasks.push((id, Task { operation, future, mailbox, requests_made: 0, in_flight: 0, has_changed: false }));
        Ok(self.advance(id))
    }

    /// Takes the result of a request.
    pub(crate) fn handle_result(&mut self, result: FsResult) -> Result<Step<R>, ProtocolError> {
        if self.abandoned.remove(&result.key) {
            return Ok(self.emit(Step::default()));
        }
        let Some(owed) = self.owed.get(&result.key) else {
            return Err(self.refuse(result.key));
        };
        if let Err(reason) = validate::outcome(&owed.op, &result.outcome, &self.limits) {
            return Err(ProtocolError::InvalidResult { key: result.key, reason });
        }
        let Some(owed) = self.owed.remove(&result.key) else {
            return Err(ProtocolError::UnknownKey(result.key));
        };
        if let Some(task) = self.task(owed.command) {
            task.in_flight = task.in_flight.saturating_sub(1);
            task.has_changed |= match &result.outcome {
                Ok(outcome) => changes(&owed.op, outcome),
                // The change is made, and only a power cut can undo it.
                Err(error) => matches!(error, FsError::NotDurable(_)),
            };
            task.mailbox.borrow_mut().answer(owed.slot, result.outcome);
        }
        Ok(self.advance(owed.command))
    }

    /// Gives a command up. It finishes as cancelled. A result is still owed for each of its requests: until it
    /// comes, the request counts towards the limit.
    pub(crate) fn cancel(&mut self, id: CommandId) -> Step<R> {
        let mut step = Step::default();
        if self.task(id).is_some() {
            self.end(id);
            let keys = self.owed.iter().filter(|(_, owed)| owed.command == id).map(|(key, _)| key.clone());
            self.abandoned.extend(keys);
            self.owed.retain(|_, owed| owed.command != id);
            let help = "what was written before stays; run the command again to finish it";
            let outcome = Err(Error::new(ErrorCode::Cancelled, "cancelled", help));
            step.finished.push(Finished { id, outcome });
        }
        // What it was owed still counts towards the limit: no other request can go out instead.
        step
    }

    fn task(&mut self, id: CommandId) -> Option<&mut Task<R>> {
        self.tasks.iter_mut().find(|task| task.0 == id).map(|(_, task)| task)
    }

    fn end(&mut self, id: CommandId) {
        if let Some(task) = self.task(id) {
            let ended = (id, task.operation, task.requests_made);
            if self.ended.len() >= MAX_ENDED {
                self.ended.pop_front();
            }
            self.ended.push_back(ended);
        }
        self.tasks.retain(|task| task.0 != id);
    }

    /// Polls the task if it can go on, and hands out what there is to request.
    fn advance(&mut self, id: CommandId) -> Step<R> {
        let mut step = Step::default();
        if let Some(task) = self.task(id)
            && let Some(outcome) = task.poll()
        {
            self.end(id);
            step.finished.push(Finished { id, outcome });
        }
        self.emit(step)
    }

    /// Moves queued operations into the step, as many as may be owed at once, oldest command first.
    fn emit(&mut self, mut step: Step<R>) -> Step<R> {
        for (id, task) in &mut self.tasks {
            while self.owed.len() + self.abandoned.len() < self.limits.max_requests.max(1) as usize {
                let Some((slot, op)) = task.mailbox.borrow_mut().take_next() else { break };
                task.requests_made += 1;
                task.in_flight += 1;
                let key = ContextKey::mint(task.operation, self.epoch, *id, task.requests_made);
                self.owed.insert(key.to_string(), Owed { command: *id, slot, op: op.clone() });
                step.requests.push(FsRequest { key, op });
            }
        }
        step
    }

    fn refuse(&self, key: String) -> ProtocolError {
        let Some((epoch, command, request)) = ContextKey::parse(&key) else { return ProtocolError::UnknownKey(key) };
        if epoch != self.epoch {
            return ProtocolError::ForeignKey(key);
        }
        let begun = self.tasks.iter().map(|(id, task)| (*id, task.operation, task.requests_made));
        let mut known = begun.chain(self.ended.iter().copied()).filter(|(id, ..)| *id == command);
        let is_issued = known.any(|(_, operation, made)| {
            (1..=made).contains(&request) && ContextKey::mint(operation, epoch, command, request).as_str() == key
        });
        if is_issued { ProtocolError::UsedKey(key) } else { ProtocolError::UnknownKey(key) }
    }
}

/// Whether an operation has changed what people keep, or may have. The copy of the index is nobody's text.
fn changes(op: &FsOp, outcome: &FsOutcome) -> bool {
    let path = match op {
        FsOp::Write { path, .. } | FsOp::Append { path, .. } | FsOp::Remove { path, .. } => path,
        FsOp::Rename { to, .. } => to,
        FsOp::MakeDirectory { path } => path,
        FsOp::Read { .. } | FsOp::List { .. } => return false,
    };
    let is_done = match outcome {
        FsOutcome::Write(written) => !matches!(written, WriteOutcome::Stale(_)),
        FsOutcome::Append(appended) => !matches!(appended, AppendOutcome::Stale(_)),
        FsOutcome::Remove(removed) => *removed == RemoveOutcome::Done,
        FsOutcome::Rename(renamed) => *renamed == RenameOutcome::Done,
        FsOutcome::MakeDirectory => true,
        FsOutcome::Read(_) | FsOutcome::List(_) => false,
    };
    is_done && !path.segments().any(|segment| segment == INDEX_FOLDER)
}

impl<R> Task<R> {
    /// Runs the task until it waits for something; `None` while it does.
    fn poll(&mut self) -> Option<Result<R, Error>> {
        if self.in_flight > 0 || self.mailbox.borrow().has_queued() {
            return None;
        }
        match self.future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Err(error)) if self.has_changed => Some(Err(error.after_changes())),
            Poll::Ready(outcome) => Some(outcome),
            Poll::Pending if self.mailbox.borrow().has_queued() => None,
            // A command that waits for nothing would never end.
            Poll::Pending => Some(Err(Error::new(ErrorCode::Internal, "the command waits for nothing", ""))),
        }
    }
}
