//! The arguments of `setup`.

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use super::clients::{Client, Scope};
use crate::global;
use crate::help::example;
use crate::word::word;

/// Connect agents to memory: the server and the hooks; or remove all
///
/// Each file is edited in place, and the difference is shown before it is written. Without a name, every agent that is
/// installed is set up.
#[derive(Debug, Args)]
#[command(after_help = example("setup claude-code"))]
pub(crate) struct SetupArgs {
    /// Agents to set up [default: those that are installed]
    #[arg(value_name = "AGENT", value_parser = word::<Client>())]
    pub(super) agents: Vec<Client>,
    #[command(flatten)]
    pub(super) scope: ScopeArg,
    /// Remove our entries; a file that was not changed since is restored byte for byte
    #[arg(long)]
    pub(super) remove: bool,
    /// Instead, remove the program and everything that it made, except memory
    #[arg(long, conflicts_with_all = ["agents", "remove", "without_hooks", "command", "force"])]
    pub(super) uninstall: bool,
    /// With --uninstall, remove the memory too; asks separately
    #[arg(long, requires = "uninstall")]
    pub(super) memory: bool,
    /// Instead, create the missing folders and templates of the notebook
    #[arg(long, conflicts_with_all = ["agents", "remove", "uninstall", "without_hooks", "command", "force", "dry_run", "yes"])]
    pub(super) templates: bool,
    /// Print what would change, and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Write without asking
    #[arg(long)]
    pub(super) yes: bool,
    /// Add the server alone, without hooks
    #[arg(long, conflicts_with = "remove")]
    pub(super) without_hooks: bool,
    /// Add no hook that speaks about a file or a command before a tool uses it
    #[arg(long, conflicts_with_all = ["remove", "without_hooks"])]
    pub(super) without_before_tool: bool,
    /// Program that the entries run [default: this program]
    #[arg(long, value_name = "PATH", conflicts_with = "remove")]
    pub(super) command: Option<PathBuf>,
    /// Replace an entry named `saddlebag` that setup did not write
    #[arg(long, conflicts_with = "remove")]
    pub(super) force: bool,
}

/// Option `--scope` of `setup`. The global option with this name chooses the long-term memory, which entries of
/// clients cannot: so this one takes its place, and the environment of the other does not count.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScopeArg(pub(super) Scope);

/// Id of the option, which must be the id of the global one.
const SCOPE: &str = "scope";

impl Args for ScopeArg {
    fn augment_args(command: Command) -> Command {
        let words = [global::Scope::User, global::Scope::Project];
        let parser = clap::builder::PossibleValuesParser::new(["user", "project"]);
        let parser = clap::builder::TypedValueParser::map(parser, move |word| words[usize::from(word == "project")]);
        let help = "Configuration to change: user, for all projects, or project, of the current folder [default: user]";
        command.arg(Arg::new(SCOPE).long(SCOPE).value_name("SCOPE").value_parser(parser).help(help))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ScopeArg {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let is_typed = matches.value_source(SCOPE) == Some(ValueSource::CommandLine);
        let typed = matches.get_one::<global::Scope>(SCOPE).filter(|_| is_typed);
        match typed {
            None | Some(global::Scope::User) => Ok(Self(Scope::User)),
            Some(global::Scope::Project) => Ok(Self(Scope::Project)),
            Some(global::Scope::All) => Err(clap::Error::raw(
                clap::error::ErrorKind::InvalidValue,
                "invalid value 'all' for '--scope <SCOPE>' of `setup`\n  [possible values: user, project]\n",
            )),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
