//! `entry purge`: removes forgotten entries for good.

use clap::Args;
use saddlebag::entries::{PurgeEntries, PurgeReply};

use crate::failure::Failure;
use crate::help::example;
use crate::output::{Output, single_line};
use crate::subcommand::Ask;

/// Remove forgotten entries for good
#[derive(Debug, Args)]
#[command(after_help = example("entry purge"))]
pub(crate) struct PurgeArgs {
    /// Key of a forgotten entry [default: every forgotten entry]
    #[arg(allow_hyphen_values = true)]
    key: Option<String>,
}

impl Ask for PurgeArgs {
    type Request = PurgeEntries;

    fn request(self) -> Result<PurgeEntries, Failure> {
        Ok(PurgeEntries { key: self.key })
    }

    fn print(reply: &PurgeReply, output: &mut Output) -> Result<(), Failure> {
        output.line(&single_line(reply.message.as_str()))?;
        Ok(())
    }
}
