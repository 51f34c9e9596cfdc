//! [`Failure`]: why the program did not do what it was asked, and with which exit code it ends.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fmt, io};

use saddlebag::protocol::{Error, ErrorCode};
use saddlebag_host::{EngineError, HostError};

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what it was asked.
    Done,
    /// There was nothing to find.
    Nothing,
    /// It was asked wrongly.
    Usage,
    /// It was refused, or it failed.
    Failed,
    /// As zk would have ended.
    OfZk(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Nothing => 1,
            Exit::Usage => 2,
            Exit::Failed => 3,
            Exit::OfZk(code) => code,
        })
    }
}

/// Why the program did not do what it was asked.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// For programs: one word.
    pub(crate) code: &'static str,
    /// For people; empty where nobody is left to read it.
    pub(crate) message: String,
    /// The way out; empty where there is none.
    pub(crate) help: String,
    /// How the program ends.
    pub(crate) exit: Exit,
}

impl Failure {
    pub(crate) fn new(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: help.into(), exit: Exit::Failed }
    }

    pub(crate) fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, ..Self::new("usage", message, help) }
    }

    pub(crate) fn nothing(message: impl Into<String>) -> Self {
        Self { exit: Exit::Nothing, ..Self::new("not-found", message, "") }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, help, .. } = self;
        if help.is_empty() { f.write_str(message) } else { write!(f, "{message}; {help}") }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let exit = if error.code == ErrorCode::InvalidArgument { Exit::Usage } else { Exit::Failed };
        Self { exit, ..Self::new(code(error.code), error.message, error.help) }
    }
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Command(error) => error.into(),
            HostError::Engine(error) => error.into(),
            error => Self::new("storage", error.to_string(), ""),
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Component(_) => {
                Self::new("component", error.to_string(), "run with `--engine native`, or rebuild the program")
            }
            EngineError::Trapped(_) => {
                Self::new("component", error.to_string(), "files are whole; run the command again with less at once")
            }
            error => Self::new("engine", error.to_string(), ""),
        }
    }
}

/// Of writing to standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self { exit: Exit::Done, ..Self::new("output", "", "") };
        }
        if is_command_done() {
            let message = format!(
                "the command was done, but its output could not be written: {}",
                saddlebag_host::io_cause(&error)
            );
            let help = "what it changed stays, so do not repeat it for its output; look at what is there instead";
            return Self::new("output", message, help);
        }
        Self::new("output", format!("cannot write to standard output: {}", saddlebag_host::io_cause(&error)), "")
    }
}

fn code(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::InvalidName => "invalid-name",
        ErrorCode::InvalidDate => "invalid-date",
        ErrorCode::InvalidArgument => "invalid-argument",
        ErrorCode::TooLarge => "too-large",
        ErrorCode::NotFound => "not-found",
        ErrorCode::NoUniqueMatch => "no-unique-match",
        ErrorCode::NotText => "not-text",
        ErrorCode::Contention => "contention",
        ErrorCode::Storage => "storage",
        ErrorCode::ScopeDenied => "scope-denied",
        ErrorCode::ScopeNotFound => "scope-not-found",
        ErrorCode::MemoryUnavailable => "memory-unavailable",
        ErrorCode::EntryNotFound => "entry-not-found",
        ErrorCode::StaleFence => "stale-fence",
        ErrorCode::Secret => "secret",
        ErrorCode::NotPermitted => "not-permitted",
        ErrorCode::Cancelled => "cancelled",
        ErrorCode::Internal => "internal",
    }
}

/// True once the command is done and only its output is missing.
static COMMAND_DONE: AtomicBool = AtomicBool::new(false);

/// Says whether the command is done.
pub(crate) fn set_command_done(done: bool) {
    COMMAND_DONE.store(done, Ordering::Relaxed);
}

/// Returns true if the command is done.
fn is_command_done() -> bool {
    COMMAND_DONE.load(Ordering::Relaxed)
}

pub(crate) fn wrong_reply() -> Failure {
    Failure::new("component", "the reply is not of the kind of its command", "rebuild the program")
}
