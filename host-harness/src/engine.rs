//! [`Engine`]: whoever decides, natively or in a component.

use saddlebag::protocol::{CommandId, FsResult, ProtocolError};
use saddlebag::store::Timestamp;
use saddlebag::{Command, ConfigError, Memory, Step};

/// x
pub trait Engine {
    /// x
    fn handle_memory_command(&mut self, id: CommandId, now: Timestamp, command: Command) -> Result<Step, EngineError>;
    /// x
    fn handle_memory_result(&mut self, result: FsResult) -> Result<Step, EngineError>;
    /// x
    fn cancel(&mut self, id: CommandId) -> Result<Step, EngineError>;
}

/// x
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// x
    #[error("{0}")]
    Protocol(ProtocolError),
    /// x
    #[error("{0}")]
    Config(ConfigError),
    /// x
    #[error("{0}")]
    Trapped(String),
    /// x
    #[error("{0}")]
    Component(String),
}
