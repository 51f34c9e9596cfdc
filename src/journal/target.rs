//! [`Target`]: which file of the journal a command is about.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::engine::Call;
use crate::protocol::{Error, ErrorCode};
use crate::search::FolderScope;
use crate::store::{Date, LONG_TERM_FILE, NOTE_SUFFIX, NoteName, RelPath, SCRATCHPAD_FILE};

/// A file of the journal, as people and models name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// `MEMORY.md`: durable facts, of every project or of this one, as [`Config::long_term`](crate::Config) says.
    LongTerm,
    /// `SCRATCHPAD.md`: the open items of the project.
    Scratchpad,
    /// A daily log: of the day given as `YYYY-MM-DD`, else of today.
    Daily(Option<String>),
    /// A note of this name.
    Note(String),
    /// A page of the notebook, by its path or its title. It can be read and edited. The path of long-term memory or
    /// of the scratchpad names that file, which can be written, too.
    Page(String),
}

/// What the word for a target is called where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetRole {
    /// Of something that is changed.
    Target,
    /// Of something that is read.
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
            // As replies show it, that is the file which all projects share.
            (LONG_TERM_FILE, None) => Ok(Self::Page(word.to_string())),
            ("scratchpad" | SCRATCHPAD_FILE, None) => Ok(Self::Scratchpad),
            (path, None) if is_path(path) => Ok(Self::Note(path.to_string())),
            ("daily", date) => Ok(Self::Daily(date.map(ToString::to_string))),
            ("note", Some(name)) => Ok(Self::Note(name.to_string())),
            ("note", None) if role == TargetRole::Source => {
                Err(Error::new(ErrorCode::InvalidName, "note requires name", "name the note"))
            }
            ("note", None) => Ok(Self::Note(String::new())),
            ("page", Some(name)) => Ok(Self::Page(name.to_string())),
            ("page", None) => Err(Error::invalid_argument("a page needs a path or a title", "give it as the name")),
            ("long_term" | "long" | "scratchpad", Some(name)) => {
                let message = format!("{word} takes no name, but got `{name}`");
                Err(Error::invalid_argument(message, "leave the name out, or use note or daily"))
            }
            _ => {
                let help = "one of long_term, scratchpad, daily, note, page";
                Err(Error::invalid_argument(format!("unknown {kind}: {word}"), help))
            }
        }
    }

    /// Long-term memory, the scratchpad, the log of a day and the note of this name.
    pub(super) fn samples(name: &str) -> Vec<Self> {
        alloc::vec![Self::LongTerm, Self::Scratchpad, Self::Daily(Some("2026-05-24".into())), Self::Note(name.into())]
    }

    /// The file of the target.
    ///
    /// # Errors
    ///
    /// A note name or a date that breaks its rule.
    pub(crate) fn path(&self, call: &Call) -> Result<RelPath, Error> {
        let layout = &call.scope.layout;
        if let Some(path) = self.kept_file(call) {
            return Ok(path.clone());
        }
        Ok(match self {
            Self::LongTerm => layout.long_term().clone(),
            Self::Scratchpad => layout.scratchpad().clone(),
            Self::Daily(None) => layout.daily(call.now.date()),
            Self::Daily(Some(date)) => layout.daily(parse_date(date)?),
            Self::Note(name) => match shown_path(call, name) {
                // A path as replies show it names a note too.
                Some(path) if path.parent().as_ref() == Some(layout.notes_folder()) => {
                    layout.note(&NoteName::parse(path.file_name())?)
                }
                _ => layout.note(&NoteName::parse(name)?),
            },
            Self::Page(name) => page_path(call, name)?,
        })
    }

    /// The file of the target, for a command that changes it.
    ///
    /// # Errors
    ///
    /// As [`path`](Self::path), and for a file that this memory may not change.
    pub(crate) fn changed_path(&self, call: &Call) -> Result<RelPath, Error> {
        let path = self.path(call)?;
        call.screen.check_place(&path)?;
        Ok(path)
    }

    /// The long-term memory or the scratchpad that the target names by its path.
    fn kept_file<'a>(&self, call: &'a Call) -> Option<&'a RelPath> {
        match self {
            Self::Page(name) => call.scope.kept_file(name),
            Self::Note(name) if is_path(name) => call.scope.kept_file(name),
            _ => None,
        }
    }

    /// The file of the target, for a command that makes none: any file of memory can be named by its path,
    /// as replies show it or below the notebook.
    ///
    /// # Errors
    ///
    /// As [`path`](Self::path).
    pub(crate) fn existing_path(&self, call: &Call) -> Result<RelPath, Error> {
        match self {
            Self::Note(name) => shown_path(call, name).map_or_else(|| self.path(call), Ok),
            _ => self.path(call),
        }
    }
}

fn parse_date(text: &str) -> Result<Date, Error> {
    Date::parse(text.strip_suffix(".md").unwrap_or(text)).ok_or_else(|| {
        let message = "invalid daily date name (expected YYYY-MM-DD: digits and hyphens only)";
        let help = format!("`{}` is no day of the calendar; an example is 2026-05-30", text.escape_debug());
        Error::new(ErrorCode::InvalidDate, message, help)
    })
}

/// The file of the page that a path names, be it there or not: as replies show the path, or below the notebook. A path
/// that leads into a hidden folder or into another memory is not one of a page.
pub(crate) fn page_path(call: &Call, name: &str) -> Result<RelPath, Error> {
    let layout = &call.scope.layout;
    if let Some(path) = call.scope.kept_file(name) {
        return Ok(path.clone());
    }
    let refused = |reason: String| {
        let message = format!("`{}` is not the path of a page: {reason}", name.escape_debug());
        Error::new(ErrorCode::InvalidName, message, "give a path as `notes` or `recall` prints it, or a title")
    };
    let shown = call.scope.file(name).filter(|path| layout.below_notebook(path).is_some());
    let path = shown.map_or_else(|| layout.in_notebook(name), Ok).map_err(|error| refused(error.to_string()))?;
    let notebook = FolderScope { folder: layout.project_folder().cloned(), tree: true };
    if notebook.holds(&path) { Ok(path) } else { Err(refused("it is hidden, or belongs to another memory".into())) }
}

/// Whether a word is a path rather than a name.
fn is_path(word: &str) -> bool {
    word.contains('/') && word.ends_with(NOTE_SUFFIX)
}

/// The file of this memory that a path names.
fn shown_path(call: &Call, name: &str) -> Option<RelPath> {
    let path = call.scope.file(name).filter(|_| is_path(name))?;
    FolderScope::all(&call.scope.layout).iter().any(|scope| scope.reaches(&path)).then_some(path)
}
