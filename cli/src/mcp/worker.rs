//! [`Memory`]: a store on a thread of its own, for many calls at once.
//!
//! The engine runs on one thread and takes any number of commands in flight. The thread performs one
//! operation after another, oldest first, and looks for new calls and cancelled ones in between: a long
//! search holds nothing up, and a call that nobody waits for any more ends at its next operation.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use saddlebag::protocol::CommandId;
use saddlebag::tools::{Tool, ToolSet};
use saddlebag::{Command, Limits, Reply};
use saddlebag_host::EngineError;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Semaphore, oneshot};

use crate::args::Global;
use crate::failure::Failure;
use crate::store::Store;

/// After how many operations a call says how far it is.
const PROGRESS_EVERY: u64 = 256;

/// The way to the thread. Clones lead to the same one.
#[derive(Clone)]
pub(crate) struct Memory {
    jobs: Sender<Job>,
    slots: Arc<Semaphore>,
    last_ticket: Arc<AtomicU64>,
    timeout: Duration,
}

/// What the thread is asked for.
#[allow(clippy::large_enum_variant, reason = "a command is made once, and moved as it is")]
enum Job {
    Start(Call, Command),
    Cancel(u64),
}

/// A call in flight.
struct Call {
    ticket: u64,
    answer: oneshot::Sender<Result<Reply, Failure>>,
    /// Told how many operations were performed since the call began.
    progress: Option<UnboundedSender<u64>>,
    operations: u64,
}

impl Memory {
    /// Opens what the global options name, on a new thread that ends with the last way to it. Gives the
    /// tools of `sets` as the engine describes them.
    pub(crate) fn open(
        global: Global,
        sets: &[ToolSet],
        timeout: Duration,
    ) -> Result<(Self, Vec<Tool>, JoinHandle<()>), Failure> {
        let (jobs, inbox) = mpsc::channel();
        let (opened, ready) = mpsc::channel();
        let sets = sets.to_vec();
        // The engine stays on the thread that opens it.
        let thread = thread::Builder::new().name("memory".to_string()).spawn(move || {
            let mut worker = Worker { global, store: None, calls: BTreeMap::new() };
            let tools = worker.store().and_then(|store| Ok(store.memory().tools(&sets)?));
            let is_open = tools.is_ok();
            if opened.send(tools).is_ok() && is_open {
                worker.run(&inbox);
            }
        });
        let thread = thread.map_err(|error| Failure::new("engine", format!("cannot start a thread: {error}"), ""))?;
        let tools = ready.recv().map_err(|_| stopped())??;
        let slots = Arc::new(Semaphore::new(Limits::default().max_commands as usize));
        Ok((Self { jobs, slots, last_ticket: Arc::default(), timeout }, tools, thread))
    }

    /// Runs a command. Whoever stops waiting gives it up.
    pub(crate) async fn call(
        &self,
        command: impl Into<Command>,
        progress: Option<UnboundedSender<u64>>,
    ) -> Result<Reply, Failure> {
        let command = command.into();
        tokio::time::timeout(self.timeout, self.submit(command, progress)).await.unwrap_or_else(|_| {
            let message = format!("the call took longer than {} seconds and was given up", self.timeout.as_secs());
            let help = "what it changed before is kept; ask for less at once, or start the server with --timeout";
            Err(Failure::new("time-limit", message, help))
        })
    }

    async fn submit(&self, command: Command, progress: Option<UnboundedSender<u64>>) -> Result<Reply, Failure> {
        let _slot = self.slots.acquire().await.map_err(|_| stopped())?;
        let ticket = self.last_ticket.fetch_add(1, Ordering::Relaxed);
        let (answer, outcome) = oneshot::channel();
        let call = Call { ticket, answer, progress, operations: 0 };
        self.jobs.send(Job::Start(call, command)).map_err(|_| stopped())?;
        let _waiting = Waiting { ticket, jobs: self.jobs.clone() };
        outcome.await.unwrap_or_else(|_| Err(stopped()))
    }
}

/// Gives a call up when nobody waits for it any more. To one that has ended it does nothing.
struct Waiting {
    ticket: u64,
    jobs: Sender<Job>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // Where the thread has ended, so has the call.
        let _ = self.jobs.send(Job::Cancel(self.ticket));
    }
}

fn stopped() -> Failure {
    Failure::new("engine", "the memory has stopped", "start the server again")
}

struct Worker {
    global: Global,
    /// `None` until it is opened, and again after the engine was lost.
    store: Option<Store>,
    calls: BTreeMap<CommandId, Call>,
}

impl Worker {
    fn run(mut self, inbox: &Receiver<Job>) {
        loop {
            let job = if self.calls.is_empty() {
                let Ok(job) = inbox.recv() else { return };
                Some(job)
            } else {
                inbox.try_recv().ok()
            };
            match job {
                Some(Job::Start(call, command)) => self.start(call, command),
                Some(Job::Cancel(ticket)) => self.cancel(ticket),
                None => self.perform(),
            }
        }
    }

    /// The store, opened if it is not.
    fn store(&mut self) -> Result<&mut Store, Failure> {
        let store = match self.store.take() {
            Some(store) => store,
            None => Store::open(&self.global)?,
        };
        Ok(self.store.insert(store))
    }

    fn start(&mut self, call: Call, command: Command) {
        let now = self.global.now.unwrap_or_else(saddlebag_host::now);
        let submitted = self.store().map(|store| store.memory().submit(now, command));
        match submitted {
            Ok(Ok(id)) => {
                self.calls.insert(id, call);
                self.deliver();
            }
            Ok(Err(error)) => {
                let is_lost = !matches!(error, EngineError::Protocol(_));
                let failure = Failure::from(error);
                let _ = call.answer.send(Err(failure.clone()));
                if is_lost {
                    self.lose(&failure);
                }
            }
            Err(failure) => {
                let _ = call.answer.send(Err(failure));
            }
        }
    }

    fn cancel(&mut self, ticket: u64) {
        let found = self.calls.iter().find(|(_, call)| call.ticket == ticket).map(|(&id, _)| id);
        let Some(id) = found else { return };
        self.calls.remove(&id);
        let cancelled = self.store().and_then(|store| {
            store.memory().cancel(id)?;
            store.memory().take_finished(id);
            Ok(())
        });
        match cancelled {
            Ok(()) => tracing::debug!(id = id.0, "call given up"),
            Err(failure) => self.lose(&failure),
        }
        self.deliver();
    }

    /// Performs one operation.
    fn perform(&mut self) {
        let answered = self.store().and_then(|store| Ok(store.memory().answer()?));
        if let Err(failure) = answered {
            // Which command the operation was for, only the engine knows.
            return self.lose(&failure);
        }
        for call in self.calls.values_mut() {
            call.operations += 1;
            if let Some(progress) = call.progress.as_ref().filter(|_| call.operations % PROGRESS_EVERY == 0) {
                let _ = progress.send(call.operations);
            }
        }
        self.deliver();
    }

    /// Hands the outcome of each command that ended to who waits for it.
    fn deliver(&mut self) {
        let Some(store) = &mut self.store else { return };
        let memory = store.memory();
        for (_, (call, outcome)) in take_finished(&mut self.calls, |id| memory.take_finished(id)) {
            let _ = call.answer.send(outcome.map_err(Failure::from));
        }
        if let Some(failure) = store.trace_failure() {
            tracing::warn!(failure, "trace");
        }
    }

    /// Ends every call after the engine was lost; the next one opens another.
    fn lose(&mut self, failure: &Failure) {
        tracing::error!(code = failure.code, "the engine is lost, the next call opens another");
        self.store = None;
        for (_, call) in std::mem::take(&mut self.calls) {
            let _ = call.answer.send(Err(failure.clone()));
        }
    }
}

/// Takes the calls out that have an outcome.
fn take_finished<T>(
    calls: &mut BTreeMap<CommandId, Call>,
    mut outcome: impl FnMut(CommandId) -> Option<T>,
) -> Vec<(CommandId, (Call, T))> {
    let finished: Vec<(CommandId, T)> = calls.keys().filter_map(|&id| Some((id, outcome(id)?))).collect();
    finished.into_iter().filter_map(|(id, outcome)| Some((id, (calls.remove(&id)?, outcome)))).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use saddlebag::journal::{JournalCommand, JournalReply, SearchRequest};

    use super::*;
    use crate::args::Cli;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(future)
    }

    /// A store with so many notes that a search takes a while.
    fn open(folder: &std::path::Path, timeout: Duration) -> (Memory, JoinHandle<()>) {
        let notes = folder.join("notes");
        std::fs::create_dir_all(&notes).unwrap();
        for number in 0..1500 {
            std::fs::write(notes.join(format!("n{number}.md")), "fact\n").unwrap();
        }
        let root = folder.to_str().unwrap();
        let cli = Cli::parse_from(["saddlebag", "--root", root, "--notebook", "--engine", "native", "status"]);
        let (memory, _, thread) = Memory::open(cli.global, &ToolSet::ALL, timeout).unwrap();
        (memory, thread)
    }

    #[test]
    fn a_call_over_its_time_is_given_up_and_the_thread_ends_with_the_last_way_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let (memory, thread) = open(folder.path(), Duration::from_millis(1));
        let search = JournalCommand::Search(SearchRequest::new("fact"));
        let failure = block_on(memory.call(search, None)).unwrap_err();
        assert_eq!(failure.code, "time-limit");
        drop(memory);
        thread.join().unwrap();
    }

    #[test]
    fn more_calls_than_the_engine_takes_at_once_wait_their_turn() {
        let folder = tempfile::tempdir().unwrap();
        let (memory, thread) = open(folder.path(), Duration::from_secs(60));
        let calls = Limits::default().max_commands as usize * 3;
        let replies = block_on(async {
            let mut tasks = tokio::task::JoinSet::new();
            for _ in 0..calls {
                let memory = memory.clone();
                tasks.spawn(async move { memory.call(JournalCommand::Status, None).await });
            }
            tasks.join_all().await
        });
        assert_eq!(replies.len(), calls);
        assert!(replies.iter().all(|reply| matches!(reply, Ok(Reply::Journal(JournalReply::Status(_))))));
        drop(memory);
        thread.join().unwrap();
    }
}
