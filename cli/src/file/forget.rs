//! `file forget`: removes the file of a note.

use clap::Args;
use saddlebag::journal::{Edit, EditChange, EditReply, TargetRole};

use super::target::NamedTarget;
use crate::failure::Failure;
use crate::help::example;
use crate::output::Output;
use crate::subcommand::Ask;

/// Remove the file of a note; its text is kept as a backup
#[derive(Debug, Args)]
#[command(after_help = example("file forget note:deploy"))]
pub(crate) struct ForgetArgs {
    #[command(flatten)]
    target: NamedTarget,
}

impl Ask for ForgetArgs {
    type Request = Edit;

    fn request(self) -> Result<Edit, Failure> {
        Ok(Edit { target: self.target.named(TargetRole::Target)?, change: EditChange::DeleteNote })
    }

    fn print(reply: &EditReply, output: &mut Output) -> Result<(), Failure> {
        output.line(&reply.message)?;
        Ok(())
    }
}
