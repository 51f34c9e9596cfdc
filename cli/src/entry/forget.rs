//! `entry forget`: marks an entry as forgotten.

use clap::Args;
use saddlebag::entries::{ForgetEntry, ForgetEntryReply};

use crate::failure::Failure;
use crate::help::example;
use crate::output::{Output, single_line};
use crate::subcommand::Ask;

/// Forget an entry; `entry restore` brings it back
#[derive(Debug, Args)]
#[command(after_help = example("entry forget deploy_target"))]
pub(crate) struct ForgetArgs {
    /// Key of the entry, or path of its file
    #[arg(allow_hyphen_values = true)]
    key: String,
}

impl Ask for ForgetArgs {
    type Request = ForgetEntry;

    fn request(self) -> Result<ForgetEntry, Failure> {
        Ok(ForgetEntry { key: self.key, expected_version: None })
    }

    fn print(reply: &ForgetEntryReply, output: &mut Output) -> Result<(), Failure> {
        output.line(&single_line(reply.message.as_str()))?;
        Ok(())
    }
}
