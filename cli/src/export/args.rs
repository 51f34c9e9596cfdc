//! Arguments of `memory export`.

use std::path::PathBuf;

use clap::Args;

use crate::formats::ExportFormat;
use crate::help::example;

/// Write the entries to files, in our format or another agent's
#[derive(Debug, Args)]
#[command(after_help = example("memory export --to jsonl --out entries.jsonl"))]
pub(crate) struct ExportArgs {
    /// Empty or new folder, or a new file if the format is one file; `-` writes the file, or a tar stream, to standard
    /// output
    #[arg(long, value_name = "FOLDER")]
    pub(super) out: PathBuf,
    /// Format of the files
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(super) to: ExportFormat,
    /// Include the files of forgotten entries
    #[arg(long)]
    pub(super) forgotten: bool,
    /// Include unapproved entries in a format of another agent; jsonl always has them, and marks them
    #[arg(long)]
    pub(super) unapproved: bool,
}
