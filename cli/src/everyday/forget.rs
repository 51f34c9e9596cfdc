//! `forget`: removes a note, or marks an entry as forgotten; removes forgotten entries from their folder.

use saddlebag::entries::{ForgetEntry, ForgetEntryReply, PurgeEntries, PurgeReply};
use saddlebag::items::{ItemKind, Resolve};
use saddlebag::journal::Target;
use saddlebag::notebook::{Forget, ForgetReply};
use saddlebag::protocol::ErrorCode;

use crate::item::{self, ItemName, Named};
use crate::output::single_line;
use crate::prelude::*;
use crate::word::word;

/// Forget a note or an entry; `restore` brings it back
#[derive(Debug, Args)]
#[command(after_help = example("forget \"Load balancer\""))]
pub(crate) struct ForgetArgs {
    #[arg(allow_hyphen_values = true, required_unless_present = "purge", help = item::NAME)]
    name: Option<String>,
    #[arg(long, value_name = "KIND", value_parser = word::<ItemKind>(), help = item::KIND)]
    kind: Option<ItemKind>,
    /// Remove forgotten entries from their folder: the one with this key, or all; `expunge` also removes their history
    #[arg(long, conflicts_with = "kind")]
    purge: bool,
}

/// Note, entry, or entries that were removed from their folder.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Forgotten {
    Note(ForgetReply),
    Entry(ForgetEntryReply),
    Purged(PurgeReply),
}

impl Subcommand for ForgetArgs {
    type Json = Forgotten;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let mut store = Store::open(global)?;
        let forgotten = match self.name {
            Some(name) if !self.purge => forget(&ItemName { name, kind: self.kind }, &mut store, output)?,
            key => Forgotten::Purged(store.call(PurgeEntries { key }, output)?),
        };
        let message = match &forgotten {
            Forgotten::Note(reply) => &reply.message,
            Forgotten::Entry(reply) => &reply.message,
            Forgotten::Purged(reply) => &reply.message,
        };
        output.object_or_line(&forgotten, &single_line(message.as_str()))?;
        Ok(Exit::Done)
    }
}

fn forget(item: &ItemName, store: &mut Store, output: &mut Output) -> Result<Forgotten, Failure> {
    let note = match item.find_to_change(store, output)? {
        Named::Entry(key) => {
            return Ok(Forgotten::Entry(store.call(ForgetEntry { key, expected_version: None }, output)?));
        }
        Named::Target(Target::Page(note)) => note,
        Named::Target(Target::Note(_)) => store.call(Resolve { name: item.without_lines(), kind: None }, output)?.path,
        Named::Target(target) => {
            let help = match target {
                Target::Daily(_) => "give its path, or remove text from it with `edit NAME OLD NEW`",
                _ => "`edit NAME OLD NEW` removes text from it",
            };
            return Err(Failure::new(ErrorCode::InvalidArgument, "only a note can be removed", help));
        }
    };
    Ok(Forgotten::Note(store.call(Forget { note }, output)?))
}
