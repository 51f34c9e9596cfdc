//! `entry restore`: restores a forgotten entry, or the text before the last change.

use clap::Args;
use saddlebag::entries::{RestoreEntry, StoreReply};

use super::store::{exit_of, print_stored};
use crate::failure::{Exit, Failure};
use crate::help::example;
use crate::output::Output;
use crate::subcommand::Ask;

/// Restore a forgotten entry, or undo the last change of an entry
#[derive(Debug, Args)]
#[command(after_help = example("entry restore deploy_target"))]
pub(crate) struct RestoreArgs {
    /// Key of the entry, or path of its file
    #[arg(allow_hyphen_values = true)]
    key: String,
}

impl Ask for RestoreArgs {
    type Request = RestoreEntry;

    fn request(self) -> Result<RestoreEntry, Failure> {
        Ok(RestoreEntry { key: self.key })
    }

    fn print(reply: &StoreReply, output: &mut Output) -> Result<(), Failure> {
        print_stored(reply, output)
    }

    fn exit(reply: &StoreReply) -> Exit {
        exit_of(reply)
    }
}
