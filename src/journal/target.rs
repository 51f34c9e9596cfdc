//! [`Target`]: which file of the journal a command is about.

use alloc::format;
use alloc::string::{String, ToString};

use crate::engine::Call;
use crate::protocol::{Error, ErrorCode};
use crate::store::{Date, NoteName, RelPath};

/// A file of the journal, as people and models name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// `MEMORY.md`: durable facts, shared by every project.
    LongTerm,
    /// `SCRATCHPAD.md`: the open items of the project.
    Scratchpad,
    /// A daily log: of the day given as `YYYY-MM-DD`, else of today.
    Daily(Option<String>),
    /// A note of this name.
    Note(String),
    /// A page of the notebook, by its path or its title. It can be read and edited.
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
            ("scratchpad", None) => Ok(Self::Scratchpad),
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

    /// The file of the target.
    ///
    /// # Errors
    ///
    /// A note name or a date that breaks its rule.
    pub(crate) fn path(&self, call: &Call) -> Result<RelPath, Error> {
        let layout = &call.scope.layout;
        Ok(match self {
            Self::LongTerm => layout.long_term().clone(),
            Self::Scratchpad => layout.scratchpad().clone(),
            Self::Daily(None) => layout.daily(call.now.date()),
            Self::Daily(Some(date)) => layout.daily(parse_date(date)?),
            Self::Note(name) => layout.note(&NoteName::parse(name)?),
            Self::Page(path) => layout.in_notebook(path).map_err(|error| {
                let message = format!("`{}` is not the path of a page: {error}", path.escape_debug());
                Error::new(ErrorCode::InvalidName, message, "give a path as `notes` or `recall` prints it, or a title")
            })?,
        })
    }
}

fn parse_date(text: &str) -> Result<Date, Error> {
    Date::parse(text.strip_suffix(".md").unwrap_or(text)).ok_or_else(|| {
        let message = "invalid daily date name (expected YYYY-MM-DD: digits and hyphens only)";
        let help = format!("`{}` is no day of the calendar; an example is 2026-05-30", text.escape_debug());
        Error::new(ErrorCode::InvalidDate, message, help)
    })
}
