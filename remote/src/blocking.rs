//! [`Blocking`]: performs the operations of an asynchronous store for a caller that waits.

use futures::StreamExt;
use saddlebag::protocol::{FsError, FsOp, FsOutcome};
use saddlebag_host::Executor;
use saddlebag_host::executor::{check, is_read};
use tokio::runtime::{Builder, Runtime};

use crate::store::Store;

/// Number of operations that are performed at the same time.
const AT_ONCE: usize = 32;

/// A store, and the runtime that it needs.
pub(crate) struct Blocking<S> {
    store: S,
    runtime: Runtime,
}

/// Returns a runtime for the requests of one store.
pub(crate) fn runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_io().enable_time().build()
}

impl<S> Blocking<S> {
    pub(crate) fn new(store: S, runtime: Runtime) -> Self {
        Self { store, runtime }
    }
}

impl<S: Store> Executor for Blocking<S> {
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
        check(op, S::MAX_FILE_BYTES)?;
        self.runtime.block_on(self.store.perform(op))
    }

    fn perform_all(&mut self, ops: &[&FsOp]) -> Vec<Result<FsOutcome, FsError>> {
        let mut results = Vec::with_capacity(ops.len());
        let mut rest = ops;
        while let Some((first, others)) = rest.split_first() {
            let reads = rest.iter().take_while(|op| is_read(op)).count();
            if reads < 2 {
                results.push(self.perform(first));
                rest = others;
                continue;
            }
            let (reads, others) = rest.split_at(reads);
            let store = &self.store;
            let answers = futures::stream::iter(reads).map(|op| async move {
                check(op, S::MAX_FILE_BYTES)?;
                store.perform(op).await
            });
            results.extend(self.runtime.block_on(answers.buffered(AT_ONCE).collect::<Vec<_>>()));
            rest = others;
        }
        results
    }
}
