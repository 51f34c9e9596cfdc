//! Temporary files of writers that died.
//!
//! A writer records in its lock file which temporary file it uses and its progress. The next holder of the lock knows
//! that the writer is dead. The record shows if the file is the writer's own, which is removed, or may hold a text of
//! someone else, which is moved to `.saddlebag/recovered`.

use std::io;

use cap_std::fs::Dir;
use saddlebag::protocol::Version;
use saddlebag::store::RelPath;

use super::sys::{self, Stat};
use super::{version, walk};
use crate::Durability;
use crate::executor::{RECOVERED_FOLDER, STATE_FOLDER, is_temporary};

/// A text that was found in a temporary file. It is kept because it may be the only copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Path of the file that was being written.
    pub path: String,
    /// New path of the text, relative to the root of the store.
    pub kept: String,
}

/// Progress of a writer with its temporary file.
#[derive(Clone, Debug)]
pub(super) enum Stage<'a> {
    /// The temporary file was never at the name of the file, so only the writer has written to it.
    Staged,
    /// The temporary file is being exchanged with the file: the temporary name has the new file or the old one.
    Placing {
        /// Stat of the new file after it was written.
        new: &'a Stat,
        /// Version of the old file.
        old: &'a Version,
    },
}

/// Returns the record for a temporary file in the folder of `path`.
pub(super) fn record(path: &RelPath, temporary: &str, stage: &Stage<'_>) -> String {
    let folder = folder_of(path.as_str());
    match stage {
        Stage::Staged => format!("staged\t{folder}{temporary}\t{path}\n"),
        Stage::Placing { new, old } => {
            format!("placing\t{folder}{temporary}\t{path}\t{}\t{}\n", identity(&version::of_stat(new)), old.0)
        }
    }
}

/// Returns the folder of a path with a slash at its end; empty for the root.
fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or("", |slash| &path[..=slash])
}

/// Removes the leftovers of a writer whose lock file has this text.
pub(super) fn clear(root: &Dir, text: &str) -> Option<Recovered> {
    // The first line names the holder. The step after an incomplete line was not begun.
    let line = text.split_inclusive('\n').nth(1)?.strip_suffix('\n')?;
    let mut fields = line.split('\t');
    let (stage, temporary, path) = (fields.next()?, fields.next()?, fields.next()?);
    let temporary = RelPath::new(temporary).ok()?;
    // Anyone can write to a lock file.
    if !is_temporary(temporary.file_name()) {
        return None;
    }
    let (folder, name) = walk::find(root, &temporary).ok()??;
    let stat = walk::probe(&folder, name).ok()??;
    let is_ours = match stage {
        "staged" => true,
        "placing" => {
            let (new, old) = (fields.next()?, fields.next()?);
            identity(&version::of_stat(&stat)) == new || was(&folder, name, &stat, old)
        }
        _ => false,
    };
    if is_ours || stat.size == 0 {
        let removed = folder.remove_file(name);
        tracing::debug!(path = %temporary, ok = removed.is_ok(), "a dead writer's file is removed");
        return None;
    }
    Some(keep(root, &folder, name, path))
}

/// Moves a temporary file from the folder of `path` to the folder of recovered texts. If that fails, it stays where it
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
        match sys::move_new(folder, temporary, &recovered, &name) {
            Ok(()) => {
                let synced = sys::sync_folder(&recovered).and_then(|()| sys::sync_folder(folder));
                if let Err(error) = synced {
                    tracing::warn!(%error, %name, "a recovered text may not survive a power cut");
                }
                return Some(format!("{place}/{name}"));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                tracing::warn!(%error, temporary, "a text of somebody else stays in a temporary file");
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
