//! `notes`: the notes that pass filters.

use clap::Args;
use saddlebag::notebook::ListNotes;

use super::filter::{FilterArgs, sort_keys};
use super::shared::ListsNotes;
use crate::failure::Failure;

/// List notes by filters alone
#[derive(Debug, Args)]
pub(crate) struct NotesArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// A key to sort by: created, modified, path, title, word-count; with `+` or `-` behind it
    #[arg(long, short = 's', value_name = "KEY")]
    sort: Vec<String>,
    /// How many at most
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<u32>,
}

impl ListsNotes for NotesArgs {
    type Request = ListNotes;

    fn request(self) -> Result<ListNotes, Failure> {
        Ok(ListNotes {
            filter: self.filter.into(),
            sort: sort_keys(&self.sort)?,
            limit: self.limit,
            ..ListNotes::default()
        })
    }
}
