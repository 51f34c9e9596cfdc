//! `list`: lists the notes, the entries and the other files of memory.

mod all;
mod args;
mod dead_links;
mod entries;
mod graph;
mod notes;
mod pages;
mod tags;

use crate::prelude::*;
use saddlebag::approval::PendingReply;
use saddlebag::entries::ListEntriesReply;
use saddlebag::journal::ListReply;
use saddlebag::notebook::{DeadLinksReply, ListNotesReply, TagsReply};

use args::Chosen;
pub(crate) use args::ListArgs;

/// Items of all kinds or of one kind, as the options choose; tags; or dead links.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it is the schema of what the files of this folder print")]
pub(crate) enum Listed {
    All(all::Items),
    Notes(ListNotesReply),
    Entries(ListEntriesReply),
    Files(ListReply),
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
            Chosen::All => all::list(&self, global, &mut store, output)?,
            Chosen::Notes => notes::list(&self, global, &mut store, output)?,
            Chosen::Entries => entries::list(self, &mut store, output)?,
            Chosen::Files => all::list_files(&self, &mut store, output)?,
            Chosen::Forgotten => all::list_forgotten(&self, &mut store, output)?,
            Chosen::Pending => crate::trust::list_pending(self.of_pending(), &mut store, output)?,
            Chosen::Tags => tags::list(&mut store, output)?,
            Chosen::DeadLinks => dead_links::list(self.only_notes, &mut store, output)?,
        }
        Ok(Exit::Done)
    }
}
