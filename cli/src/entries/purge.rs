//! `purge`: forgotten entries, removed for good.

use clap::Args;
use saddlebag::entries::{PurgeEntries, PurgeReply};

use crate::failure::Failure;
use crate::output::{Output, single_line};
use crate::subcommand::Ask;

/// Remove forgotten entries for good
#[derive(Debug, Args)]
pub(crate) struct PurgeArgs {
    /// The key; all that are forgotten if none is given
    #[arg(allow_hyphen_values = true)]
    key: Option<String>,
}

impl Ask for PurgeArgs {
    type Request = PurgeEntries;

    fn request(self) -> Result<PurgeEntries, Failure> {
        Ok(PurgeEntries { key: self.key })
    }

    fn print(reply: &PurgeReply, output: &mut Output) -> Result<(), Failure> {
        output.line(&single_line(&reply.message))?;
        Ok(())
    }
}
