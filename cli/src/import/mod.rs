//! `import`: files taken in as entries, our own or those of another agent.

mod foreign;
mod foreign_sources;
mod known;
mod own;
mod sources;

use std::path::PathBuf;

use clap::Args;
use saddlebag::entries::ImportMode;
use schemars::JsonSchema;

use crate::failure::{Exit, Failure};
use crate::formats::FormatName;
use crate::global::Global;
use crate::output::Output;
use crate::subcommand::Subcommand;
use crate::word::word;

/// Take files of entries in, each whole or not at all, or the memory of another agent (--from)
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// A folder, of which every `.md` file is taken, or the file of another agent; `-` for standard input: that
    /// file, or a tar stream
    #[arg(value_name = "PATH", required_unless_present = "format")]
    from: Option<PathBuf>,
    /// The format: our own, or that of another agent
    #[arg(long = "from", value_enum, default_value_t, value_name = "FORMAT")]
    format: FormatName,
    /// upsert: leave other entries alone; replace: forget what is in none of the files
    #[arg(long, default_value_t = ImportMode::Upsert, value_parser = word::<ImportMode>())]
    mode: ImportMode,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
    /// Believe what the files say of their provenance; without it they are imports, which go into no prompt until
    /// they are approved
    #[arg(long)]
    trust: bool,
    /// Go on without being asked
    #[arg(long, short = 'y')]
    yes: bool,
}

/// The JSON of an import.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum Imported {
    Own(own::Imported),
    Foreign(foreign::Imported),
    Machine(foreign::OfMachine),
}

impl Subcommand for ImportArgs {
    type Json = Imported;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        if self.format != FormatName::Markdown {
            if self.mode != ImportMode::Upsert {
                let help = "an import from another agent forgets nothing; nothing was changed";
                return Err(Failure::usage("--mode replace is of files of entries alone", help));
            }
            if let Some(exit) = foreign::run(&self, global, output)? {
                return Ok(exit);
            }
        }
        own::run(&self, global, output)
    }
}
