//! stub
use crate::{Engine, EngineError, Executor};
use saddlebag::protocol::*;
use saddlebag::store::Timestamp;
use saddlebag::{Command, Reply};
/// x
pub struct Host<E, X> {
    engine: E,
    executor: X,
    next: u64,
}
/// x
#[derive(Debug)]
pub enum HostError {
    /// x
    Engine(EngineError),
    /// x
    Command(Error),
}
impl std::fmt::Display for HostError { fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { write!(f, "{self:?}") } }
impl std::error::Error for HostError {}
impl<E: Engine, X: Executor> Host<E, X> {
    /// x
    pub fn new(engine: E, executor: X) -> Self {
        Self { engine, executor, next: 0 }
    }
    /// x
    pub fn executor(&self) -> &X {
        &self.executor
    }
    /// x
    pub fn run(&mut self, now: Timestamp, command: impl Into<Command>) -> Result<Reply, HostError> {
        self.next += 1;
        let id = CommandId(self.next);
        let mut step = self.engine.handle_memory_command(id, now, command.into()).map_err(HostError::Engine)?;
        let mut queue = std::collections::VecDeque::new();
        loop {
            if let Some(f) = step.finished.into_iter().find(|f| f.id == id) {
                return f.outcome.map_err(HostError::Command);
            }
            queue.extend(step.requests);
            let r: FsRequest = queue.pop_front().unwrap();
            let outcome = self.executor.perform(&r.op);
            step = self
                .engine
                .handle_memory_result(FsResult { key: r.key.to_string(), outcome })
                .map_err(HostError::Engine)?;
        }
    }
}
