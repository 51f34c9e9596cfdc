//! The arguments of `setup`.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use super::clients::{Client, Scope};
use super::types::Share;
use crate::failure::Failure;
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
    /// Agents to set up, or `git` or `syncthing` to share memory with other machines [default: agents that are installed]
    #[arg(value_name = "AGENT", value_parser = TargetParser)]
    targets: Vec<Target>,
    /// With `git` or `syncthing`: scope to share; can be repeated [default: the project]
    #[arg(long, value_name = "SCOPE", value_parser = word::<Share>(), conflicts_with_all = ["remove", "uninstall", "templates"])]
    pub(super) share: Vec<Share>,
    #[command(flatten)]
    pub(super) scope: ScopeArg,
    /// Remove our entries; a file that was not changed since is restored byte for byte
    #[arg(long)]
    pub(super) remove: bool,
    /// Instead, remove the program and everything that it made, except memory
    #[arg(long, conflicts_with_all = ["targets", "remove", "without_hooks", "command", "force"])]
    pub(super) uninstall: bool,
    /// With --uninstall, remove the memory too; asks separately
    #[arg(long, requires = "uninstall")]
    pub(super) memory: bool,
    /// Instead, create the missing folders and templates of the notebook
    #[arg(long, conflicts_with_all = ["targets", "remove", "uninstall", "without_hooks", "command", "force", "dry_run", "yes"])]
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

impl SetupArgs {
    /// Returns the agents that are named.
    pub(super) fn agents(&self) -> Vec<Client> {
        let agents = self
            .targets
            .iter()
            .filter_map(|target| if let Target::Agent(agent) = target { Some(*agent) } else { None });
        agents.collect()
    }

    /// Returns the tool that shares memory, if one is named.
    ///
    /// # Errors
    ///
    /// Something else is named beside it, or only sharing has the options.
    pub(super) fn sharing(&self) -> Result<Option<Target>, Failure> {
        let is_tool = |target: &&Target| !matches!(target, Target::Agent(_));
        match (self.targets.iter().find(is_tool), self.targets.as_slice()) {
            (Some(tool), [_]) => Ok(Some(*tool)),
            (Some(tool), _) => {
                Err(Failure::usage(format!("`{}` is set up alone", tool.word()), "run setup once for each"))
            }
            (None, _) if !self.share.is_empty() => {
                Err(Failure::usage("--share needs `git` or `syncthing`", "such as `setup git --share project`"))
            }
            (None, _) => Ok(None),
        }
    }
}

/// What `setup` sets up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// An agent.
    Agent(Client),
    /// A git repository that shares memory.
    Git,
    /// A folder of Syncthing that shares memory.
    Syncthing,
}

impl Target {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Agent(agent) => agent.as_str(),
            Self::Git => "git",
            Self::Syncthing => "syncthing",
        }
    }
}

#[derive(Clone)]
struct TargetParser;

impl TypedValueParser for TargetParser {
    type Value = Target;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Target, clap::Error> {
        match value.to_str() {
            Some("git") => Ok(Target::Git),
            Some("syncthing") => Ok(Target::Syncthing),
            _ => word::<Client>().parse_ref(command, arg, value).map(Target::Agent),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let tools = [Target::Git, Target::Syncthing];
        let targets = Client::ALL.iter().map(|agent| Target::Agent(*agent)).chain(tools);
        Some(Box::new(targets.map(|target| PossibleValue::new(target.word()))))
    }
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
