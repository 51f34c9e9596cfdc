//! `saddlebag zk …`: the arguments that scripts give zk, and what zk prints for them.
//!
//! [`args`] reads the arguments as zk's parser does, traps included; [`mod@format`] prints notes, tags and the
//! graph; [`template`] fills what `--format` spells out; [`time`] writes dates; [`filters`] puts arguments in the
//! place of a named filter; [`mod@run`] runs the command.

pub(crate) mod args;
mod expressions;
mod filters;
pub(crate) mod format;
mod json;
mod run;
mod template;
mod time;

pub(crate) use run::run;

/// A message as zk shows it on standard error, further lines below the first.
pub(crate) fn error_text(message: &str) -> String {
    format!("zk: error: {}\n", message.replace('\n', "\n           "))
}

/// What the exit code is wherever zk fails.
pub(crate) const EXIT_FAILED: u8 = 1;
