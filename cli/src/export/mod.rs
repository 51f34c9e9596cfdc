//! `memory export`: writes the entries to files, in our format or another agent's.

mod args;
mod places;
mod target;
mod write;

use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::output::Output;
use crate::subcommand::Subcommand;

pub(crate) use args::ExportArgs;
pub(crate) use places::{ExportPlace, ExportPlaces, digest};

impl Subcommand for ExportArgs {
    type Json = write::Exported;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        write::run(&self, global, output)
    }
}
