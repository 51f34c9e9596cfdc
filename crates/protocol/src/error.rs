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

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::ops::{Deref, DerefMut};

use saddlebag_words::{UnknownWord, words};

use super::{FsError, RelPath};

/// Error of a command that was refused or failed. [`Finished::changed`](crate::Finished::changed) says whether the command
/// had changed a file before; [`help_after`] says it in words.
///
/// The message says what was wrong, with the value and the limit; the help says what to do.
///
/// It is one pointer to its details, because most functions of a command return it and pass it on: each `?` then moves one
/// word.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.0.message)]
pub struct Error(Box<ErrorDetails>);

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
    /// The file is not UTF-8 text.
    NotText,
    /// Others kept changing the file; the bounded number of retries is used up.
    Contention,
    /// The host could not perform an operation.
    Storage,
    /// The entries belong to another agent of the workspace.
    ScopeDenied,
    /// No such agent or workspace is visible to the caller.
    ScopeNotFound,
    /// The host could not perform an operation on entries.
    MemoryUnavailable,
    /// No entry has the key.
    EntryNotFound,
    /// A newer run has begun.
    StaleFence,
    /// The text contains a secret.
    Secret,
    /// Only a memory of a person may do this, or text of this provenance may not.
    NotPermitted,
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
    NotText = "not-text",
    Contention = "contention",
    Storage = "storage",
    ScopeDenied = "scope-denied",
    ScopeNotFound = "scope-not-found",
    MemoryUnavailable = "memory-unavailable",
    EntryNotFound = "entry-not-found",
    StaleFence = "stale-fence",
    Secret = "secret",
    NotPermitted = "not-permitted",
    Cancelled = "cancelled",
    NotFinished = "not-finished",
    Internal = "internal",
});

impl Error {
    /// Creates an error with a way out.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>, help: impl Into<String>) -> Self {
        ErrorDetails { code, message: message.into(), help: help.into() }.into()
    }

    /// Returns the message.
    #[must_use]
    pub fn into_message(self) -> String {
        self.0.message
    }

    /// Takes the error apart.
    #[must_use]
    pub fn into_details(self) -> ErrorDetails {
        *self.0
    }

    /// Creates the error for the host's answer to an operation on `path`.
    #[must_use]
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

    /// Creates the error for a file that does not exist, in the words of POSIX systems.
    #[must_use]
    pub fn not_found(path: &RelPath) -> Self {
        let help = format!("there is no {path}; `file list` shows the existing files");
        Self::new(ErrorCode::NotFound, "No such file or directory (os error 2)", help)
    }

    /// Creates the error for a file that must be UTF-8 and is not.
    #[must_use]
    pub fn not_text(path: &RelPath) -> Self {
        let help = "convert it to UTF-8; appending keeps its bytes unchanged";
        Self::new(ErrorCode::NotText, format!("{path}: not UTF-8 text"), help)
    }

    /// Creates the error for a file that is too large for the command.
    #[must_use]
    pub fn file_too_large(path: &RelPath, size: u64, limit: u64) -> Self {
        let message = format!("{path} has {size} bytes, the limit for this command is {limit}");
        Self::new(ErrorCode::TooLarge, message, "split the file; `file show` with an offset shows any part of it")
    }

    /// Creates the error for a broken invariant: a fault of the component, which no input and no file may cause. Debug
    /// builds panic here, so that tests and fuzzing find the place; release builds refuse the command.
    #[track_caller]
    #[must_use]
    pub fn internal(what: impl Into<String>) -> Self {
        let what = what.into();
        debug_assert!(false, "a broken invariant: {what}");
        Self::new(ErrorCode::Internal, what, "this is a fault of saddlebag; report it with the command that caused it")
    }

    /// Creates the error for an argument out of its range, or an unknown word.
    #[must_use]
    pub fn invalid_argument(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidArgument, message, help)
    }
}

impl From<ErrorDetails> for Error {
    #[inline(never)]
    fn from(details: ErrorDetails) -> Self {
        Self(Box::new(details))
    }
}

impl Deref for Error {
    type Target = ErrorDetails;

    fn deref(&self) -> &ErrorDetails {
        &self.0
    }
}

impl DerefMut for Error {
    fn deref_mut(&mut self) -> &mut ErrorDetails {
        &mut self.0
    }
}

/// Returns the help of a failed command, with what the command had changed before. `may_change` is false for a command
/// that only reads; then nothing is said.
///
/// Nothing else says whether anything was changed, because only the code that ran the whole command knows.
#[must_use]
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
    #[cfg_attr(debug_assertions, should_panic(expected = "a broken invariant: a note without text"))]
    fn a_broken_invariant_stops_a_debug_build_and_refuses_the_command_in_a_release() {
        let error = Error::internal("a note without text");
        assert_eq!(error.code, ErrorCode::Internal);
        assert_eq!(error.message, "a note without text");
        assert!(error.help.contains("report it"), "{}", error.help);
    }
}
