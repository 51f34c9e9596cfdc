//! The files that `search` covers.

use super::types::ListedFile;
use crate::changes::Call;
use crate::search::{FolderScope, Skipped, list_markdown};
use crate::store::RelPath;
use saddlebag_collections::{order, prelude::*};
use saddlebag_protocol::{EntryKind, Error};

/// Files of a scope.
#[derive(Default)]
pub(crate) struct FileList {
    /// Files, sorted by path.
    pub(crate) files: Vec<ListedFile>,
    /// Files that are named like memory but could not be read.
    pub(crate) skipped: Vec<Skipped>,
}

/// Lists the files that `search` covers, sorted by path.
pub(crate) async fn list(call: &Call) -> Result<FileList, Error> {
    let mut reply = FileList::default();
    let listed = list_markdown(&call.fs, FolderScope::all(&call.scope.layout), &call.scope.limits).await?;
    let is_journal = |path: &RelPath| call.scope.layout.is_journal(path);
    reply.skipped = listed.skipped(&is_journal, &|path| call.scope.display_path(path));
    for entry in listed.entries {
        if entry.kind == EntryKind::File && is_journal(&entry.path) {
            let path = call.scope.display_path(&entry.path);
            reply.files.push(ListedFile { path, size: entry.size, modified: entry.modified });
        }
    }
    order::sort_slice(&mut reply.files, |a, b| a.path.cmp(&b.path));
    Ok(reply)
}
