//! `notes`: the notes that pass filters.

use clap::Args;
use saddlebag::notebook::{ListNotes, ListNotesReply};

use super::filter::{FilterArgs, sort_keys};
use super::shared::{print_notes, warn_of_notes};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::subcommand::Ask;

/// List notes by filters alone
#[derive(Debug, Args)]
pub(crate) struct NotesArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// A key to sort by: created, modified, path, title, word-count; with `+` or `-` behind it
    #[arg(long, short = 's', value_name = "KEY")]
    sort: Vec<String>,
    /// How many at most
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<u32>,
}

impl Ask for NotesArgs {
    type Request = ListNotes;

    fn request(self) -> Result<ListNotes, Failure> {
        Ok(ListNotes {
            filter: self.filter.into(),
            sort: sort_keys(&self.sort)?,
            limit: self.limit,
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
