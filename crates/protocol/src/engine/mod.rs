//! [`Engine`]: runs commands as tasks, creates context keys, routes results.
//!
//! A command is an `async fn` over [`Fs`]. Awaiting an operation puts it into the command's mailbox;
//! [`Engine::handle_result`] completes it. A task is polled again when *all* of its requested operations are answered, so it
//! cannot see their order: the same commands and results give the same bytes, whatever the host runs in parallel.
//!
//! The executor is single-threaded and deterministic. Commands do not know that requests and results exist.

mod limits;
mod mailbox;
#[cfg(test)]
mod tests;
mod validate;

use alloc::collections::VecDeque;
use atomic_refcell::AtomicRefCell;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

use saddlebag_collections::{SortedMap, SortedSet};

use crate::{
    AppendOutcome, CommandId, ContextKey, Error, ErrorCode, Finished, FsError, FsOutcome, FsRequest, FsResult, RelPath,
    RemoveDirectoryOutcome, RemoveOutcome, RenameOutcome, ResultError, Step, SubmitError, WriteOutcome,
};
use mailbox::{Mailbox, Slot};
use saddlebag_collections::prelude::*;
use validate::Expected;

pub use limits::Limits;
pub use mailbox::{Fs, Operation, View, join};

/// Number of finished commands that are remembered.
const MAX_ENDED: usize = 4_096;

/// Commands in flight, and requests without a result. `R` is the reply of a command.
pub struct Engine<R> {
    epoch: u64,
    limits: Limits,
    is_bookkeeping: fn(&RelPath) -> bool,
    last_command: Option<CommandId>,
    /// Tasks, by increasing id.
    tasks: Vec<(CommandId, Task<R>)>,
    owed: SortedMap<String, Owed>,
    /// Replies of finished commands, until they are taken. Their ids need not increase.
    replies: Vec<(CommandId, R)>,
    /// Last finished commands, each with its name and number of requests. They distinguish a used key from one that
    /// was never issued.
    ended: VecDeque<(CommandId, &'static str, u32)>,
    /// Keys of cancelled commands, whose results are accepted and ignored, once each.
    abandoned: SortedSet<String>,
}

struct Task<R> {
    operation: &'static str,
    future: Pin<Box<dyn Future<Output = Result<R, Error>> + Send>>,
    mailbox: Arc<AtomicRefCell<Mailbox>>,
    requests_made: u32,
    in_flight: u32,
}

struct Owed {
    command: CommandId,
    slot: Slot,
    expected: Expected,
}

impl<R: 'static> Engine<R> {
    /// Creates an engine without commands.
    ///
    /// `epoch` must differ from the epoch of every earlier engine over the same store: it is part of every key.
    /// `is_bookkeeping` returns true for a file that is not user data, such as a cache. Changes of it do not count in
    /// [`Finished::changed`].
    pub fn new(epoch: u64, limits: Limits, is_bookkeeping: fn(&RelPath) -> bool) -> Self {
        Self {
            epoch,
            limits,
            is_bookkeeping,
            last_command: None,
            tasks: Vec::new(),
            owed: SortedMap::default(),
            replies: Vec::new(),
            ended: VecDeque::new(),
            abandoned: SortedSet::default(),
        }
    }

    /// Starts a command. `operation` names it in its context keys.
    ///
    /// # Errors
    ///
    /// The id is not larger than the last one, or too many commands are in flight or have replies that were not taken. Nothing has
    /// changed then.
    pub fn start<F>(
        &mut self,
        id: CommandId,
        operation: &'static str,
        command: impl FnOnce(Fs) -> F,
    ) -> Result<Step, SubmitError>
    where
        F: Future<Output = Result<R, Error>> + Send + 'static,
    {
        if let Some(last) = self.last_command
            && id <= last
        {
            return Err(SubmitError::CommandIdNotNew { given: id.0, last: last.0 });
        }
        if self.tasks.len() + self.replies.len() >= self.limits.max_commands as usize {
            return Err(SubmitError::TooManyCommands(self.limits.max_commands));
        }
        self.last_command = Some(id);
        let fs = Fs::new();
        let mailbox = fs.mailbox.clone();
        let future = Box::pin(command(fs));
        self.tasks.push((id, Task { operation, future, mailbox, requests_made: 0, in_flight: 0 }));
        Ok(self.advance(id))
    }

    /// Accepts the result of a request.
    ///
    /// # Errors
    ///
    /// The key belongs to no request without a result, or the result does not match its request. Nothing has changed then.
    pub fn handle_result(&mut self, result: FsResult) -> Result<Step, ResultError> {
        if self.abandoned.remove(&result.key) {
            return Ok(self.emit(Step::default()));
        }
        let Some(owed) = self.owed.get(&result.key) else {
            return Err(self.refuse(result.key));
        };
        if let Err(reason) = owed.expected.check(&result.outcome, &self.limits) {
            return Err(ResultError::InvalidResult { key: result.key, reason });
        }
        let Some(owed) = self.owed.remove(&result.key) else {
            return Err(ResultError::UnknownKey(result.key));
        };
        let is_bookkeeping = self.is_bookkeeping;
        if let Some(task) = self.task(owed.command) {
            task.in_flight = task.in_flight.saturating_sub(1);
            let has_changed =
                is_change(&result.outcome) && owed.expected.changes().is_some_and(|path| !is_bookkeeping(path));
            task.mailbox.borrow_mut().answer(owed.slot, result.outcome, has_changed);
        }
        Ok(self.advance(owed.command))
    }

    /// Takes the reply of a finished command, once. `pick` returns the requested part of it, or the whole reply if it has no such
    /// part; then the reply stays.
    ///
    /// # Errors
    ///
    /// The command is in flight (`not-finished`), or it has no reply that `pick` accepts (`not-found`).
    pub fn take<T>(&mut self, id: CommandId, pick: impl FnOnce(R) -> Result<T, R>) -> Result<T, Error> {
        let Some(at) = self.replies.iter().position(|(ended, _)| *ended == id) else {
            return Err(match self.task(id) {
                Some(_) => {
                    let help = "pass the results of its requests, until a step says that it has finished";
                    Error::new(ErrorCode::NotFinished, format!("command {} has not finished", id.0), help)
                }
                None => {
                    let help = "a reply can be taken once; a command that failed has none";
                    Error::new(ErrorCode::NotFound, format!("there is no reply of command {}", id.0), help)
                }
            });
        };
        let (_, reply) = self.replies.remove(at);
        pick(reply).map_err(|reply| {
            self.replies.insert(at, (id, reply));
            let help = "take it from the interface that prepared the command";
            Error::new(ErrorCode::NotFound, format!("the reply of command {} belongs to another interface", id.0), help)
        })
    }

    /// Cancels a command. It finishes as cancelled, and a reply that was not taken is dropped. The host must still
    /// pass a result for each of its requests; until then, the request counts towards the limit.
    pub fn cancel(&mut self, id: CommandId) -> Step {
        let mut step = Step::default();
        if let Some(mut changed) = self.end(id) {
            for (key, owed) in self.owed.iter().filter(|(_, owed)| owed.command == id) {
                // The host may be performing it.
                changed |= owed.expected.changes().is_some_and(|path| !(self.is_bookkeeping)(path));
                self.abandoned.insert(key.clone());
            }
            self.owed.retain(|_, owed| owed.command != id);
            let error = Error::new(ErrorCode::Cancelled, "cancelled", "run the command again to finish it");
            step.finished.push(Finished { id, changed, error: Some(error), answer: None });
        }
        self.replies.retain(|(ended, _)| *ended != id);
        // Its requests still count towards the limit, so no other request can be sent instead.
        step
    }

    fn task(&mut self, id: CommandId) -> Option<&mut Task<R>> {
        self.tasks.iter_mut().find(|task| task.0 == id).map(|(_, task)| task)
    }

    /// Removes the task, and returns true if it has changed the store; `None` if there is no such task.
    fn end(&mut self, id: CommandId) -> Option<bool> {
        let at = self.tasks.iter().position(|(task, _)| *task == id)?;
        let (_, task) = self.tasks.remove(at);
        if self.ended.len() >= MAX_ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back((id, task.operation, task.requests_made));
        Some(task.mailbox.borrow().has_changed())
    }

    /// Polls the task if it can continue, and returns the new requests.
    fn advance(&mut self, id: CommandId) -> Step {
        let mut step = Step::default();
        if let Some(task) = self.task(id)
            && let Some(outcome) = task.poll()
        {
            let changed = self.end(id).unwrap_or_default();
            let error = match outcome {
                Ok(reply) => {
                    self.replies.push((id, reply));
                    None
                }
                Err(error) => Some(error),
            };
            step.finished.push(Finished { id, changed, error, answer: None });
        }
        self.emit(step)
    }

    /// Moves queued operations into the step, up to the limit, oldest command first.
    fn emit(&mut self, mut step: Step) -> Step {
        for (id, task) in &mut self.tasks {
            while self.owed.len() + self.abandoned.len() < self.limits.max_requests.max(1) as usize {
                let Some((slot, op)) = task.mailbox.borrow_mut().take_next() else { break };
                task.requests_made += 1;
                task.in_flight += 1;
                let key = ContextKey::mint(task.operation, self.epoch, *id, task.requests_made);
                self.owed.insert(key.to_string(), Owed { command: *id, slot, expected: Expected::of(&op) });
                step.requests.push(FsRequest { key, command: *id, op });
            }
        }
        step
    }

    fn refuse(&self, key: String) -> ResultError {
        let Some((epoch, command, request)) = ContextKey::parse(&key) else { return ResultError::UnknownKey(key) };
        if epoch != self.epoch {
            return ResultError::ForeignKey(key);
        }
        let begun = self.tasks.iter().map(|(id, task)| (*id, task.operation, task.requests_made));
        let mut known = begun.chain(self.ended.iter().copied()).filter(|(id, ..)| *id == command);
        let is_issued = known.any(|(_, operation, made)| {
            (1..=made).contains(&request) && ContextKey::mint(operation, epoch, command, request).as_str() == key
        });
        if is_issued { ResultError::UsedKey(key) } else { ResultError::UnknownKey(key) }
    }
}

/// Returns true if an operation with this outcome has changed its file, or may have.
pub fn is_change(outcome: &Result<FsOutcome, FsError>) -> bool {
    match outcome {
        Ok(FsOutcome::Write(written)) => !matches!(written, WriteOutcome::Stale(_)),
        Ok(FsOutcome::Append(appended)) => !matches!(appended, AppendOutcome::Stale(_)),
        Ok(FsOutcome::Remove(removed)) => *removed == RemoveOutcome::Done,
        Ok(FsOutcome::Rename(renamed)) => *renamed == RenameOutcome::Done,
        Ok(FsOutcome::MakeDirectory) => true,
        Ok(FsOutcome::RemoveDirectory(removed)) => *removed == RemoveDirectoryOutcome::Removed,
        Ok(FsOutcome::Read(_) | FsOutcome::ListDirectory(_) | FsOutcome::Generation(_)) => false,
        // The change is made, and only a power cut can undo it.
        Err(error) => matches!(error, FsError::NotDurable(_)),
    }
}

impl<R> Task<R> {
    /// Runs the task until it waits for an operation; `None` while it does.
    fn poll(&mut self) -> Option<Result<R, Error>> {
        if self.in_flight > 0 || self.mailbox.borrow().has_queued() {
            return None;
        }
        match self.future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(outcome) => Some(outcome),
            Poll::Pending if self.mailbox.borrow().has_queued() => None,
            // A command that waits for nothing would never finish.
            Poll::Pending => Some(Err(Error::new(ErrorCode::Internal, "the command waits for nothing", ""))),
        }
    }
}
