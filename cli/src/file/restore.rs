//! `file restore`: restores the backup of a file.

use clap::Args;
use saddlebag::journal::{ChangedFile, Restore, TargetRole};
use saddlebag::notebook::RestoreNote;
use saddlebag::store::NOTE_SUFFIX;

use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::input::{self, shown_path};
use crate::output::Output;
use crate::store::Store;
use crate::subcommand::Subcommand;

/// Restore a file from its backup; a second run undoes the first
#[derive(Debug, Args)]
#[command(after_help = example("file restore long_term"))]
pub(crate) struct RestoreArgs {
    /// long_term (or long), scratchpad, daily, daily:YYYY-MM-DD, note:NAME, or a path that another command printed
    #[arg(value_parser = shown_path)]
    target: String,
}

impl Subcommand for RestoreArgs {
    type Json = ChangedFile;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let target = self.target;
        let is_path = !target.starts_with("note:") && (target.contains('/') || target.ends_with(NOTE_SUFFIX));
        let reply = if is_path {
            Store::open(global)?.call(RestoreNote { note: target }, output)?
        } else {
            let target = input::target(&target, TargetRole::Target)?;
            Store::open(global)?.call(Restore { target }, output)?
        };
        output.object_or_line(&reply, &reply.message)?;
        Ok(Exit::Done)
    }
}
