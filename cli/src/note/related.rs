//! `note related`: lists the notes around a note.

use clap::Args;
use saddlebag::notebook::{DEFAULT_HITS, Related, RelatedReply};

use super::shared::mark;
use crate::failure::{Exit, Failure};
use crate::help::example;
use crate::input::shown_path;
use crate::output::{Output, warn_of_skipped};
use crate::subcommand::Ask;

/// List the notes around a note: links, backlinks, shared links
#[derive(Debug, Args)]
#[command(after_help = example("note related \"Load balancer\""))]
pub(crate) struct RelatedArgs {
    /// Path, name, title or alias of the note
    #[arg(value_parser = shown_path)]
    note: String,
    /// Maximum number of notes
    #[arg(long, short = 'n', value_name = "N", default_value_t = DEFAULT_HITS, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

impl Ask for RelatedArgs {
    type Request = Related;

    fn request(self) -> Result<Related, Failure> {
        Ok(Related { note: self.note, limit: self.limit })
    }

    fn print(reply: &RelatedReply, output: &mut Output) -> Result<(), Failure> {
        for note in &reply.notes {
            output.line(&format!("{}  {}  ({}){}", note.path, note.title, note.reason, mark(note.unapproved)))?;
        }
        Ok(())
    }

    fn warn(reply: &RelatedReply, output: &mut Output) -> Result<(), Failure> {
        warn_of_skipped(&reply.skipped, output);
        Ok(())
    }

    fn exit(reply: &RelatedReply) -> Exit {
        if reply.notes.is_empty() { Exit::Nothing } else { Exit::Done }
    }
}
