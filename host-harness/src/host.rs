//! [`Host`]: an engine and an executor, and the loop between them.

use std::collections::{BTreeMap, VecDeque};

use saddlebag::protocol::{CommandId, Error, FsError, FsOp, FsOutcome, FsRequest, FsResult, ResultError};
use saddlebag::store::Timestamp;
use saddlebag::tools::{Tool, ToolSet};
use saddlebag::{Answered, Command, Reply, ReplyTo, Request, Step, Submission, Submit};

use crate::engine::{Engine, EngineError};
use crate::executor::{Executor, is_read};
use crate::local_dir::OpenError;
use crate::turns::Turns;

/// Reason why a command has no reply.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The engine refused a call, or could not be opened.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The command was refused or failed. Changes from before the failure stay; [`Host::has_changed`] says if there are any.
    #[error(transparent)]
    Command(#[from] Error),
    /// The folder of the store cannot be opened.
    #[error(transparent)]
    Root(#[from] OpenError),
}

/// Observes a [`Host`]. Every method does nothing by default.
pub trait Observer {
    /// Called for each command.
    fn command(&mut self, _id: CommandId, _now: Timestamp, _submission: &Submission<Command>) {}
    /// Called for each operation that the engine requests.
    fn request(&mut self, _request: &FsRequest) {}
    /// Called for each outcome, before the engine gets it.
    fn result(&mut self, _request: &FsRequest, _outcome: &Result<FsOutcome, FsError>) {}
    /// Called when a command has finished.
    fn finished(&mut self, _id: CommandId, _outcome: &Result<Reply, Error>) {}
}

/// Requests that were performed together.
#[derive(Debug)]
pub struct AnsweredRequests {
    /// Command of each request, in order.
    pub commands: Vec<CommandId>,
    /// First result that the engine refused, with its command. The request stays pending, because the executor
    /// violates the contract; [`Host::cancel`] ends the command.
    pub refused: Option<(CommandId, EngineError)>,
}

/// Runs commands: passes them to the engine, performs the requested operations, passes the results back.
///
/// [`run`](Self::run) is enough for most programs. The calls below take the loop apart:
/// [`submit`](Self::submit) puts a command in flight beside others, [`pending`](Self::pending) returns the requests without a
/// result, [`answer`](Self::answer) and [`answer_with`](Self::answer_with) give one,
/// [`take_finished`](Self::take_finished) returns the reply.
///
/// ```
/// use saddlebag::journal::{Target, WriteFile, WriteMode};
/// use saddlebag::store::Timestamp;
/// use saddlebag::Config;
/// use saddlebag_host::{Host, NativeEngine, Simulator};
///
/// let engine = NativeEngine::open(Config::default())?;
/// let mut host = Host::new(engine, Simulator::new(1));
/// let now = Timestamp { seconds: 1_779_700_000, nanoseconds: 0, utc_offset_seconds: 0 };
/// let content = "- [ ] water the plants".to_string();
/// let reply = host.call(now, WriteFile { target: Target::Scratchpad, mode: WriteMode::Append, content, truncate: false })?;
/// assert_eq!(reply.bytes, 22);
/// assert_eq!(host.executor().files()["SCRATCHPAD.md"], b"- [ ] water the plants\n");
/// # Ok::<(), saddlebag_host::HostError>(())
/// ```
pub struct Host<E, X> {
    engine: E,
    executor: X,
    observer: Option<Box<dyn Observer + Send>>,
    last_id: u64,
    pending: VecDeque<FsRequest>,
    finished: BTreeMap<CommandId, Result<Reply, Error>>,
    pub(crate) has_changed: bool,
    turns: Turns,
}

impl<E: Engine, X: Executor> Host<E, X> {
    /// Creates a host with nothing in flight.
    pub fn new(engine: E, executor: X) -> Self {
        let (pending, finished, turns) = (VecDeque::new(), BTreeMap::new(), Turns::default());
        Self { engine, executor, observer: None, last_id: 0, pending, finished, has_changed: false, turns }
    }

    /// Sets the observer of all further events, and replaces an earlier one.
    pub fn observe(&mut self, observer: impl Observer + Send + 'static) {
        self.observer = Some(Box::new(observer));
    }

    /// Returns the executor.
    pub fn executor(&self) -> &X {
        &self.executor
    }

    /// Returns the executor.
    pub fn executor_mut(&mut self) -> &mut X {
        &mut self.executor
    }

    /// Returns the tools of these sets, as they are described to a model; a [`CallTool`](saddlebag::tools::CallTool) runs one.
    ///
    /// # Errors
    ///
    /// The component trapped.
    pub fn tools(&mut self, sets: &[ToolSet]) -> Result<Vec<Tool>, EngineError> {
        self.engine.tools(sets)
    }

    /// Runs a command to its end, and performs everything that is pending on the way.
    ///
    /// # Errors
    ///
    /// [`HostError::Command`] if the command was refused or failed. [`HostError::Engine`] if the engine refused a call; the command
    /// is then cancelled.
    pub fn run(&mut self, now: Timestamp, command: impl Submit) -> Result<Reply, HostError> {
        let submission = command.submission();
        let span = tracing::info_span!("command", name = submission.command.name(), id = self.last_id + 1);
        let _entered = span.enter();
        let id = self.submit(now, submission)?;
        loop {
            if let Some(outcome) = self.take_finished(id) {
                return Ok(outcome?);
            }
            let answered = self.answer_oldest(usize::MAX);
            if let Err(error) = answered.and_then(|answered| answered.refused.map_or(Ok(()), |(_, error)| Err(error))) {
                self.give_up(id);
                return Err(error.into());
            }
        }
    }

    /// Runs a command to its end and returns its own reply.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Self::run).
    pub fn call<A: Answered>(&mut self, now: Timestamp, command: A) -> Result<ReplyTo<A>, HostError> {
        let reply = self.run(now, command)?;
        let wrong = || EngineError::Component(format!("the reply is not one of `{}`", A::Request::NAME));
        A::from_reply(reply).ok_or_else(|| wrong().into())
    }

    /// Puts a command in flight and returns its id; ids increase by one.
    ///
    /// # Errors
    ///
    /// The engine refuses the command. Nothing has changed then.
    pub fn submit(&mut self, now: Timestamp, command: impl Submit) -> Result<CommandId, EngineError> {
        let submission = command.submission();
        self.last_id += 1;
        let id = CommandId(self.last_id);
        if let Some(observer) = &mut self.observer {
            observer.command(id, now, &submission);
        }
        self.turns.enter(id, &submission.command);
        let step = self.engine.submit(id, now, submission).inspect_err(|_| self.turns.leave(id))?;
        self.take(step)?;
        Ok(id)
    }

    /// Returns the requests without a result, oldest first.
    pub fn pending(&self) -> impl ExactSizeIterator<Item = &FsRequest> {
        self.pending.iter()
    }

    /// Performs the pending request at `index` and passes its result to the engine.
    ///
    /// # Errors
    ///
    /// Those of [`answer_with`](Self::answer_with).
    pub fn answer(&mut self, index: usize) -> Result<(), EngineError> {
        let Some(request) = self.pending.get(index) else {
            return Err(nothing_pending(index, self.pending.len()));
        };
        let outcome = self.executor.perform(&request.op);
        self.answer_with(index, outcome)
    }

    /// Performs the oldest pending requests together, at most `most`, and passes their results to the engine, oldest first. All
    /// results are passed, even if the engine refuses one of them.
    ///
    /// # Errors
    ///
    /// Nothing is pending, or the engine is gone.
    pub fn answer_oldest(&mut self, most: usize) -> Result<AnsweredRequests, EngineError> {
        if self.pending.is_empty() {
            return Err(nothing_pending(0, 0));
        }
        let commands: Vec<CommandId> = self.pending.iter().take(most).map(|request| request.command).collect();
        let ops: Vec<&FsOp> = self.pending.iter().take(most).map(|request| &request.op).collect();
        let asked = ops.len();
        let mut outcomes = self.executor.perform_all(&ops);
        let given = outcomes.len();
        outcomes.resize_with(asked, || {
            let text = format!("the executor returned {given} results for {asked} operations; this one may or may not have been performed");
            Err(FsError::Other(text))
        });
        let (mut refused, mut index) = (None, 0);
        for (outcome, &command) in outcomes.into_iter().zip(&commands) {
            // A performed request must not stay pending, or it could be performed again.
            match self.answer_with(index, outcome) {
                Ok(()) => {}
                Err(error) if error.is_refusal() => {
                    index += 1;
                    refused.get_or_insert((command, error));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(AnsweredRequests { commands, refused })
    }

    /// Performs the oldest pending request and passes its result to the engine. If it is a read, the reads right after it are
    /// performed together with it, at most `most` in all.
    ///
    /// For a caller that does other work between two changes. Commands that change one file take turns: requests of a command
    /// on a file that an older command works on come after all others.
    ///
    /// # Errors
    ///
    /// Those of [`answer_oldest`](Self::answer_oldest).
    pub fn answer_next(&mut self, most: usize) -> Result<AnsweredRequests, EngineError> {
        let ready = self.put_ready_first();
        let reads = self.pending.iter().take(most.min(ready)).take_while(|request| is_read(&request.op)).count();
        self.answer_oldest(reads.max(1))
    }

    /// Moves the requests that wait for an older command after the others. Returns the number of the others.
    fn put_ready_first(&mut self) -> usize {
        if !self.turns.may_meet() {
            return self.pending.len();
        }
        let (waiting, ready): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.pending).into_iter().partition(|request| self.turns.must_wait(request));
        let count = ready.len();
        self.pending = ready;
        self.pending.extend(waiting);
        count
    }

    /// Passes `outcome` as the result of the pending request at `index`, which is not performed.
    ///
    /// # Errors
    ///
    /// There is no such request, or the engine refuses the result. A result of the wrong kind leaves the request pending.
    pub fn answer_with(&mut self, index: usize, outcome: Result<FsOutcome, FsError>) -> Result<(), EngineError> {
        let Some(request) = self.pending.remove(index) else {
            return Err(nothing_pending(index, self.pending.len()));
        };
        if let Some(observer) = &mut self.observer {
            observer.result(&request, &outcome);
        }
        match self.engine.handle_memory_result(FsResult { key: request.key.to_string(), outcome }) {
            Ok(step) => self.take(step),
            Err(error) => {
                self.pending.insert(index, request);
                Err(error)
            }
        }
    }

    /// Performs pending requests until there are none. `order` selects the next request; an index past the end means the last.
    ///
    /// # Errors
    ///
    /// The engine refuses a result, or still requests more after `most` operations.
    pub fn drive(&mut self, most: usize, mut order: impl FnMut(&[&FsOp]) -> usize) -> Result<(), EngineError> {
        for _ in 0..most {
            let ops: Vec<&FsOp> = self.pending().map(|request| &request.op).collect();
            let Some(last) = ops.len().checked_sub(1) else { return Ok(()) };
            let next = order(&ops).min(last);
            self.answer(next)?;
        }
        if self.pending.is_empty() {
            return Ok(());
        }
        Err(EngineError::Component(format!("the engine still requests more after {most} operations")))
    }

    /// Returns the outcome of a finished command, once.
    pub fn take_finished(&mut self, id: CommandId) -> Option<Result<Reply, Error>> {
        self.finished.remove(&id)
    }

    /// Returns true if a finished command has changed a file, or may have. Bookkeeping does not count.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// Returns true if a command that has finished since the last call has changed a file, or may have.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    /// Cancels a command. Its outcome is that it was cancelled; its pending requests are answered as cancelled and not performed.
    ///
    /// # Errors
    ///
    /// The component trapped.
    pub fn cancel(&mut self, id: CommandId) -> Result<(), EngineError> {
        let step = self.engine.cancel(id)?;
        self.take(step)?;
        let (given_up, pending): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.pending).into_iter().partition(|request| request.command == id);
        self.pending = pending;
        for request in given_up {
            if let Some(observer) = &mut self.observer {
                observer.result(&request, &Err(FsError::Cancelled));
            }
            let result = FsResult { key: request.key.to_string(), outcome: Err(FsError::Cancelled) };
            let step = self.engine.handle_memory_result(result)?;
            self.take(step)?;
        }
        Ok(())
    }

    /// Removes everything of a command after an error that ended it.
    fn give_up(&mut self, id: CommandId) {
        if self.cancel(id).is_err() {
            // The engine is gone, and every command with it.
            self.pending.clear();
            self.turns = Turns::default();
        }
        self.finished.remove(&id);
    }

    fn take(&mut self, step: Step) -> Result<(), EngineError> {
        for request in step.requests {
            if let Some(observer) = &mut self.observer {
                observer.request(&request);
            }
            self.turns.note(&request);
            self.pending.push_back(request);
        }
        for finished in step.finished {
            let id = finished.id;
            self.has_changed |= finished.changed;
            self.turns.leave(id);
            let outcome = self.engine.outcome(finished)?;
            match &outcome {
                Ok(_) => tracing::debug!(id = id.0, "command done"),
                Err(error) => tracing::debug!(id = id.0, code = ?error.code, "command failed"),
            }
            if let Some(observer) = &mut self.observer {
                observer.finished(id, &outcome);
            }
            self.finished.insert(id, outcome);
        }
        Ok(())
    }
}

fn nothing_pending(index: usize, pending: usize) -> EngineError {
    ResultError::UnknownKey(format!("request {index} of {pending} pending ones")).into()
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use saddlebag::Config;
    use saddlebag::items::Edit;
    use saddlebag::journal::{AppendDaily, JournalCommand, JournalReply, Search, Target, WriteFile, WriteMode};
    use saddlebag::protocol::Precondition;
    use saddlebag::store::RelPath;

    use super::*;
    use crate::{NativeEngine, Simulator};

    const NOW: Timestamp = Timestamp { seconds: 1_779_700_000, nanoseconds: 0, utc_offset_seconds: 0 };

    fn host() -> Host<NativeEngine, Simulator> {
        Host::new(NativeEngine::open(Config::default()).expect("valid"), Simulator::new(1))
    }

    fn append(text: &str) -> WriteFile {
        WriteFile { target: Target::Scratchpad, mode: WriteMode::Append, content: text.into(), truncate: false }
    }

    #[test]
    fn a_host_moves_between_threads() {
        fn assert_send<T: Send>() {}
        assert_send::<Host<NativeEngine, Simulator>>();
        assert_send::<Host<Box<dyn Engine + Send>, Box<dyn Executor + Send>>>();
    }

    #[test]
    fn commands_in_flight_together_all_finish_in_any_order() {
        for newest_first in [false, true] {
            let mut host = host();
            let ids = ["- [ ] a", "- [ ] b", "- [ ] c"].map(|text| host.submit(NOW, append(text)).expect("taken"));
            host.drive(100, |ops| if newest_first { ops.len() } else { 0 }).expect("driven");
            assert_eq!(host.pending().len(), 0);
            for id in ids {
                assert!(matches!(host.take_finished(id), Some(Ok(_))));
                assert!(host.take_finished(id).is_none());
            }
            let text = String::from_utf8(host.executor().files()["SCRATCHPAD.md"].clone()).expect("text");
            assert_eq!(text.lines().count(), 3);
        }
    }

    #[test]
    fn edits_of_one_file_in_flight_cost_no_more_operations_than_one_after_the_other() {
        const EDITS: u32 = 8;
        /// Counts the operations.
        struct Counting(Simulator, u32);
        impl Executor for Counting {
            fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
                self.1 += 1;
                self.0.perform(op)
            }
        }
        let edit = |number: u32| {
            let [old_text, new_text] = [0, 1].map(|count| format!("counter {number} is {count}"));
            Edit { name: "long_term".into(), kind: None, old_text, new_text }
        };
        let operations = |together: bool| {
            let mut store = Simulator::new(1);
            let text: String = (0..EDITS).map(|number| format!("counter {number} is 0\n")).collect();
            let path = RelPath::new("MEMORY.md").expect("a path");
            let write = FsOp::write(path, text.into_bytes(), Precondition::Any);
            store.perform(&write).expect("written");
            let mut host = Host::new(NativeEngine::open(Config::default()).expect("valid"), Counting(store, 0));
            for number in 0..EDITS {
                host.submit(NOW, edit(number)).expect("taken");
                while !together && host.pending().len() > 0 {
                    host.answer_next(64).expect("answered");
                }
            }
            while host.pending().len() > 0 {
                host.answer_next(64).expect("answered");
            }
            let text = String::from_utf8(host.executor().0.files()["MEMORY.md"].clone()).expect("text");
            assert_eq!(text.matches("is 1").count(), EDITS as usize, "{text}");
            host.executor().1
        };
        assert_eq!(operations(true), operations(false));
    }

    #[test]
    fn a_cancelled_command_leaves_the_others_theirs() {
        let mut host = host();
        let kept = host.submit(NOW, append("kept")).expect("taken");
        let dropped = host.submit(NOW, append("dropped")).expect("taken");
        assert_eq!(host.pending().len(), 2);
        host.cancel(dropped).expect("cancelled");
        assert_eq!(host.pending().len(), 1);
        host.drive(10, |_| 0).expect("driven");
        assert!(matches!(host.take_finished(dropped), Some(Err(_))));
        assert!(matches!(host.take_finished(kept), Some(Ok(_))));
        assert_eq!(host.executor().files()["SCRATCHPAD.md"], b"kept\n");
    }

    #[test]
    fn a_result_of_the_wrong_kind_is_refused_and_the_request_stays_pending() {
        let mut host = host();
        let id = host.submit(NOW, append("x")).expect("taken");
        let wrong = host.answer_with(0, Ok(FsOutcome::MakeDirectory));
        assert!(matches!(wrong, Err(EngineError::Result(ResultError::InvalidResult { .. }))), "{wrong:?}");
        assert_eq!(host.pending().len(), 1);
        assert!(host.executor().files().is_empty());
        host.drive(10, |_| 0).expect("right");
        assert!(matches!(host.take_finished(id), Some(Ok(_))));
    }

    #[test]
    fn an_executor_that_answers_wrongly_ends_the_command_and_nothing_else() {
        struct Wrong(Simulator, bool);
        impl Executor for Wrong {
            fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
                if self.1 { Ok(FsOutcome::MakeDirectory) } else { self.0.perform(op) }
            }
        }
        let engine = NativeEngine::open(Config::default()).expect("valid");
        let mut host = Host::new(engine, Wrong(Simulator::new(1), true));
        assert!(matches!(host.run(NOW, append("x")), Err(HostError::Engine(EngineError::Result(_)))));
        assert_eq!(host.pending().len(), 0);
        host.executor_mut().1 = false;
        host.run(NOW, append("x")).expect("works again");
    }

    #[test]
    fn an_operation_beside_a_refused_result_is_not_performed_again() {
        /// Returns a wrong answer for the first append, which it has performed.
        struct Wrong(Simulator, bool);
        impl Executor for Wrong {
            fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
                let outcome = self.0.perform(op);
                let is_first = matches!(op, FsOp::Append { .. }) && std::mem::take(&mut self.1);
                if is_first { Ok(FsOutcome::MakeDirectory) } else { outcome }
            }
        }
        let engine = NativeEngine::open(Config::default()).expect("valid");
        let mut host = Host::new(engine, Wrong(Simulator::new(1), true));
        let log = |text: &str| JournalCommand::AppendDaily(AppendDaily { heading: text.into(), body: String::new() });
        let [wronged, beside] =
            [host.submit(NOW, append("a")), host.submit(NOW, log("b"))].map(|sent| sent.expect("taken"));
        // Both look for rejected values first.
        let looked = host.answer_oldest(usize::MAX).expect("the engine lives");
        assert!(looked.refused.is_none());
        let answered = host.answer_oldest(usize::MAX).expect("the engine lives");
        let (at_fault, error) = answered.refused.expect("one is refused");
        assert_eq!(at_fault, wronged, "{error}");
        host.cancel(wronged).expect("cancelled");
        host.drive(10, |_| 0).expect("driven");
        assert!(matches!(host.take_finished(beside), Some(Ok(_))));
        let files = host.executor().0.files();
        let logs: Vec<_> = files.iter().filter(|(path, _)| path.starts_with("daily/")).collect();
        let [(_, bytes)] = logs[..] else { panic!("{logs:?}") };
        assert_eq!(String::from_utf8_lossy(bytes).matches("b\n").count(), 1);
    }

    #[test]
    fn an_executor_that_omits_results_is_reported() {
        struct Short(Simulator);
        impl Executor for Short {
            fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
                self.0.perform(op)
            }

            fn perform_all(&mut self, _: &[&FsOp]) -> Vec<Result<FsOutcome, FsError>> {
                Vec::new()
            }
        }
        let engine = NativeEngine::open(Config::default()).expect("valid");
        let mut host = Host::new(engine, Short(Simulator::new(1)));
        let refused = host.run(NOW, append("x"));
        assert!(matches!(&refused, Err(HostError::Command(error)) if error.message.contains("0 results for 1")));
        assert!(host.executor().0.files().is_empty());
    }

    #[test]
    fn a_host_knows_whether_a_command_has_changed_a_file() {
        let mut host = host();
        host.run(NOW, JournalCommand::Search(Search::new("word"))).expect("searched");
        assert!(!host.has_changed());
        host.run(NOW, append("x")).expect("written");
        assert!(host.has_changed());
    }

    /// There is no polling, callback, thread or timer: each call returns everything that it
    /// caused.
    #[test]
    fn every_request_has_one_result_and_is_observed() {
        #[derive(Default)]
        struct Counts(Arc<[AtomicU32; 4]>);
        impl Counts {
            fn count(&self, which: usize) {
                self.0[which].fetch_add(1, Ordering::Relaxed);
            }
        }
        impl Observer for Counts {
            fn command(&mut self, _: CommandId, _: Timestamp, _: &Submission<Command>) {
                self.count(0);
            }
            fn request(&mut self, _: &FsRequest) {
                self.count(1);
            }
            fn result(&mut self, _: &FsRequest, _: &Result<FsOutcome, FsError>) {
                self.count(2);
            }
            fn finished(&mut self, _: CommandId, _: &Result<Reply, Error>) {
                self.count(3);
            }
        }
        let counts = Counts::default();
        let seen = counts.0.clone();
        let mut host = host();
        for name in ["a", "b", "c"] {
            let path = RelPath::new(format!("notes/{name}.md")).expect("valid");
            host.executor_mut().insert(&path, "a word");
        }
        host.observe(counts);
        let reply = host.run(NOW, JournalCommand::Search(Search::new("word"))).expect("found");
        assert!(matches!(reply, Reply::Journal(JournalReply::Search(found)) if found.hits.len() == 3));
        let [commands, requests, results, finished] = [0, 1, 2, 3].map(|which| seen[which].load(Ordering::Relaxed));
        assert_eq!((commands, finished), (1, 1));
        assert!(requests >= 4 && requests == results, "{requests} requests, {results} results");
    }
}
