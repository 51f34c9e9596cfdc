//! `note forget`: removes a note.

use clap::Args;
use saddlebag::notebook::{Forget, ForgetReply};

use crate::failure::Failure;
use crate::help::example;
use crate::input::shown_path;
use crate::output::Output;
use crate::subcommand::Ask;

/// Remove a note; its text is kept as a backup
#[derive(Debug, Args)]
#[command(after_help = example("note forget \"Load balancer\""))]
pub(crate) struct ForgetArgs {
    /// Path, name, title or alias of the note
    #[arg(value_parser = shown_path)]
    note: String,
}

impl Ask for ForgetArgs {
    type Request = Forget;

    fn request(self) -> Result<Forget, Failure> {
        Ok(Forget { note: self.note })
    }

    fn print(reply: &ForgetReply, output: &mut Output) -> Result<(), Failure> {
        output.line(reply.message.as_str())?;
        Ok(())
    }
}
