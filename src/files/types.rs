//! Types and functions that the commands about files share.

use alloc::format;
use alloc::vec::Vec;

use crate::engine::Call;
use crate::entries::Entries;
use crate::protocol::{Error, ErrorCode};
use crate::search::FolderScope;
use crate::store::RelPath;

/// Parts of a memory that the commands about files need.
pub(crate) struct FilesCall<'a> {
    pub(crate) call: &'a Call,
    pub(crate) entries: &'a Entries,
}

/// Returns the folders with the files of the scope.
pub(super) fn scopes(call: &Call, entries: &Entries) -> Vec<FolderScope> {
    let mut scopes = FolderScope::all(&call.scope.layout);
    scopes.extend(entries.folders().map(|folder| FolderScope { folder: Some(folder.root().clone()), tree: true }));
    scopes
}

pub(super) fn is_listed(call: &Call, entries: &Entries, path: &RelPath) -> bool {
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
