//! `file restore`: restores the backup of a file.

use clap::Args;
use saddlebag::journal::{ChangedFile, Restore, Target};
use saddlebag::protocol::ErrorCode;

use super::target::NamedTarget;
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::output::Output;
use crate::store::Store;
use crate::subcommand::Subcommand;

/// Restore a file from its backup; a second run undoes the first
#[derive(Debug, Args)]
#[command(after_help = example("file restore long_term"))]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    target: NamedTarget,
}

impl Subcommand for RestoreArgs {
    type Json = ChangedFile;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let mut store = Store::open(global)?;
        let target = match self.target.target.ends_with(".bak") {
            true => Target::Page(self.target.target),
            false => match self.target.to_change("restore", &mut store, output) {
                // A forgotten note may be named by its path without the extension.
                Err(failure) if failure.code == ErrorCode::NotFound.into() => Target::Page(self.target.target),
                found => found?,
            },
        };
        let reply = store.call(Restore { target }, output)?;
        output.object_or_line(&reply, reply.message.as_str())?;
        Ok(Exit::Done)
    }
}
