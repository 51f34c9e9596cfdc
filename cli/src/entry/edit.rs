//! `entry edit`: replaces text that occurs exactly once in an entry.

use clap::Args;
use saddlebag::entries::{EditEntry, StoreReply};

use super::store::{exit_of, print_stored};
use crate::failure::{Exit, Failure};
use crate::help::example;
use crate::output::Output;
use crate::replacement::Replacement;
use crate::subcommand::Ask;

/// Replace text that occurs exactly once in an entry
#[derive(Debug, Args)]
#[command(after_help = example("entry edit deploy_target \"Staging first\" \"Production first\""))]
pub(crate) struct EditArgs {
    /// Key of the entry, or path of its file
    #[arg(allow_hyphen_values = true)]
    key: String,
    #[command(flatten)]
    replacement: Replacement,
}

impl Ask for EditArgs {
    type Request = EditEntry;

    fn request(self) -> Result<EditEntry, Failure> {
        let (old_text, new_text) = self.replacement.texts()?;
        Ok(EditEntry { key: self.key, old_text, new_text })
    }

    fn print(reply: &StoreReply, output: &mut Output) -> Result<(), Failure> {
        print_stored(reply, output)
    }

    fn exit(reply: &StoreReply) -> Exit {
        exit_of(reply)
    }
}
