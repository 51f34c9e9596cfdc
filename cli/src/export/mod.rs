//! `memory export`: writes the entries to files, in our format or another agent's.

use crate::prelude::*;
mod args;
mod places;
mod target;
mod write;

pub(crate) use args::ExportArgs;
pub(crate) use places::{ExportPlace, ExportPlaces, digest};

impl Subcommand for ExportArgs {
    type Json = write::Exported;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        write::run(&self, global, output)
    }
}
