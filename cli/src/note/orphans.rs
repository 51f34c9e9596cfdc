//! `note orphans`: lists the notes that no other note links to.

use clap::Args;
use saddlebag::notebook::{ListNotes, ListNotesReply, NoteFilter, SortBy, SortKey};

use super::pages;
use super::shared::{NO_NOTES, print_notes, warn_of_notes};
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::output::Output;
use crate::store::Store;
use crate::subcommand::Subcommand;

/// List the notes that no other note links to
#[derive(Debug, Args)]
#[command(after_help = example("note orphans"))]
pub(crate) struct OrphansArgs;

impl Subcommand for OrphansArgs {
    type Json = ListNotesReply;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let filter = NoteFilter { orphan: true, ..NoteFilter::default() };
        let sort = vec![SortKey { by: SortBy::Path, ascending: true }];
        let request = ListNotes { filter, sort, ..ListNotes::default() };
        let mut store = Store::open(global)?;
        if output.is_json() {
            let reply = pages::list_all(&mut store, &request, output)?;
            output.object(&reply)?;
            return Ok(Exit::Done);
        }
        let reply = pages::list(&mut store, &request, output, |page, output| print_notes(&page.notes, output))?;
        output.flush()?;
        if reply.total == 0 {
            output.note(NO_NOTES);
        }
        warn_of_notes(&reply, output);
        Ok(Exit::Done)
    }
}
