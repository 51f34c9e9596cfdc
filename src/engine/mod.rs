//! What a command has to work with, and the engine that runs it.
//!
//! [`saddlebag_protocol::Engine`] does the running. This room hands every command an [`Fs`] of its own, which reads
//! for all and changes for this room alone: what is written or removed is a `Screened` text or a `Removal`, so that no
//! command can get around the policy of `trust`.

mod files;
mod fs;
mod scope;

use core::future::Future;

use crate::protocol::{self, CommandId, Error, FsResult, ProtocolError, Step};
use crate::store::RelPath;

pub(crate) use files::{
    Backup, Backups, Change, Loaded, append, append_computed, create, finish_backup, load, load_all, remove,
    remove_version, rename, replace, update, write_cache, write_version,
};
pub(crate) use fs::Fs;
pub(crate) use scope::{Call, Scope};

/// What an engine takes at once. The host's own limits come on top of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest file that is read whole, and the largest answer to one read, in bytes.
    pub max_file_bytes: u32,
    /// How many entries one page of a listing may have.
    pub max_list_entries: u32,
    /// How many requests may be owed a result at once.
    pub max_requests: u32,
    /// How many commands may be in flight.
    pub max_commands: u32,
    /// How many bytes of text the search index keeps; files beyond are reported as skipped.
    pub max_index_bytes: u64,
}

impl Default for Limits {
    /// 16 MiB a file, 16,384 entries a page, 256 requests, 64 commands, 256 MiB of indexed text.
    fn default() -> Self {
        let protocol::Limits { max_list_entries, max_requests, max_commands } = protocol::Limits::default();
        Self { max_file_bytes: 16 << 20, max_list_entries, max_requests, max_commands, max_index_bytes: 256 << 20 }
    }
}

/// The folder of the index, below the root or a project.
const INDEX_FOLDER: &str = ".saddlebag";

/// The commands in flight and the requests that are owed a result.
pub(crate) struct Engine<R>(protocol::Engine<R>);

impl<R: 'static> Engine<R> {
    pub(crate) fn new(epoch: u64, limits: Limits) -> Self {
        let Limits { max_list_entries, max_requests, max_commands, .. } = limits;
        let limits = protocol::Limits { max_list_entries, max_requests, max_commands };
        Self(protocol::Engine::new(epoch, limits, is_bookkeeping))
    }

    /// Starts a command. `operation` names it in its context keys.
    pub(crate) fn start<F>(
        &mut self,
        id: CommandId,
        operation: &'static str,
        command: impl FnOnce(Fs) -> F,
    ) -> Result<Step<R>, ProtocolError>
    where
        F: Future<Output = Result<R, Error>> + Send + 'static,
    {
        self.0.start(id, operation, |fs| command(Fs::of(fs)))
    }

    /// Takes the result of a request.
    pub(crate) fn handle_result(&mut self, result: FsResult) -> Result<Step<R>, ProtocolError> {
        self.0.handle_result(result)
    }

    /// Gives a command up: it finishes as cancelled.
    pub(crate) fn cancel(&mut self, id: CommandId) -> Step<R> {
        self.0.cancel(id)
    }
}

/// Returns true for the copy of the index, which is not part of what people keep.
fn is_bookkeeping(path: &RelPath) -> bool {
    path.segments().any(|segment| segment == INDEX_FOLDER)
}
