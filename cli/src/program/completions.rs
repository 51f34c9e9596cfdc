//! `completions`: a completion script.

use clap::{Args, CommandFactory};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Cli;
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::output::Output;
use crate::subcommand::Subcommand;

/// Print a completion script
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// For this shell
    shell: clap_complete::Shell,
}

/// A completion script.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Script {
    /// The shell that reads it.
    shell: String,
    /// Its text.
    script: String,
}

impl Subcommand for CompletionsArgs {
    type Json = Script;

    fn run(self, _: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "saddlebag", &mut script);
        let script = String::from_utf8_lossy(&script).into_owned();
        if output.is_json() {
            output.object(&Script { shell: self.shell.to_string(), script })?;
        } else {
            output.text(&script)?;
        }
        Ok(Exit::Done)
    }
}
