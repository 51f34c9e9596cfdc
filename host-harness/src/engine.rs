//! [`Engine`]: whoever decides, natively or in a component.

use saddlebag::protocol::{CommandId, FsResult, ProtocolError};
use saddlebag::store::Timestamp;
use saddlebag::{Command, ConfigError, Memory, Step};

/// Whoever decides: the library itself, or the component that it is compiled to.
///
/// The methods are those of [`Memory`], which documents them.
pub trait Engine {
    /// Takes a command.
    ///
    /// # Errors
    ///
    /// Why the call is refused or the engine is gone.
    fn handle_memory_command(&mut self, id: CommandId, now: Timestamp, command: Command) -> Result<Step, EngineError>;

    /// Takes the result of a request.
    ///
    /// # Errors
    ///
    /// Why the call is refused or the engine is gone.
    fn handle_memory_result(&mut self, result: FsResult) -> Result<Step, EngineError>;

    /// Gives a command up.
    ///
    /// # Errors
    ///
    /// Why the engine is gone.
    fn cancel(&mut self, id: CommandId) -> Result<Step, EngineError>;
}

/// Why an engine did not take a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The call breaks the contract; nothing has changed.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The configuration is refused.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The component trapped: a fault, too much memory, too much time. The instance is gone, files are whole.
    #[error("the component stopped: {0}")]
    Trapped(String),
    /// The component cannot be loaded, or broke the contract.
    #[error("{0}")]
    Component(String),
}

/// The library itself as an engine. It is not `Send`: keep it on one thread.
pub struct NativeEngine(Memory);

impl NativeEngine {
    /// Makes an engine of an open memory.
    #[must_use]
    pub fn new(memory: Memory) -> Self {
        Self(memory)
    }
}

impl Engine for NativeEngine {
    fn handle_memory_command(&mut self, id: CommandId, now: Timestamp, command: Command) -> Result<Step, EngineError> {
        Ok(self.0.handle_memory_command(id, now, command)?)
    }

    fn handle_memory_result(&mut self, result: FsResult) -> Result<Step, EngineError> {
        Ok(self.0.handle_memory_result(result)?)
    }

    fn cancel(&mut self, id: CommandId) -> Result<Step, EngineError> {
        Ok(self.0.cancel(id))
    }
}

impl<E: Engine + ?Sized> Engine for &mut E {
    fn handle_memory_command(&mut self, id: CommandId, now: Timestamp, command: Command) -> Result<Step, EngineError> {
        (**self).handle_memory_command(id, now, command)
    }

    fn handle_memory_result(&mut self, result: FsResult) -> Result<Step, EngineError> {
        (**self).handle_memory_result(result)
    }

    fn cancel(&mut self, id: CommandId) -> Result<Step, EngineError> {
        (**self).cancel(id)
    }
}

impl<E: Engine + ?Sized> Engine for Box<E> {
    fn handle_memory_command(&mut self, id: CommandId, now: Timestamp, command: Command) -> Result<Step, EngineError> {
        (**self).handle_memory_command(id, now, command)
    }

    fn handle_memory_result(&mut self, result: FsResult) -> Result<Step, EngineError> {
        (**self).handle_memory_result(result)
    }

    fn cancel(&mut self, id: CommandId) -> Result<Step, EngineError> {
        (**self).cancel(id)
    }
}
