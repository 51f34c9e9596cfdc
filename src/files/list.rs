//! `list-files`: a page of the files of the scope.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::types::{FilesCall, is_listed, parse, scopes};
use crate::journal::ListedFile;
use crate::order;
use crate::protocol::{EntryKind, Error};
use crate::request::{Effect, Request, Run};
use crate::search::{Skipped, list_markdown};

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

impl Request for ListFiles {
    type Reply = FilePage;
    const NAME: &'static str = "list-files";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        alloc::vec![Self { after: None, limit: 1000 }, Self { after: Some(format!("{name}.md")), limit: 1 }]
    }
}

impl Run<FilesCall<'_>> for ListFiles {
    async fn run(self, with: &FilesCall<'_>) -> Result<FilePage, Error> {
        let FilesCall { call, entries } = *with;
        let Self { after, limit } = self;
        if limit == 0 || limit > MAX_LISTED_FILES {
            let message = format!("cannot list {limit} files at once, the limits are 1 and {MAX_LISTED_FILES}");
            return Err(Error::invalid_argument(message, "list in pages: each reply has the `next` to continue after"));
        }
        let after = after.as_deref().map(parse).transpose()?;
        let listed = list_markdown(&call.fs, scopes(call, entries), &call.scope.limits).await?;
        let skipped = match &after {
            None => listed.skipped(&|path| is_listed(call, entries, path), &|path| path.to_string()),
            Some(_) => Vec::new(),
        };
        let mut found = Vec::new();
        for entry in listed.entries {
            if entry.kind == EntryKind::File && is_listed(call, entries, &entry.path) {
                found.push(entry);
            }
        }
        order::sort_slice(&mut found, |a, b| a.path.cmp(&b.path));
        let total = found.len() as u64;
        let mut rest = found.into_iter().filter(|entry| after.as_ref().is_none_or(|after| entry.path > *after));
        let files: Vec<ListedFile> = rest
            .by_ref()
            .take(limit as usize)
            .map(|entry| ListedFile { path: entry.path.into_string(), size: entry.size, modified: entry.modified })
            .collect();
        let next = rest.next().and_then(|_| files.last()).map(|last| last.path.clone());
        Ok(FilePage { files, next, total, skipped })
    }
}
