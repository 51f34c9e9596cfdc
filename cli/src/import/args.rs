//! Arguments of `memory import`.

use std::path::PathBuf;

use clap::Args;
use saddlebag::entries::ImportMode;

use crate::formats::FormatName;
use crate::help::example;
use crate::word::word;

/// Take entries from files, our own or those of another agent
#[derive(Debug, Args)]
#[command(after_help = example("memory import --from auto --dry-run"))]
pub(crate) struct ImportArgs {
    /// Folder with `.md` files, or the file of another agent; `-` is standard input: that file, or a tar stream
    #[arg(value_name = "PATH", required_unless_present = "format")]
    pub(super) from: Option<PathBuf>,
    /// Format of the files
    #[arg(long = "from", value_enum, default_value_t, value_name = "FORMAT")]
    pub(super) format: FormatName,
    /// Treatment of other entries: upsert keeps them, replace forgets those that are in no file
    #[arg(long, default_value_t = ImportMode::Upsert, value_parser = word::<ImportMode>())]
    pub(super) mode: ImportMode,
    /// Print what would be done, and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Believe the provenance that the files state; without it they are imports, which go into no prompt until they are
    /// approved
    #[arg(long)]
    pub(super) trust: bool,
    /// Go on without a question
    #[arg(long, short = 'y')]
    pub(super) yes: bool,
}
