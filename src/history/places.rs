//! [`places`]: all files of the scope that may have a text, with the bookkeeping.

use crate::changes::history_of;
use crate::names::Stores;
use crate::store::{HistoryFile, HistoryFolder, Layout, RelPath, is_hidden, is_name};
use saddlebag_collections::{prelude::*, sorted::SortedSet};
use saddlebag_protocol::{Entry, EntryKind, Error};

/// Folders of other tools, which have thousands of files.
const FOREIGN_FOLDERS: [&str; 2] = [".git", "node_modules"];

/// Folders of a notebook in the root that are memory although they are hidden.
const OWN_FOLDERS: [&str; 2] = [".saddlebag", ".zk"];

/// Maximum number of folders that are walked.
const MAX_FOLDERS: usize = 1 << 16;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    /// A file that people keep.
    Kept,
    Backup,
    /// A file of the history.
    History(HistoryFile),
    Index,
    /// Log of the rejected values. It has digests of them, and names of files under a checksum.
    Rejected,
    /// Other bookkeeping, such as the state of a session.
    State,
}

/// A file of the scope.
pub(super) struct Place {
    pub(super) path: RelPath,
    pub(super) kind: FileKind,
    /// Time of the last change, in nanoseconds since 1970-01-01T00:00:00Z.
    pub(super) modified: u64,
}

/// Which files of a folder belong to the scope.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// All, and those of all folders below.
    All,
    /// Memory and its backups, and all of the folders that are not hidden.
    Notebook,
    /// Memory and its backups directly in the folder.
    Flat,
}

/// Returns the files of the scope.
pub(super) async fn places(with: &Stores<'_>) -> Result<Vec<Place>, Error> {
    let Stores { call, entries, .. } = *with;
    let layout = &call.scope.layout;
    let mut folders: Vec<(Option<RelPath>, Extent)> = Vec::new();
    match layout.project_folder() {
        Some(project) => {
            folders.push((None, Extent::Flat));
            folders.push((Some(project.clone()), Extent::All));
        }
        None => folders.push((None, Extent::Notebook)),
    }
    folders.extend(layout.user_folder().map(|folder| (Some(folder.clone()), Extent::All)));
    folders.extend(entries.folders().map(|folder| (Some(folder.root().clone()), Extent::All)));
    let histories = history_folders(with)?;
    folders.extend(histories.iter().filter_map(HistoryFolder::state_folder).map(|folder| (Some(folder), Extent::All)));

    let mut seen: SortedSet<Option<RelPath>> = SortedSet::default();
    let mut found = Vec::new();
    while let Some((folder, extent)) = folders.pop() {
        if !seen.insert(folder.clone()) {
            continue;
        }
        if seen.len() > MAX_FOLDERS {
            return Err(saddlebag_protocol::Error::new(
                saddlebag_protocol::ErrorCode::TooLarge,
                format!("the store has more than {MAX_FOLDERS} folders"),
                "move folders that are not memory out of the store",
            ));
        }
        for Entry { path, kind, modified, .. } in call.list(folder.as_ref()).await? {
            match kind {
                EntryKind::Directory if is_entered(&path, extent) => folders.push((Some(path), below(extent))),
                EntryKind::File if is_of_scope(&path, extent) => {
                    let kind = kind_of(&path, &histories);
                    found.push(Place { path, kind, modified });
                }
                _ => {}
            }
        }
    }
    saddlebag_collections::order::sort_slice(&mut found, |a, b| a.path.cmp(&b.path));
    found.dedup_by(|a, b| a.path == b.path);
    Ok(found)
}

/// Returns the folders with the history of the files that the memory may read.
pub(super) fn history_folders(with: &Stores<'_>) -> Result<Vec<HistoryFolder>, Error> {
    let mut folders = super::log::folders(with.call, with.entries)?;
    if let Some(user) = with.call.scope.layout.user_folder().and_then(|user| user.join("note.md").ok()) {
        let folder = history_of(&user)?;
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    Ok(folders)
}

fn below(extent: Extent) -> Extent {
    if extent == Extent::Notebook { Extent::Notebook } else { Extent::All }
}

fn is_entered(folder: &RelPath, extent: Extent) -> bool {
    let name = folder.file_name();
    let is_own = OWN_FOLDERS.into_iter().any(|own| is_name(name, own));
    let is_foreign = FOREIGN_FOLDERS.into_iter().any(|foreign| is_name(name, foreign));
    !is_foreign
        && match extent {
            Extent::All => !Layout::is_other_memory(folder),
            Extent::Notebook => !Layout::is_other_memory(folder) && (is_own || !is_hidden(name)),
            Extent::Flat => false,
        }
}

fn is_of_scope(path: &RelPath, extent: Extent) -> bool {
    let is_own = path.segments().any(|segment| OWN_FOLDERS.contains(&segment));
    let is_memory = crate::search::is_markdown(path) && !is_hidden(path.file_name());
    extent == Extent::All || is_own || is_memory || Layout::original_of(path).is_some()
}

fn kind_of(path: &RelPath, histories: &[HistoryFolder]) -> FileKind {
    let of_history = histories.iter().find_map(|folder| folder.file_kind(path));
    match of_history {
        Some(kind) => FileKind::History(kind),
        None if Layout::is_index(path) => FileKind::Index,
        None if Layout::rejected_log().is_ok_and(|log| log == *path) => FileKind::Rejected,
        None if Layout::is_bookkeeping(path) => FileKind::State,
        None if Layout::original_of(path).is_some() || Layout::is_backup(path) => FileKind::Backup,
        None => FileKind::Kept,
    }
}
