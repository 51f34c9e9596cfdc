//! [`Error`]: why a command did not do what it was asked.
//!
//! # What happens when something goes wrong?
//!
//! Three kinds of errors stay apart. A `protocol-error` is a fault of the host: the call is refused. An `fs-error` is the
//! host's answer to one operation, and a result like any other. An `error` is how a command ends. Another version of the contract may
//! have more cases of each.
//!
//! | What goes wrong | What comes of it |
//! | --- | --- |
//! | The host denies, times out, has no room | The command ends with `storage`, naming the file and the host's words. A search passes over a file that cannot be read, the block goes on without it, and both name it |
//! | Others keep changing the file | 1,024 attempts, then `contention` |
//! | The backup cannot be written | An overwrite, and an edit of long-term memory or the scratchpad, is done and says so; a deletion, a restore, and an edit or clear by slash command are refused |
//! | The component panics, passes its memory (1 GiB), its time for one call (30 s) or its bytes for the host (256 MiB) | A trap. The instance and its commands are gone, every later call says so, files are whole as each operation was performed whole or not at all. Other instances go on |
//! | The file is no component, or has another world | A typed error before anything runs; `--engine native` needs no component |
//! | The executor answers with the wrong kind | The engine refuses it; `Host::run` gives the command up and takes the next |
//! | The machine or the process stops | Acknowledged changes are there; of a change of several operations a prefix may be. Overwrites and restores write first what would be lost, a rename can be finished |
//! | A note's frontmatter is no YAML, or a bomb of anchors | A warning with the line; the note is searched and linked all the same |
//! | The configuration of the notebook is no TOML | Readers go on with the defaults and warn; writers stop at the place |
//!
//! To see what happens: `SADDLEBAG_LOG=debug` logs commands and operations without content, `--trace FILE` writes every
//! command, request and result with content, one JSON object a line, to a file that is made with mode 0600. Unless
//! secrets are allowed (`--secrets allow`), they are redacted there, and bytes that are not text are left out.

use alloc::format;
use alloc::string::String;

use saddlebag_words::{UnknownWord, words};

use super::{FsError, RelPath};

/// A command that was refused or that failed. What it would have changed is unchanged.
///
/// The message says what was wrong, with the value and the limit; the help says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// For programs.
    pub code: ErrorCode,
    /// For people: lower case, no trailing dot, except where the text is another program's.
    pub message: String,
    /// The way out; empty if there is not one.
    pub help: String,
}

/// Kind of an error. Another version of the contract may have more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// A note name breaks a rule of names.
    InvalidName,
    /// A date is not a day of the calendar as `YYYY-MM-DD`.
    InvalidDate,
    /// Another argument is out of its range, or a word is unknown.
    InvalidArgument,
    /// Text or file over a limit.
    TooLarge,
    /// The thing that the command is about does not exist.
    NotFound,
    /// The text to replace does not occur exactly once.
    NoUniqueMatch,
    /// The file is not UTF-8 text.
    NotText,
    /// Others kept changing the file; the bounded number of retries is used up.
    Contention,
    /// The host could not perform an operation.
    Storage,
    /// The entries of another agent of the workspace.
    ScopeDenied,
    /// No such agent or workspace is visible to the caller.
    ScopeNotFound,
    /// The host could not perform an operation on entries.
    MemoryUnavailable,
    /// No entry has the key.
    EntryNotFound,
    /// A newer run has begun.
    StaleFence,
    /// A text has a secret in it.
    Secret,
    /// Only a memory of a person may do it, or text of this provenance may not.
    NotPermitted,
    /// The command was cancelled.
    Cancelled,
    /// The command is still in flight, so that there is no reply yet.
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
    /// An error with a way out.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: help.into() }
    }

    /// The host's answer to an operation on `path`.
    #[must_use]
    pub fn storage(path: Option<&RelPath>, error: &FsError) -> Self {
        let place = path.map_or("the root of the store", RelPath::as_str);
        let help = match error {
            FsError::SymbolicLink => "replace the link by the file itself; links below the root are never followed",
            FsError::NoSpace => "free some space and try again; nothing was changed",
            FsError::Denied | FsError::ReadOnly => "check the permissions of the store's folder",
            FsError::IsDirectory | FsError::NotRegular => "move it out of the way: a file is expected there",
            FsError::TimedOut | FsError::Cancelled => "try again",
            FsError::Locked(_) => "wait until that program is done, or end it, and try again",
            FsError::NotDurable(_) => {
                "check the disk, then look at the file before you try again; the next change writes all of it anew"
            }
            _ => "",
        };
        Self::new(ErrorCode::Storage, format!("{place}: {error}"), help)
    }

    /// The same error of a command that had changed something before it failed: what it says of a store that is as
    /// before is not true then. Only who ran the whole command knows.
    #[must_use]
    pub fn after_changes(mut self) -> Self {
        self.help = after_changes(&self.help);
        self
    }

    /// A file that does not exist, in the words of POSIX systems.
    #[must_use]
    pub fn not_found(path: &RelPath) -> Self {
        let help = format!("there is no {path}; `file list` shows what there is");
        Self::new(ErrorCode::NotFound, "No such file or directory (os error 2)", help)
    }

    /// A file that is not UTF-8 where text is needed.
    #[must_use]
    pub fn not_text(path: &RelPath) -> Self {
        let help = "convert it to UTF-8; appending keeps its bytes as they are";
        Self::new(ErrorCode::NotText, format!("{path}: not UTF-8 text"), help)
    }

    /// A file that is larger than the command can take in whole.
    #[must_use]
    pub fn file_too_large(path: &RelPath, size: u64, limit: u64) -> Self {
        let message = format!("{path}: {size} bytes, the limit for this command is {limit}");
        Self::new(ErrorCode::TooLarge, message, "split the file; `file show` with an offset shows any part of it")
    }

    /// A broken invariant: a fault of the component, which no input and no file may cause. Debug builds stop here, so
    /// that tests and fuzzing find the place; release builds refuse the command instead of going on with less.
    #[track_caller]
    #[must_use]
    pub fn internal(what: impl Into<String>) -> Self {
        let what = what.into();
        debug_assert!(false, "a broken invariant: {what}");
        Self::new(ErrorCode::Internal, what, "this is a fault of saddlebag; report it with the command that caused it")
    }

    /// An argument out of its range, or a word that is not known.
    #[must_use]
    pub fn invalid_argument(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidArgument, message, help)
    }
}

/// Claims in help that are true only while the store is as it was before.
const UNCHANGED: [&str; 4] = ["nothing was changed", "nothing was written", "nothing was imported", "nothing was made"];

/// Help for somebody whose command has changed something before it failed.
#[must_use]
pub fn after_changes(help: &str) -> String {
    let mut help = String::from(help);
    for claim in UNCHANGED {
        help = help.replace(claim, "what was done before stays");
    }
    help
}

/// A word that an argument cannot be.
impl From<UnknownWord> for Error {
    fn from(error: UnknownWord) -> Self {
        Self::invalid_argument(error.message(), error.help())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(debug_assertions, should_panic(expected = "a broken invariant: a note without a text"))]
    fn a_broken_invariant_stops_a_debug_build_and_refuses_the_command_in_a_release() {
        let error = Error::internal("a note without a text");
        assert_eq!(error.code, ErrorCode::Internal);
        assert_eq!(error.message, "a note without a text");
        assert!(error.help.contains("report it"), "{}", error.help);
    }
}
