//! `list-files`: a page of the files of the scope.

use super::types::{FileListing, ItemsCall};
use crate::journal::ListedFile;
use crate::request::{Run, request};
use crate::search::Skipped;
use crate::store::RelPath;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{Error, ErrorCode};

/// Maximum number of files on a page.
pub const MAX_LISTED_FILES: u32 = 1000;

/// Lists the files of the scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListFiles {
    /// Path that the page begins after, which may no longer exist; `None` for the first page.
    pub after: Option<String>,
    /// Maximum number of files, from 1 to [`MAX_LISTED_FILES`].
    pub limit: u32,
}

/// A page of the files of a scope.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilePage {
    /// Files, sorted by path. Paths are relative to the root, without the path prefix.
    pub files: Vec<ListedFile>,
    /// Value of `after` for the next page; `None` on the last page.
    pub next: Option<String>,
    /// Number of files in the scope.
    pub total: u64,
    /// Names left out of the listing, on the first page only: links, and names that cannot be paths.
    pub skipped: Vec<Skipped>,
}

request!(ListFiles "list-files" => FilePage, Reads, |name| {
    vec![Self { after: None, limit: 1000 }, Self { after: Some(format!("{name}.md")), limit: 1 }]
});

impl Run<ItemsCall<'_>> for ListFiles {
    async fn run(self, with: &ItemsCall<'_>) -> Result<FilePage, Error> {
        let Self { after, limit } = self;
        if limit == 0 || limit > MAX_LISTED_FILES {
            let message = format!("cannot list {limit} files at once, the limits are 1 and {MAX_LISTED_FILES}");
            return Err(Error::invalid_argument(message, "list in pages: each reply has the `next` to continue after"));
        }
        let after = after.as_deref().map(parse).transpose()?;
        // A further page is one of the same listing, so that many pages do not look at all folders each.
        let kept = with
            .listing
            .borrow_mut()
            .take()
            .filter(|kept| after.as_ref().is_some_and(|after| kept.position(after.as_str()).is_ok()));
        let listing = match kept {
            Some(listing) => listing,
            None => FileListing::new(with).await?,
        };
        let start =
            after.as_ref().map_or(0, |after| listing.position(after.as_str()).map_or_else(|at| at, |at| at + 1));
        let rest = listing.files.get(start..).unwrap_or_default();
        let files: Vec<ListedFile> = rest.iter().take(limit as usize).cloned().collect();
        let next = files.last().filter(|_| files.len() < rest.len()).map(|last| last.path.clone());
        let skipped = if after.is_none() { listing.skipped.clone() } else { Vec::new() };
        let total = listing.files.len() as u64;
        if next.is_some() {
            *with.listing.borrow_mut() = Some(listing);
        }
        Ok(FilePage { files, next, total, skipped })
    }
}

fn parse(path: &str) -> Result<RelPath, Error> {
    RelPath::new(path).map_err(|error| {
        let message = format!("`{}` is not a valid path: {error}", path.escape_debug());
        let help = "give a path relative to the root, as the list of files shows it";
        Error::new(ErrorCode::InvalidName, message, help)
    })
}
