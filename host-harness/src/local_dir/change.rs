//! Removing, renaming, creating folders and removing empty ones.

use std::io;

use cap_std::fs::Dir;
use saddlebag::protocol::{FsError, FsOp, Precondition, RemoveDirectoryOutcome, RemoveOutcome, RenameOutcome};
use saddlebag::store::RelPath;

use super::dir::LocalDir;
use super::error::{Failed, failed, not_durable, refusal};
use super::keep::Keep;
use super::version::{self, Check};
use super::{sys, walk};
use crate::Durability;

impl LocalDir {
    pub(super) fn remove(
        &self,
        path: &RelPath,
        precondition: &Precondition,
        keep_as: Option<&RelPath>,
        may_return: bool,
    ) -> Result<RemoveOutcome, FsError> {
        let paths: Vec<&RelPath> = [path].into_iter().chain(keep_as).collect();
        self.change(&paths, |guard| {
            let Some((folder, name)) = walk::find(&self.root, path)? else {
                return Ok(RemoveOutcome::Done);
            };
            let Some(found) = walk::probe(&folder, name)? else {
                return Ok(RemoveOutcome::Done);
            };
            match version::check(&folder, name, Some(&found), precondition)? {
                Check::Holds => {}
                Check::Stale(Some(current)) => return Ok(RemoveOutcome::Stale(current)),
                Check::Stale(None) => return Ok(RemoveOutcome::Done),
            }
            let keep = keep_as.map(|keep_as| Keep::open(self, keep_as, path, (&folder, name), &found)).transpose()?;
            #[cfg(test)]
            self.before_placing.call();
            match &keep {
                None => sys::remove(guard.check()?, &folder, name),
                Some(keep) => keep.take(guard.check()?, &folder, name),
            }
            .map_err(failed)?;
            // If both paths are names of one file, a rename does nothing.
            if keep.is_some() && found.links > 1 && sys::stat_at(&folder, name).is_ok_and(|stat| stat.same_file(&found))
            {
                sys::remove(guard.check()?, &folder, name).map_err(failed)?;
            }
            if let Some(keep) = &keep {
                keep.confirm(self, path)?;
            }
            self.unsynced().remove(&self.root, path);
            if !may_return {
                self.sync(&folder)?;
            }
            Ok(RemoveOutcome::Done)
        })
    }

    pub(super) fn rename(
        &self,
        from: &RelPath,
        to: &RelPath,
        precondition: &Precondition,
    ) -> Result<RenameOutcome, FsError> {
        self.change(&[from, to], |guard| {
            let Some((old_folder, old_name)) = walk::find(&self.root, from)? else {
                return Ok(RenameOutcome::Absent);
            };
            let Some(found) = walk::probe(&old_folder, old_name)? else {
                return Ok(RenameOutcome::Absent);
            };
            match version::check(&old_folder, old_name, Some(&found), precondition)? {
                Check::Holds => {}
                Check::Stale(Some(current)) => return Ok(RenameOutcome::Stale(current)),
                Check::Stale(None) => return Ok(RenameOutcome::Absent),
            }
            let (new_folder, new_name) = walk::make(&self.root, to, self.options.durability)?;
            #[cfg(test)]
            self.before_placing.call();
            match sys::move_new(guard.check()?, &old_folder, old_name, &new_folder, new_name) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    return Ok(RenameOutcome::Exists);
                }
                Err(error) => return Err(failed(error)),
            }
            // Bytes that were not synced under the old name are not synced under the new one either.
            if self.unsynced().contains(&self.root, from) {
                self.unsynced().add(&self.root, to);
                self.unsynced().remove(&self.root, from);
            }
            // The new name is synced first: at worst a power cut leaves both.
            self.sync(&new_folder)?;
            self.sync(&old_folder)?;
            Ok(RenameOutcome::Done)
        })
    }

    /// Moves a folder to a free name in the same folder, in one step.
    pub(crate) fn move_folder(&self, from: &RelPath, to: &RelPath) -> Result<RenameOutcome, FsError> {
        self.check_root(&FsOp::MakeDirectory { path: to.clone() })?;
        let found = |path| match walk::find(&self.root, path)? {
            Some((folder, name)) => Ok(walk::find_folder(&folder, name)?.map(|_| (folder, name))),
            None => Ok::<_, FsError>(None),
        };
        // No writer is at work in the folder.
        let guard = self.lock_all()?;
        let Some((old_folder, old_name)) = found(from)? else { return Ok(RenameOutcome::Absent) };
        let (new_folder, new_name) = walk::make(&self.root, to, self.options.durability)?;
        match sys::move_new(guard.check().map_err(Failed::into_answer)?, &old_folder, old_name, &new_folder, new_name) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(RenameOutcome::Exists),
            Err(error) => return Err(refusal(error)),
        }
        self.sync(&new_folder)?;
        self.sync(&old_folder)?;
        Ok(RenameOutcome::Done)
    }

    pub(super) fn make_directory(&self, path: &RelPath) -> Result<(), FsError> {
        walk::make_folder(&self.root, path.as_str(), self.options.durability).map(|_| ())
    }

    pub(super) fn remove_directory(&self, path: &RelPath) -> Result<RemoveDirectoryOutcome, FsError> {
        let (folder, name) = match walk::find(&self.root, path)? {
            Some((folder, name)) if walk::find_folder(&folder, name)?.is_some() => (folder, name),
            _ => return Ok(RemoveDirectoryOutcome::Absent),
        };
        // It takes no lock. A writer that has opened the folder, and finds that it is gone, begins again.
        walk::clear_ignored(&folder, name);
        match folder.remove_dir(name) {
            Ok(()) => {
                self.sync(&folder)?;
                Ok(RemoveDirectoryOutcome::Removed)
            }
            Err(error) => match error.kind() {
                io::ErrorKind::DirectoryNotEmpty => Ok(RemoveDirectoryOutcome::NotEmpty),
                io::ErrorKind::NotFound => Ok(RemoveDirectoryOutcome::Absent),
                io::ErrorKind::NotADirectory => Err(FsError::NotDirectory),
                _ => Err(refusal(error)),
            },
        }
    }

    fn sync(&self, folder: &Dir) -> Result<(), FsError> {
        match self.options.durability {
            Durability::Full => sys::sync_folder(folder).map_err(not_durable),
            Durability::Fast => Ok(()),
        }
    }
}
