//! Results of a call to the engine, and reasons to refuse it.

use super::{CommandId, Error, FsRequest};
use saddlebag_collections::prelude::*;

/// Everything that one call caused. There is nothing to poll. `A` is the answer of a command that has no reply to take.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "every request in a step is owed exactly one result"]
pub struct Step<A = ()> {
    /// Requests to perform, in any order or at once. Each needs exactly one result.
    pub requests: Vec<FsRequest>,
    /// Commands that finished with this call.
    pub finished: Vec<Finished<A>>,
}

impl<A> Default for Step<A> {
    fn default() -> Self {
        Self { requests: Vec::new(), finished: Vec::new() }
    }
}

/// A command that finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished<A = ()> {
    /// Id of the command.
    pub id: CommandId,
    /// True if the command has changed a file, or may have, whether it succeeded or failed. Bookkeeping, such as an index,
    /// does not count.
    pub changed: bool,
    /// Error; `None` if the command has a reply, which can be taken, or an answer.
    pub error: Option<Error>,
    /// Answer of a command that has no reply to take.
    pub answer: Option<A>,
}

/// Reason why a result was refused. Nothing has changed: neither the store nor the commands in flight nor the requests.
///
/// Another version of the contract may have more cases.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResultError {
    /// No request ever had this key, as far as the last 4,096 finished commands tell.
    #[error("unknown context key `{0}`")]
    UnknownKey(String),
    /// The key belongs to another epoch: to an engine that was opened before, or to another store.
    #[error("context key `{0}` belongs to another epoch")]
    ForeignKey(String),
    /// The request already had its result.
    #[error("context key `{0}` was answered before")]
    UsedKey(String),
    /// The result does not match the request; the text says how. The request still needs a result.
    #[error("result for `{key}` refused: {reason}")]
    InvalidResult {
        /// Key of the request.
        key: String,
        /// Difference between result and request.
        reason: String,
    },
}

/// Reason why a command was refused. Nothing has changed: neither the store nor the commands in flight nor the requests.
///
/// Another version of the contract may have more cases.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// The id is not larger than the last one.
    #[error("command id {given} is not larger than the last, {last}")]
    CommandIdNotNew {
        /// Given id.
        given: u64,
        /// Last accepted id.
        last: u64,
    },
    /// Too many commands are in flight. The value is the limit.
    #[error("too many commands in flight, the limit is {0}")]
    TooManyCommands(u32),
    /// The timestamp is out of range.
    #[error("timestamp out of range (years 0001 to 9999, nanoseconds below 1000000000, offset within a day)")]
    InvalidTime,
}
