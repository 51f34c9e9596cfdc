//! `note orphans`: lists the notes that no other note links to.

use clap::Args;
use saddlebag::notebook::Orphans;

use super::shared::ListsNotes;
use crate::failure::Failure;
use crate::help::example;

/// List the notes that no other note links to
#[derive(Debug, Args)]
#[command(after_help = example("note orphans"))]
pub(crate) struct OrphansArgs;

impl ListsNotes for OrphansArgs {
    type Request = Orphans;

    fn request(self) -> Result<Orphans, Failure> {
        Ok(Orphans)
    }
}
