//! Arguments of `memory import`.

use std::path::PathBuf;

use clap::Args;
use saddlebag::entries::ImportMode;

use crate::formats::ImportFormat;
use crate::help::example;
use crate::word::word;

/// Read entries from files, in our format or another agent's
#[derive(Debug, Args)]
#[command(after_help = example("memory import --from auto --dry-run"))]
pub(crate) struct ImportArgs {
    /// Folder with `.md` files, or the file of another agent; `-` reads the file, or a tar stream, from standard input
    #[arg(value_name = "PATH", required_unless_present = "format")]
    pub(super) from: Option<PathBuf>,
    /// Format of the files
    #[arg(long = "from", value_enum, default_value_t, value_name = "FORMAT")]
    pub(super) format: ImportFormat,
    /// Treatment of entries that the files do not have: upsert keeps them, replace forgets them
    #[arg(long, default_value_t = ImportMode::Upsert, value_parser = word::<ImportMode>())]
    pub(super) mode: ImportMode,
    /// Print what would be done, and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Trust the provenance that the files state; without it, all entries are imports and wait for approval
    #[arg(long)]
    pub(super) trust: bool,
    /// Do not ask for confirmation
    #[arg(long, short = 'y')]
    pub(super) yes: bool,
}
