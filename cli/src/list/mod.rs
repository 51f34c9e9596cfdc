//! `list`: lists the notes, the entries and the other files of memory.

mod args;
mod graph;
mod items;
mod notes;

use crate::prelude::*;
use saddlebag::approval::PendingReply;
use saddlebag::items::ItemList;
use saddlebag::notebook::{DeadLinksReply, TagsReply};

use args::Chosen;
pub(crate) use args::ListArgs;

/// Items; what waits for approval; tags; or dead links.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it is the schema of what the files of this folder print")]
pub(crate) enum Listed {
    Items(ItemList),
    Pending(PendingReply),
    Tags(TagsReply),
    DeadLinks(DeadLinksReply),
}

impl Subcommand for ListArgs {
    type Json = Listed;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let chosen = self.chosen()?;
        let mut store = Store::open(global)?;
        match chosen {
            Chosen::Items => items::list(&self, &mut store, output)?,
            Chosen::Pending => crate::trust::list_pending(self.of_pending(), &mut store, output)?,
            Chosen::Tags => notes::list_tags(&mut store, output)?,
            Chosen::DeadLinks => notes::list_dead_links(self.only_notes, &mut store, output)?,
        }
        Ok(Exit::Done)
    }
}
