//! `file edit`: replaces text that occurs exactly once in a file of memory.

use clap::Args;
use saddlebag::journal::{ChangedFile, Edit, EditChange};

use super::target::NamedTarget;
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::output::Output;
use crate::replacement::Replacement;
use crate::store::Store;
use crate::subcommand::Subcommand;

/// Replace text that occurs exactly once in a file of memory
#[derive(Debug, Args)]
#[command(after_help = example("file edit long_term \"port 8443\" \"port 9443\""))]
pub(crate) struct EditArgs {
    #[command(flatten)]
    target: NamedTarget,
    #[command(flatten)]
    replacement: Replacement,
}

impl Subcommand for EditArgs {
    type Json = ChangedFile;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let (old_text, new_text) = self.replacement.texts()?;
        let mut store = Store::open(global)?;
        let target = self.target.to_change("edit", &mut store, output)?;
        let reply = store.call(Edit { target, change: EditChange::Replace { old_text, new_text } }, output)?;
        output.object_or_line(&reply, reply.message.as_str())?;
        Ok(Exit::Done)
    }
}
