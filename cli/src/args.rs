//! The command line.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::prelude::*;
use crate::subcommand::Subcommand as _;
use crate::{backfill, copy, entry, everyday, help, memory, merge, program, project, prompt, setup, sync, tips};
#[cfg(feature = "server")]
use crate::{mcp, ui};

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
        if arguments.iter().skip(1).map(OsString::as_os_str).eq(["help", "--all"]) {
            let all = help::all(&line);
            let matches = line.override_help(all).try_get_matches_from(["saddlebag", "--help"])?;
            return Self::from_arg_matches(&matches);
        }
        let is_overview = arguments.iter().skip(1).map(OsString::as_os_str).eq(["help"]);
        let overview = ["saddlebag", "-h"].map(OsString::from);
        let arguments = if is_overview { &overview } else { arguments };
        let matches = line.try_get_matches_from_mut(arguments).map_err(|mut error| {
            // An option from the environment is an argument to clap, which then prints an error in place of the help.
            if error.kind() == ErrorKind::MissingSubcommand && arguments.len() <= 1 {
                let help = line.render_help();
                return clap::Error::raw(ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand, help);
            }
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
    #[cfg(feature = "server")]
    Mcp(mcp::McpArgs),
    #[cfg(feature = "server")]
    Ui(ui::UiArgs),
    /// Entries: facts under keys, for an agent and its workspace
    #[command(subcommand)]
    Entry(entry::Command),
    /// The memory as a whole: move, approve
    #[command(subcommand)]
    Memory(memory::Command),
    Project(project::ProjectArgs),
    Backfill(backfill::BackfillArgs),
    Sync(sync::SyncArgs),
    Merge(merge::MergeArgs),
    Copy(copy::CopyArgs),
    /// Facts in a section of AGENTS.md
    #[command(name = "agents-md", subcommand)]
    AgentsMd(prompt::AgentsMd),
    Tools(program::ToolsArgs),
    Setup(setup::SetupArgs),
    #[command(flatten)]
    Program(program::Command),
    Completions(program::CompletionsArgs),
}

impl Command {
    /// Runs the subcommand.
    pub(crate) fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        match self {
            Self::Everyday(command) => command.run(global, output),
            #[cfg(feature = "server")]
            Self::Mcp(args) => mcp::run(&args, global, output),
            #[cfg(feature = "server")]
            Self::Ui(args) => ui::run(&args, global, output),
            Self::Entry(command) => command.run(global, output),
            Self::Memory(command) => command.run(global, output),
            Self::Project(args) => args.run(global, output),
            Self::Backfill(args) => args.run(global, output),
            Self::Sync(args) => args.run(global, output),
            Self::Merge(args) => args.run(global, output),
            Self::Copy(args) => args.run(global, output),
            Self::AgentsMd(command) => command.run(global, output),
            Self::Tools(args) => args.run(global, output),
            Self::Setup(args) => args.run(global, output),
            Self::Program(command) => command.run(global, output),
            Self::Completions(args) => args.run(line(), output),
        }
    }

    /// Returns the words of each subcommand that prints JSON, with its JSON Schema.
    #[cfg(test)]
    pub(crate) fn schemas() -> Vec<(String, schemars::Schema)> {
        use crate::subcommand::{schema, schema_of};

        let of_program = vec![
            ("backfill".to_string(), schema::<backfill::BackfillArgs>()),
            ("sync".to_string(), schema::<sync::SyncArgs>()),
            ("merge".to_string(), schema::<merge::MergeArgs>()),
            ("copy".to_string(), schema::<copy::CopyArgs>()),
            ("project".to_string(), schema::<project::ProjectArgs>()),
            ("tools".to_string(), schema::<program::ToolsArgs>()),
            ("setup".to_string(), schema::<setup::SetupArgs>()),
            ("completions".to_string(), schema_of::<program::Completions>()),
        ];
        [
            everyday::Command::schemas(""),
            entry::Command::schemas("entry "),
            memory::Command::schemas("memory "),
            prompt::AgentsMd::schemas("agents-md "),
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
        let parse = |content| Cli::try_parse_from(["saddlebag", "write", "scratchpad", content]);
        for text in ["- [ ] task", "-", "---", "-- quoted", "* [ ] x"] {
            assert!(parse(text).is_ok(), "{text}");
        }
        assert!(parse("--overwrite").is_err());
    }
}
