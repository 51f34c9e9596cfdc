//! `note journal`: adds a line to today's note.

use clap::Args;
use saddlebag::notebook::{Journal, JournalEntryReply};

use super::shared::warn;
use crate::failure::Failure;
use crate::help::example;
use crate::input;
use crate::output::Output;
use crate::subcommand::Ask;

/// Add a line with the time of day to today's note
#[derive(Debug, Args)]
#[command(after_help = example("note journal \"deployed v2\""))]
pub(crate) struct JournalArgs {
    /// Text of the line; `-` reads it from standard input
    #[arg(allow_hyphen_values = true)]
    entry: String,
}

impl Ask for JournalArgs {
    type Request = Journal;

    fn request(self) -> Result<Journal, Failure> {
        Ok(Journal { entry: input::text(self.entry)? })
    }

    fn print(reply: &JournalEntryReply, output: &mut Output) -> Result<(), Failure> {
        output.line(reply.message.as_str())?;
        Ok(())
    }

    fn warn(reply: &JournalEntryReply, output: &mut Output) -> Result<(), Failure> {
        warn(&reply.warnings, output);
        Ok(())
    }
}
