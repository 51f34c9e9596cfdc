//! `note edit`: replaces text that occurs exactly once in a note.

use clap::Args;
use saddlebag::journal::{ChangedFile, Edit, EditChange, Target};

use crate::failure::Failure;
use crate::help::example;
use crate::input::shown_path;
use crate::output::Output;
use crate::replacement::Replacement;
use crate::subcommand::Ask;

/// Replace text that occurs exactly once in a note
#[derive(Debug, Args)]
#[command(after_help = example("note edit \"Load balancer\" \"60 days\" \"90 days\""))]
pub(crate) struct EditArgs {
    /// Path, name, title or alias of the note
    #[arg(value_parser = shown_path)]
    note: String,
    #[command(flatten)]
    replacement: Replacement,
}

impl Ask for EditArgs {
    type Request = Edit;

    fn request(self) -> Result<Edit, Failure> {
        let (old_text, new_text) = self.replacement.texts()?;
        Ok(Edit { target: Target::Page(self.note), change: EditChange::Replace { old_text, new_text } })
    }

    fn print(reply: &ChangedFile, output: &mut Output) -> Result<(), Failure> {
        output.line(reply.message.as_str())?;
        Ok(())
    }
}
