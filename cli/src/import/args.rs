//! The arguments of `import`.

use std::path::PathBuf;

use clap::Args;
use saddlebag::entries::ImportMode;

use crate::formats::FormatName;
use crate::word::word;

/// Take files of entries in, each whole or not at all, or the memory of another agent (--from)
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// A folder, of which every `.md` file is taken, or the file of another agent; `-` for standard input: that
    /// file, or a tar stream
    #[arg(value_name = "PATH", required_unless_present = "format")]
    pub(super) from: Option<PathBuf>,
    /// The format: our own, or that of another agent
    #[arg(long = "from", value_enum, default_value_t, value_name = "FORMAT")]
    pub(super) format: FormatName,
    /// upsert: leave other entries alone; replace: forget what is in none of the files
    #[arg(long, default_value_t = ImportMode::Upsert, value_parser = word::<ImportMode>())]
    pub(super) mode: ImportMode,
    /// Only say what would be done
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Believe what the files say of their provenance; without it they are imports, which go into no prompt until
    /// they are approved
    #[arg(long)]
    pub(super) trust: bool,
    /// Go on without being asked
    #[arg(long, short = 'y')]
    pub(super) yes: bool,
}
