//! `completions`: prints a completion script.

use clap::{Args, Command};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::{Exit, Failure};
use crate::help::example;
use crate::output::Output;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = example("completions bash"))]
pub(crate) struct CompletionsArgs {
    /// Shell that reads the script
    shell: clap_complete::Shell,
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
    /// Prints the completion script for a command line.
    pub(crate) fn run(self, mut command: Command, output: &mut Output) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "saddlebag", &mut script);
        let script = String::from_utf8_lossy(&script).into_owned();
        if output.is_json() {
            output.object(&Script { shell: self.shell.to_string(), script })?;
        } else {
            output.text(&script)?;
        }
        Ok(Exit::Done)
    }
}
