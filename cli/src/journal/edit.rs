//! `edit`: the one occurrence of a text replaced, or a note deleted.

use clap::Args;
use saddlebag::journal::{Edit, EditChange, EditReply, TargetRole};

use super::target::NamedTarget;
use crate::failure::Failure;
use crate::input;
use crate::output::Output;
use crate::subcommand::Ask;

/// Replace the one occurrence of a text, or delete a note
#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    #[command(flatten)]
    target: NamedTarget,
    /// The text to replace, which must occur exactly once; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    old: Option<String>,
    /// The text in its place; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, requires = "old")]
    new: Option<String>,
    /// Delete the old text; without --old, delete the whole note, keeping a backup
    #[arg(long, conflicts_with = "new")]
    delete: bool,
}

impl Ask for EditArgs {
    type Request = Edit;

    fn request(self) -> Result<Edit, Failure> {
        let target = self.target.named(TargetRole::Target)?;
        let change = match (self.old, self.new, self.delete) {
            (None, _, true) => EditChange::DeleteNote,
            (Some(old), None, true) => EditChange::Replace { old_text: input::text(old)?, new_text: String::new() },
            (Some(old), Some(new), _) => {
                if old == "-" && new == "-" {
                    return Err(Failure::usage(
                        "only one text can come from standard input",
                        "give the other one here",
                    ));
                }
                EditChange::Replace { old_text: input::text(old)?, new_text: input::text(new)? }
            }
            // Leaving the new text out must not delete anything.
            (Some(_), None, false) => {
                return Err(Failure::usage(
                    "edit needs the new text",
                    "give --new TEXT, or --delete to delete the old one",
                ));
            }
            (None, _, false) => {
                return Err(Failure::usage(
                    "edit needs --old TEXT",
                    "with --new TEXT; or only --delete to delete a note",
                ));
            }
        };
        Ok(Edit { target, change })
    }

    fn print(reply: &EditReply, output: &mut Output) -> Result<(), Failure> {
        output.line(&reply.message)?;
        Ok(())
    }
}
