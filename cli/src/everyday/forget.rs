//! `forget`: removes a note, or marks an entry as forgotten.

use clap::Args;
use saddlebag::entries::{ForgetEntry, ForgetEntryReply};
use saddlebag::journal::{ChangedFile, Edit, EditChange, Target};
use saddlebag::notebook::{Forget, ForgetReply};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::item::{ItemName, Named};
use crate::output::{Output, single_line};
use crate::store::Store;
use crate::subcommand::Subcommand;

/// Forget a note or an entry; `restore` brings it back
#[derive(Debug, Args)]
#[command(after_help = example("forget \"Load balancer\""))]
pub(crate) struct ForgetArgs {
    #[command(flatten)]
    item: ItemName,
}

/// Note, entry, or note that was named by `note:NAME`.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Forgotten {
    Note(ForgetReply),
    Entry(ForgetEntryReply),
    File(ChangedFile),
}

impl Subcommand for ForgetArgs {
    type Json = Forgotten;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let mut store = Store::open(global)?;
        let forgotten = match self.item.find_to_change(&mut store, output)? {
            Named::Entry(key) => Forgotten::Entry(store.call(ForgetEntry { key, expected_version: None }, output)?),
            Named::Target(Target::Page(note)) | Named::File(note) => {
                Forgotten::Note(store.call(Forget { note }, output)?)
            }
            Named::Target(target) => {
                Forgotten::File(store.call(Edit { target, change: EditChange::DeleteNote }, output)?)
            }
        };
        let message = match &forgotten {
            Forgotten::Note(reply) => &reply.message,
            Forgotten::Entry(reply) => &reply.message,
            Forgotten::File(reply) => &reply.message,
        };
        output.object_or_line(&forgotten, &single_line(message.as_str()))?;
        Ok(Exit::Done)
    }
}
