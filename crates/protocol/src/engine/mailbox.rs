//! [`Fs`]: the only access of a command to the outside. Its operations go into a mailbox.

use alloc::collections::VecDeque;
use atomic_refcell::AtomicRefCell;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use saddlebag_collections::SortedMap;

use crate::{
    AppendOutcome, FsError, FsOp, FsOutcome, ListOutcome, Listing, Precondition, ReadOutcome, RelPath,
    RemoveDirectoryOutcome, RemoveOutcome, RenameOutcome, Version, WriteOutcome,
};
use saddlebag_collections::prelude::*;

/// Number of an operation of one command, in the order in which it requested them.
pub(super) type Slot = u32;

/// Files that a command sees in the place of those of the store.
pub trait View: Send + Sync {
    /// Returns the answer to an operation that the host is not asked for; `None` if the host answers it.
    fn answer(&self, op: &FsOp) -> Option<Result<FsOutcome, FsError>>;

    /// Returns the page of a folder as the command sees it. `after` is the cursor with which it was asked for.
    fn amend(&self, folder: Option<&RelPath>, after: Option<&RelPath>, page: Listing) -> Listing;
}

/// Operations that one command waits for.
#[derive(Default)]
pub(super) struct Mailbox {
    /// What the command sees; `None`: the store.
    view: Option<Arc<dyn View>>,
    next_slot: Slot,
    queue: VecDeque<(Slot, FsOp)>,
    answers: SortedMap<Slot, Result<FsOutcome, FsError>>,
    /// True if an operation of the command has changed the store, or may have.
    has_changed: bool,
}

impl Mailbox {
    pub(super) fn take_next(&mut self) -> Option<(Slot, FsOp)> {
        self.queue.pop_front()
    }

    pub(super) fn has_queued(&self) -> bool {
        !self.queue.is_empty()
    }

    pub(super) fn answer(&mut self, slot: Slot, answer: Result<FsOutcome, FsError>, has_changed: bool) {
        self.answers.insert(slot, answer);
        self.has_changed |= has_changed;
    }

    pub(super) fn has_changed(&self) -> bool {
        self.has_changed
    }

    fn post(&mut self, op: FsOp) -> Slot {
        let slot = self.next_slot;
        self.next_slot = slot.wrapping_add(1);
        self.queue.push_back((slot, op));
        slot
    }
}

/// The file system as a command sees it: awaiting a method requests an operation from the host.
///
/// Operations that are awaited together must commute, because the host may perform them in any order.
#[derive(Clone)]
pub struct Fs {
    pub(super) mailbox: Arc<AtomicRefCell<Mailbox>>,
}

impl Fs {
    /// Creates a file system with its own mailbox. Only the engine does this, for each command.
    pub(super) fn new() -> Self {
        Self { mailbox: Arc::default() }
    }

    /// Returns true if an operation of the command has changed the store, or may have.
    pub fn has_changed(&self) -> bool {
        self.mailbox.borrow().has_changed()
    }

    /// Shows the command other files from now on.
    pub fn show(&self, view: Arc<dyn View>) {
        self.mailbox.borrow_mut().view = Some(view);
    }

    /// Reads up to `max_bytes` of the file from `offset` on.
    pub fn read(&self, path: &RelPath, offset: u64, max_bytes: u32) -> Operation<ReadOutcome> {
        self.submit(FsOp::Read { path: path.clone(), offset, max_bytes }, |outcome| match outcome {
            FsOutcome::Read(read) => Some(read),
            _ => None,
        })
    }

    /// Replaces the file. The replaced bytes are kept as `keep_as`; a new file gets the permissions of `like`.
    pub fn write(
        &self,
        path: &RelPath,
        content: Vec<u8>,
        precondition: Precondition,
        keep_as: Option<RelPath>,
        like: Option<RelPath>,
    ) -> Operation<WriteOutcome> {
        self.submit(FsOp::Write { path: path.clone(), content, precondition, keep_as, like }, |outcome| match outcome {
            FsOutcome::Write(write) => Some(write),
            _ => None,
        })
    }

    /// Appends to the file, on a separate line.
    pub fn append(&self, path: &RelPath, content: Vec<u8>, precondition: Precondition) -> Operation<AppendOutcome> {
        self.submit_append(FsOp::append(path.clone(), content, true, precondition))
    }

    /// Appends to a log, whose reader checks each line, so an interruption may leave a part of the content. With `may_vanish`, a
    /// power cut may take the addition back.
    pub fn append_to_log(
        &self,
        path: &RelPath,
        content: Vec<u8>,
        precondition: Precondition,
        may_vanish: bool,
    ) -> Operation<AppendOutcome> {
        let (path, newline_first) = (path.clone(), true);
        self.submit_append(FsOp::Append { path, content, newline_first, precondition, may_tear: true, may_vanish })
    }

    fn submit_append(&self, op: FsOp) -> Operation<AppendOutcome> {
        self.submit(op, |outcome| match outcome {
            FsOutcome::Append(append) => Some(append),
            _ => None,
        })
    }

    /// Lists one page of a folder.
    pub fn list(
        &self,
        folder: Option<&RelPath>,
        after: Option<RelPath>,
        limit: u32,
        unless: Option<Version>,
    ) -> Operation<ListOutcome> {
        let op = FsOp::ListDirectory { folder: folder.cloned(), after, limit, unless };
        self.submit(op, |outcome| match outcome {
            FsOutcome::ListDirectory(list) => Some(list),
            _ => None,
        })
    }

    /// Removes the file, and keeps its bytes as `keep_as`. Returns false if the precondition does not hold.
    pub fn remove(&self, path: &RelPath, precondition: Precondition, keep_as: Option<RelPath>) -> Operation<bool> {
        self.submit_removal(FsOp::Remove { path: path.clone(), precondition, keep_as, may_return: false })
    }

    /// Removes the file, which may exist again after a power cut. Returns false if the precondition does not hold.
    pub fn discard(&self, path: &RelPath, precondition: Precondition) -> Operation<bool> {
        self.submit_removal(FsOp::Remove { path: path.clone(), precondition, keep_as: None, may_return: true })
    }

    fn submit_removal(&self, op: FsOp) -> Operation<bool> {
        self.submit(op, |outcome| match outcome {
            FsOutcome::Remove(removed) => Some(removed == RemoveOutcome::Done),
            _ => None,
        })
    }

    /// Moves the file to a free name.
    pub fn rename(&self, from: &RelPath, to: &RelPath, precondition: Precondition) -> Operation<RenameOutcome> {
        let op = FsOp::Rename { path: from.clone(), to: to.clone(), precondition };
        self.submit(op, |outcome| match outcome {
            FsOutcome::Rename(renamed) => Some(renamed),
            _ => None,
        })
    }

    /// Creates the folder and its parents.
    pub fn make_directory(&self, path: &RelPath) -> Operation<()> {
        self.submit(FsOp::MakeDirectory { path: path.clone() }, |outcome| match outcome {
            FsOutcome::MakeDirectory => Some(()),
            _ => None,
        })
    }

    /// Removes the folder if it is empty.
    pub fn remove_directory(&self, path: &RelPath) -> Operation<RemoveDirectoryOutcome> {
        self.submit(FsOp::RemoveDirectory { path: path.clone() }, |outcome| match outcome {
            FsOutcome::RemoveDirectory(removed) => Some(removed),
            _ => None,
        })
    }

    /// Returns a token of the whole store.
    pub fn generation(&self) -> Operation<String> {
        self.submit(FsOp::Generation, |outcome| match outcome {
            FsOutcome::Generation(token) => Some(token),
            _ => None,
        })
    }

    fn submit<T>(&self, op: FsOp, pick: fn(FsOutcome) -> Option<T>) -> Operation<T> {
        Operation { mailbox: self.mailbox.clone(), state: State::New(Some(op)), pick }
    }
}

/// An operation in progress. It is requested when it is first polled, and completes when the host has answered it.
#[must_use = "an operation is requested when it is awaited"]
pub struct Operation<T> {
    mailbox: Arc<AtomicRefCell<Mailbox>>,
    state: State,
    pick: fn(FsOutcome) -> Option<T>,
}

enum State {
    /// Operation to request; never `None` when it is polled.
    New(Option<FsOp>),
    Waiting(Slot),
    /// A page of a folder that the view amends.
    Listing {
        slot: Slot,
        folder: Option<RelPath>,
        after: Option<RelPath>,
        view: Arc<dyn View>,
    },
}

impl<T> Future for Operation<T> {
    type Output = Result<T, FsError>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        match &mut this.state {
            State::New(op) => {
                // Moved rather than copied, because it may hold the content of a file.
                let Some(op) = op.take() else { return Poll::Pending };
                let mut mailbox = this.mailbox.borrow_mut();
                let view = mailbox.view.clone();
                if let Some(answer) = view.as_ref().and_then(|view| view.answer(&op)) {
                    return Poll::Ready(this.picked(answer));
                }
                this.state = match (view, &op) {
                    (Some(view), FsOp::ListDirectory { folder, after, .. }) => {
                        let (folder, after) = (folder.clone(), after.clone());
                        State::Listing { slot: mailbox.post(op), folder, after, view }
                    }
                    _ => State::Waiting(mailbox.post(op)),
                };
                Poll::Pending
            }
            State::Waiting(slot) => match this.mailbox.borrow_mut().answers.remove(slot) {
                None => Poll::Pending,
                Some(answer) => Poll::Ready(this.picked(answer)),
            },
            State::Listing { slot, folder, after, view } => match this.mailbox.borrow_mut().answers.remove(slot) {
                None => Poll::Pending,
                Some(Ok(FsOutcome::ListDirectory(ListOutcome::Page(page)))) => {
                    let page = view.amend(folder.as_ref(), after.as_ref(), page);
                    Poll::Ready(this.picked(Ok(FsOutcome::ListDirectory(ListOutcome::Page(page)))))
                }
                Some(answer) => Poll::Ready(this.picked(answer)),
            },
        }
    }
}

impl<T> Operation<T> {
    fn picked(&self, answer: Result<FsOutcome, FsError>) -> Result<T, FsError> {
        // The engine accepts only results of the right kind.
        (self.pick)(answer?).ok_or(FsError::Unsupported)
    }
}

/// One of several operations that are awaited together.
struct Awaited<T> {
    operation: Operation<T>,
    answer: Option<Result<T, FsError>>,
}

/// Awaits operations together: they are requested at once, and this completes when all of them are answered. The
/// answers are in the order of the operations.
pub async fn join<T>(operations: Vec<Operation<T>>) -> Vec<Result<T, FsError>> {
    let mut waiting: Vec<Awaited<T>> =
        operations.into_iter().map(|operation| Awaited { operation, answer: None }).collect();
    core::future::poll_fn(|context| {
        let mut pending = false;
        for awaited in waiting.iter_mut().filter(|awaited| awaited.answer.is_none()) {
            match Pin::new(&mut awaited.operation).poll(context) {
                Poll::Ready(ready) => awaited.answer = Some(ready),
                Poll::Pending => pending = true,
            }
        }
        if pending { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    let answer = |awaited: Awaited<T>| {
        debug_assert!(awaited.answer.is_some(), "a broken invariant: an operation that was not answered");
        // If it were left out, each later answer would belong to another operation.
        awaited.answer.unwrap_or(Err(FsError::Cancelled))
    };
    waiting.into_iter().map(answer).collect()
}
