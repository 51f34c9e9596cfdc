//! [`LocalDir`]: a store in a folder of the local disk.
//!
//! Paths are walked one segment at a time from the open root, and no symbolic link below it is
//! followed. Writers of a path take turns by a lock file ([`lock`]); readers take no lock, as a
//! write puts a whole new file in the place of the old one ([`write`]). People who edit a file at
//! the same time take no lock either: what they have saved is noticed by its version ([`version`])
//! and kept. A file that could not be synced is written again before anything rests on it ([`unsynced`]), and
//! what a writer that died has left is cleared up by the next one ([`leftovers`]).

mod append;
mod batch;
mod change;
mod dir;
mod error;
mod leftovers;
mod list;
mod lock;
mod read;
mod sys;
mod unsynced;
mod version;
mod walk;
mod write;

#[cfg(test)]
mod tests;

use saddlebag::protocol::{FsError, FsOp, FsOutcome};

use crate::executor::{Executor, by_method, check, traced_path};
pub use dir::{LocalDir, LocalDirOptions, OpenError};
pub use error::io_cause;
pub use leftovers::Recovered;

impl Executor for LocalDir {
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
        perform(self, op)
    }

    fn perform_all(&mut self, ops: &[&FsOp]) -> Vec<Result<FsOutcome, FsError>> {
        batch::perform_all(self, ops, perform)
    }
}

fn perform(store: &LocalDir, op: &FsOp) -> Result<FsOutcome, FsError> {
    let span = tracing::trace_span!("fs", op = op.name(), path = traced_path(op));
    let _entered = span.enter();
    let checked = check(op, store.options.max_write_bytes).and_then(|()| store.check_root(op));
    let outcome = checked.and_then(|()| {
        if let FsOp::Read { path, .. } = op
            && store.must_settle(path)
        {
            store.settle(path);
        }
        by_method!(store, op)
    });
    match &outcome {
        Ok(_) => tracing::trace!("done"),
        Err(error) => tracing::debug!(%error, "not performed"),
    }
    outcome
}
