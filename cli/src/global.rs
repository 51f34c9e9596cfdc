//! [`Global`]: the options that every subcommand has.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use saddlebag::entries::MAX_ENTRIES;
use saddlebag::protocol::ErrorCode;
use saddlebag::store::{LongTermScope, Timestamp};
use saddlebag::trust::{Provenance, SecretPolicy};

use crate::failure::Failure;
use crate::word::word;

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Folder or address of the store
    ///
    /// The folder must exist. An address is s3://BUCKET/FOLDER or postgres://HOST/DATABASE?space=NAME; docs/remote.md has
    /// the credentials [default: $SADDLEBAG_ROOT, else `saddlebag` in the platform's data folder, created if it is
    /// missing]
    #[arg(long, global = true, value_name = "PLACE")]
    pub(crate) root: Option<PathBuf>,
    /// Project whose memory to use [default: current folder]
    ///
    /// Any folder or file of the project
    #[arg(long, global = true, value_name = "PATH", conflicts_with = "notebook")]
    pub(crate) project: Option<PathBuf>,
    /// Use the root of the store as the notebook, without a project
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) notebook: bool,
    /// Use the notes for all projects instead of a project's
    ///
    /// Every project reads them too. An agent changes them only with --scope all.
    #[arg(long, global = true, conflicts_with = "notebook")]
    pub(crate) user: bool,
    /// Agent that owns the entries
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        value_name = "NAME",
        env = "SADDLEBAG_AGENT",
        default_value = "main"
    )]
    pub(crate) agent: String,
    /// Workspace that the agent shares entries with
    #[arg(long, global = true, hide_short_help = true, value_name = "NAME", env = "SADDLEBAG_WORKSPACE")]
    pub(crate) workspace: Option<String>,
    /// Maximum number of entries of the agent, and of the workspace; a new entry evicts the one that was changed
    /// longest ago
    #[arg(long, global = true, hide_short_help = true, value_name = "N", env = "SADDLEBAG_MAX_ENTRIES", default_value_t = MAX_ENTRIES)]
    pub(crate) max_entries: u32,
    /// Maximum size of the names of what memory knows, at the start of a session, in bytes; 0: none [default: 4000]
    #[arg(long, global = true, hide_short_help = true, value_name = "BYTES", env = "SADDLEBAG_MAP_BYTES")]
    pub(crate) map_bytes: Option<u32>,
    /// Origin of the stored text; text of tools and imports does not go into prompts until the user approves it
    /// [default: user; agent for `mcp` and `tools`]
    #[arg(long, global = true, hide_short_help = true, value_name = "KIND", env = "SADDLEBAG_PROVENANCE",
        value_parser = word::<Provenance>())]
    pub(crate) provenance: Option<Provenance>,
    /// Long-term memory that commands write: the project's `MEMORY.md`, or the shared one; both are read [default: all;
    /// project for `mcp`, `tools` and any --provenance except user]
    #[arg(long, global = true, hide_short_help = true, value_name = "SCOPE", env = "SADDLEBAG_SCOPE", value_enum)]
    pub(crate) scope: Option<Scope>,
    /// Treatment of secrets in text that is stored
    #[arg(long, global = true, hide_short_help = true, value_name = "POLICY", env = "SADDLEBAG_SECRETS", default_value_t,
        value_parser = word::<SecretPolicy>())]
    pub(crate) secrets: SecretPolicy,
    /// Folder for copies of large objects of a store in a bucket, so that they are not sent again; it can be deleted
    #[arg(long, global = true, hide_short_help = true, value_name = "FOLDER", env = "SADDLEBAG_CACHE")]
    pub(crate) cache: Option<PathBuf>,
    /// Name of this machine in the history of changes [default: the host name and an identifier]
    #[arg(long, global = true, hide_short_help = true, value_name = "NAME", env = "SADDLEBAG_MACHINE")]
    pub(crate) machine: Option<String>,
    /// Reason for the change, for the history
    #[arg(long, global = true, hide_short_help = true, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Time to use instead of the clock, so that a run can be repeated
    #[arg(long, global = true, hide_short_help = true, value_name = "RFC3339", value_parser = saddlebag_host::parse_time)]
    pub(crate) now: Option<Timestamp>,
    /// Engine: the WebAssembly component, or the same code compiled natively
    #[arg(long, global = true, hide_short_help = true, value_enum, default_value_t)]
    pub(crate) engine: Engine,
    /// Crash that changes survive: full, of the machine; fast, only of the program
    #[arg(long, global = true, hide_short_help = true, value_enum, default_value_t)]
    pub(crate) durability: Durability,
    /// Print one JSON object; errors too, on standard error
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// File to append every command, request and result to, one JSON object a line. It contains the text of the memory: do not
    /// send it to others unread. `saddlebag-conformance --replay` runs it again
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Print absolute paths instead of paths below the root
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) absolute: bool,
    /// Use of colour
    #[arg(long, global = true, hide_short_help = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Shown,
}

impl Global {
    /// Returns the options for commands of a model. Without `--provenance` their text comes from the agent.
    pub(crate) fn of_agent(&self) -> Self {
        Self { provenance: Some(self.provenance.unwrap_or(Provenance::Agent)), ..self.clone() }
    }

    /// Refuses what only a person may do, such as `commit`.
    pub(crate) fn require_person(&self, what: &str) -> Result<(), Failure> {
        let provenance = self.provenance.unwrap_or_default();
        if provenance == Provenance::User {
            return Ok(());
        }
        let message = format!("only a person may {what}, and this memory was opened for `{provenance}`");
        Err(Failure::new(ErrorCode::NotPermitted, message, "leave --provenance out"))
    }

    /// Returns the file of long-term memory that commands write. By default a person writes the file of all projects,
    /// and an agent writes the memory of its project.
    pub(crate) fn long_term(&self) -> LongTermScope {
        let is_for_person = self.provenance.unwrap_or_default() == Provenance::User;
        match self.scope {
            Some(Scope::All | Scope::User) => LongTermScope::Shared,
            Some(Scope::Project) => LongTermScope::Project,
            None if is_for_person => LongTermScope::Shared,
            None => LongTermScope::Project,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    Project,
    All,
    /// Only `setup` knows it, whose option of the same name is another.
    #[value(skip)]
    User,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    #[cfg(feature = "component")]
    #[default]
    Component,
    #[cfg_attr(not(feature = "component"), default)]
    Native,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Durability {
    #[default]
    Full,
    Fast,
}

impl From<Durability> for saddlebag_host::Durability {
    fn from(durability: Durability) -> Self {
        match durability {
            Durability::Full => Self::Full,
            Durability::Fast => Self::Fast,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shown {
    #[default]
    Auto,
    Always,
    Never,
}

impl Shown {
    /// Turns colours on or off for everything that is printed afterwards.
    pub(crate) fn write_global(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}
