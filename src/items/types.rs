//! Types and functions that the commands about files share.

use core::ops::Deref;

use atomic_refcell::AtomicRefCell;

use crate::changes::Call;
use crate::entries::Entries;
use crate::journal::ListedFile;
use crate::names::{Stores, is_listed};
use crate::origin::Origin;
use crate::search::{FolderScope, Skipped, list_markdown};
use saddlebag_collections::{order, prelude::*};
use saddlebag_protocol::{EntryKind, Error};

/// Parts of a memory that the verbs need.
#[derive(Clone, Copy)]
pub(crate) struct ItemsCall<'a> {
    pub(crate) stores: Stores<'a>,
    pub(crate) origin: &'a Origin,
    /// Listing whose next page may be asked for.
    pub(crate) listing: &'a AtomicRefCell<Option<FileListing>>,
}

impl<'a> Deref for ItemsCall<'a> {
    type Target = Stores<'a>;

    fn deref(&self) -> &Stores<'a> {
        &self.stores
    }
}

/// Files of a scope, kept from the first page of a listing to the last.
#[derive(Default)]
pub(crate) struct FileListing {
    /// Files, sorted by path.
    pub(super) files: Vec<ListedFile>,
    pub(super) skipped: Vec<Skipped>,
}

impl FileListing {
    /// Lists the folders of a scope.
    pub(super) async fn new(with: &ItemsCall<'_>) -> Result<Self, Error> {
        let Stores { call, entries, .. } = with.stores;
        let listed = list_markdown(&call.fs, scopes(call, entries), &call.scope.limits).await?;
        let skipped = listed.skipped(&|path| is_listed(call, entries, path), &|path| path.to_string());
        let mut files: Vec<ListedFile> = Vec::new();
        for entry in listed.entries {
            if entry.kind == EntryKind::File && is_listed(call, entries, &entry.path) {
                files.push(ListedFile { path: entry.path.into_string(), size: entry.size, modified: entry.modified });
            }
        }
        order::sort_slice(&mut files, |a, b| a.path.cmp(&b.path));
        Ok(Self { files, skipped })
    }

    /// Returns the position of a path, or the position that it would have.
    pub(super) fn position(&self, path: &str) -> Result<usize, usize> {
        self.files.binary_search_by(|file| file.path.as_str().cmp(path))
    }
}

/// Returns the folders with the files of the scope.
fn scopes(call: &Call, entries: &Entries) -> Vec<FolderScope> {
    let mut scopes = FolderScope::all(&call.scope.layout);
    scopes.extend(entries.folders().map(|folder| FolderScope { folder: Some(folder.root().clone()), tree: true }));
    scopes
}
