//! [`Guard`]: the locks of an operation.

use alloc::vec::Vec;
use core::cell::RefCell;
use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;

use crate::content::{Identity, Record};
use crate::files::LockFiles;
use crate::names::Number;
use crate::wait::Locked;

/// Why a change must not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error<E> {
    /// A lock was not given back in time: answer `locked`.
    Locked(Locked),
    /// This host was stopped for so long that another one took its lock over: undo what you prepared and begin again.
    Lost,
    /// Error of the host.
    Files(E),
}

impl<E: fmt::Display> fmt::Display for Error<E> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Locked(locked) => locked.fmt(out),
            Self::Lost => out.write_str("another program has taken the lock over"),
            Self::Files(error) => error.fmt(out),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for Error<E> {}

/// What a look at the clock says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The lock is held.
    Current,
    /// The lock is held, and was renewed. That took some time, so look again.
    Renewed,
    /// Another host may hold it.
    Lost,
}

/// A lock of one number: a [`Lease`](crate::Lease) or a [`Kernel`](crate::Kernel) lock.
pub trait Lock<F: LockFiles>: Sized {
    /// Waits for the lock, at most `patience` for each holder, and clears up after holders that died.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] or an error of the host.
    fn acquire(files: &F, me: &Identity, number: Number, patience: Duration) -> Result<Self, Error<F::Error>>;

    /// Looks at the clock, and renews the lock if it is time to.
    ///
    /// # Errors
    ///
    /// An error of the host; the lock counts as lost.
    fn look(&mut self, files: &F, me: &Identity) -> Result<Standing, F::Error>;

    /// Writes the record into the lock, for the next holder if this one dies.
    fn note(&mut self, files: &F, record: &Record<'_>);

    /// Gives the lock back.
    fn release(&mut self, files: &F);
}

/// Holds the locks of some paths until it is dropped.
#[derive(Debug)]
pub struct Guard<'h, F: LockFiles, L: Lock<F>> {
    files: &'h F,
    me: &'h Identity,
    held: RefCell<Vec<L>>,
}

/// Says that the locks were held a moment ago. Take one by value in each function that changes a file, and then no change can be
/// made without a check.
#[derive(Debug)]
pub struct Permit<'g>(PhantomData<&'g ()>);

impl<'h, F: LockFiles, L: Lock<F>> Guard<'h, F, L> {
    /// Waits for the locks of the `numbers`, which are in ascending order, at most `patience` for each as long as one host holds
    /// it.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] or an error of the host.
    pub fn acquire(
        files: &'h F,
        me: &'h Identity,
        numbers: impl IntoIterator<Item = Number>,
        patience: Duration,
    ) -> Result<Self, Error<F::Error>> {
        let guard = Self { files, me, held: RefCell::default() };
        for number in numbers {
            let lock = L::acquire(files, me, number, patience)?;
            guard.held.borrow_mut().push(lock);
        }
        Ok(guard)
    }

    /// Call this directly before each step that changes a file.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] or an error of the host.
    pub fn check(&self) -> Result<Permit<'_>, Error<F::Error>> {
        let mut is_current = false;
        while !is_current {
            is_current = true;
            for lock in self.held.borrow_mut().iter_mut() {
                match lock.look(self.files, self.me).map_err(Error::Files)? {
                    Standing::Current => {}
                    Standing::Renewed => is_current = false,
                    Standing::Lost => return Err(Error::Lost),
                }
            }
        }
        Ok(Permit(PhantomData))
    }

    /// Records the step that comes next, for the next holder of a lock if this process dies.
    pub fn note(&self, record: &Record<'_>) {
        for lock in self.held.borrow_mut().iter_mut() {
            lock.note(self.files, record);
        }
    }
}

impl<F: LockFiles, L: Lock<F>> Drop for Guard<'_, F, L> {
    fn drop(&mut self) {
        for lock in self.held.get_mut() {
            lock.release(self.files);
        }
    }
}
