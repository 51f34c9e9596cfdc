//! Arguments of `backfill`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::help::example;
use crate::input::{Since, since};

/// Source of the notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum SourceName {
    /// Sessions of Claude Code
    ClaudeCode,
    /// Sessions of Codex
    Codex,
    /// Sessions of Gemini CLI
    Gemini,
}

impl SourceName {
    /// Returns the name, as `--from` and the ids of notes have it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }
}

/// Make unapproved notes from past sessions
#[derive(Debug, Args)]
#[command(after_help = example("backfill --from claude-code --dry-run"))]
pub(crate) struct BackfillArgs {
    /// Agent whose transcripts are read
    #[arg(long, value_enum, value_name = "SOURCE")]
    pub(super) from: SourceName,
    /// Another folder of transcripts, or a file [default: the folder of the agent]
    #[arg(value_name = "PATH")]
    pub(super) path: Option<PathBuf>,
    /// Leave out sessions that ended before this date or time
    #[arg(long, value_name = "DATE", value_parser = since)]
    pub(super) since: Option<Since>,
    /// Maximum number of notes; the newest are made first
    #[arg(long, short = 'n', value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=5_000))]
    pub(super) limit: u32,
    /// Import sessions of every project, not only of this one
    #[arg(long)]
    pub(super) all_projects: bool,
    /// Print what would be done, and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}
