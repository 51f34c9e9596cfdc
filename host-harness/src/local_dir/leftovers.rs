//! Temporary files of writers that died.
//!
//! A writer records in its lock file which temporary file it uses and its progress. The next holder of the lock knows
//! that the writer is dead. The record shows if the file is the writer's own, which is removed, or may hold text of
//! someone else, which is moved to `.saddlebag/recovered`.

use std::io;

use cap_std::fs::Dir;
use saddlebag::protocol::{FsError, Version};
use saddlebag::store::RelPath;
use saddlebag_locks::{Record, second_name};

use super::error::refusal;
use super::permit::Permit;
use super::sys::{self, Stat};
use super::{version, walk};
use crate::Durability;
use crate::executor::{RECOVERED_FOLDER, STATE_FOLDER, is_reserved};

/// Text that was found in a temporary file. It is kept because it may be the only copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Path of the file that was being written.
    pub path: String,
    /// New path of the text, relative to the root of the store.
    pub kept: String,
}

/// Returns how a [`Record`] names a new file.
pub(super) fn new_file(stat: &Stat) -> String {
    identity(&version::of_stat(stat)).to_owned()
}

/// Returns the folder of a path with a slash at its end; empty for the root.
fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or("", |slash| &path[..=slash])
}

/// Removes the leftovers of a writer that had this record, and finishes its change if the new file is in place.
///
/// Two holders may do this at the same time, because the record of a file that is kept is in the locks of both paths, and a writer
/// that was taken for dead may go on: each step is one rename or removal of a name that no other writer uses.
pub(super) fn clear(root: &Dir, record: &Record<'_>) -> Option<Recovered> {
    let (Record::Staged { temporary, path }
    | Record::Placing { temporary, path, .. }
    | Record::Keeping { temporary, path, .. }) = *record;
    let temporary = RelPath::new(temporary).ok()?;
    let (folder, name) = walk::find(root, &temporary).ok()??;
    if let Record::Keeping { keep_as, .. } = *record {
        let second = second_name(name);
        let is_placed = walk::probe(&folder, name).ok()?.is_none();
        if is_placed && walk::probe(&folder, &second).ok()?.is_some() {
            return finish(root, &folder, &second, path, keep_as);
        }
        // The second name goes first: without the new file, it would be taken for the old one.
        let _ = folder.remove_file(&second);
        let _ = folder.remove_file(name);
        return None;
    }
    let stat = walk::probe(&folder, name).ok()??;
    let is_ours = match *record {
        Record::Placing { new, old, keep_as, .. } => {
            let _ = folder.remove_file(second_name(name));
            if new_file(&stat) == new {
                true
            } else if was(&folder, name, &stat, old) {
                if let Some(keep_as) = keep_as {
                    return finish(root, &folder, name, path, keep_as);
                }
                true
            } else {
                false
            }
        }
        _ => true,
    };
    if is_ours || stat.size == 0 {
        let removed = folder.remove_file(name);
        tracing::debug!(path = %temporary, ok = removed.is_ok(), "a dead writer's file is removed");
        return None;
    }
    Some(keep(root, &folder, name, path))
}

/// Moves the old file of `path`, which has a temporary name, to the path under which it is kept. If that fails, it is
/// recovered.
fn finish(root: &Dir, folder: &Dir, temporary: &str, path: &str, keep_as: &str) -> Option<Recovered> {
    match keep_old(root, folder, temporary, keep_as) {
        Ok(()) => None,
        // Another holder was faster.
        Err(_) if sys::stat_at(folder, temporary).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) => None,
        Err(error) => {
            tracing::warn!(%error, path, keep_as, "a replaced text cannot be kept at its place");
            Some(keep(root, folder, temporary, path))
        }
    }
}

fn keep_old(root: &Dir, folder: &Dir, temporary: &str, keep_as: &str) -> Result<(), FsError> {
    let keep_as = RelPath::new(keep_as).map_err(|error| FsError::InvalidPath(error.to_string()))?;
    // Anyone can write to a lock file.
    if is_reserved(keep_as.as_str()) {
        return Err(FsError::InvalidPath("this name is kept for the host".into()));
    }
    let (kept_folder, kept_name) = walk::make(root, &keep_as, Durability::Full)?;
    walk::probe(&kept_folder, kept_name)?;
    sys::replace_across(Permit::of_record(), folder, temporary, &kept_folder, kept_name).map_err(refusal)?;
    // Two names of one file stay as they are.
    let _ = folder.remove_file(temporary);
    if let Err(error) = sys::sync_folder(&kept_folder).and_then(|()| sys::sync_folder(folder)) {
        tracing::warn!(%error, %keep_as, "a replaced text may not survive a power cut");
    }
    Ok(())
}

/// Moves a temporary file from the folder of `path` to the folder of recovered files. If that fails, it stays where it
/// is.
pub(super) fn keep(root: &Dir, folder: &Dir, temporary: &str, path: &str) -> Recovered {
    let kept =
        move_to_recovered(root, folder, temporary, path).unwrap_or_else(|| format!("{}{temporary}", folder_of(path)));
    Recovered { path: path.to_owned(), kept }
}

/// Returns the new path of the text; `None` if it cannot be moved.
fn move_to_recovered(root: &Dir, folder: &Dir, temporary: &str, path: &str) -> Option<String> {
    let place = format!("{STATE_FOLDER}/{RECOVERED_FOLDER}");
    let recovered = walk::make_folder(root, &place, Durability::Full).ok()?;
    let stem: String = path.chars().map(|c| if c == '/' { '-' } else { c }).take(60).collect();
    for number in 1..10_000 {
        let name = format!("{stem}.{number}");
        match sys::move_new(Permit::of_record(), folder, temporary, &recovered, &name) {
            Ok(()) => {
                let synced = sys::sync_folder(&recovered).and_then(|()| sys::sync_folder(folder));
                if let Err(error) = synced {
                    tracing::warn!(%error, %name, "a recovered text may not survive a power cut");
                }
                return Some(format!("{place}/{name}"));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                tracing::warn!(%error, temporary, "text of somebody else stays in a temporary file");
                return None;
            }
        }
    }
    None
}

/// Returns true if the file had this version. Its times of change do not count, because the exchange changed them.
fn was(folder: &Dir, name: &str, stat: &Stat, old: &str) -> bool {
    let old = Version(old.to_owned());
    if version::is_hash(&old) {
        return version::matches(folder, name, stat, &old).unwrap_or(false);
    }
    identity(&old) == identity(&version::of_stat(stat))
}

/// Returns a version without the change time of the inode, which a rename changes.
fn identity(version: &Version) -> &str {
    version.0.rsplit_once('.').map_or("", |(identity, _)| identity)
}
