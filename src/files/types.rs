//! Types and functions that the commands about files share.

use atomic_refcell::AtomicRefCell;

use crate::changes::Call;
use crate::entries::Entries;
use crate::journal::ListedFile;
use crate::notebook::Notebook;
use crate::origin::Origin;
use crate::search::{FolderScope, Skipped, list_markdown};
use crate::store::RelPath;
use saddlebag_collections::{order, prelude::*};
use saddlebag_protocol::{EntryKind, Error, ErrorCode};

/// Parts of a memory that the commands about files need.
pub(crate) struct FilesCall<'a> {
    pub(crate) call: &'a Call,
    pub(crate) notebook: &'a Arc<Notebook>,
    pub(crate) entries: &'a Entries,
    pub(crate) origin: &'a Origin,
    /// Listing whose next page may be asked for.
    pub(crate) listing: &'a AtomicRefCell<Option<FileListing>>,
}

/// Parts of a memory that know names.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub(crate) call: &'a Call,
    pub(crate) notebook: &'a Arc<Notebook>,
    pub(crate) entries: &'a Entries,
}

impl<'a> FilesCall<'a> {
    pub(super) const fn names(&self) -> Names<'a> {
        let Self { call, notebook, entries, .. } = *self;
        Names { call, notebook, entries }
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
    pub(super) async fn new(with: &FilesCall<'_>) -> Result<Self, Error> {
        let FilesCall { call, entries, .. } = *with;
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
pub(super) fn scopes(call: &Call, entries: &Entries) -> Vec<FolderScope> {
    let mut scopes = FolderScope::all(&call.scope.layout);
    scopes.extend(entries.folders().map(|folder| FolderScope { folder: Some(folder.root().clone()), tree: true }));
    scopes
}

pub(crate) fn is_listed(call: &Call, entries: &Entries, path: &RelPath) -> bool {
    entries.folders().any(|folder| folder.has(path))
        || FolderScope::all(&call.scope.layout).iter().any(|scope| scope.reaches(path))
}

pub(super) fn parse(path: &str) -> Result<RelPath, Error> {
    RelPath::new(path).map_err(|error| {
        let message = format!("`{}` is not a valid path: {error}", path.escape_debug());
        let help = "give a path relative to the root, as the list of files shows it";
        Error::new(ErrorCode::InvalidName, message, help)
    })
}
