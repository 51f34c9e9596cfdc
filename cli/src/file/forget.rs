//! `file forget`: removes the file of a note.

use clap::Args;
use saddlebag::journal::{ChangedFile, Edit, EditChange, Target};
use saddlebag::notebook::{Forget, ForgetReply};

use super::target::NamedTarget;
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::output::Output;
use crate::store::Store;
use crate::subcommand::Subcommand;

/// Remove the file of a note; its text is kept as a backup
#[derive(Debug, Args)]
#[command(after_help = example("file forget note:deploy"))]
pub(crate) struct ForgetArgs {
    #[command(flatten)]
    target: NamedTarget,
}

impl Subcommand for ForgetArgs {
    type Json = ChangedFile;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let mut store = Store::open(global)?;
        let reply = match self.target.to_change("forget", &mut store, output)? {
            Target::Page(note) => {
                let ForgetReply { path, backup, message } = store.call(Forget { note }, output)?;
                ChangedFile { path, bytes: 0, backup: Some(backup).filter(|backup| !backup.is_empty()), message }
            }
            target => store.call(Edit { target, change: EditChange::DeleteNote }, output)?,
        };
        output.object_or_line(&reply, reply.message.as_str())?;
        Ok(Exit::Done)
    }
}
