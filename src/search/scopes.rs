//! [`FolderScope`]: folders that a search covers, and listing them.

use alloc::collections::VecDeque;

use super::types::{SkipReason, Skipped};
use crate::engine::{Fs, Limits};
use crate::store::{self, Layout, NOTE_SUFFIX, RelPath};
use saddlebag_collections::{prelude::*, sorted::SortedSet};
use saddlebag_protocol::{Entry, EntryKind, Error, ErrorCode, FsError, LeftOut, LeftOutName, ListOutcome, Listing};

/// Maximum number of entries of a folder. Without it, a host could keep a command busy for ever.
const MAX_FOLDER_ENTRIES: usize = 1 << 20;

/// Maximum number of folders of a tree.
const MAX_FOLDERS: usize = 1 << 16;

/// A folder that a search covers.
#[derive(Clone, Debug)]
pub(crate) struct FolderScope {
    /// Path; `None` for the root.
    pub(crate) folder: Option<RelPath>,
    /// If set, includes everything below the folder, except hidden folders and the memory of other scopes. Hidden
    /// files are never included.
    pub(crate) tree: bool,
}

impl FolderScope {
    /// Returns the folders of a scope's memory.
    pub(crate) fn all(layout: &Layout) -> Vec<Self> {
        let tree = Self { folder: layout.project_folder().cloned(), tree: true };
        match &tree.folder {
            None => vec![tree],
            Some(_) => {
                let user = layout.user_folder().map(|folder| Self { folder: Some(folder.clone()), tree: true });
                [Self { folder: None, tree: false }, tree].into_iter().chain(user).collect()
            }
        }
    }

    /// Returns true if the scope covers a Markdown file with this path.
    pub(crate) fn reaches(&self, path: &RelPath) -> bool {
        is_markdown(path) && self.holds(path)
    }

    /// Returns true if the scope covers a file with this path, whatever its extension.
    pub(crate) fn holds(&self, path: &RelPath) -> bool {
        !is_out(path) && self.holds_folder(path.parent())
    }

    /// Returns true if the scope covers the files directly in a folder, except those that are hidden or of another memory.
    fn holds_folder(&self, mut folder: Option<RelPath>) -> bool {
        while self.tree && folder != self.folder {
            let Some(inner) = folder else { return false };
            if is_out(&inner) {
                return false;
            }
            folder = inner.parent();
        }
        folder == self.folder
    }

    /// Returns true if one of the scopes covers each of these files, whatever their extensions. The writer of an index may
    /// have named others.
    pub(super) fn all_hold<'a>(scopes: &[Self], mut paths: impl Iterator<Item = &'a str>) -> bool {
        let mut held: Option<(&str, bool)> = None;
        paths.all(|path| {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            // Most files have the folder of the file before.
            let may_be_other = match held {
                Some((held, may_be_other)) if held == folder => may_be_other,
                _ => {
                    let parent = RelPath::new(folder).ok();
                    let is_held = parent.is_some() || folder.is_empty();
                    if !is_held || !scopes.iter().any(|scope| scope.holds_folder(parent.clone())) {
                        return false;
                    }
                    parent.is_some_and(|parent| Layout::is_of_scopes(&parent))
                }
            };
            held = Some((folder, may_be_other));
            let is_other = || RelPath::new(path).is_ok_and(|path| Layout::is_other_memory(&path));
            !(store::is_hidden(name) || may_be_other && is_other())
        })
    }

    pub(super) fn covers(&self, entry: &Entry, is_covered: impl Fn(&RelPath) -> bool) -> bool {
        entry.kind != EntryKind::Directory && is_covered(&entry.path) && !is_hidden(&entry.path)
    }
}

fn is_out(path: &RelPath) -> bool {
    is_hidden(path) || Layout::is_other_memory(path)
}

/// Markdown files of scopes.
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    /// Markdown files, and other entries with such names. Folders among them are left out as the memory of others.
    pub(crate) entries: Vec<Entry>,
    /// Names that no path can have, by folder.
    pub(crate) left_out: Vec<(Option<RelPath>, LeftOut)>,
    /// Folders that may not be listed.
    pub(crate) unlisted: Vec<RelPath>,
}

impl Markdown {
    /// Returns what a listing of the files that `is_of` names leaves out.
    pub(crate) fn skipped(&self, is_of: &dyn Fn(&RelPath) -> bool, shown: &dyn Fn(&RelPath) -> String) -> Vec<Skipped> {
        let names = self.left_out.iter();
        let names = names.flat_map(|(folder, left_out)| skipped_names(folder.as_ref(), left_out, is_of, shown));
        let others = self.entries.iter().filter_map(|entry| {
            let reason = match entry.kind {
                EntryKind::Directory if Layout::is_other_memory(&entry.path) => SkipReason::OtherMemory,
                EntryKind::File => return None,
                _ if is_of(&entry.path) => SkipReason::NotRegular,
                _ => return None,
            };
            Some(Skipped::new(shown(&entry.path), &reason))
        });
        let unlisted = self.unlisted.iter();
        let unlisted = unlisted.map(|path| Skipped::new(shown(path), &SkipReason::Unreadable(FsError::Denied)));
        names.chain(unlisted).chain(others).collect()
    }
}

/// Lists the Markdown files of scopes.
pub(crate) async fn list_markdown(fs: &Fs, scopes: Vec<FolderScope>, limits: &Limits) -> Result<Markdown, Error> {
    let mut found = Markdown::default();
    let tops: Vec<Option<RelPath>> = scopes.iter().map(|scope| scope.folder.clone()).collect();
    let mut walk = Walk::from_scopes(scopes);
    while let Some(scope) = walk.next()? {
        let mut after = None;
        let mut bound = FolderBound::new(&scope);
        loop {
            let listed = fs.list(scope.folder.as_ref(), after, limits.max_list_entries, None).await;
            let outcome = match (listed, &scope.folder) {
                (Err(FsError::Denied), Some(folder)) if !tops.contains(&scope.folder) => {
                    found.unlisted.push(folder.clone());
                    break;
                }
                (listed, folder) => listed.map_err(|error| Error::storage(folder.as_ref(), &error))?,
            };
            let ListOutcome::Page(page) = outcome else { break };
            bound.take(&page)?;
            if scope.tree {
                walk.add(&subfolders(&page.entries));
            }
            let is_left_out = |entry: &Entry| {
                scope.tree && entry.kind == EntryKind::Directory && Layout::is_alias_of_other_memory(&entry.path)
            };
            let is_listed = |entry: &Entry| scope.covers(entry, is_markdown) || is_left_out(entry);
            found.entries.extend(page.entries.into_iter().filter(is_listed));
            let mut left_out = page.left_out;
            // A scope that is not a tree does not cover folders.
            left_out.names.retain(|name| scope.tree || name.kind != EntryKind::Directory);
            if left_out.count > 0 {
                found.left_out.push((scope.folder.clone(), left_out));
            }
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
    }
    Ok(found)
}

/// Lists all files and folders below a folder, except the folders of other scopes, and of tools that keep thousands of
/// files.
pub(crate) async fn list_tree(fs: &Fs, folder: Option<&RelPath>, limits: &Limits) -> Result<Vec<RelPath>, Error> {
    let mut found = Vec::new();
    let mut walk = Walk::from_scopes(vec![FolderScope { folder: folder.cloned(), tree: true }]);
    while let Some(scope) = walk.next()? {
        let mut after = None;
        let mut bound = FolderBound::new(&scope);
        loop {
            let listed = fs.list(scope.folder.as_ref(), after, limits.max_list_entries, None).await;
            // A folder that cannot be listed, such as a hidden one of another user, is not memory.
            let Ok(ListOutcome::Page(page)) = listed else { break };
            bound.take(&page)?;
            let folders = page.entries.iter().filter(|entry| entry.kind == EntryKind::Directory);
            let folders = folders.map(|entry| &entry.path).filter(|path| {
                let is_of_tool = |tool: &str| store::is_name(path.file_name(), tool);
                !Layout::is_other_memory(path) && ![".git", ".saddlebag", "node_modules"].into_iter().any(is_of_tool)
            });
            walk.add(&folders.cloned().collect::<Vec<_>>());
            found.extend(page.entries.into_iter().map(|entry| entry.path));
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
    }
    Ok(found)
}

/// Returns the names of a folder that no path can have, if they would be memory under another name: all folders, and
/// the files that `is_of` accepts.
pub(crate) fn skipped_names(
    folder: Option<&RelPath>,
    left_out: &LeftOut,
    is_of: &dyn Fn(&RelPath) -> bool,
    shown: &dyn Fn(&RelPath) -> String,
) -> Vec<Skipped> {
    let is_memory =
        |name: &&LeftOutName| !is_hidden(&name.path) && (name.kind == EntryKind::Directory || is_of(&name.path));
    let named = left_out.names.iter().filter(is_memory);
    let mut skipped: Vec<Skipped> =
        named.map(|name| Skipped::new(shown(&name.path), &SkipReason::Unnameable)).collect();
    let more = left_out.count.saturating_sub(u32::try_from(left_out.names.len()).unwrap_or(u32::MAX));
    if more > 0 {
        let path = folder.map_or_else(|| ".".into(), shown);
        skipped.push(Skipped::new(path, &SkipReason::MoreUnnameable(more)));
    }
    skipped
}

/// Returns the folders of the tree among entries. Folders that count as another memory although they are spelt
/// differently are reported and not entered.
pub(super) fn subfolders(entries: &[Entry]) -> Vec<RelPath> {
    let folders = entries.iter().filter(|entry| entry.kind == EntryKind::Directory).map(|entry| &entry.path);
    let is_named = |path: &RelPath| !Layout::is_other_memory(path) || Layout::is_alias_of_other_memory(path);
    folders.filter(|path| !is_hidden(path) && is_named(path)).cloned().collect()
}

/// Walks through folders, each once.
pub(super) struct Walk {
    queue: VecDeque<FolderScope>,
    pub(super) seen: SortedSet<Option<RelPath>>,
}

impl Walk {
    pub(super) fn from_scopes(scopes: Vec<FolderScope>) -> Self {
        Self { queue: scopes.into(), seen: SortedSet::default() }
    }

    pub(super) fn add(&mut self, folders: &[RelPath]) {
        let folders = folders.iter().filter(|folder| !Layout::is_other_memory(folder));
        let scopes = folders.map(|folder| FolderScope { folder: Some(folder.clone()), tree: true });
        self.queue.extend(scopes);
    }

    /// Returns the next folders, at most `most`; none if all were visited.
    pub(super) fn next_batch(&mut self, most: usize) -> Result<Vec<FolderScope>, Error> {
        let mut batch = Vec::new();
        while batch.len() < most
            && let Some(scope) = self.next()?
        {
            batch.push(scope);
        }
        Ok(batch)
    }

    pub(super) fn next(&mut self) -> Result<Option<FolderScope>, Error> {
        while let Some(scope) = self.queue.pop_front() {
            if self.seen.insert(scope.folder.clone()) {
                if self.seen.len() > MAX_FOLDERS {
                    let message = format!("the store has more than {MAX_FOLDERS} folders of notes");
                    return Err(Error::new(
                        ErrorCode::TooLarge,
                        message,
                        "move folders that are not memory out of the store",
                    ));
                }
                return Ok(Some(scope));
            }
        }
        Ok(None)
    }
}

/// Counts the entries of a folder over its pages.
pub(super) struct FolderBound<'a> {
    folder: Option<&'a RelPath>,
    entries: usize,
}

impl<'a> FolderBound<'a> {
    pub(super) fn new(scope: &'a FolderScope) -> Self {
        Self { folder: scope.folder.as_ref(), entries: 0 }
    }

    pub(super) fn take(&mut self, page: &Listing) -> Result<(), Error> {
        self.entries += page.entries.len();
        if self.entries <= MAX_FOLDER_ENTRIES {
            return Ok(());
        }
        let place = self.folder.map_or("the root of the store", RelPath::as_str);
        let message = format!("{place} has more than {MAX_FOLDER_ENTRIES} entries");
        Err(Error::new(ErrorCode::TooLarge, message, "move files that are not memory out of the folder"))
    }
}

pub(crate) fn is_markdown(path: &RelPath) -> bool {
    path.as_str().ends_with(NOTE_SUFFIX)
}

fn is_hidden(path: &RelPath) -> bool {
    store::is_hidden(path.file_name())
}
