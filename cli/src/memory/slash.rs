//! `memory slash`: runs a `/memory` command line.

use clap::Args;
use saddlebag::journal::{Slash, SlashReply};

use crate::failure::Failure;
use crate::help::example;
use crate::output::Output;
use crate::subcommand::Ask;

/// Run a `/memory` command line, as a chat program would
#[derive(Debug, Args)]
#[command(after_help = example("memory slash search staging port"))]
pub(crate) struct SlashArgs {
    /// Words after `/memory`, such as `search WORDS` or `clear scratchpad`; without words, the status
    #[arg(value_name = "LINE", trailing_var_arg = true, allow_hyphen_values = true)]
    line: Vec<String>,
}

impl Ask for SlashArgs {
    type Request = Slash;

    fn request(self) -> Result<Slash, Failure> {
        Ok(Slash { line: self.line.join(" ") })
    }

    fn print(reply: &SlashReply, output: &mut Output) -> Result<(), Failure> {
        output.line(&reply.text)?;
        Ok(())
    }
}
