//! File operations as requests and results, and an engine that runs commands over them without doing any I/O.
//!
//! A command is an `async fn` over [`Fs`]. [`Engine`] polls it, and returns the operations that it waits for as [`FsRequest`]s.
//! The host performs them, in any order or at once, and passes each [`FsResult`] back.
//!
//! 1. [`Engine::start`] takes a command, and [`Engine::handle_result`] the result of a request. Each returns a
//!    [`Step`]: the requests to perform, and the commands that [`Finished`].
//! 2. Each request carries a [`ContextKey`]. The host returns it verbatim, without interpreting it, in exactly one result per
//!    request.
//! 3. A command continues when *all* of its requested operations are answered, so it cannot see their order. The same commands
//!    and results give the same bytes.
//!
//! Every change carries a [`Precondition`], and a lost race is an outcome: a host compares versions and holds no lock for a
//! command. The engine trusts no host: a path is a [`RelPath`], which cannot leave the store, and a result that does not match
//! its request is refused.
//!
//! This crate has no clock, no thread, no timer and no callback. It does not perform or retry operations, and does not
//! know the content of files: that is the task of the commands, and of the host.
//!
//! ```
//! use saddlebag_protocol::{
//!    CommandId, Engine, Error, FileContent, Fs, FsOutcome, FsResult, Limits, ReadOutcome, RelPath, Version,
//! };
//!
//! async fn count_lines(fs: Fs, path: RelPath) -> Result<usize, Error> {
//!    let read = fs.read(&path, 0, 1024).await.map_err(|error| Error::storage(Some(&path), &error))?;
//!    let ReadOutcome::Content(content) = read else { return Ok(0) };
//!    Ok(content.bytes.iter().filter(|byte| **byte == b'\n').count())
//! }
//!
//! let path = RelPath::new("notes/plan.md")?;
//! let mut engine = Engine::new(7, Limits::default(), |_| false);
//! let step = engine.start(CommandId(1), "count-lines", |fs| count_lines(fs, path))?;
//! assert_eq!(step.requests[0].key.as_str(), "count-lines/7.1.1");
//!
//! let content = FileContent { bytes: b"one\ntwo\n".to_vec(), version: Version("a".into()), size: 8 };
//! let outcome = Ok(FsOutcome::Read(ReadOutcome::Content(content)));
//! let step = engine.handle_result(FsResult { key: step.requests[0].key.to_string(), outcome })?;
//! assert_eq!(step.finished[0].error, None);
//! assert_eq!(engine.take(CommandId(1), Ok)?, 2);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

#[macro_use]
extern crate alloc;

mod engine;
mod error;
mod fs;
mod key;
mod path;
mod step;

pub use engine::{Engine, Fs, Limits, Operation, View, is_change, join};
pub use error::{Cause, Error, ErrorCode, ErrorDetails, help_after};
pub use fs::{
    AppendOutcome, Entry, EntryKind, FileContent, FsError, FsOp, FsOutcome, FsRequest, FsResult, LeftOut, LeftOutName,
    ListOutcome, Listing, MAX_LEFT_OUT_NAMES, Precondition, ReadOutcome, RemoveDirectoryOutcome, RemoveOutcome,
    RenameOutcome, Version, WriteOutcome,
};
pub use key::{CommandId, ContextKey};
pub use path::{MAX_PATH_BYTES, MAX_SEGMENT_BYTES, PathError, RelPath};
pub use step::{Finished, ResultError, Step, SubmitError};
