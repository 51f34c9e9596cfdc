//! Arguments of `memory export`.

use std::path::PathBuf;

use clap::Args;

use crate::formats::FormatName;
use crate::help::example;

/// Write the entries to files, our own or those of another agent
#[derive(Debug, Args)]
#[command(after_help = example("memory export --to jsonl --out entries.jsonl"))]
pub(crate) struct ExportArgs {
    /// Empty or new folder, or a new file for a format that is one file; `-` is standard output: that file, or a tar stream
    #[arg(long, value_name = "FOLDER")]
    pub(super) out: PathBuf,
    /// Format of the files
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(super) to: FormatName,
    /// Include the files of forgotten entries
    #[arg(long)]
    pub(super) forgotten: bool,
    /// Include unapproved entries in a format of another agent; jsonl always has them, and marks them
    #[arg(long)]
    pub(super) unapproved: bool,
}
