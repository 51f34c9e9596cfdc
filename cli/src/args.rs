//! The command line.

use clap::{CommandFactory, Parser, Subcommand};

use crate::failure::{Exit, Failure};
use crate::global::Global;
#[cfg(feature = "mcp")]
use crate::mcp;
use crate::output::Output;
use crate::{entries, journal, notebook, program, prompt, trust};

/// The exit codes of every command but `zk`, which has those of zk.
pub(crate) const EXIT_CODES: [(u8, &str); 4] = [
    (0, "done"),
    (1, "nothing found: no match, no such file, empty memory; of `replay`: a difference"),
    (2, "bad use: unknown options, targets, modes or arguments"),
    (3, "refused or failed: bad names, missing targets of a change, storage errors"),
];

const AFTER_HELP: &str = "\
Errors go to standard error; with --json as {\"error\": {\"code\", \"message\", \"help\"}}.
SADDLEBAG_LOG=debug logs to standard error what happens, without content.";

fn after_help() -> String {
    let codes: String = EXIT_CODES.iter().map(|(code, meaning)| format!("  {code}  {meaning}\n")).collect();
    format!("Exit codes:\n{codes}\n{AFTER_HELP}")
}

/// Plain Markdown memory for agents
#[derive(Debug, Parser)]
#[command(name = "saddlebag", version, after_help = after_help(), max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[allow(clippy::large_enum_variant, reason = "there is one in a run")]
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Journal(journal::Command),
    #[command(flatten)]
    Prompt(prompt::Command),
    #[command(flatten)]
    Notebook(notebook::Command),
    #[command(flatten)]
    Entries(entries::Command),
    #[command(flatten)]
    Trust(trust::Command),
    #[command(flatten)]
    Program(program::Command),
    Completions(program::CompletionsArgs),
    #[cfg(feature = "mcp")]
    Mcp(mcp::McpArgs),
}

impl Command {
    /// Runs the subcommand.
    pub(crate) fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        match self {
            Self::Journal(command) => command.run(global, output),
            Self::Prompt(command) => command.run(global, output),
            Self::Notebook(command) => command.run(global, output),
            Self::Entries(command) => command.run(global, output),
            Self::Trust(command) => command.run(global, output),
            Self::Program(command) => command.run(global, output),
            Self::Completions(args) => args.run(Cli::command(), output),
            #[cfg(feature = "mcp")]
            Self::Mcp(args) => mcp::run(&args, global, output),
        }
    }

    /// Returns the name of each subcommand that prints JSON, with its JSON Schema.
    #[cfg(test)]
    pub(crate) fn schemas() -> Vec<(String, schemars::Schema)> {
        [
            journal::Command::schemas(),
            prompt::Command::schemas(),
            notebook::Command::schemas(),
            entries::Command::schemas(),
            trust::Command::schemas(),
            program::Command::schemas(),
            vec![("completions".to_string(), crate::subcommand::schema_of::<program::Script>())],
        ]
        .concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_list_item_is_text_and_a_mistyped_option_is_not() {
        let parse = |content| Cli::try_parse_from(["saddlebag", "write", "scratchpad", content]);
        for text in ["- [ ] task", "-", "---", "-- quoted", "* [ ] x"] {
            assert!(parse(text).is_ok(), "{text}");
        }
        assert!(parse("--overwrite").is_err());
    }
}
