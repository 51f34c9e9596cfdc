//! The files that `search` covers.

use super::types::ListedFile;
use crate::changes::Call;
use crate::search::{FolderScope, Skipped, list_markdown};
use crate::store::RelPath;
use saddlebag_collections::{order, prelude::*};
use saddlebag_protocol::{Entry, EntryKind, Error};

/// Returns the files that `search` covers, and those that are named like memory but could not be read.
pub(crate) async fn journal_files(call: &Call) -> Result<(Vec<Entry>, Vec<Skipped>), Error> {
    let listed = list_markdown(&call.fs, FolderScope::all(&call.scope.layout), &call.scope.limits).await?;
    let is_journal = |path: &RelPath| call.scope.layout.is_journal(path);
    let skipped = listed.skipped(&is_journal, &|path| call.scope.display_path(path));
    let mut files = listed.entries;
    files.retain(|file| file.kind == EntryKind::File && is_journal(&file.path));
    Ok((files, skipped))
}

/// Lists the files that `search` covers, sorted by path.
pub(crate) async fn list(call: &Call) -> Result<Vec<ListedFile>, Error> {
    let files = journal_files(call).await?.0.into_iter().map(|Entry { path, size, modified, .. }| {
        let path = call.scope.display_path(&path);
        ListedFile { path, size, modified }
    });
    let mut files: Vec<ListedFile> = files.collect();
    order::sort_slice(&mut files, |a, b| a.path.cmp(&b.path));
    Ok(files)
}
