//! `export`: the entries as files, our own or those of another agent.

mod foreign;
mod own;
mod target;

use std::path::PathBuf;

use clap::Args;
use schemars::JsonSchema;

use crate::failure::{Exit, Failure};
use crate::formats::FormatName;
use crate::global::Global;
use crate::output::Output;
use crate::subcommand::Subcommand;

/// Write the entries into a new folder or as a stream, as their files or for another agent (--to)
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// A folder that is empty or does not exist yet, of a format that is one file also a new file; `-` for
    /// standard output: that file, or a tar stream
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// The format: our own, or that of another agent
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    to: FormatName,
    /// Those of forgotten entries, too
    #[arg(long)]
    forgotten: bool,
    /// With --to: those that nobody has approved, too. Only jsonl says what they are, and has them anyway
    #[arg(long)]
    unapproved: bool,
}

/// The JSON of an export into files.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum Exported {
    Own(own::Exported),
    Foreign(foreign::Exported),
}

impl Subcommand for ExportArgs {
    type Json = Exported;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        match self.to {
            FormatName::Auto => Err(Failure::usage("an export cannot guess its format", "name it with --to")),
            name => match name.foreign() {
                Some(format) => foreign::run(format, &self, global, output),
                None => own::run(&self, global, output),
            },
        }
    }
}
