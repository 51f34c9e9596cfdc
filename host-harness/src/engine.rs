//! [`Engine`]: what decides which operations a command needs, in a component or natively.

use saddlebag::protocol::{CommandId, Error, FsResult, ProtocolError, Step};
use saddlebag::store::Timestamp;
use saddlebag::tools::{Tool, ToolSet};
use saddlebag::{Command, Config, ConfigError, Memory, Reply, Submission};

/// Runs the commands of one scope of one store, without doing any I/O.
///
/// Every call returns what it caused: requests, each of which is owed exactly one result, and the
/// commands that finished. The same calls give the same steps in every implementation.
pub trait Engine {
    /// Takes a command. `id` is larger than those before; `now` is the only clock.
    ///
    /// # Errors
    ///
    /// Why the call is refused. Nothing has changed, unless the component trapped.
    fn submit(&mut self, id: CommandId, now: Timestamp, submission: Submission<Command>) -> Result<Step, EngineError>;

    /// Takes the reply of a command that has finished without an error, once. Gives the error of the component where there
    /// is none.
    ///
    /// # Errors
    ///
    /// The component trapped.
    fn take(&mut self, id: CommandId) -> Result<Result<Reply, Error>, EngineError>;

    /// Takes the result of a request.
    ///
    /// # Errors
    ///
    /// Why the call is refused. Nothing has changed, unless the component trapped.
    fn handle_memory_result(&mut self, result: FsResult) -> Result<Step, EngineError>;

    /// Gives a command up: it finishes as cancelled. Results that are owed to it may still come.
    ///
    /// # Errors
    ///
    /// The component trapped.
    fn cancel(&mut self, id: CommandId) -> Result<Step, EngineError>;

    /// The tools of these sets, as a model is shown them. It has no effect, and needs no command.
    ///
    /// # Errors
    ///
    /// The component trapped.
    fn tools(&mut self, sets: &[ToolSet]) -> Result<Vec<Tool>, EngineError>;
}

/// Why an engine cannot be opened, or does not take a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The call breaks the contract; nothing has changed.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The configuration breaks a rule.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The component trapped, or used up its memory or its time. It is dropped with the commands it
    /// had in flight; files are whole, as every operation was performed whole or not at all.
    #[error("the component stopped: {0}")]
    Trapped(String),
    /// The component cannot be loaded (its bytes are no component, or it has another world), or it
    /// broke the contract.
    #[error("{0}")]
    Component(String),
}

/// The engine as a part of this program: no sandbox, nothing to load.
pub struct NativeEngine(Memory);

impl NativeEngine {
    /// Makes an engine of an open memory.
    #[must_use]
    pub fn new(memory: Memory) -> Self {
        Self(memory)
    }

    /// Opens the engine. Nothing is read yet.
    ///
    /// # Errors
    ///
    /// A field of the configuration that breaks its rule.
    pub fn open(config: Config) -> Result<Self, EngineError> {
        Ok(Self::new(Memory::open(config)?))
    }
}

impl Engine for NativeEngine {
    fn submit(&mut self, id: CommandId, now: Timestamp, submission: Submission<Command>) -> Result<Step, EngineError> {
        Ok(self.0.submit(id, now, submission)?)
    }

    fn take(&mut self, id: CommandId) -> Result<Result<Reply, Error>, EngineError> {
        Ok(self.0.take(id))
    }

    fn handle_memory_result(&mut self, result: FsResult) -> Result<Step, EngineError> {
        Ok(self.0.handle_memory_result(result)?)
    }

    fn cancel(&mut self, id: CommandId) -> Result<Step, EngineError> {
        Ok(self.0.cancel(id))
    }

    fn tools(&mut self, sets: &[ToolSet]) -> Result<Vec<Tool>, EngineError> {
        Ok(saddlebag::tools::tools(sets))
    }
}

impl<E: Engine + ?Sized> Engine for &mut E {
    fn submit(&mut self, id: CommandId, now: Timestamp, submission: Submission<Command>) -> Result<Step, EngineError> {
        (**self).submit(id, now, submission)
    }

    fn take(&mut self, id: CommandId) -> Result<Result<Reply, Error>, EngineError> {
        (**self).take(id)
    }

    fn handle_memory_result(&mut self, result: FsResult) -> Result<Step, EngineError> {
        (**self).handle_memory_result(result)
    }

    fn cancel(&mut self, id: CommandId) -> Result<Step, EngineError> {
        (**self).cancel(id)
    }

    fn tools(&mut self, sets: &[ToolSet]) -> Result<Vec<Tool>, EngineError> {
        (**self).tools(sets)
    }
}

impl<E: Engine + ?Sized> Engine for Box<E> {
    fn submit(&mut self, id: CommandId, now: Timestamp, submission: Submission<Command>) -> Result<Step, EngineError> {
        (**self).submit(id, now, submission)
    }

    fn take(&mut self, id: CommandId) -> Result<Result<Reply, Error>, EngineError> {
        (**self).take(id)
    }

    fn handle_memory_result(&mut self, result: FsResult) -> Result<Step, EngineError> {
        (**self).handle_memory_result(result)
    }

    fn cancel(&mut self, id: CommandId) -> Result<Step, EngineError> {
        (**self).cancel(id)
    }

    fn tools(&mut self, sets: &[ToolSet]) -> Result<Vec<Tool>, EngineError> {
        (**self).tools(sets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_native_engine_moves_between_threads() {
        fn assert_send<T: Send>() {}
        assert_send::<NativeEngine>();
    }
}
