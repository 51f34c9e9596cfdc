//! `init`: what a notebook needs.

use clap::Args;
use saddlebag::notebook::{InitNotebook, InitReply};

use crate::failure::Failure;
use crate::output::Output;
use crate::subcommand::Ask;

/// Make the folders, the configuration and the templates of a notebook that are missing
#[derive(Debug, Args)]
pub(crate) struct InitArgs;

impl Ask for InitArgs {
    type Request = InitNotebook;

    fn request(self) -> Result<InitNotebook, Failure> {
        Ok(InitNotebook)
    }

    fn print(reply: &InitReply, output: &mut Output) -> Result<(), Failure> {
        output.line(&reply.message)?;
        Ok(())
    }
}
