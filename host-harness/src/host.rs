//! [`Host`]: an engine and an executor, and the loop between them.

use std::collections::{BTreeMap, VecDeque};

use saddlebag::protocol::{
    CommandId, Error, Finished, FsError, FsOp, FsOutcome, FsRequest, FsResult, ProtocolError, Step,
};
use saddlebag::store::Timestamp;
use saddlebag::tools::{Tool, ToolSet};
use saddlebag::{Answered, Command, Reply, ReplyTo, Request, Submission, Submit};

use crate::engine::{Engine, EngineError};
use crate::executor::{Executor, is_read};
use crate::local_dir::OpenError;

/// Why a command gave no reply.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The engine did not take a call, or could not be opened.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The command was refused or failed. What it had changed before it failed stays.
    #[error(transparent)]
    Command(#[from] Error),
    /// The folder of the store cannot be opened.
    #[error(transparent)]
    Root(#[from] OpenError),
}

/// Watches what a [`Host`] does. Every method does nothing unless it is written.
pub trait Observer {
    /// A command was given.
    fn command(&mut self, _id: CommandId, _now: Timestamp, _submission: &Submission<Command>) {}
    /// The engine asked for an operation.
    fn request(&mut self, _request: &FsRequest) {}
    /// The operation has this outcome; the engine is handed it next.
    fn result(&mut self, _request: &FsRequest, _outcome: &Result<FsOutcome, FsError>) {}
    /// A command ended.
    fn finished(&mut self, _id: CommandId, _outcome: &Result<Reply, Error>) {}
}

/// Requests that were performed together.
#[derive(Debug)]
pub struct AnsweredRequests {
    /// The command of each, in their order.
    pub commands: Vec<CommandId>,
    /// The first result that the engine refused, by the command that it was for. The request is still pending, as the
    /// executor does not keep the contract; [`Host::cancel`] ends the command.
    pub refused: Option<(CommandId, EngineError)>,
}

/// Runs commands: gives them to the engine, performs what it asks for, hands the results back.
///
/// [`run`](Self::run) is all that most programs need. The calls below it take the loop apart:
/// [`submit`](Self::submit) puts a command in flight beside others, [`pending`](Self::pending) says
/// which requests are owed a result, [`answer`](Self::answer) and
/// [`answer_with`](Self::answer_with) give one, [`take_finished`](Self::take_finished) collects the
/// reply.
///
/// ```
/// use saddlebag::journal::{Target, Write, WriteMode};
/// use saddlebag::store::Timestamp;
/// use saddlebag::Config;
/// use saddlebag_host::{Host, NativeEngine, Simulator};
///
/// let engine = NativeEngine::open(Config::default())?;
/// let mut host = Host::new(engine, Simulator::new(1));
/// let now = Timestamp { seconds: 1_779_700_000, nanoseconds: 0, utc_offset_seconds: 0 };
/// let content = "- [ ] water the plants".to_string();
/// let reply = host.call(now, Write { target: Target::Scratchpad, mode: WriteMode::Append, content, truncate: false })?;
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
}

impl<E: Engine, X: Executor> Host<E, X> {
    /// A host with nothing in flight.
    pub fn new(engine: E, executor: X) -> Self {
        Self { engine, executor, observer: None, last_id: 0, pending: VecDeque::new(), finished: BTreeMap::new() }
    }

    /// Has everything that happens from here on watched, in place of an earlier observer.
    pub fn observe(&mut self, observer: impl Observer + Send + 'static) {
        self.observer = Some(Box::new(observer));
    }

    /// What performs the operations.
    pub fn executor(&self) -> &X {
        &self.executor
    }

    /// What performs the operations.
    pub fn executor_mut(&mut self) -> &mut X {
        &mut self.executor
    }

    /// The tools of these sets, as a model is shown them; a [`CallTool`](saddlebag::tools::CallTool) runs one.
    ///
    /// # Errors
    ///
    /// The component trapped.
    pub fn tools(&mut self, sets: &[ToolSet]) -> Result<Vec<Tool>, EngineError> {
        self.engine.tools(sets)
    }

    /// Runs a command to its end, performing whatever is pending on the way.
    ///
    /// # Errors
    ///
    /// [`HostError::Command`], when the command was refused or failed. [`HostError::Engine`], when
    /// the engine did not take a call: the command is given up.
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

    /// Runs a command to its end and gives its own reply.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn call<A: Answered>(&mut self, now: Timestamp, command: A) -> Result<ReplyTo<A>, HostError> {
        let reply = self.run(now, command)?;
        let wrong = || EngineError::Component(format!("the reply is not one of `{}`", A::Request::NAME));
        A::from_reply(reply).ok_or_else(|| wrong().into())
    }

    /// Puts a command in flight and gives its id; ids grow by one.
    ///
    /// # Errors
    ///
    /// The engine does not take the command; nothing has changed.
    pub fn submit(&mut self, now: Timestamp, command: impl Submit) -> Result<CommandId, EngineError> {
        let submission = command.submission();
        self.last_id += 1;
        let id = CommandId(self.last_id);
        if let Some(observer) = &mut self.observer {
            observer.command(id, now, &submission);
        }
        let step = self.engine.submit(id, now, submission)?;
        self.take(step)?;
        Ok(id)
    }

    /// The requests that are owed a result, oldest first.
    pub fn pending(&self) -> impl ExactSizeIterator<Item = &FsRequest> {
        self.pending.iter()
    }

    /// Performs the pending request at `index` and hands its result in.
    ///
    /// # Errors
    ///
    /// As [`answer_with`](Self::answer_with).
    pub fn answer(&mut self, index: usize) -> Result<(), EngineError> {
        let Some(request) = self.pending.get(index) else {
            return Err(nothing_pending(index, self.pending.len()));
        };
        let outcome = self.executor.perform(&request.op);
        self.answer_with(index, outcome)
    }

    /// Performs the oldest pending requests together, at most `most`, and hands their results in, oldest first. The
    /// results of all are handed in, even if the engine refuses one of them.
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
            let text = format!("the executor gave {given} results for {asked} operations; this one may be done or not");
            Err(FsError::Other(text))
        });
        let (mut refused, mut index) = (None, 0);
        for (outcome, &command) in outcomes.into_iter().zip(&commands) {
            // What was performed must not be pending any more, or somebody would perform it again.
            match self.answer_with(index, outcome) {
                Ok(()) => {}
                Err(error @ EngineError::Protocol(_)) => {
                    index += 1;
                    refused.get_or_insert((command, error));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(AnsweredRequests { commands, refused })
    }

    /// Performs the oldest pending request and hands its result in. If it is a read, the reads right after it are
    /// performed together with it, at most `most` in all.
    ///
    /// For a caller that looks for something else to do between two changes.
    ///
    /// # Errors
    ///
    /// As [`answer_oldest`](Self::answer_oldest).
    pub fn answer_next(&mut self, most: usize) -> Result<AnsweredRequests, EngineError> {
        let reads = self.pending.iter().take(most).take_while(|request| is_read(&request.op)).count();
        self.answer_oldest(reads.max(1))
    }

    /// Hands in `outcome` as the result of the pending request at `index`, which is not performed.
    ///
    /// # Errors
    ///
    /// There is no such request, or the engine refuses the result. A result that does not fit leaves
    /// the request pending.
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

    /// Performs whatever is pending until nothing is. `order` chooses which request is next; an
    /// index past the end means the last.
    ///
    /// # Errors
    ///
    /// The engine refuses a result, or still asks for more after `most` operations.
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
        Err(EngineError::Component(format!("the engine still asks for more after {most} operations")))
    }

    /// The outcome of a command that ended, once.
    pub fn take_finished(&mut self, id: CommandId) -> Option<Result<Reply, Error>> {
        self.finished.remove(&id)
    }

    /// Gives a command up. Its outcome is that it was cancelled; its pending requests are answered
    /// as cancelled and not performed.
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

    /// Leaves nothing of a command behind after an error that ended it.
    fn give_up(&mut self, id: CommandId) {
        if self.cancel(id).is_err() {
            // The engine is gone, and every command with it.
            self.pending.clear();
        }
        self.finished.remove(&id);
    }

    fn take(&mut self, step: Step) -> Result<(), EngineError> {
        for request in step.requests {
            if let Some(observer) = &mut self.observer {
                observer.request(&request);
            }
            self.pending.push_back(request);
        }
        for Finished { id, error } in step.finished {
            let outcome = match error {
                Some(error) => Err(error),
                None => self.engine.take(id)?,
            };
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
    ProtocolError::UnknownKey(format!("request {index} of {pending} pending ones")).into()
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use saddlebag::Config;
    use saddlebag::journal::{AppendDaily, JournalCommand, JournalReply, Search, Target, Write, WriteMode};
    use saddlebag::store::RelPath;

    use super::*;
    use crate::{NativeEngine, Simulator};

    const NOW: Timestamp = Timestamp { seconds: 1_779_700_000, nanoseconds: 0, utc_offset_seconds: 0 };

    fn host() -> Host<NativeEngine, Simulator> {
        Host::new(NativeEngine::open(Config::default()).expect("valid"), Simulator::new(1))
    }

    fn append(text: &str) -> JournalCommand {
        JournalCommand::Write(Write {
            target: Target::Scratchpad,
            mode: WriteMode::Append,
            content: text.into(),
            truncate: false,
        })
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
        assert!(matches!(wrong, Err(EngineError::Protocol(ProtocolError::InvalidResult { .. }))), "{wrong:?}");
        assert_eq!(host.pending().len(), 1);
        assert!(host.executor().files().is_empty());
        host.answer(0).expect("right");
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
        assert!(matches!(host.run(NOW, append("x")), Err(HostError::Engine(EngineError::Protocol(_)))));
        assert_eq!(host.pending().len(), 0);
        host.executor_mut().1 = false;
        host.run(NOW, append("x")).expect("works again");
    }

    #[test]
    fn what_was_performed_beside_a_refused_result_is_not_performed_again() {
        /// Answers the first append wrongly, which it has performed.
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
        let [wronged, beside] = [append("a"), log("b")].map(|command| host.submit(NOW, command).expect("taken"));
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
    fn an_executor_that_leaves_results_out_is_told_of() {
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
            let path = RelPath::parse(format!("notes/{name}.md")).expect("valid");
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
