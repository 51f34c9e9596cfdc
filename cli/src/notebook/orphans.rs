//! `orphans`: the notes that nothing links to.

use clap::Args;
use saddlebag::notebook::Orphans;

use super::shared::ListsNotes;
use crate::failure::Failure;

/// List the notes that no other note links to
#[derive(Debug, Args)]
pub(crate) struct OrphansArgs;

impl ListsNotes for OrphansArgs {
    type Request = Orphans;

    fn request(self) -> Result<Orphans, Failure> {
        Ok(Orphans)
    }
}
