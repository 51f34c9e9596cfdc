//! A host for the memory that is itself a WebAssembly component, or part of one.
//!
//! [`Guest`] is the loop: the engine of `saddlebag`, linked as a library, and an [`Executor`] that performs its
//! requests. The executor keeps the rules of `docs/writing-a-host.md` that all storages share: paths, own names,
//! preconditions, versions, pages. A [`Storage`] knows how bytes are kept: [`Folder`] in a folder, through `std::fs`,
//! natively and on WASI; [`KeyValue`] as the strings of a store that has only `get` and `set`.
//!
//! The shells in `guest/shells/` give this to runtimes that load components.
#![forbid(unsafe_code)]

mod answers;
#[cfg(feature = "trace")]
pub mod driver;
#[cfg(feature = "environment")]
pub mod environment;
mod executor;
mod extension;
mod folder;
mod guest;
mod http;
mod key_value;
mod mcp;
mod storage;

pub use answers::{answer_json, tool_json};
pub use executor::{Executor, VERSION_SCHEME};
pub use extension::Extension;
pub use folder::{Folder, FolderGuard};
pub use guest::{Answered, Guest, Options};
pub use http::{HttpRequest, respond};
pub use key_value::{InMemory, KeyValue, Strings, StringsError};
pub use mcp::Mcp;
pub use storage::{Attempt, Described, Found, Move, Name, Replace, Stamp, Storage};
