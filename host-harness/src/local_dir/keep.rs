//! Keeping the bytes that a change replaces or removes: the old file moves to another path.

use std::fs::File;
use std::io::{self, Read, Write};

use cap_std::fs::Dir;
use saddlebag::protocol::FsError;
use saddlebag::store::RelPath;

use super::dir::LocalDir;
use super::error::{not_durable, refusal};
use super::permit::Permit;
use super::sys::{self, Access, Stat};
use super::walk;
use crate::Durability;

/// Time after its last change in which a file may not be on the disk yet, in nanoseconds. Systems write changed files within
/// about half a minute by themselves.
const UNWRITTEN: i64 = 120_000_000_000;

/// Path under which the bytes of a file are kept, opened.
pub(super) struct Keep<'d> {
    pub(super) path: &'d RelPath,
    folder: Dir,
    name: &'d str,
    /// True if the path is in another folder than the file.
    is_elsewhere: bool,
}

impl<'d> Keep<'d> {
    /// Opens `keep_as` for the file `name`, which was `found` in `folder`. Creates missing folders.
    pub(super) fn open(
        store: &LocalDir,
        keep_as: &'d RelPath,
        path: &RelPath,
        (folder, name): (&Dir, &str),
        found: &Stat,
    ) -> Result<Self, FsError> {
        let (kept_folder, kept_name) = walk::make(&store.root, keep_as, store.options.durability)?;
        walk::probe(&kept_folder, kept_name)?;
        // An editor may not have synced the file, and its bytes must be as durable as the change.
        if store.options.durability == Durability::Full && sys::now().saturating_sub(found.modified) < UNWRITTEN {
            let synced = sys::open_file(folder, name, Access::Flush).and_then(|file| sys::sync_file(&file));
            match synced {
                // Removed by hand since it was looked at.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                synced => synced.map_err(refusal)?,
            }
        }
        let is_elsewhere = keep_as.parent() != path.parent();
        Ok(Self { path: keep_as, folder: kept_folder, name: kept_name, is_elsewhere })
    }

    /// Moves the file `name` of `folder`, which has the bytes, to the path, in one step.
    pub(super) fn take(&self, permit: Permit<'_>, folder: &Dir, name: &str) -> io::Result<()> {
        sys::replace_across(permit, folder, name, &self.folder, self.name)
    }

    /// Syncs the new name, and moves the record of an earlier failed sync of the file at `path` with the bytes.
    pub(super) fn confirm(&self, store: &LocalDir, path: &RelPath) -> Result<(), FsError> {
        if store.options.durability == Durability::Fast {
            return Ok(());
        }
        if store.unsynced().contains(&store.root, path) {
            store.unsynced().add(&store.root, self.path);
        } else {
            store.unsynced().remove(&store.root, self.path);
        }
        // The folder of the file is synced after it: at worst a power cut leaves both names.
        if self.is_elsewhere { sys::sync_folder(&self.folder).map_err(not_durable) } else { Ok(()) }
    }
}

/// Gives the file `name` the second name `second`. On a file system without hard links, or if `is_copied`, that is a copy.
pub(super) fn name_twice(
    folder: &Dir,
    name: &str,
    second: &str,
    is_copied: bool,
    durability: Durability,
) -> io::Result<()> {
    if !is_copied {
        match folder.hard_link(name, folder, second) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {}
            result => return result,
        }
    }
    let mut bytes = Vec::new();
    let mut file = sys::open_file(folder, name, Access::Read)?;
    file.read_to_end(&mut bytes)?;
    let mut copy = sys::open_file(folder, second, Access::WriteNew)?;
    let filled = fill_copy(&mut copy, &bytes, &sys::stat_of(&file)?, durability);
    if filled.is_err() {
        let _ = folder.remove_file(second);
    }
    filled
}

fn fill_copy(copy: &mut File, bytes: &[u8], old: &Stat, durability: Durability) -> io::Result<()> {
    sys::take_over(copy, old)?;
    copy.write_all(bytes)?;
    if durability == Durability::Full { sys::sync_file(copy) } else { Ok(()) }
}
