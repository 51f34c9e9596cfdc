//! A native host for the Saddlebag memory component.
//!
//! An [`Executor`] performs the operations that the component asks for: [`LocalDir`] on a folder of
//! the local disk, [`Simulator`] in memory, with faults, races and crashes on demand.

mod component_engine;
mod engine;
mod executor;
mod host;
mod local_dir;
mod simulator;

pub use component_engine::{CodeCache, ComponentEngine, ComponentOptions, ComponentRuntime, EMBEDDED_COMPONENT};
pub use engine::{Engine, EngineError, NativeEngine};
pub use executor::{Durability, Executor};
pub use host::{Host, HostError};
pub use local_dir::{LocalDir, LocalDirOptions, OpenError};
pub use simulator::{Performed, Scheduler, Simulator};
