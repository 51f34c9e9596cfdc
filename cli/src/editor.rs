//! [`Draft`]: a copy of text, in a file for the user's editor.

use std::env;
use std::fs;
use std::io::Write;
use std::process::Command;

use saddlebag::protocol::ErrorCode;
use tempfile::{Builder, TempPath};

use crate::failure::{Failure, ProgramCode};

/// Variables that name the editor, the first one that is set.
const VARIABLES: [&str; 2] = ["VISUAL", "EDITOR"];

/// File for the editor. It is removed, unless it is kept.
pub(crate) struct Draft {
    path: TempPath,
}

impl Draft {
    /// Writes text into a new file that only the user can read.
    pub(crate) fn new(text: &str) -> Result<Self, Failure> {
        let failed =
            |error: std::io::Error| Failure::new(ProgramCode::Output, format!("cannot copy the text: {error}"), "");
        let mut file = Builder::new().prefix("saddlebag-").suffix(".md").tempfile().map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        Ok(Self { path: file.into_temp_path() })
    }

    /// Opens the file in the user's editor, waits for its end, and returns the text.
    pub(crate) fn edited(&self) -> Result<String, Failure> {
        let words = editor()?;
        let (program, arguments) = words.split_first().ok_or_else(no_editor)?;
        let failed = |why: String| Failure::new(ProgramCode::Input, format!("the editor `{program}` {why}"), "");
        let ended = Command::new(program).args(arguments).arg(&self.path).status();
        let ended = ended.map_err(|error| failed(format!("does not start: {}", saddlebag_host::io_cause(&error))))?;
        if !ended.success() {
            return Err(failed(format!("ended with {ended}")));
        }
        let bytes = fs::read(&self.path).map_err(|error| failed(format!("left no text: {error}")))?;
        String::from_utf8(bytes).map_err(|_| Failure::new(ErrorCode::NotText, "the edited text is not UTF-8", ""))
    }

    /// Keeps the file, and returns the failure with its path.
    pub(crate) fn kept(self, failure: Failure) -> Failure {
        let help = match self.path.keep() {
            Ok(path) => format!("the edited text is in `{}`", path.display()),
            Err(error) => format!("the edited text could not be kept: {error}"),
        };
        let help = if failure.help.is_empty() { help } else { format!("{help}; {}", failure.help) };
        Failure { help, ..failure }
    }
}

/// Returns the words of the command that starts the editor.
fn editor() -> Result<Vec<String>, Failure> {
    let named = VARIABLES.iter().find_map(|name| env::var(name).ok().filter(|value| !value.trim().is_empty()));
    let command = named.ok_or_else(no_editor)?;
    // A backslash of a Windows path does not quote.
    let words = if cfg!(windows) { None } else { shlex::split(&command) };
    Ok(words.unwrap_or_else(|| command.split_whitespace().map(str::to_string).collect()))
}

fn no_editor() -> Failure {
    Failure::usage("no text to replace is given, and no editor is set", "give --old and --new, or set VISUAL or EDITOR")
}
