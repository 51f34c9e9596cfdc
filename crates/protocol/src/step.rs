//! Results of a call to the engine, and reasons to refuse it.

use alloc::string::String;
use alloc::vec::Vec;

use super::{CommandId, Error, FsRequest};

/// Everything that one call caused. There is nothing to poll.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "every request in a step is owed exactly one result"]
pub struct Step {
    /// To perform, in any order or at once; each is owed exactly one result.
    pub requests: Vec<FsRequest>,
    /// The commands that ended with this call.
    pub finished: Vec<Finished>,
}

/// A command that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The command.
    pub id: CommandId,
    /// Why it has no reply; `None` if it has one, which waits to be taken.
    pub error: Option<Error>,
}

/// Why a call was refused. Nothing has changed: the store, the commands in flight and the requests
/// that are owed a result are as before.
///
/// Another version of the contract may have more cases.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// No request ever had this key, as far as is known: of the last 4,096 commands that ended.
    #[error("unknown context key `{0}`")]
    UnknownKey(String),
    /// The key belongs to another epoch: to an engine opened before, or to another store.
    #[error("context key `{0}` belongs to another epoch")]
    ForeignKey(String),
    /// The request has had its result.
    #[error("context key `{0}` was answered before")]
    UsedKey(String),
    /// The result does not fit the request; the text says how. The request is still owed one.
    #[error("result for `{key}` refused: {reason}")]
    InvalidResult {
        /// The key of the request.
        key: String,
        /// The difference between result and request.
        reason: String,
    },
    /// Command ids must grow.
    #[error("command id {given} is not larger than the last, {last}")]
    CommandIdNotNew {
        /// The id that was given.
        given: u64,
        /// The last one that was taken.
        last: u64,
    },
    /// Too many commands in flight; the number is the limit.
    #[error("too many commands in flight, the limit is {0}")]
    TooManyCommands(u32),
    /// The timestamp is out of range.
    #[error("timestamp out of range (years 0001 to 9999, nanoseconds below 1000000000, offset within a day)")]
    InvalidTime,
}
