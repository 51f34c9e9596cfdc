//! An engine and an executor that the test drives: it decides when a command is submitted, and in which order requests
//! are answered.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use saddlebag::protocol::{CommandId, Error, FsError, FsOp, FsOutcome, FsRequest, FsResult};
use saddlebag::store::Timestamp;
use saddlebag::{Answered, Config, Reply, ReplyTo, Request, Step, Submit};
use saddlebag_host::{Engine, EngineError, Executor, Scheduler, Simulator};

use super::{Kind, engine, path, today};

pub struct Drive<X> {
    /// Name of the engine, for the message of a test that fails.
    pub kind: Kind,
    pub engine: Box<dyn Engine>,
    pub executor: X,
    /// Requests without a result, oldest first.
    pub pending: Vec<FsRequest>,
    pub finished: BTreeMap<u64, Result<Reply, Error>>,
    /// True if a finished command has changed a file, as the engine says.
    pub has_changed: bool,
    /// Time of every command.
    pub now: Timestamp,
    last_id: u64,
}

impl<X: Executor> Drive<X> {
    pub fn new(kind: Kind, config: Config, executor: X) -> Self {
        Self {
            kind,
            engine: engine(kind, config),
            executor,
            pending: Vec::new(),
            finished: BTreeMap::new(),
            has_changed: false,
            now: today(),
            last_id: 0,
        }
    }

    pub fn submit(&mut self, command: impl Submit) -> u64 {
        self.try_submit(command).expect("the command is taken")
    }

    pub fn try_submit(&mut self, command: impl Submit) -> Result<u64, EngineError> {
        self.last_id += 1;
        let step = self.engine.submit(CommandId(self.last_id), self.now, command.submission())?;
        self.take(step);
        Ok(self.last_id)
    }

    pub fn take(&mut self, step: Step) {
        self.pending.extend(step.requests);
        for finished in step.finished {
            self.has_changed |= finished.changed;
            let id = finished.id.0;
            self.finished.insert(id, self.engine.outcome(finished).expect("the engine lives"));
        }
    }

    /// Performs one pending request, and passes its result.
    pub fn answer(&mut self, index: usize) {
        let request = self.pending.remove(index);
        let outcome = self.executor.perform(&request.op);
        self.hand_in(request.key.as_str(), outcome);
    }

    pub fn hand_in(&mut self, key: &str, outcome: Result<FsOutcome, FsError>) {
        let step = self.engine.handle_memory_result(FsResult { key: key.to_string(), outcome });
        let step = step.expect("the result is taken");
        self.take(step);
    }

    /// Answers all requests, oldest first.
    pub fn settle(&mut self) {
        while !self.pending.is_empty() {
            self.answer(0);
        }
    }

    /// Answers all requests in an order that the seed of the scheduler decides.
    pub fn settle_in_any_order(&mut self, scheduler: &mut Scheduler) {
        while !self.pending.is_empty() {
            let first = scheduler.reorder((0..self.pending.len()).collect())[0];
            self.answer(first);
        }
    }

    pub fn run(&mut self, command: impl Submit) -> Result<Reply, Error> {
        let id = self.submit(command);
        self.settle();
        self.finished.remove(&id).expect("every command ends")
    }
}

impl<X: Executor> Drive<X> {
    /// Runs a command, and returns its own reply.
    pub fn call<A: Answered>(&mut self, command: A) -> Result<ReplyTo<A>, Error> {
        let reply = self.run(command)?;
        let shown = format!("{reply:?}");
        Ok(A::from_reply(reply)
            .unwrap_or_else(|| panic!("{:?} answered `{}` with {shown}", self.kind, A::Request::NAME)))
    }
}

/// Returns a drive over a simulator that holds `files`.
pub fn drive(kind: Kind, config: Config, files: &[(&str, &[u8])]) -> Drive<Simulator> {
    Drive::new(kind, config, simulator(files))
}

pub fn simulator(files: &[(&str, &[u8])]) -> Simulator {
    let mut simulator = Simulator::new(1);
    for (file, bytes) in files {
        simulator.insert(&path(file), *bytes);
    }
    simulator
}

/// Returns the operations of a log that can change something.
pub fn changes(store: &Simulator) -> Vec<String> {
    let changes =
        store.log().iter().filter(|performed| !matches!(performed.op, "read" | "list-directory" | "generation"));
    changes.map(|performed| format!("{} {}", performed.op, performed.path)).collect()
}

/// A store that several engines use.
#[derive(Clone)]
pub struct Shared(pub Rc<RefCell<Simulator>>);

impl Executor for Shared {
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
        self.0.borrow_mut().perform(op)
    }
}
