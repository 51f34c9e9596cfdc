//! The log of changes of a store, without any I/O: records, differences, versions, and merges of bytes and of Markdown.
//!
//! * A [`Record`] says what an operation is about to change. It is one line of a log: [`Record::to_line`] writes it, [`Log`] reads
//!   it back, and finds lines that were not written to their end. A [`Head`] leaves the contents undecoded.
//! * [`Change::of`] chooses what the log keeps of a file: its content before if no record has it, and the [`delta`] to the content
//!   after. [`Contents`] makes any of these contents again.
//! * [`versions`] says which states a file had, and which record made each. A record may never have happened, and editors write
//!   none.
//! * [`hunks`] and [`unified`] compare two contents, and [`merge`] makes two changes of one content together. Undoing an operation is
//!   a merge, too: see [`Rules::UNDO`].
//! * [`merges`] makes two changes of one Markdown file together, by field, paragraph and entry of a log.
//!
//! This crate opens no file. The caller keeps the log and the [blobs](Stored::Blob), and makes the changes. No input makes a function
//! panic, and the same input has the same output everywhere.
//!
//! ```
//! use saddlebag_log::{Change, Contents, Log, MAX_CONTENT, Record, State, Step, versions};
//!
//! let change = Change::of("plan.md", None, Some(b"- Buy bread\n"), false, 65536);
//! let record = Record { operation: "k7".into(), changes: vec![change], ..Record::default() };
//! let log = record.to_line();
//!
//! let (mut steps, mut contents) = (Vec::new(), Contents::new(MAX_CONTENT));
//! for line in Log::new(log.as_bytes()).lines_with("plan.md") {
//!     for change in line.head.into_record().expect("the sum is right").changes {
//!         contents.add(&change);
//!         steps.push((change.before, change.after));
//!     }
//! }
//! let steps: Vec<Step> = steps.iter().map(|&(before, after)| Step { operation: "k7", before, after }).collect();
//!
//! // An editor has written since.
//! let found = versions(&steps, State::of(Some(b"- Buy milk\n")));
//! assert_eq!(found.iter().map(|version| version.step).collect::<Vec<_>>(), [None, Some(0)]);
//! let State::Bytes(digest) = found[1].state else { panic!("it is small") };
//! assert_eq!(contents.get(&digest)?, b"- Buy bread\n");
//! # Ok::<(), saddlebag_log::Missing>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::panic, clippy::unwrap_used))]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::string_slice, clippy::unreachable))]

#[macro_use]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod contents;
pub mod delta;
mod diff;
mod digest;
mod line;
mod log;
mod merge;
pub mod merges;
mod record;
#[cfg(test)]
mod tests;
mod unified;
mod versions;

pub use contents::{Contents, Missing};
pub use diff::{Hunk, hunks};
pub use digest::{Digest, InvalidDigest};
pub use line::{Head, MAX_CONTENT};
pub use log::{Line, Lines, Log};
pub use merge::{Adjacent, Appends, Conflict, Rules, merge};
pub use record::{Change, Content, Record, State, Stored, Writer};
pub use unified::unified;
pub use versions::{Step, Version, versions};
