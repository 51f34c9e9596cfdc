//! `forget`: a note that is removed, or an entry that is forgotten.

use clap::Args;
use saddlebag::entries::{ForgetEntry, ForgetEntryReply};
use saddlebag::notebook::{Forget, ForgetReply};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::output::{Output, single_line};
use crate::store::Store;
use crate::subcommand::Subcommand;

/// Remove a note; its text is kept as a backup. Or forget an entry
#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// The path, name, title or alias of the note
    #[arg(required_unless_present = "key")]
    note: Option<String>,
    /// The entry of this key instead; `purge` removes it for good
    #[arg(long, value_name = "KEY", conflicts_with = "note", allow_hyphen_values = true)]
    key: Option<String>,
}

/// The reply of the family that forgot something.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Forgotten {
    Entry(ForgetEntryReply),
    Note(ForgetReply),
}

impl Subcommand for ForgetArgs {
    type Json = Forgotten;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let mut store = Store::open(global)?;
        let forgotten = match self.key {
            Some(key) => Forgotten::Entry(store.call(ForgetEntry { key, expected_version: None }, output)?),
            None => Forgotten::Note(store.call(Forget { note: self.note.unwrap_or_default() }, output)?),
        };
        let message = match &forgotten {
            Forgotten::Entry(reply) => single_line(&reply.message),
            Forgotten::Note(reply) => reply.message.to_string(),
        };
        output.object_or_line(&forgotten, &message)?;
        Ok(Exit::Done)
    }
}
