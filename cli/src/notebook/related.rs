//! `related`: the notes around a note.

use clap::Args;
use saddlebag::notebook::{DEFAULT_HITS, Related, RelatedReply};

use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::subcommand::Ask;

/// List what is linked with a note
#[derive(Debug, Args)]
pub(crate) struct RelatedArgs {
    /// Its path, name, title or alias
    note: String,
    /// How many at most
    #[arg(long, short = 'n', value_name = "N", default_value_t = DEFAULT_HITS)]
    limit: u32,
}

impl Ask for RelatedArgs {
    type Request = Related;

    fn request(self) -> Result<Related, Failure> {
        Ok(Related { note: self.note, limit: self.limit })
    }

    fn print(reply: &RelatedReply, output: &mut Output) -> Result<(), Failure> {
        for note in &reply.notes {
            output.line(&format!("{}  {}  ({})", note.path, note.title, note.reason))?;
        }
        Ok(())
    }

    fn exit(reply: &RelatedReply) -> Exit {
        if reply.notes.is_empty() { Exit::Nothing } else { Exit::Done }
    }
}
