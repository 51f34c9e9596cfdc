//! Memory for agents: plain Markdown on disk, kept without doing any I/O.
//!
//! This crate does not read files, and has no clock and no random numbers. [`Memory`] takes commands and returns the
//! file-system operations that they need; the host performs them and passes the results back. The same commands and
//! results give the same bytes, in a WebAssembly component and natively.
//!
//! The rooms, from the lowest layer up:
//!
//! * [`protocol`]: the types of the contract. [`store`]: paths, names and dates. [`document`]: the
//!   lines of a Markdown file.
//! * [`search`]: the text of the store and its index.
//! * [`journal`]: long-term memory, scratchpad, daily log, notes. [`context`]: the block that is
//!   injected into a prompt. [`entries`]: keyed facts of an agent. [`agents_md`]: the facts
//!   that are listed in AGENTS.md. [`items`]: all of it as files.
//! * [`session`]: the session of an agent. [`exchange`]: the formats of other agents.
//! * [`tools`]: the tools of a model, over all of these.
//! * [`trust`]: the provenance of text, and the checks before a model reads it. [`approval`]: approval of
//!   text by a person.
//! * [`Memory`]: runs the commands of all of them.
#![no_std]
#![cfg_attr(not(target_arch = "wasm32"), forbid(unsafe_code))]

#[macro_use]
extern crate alloc;
// The native library is linked with the standard library's allocator and panic handler. The code itself never uses it,
// which a build for `wasm32v1-none` proves.
#[cfg(not(target_arch = "wasm32"))]
extern crate std;

pub mod agents_md;
pub mod approval;
pub mod catalogue;
mod changes;
#[cfg(all(target_arch = "wasm32", not(feature = "library")))]
mod component;
pub mod context;
mod engine;
pub mod entries;
pub mod exchange;
mod family;

pub mod history;
pub mod items;
pub mod journal;
mod json;
mod memory;
mod names;
pub mod notebook;
mod origin;
mod request;
pub mod search;
pub mod session;
pub mod store;
pub mod tools;
pub mod trust;
#[doc(hidden)]
pub mod wit_convert;
#[cfg(test)]
mod words;

pub use saddlebag_markdown as document;
pub use saddlebag_protocol as protocol;

pub use engine::Limits;
pub use memory::{
    Answered, Command, CommandInfo, Config, ConfigError, Finished, MAX_PATH_PREFIX_BYTES, MAX_VERSION_SCHEME_BYTES,
    Memory, Part, Reply, ReplyTo, Step, Submit,
};
pub use origin::{MAX_ORIGIN_NAME_BYTES, MAX_REASON_BYTES, Moment, Origin, Submission};
pub use request::{Effect, Request};
