//! `note orphans`: lists the notes that no other note links to.

use clap::Args;
use saddlebag::notebook::{ListNotes, NoteFilter, SortBy, SortKey};

use super::shared::ListsNotes;
use crate::failure::Failure;
use crate::help::example;

/// List the notes that no other note links to
#[derive(Debug, Args)]
#[command(after_help = example("note orphans"))]
pub(crate) struct OrphansArgs;

impl ListsNotes for OrphansArgs {
    type Request = ListNotes;

    fn request(self) -> Result<ListNotes, Failure> {
        let filter = NoteFilter { orphan: true, ..NoteFilter::default() };
        let sort = vec![SortKey { by: SortBy::Path, ascending: true }];
        Ok(ListNotes { filter, sort, ..ListNotes::default() })
    }
}
