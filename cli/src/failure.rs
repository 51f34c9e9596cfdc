//! [`Failure`]: the reason why the program failed, and its exit code.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fmt, io};

use saddlebag::protocol::{Error, ErrorCode, ErrorDetails, help_after};
use saddlebag_collections::words;
use saddlebag_host::{EngineError, EngineKind, HostError};
use schemars::JsonSchema;
use serde::Serialize;

/// Exit code of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command succeeded.
    Done,
    /// Nothing was found.
    Nothing,
    /// A part of the work is left: something that should be removed, or a machine that was not reached.
    Left,
    /// The command line is invalid.
    Usage,
    /// The command was refused or failed.
    Failed,
}

/// Exit codes of every command. [`Code::exit`] says which code of a failure has which.
pub(crate) const EXIT_CODES: [(Exit, &str); 4] = [
    (Exit::Done, "done; a list may be empty"),
    (
        Exit::Nothing,
        "nothing found: no match, or no such note, entry, file or backup; of `expunge` and `sync`: a part of the work is left",
    ),
    (Exit::Usage, "bad use: unknown options, targets, modes or arguments"),
    (Exit::Failed, "refused or failed: invalid or ambiguous names, storage errors; or an error after a change"),
];

impl Exit {
    /// Returns the number of the exit code.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Nothing | Self::Left => 1,
            Self::Usage => 2,
            Self::Failed => 3,
        }
    }

    /// Returns the exit code of a run that has not failed. A run may finish a rename of another one that was interrupted.
    pub(crate) fn of_run(self) -> Self {
        if self == Self::Nothing && has_changed() { Self::Done } else { self }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}

/// Kind of a failure: one word, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// Code of the memory. The program may use it too.
    Memory(ErrorCode),
    /// Code of the program itself.
    Program(ProgramCode),
}

impl Code {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Memory(code) => code.as_str(),
            Self::Program(code) => code.as_str(),
        }
    }

    /// Returns the exit code of a failure with this code before anything was changed.
    pub(crate) fn exit(self) -> Exit {
        match self {
            Self::Memory(ErrorCode::NotFound | ErrorCode::EntryNotFound) => Exit::Nothing,
            Self::Memory(ErrorCode::InvalidArgument) | Self::Program(ProgramCode::Usage) => Exit::Usage,
            Self::Memory(_) | Self::Program(_) => Exit::Failed,
        }
    }
}

impl From<ErrorCode> for Code {
    fn from(code: ErrorCode) -> Self {
        Self::Memory(code)
    }
}

impl From<ProgramCode> for Code {
    fn from(code: ProgramCode) -> Self {
        Self::Program(code)
    }
}

/// Kind of a failure that only the program can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgramCode {
    /// The command line is invalid.
    Usage,
    /// A file outside the store cannot be read.
    Input,
    /// A file outside the store cannot be written.
    Output,
    /// The target of an export is not empty.
    NotEmpty,
    /// The target of an export is in the store.
    InsideStore,
    /// The file of `--trace` cannot be opened.
    Trace,
    /// The component does not run, or gives an invalid answer.
    Component,
    /// The engine does not start.
    Engine,
    /// A tool returned an error.
    Tool,
    /// A call exceeded its time limit.
    TimeLimit,
    /// The server does not start, or a session was interrupted.
    Server,
    /// The token of the server cannot be read or created.
    Token,
}

words!(ProgramCode, "code of a failure" {
    Usage = "usage",
    Input = "input",
    Output = "output",
    NotEmpty = "not-empty",
    InsideStore = "inside-store",
    Trace = "trace",
    Component = "component",
    Engine = "engine",
    Tool = "tool",
    TimeLimit = "time-limit",
    Server = "server",
    Token = "token",
});

/// Command that builds a program with both engines.
pub(crate) const WITH_NATIVE: &str = "`cargo install --locked saddlebag-cli --features native`";

/// Reason why the program failed.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// Kind of the failure, for programs.
    pub(crate) code: Code,
    /// Description for people. It is empty if nobody can read it any more.
    pub(crate) message: String,
    /// Way out, or an empty string.
    pub(crate) help: String,
}

impl Failure {
    pub(crate) fn new(code: impl Into<Code>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), help: help.into() }
    }

    pub(crate) fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(ProgramCode::Usage, message, help)
    }

    /// Returns the failure for a reply that belongs to another command.
    pub(crate) fn wrong_reply(command: &str) -> Self {
        let message = format!("the reply does not belong to `{command}`");
        Self::new(ProgramCode::Component, message, "rebuild the program")
    }

    pub(crate) fn nothing(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::NotFound, message, "")
    }
}

/// JSON object of a failure, on standard error.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ErrorObject {
    error: ErrorFields,
}

/// Fields of an error, for programs.
#[derive(Serialize, JsonSchema)]
struct ErrorFields {
    /// Kind of the failure, one word. New kinds may be added.
    code: &'static str,
    /// Description of the mistake, with the offending value.
    message: String,
    /// Way out, or an empty string.
    help: String,
    /// True if the run has changed a file of the store, or may have.
    changed: bool,
}

impl From<&Failure> for ErrorObject {
    fn from(Failure { code, message, help, .. }: &Failure) -> Self {
        let (message, help) = (message.clone(), help.clone());
        Self { error: ErrorFields { code: code.as_str(), message, help, changed: has_changed() } }
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
        let ErrorDetails { code, message, help } = error.into_details();
        Self::new(code, message, help)
    }
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Command(error) => error.into(),
            HostError::Engine(error) => error.into(),
            error => Self::new(ErrorCode::Storage, error.to_string(), ""),
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Component(_) => Self::new(
                ProgramCode::Component,
                error.to_string(),
                if EngineKind::native().is_some() {
                    "run with `--engine native`, or rebuild the program".to_string()
                } else {
                    format!("build the program with its native engine, {WITH_NATIVE}, and run with `--engine native`")
                },
            ),
            EngineError::Trapped(_) => Self::new(
                ProgramCode::Component,
                error.to_string(),
                "files are whole; run the command again with less at once",
            ),
            error => Self::new(ProgramCode::Engine, error.to_string(), ""),
        }
    }
}

/// Converts an error of writing to standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::new(ProgramCode::Output, "", "");
        }
        if let Some(help) = what_to_look_at() {
            let message = format!(
                "the command was done, but its output could not be written: {}",
                saddlebag_host::io_cause(&error)
            );
            return Self::new(ProgramCode::Output, message, help);
        }
        Self::new(
            ProgramCode::Output,
            format!("cannot write to standard output: {}", saddlebag_host::io_cause(&error)),
            "",
        )
    }
}

impl Failure {
    /// Returns the failure as the run ends with it, with a help that says what was changed.
    pub(crate) fn of_run(mut self) -> Self {
        // The answer of a tool says what was changed.
        let says_it = [ProgramCode::Output, ProgramCode::Tool].map(Code::from).contains(&self.code);
        if !self.message.is_empty() && !says_it {
            self.help = help_of_run(&self.help);
        }
        self
    }

    /// Returns the exit code of a run that ends with this failure. Codes 1 and 2 say that nothing was changed.
    pub(crate) fn exit(&self) -> Exit {
        match self.code.exit() {
            _ if self.message.is_empty() => Exit::Done,
            Exit::Nothing | Exit::Usage if has_changed() => Exit::Failed,
            exit => exit,
        }
    }
}

/// Returns the help for a run that has not done what it was asked for, with what the run has changed.
fn help_of_run(help: &str) -> String {
    help_after(help, MAY_CHANGE.load(Ordering::Relaxed), has_changed())
}

fn has_changed() -> bool {
    STORE_CHANGED.load(Ordering::Relaxed)
}

/// True if this run has changed a file of the store.
static STORE_CHANGED: AtomicBool = AtomicBool::new(false);
/// True if this run could have changed a file of the store, and it is known whether it has.
static MAY_CHANGE: AtomicBool = AtomicBool::new(false);

/// Records what this run could have changed in the store, and whether it has.
pub(crate) fn set_changes(may_change: bool, has_changed: bool) {
    MAY_CHANGE.store(may_change, Ordering::Relaxed);
    STORE_CHANGED.fetch_or(has_changed, Ordering::Relaxed);
}

/// True if the command is done and only its output remains.
static COMMAND_DONE: AtomicBool = AtomicBool::new(false);
/// True if files outside of the store were changed and only the output remains.
static SETUP_DONE: AtomicBool = AtomicBool::new(false);

/// Records whether the command is done.
pub(crate) fn set_command_done(done: bool) {
    COMMAND_DONE.store(done, Ordering::Relaxed);
}

/// Records that `setup` or `setup --uninstall` has changed the files of this machine.
pub(crate) fn set_setup_done() {
    SETUP_DONE.store(true, Ordering::Relaxed);
}

/// Returns the help for a command that is done and whose output cannot be written; `None` if it is not done.
fn what_to_look_at() -> Option<&'static str> {
    if SETUP_DONE.load(Ordering::Relaxed) {
        Some("its changes are kept, so do not repeat it for its output; `--dry-run` shows what is left to do")
    } else if COMMAND_DONE.load(Ordering::Relaxed) {
        Some("its changes are kept, so do not repeat it for its output; look at the store instead")
    } else {
        None
    }
}
