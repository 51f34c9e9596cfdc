//! `memory export`: writes the entries to files, in our format or another agent's.

mod args;
mod foreign;
mod own;
mod places;
mod target;

use schemars::JsonSchema;

use crate::failure::{Exit, Failure};
use crate::formats::FormatName;
use crate::global::Global;
use crate::output::Output;
use crate::subcommand::Subcommand;

pub(crate) use args::ExportArgs;
pub(crate) use places::{ExportPlace, ExportPlaces, digest};

/// JSON output of an export to files.
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
