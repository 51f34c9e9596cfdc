//! The locks that hosts of one store share: lock protocol 3 of `docs/writing-a-host.md`.
//!
//! This crate opens no file. A host implements [`LockFiles`], and [`KernelLocks`] if it has `flock`, and takes the locks of an
//! operation as a [`KernelGuard`] or a [`LeaseGuard`], which exclude each other. [`Guard::check`] comes directly before each
//! step that changes a file, and [`Guard::note`] before the first. When a holder has died, the next one is handed its
//! [`Record`] by [`LockFiles::clean_up`].
//!
//! 1. Call [`join`] before the first change of a store, and make an [`Identity`].
//! 2. Take [`Number::of_all`] of the paths that an operation changes, and [`Guard::acquire`] them.
//! 3. Check the precondition, note the temporary file, and create it with the [`Permit`] of a check.
//! 4. Make each step of the change with a separate permit. After [`Error::Lost`], undo what you prepared and go on with 2.
//! 5. Sync, and drop the guard.
//!
//! [`generation`] says if anything was changed. [`is_own`] knows the names that an operation must not have.
#![no_std]
#![forbid(unsafe_code)]

#[macro_use]
extern crate alloc;

mod content;
mod files;
mod generation;
mod guard;
mod kernel;
mod lease;
mod names;
mod protocol;
mod wait;

pub use content::{Identity, Record, second_name};
pub use files::{KernelLocks, LockFiles};
pub use generation::generation;
pub use guard::{Error, Guard, Lock, Permit, Standing};
pub use kernel::Kernel;
pub use lease::Lease;
pub use names::{LOCKS_OF_FILES, Number, is_locks, is_own, is_spelling, is_temporary};
pub use protocol::{JoinError, LOCKS_FOLDER, PROTOCOL, join};
pub use wait::{Locked, PATIENCE};

/// Locks of a host with `flock`.
pub type KernelGuard<'h, F> = Guard<'h, F, Kernel<<F as KernelLocks>::File>>;

/// Locks of a host without.
pub type LeaseGuard<'h, F> = Guard<'h, F, Lease>;
