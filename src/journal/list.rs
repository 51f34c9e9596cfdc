//! `list-journal`: lists the files that `search` covers.

use super::types::{JournalCall, ListedFile};
use crate::changes::Call;
use crate::request::{Run, request};
use crate::search::{FolderScope, Skipped, list_markdown};
use crate::store::RelPath;
use saddlebag_collections::{order, prelude::*};
use saddlebag_protocol::{EntryKind, Error};

/// Lists the files that [`Search`](super::Search) covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListJournal;

/// Files of a scope.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListReply {
    /// Files, sorted by path.
    pub files: Vec<ListedFile>,
    /// Files that are named like memory but could not be read.
    pub skipped: Vec<Skipped>,
}

request!(ListJournal "list-journal" => ListReply, Reads, |_| vec![Self]);

impl Run<JournalCall<'_>> for ListJournal {
    async fn run(self, with: &JournalCall<'_>) -> Result<ListReply, Error> {
        list(with.call).await
    }
}

/// Lists the files that `search` covers, sorted by path.
pub(super) async fn list(call: &Call) -> Result<ListReply, Error> {
    let mut reply = ListReply::default();
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
