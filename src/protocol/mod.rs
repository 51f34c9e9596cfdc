//! The words of the contract: what goes in, what comes out, what can be refused.
//!
//! A command makes a [`Step`]: [`FsRequest`]s that the host performs, and the commands that
//! [`Finished`]. Each request carries a [`ContextKey`]; the host echoes it in an [`FsResult`].
//! `wit/` says the same in the language of components.

mod error;
mod fs;
mod key;
mod step;

pub use error::{Error, ErrorCode, after_changes};
pub use fs::{
    AppendOutcome, Entry, EntryKind, FileContent, FsError, FsOp, FsOutcome, FsRequest, FsResult, ListOutcome, Listing,
    Precondition, ReadOutcome, RemoveOutcome, RenameOutcome, Version, WriteOutcome,
};
pub use key::ContextKey;
pub use step::{CommandId, Finished, ProtocolError, Step};
