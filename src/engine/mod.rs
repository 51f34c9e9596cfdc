//! Engine of the memory: it runs the commands, and reads files for them.
//!
//! [`saddlebag_protocol::Engine`] runs the commands. Other rooms read through [`Fs`], which changes no file.

mod files;
mod fs;
mod named;
mod scope;

use core::future::Future;

use crate::protocol::{self, CommandId, Error, FsResult, ResultError, Step, SubmitError};
use crate::store::Layout;

pub(crate) use files::{Loaded, load, load_all};
pub(crate) use fs::Fs;
pub(crate) use named::{NamedFile, ambiguous, prefer_approved};
pub use scope::Limits;
pub(crate) use scope::Scope;

/// Commands in flight, and requests without a result yet.
pub(crate) struct Engine<R>(protocol::Engine<R>);

impl<R: 'static> Engine<R> {
    pub(crate) fn new(epoch: u64, limits: Limits) -> Self {
        let Limits { max_list_entries, max_requests, max_commands, .. } = limits;
        let limits = protocol::Limits { max_list_entries, max_requests, max_commands };
        Self(protocol::Engine::new(epoch, limits, Layout::is_bookkeeping))
    }

    /// Starts a command. `operation` names it in its context keys.
    pub(crate) fn start<F>(
        &mut self,
        id: CommandId,
        operation: &'static str,
        command: impl FnOnce(protocol::Fs) -> F,
    ) -> Result<Step, SubmitError>
    where
        F: Future<Output = Result<R, Error>> + Send + 'static,
    {
        self.0.start(id, operation, command)
    }

    /// Accepts the result of a request.
    pub(crate) fn handle_result(&mut self, result: FsResult) -> Result<Step, ResultError> {
        self.0.handle_result(result)
    }

    /// Takes the reply of a finished command, once, or the part of it that `pick` returns.
    pub(crate) fn take<T>(&mut self, id: CommandId, pick: impl FnOnce(R) -> Result<T, R>) -> Result<T, Error> {
        self.0.take(id, pick)
    }

    /// Cancels a command, which finishes as cancelled.
    pub(crate) fn cancel(&mut self, id: CommandId) -> Step {
        self.0.cancel(id)
    }
}
