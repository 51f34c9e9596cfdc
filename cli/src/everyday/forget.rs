//! `forget`: removes a note, or marks an entry as forgotten; removes forgotten entries from their folder.

use saddlebag::entries::{PurgeEntries, PurgeReply};
use saddlebag::items::{Forget, Forgotten, ItemKind};

use crate::item::{self, ItemName, with_kind};
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

/// Item that was forgotten, or entries that were removed from their folder.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Gone {
    Forgotten(Forgotten),
    Purged(PurgeReply),
}

impl Subcommand for ForgetArgs {
    type Json = Gone;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let mut store = Store::open(global)?;
        let gone = match self.name {
            Some(name) if !self.purge => {
                let item = ItemName { name, kind: self.kind };
                let forget = Forget { kind: item.kind, ..Forget::new(item.without_lines()) };
                Gone::Forgotten(store.call(forget, output).map_err(with_kind)?)
            }
            key => Gone::Purged(store.call(PurgeEntries { key }, output)?),
        };
        let message = match &gone {
            Gone::Forgotten(reply) => &reply.message,
            Gone::Purged(reply) => &reply.message,
        };
        output.object_or_line(&gone, &single_line(message.as_str()))?;
        Ok(Exit::Done)
    }
}
