//! `memory init`: creates the folders, the configuration and the templates of a notebook.

use clap::Args;
use saddlebag::notebook::{InitNotebook, InitReply};

use crate::failure::Failure;
use crate::help::example;
use crate::output::Output;
use crate::subcommand::Ask;

/// Create the missing folders and templates of a notebook
#[derive(Debug, Args)]
#[command(after_help = example("memory init"))]
pub(crate) struct InitArgs;

impl Ask for InitArgs {
    type Request = InitNotebook;

    fn request(self) -> Result<InitNotebook, Failure> {
        Ok(InitNotebook)
    }

    fn print(reply: &InitReply, output: &mut Output) -> Result<(), Failure> {
        output.line(reply.message.as_str())?;
        Ok(())
    }
}
