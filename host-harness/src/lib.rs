//! A native host for the Saddlebag memory component.
//!
//! An [`Executor`] performs the operations that the component asks for: [`LocalDir`] on a folder of
//! the local disk, [`Simulator`] in memory, with faults, races and crashes on demand.

mod executor;
mod local_dir;
mod simulator;

pub use executor::{Durability, Executor};
pub use local_dir::{LocalDir, LocalDirOptions, OpenError};
pub use simulator::{Performed, Scheduler, Simulator};
