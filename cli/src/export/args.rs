//! The arguments of `export`.

use std::path::PathBuf;

use clap::Args;

use crate::formats::FormatName;

/// Write the entries into a new folder or as a stream, as their files or for another agent (--to)
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// A folder that is empty or does not exist yet, of a format that is one file also a new file; `-` for
    /// standard output: that file, or a tar stream
    #[arg(long, value_name = "FOLDER")]
    pub(super) out: PathBuf,
    /// The format: our own, or that of another agent
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(super) to: FormatName,
    /// Those of forgotten entries, too
    #[arg(long)]
    pub(super) forgotten: bool,
    /// With --to: those that nobody has approved, too. Only jsonl says what they are, and has them anyway
    #[arg(long)]
    pub(super) unapproved: bool,
}
