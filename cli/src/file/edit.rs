//! `file edit`: replaces text that occurs exactly once in a file of memory.

use clap::Args;
use saddlebag::journal::{ChangedFile, Edit, EditChange, TargetRole};

use super::target::NamedTarget;
use crate::failure::Failure;
use crate::help::example;
use crate::output::Output;
use crate::replacement::Replacement;
use crate::subcommand::Ask;

/// Replace text that occurs exactly once in a file of memory
#[derive(Debug, Args)]
#[command(after_help = example("file edit long_term \"port 8443\" \"port 9443\""))]
pub(crate) struct EditArgs {
    #[command(flatten)]
    target: NamedTarget,
    #[command(flatten)]
    replacement: Replacement,
}

impl Ask for EditArgs {
    type Request = Edit;

    fn request(self) -> Result<Edit, Failure> {
        let target = self.target.named(TargetRole::Target)?;
        let (old_text, new_text) = self.replacement.texts()?;
        Ok(Edit { target, change: EditChange::Replace { old_text, new_text } })
    }

    fn print(reply: &ChangedFile, output: &mut Output) -> Result<(), Failure> {
        output.line(&reply.message)?;
        Ok(())
    }
}
