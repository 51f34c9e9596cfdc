//! `recent`: the notes that were changed last.

use clap::Args;
use saddlebag::notebook::{DEFAULT_HITS, ListNotes, SortBy, SortKey};

use super::shared::ListsNotes;
use crate::failure::Failure;

/// List the notes that were changed last
#[derive(Debug, Args)]
pub(crate) struct RecentArgs {
    /// How many at most
    #[arg(default_value_t = DEFAULT_HITS, value_name = "N")]
    limit: u32,
}

impl ListsNotes for RecentArgs {
    type Request = ListNotes;

    fn request(self) -> Result<ListNotes, Failure> {
        Ok(ListNotes {
            sort: vec![SortKey { by: SortBy::Modified, ascending: false }],
            limit: Some(self.limit),
            ..ListNotes::default()
        })
    }
}
