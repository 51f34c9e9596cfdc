//! [`Memory`]: a store that serves many calls at once.
//!
//! A task owns the store and waits for calls. While there are calls, it lends the store to a thread for blocking
//! work. The thread performs operations, oldest first. It checks for new and cancelled calls after each change and
//! after a few reads, so that a long search delays no other call and a cancelled call ends there.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use saddlebag::protocol::CommandId;
use saddlebag::tools::{Tool, ToolSet};
use saddlebag::{Command, Limits, Reply, Submission, Submit};
use saddlebag_host::{AnsweredRequests, Noticed, Watch};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender, WeakUnboundedSender};
use tokio::sync::{Semaphore, oneshot};
use tokio::task;

use crate::failure::{Failure, ProgramCode};
use crate::global::Global;
use crate::store::{Root, Store};

/// Number of operations between two progress reports of a call.
const PROGRESS_EVERY: u64 = 256;

/// Number of reads that are performed together: enough for several threads, and done within milliseconds.
const READS_AT_ONCE: usize = 64;

/// Handle to the store. Clones use the same store.
#[derive(Clone)]
pub(crate) struct Memory {
    jobs: UnboundedSender<Job>,
    slots: Arc<Semaphore>,
    last_ticket: Arc<AtomicU64>,
    timeout: Duration,
}

/// Message to the task.
#[allow(clippy::large_enum_variant, reason = "a command is made once, and moved as it is")]
enum Job {
    Start(Call, Submission<Command>),
    Cancel(u64),
    /// Cancels every call, and accepts no more.
    Stop,
}

/// Lets the owner of the store wait until no operation is running.
pub(crate) struct Ending {
    jobs: WeakUnboundedSender<Job>,
    ended: std::sync::mpsc::Receiver<Infallible>,
}

impl Ending {
    /// Cancels every call at its next operation.
    pub(crate) fn begin(&self) {
        if let Some(jobs) = self.jobs.upgrade() {
            // If the task has ended, its calls have ended too.
            let _ = jobs.send(Job::Stop);
        }
    }

    /// Waits until the store is closed. The runtime must have been shut down, or be driven by another thread.
    pub(crate) fn wait(self) {
        // Nothing is ever sent. This returns when the worker is dropped.
        let _ = self.ended.recv();
    }
}

/// Call in progress.
struct Call {
    ticket: u64,
    answer: oneshot::Sender<Result<Reply, Failure>>,
    /// Channel for the number of operations performed since the call began.
    progress: Option<UnboundedSender<u64>>,
    operations: u64,
}

impl Memory {
    /// Opens the store that the global options name. Needs a runtime. The store is closed when the last handle is
    /// dropped. Also returns the tools of `sets` as the engine describes them.
    ///
    /// The folder is watched, and `changes` gets each change. If there is no sender, or the folder cannot be watched, each
    /// question checks every file.
    pub(crate) fn open(
        global: Global,
        sets: &[ToolSet],
        timeout: Duration,
        changes: Option<UnboundedSender<Noticed>>,
    ) -> Result<(Self, Vec<Tool>, Ending), Failure> {
        let (jobs, inbox) = mpsc::unbounded_channel();
        let (alive, ended) = std::sync::mpsc::channel();
        let mut worker = Worker { global, watch: None, store: None, calls: BTreeMap::new(), _alive: alive };
        let tools = worker.store().and_then(|store| Ok(store.memory().tools(sets)?))?;
        if let Some(changes) = changes {
            worker.watch(changes)?;
        }
        task::spawn(worker.serve(inbox));
        let slots = Arc::new(Semaphore::new(Limits::default().max_commands as usize));
        // A weak sender, so that it does not keep the store open.
        let ending = Ending { jobs: jobs.downgrade(), ended };
        Ok((Self { jobs, slots, last_ticket: Arc::default(), timeout }, tools, ending))
    }

    /// Runs a command. Dropping the future cancels the command.
    pub(crate) async fn call(
        &self,
        command: impl Submit,
        progress: Option<UnboundedSender<u64>>,
    ) -> Result<Reply, Failure> {
        let command = command.submission();
        tokio::time::timeout(self.timeout, self.submit(command, progress)).await.unwrap_or_else(|_| {
            let message = format!("the call took longer than {} seconds and was cancelled", self.timeout.as_secs());
            let help = "its earlier changes are kept; ask for less at once, or start the server with --timeout";
            Err(Failure::new(ProgramCode::TimeLimit, message, help))
        })
    }

    async fn submit(
        &self,
        command: Submission<Command>,
        progress: Option<UnboundedSender<u64>>,
    ) -> Result<Reply, Failure> {
        let _slot = self.slots.acquire().await.map_err(|_| stopped())?;
        let ticket = self.last_ticket.fetch_add(1, Ordering::Relaxed);
        let (answer, outcome) = oneshot::channel();
        let call = Call { ticket, answer, progress, operations: 0 };
        self.jobs.send(Job::Start(call, command)).map_err(|_| stopped())?;
        let _waiting = Waiting { ticket, jobs: self.jobs.clone() };
        outcome.await.unwrap_or_else(|_| Err(stopped()))
    }
}

/// Guard that cancels a call when its result is no longer wanted. It has no effect after the call has ended.
struct Waiting {
    ticket: u64,
    jobs: UnboundedSender<Job>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // If the task has ended, the call has ended too.
        let _ = self.jobs.send(Job::Cancel(self.ticket));
    }
}

fn stopped() -> Failure {
    Failure::new(ProgramCode::Engine, "the memory has stopped", "start the server again")
}

struct Worker {
    global: Global,
    watch: Option<Watch>,
    /// Store; `None` before it is opened, and after the engine was lost.
    store: Option<Store>,
    calls: BTreeMap<CommandId, Call>,
    /// Sender that is dropped with the worker, which tells [`Ending`] that the store is closed.
    _alive: std::sync::mpsc::Sender<Infallible>,
}

impl Worker {
    async fn serve(mut self, mut inbox: UnboundedReceiver<Job>) {
        while let Some(job) = inbox.recv().await {
            let working = task::spawn_blocking(move || {
                let goes_on = self.work(job, &mut inbox);
                goes_on.then_some((self, inbox))
            });
            match working.await {
                Ok(Some(idle)) => (self, inbox) = idle,
                Ok(None) => return,
                Err(error) => return tracing::error!(%error, "the memory has stopped"),
            }
        }
    }

    /// Handles a job, and works until no call is in progress and the inbox is empty. Returns false after
    /// [`Job::Stop`].
    fn work(&mut self, job: Job, inbox: &mut UnboundedReceiver<Job>) -> bool {
        let mut job = Some(job);
        loop {
            match job {
                Some(Job::Start(call, command)) => self.start(call, command),
                Some(Job::Cancel(ticket)) => self.cancel(ticket),
                Some(Job::Stop) => return false,
                None if self.calls.is_empty() => return true,
                None => self.perform(),
            }
            job = inbox.try_recv().ok();
        }
    }

    /// Returns the store, and opens it first if necessary.
    fn store(&mut self) -> Result<&mut Store, Failure> {
        let store = match self.store.take() {
            Some(store) => store,
            None => {
                let mut store = Store::open(&self.global)?;
                if let Some(watch) = &self.watch {
                    store.memory().watch_with(watch.clone());
                }
                store
            }
        };
        Ok(self.store.insert(store))
    }

    /// Watches the folder of the store, if the system can. Otherwise the sender is dropped.
    fn watch(&mut self, changes: UnboundedSender<Noticed>) -> Result<(), Failure> {
        let root = Root::from_options(&self.global)?;
        let Some(folder) = root.local() else {
            let listening = self.store()?.memory().listen(move || drop(changes.send(Noticed::Interrupted)));
            if let Err(error) = listening {
                tracing::warn!(%error, "each question asks the server of the store");
            }
            return Ok(());
        };
        // Nobody receives changes after the server has ended.
        match Watch::start(folder, move |change| drop(changes.send(change))) {
            Ok(watch) => {
                self.store()?.memory().watch_with(watch.clone());
                self.watch = Some(watch);
            }
            Err(error) => tracing::warn!(%error, "each question checks every file"),
        }
        Ok(())
    }

    fn start(&mut self, call: Call, command: Submission<Command>) {
        let now = self.global.now.unwrap_or_else(saddlebag_host::now);
        // A root that is gone would look like an empty memory to a command that answers from its index.
        let placed = self.store().and_then(|store| Ok(store.memory().check_place()?));
        let submitted = placed.and_then(|()| self.store()).map(|store| store.memory().submit(now, command));
        match submitted {
            Ok(Ok(id)) => {
                self.calls.insert(id, call);
                self.deliver();
            }
            Ok(Err(error)) => {
                let is_lost = !error.is_refusal();
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
        self.give_up(id);
        self.deliver();
    }

    /// Ends one call whose operation failed.
    fn end(&mut self, id: CommandId, failure: Failure) {
        if let Some(call) = self.calls.remove(&id) {
            let _ = call.answer.send(Err(failure));
        }
        self.give_up(id);
    }

    fn give_up(&mut self, id: CommandId) {
        let cancelled = self.store().and_then(|store| {
            store.memory().cancel(id)?;
            store.memory().take_finished(id);
            Ok(())
        });
        match cancelled {
            Ok(()) => tracing::debug!(id = id.0, "call given up"),
            Err(failure) => self.lose(&failure),
        }
    }

    /// Performs one change, or a few reads.
    fn perform(&mut self) {
        if let Err(failure) = self.store().and_then(|store| Ok(store.memory().check_place()?)) {
            let calls: Vec<CommandId> = self.calls.keys().copied().collect();
            return calls.into_iter().for_each(|id| self.end(id, failure.clone()));
        }
        let answered = self.store().and_then(|store| Ok(store.memory().answer_next(READS_AT_ONCE)?));
        let AnsweredRequests { commands, refused } = match answered {
            Ok(answered) => answered,
            Err(failure) => return self.lose(&failure),
        };
        for id in commands {
            let Some(call) = self.calls.get_mut(&id) else { continue };
            call.operations += 1;
            if let Some(progress) = call.progress.as_ref().filter(|_| call.operations % PROGRESS_EVERY == 0) {
                let _ = progress.send(call.operations);
            }
        }
        if let Some((id, error)) = refused {
            self.end(id, error.into());
        }
        self.deliver();
    }

    /// Sends the outcome of each finished command to the caller that waits for it.
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

    /// Ends every call after the engine was lost. The next call opens another engine.
    fn lose(&mut self, failure: &Failure) {
        tracing::error!(code = failure.code.as_str(), "the engine is lost, the next call opens another");
        self.store = None;
        for (_, call) in std::mem::take(&mut self.calls) {
            let _ = call.answer.send(Err(failure.clone()));
        }
    }
}

/// Removes the calls that have an outcome, and returns them with it.
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
    use saddlebag::journal::{JournalCommand, JournalReply, Search, Status};

    use super::*;
    use crate::args::Cli;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    /// Opens a store with so many notes that a search takes a while.
    fn open(folder: &std::path::Path, timeout: Duration) -> (Memory, Ending) {
        let notes = folder.join("notes");
        std::fs::create_dir_all(&notes).unwrap();
        for number in 0..1500 {
            std::fs::write(notes.join(format!("n{number}.md")), "fact\n").unwrap();
        }
        let root = folder.to_str().unwrap();
        let cli = Cli::parse_from(["saddlebag", "--root", root, "--notebook", "--engine", "native", "status"]);
        let (memory, _, ending) = Memory::open(cli.global, &ToolSet::ALL, timeout, None).unwrap();
        (memory, ending)
    }

    fn search() -> JournalCommand {
        JournalCommand::Search(Search::new("fact"))
    }

    #[test]
    fn a_call_over_its_time_is_given_up_and_the_store_is_closed_with_the_last_way_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = runtime();
        let ending = runtime.block_on(async {
            let (memory, ending) = open(folder.path(), Duration::from_millis(1));
            let failure = memory.call(search(), None).await.unwrap_err();
            assert_eq!(failure.code, ProgramCode::TimeLimit.into());
            ending
        });
        // The runtime still runs. Only the handles to the store are gone.
        let waiting = std::thread::spawn(move || ending.wait());
        runtime.block_on(async {
            while !waiting.is_finished() {
                task::yield_now().await;
            }
        });
        waiting.join().unwrap();
    }

    #[test]
    fn a_call_in_flight_is_given_up_when_the_store_is_to_end() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = runtime();
        let ending = runtime.block_on(async {
            let (memory, ending) = open(folder.path(), Duration::from_secs(60));
            let call = task::spawn({
                let memory = memory.clone();
                async move { memory.call(search(), None).await }
            });
            task::yield_now().await;
            ending.begin();
            let failure = call.await.unwrap().unwrap_err();
            assert_eq!(failure.message, stopped().message);
            assert_eq!(memory.call(JournalCommand::Status(Status), None).await.unwrap_err().message, stopped().message);
            ending
        });
        runtime.shutdown_timeout(Duration::from_secs(60));
        ending.wait();
    }

    #[test]
    fn more_calls_than_the_engine_takes_at_once_wait_their_turn() {
        let folder = tempfile::tempdir().unwrap();
        let calls = Limits::default().max_commands as usize * 3;
        let runtime = runtime();
        let (replies, ending) = runtime.block_on(async {
            let (memory, ending) = open(folder.path(), Duration::from_secs(60));
            let mut tasks = task::JoinSet::new();
            for _ in 0..calls {
                let memory = memory.clone();
                tasks.spawn(async move { memory.call(JournalCommand::Status(Status), None).await });
            }
            (tasks.join_all().await, ending)
        });
        assert_eq!(replies.len(), calls);
        assert!(replies.iter().all(|reply| matches!(reply, Ok(Reply::Journal(JournalReply::Status(_))))));
        drop(runtime);
        ending.wait();
    }

    #[test]
    fn a_short_call_ends_before_a_long_one_that_began_earlier() {
        let folder = tempfile::tempdir().unwrap();
        runtime().block_on(async {
            let (memory, _ending) = open(folder.path(), Duration::from_secs(60));
            let ended = std::sync::Mutex::new(Vec::new());
            let run = async |name: &'static str, command: JournalCommand| {
                memory.call(command, None).await.unwrap();
                ended.lock().unwrap().push(name);
            };
            tokio::join!(run("long", search()), run("short", JournalCommand::Status(Status)));
            assert_eq!(*ended.lock().unwrap(), ["short", "long"]);
        });
    }
}
