//! `completions`: prints a completion script, or the manual pages.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, Command, ValueEnum};
use clap_complete::Shell;

use super::manual::{self, Pages};
use crate::prelude::*;

/// Print a completion script for a shell, or the manual pages
#[derive(Debug, Args)]
#[command(after_help = example("completions bash"))]
pub(crate) struct CompletionsArgs {
    /// Shell that reads the script, or `man` for the manual page of the program
    #[arg(value_enum, value_name = "SHELL")]
    reader: Reader,
    /// Folder for a manual page per command, created if it is missing; with `man` alone
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Program that reads what is printed.
#[derive(Clone, Copy, Debug)]
enum Reader {
    Shell(Shell),
    Man,
}

impl ValueEnum for Reader {
    fn value_variants<'a>() -> &'a [Self] {
        const SHELLS: [Shell; 5] = [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh];
        const READERS: [Reader; 6] = {
            let [a, b, c, d, e] = SHELLS;
            [Reader::Shell(a), Reader::Shell(b), Reader::Shell(c), Reader::Shell(d), Reader::Shell(e), Reader::Man]
        };
        &READERS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Shell(shell) => shell.to_possible_value(),
            Self::Man => Some(PossibleValue::new("man")),
        }
    }
}

/// Completion script, or manual pages.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it is the schema of what is printed")]
pub(crate) enum Completions {
    Script(Script),
    Pages(Pages),
}

/// Completion script for a shell.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Script {
    /// Shell that reads the script.
    shell: String,
    /// Text of the script.
    script: String,
}

impl CompletionsArgs {
    /// Prints the completion script or the manual pages for a command line.
    pub(crate) fn run(self, mut command: Command, output: &mut Output) -> Result<Exit, Failure> {
        let shell = match self.reader {
            Reader::Man => return manual::write(command, self.out, output),
            Reader::Shell(_) if self.out.is_some() => {
                return Err(Failure::usage("--out is for manual pages", "leave it out, or name `man`"));
            }
            Reader::Shell(shell) => shell,
        };
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut command, "saddlebag", &mut script);
        let script = String::from_utf8_lossy(&script).into_owned();
        if output.is_json() {
            output.object(&Script { shell: shell.to_string(), script })?;
        } else {
            output.text(&script)?;
        }
        Ok(Exit::Done)
    }
}
