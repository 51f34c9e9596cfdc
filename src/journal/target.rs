//! [`Target`]: the file of the journal that a command is about.

use core::fmt;
use core::str::FromStr;

use crate::changes::Call;
use crate::search::FolderScope;
use crate::store::{Date, LONG_TERM_FILE, NOTE_SUFFIX, NoteName, RelPath, SCRATCHPAD_FILE};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// A file of the journal, as people and models name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// `MEMORY.md`: durable facts of all projects or of this one, as [`Config::long_term`](crate::Config) says.
    LongTerm,
    /// `SCRATCHPAD.md`: open items of the project.
    Scratchpad,
    /// Daily log of the day `YYYY-MM-DD`; `None` for today.
    Daily(Option<String>),
    /// Note with this name.
    Note(String),
    /// Page of the notebook, by its path or its title. Pages can be read and edited. The path of long-term memory or
    /// of the scratchpad selects that file, which can also be written.
    Page(String),
}

/// Role of the word that names a target, for error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetRole {
    /// Target of a change.
    Target,
    /// Source of a read.
    Source,
}

impl Target {
    /// Parses the words of a tool call or a command line: `long_term` (or `long`), `scratchpad`,
    /// `daily` with an optional date, `note` with a name, `page` with a path or title.
    ///
    /// # Errors
    ///
    /// An unknown word, a note without a name, a name where none belongs.
    pub fn parse(word: &str, name: Option<&str>, role: TargetRole) -> Result<Self, Error> {
        let kind = match role {
            TargetRole::Target => "target",
            TargetRole::Source => "source",
        };
        match (word, name) {
            ("long_term" | "long", None) => Ok(Self::LongTerm),
            // In replies, this path is the file that all projects share.
            (LONG_TERM_FILE, None) => Ok(Self::Page(word.to_string())),
            ("scratchpad" | SCRATCHPAD_FILE, None) => Ok(Self::Scratchpad),
            (path, None) if is_path(path) => Ok(Self::Note(path.to_string())),
            // A note directly in the notebook, as `list` prints it.
            (path, None) if path.ends_with(NOTE_SUFFIX) => Ok(Self::Page(path.to_string())),
            ("daily", date) => Ok(Self::Daily(date.map(ToString::to_string))),
            ("note", Some(name)) => Ok(Self::Note(name.to_string())),
            ("note", None) if role == TargetRole::Source => {
                Err(Error::new(ErrorCode::InvalidName, "note requires name", "give the name of the note"))
            }
            ("note", None) => Ok(Self::Note(String::new())),
            ("page", Some(name)) => Ok(Self::Page(name.to_string())),
            ("page", None) => Err(Error::invalid_argument("a page needs a path or a title", "give it as the name")),
            ("long_term" | "long" | "scratchpad", Some(name)) => {
                let message = format!("{word} takes no name, but got `{name}`");
                Err(Error::invalid_argument(message, "leave the name out, or use note or daily"))
            }
            _ => {
                let help =
                    "give long_term, scratchpad, daily, daily:YYYY-MM-DD, note:NAME, or a path that `list` prints";
                Err(Error::invalid_argument(format!("unknown {kind}: {word}"), help))
            }
        }
    }

    /// Parses one name, as people type it and commands print it: a word of [`parse`](Self::parse), `today`, `daily:DATE`, `note:NAME` or
    /// `page:NAME`. Any other name is the name of a page.
    ///
    /// # Errors
    ///
    /// Those of [`parse`](Self::parse).
    pub fn from_name(name: &str) -> Result<Self, Error> {
        let (word, rest) = match name.split_once(':') {
            Some((word @ ("note" | "page" | "daily"), rest)) => (word, Some(rest)),
            _ => (name, None),
        };
        match (word, rest) {
            (_, Some(_)) | ("long_term" | "long" | "scratchpad" | SCRATCHPAD_FILE | "daily", None) => {
                Self::parse(word, rest, TargetRole::Target)
            }
            ("today", None) => Ok(Self::Daily(None)),
            _ => Ok(Self::Page(name.to_string())),
        }
    }

    /// Returns the long-term memory, the scratchpad, the log of a day and the note of this name.
    pub(super) fn samples(name: &str) -> Vec<Self> {
        vec![Self::LongTerm, Self::Scratchpad, Self::Daily(Some("2026-05-24".into())), Self::Note(name.into())]
    }

    /// Returns the file of the target.
    ///
    /// # Errors
    ///
    /// The note name or the date is invalid.
    pub(crate) fn path(&self, call: &Call) -> Result<RelPath, Error> {
        let layout = &call.scope.layout;
        if let Some(path) = self.kept_file(call) {
            return Ok(path.clone());
        }
        if let Self::Note(name) | Self::Page(name) = self
            && let Some(error) = call.scope.kept_for_all_projects(name)
        {
            return Err(error);
        }
        Ok(match self {
            Self::LongTerm => layout.long_term().clone(),
            Self::Scratchpad => layout.scratchpad().clone(),
            Self::Daily(None) => layout.daily(call.now.date()),
            Self::Daily(Some(date)) => layout.daily(parse_date(date)?),
            Self::Note(name) => match shown_path(call, name) {
                // A note can also be named by its path in replies.
                Some(path) if path.parent().as_ref() == Some(layout.notes_folder()) => {
                    layout.note(&NoteName::from_str(path.file_name())?)
                }
                Some(path) if path.parent().as_ref() == Some(layout.daily_folder()) => {
                    layout.daily(parse_date(path.file_stem())?)
                }
                Some(path) => return Err(not_writable(&call.scope.display_path(&path))),
                _ => layout.note(&NoteName::from_str(name)?),
            },
            Self::Page(name) => page_path(call, name)?,
        })
    }

    /// Returns the file of the target, for a command that changes it.
    ///
    /// # Errors
    ///
    /// Those of [`path`](Self::path), and the refusal of a file that this memory may not change.
    pub(crate) fn changed_path(&self, call: &Call) -> Result<RelPath, Error> {
        let path = self.path(call)?;
        call.screen.check_place(&path)?;
        Ok(path)
    }

    /// Returns the file of the target, for a command that writes it as a whole. A page is written if its path is that of a note
    /// of the journal, a log, long-term memory or the scratchpad.
    ///
    /// # Errors
    ///
    /// Those of [`changed_path`](Self::changed_path), and the refusal of any other page.
    pub(super) fn written_path(&self, call: &Call) -> Result<RelPath, Error> {
        match self {
            Self::Page(name) if is_path(name) => Self::Note(name.clone()).changed_path(call),
            Self::Page(name) if self.kept_file(call).is_none() => Err(not_writable(name)),
            _ => self.changed_path(call),
        }
    }

    /// Returns the long-term memory or the scratchpad, if the target names it by its path.
    fn kept_file<'a>(&self, call: &'a Call) -> Option<&'a RelPath> {
        match self {
            Self::Page(name) => call.scope.kept_file(name),
            Self::Note(name) if is_path(name) => call.scope.kept_file(name),
            _ => None,
        }
    }

    /// Returns the file of the target, for a command that does not create files: any file of memory can be named by its path, as
    /// replies show it or relative to the notebook.
    ///
    /// # Errors
    ///
    /// Those of [`path`](Self::path).
    pub(crate) fn existing_path(&self, call: &Call) -> Result<RelPath, Error> {
        match self {
            Self::Note(name) => shown_path(call, name).map_or_else(|| self.path(call), Ok),
            _ => self.path(call),
        }
    }
}

/// As [`from_name`](Target::from_name) parses it.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LongTerm => f.write_str("long_term"),
            Self::Scratchpad => f.write_str("scratchpad"),
            Self::Daily(None) => f.write_str("daily"),
            Self::Daily(Some(date)) => write!(f, "daily:{date}"),
            Self::Note(name) => write!(f, "note:{name}"),
            Self::Page(name) if Self::from_name(name).is_ok_and(|named| named == *self) => f.write_str(name),
            Self::Page(name) => write!(f, "page:{name}"),
        }
    }
}

/// Returns the error for the path of a note that no command of the journal writes as a whole.
fn not_writable(path: &str) -> Error {
    let message = format!("`write` does not change `{}`", path.escape_debug());
    let help = "it takes long-term memory, the scratchpad, daily logs, and notes named by note:NAME or notes/NAME.md; \
                `remember` makes another note, and `edit` changes one";
    Error::invalid_argument(message, help)
}

fn parse_date(text: &str) -> Result<Date, Error> {
    Date::parse(text).ok_or_else(|| {
        let message = "invalid daily date name (expected YYYY-MM-DD: digits and hyphens only)";
        let help = format!("`{}` is not a valid date; an example is 2026-05-30", text.escape_debug());
        Error::new(ErrorCode::InvalidDate, message, help)
    })
}

/// Returns the file of a page, whether it exists or not. The path is relative to the root, as replies show it, or to
/// the notebook. A path into a hidden folder or another memory is refused.
pub(crate) fn page_path(call: &Call, name: &str) -> Result<RelPath, Error> {
    let layout = &call.scope.layout;
    if let Some(path) = call.scope.kept_file(name) {
        return Ok(path.clone());
    }
    call.scope.check_of_this_project(name)?;
    let refused = |reason: String| {
        let message = format!("`{}` is not the path of a page: {reason}", name.escape_debug());
        Error::new(ErrorCode::InvalidName, message, "give a path as `list` or `recall` prints it, or a title")
    };
    let shown = call.scope.file(name).filter(|path| layout.below_notebook(path).is_some());
    let path = shown.map_or_else(|| layout.in_notebook(name), Ok).map_err(|error| refused(error.to_string()))?;
    let notebook = FolderScope { folder: layout.project_folder().cloned(), tree: true };
    if notebook.holds(&path) { Ok(path) } else { Err(refused("it is hidden, or belongs to another memory".into())) }
}

/// Returns true if a word is a path, false if it is a name.
fn is_path(word: &str) -> bool {
    word.contains('/') && word.ends_with(NOTE_SUFFIX)
}

/// Returns the file of this memory with this path.
fn shown_path(call: &Call, name: &str) -> Option<RelPath> {
    let path = call.scope.file(name).filter(|_| is_path(name))?;
    FolderScope::all(&call.scope.layout).iter().any(|scope| scope.reaches(&path)).then_some(path)
}
