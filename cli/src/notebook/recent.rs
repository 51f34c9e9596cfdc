//! `recent`: the notes that were changed last.

use clap::Args;
use saddlebag::notebook::{ListNotes, ListNotesReply, SortBy, SortKey};

use super::shared::{USUAL_HITS, print_notes, warn_of_notes};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::subcommand::Ask;

/// List the notes that were changed last
#[derive(Debug, Args)]
pub(crate) struct RecentArgs {
    /// How many at most
    #[arg(default_value_t = USUAL_HITS, value_name = "N")]
    limit: u32,
}

impl Ask for RecentArgs {
    type Request = ListNotes;

    fn request(self) -> Result<ListNotes, Failure> {
        Ok(ListNotes {
            sort: vec![SortKey { by: SortBy::Modified, ascending: false }],
            limit: Some(self.limit),
            ..ListNotes::default()
        })
    }

    fn print(reply: &ListNotesReply, output: &mut Output) -> Result<(), Failure> {
        print_notes(&reply.notes, output)?;
        Ok(())
    }

    fn exit(reply: &ListNotesReply) -> Exit {
        if reply.notes.is_empty() { Exit::Nothing } else { Exit::Done }
    }

    fn warn(reply: &ListNotesReply, output: &mut Output) -> Result<(), Failure> {
        warn_of_notes(reply, output);
        Ok(())
    }
}
