//! [`Engine`]: decides which operations a command needs, in a component or natively.

use saddlebag::protocol::{CommandId, Error, FsResult, ResultError, SubmitError};
use saddlebag::store::Timestamp;
use saddlebag::tools::{Tool, ToolSet, ToolsReply};
use saddlebag::{Command, Config, ConfigError, Finished, Memory, Reply, Step, Submission};

/// Runs the commands of one scope of one store, without doing any I/O.
///
/// Every call returns a step: requests, each of which needs exactly one result, and the commands that finished. The
/// same calls give the same steps in every implementation.
pub trait Engine {
    /// Starts a command. `id` must be larger than all earlier ones; `now` is the only clock.
    ///
    /// # Errors
    ///
    /// The reason why the call is refused. Nothing has changed, unless the component trapped.
    fn submit(&mut self, id: CommandId, now: Timestamp, submission: Submission<Command>) -> Result<Step, EngineError>;

    /// Takes the reply of a command that has finished without an error, once. Returns the component's error if the command
    /// has no reply. The answer of a tool is in the step.
    ///
    /// # Errors
    ///
    /// The component trapped.
    fn take(&mut self, id: CommandId) -> Result<Result<Reply, Error>, EngineError>;

    /// Returns the outcome of a command that a step lists as finished: its error, its answer, or the reply that it takes.
    ///
    /// # Errors
    ///
    /// The component trapped.
    fn outcome(&mut self, finished: Finished) -> Result<Result<Reply, Error>, EngineError> {
        match (finished.error, finished.answer) {
            (Some(error), _) => Ok(Err(error)),
            (None, Some(answer)) => Ok(Ok(Reply::Tools(ToolsReply::CallTool(answer)))),
            (None, None) => self.take(finished.id),
        }
    }

    /// Accepts the result of a request.
    ///
    /// # Errors
    ///
    /// The reason why the call is refused. Nothing has changed, unless the component trapped.
    fn handle_memory_result(&mut self, result: FsResult) -> Result<Step, EngineError>;

    /// Cancels a command: it finishes as cancelled. Results of its requests may still be passed.
    ///
    /// # Errors
    ///
    /// The component trapped.
    fn cancel(&mut self, id: CommandId) -> Result<Step, EngineError>;

    /// Returns the tools of these sets, as they are described to a model. It has no effect, and needs no command.
    ///
    /// # Errors
    ///
    /// The component trapped.
    fn tools(&mut self, sets: &[ToolSet]) -> Result<Vec<Tool>, EngineError>;
}

/// Reason why an engine cannot be opened, or refuses a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The command is refused. Nothing has changed.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// The result is refused. Nothing has changed.
    #[error(transparent)]
    Result(#[from] ResultError),
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The component trapped, or exceeded its memory or its time. It is dropped with the commands in flight. Files are
    /// whole, because every operation was performed completely or not at all.
    #[error("the component stopped: {0}")]
    Trapped(String),
    /// The component cannot be loaded (its bytes are not a component, or it has another world), or it violated the
    /// contract.
    #[error("{0}")]
    Component(String),
}

impl EngineError {
    /// Returns true if the engine only refused the call, so that nothing has changed and it can go on.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Submit(_) | Self::Result(_))
    }
}

/// The engine as a part of this program: no sandbox, nothing to load.
pub struct NativeEngine(Memory);

impl NativeEngine {
    /// Creates an engine from an open memory.
    pub fn new(memory: Memory) -> Self {
        Self(memory)
    }

    /// Opens the engine. Nothing is read yet.
    ///
    /// # Errors
    ///
    /// A field of the configuration is invalid.
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

macro_rules! forward {
    ($($owner:ty),*) => {
        $(
            impl<E: Engine + ?Sized> Engine for $owner {
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
        )*
    };
}

forward!(&mut E, Box<E>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_native_engine_moves_between_threads() {
        fn assert_send<T: Send>() {}
        assert_send::<NativeEngine>();
    }
}
