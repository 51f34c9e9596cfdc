//! `orphans`: the notes that nothing links to.

use clap::Args;
use saddlebag::notebook::{ListNotesReply, Orphans};

use super::shared::{print_notes, warn_of_notes};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::subcommand::Ask;

/// List the notes that no other note links to
#[derive(Debug, Args)]
pub(crate) struct OrphansArgs;

impl Ask for OrphansArgs {
    type Request = Orphans;

    fn request(self) -> Result<Orphans, Failure> {
        Ok(Orphans)
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
