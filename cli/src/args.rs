//! The command line.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::failure::{Exit, Failure};
use crate::global::Global;
#[cfg(feature = "mcp")]
use crate::mcp;
use crate::output::Output;
use crate::{backfill, entry, everyday, file, help, memory, note, program, project, prompt, setup, tips};

/// Plain Markdown memory for agents
#[derive(Debug, Parser)]
#[command(name = "saddlebag", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Parses arguments, the first of which is the name of the program.
    pub(crate) fn of_arguments(arguments: &[OsString]) -> Result<Self, clap::Error> {
        let mut line = line();
        let matches = line.try_get_matches_from_mut(arguments).map_err(|mut error| {
            let arguments: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            tips::suggest(&mut error, &line, &arguments);
            error
        })?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut line))
    }
}

/// Returns the command line with its help.
pub(crate) fn line() -> clap::Command {
    help::with_overview(Cli::command())
}

#[allow(clippy::large_enum_variant, reason = "there is one in a run")]
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Everyday(everyday::Command),
    #[cfg(feature = "mcp")]
    Mcp(mcp::McpArgs),
    /// Notes: find, show, change and link them
    #[command(subcommand)]
    Note(note::Command),
    /// Entries: facts under keys, for an agent and its workspace
    #[command(subcommand)]
    Entry(entry::Command),
    /// Files of memory: long-term memory, scratchpad, logs, notes
    #[command(subcommand)]
    File(file::Command),
    /// The memory as a whole: make, move, approve
    #[command(subcommand)]
    Memory(memory::Command),
    /// Projects: which folder opens which memory
    #[command(subcommand)]
    Project(project::Command),
    Backfill(backfill::BackfillArgs),
    /// Facts in a section of AGENTS.md
    #[command(name = "agents-md", subcommand)]
    AgentsMd(prompt::AgentsMd),
    /// The tools that a model is given
    #[command(subcommand)]
    Tools(program::Tools),
    #[command(flatten)]
    Setup(setup::Command),
    #[command(flatten)]
    Program(program::Command),
    Completions(program::CompletionsArgs),
    Man(program::ManArgs),
}

impl Command {
    /// Runs the subcommand.
    pub(crate) fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        match self {
            Self::Everyday(command) => command.run(global, output),
            #[cfg(feature = "mcp")]
            Self::Mcp(args) => mcp::run(&args, global, output),
            Self::Note(command) => command.run(global, output),
            Self::Entry(command) => command.run(global, output),
            Self::File(command) => command.run(global, output),
            Self::Memory(command) => command.run(global, output),
            Self::Project(command) => command.run(global, output),
            Self::Backfill(args) => crate::subcommand::Subcommand::run(args, global, output),
            Self::AgentsMd(command) => command.run(global, output),
            Self::Tools(command) => command.run(global, output),
            Self::Setup(command) => command.run(global, output),
            Self::Program(command) => command.run(global, output),
            Self::Completions(args) => args.run(line(), output),
            Self::Man(args) => args.run(line(), output),
        }
    }

    /// Returns the words of each subcommand that prints JSON, with its JSON Schema.
    #[cfg(test)]
    pub(crate) fn schemas() -> Vec<(String, schemars::Schema)> {
        use crate::subcommand::schema_of;

        let of_program = vec![
            ("backfill".to_string(), crate::subcommand::schema::<backfill::BackfillArgs>()),
            ("completions".to_string(), schema_of::<program::Script>()),
            ("man".to_string(), schema_of::<program::Pages>()),
        ];
        [
            everyday::Command::schemas(""),
            note::Command::schemas("note "),
            entry::Command::schemas("entry "),
            file::Command::schemas("file "),
            memory::Command::schemas("memory "),
            project::Command::schemas("project "),
            prompt::AgentsMd::schemas("agents-md "),
            program::Tools::schemas("tools "),
            setup::Command::schemas(""),
            program::Command::schemas(""),
            of_program,
        ]
        .concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        line().debug_assert();
    }

    #[test]
    fn a_list_item_is_text_and_a_mistyped_option_is_not() {
        let parse = |content| Cli::try_parse_from(["saddlebag", "file", "write", "scratchpad", content]);
        for text in ["- [ ] task", "-", "---", "-- quoted", "* [ ] x"] {
            assert!(parse(text).is_ok(), "{text}");
        }
        assert!(parse("--overwrite").is_err());
    }
}
