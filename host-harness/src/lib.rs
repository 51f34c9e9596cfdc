//! A native host for the Saddlebag memory component.
//!
//! [`Saddlebag`] is memory in a folder, ready to use. It consists of three parts, each of which can be exchanged:
//!
//! - An [`Engine`] decides which operations a command needs: the component ([`ComponentEngine`]), or the
//!   same code natively ([`NativeEngine`]).
//! - An [`Executor`] performs them: [`LocalDir`] on a folder of the local disk, [`Simulator`] in memory,
//!   with faults, races and crashes on demand.
//! - A [`Host`] runs commands: it passes every request of the engine to the executor, and exactly one
//!   result of each back. An [`Observer`] sees all of it.
//!
//! [`RecordingEngine`] records all calls across the contract, and [`replay`] runs them again without a store.
//!
//! [`Host::sync_agents_md`] keeps a section of a file outside of the store.
//!
//! [`PrivateFolder`] opens files that nobody else can have changed.
//!
//! [`project_root`] returns the project of a path, [`now`] the time. [`Projects`] records which folders the projects of a
//! store belong to.
//!
//! The features choose the engines:
//!
//! | Feature | Engine |
//! |---|---|
//! | `embedded`, a default | The component, compiled at build time and linked into the program; wasmtime has no compiler |
//! | `compiler` | A component whose bytes `Compile` takes, compiled on the first run |
//! | `native`, a default | The same code without the sandbox. Alone, wasmtime is not compiled |
//!
//! With the feature `watch`, a program that lives long gives its memory a `Watch` of the folder. Between changes, searches then
//! list no folders.

mod agents_md;
mod clock;
#[cfg(feature = "component")]
mod code;
#[cfg(feature = "component")]
mod component_engine;
mod engine;
pub mod executor;
mod host;
mod local_dir;
mod machine;
mod memory;
mod open_store;
mod private;
mod project;
mod projects;
mod simulator;
mod trace;
mod turns;

pub use clock::{TimeError, now, parse_time};
#[cfg(feature = "compiler")]
pub use code::CodeCache;
#[cfg(feature = "compiler")]
pub use component_engine::Compile;
#[cfg(feature = "component")]
pub use component_engine::{ComponentCode, ComponentEngine, ComponentOptions, ComponentRuntime};
pub use engine::{Engine, EngineError, NativeEngine};
pub use executor::{Durability, Executor};
pub use host::{AnsweredRequests, Host, HostError, Observer};
pub use local_dir::{LocalDir, LocalDirOptions, OpenError, Recovered, io_cause};
#[cfg(feature = "watch")]
pub use local_dir::{Noticed, Watch, WatchError};
pub use machine::{MACHINE_FILE, machine_name, new_operation};
pub use memory::{EngineKind, Options, Project, Saddlebag, default_root, open_engine, state_folder};
pub use open_store::{Listen, OpenStore, Remote};
pub use private::{PrivateError, PrivateFolder, Readers};
pub use project::{ProjectTraits, project_root, project_slug, project_traits};
pub use projects::{ProjectRecord, Projects, SimilarProject, Similarity, recorded_folder};
pub use saddlebag_locks::is_temporary;
pub use simulator::{Performed, Scheduler, Simulator};
pub use trace::{
    Difference, PACKAGE, Recording, RecordingEngine, ReplayError, Replayed, TRACE_VERSION, first_difference, replay,
};
