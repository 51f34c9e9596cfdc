//! `list-journal`: lists the files that `search` covers.

use alloc::vec::Vec;

use super::types::{JournalCall, ListedFile};
use crate::engine::Call;
use crate::order;
use crate::protocol::{EntryKind, Error};
use crate::request::{Effect, Request, Run};
use crate::search::{FolderScope, SkipReason, Skipped, list_markdown, skipped_names};
use crate::store::{Layout, RelPath};

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

impl Request for ListJournal {
    type Reply = ListReply;
    const NAME: &'static str = "list-journal";
    const EFFECT: Effect = Effect::Reads;

    fn samples(_: &str) -> Vec<Self> {
        alloc::vec![Self]
    }
}

impl Run<JournalCall<'_>> for ListJournal {
    async fn run(self, with: &JournalCall<'_>) -> Result<ListReply, Error> {
        list(with.call).await
    }
}

/// Lists the files that `search` covers, sorted by path.
pub(super) async fn list(call: &Call) -> Result<ListReply, Error> {
    let mut reply = ListReply::default();
    let listed = list_markdown(&call.fs, FolderScope::all(&call.scope.layout), &call.scope.limits).await?;
    for (folder, left_out) in &listed.left_out {
        let is_journal = |path: &RelPath| call.scope.layout.is_journal(path);
        let shown = |path: &RelPath| call.scope.display_path(path);
        reply.skipped.extend(skipped_names(folder.as_ref(), left_out, &is_journal, &shown));
    }
    for entry in listed.entries {
        let path = call.scope.display_path(&entry.path);
        if entry.kind == EntryKind::Directory && Layout::is_other_memory(&entry.path) {
            reply.skipped.push(Skipped { path, reason: SkipReason::OtherMemory });
            continue;
        }
        if !call.scope.layout.is_journal(&entry.path) {
            continue;
        }
        if entry.kind == EntryKind::File {
            reply.files.push(ListedFile { path, size: entry.size, modified: entry.modified });
        } else {
            reply.skipped.push(Skipped { path, reason: SkipReason::NotRegular });
        }
    }
    order::sort_slice(&mut reply.files, |a, b| a.path.cmp(&b.path));
    Ok(reply)
}
