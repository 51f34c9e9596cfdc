//! The command line of zk: its arguments as requests to a memory, and notes, tags and graphs as it prints them.
//!
//! * [`args::parse`] reads the arguments as zk's parser does, traps included. [`expand`] puts arguments in the place
//!   of named filters.
//! * [`FilterArgs::request`](args::FilterArgs::request) is what to ask the memory for. The memory has no full-text search
//!   of zk's kind and no regular expressions: [`FilterArgs::text_search`](args::FilterArgs::text_search) gives the
//!   [`TextSearch`] that filters and sorts the notes of its reply.
//! * [`format::notes`], [`format::tags`] and [`format::graph`] print what came of it, byte for byte as zk does, or by
//!   the template that `--format` spells out.
//!
//! This crate opens no notebook, runs no command and prints nothing: a program does. It knows nothing of zk's editor,
//! pager and picker.
//!
//! ```
//! use saddlebag::notebook::ConditionKind;
//! use saddlebag_zk::args::{Asked, ZkCommand, parse};
//! use saddlebag_zk::format::{Context, ListedNote, notes};
//!
//! let Asked::Run(zk) = parse(["list", "--tag", "db", "-f", "{{title}}: {{path}}"].map(Into::into))? else { panic!() };
//! let ZkCommand::List(list) = zk.command else { panic!() };
//! assert_eq!(list.filter.request(str::to_string)?.filter.values(ConditionKind::Tag), ["db"]);
//!
//! let note = ListedNote { title: "Port".into(), path: "facts/port.md".into(), ..ListedNote::default() };
//! let context = Context { now: 0, utc_offset_seconds: 0 };
//! assert_eq!(notes(&[note], &list.frame, &context)?, "Port: facts/port.md\n");
//! # Ok::<(), saddlebag_zk::BadUse>(())
//! ```
#![forbid(unsafe_code)]

pub mod args;
mod filters;
pub mod format;
mod json;
mod listed;
mod search;
mod template;
mod time;

pub use args::BadUse;
pub use filters::expand;
pub use search::{SearchError, TextSearch};

/// Returns a message as zk shows it on standard error, with further lines below the first.
#[must_use]
pub fn error_text(message: &str) -> String {
    format!("zk: error: {}\n", message.replace('\n', "\n           "))
}

/// Exit code of all failures of zk.
pub const EXIT_FAILED: u8 = 1;
