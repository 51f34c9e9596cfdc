//! `note restore`: restores the backup of a note.

use clap::Args;
use saddlebag::journal::{ChangedFile, Restore, Target};

use crate::failure::Failure;
use crate::help::example;
use crate::input::shown_path;
use crate::output::Output;
use crate::subcommand::Ask;

/// Restore a note from its backup, after an edit or `note forget`
#[derive(Debug, Args)]
#[command(after_help = example("note restore facts/load-balancer.md"))]
pub(crate) struct RestoreArgs {
    /// Path of the note or of its backup; its name, title or alias only if the note still exists
    #[arg(value_parser = shown_path)]
    note: String,
}

impl Ask for RestoreArgs {
    type Request = Restore;

    fn request(self) -> Result<Restore, Failure> {
        Ok(Restore { target: Target::Page(self.note) })
    }

    fn print(reply: &ChangedFile, output: &mut Output) -> Result<(), Failure> {
        output.line(reply.message.as_str())?;
        Ok(())
    }
}
