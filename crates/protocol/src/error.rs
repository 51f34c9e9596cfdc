//! [`Error`]: the reason why a command failed.
//!
//! # What happens when something goes wrong?
//!
//! There are three kinds of errors. A `submit-error` or `result-error` is a fault of the host: the call is refused. An `fs-error` is the
//! host's answer to one operation, and a result like any other. An `error` ends a command. Another version of the contract may
//! have more cases of each.
//!
//! | Problem | Result |
//! | --- | --- |
//! | The host denies, times out, has no room | The command ends with `storage`, with the file and the host's words. A search skips a file that cannot be read, the block is made without it, and both name it |
//! | Others keep changing the file | 1,024 attempts, then `contention` |
//! | The backup cannot be written | An overwrite, and an edit of long-term memory or the scratchpad, is done and says so; a deletion, a restore, and an edit or clear by slash command are refused |
//! | The component panics, exceeds its memory (1 GiB), its time for one call (30 s) or its bytes for the host (256 MiB) | A trap. The instance and its commands are gone, every later call says so, files are whole because each operation was performed completely or not at all. Other instances continue |
//! | The file is not a component, or has another world | A typed error before anything runs; `--engine native` needs no component |
//! | The executor answers with the wrong kind | The engine refuses it; `Host::run` cancels the command and can run the next |
//! | The machine or the process stops | Acknowledged changes are there; of a change of several operations a prefix may be. Overwrites and restores first write the text that would be lost, a rename can be finished |
//! | A note's frontmatter is not valid YAML, or a bomb of anchors | A warning with the line; the note is still searched and linked |
//! | The configuration of the notebook is not valid TOML | Readers use the defaults and warn; writers stop with the place |
//!
//! For diagnosis: `SADDLEBAG_LOG=debug` logs commands and operations without content. `--trace FILE` writes every
//! command, request and result with content, one JSON object per line, to a file with mode 0600. Unless secrets are allowed
//! (`--secrets allow`), they are redacted there, and bytes that are not text are left out.

use core::ops::{Deref, DerefMut};

use saddlebag_collections::{UnknownWord, words};

use super::{FsError, RelPath};
use saddlebag_collections::prelude::*;

/// Error of a command that was refused or failed. [`Finished::changed`](crate::Finished::changed) says whether the command
/// had changed a file before; [`help_after`] says it in words.
///
/// The message says what was wrong, with the value and the limit; the help says what to do.
///
/// It is one pointer to its details, because most functions of a command return it and pass it on: each `?` then moves one
/// word.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.0.details.message)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    details: ErrorDetails,
    /// Cause that a model reads in other words.
    cause: Option<Cause>,
}

/// Parts of an [`Error`], which dereferences to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorDetails {
    /// Code for programs.
    pub code: ErrorCode,
    /// Message for people: lower case, no trailing dot, except for text of another program.
    pub message: String,
    /// Way out; empty if there is none.
    pub help: String,
}

/// Cause of an error that models know in the words of the programs that our tools replace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The file does not exist.
    NoFile(String),
    /// The text to replace does not occur exactly once in the file.
    NotExactlyOnce {
        /// File, as messages show it.
        file: String,
        /// Number of times that the text occurs.
        count: usize,
    },
    /// The file to remove is not a note.
    NotANote,
    /// No entry has the key.
    NoEntry(String),
}

/// Reader of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    Person,
    Model,
}

impl Cause {
    /// Returns the message and the help for a reader.
    fn said(&self, to: Reader) -> (String, String) {
        let is_model = to == Reader::Model;
        match self {
            Self::NoFile(file) if is_model => (
                "No such file or directory (os error 2)".into(),
                format!("there is no {file}; `list` shows the existing files"),
            ),
            Self::NoFile(file) => (format!("there is no {file}"), "`list` shows the existing files".into()),
            Self::NotExactlyOnce { file, count } => {
                let message = match count {
                    _ if is_model => format!("old_str matched {count} time(s) in {file}; it must match exactly once"),
                    0 => format!("the old text does not occur in {file}; it must occur exactly once"),
                    _ => format!("the old text occurs {count} times in {file}; it must occur exactly once"),
                };
                let help = match count {
                    0 => "read the file again and copy the text exactly, with its white space",
                    _ => "add text from before or after it until it occurs once",
                };
                (message, help.into())
            }
            Self::NotANote if is_model => (
                "memory_edit without old_str deletes a whole note; it is only allowed for target=note, not \
                 long_term/scratchpad/daily"
                    .into(),
                "to empty the file, overwrite it with nothing".into(),
            ),
            Self::NotANote => (
                "only a note can be removed".into(),
                "`write TARGET \"\" --mode overwrite` empties long-term memory, the scratchpad or a log".into(),
            ),
            Self::NoEntry(key) => {
                let help = match to {
                    Reader::Model => {
                        "a recall with a query searches keys and content; a list without a filter shows every key"
                    }
                    Reader::Person => {
                        "`list --kind entry` shows the keys, `recall --kind entry QUESTION` searches them"
                    }
                };
                (format!("no entry `{key}`"), help.into())
            }
        }
    }

    fn code(&self) -> ErrorCode {
        match self {
            Self::NoFile(_) => ErrorCode::NotFound,
            Self::NotExactlyOnce { .. } => ErrorCode::NoUniqueMatch,
            Self::NotANote => ErrorCode::InvalidArgument,
            Self::NoEntry(_) => ErrorCode::EntryNotFound,
        }
    }
}

/// Code of an error. Another version of the contract may have more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// A note name is invalid.
    InvalidName,
    /// A date is not a valid day as `YYYY-MM-DD`.
    InvalidDate,
    /// Another argument is out of its range, or a word is unknown.
    InvalidArgument,
    /// Text or a file is over a limit.
    TooLarge,
    /// The object of the command does not exist.
    NotFound,
    /// The text to replace does not occur exactly once.
    NoUniqueMatch,
    /// A later change touches the same place of a file.
    Conflict,
    /// Several things have the name.
    AmbiguousName,
    /// The file is not UTF-8 text.
    NotText,
    /// A file is not what it must be, and a person must correct it.
    DamagedFile,
    /// Others changed the file meanwhile, and the bounded number of retries is used up.
    Contention,
    /// The version that the caller gave is not the current one.
    StaleVersion,
    /// The listing has changed since its first page.
    ExpiredCursor,
    /// The memory, a run, a session or a folder of names holds as much as it may.
    Full,
    /// The host could not perform an operation.
    Storage,
    /// The command names another agent than that of the memory.
    ScopeDenied,
    /// No such workspace is visible to the caller.
    ScopeNotFound,
    /// The host could not perform an operation on entries.
    MemoryUnavailable,
    /// No entry has the key.
    EntryNotFound,
    /// A newer run has begun.
    StaleFence,
    /// The text contains a secret.
    Secret,
    /// The text has a value that a person rejected for good.
    Rejected,
    /// Only a memory of a person may do this, or text of this provenance may not.
    NotPermitted,
    /// A person must look at it and confirm it first.
    NeedsConfirmation,
    /// The command was cancelled.
    Cancelled,
    /// The command is in flight, so there is no reply yet.
    NotFinished,
    /// A fault of the component itself.
    Internal,
}

words!(ErrorCode, "code of an error" {
    InvalidName = "invalid-name",
    InvalidDate = "invalid-date",
    InvalidArgument = "invalid-argument",
    TooLarge = "too-large",
    NotFound = "not-found",
    NoUniqueMatch = "no-unique-match",
    Conflict = "conflict",
    AmbiguousName = "ambiguous-name",
    NotText = "not-text",
    DamagedFile = "damaged-file",
    Contention = "contention",
    StaleVersion = "stale-version",
    ExpiredCursor = "expired-cursor",
    Full = "full",
    Storage = "storage",
    ScopeDenied = "scope-denied",
    ScopeNotFound = "scope-not-found",
    MemoryUnavailable = "memory-unavailable",
    EntryNotFound = "entry-not-found",
    StaleFence = "stale-fence",
    Secret = "secret",
    Rejected = "rejected",
    NotPermitted = "not-permitted",
    NeedsConfirmation = "needs-confirmation",
    Cancelled = "cancelled",
    NotFinished = "not-finished",
    Internal = "internal",
});

impl ErrorCode {
    /// Returns the code that zombie gives such an error, which models know.
    fn of_zombie(self) -> Option<&'static str> {
        Some(match self {
            Self::ScopeDenied => "UZ-MEM-001",
            Self::ScopeNotFound => "UZ-MEM-002",
            Self::MemoryUnavailable => "UZ-MEM-003",
            Self::EntryNotFound => "UZ-MEM-004",
            Self::StaleFence => "UZ-RUN-005",
            _ => return None,
        })
    }
}

impl Error {
    /// Creates an error with a way out.
    pub fn new(code: ErrorCode, message: impl Into<String>, help: impl Into<String>) -> Self {
        ErrorDetails { code, message: message.into(), help: help.into() }.into()
    }

    /// Returns the message.
    pub fn into_message(self) -> String {
        self.0.details.message
    }

    /// Takes the error apart.
    pub fn into_details(self) -> ErrorDetails {
        self.0.details
    }

    /// Returns the error in the words for a model: those of the programs that our tools replace, with their codes.
    pub fn for_model(mut self) -> Self {
        if let Some(cause) = self.0.cause.take() {
            (self.message, self.help) = cause.said(Reader::Model);
        }
        if let Some(code) = self.code.of_zombie() {
            self.message = format!("{code}: {}", self.message);
        }
        self
    }

    /// Creates the error for the host's answer to an operation on `path`.
    pub fn storage(path: Option<&RelPath>, error: &FsError) -> Self {
        let place = path.map_or("the root of the store", RelPath::as_str);
        let help = match error {
            FsError::SymbolicLink => "replace the link by the file itself; links inside the store are never followed",
            FsError::NoSpace => "free some space and try again",
            FsError::Denied | FsError::ReadOnly => "check the permissions of the store's folder",
            FsError::IsDirectory | FsError::NotRegular => "move it out of the way: a file is expected there",
            FsError::TimedOut | FsError::Cancelled => "try again",
            FsError::Locked(_) => "wait until that program is done, or end it, and try again",
            FsError::NotDurable(_) => {
                "check the disk, then look at the file before you try again; the next change writes the whole file again"
            }
            _ => "",
        };
        Self::new(ErrorCode::Storage, format!("{place}: {error}"), help)
    }

    /// Creates the error for a file that must be UTF-8 and is not.
    pub fn not_text(path: &RelPath) -> Self {
        let help = "convert it to UTF-8; appending keeps its bytes unchanged";
        Self::new(ErrorCode::NotText, format!("{path}: not UTF-8 text"), help)
    }

    /// Creates the error for a file that is too large for the command.
    pub fn file_too_large(path: &RelPath, size: u64, limit: u64) -> Self {
        let message = format!("{path} has {size} bytes, the limit for this command is {limit}");
        Self::new(ErrorCode::TooLarge, message, "split the file; `show` with an offset shows any part of it")
    }

    /// Creates the error for a broken invariant: a fault of the component, which no input and no file may cause. Debug
    /// builds panic here, so that tests and fuzzing find the place; release builds refuse the command.
    #[track_caller]
    pub fn internal(what: impl Into<String>) -> Self {
        let what = what.into();
        debug_assert!(false, "a broken invariant: {what}");
        Self::new(ErrorCode::Internal, what, "this is a fault of saddlebag; report it with the command that caused it")
    }

    /// Creates the error for an argument out of its range, or an unknown word.
    pub fn invalid_argument(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidArgument, message, help)
    }

    /// Creates the error for a file that is not what it must be.
    pub fn damaged_file(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(ErrorCode::DamagedFile, message, help)
    }
}

impl From<ErrorDetails> for Error {
    #[inline(never)]
    fn from(details: ErrorDetails) -> Self {
        Self(Box::new(Inner { details, cause: None }))
    }
}

impl From<Cause> for Error {
    fn from(cause: Cause) -> Self {
        let (message, help) = cause.said(Reader::Person);
        let details = ErrorDetails { code: cause.code(), message, help };
        Self(Box::new(Inner { details, cause: Some(cause) }))
    }
}

impl Deref for Error {
    type Target = ErrorDetails;

    fn deref(&self) -> &ErrorDetails {
        &self.0.details
    }
}

impl DerefMut for Error {
    fn deref_mut(&mut self) -> &mut ErrorDetails {
        &mut self.0.details
    }
}

/// Returns the help of a failed command, with what the command had changed before. `may_change` is false for a command
/// that only reads; then nothing is said.
///
/// Nothing else says whether anything was changed, because only the code that ran the whole command knows.
pub fn help_after(help: &str, may_change: bool, has_changed: bool) -> String {
    let changes = match (may_change, has_changed) {
        (_, true) => "changes from before the error stay",
        (true, false) => "nothing was changed",
        (false, false) => return help.into(),
    };
    if help.is_empty() { changes.into() } else { format!("{help}; {changes}") }
}

/// Converts the error for an unknown word.
impl From<UnknownWord> for Error {
    fn from(error: UnknownWord) -> Self {
        Self::invalid_argument(error.message(), error.help())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_said_to_a_person_and_to_a_model_in_their_words() {
        let twice = Cause::NotExactlyOnce { file: "a.md".into(), count: 2 };
        for (cause, person, model) in [
            (Cause::NoFile("a.md".into()), "there is no a.md", "No such file or directory (os error 2)"),
            (
                twice,
                "the old text occurs 2 times in a.md; it must occur exactly once",
                "old_str matched 2 time(s) in a.md; it must match exactly once",
            ),
            (Cause::NoEntry("k".into()), "no entry `k`", "UZ-MEM-004: no entry `k`"),
        ] {
            let error = Error::from(cause);
            assert_eq!((error.message.as_str(), error.clone().for_model().message.as_str()), (person, model));
        }
        let stale = Error::new(ErrorCode::StaleFence, "a newer run has begun", "").for_model();
        assert_eq!(stale.message, "UZ-RUN-005: a newer run has begun");
        let other = Error::new(ErrorCode::Contention, "a.md changed", "");
        assert_eq!(other.clone().for_model(), other);
    }

    /// A broken invariant is `Error::internal`: a debug build stops there, a release refuses the
    /// command.
    #[test]
    #[cfg_attr(debug_assertions, should_panic(expected = "a broken invariant: a note without text"))]
    fn a_broken_invariant_stops_a_debug_build_and_refuses_the_command_in_a_release() {
        let error = Error::internal("a note without text");
        assert_eq!(error.code, ErrorCode::Internal);
        assert_eq!(error.message, "a note without text");
        assert!(error.help.contains("report it"), "{}", error.help);
    }
}
