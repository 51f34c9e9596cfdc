//! `slash`: a `/memory` command line.

use clap::Args;
use saddlebag::journal::{Slash, SlashReply};

use crate::failure::Failure;
use crate::output::Output;
use crate::subcommand::Ask;

/// Run a `/memory` command line
#[derive(Debug, Args)]
pub(crate) struct SlashArgs {
    /// For example `search WORDS`, `clear scratchpad`; nothing for the status
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
