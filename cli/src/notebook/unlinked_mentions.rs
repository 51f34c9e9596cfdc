//! `unlinked-mentions`: the notes that name a note.

use clap::Args;
use saddlebag::notebook::{UnlinkedMentions, UnlinkedMentionsReply};

use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::subcommand::Ask;

/// List the notes that name a note without linking to it
#[derive(Debug, Args)]
pub(crate) struct UnlinkedMentionsArgs {
    /// Its path, name, title or alias
    note: String,
}

impl Ask for UnlinkedMentionsArgs {
    type Request = UnlinkedMentions;

    fn request(self) -> Result<UnlinkedMentions, Failure> {
        Ok(UnlinkedMentions { note: self.note })
    }

    fn print(reply: &UnlinkedMentionsReply, output: &mut Output) -> Result<(), Failure> {
        for note in &reply.notes {
            let lines: Vec<String> = note.lines.iter().map(u32::to_string).collect();
            output.line(&format!("{}:{}  {}", note.path, lines.join(","), note.title))?;
        }
        Ok(())
    }

    fn exit(reply: &UnlinkedMentionsReply) -> Exit {
        if reply.notes.is_empty() { Exit::Nothing } else { Exit::Done }
    }
}
