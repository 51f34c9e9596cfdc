//! Listing: reads all names first, then looks only at the names of one page.

use std::io;

use cap_std::fs::Dir;
use saddlebag::protocol::{Entry, EntryKind, FsError, LeftOut, ListOutcome, Version};
use saddlebag::store::RelPath;
use saddlebag_locks::{is_locks, is_spelling, is_temporary};

use super::dir::LocalDir;
use super::error::refusal;
use super::sys::{self, Kind};
use super::{batch, version, walk};
use crate::executor::{IGNORE_FILE, MAX_LIST_ENTRIES, STATE_FOLDER, left_out, list_outcome, spelled};

/// A path relative to the root, and its kind if the folder tells it.
type Name = (RelPath, Option<Kind>);

/// An entry with an unusable name: the closest valid path, and its kind.
type Unnamed = (Option<RelPath>, EntryKind);

/// Number of names that justify a thread.
const MANY_NAMES: usize = 1024;

impl LocalDir {
    pub(super) fn list(
        &self,
        folder: Option<&RelPath>,
        after: Option<&RelPath>,
        limit: u32,
        unless: Option<&Version>,
    ) -> Result<ListOutcome, FsError> {
        let prefix = folder.map_or("", RelPath::as_str);
        let Some(top) = walk::find_folder(&self.root, prefix)? else {
            return Ok(list_outcome(Vec::new(), None, LeftOut::default(), true, unless));
        };
        let (mut names, others) = gather(&top, prefix, after.map_or("", RelPath::as_str))?;
        let others = if after.is_none() { left_out(others) } else { LeftOut::default() };

        // A page without entries would have no last path to continue from.
        let limit = limit.clamp(1, MAX_LIST_ENTRIES) as usize;
        let more = names.len() > limit;
        let by_path = |one: &Name, other: &Name| one.0.cmp(&other.0);
        if more {
            names.select_nth_unstable_by(limit, by_path);
            names.truncate(limit);
        }
        names.sort_unstable_by(by_path);
        let next = if more { names.last().map(|(path, _)| path.clone()) } else { None };
        let entries = look_at_folder(&top, names)?;
        let settled = entries.iter().all(|entry| !version::is_in_doubt(&entry.version));
        Ok(list_outcome(entries, next, others, settled, unless))
    }
}

/// Returns the entries of one folder. Several threads look at them if there are many.
fn look_at_folder(folder: &Dir, mut names: Vec<Name>) -> Result<Vec<Entry>, FsError> {
    let now = sys::now();
    let look = |names: Vec<Name>| -> Result<Vec<Entry>, FsError> {
        let mut entries = Vec::with_capacity(names.len());
        for (path, kind) in names {
            if let Some(Facts { kind, size, version, modified }) = look_at_one(folder, path.file_name(), kind, now)? {
                entries.push(Entry { path, kind, size, version, modified });
            }
        }
        Ok(entries)
    };
    let look = &look;
    let workers = batch::processors().min(names.len() / MANY_NAMES).max(1);
    let share = names.len().div_ceil(workers);
    std::thread::scope(|scope| {
        let mut others = Vec::new();
        while names.len() > share {
            let part = names.split_off(names.len() - share);
            others.push(scope.spawn(move || look(part)));
        }
        let mut entries = look(names)?;
        for other in others.into_iter().rev() {
            let part = other.join().map_err(|_| FsError::Other("a listing thread failed".into()))??;
            entries.extend(part);
        }
        Ok(entries)
    })
}

/// Returns the paths directly in `folder`, which is at `prefix`, that sort after `after`, and the entries with
/// unusable names.
fn gather(folder: &Dir, prefix: &str, after: &str) -> Result<(Vec<Name>, Vec<Unnamed>), FsError> {
    let names = match sys::names(folder) {
        // The folder was removed since it was opened.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), Vec::new())),
        names => names.map_err(refusal)?,
    };
    let (mut found, mut others) = (Vec::new(), Vec::new());
    let in_state = is_spelling(prefix.rsplit('/').next().unwrap_or_default(), STATE_FOLDER);
    let is_state = is_spelling(prefix, STATE_FOLDER);
    for sys::Name { text: name, is_exact, kind } in names {
        if is_state && is_locks(&name) || is_temporary(&name) || in_state && is_spelling(&name, IGNORE_FILE) {
            continue;
        }
        let mut text = String::with_capacity(prefix.len() + 1 + name.len());
        if !prefix.is_empty() {
            text.push_str(prefix);
            text.push('/');
        }
        text.push_str(&name);
        match RelPath::new(text) {
            Ok(path) if is_exact => {
                if path.as_str() > after {
                    found.push((path, kind));
                }
            }
            _ => others.push((spelled((!prefix.is_empty()).then_some(prefix), &name), kind_told(kind))),
        }
    }
    Ok((found, others))
}

fn kind_told(kind: Option<Kind>) -> EntryKind {
    match kind {
        Some(Kind::File) => EntryKind::File,
        Some(Kind::Directory) => EntryKind::Directory,
        Some(Kind::Link | Kind::Other) | None => EntryKind::Other,
    }
}

/// Properties of an entry besides its path.
struct Facts {
    kind: EntryKind,
    size: u64,
    version: Version,
    modified: u64,
}

impl Facts {
    fn not_a_file(kind: EntryKind) -> Self {
        Self { kind, size: 0, version: Version(String::new()), modified: 0 }
    }
}

/// Looks at `name`; `None` if it is gone.
fn look_at_one(folder: &Dir, name: &str, kind: Option<Kind>, now: i64) -> Result<Option<Facts>, FsError> {
    // Only the kind of a folder is reported, which is known already.
    if kind == Some(Kind::Directory) {
        return Ok(Some(Facts::not_a_file(EntryKind::Directory)));
    }
    let stat = match sys::stat_at(folder, name) {
        Ok(stat) => stat,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refusal(error)),
    };
    let version = match stat.kind {
        Kind::Directory => return Ok(Some(Facts::not_a_file(EntryKind::Directory))),
        Kind::Link | Kind::Other => return Ok(Some(Facts::not_a_file(EntryKind::Other))),
        Kind::File => match version::of_file(folder, name, &stat, now) {
            Ok(Some(version)) => version,
            Ok(None) => return Ok(None),
            // One file that cannot be read must not hide the others.
            Err(_) => version::in_doubt(&stat),
        },
    };
    let modified = u64::try_from(stat.modified).unwrap_or(0);
    Ok(Some(Facts { kind: EntryKind::File, size: stat.size, version, modified }))
}
