//! `note mentions`: lists the notes that name a note without linking to it.

use clap::Args;
use saddlebag::notebook::{UnlinkedMentions, UnlinkedMentionsReply};

use super::shared::mark;
use crate::failure::{Exit, Failure};
use crate::help::example;
use crate::input::shown_path;
use crate::output::{Output, warn_of_skipped};
use crate::subcommand::Ask;

/// List the notes that name a note without linking to it
#[derive(Debug, Args)]
#[command(after_help = example("note mentions \"Load balancer\""))]
pub(crate) struct MentionsArgs {
    /// Path, name, title or alias of the note
    #[arg(value_parser = shown_path)]
    note: String,
}

impl Ask for MentionsArgs {
    type Request = UnlinkedMentions;

    fn request(self) -> Result<UnlinkedMentions, Failure> {
        Ok(UnlinkedMentions { note: self.note })
    }

    fn print(reply: &UnlinkedMentionsReply, output: &mut Output) -> Result<(), Failure> {
        for note in &reply.notes {
            let lines: Vec<String> = note.lines.iter().map(u32::to_string).collect();
            let mark = mark(note.unapproved);
            output.line(&format!("{}:{}  {}{mark}", note.path, lines.join(","), note.title))?;
        }
        Ok(())
    }

    fn warn(reply: &UnlinkedMentionsReply, output: &mut Output) -> Result<(), Failure> {
        warn_of_skipped(&reply.skipped, output);
        Ok(())
    }

    fn exit(reply: &UnlinkedMentionsReply) -> Exit {
        if reply.notes.is_empty() { Exit::Nothing } else { Exit::Done }
    }
}
