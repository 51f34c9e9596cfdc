//! [`Blocking`]: performs the operations of an asynchronous store for a caller that waits.
//!
//! The store lives on a separate thread: the caller may be part of another runtime, which must not be blocked by this one.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use futures::StreamExt;
use saddlebag::protocol::{FsError, FsOp, FsOutcome};
use saddlebag_host::Executor;
use saddlebag_host::executor::{check, is_read};
use tokio::runtime::{Builder, Runtime};

use crate::deadline::counting_retries;
use crate::error::AttachError;
use crate::store::Store;

/// Number of operations that are performed at the same time.
const AT_ONCE: usize = 32;

type Outcome = Result<FsOutcome, FsError>;

/// Operations, and where their results go.
struct Request {
    ops: Vec<FsOp>,
    results: Sender<Vec<Outcome>>,
}

/// A store on a thread, which ends with it.
pub(crate) struct Blocking {
    requests: Sender<Request>,
}

/// Runs something to its end, on a separate thread.
pub(crate) fn run<T: Send>(work: impl AsyncFnOnce() -> Result<T, AttachError> + Send) -> Result<T, AttachError> {
    thread::scope(|scope| {
        let thread = scope.spawn(|| runtime()?.block_on(work()));
        thread.join().unwrap_or_else(|_| Err(AttachError::Other("the thread of the store panicked".into())))
    })
}

fn runtime() -> Result<Runtime, AttachError> {
    let built = Builder::new_current_thread().enable_io().enable_time().build();
    built.map_err(|error| AttachError::Other(error.to_string()))
}

impl Blocking {
    /// Opens a store on its thread.
    pub(crate) fn open<S: Store>(
        open: impl AsyncFnOnce() -> Result<S, AttachError> + Send + 'static,
    ) -> Result<Self, AttachError> {
        let (requests, received) = channel();
        let (opened, is_open) = channel();
        let work = move || {
            let started = runtime().and_then(|runtime| {
                let store = runtime.block_on(open())?;
                Ok((store, runtime))
            });
            match started {
                Ok((store, runtime)) => {
                    // The caller waits for it.
                    let _ = opened.send(Ok(()));
                    serve(&store, &runtime, &received);
                }
                Err(error) => drop(opened.send(Err(error))),
            }
        };
        let started = thread::Builder::new().name("store".into()).spawn(work);
        started.map_err(|error| AttachError::Other(format!("no thread for the store: {error}")))?;
        is_open.recv().unwrap_or_else(|_| Err(AttachError::Other("the thread of the store panicked".into())))?;
        Ok(Self { requests })
    }
}

fn serve<S: Store>(store: &S, runtime: &Runtime, requests: &Receiver<Request>) {
    for Request { ops, results } in requests {
        // A caller that has gone needs no answer.
        let _ = results.send(runtime.block_on(perform(store, &ops)));
    }
}

async fn perform<S: Store>(store: &S, ops: &[FsOp]) -> Vec<Outcome> {
    let perform = async |op: &FsOp| {
        check(op, S::MAX_FILE_BYTES)?;
        counting_retries(store.perform(op)).await
    };
    let mut results = Vec::with_capacity(ops.len());
    let mut rest = ops;
    while let Some((first, others)) = rest.split_first() {
        let reads = rest.iter().take_while(|op| is_read(op)).count();
        if reads < 2 {
            results.push(perform(first).await);
            rest = others;
        } else {
            let (reads, others) = rest.split_at(reads);
            results.extend(futures::stream::iter(reads).map(&perform).buffered(AT_ONCE).collect::<Vec<_>>().await);
            rest = others;
        }
    }
    results
}

impl Executor for Blocking {
    fn perform(&mut self, op: &FsOp) -> Outcome {
        self.perform_all(&[op]).pop().unwrap_or_else(|| Err(gone()))
    }

    fn perform_all(&mut self, ops: &[&FsOp]) -> Vec<Outcome> {
        let (results, received) = channel();
        let request = Request { ops: ops.iter().map(|op| (*op).clone()).collect(), results };
        let sent = self.requests.send(request).is_ok();
        let results = if sent { received.recv().ok() } else { None };
        results.unwrap_or_else(|| ops.iter().map(|_| Err(gone())).collect())
    }
}

fn gone() -> FsError {
    FsError::Other("the thread of the store has ended; a change may have been made".into())
}
