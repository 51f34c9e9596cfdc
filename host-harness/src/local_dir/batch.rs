//! Many operations at once: reads and listings share threads, changes are performed one after another.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use saddlebag::protocol::{FsError, FsOp, FsOutcome};

use super::dir::LocalDir;
use crate::executor::is_read;

/// Number of reads that justify a thread: starting one takes about as long as three reads of small files.
const READS_PER_THREAD: usize = 16;

/// Number of reads that take as long as the listing of a folder of some hundred notes.
const READS_PER_LISTING: usize = 16;

/// Minimum number of threads. While some wait for the disk, others can read, so more threads than processors are
/// useful.
const LEAST_THREADS: usize = 4;

/// Maximum number of threads. More would wait for each other.
const MOST_THREADS: usize = 8;

type Outcome = Result<FsOutcome, FsError>;

/// Function that performs one operation.
type Perform = fn(&LocalDir, &FsOp) -> Outcome;

/// Performs the operations by `perform` and returns their results in the same order.
pub(super) fn perform_all(store: &LocalDir, ops: &[&FsOp], perform: Perform) -> Vec<Outcome> {
    let mut outcomes = Vec::with_capacity(ops.len());
    for run in ops.chunk_by(|one, other| store.only_reads(one) && store.only_reads(other)) {
        let weight = |op: &&FsOp| if matches!(op, FsOp::ListDirectory { .. }) { READS_PER_LISTING } else { 1 };
        match run.iter().map(weight).sum::<usize>() / READS_PER_THREAD {
            // A change is performed alone.
            0 | 1 => outcomes.extend(run.iter().map(|op| perform(store, op))),
            worth => outcomes.extend(read_all(
                store,
                run,
                perform,
                worth.min(run.len()).min(processors().max(LEAST_THREADS)).min(MOST_THREADS),
            )),
        }
    }
    outcomes
}

/// Returns the number of threads that can run at the same time. Determined once, because it is read from files.
pub(super) fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Distributes the reads over this thread and others.
fn read_all(store: &LocalDir, ops: &[&FsOp], perform: Perform, threads: usize) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let span = tracing::Span::current();
    let take_turns = || {
        let mut done = Vec::new();
        // A thread takes the next one when it is ready, because some files are large.
        while let Some((index, op)) = take(&next, ops) {
            done.push((index, perform(store, op)));
        }
        done
    };
    let mut outcomes: Vec<Option<Outcome>> = Vec::new();
    outcomes.resize_with(ops.len(), || None);
    std::thread::scope(|scope| {
        let start = |_| {
            let span = span.clone();
            let reader = std::thread::Builder::new().name("reader".into());
            // If a thread cannot be started, the others do its share.
            reader.spawn_scoped(scope, move || span.in_scope(take_turns)).ok()
        };
        let others: Vec<_> = (1..threads).filter_map(start).collect();
        let mut done = vec![take_turns()];
        done.extend(others.into_iter().filter_map(|other| other.join().ok()));
        for (index, outcome) in done.into_iter().flatten() {
            outcomes[index] = Some(outcome);
        }
    });
    let lost = || Err(FsError::Other("a reading thread failed".into()));
    outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(lost)).collect()
}

fn take<'o>(next: &AtomicUsize, ops: &[&'o FsOp]) -> Option<(usize, &'o FsOp)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    ops.get(index).map(|op| (index, *op))
}

impl LocalDir {
    /// Returns true if the operation changes nothing. A read of a file that could not be synced writes it again first.
    fn only_reads(&self, op: &FsOp) -> bool {
        is_read(op) && !matches!(op, FsOp::Read { path, .. } if self.must_settle(path))
    }
}
