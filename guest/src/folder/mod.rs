//! [`Folder`]: a folder of the disk, through `std::fs`, natively or on WASI with the folder preopened.

mod disk;

use std::path::Path;

use saddlebag::protocol::{FsError, RemoveDirectoryOutcome};
use saddlebag::store::RelPath;
use sha2::{Digest, Sha256};

use crate::executor::{hex, version_of};
use crate::storage::{Attempt, Described, Found, Move, Replace, Storage};
use disk::{Disk, above};

/// Folder of the markers of files that could not be synced.
const UNSYNCED: &str = ".saddlebag/locks-3/unsynced";

/// A [`Storage`] in a folder.
pub struct Folder {
    disk: Disk,
    only_hosts_write: bool,
    random: fn() -> u64,
    count: u64,
    /// Records of the change that is being made, for whoever finds the lock of a dead holder.
    record: String,
}

impl Folder {
    /// Uses a folder, which must exist. `random` makes names of temporary files.
    ///
    /// # Errors
    ///
    /// The path is not a folder.
    pub fn open(root: &Path, random: fn() -> u64) -> Result<Self, FsError> {
        if !root.is_dir() {
            return Err(FsError::NotDirectory);
        }
        Ok(Self { disk: Disk::new(root), only_hosts_write: false, random, count: 0, record: String::new() })
    }

    /// Says that only hosts of the lock protocol change files, so that the locks tell whether anything changed.
    #[must_use]
    pub fn only_hosts_write(self, only_hosts_write: bool) -> Self {
        Self { only_hosts_write, ..self }
    }

    fn note(&mut self, record: String) -> Result<(), FsError> {
        self.record = record;
        Ok(())
    }

    /// Directly before a step that changes a file: returns false if the lock was lost.
    fn is_locked(&mut self) -> Result<bool, FsError> {
        Ok(true)
    }

    fn temporary(&mut self, path: &str) -> String {
        self.count += 1;
        let name = format!(".saddlebag-guest-{}-{:016x}.tmp", self.count, (self.random)());
        if above(path).is_empty() { name } else { format!("{}/{name}", above(path)) }
    }

    /// Puts a new file in the place of an old one, or creates it. The temporary files stay if this fails.
    fn place(&mut self, change: &Replace<'_>, temporary: &str, second: &str) -> Result<Attempt, FsError> {
        let (path, keep_as) = (change.path.as_str(), change.keep_as.map(RelPath::as_str));
        let model = if change.old.is_some() { Some(path) } else { change.like.map(RelPath::as_str) };
        self.disk.create(temporary, change.new, model, true)?;
        if keep_as.is_some() {
            // An editor may not have synced it.
            self.disk.sync_file(path)?;
            self.second_name(path, second)?;
        }
        // Editors take no lock: one more look.
        if !self.is_locked()? || !self.is_still(path, change.old)? {
            return Ok(Attempt::Lost);
        }
        if change.old.is_some() {
            self.disk.rename(temporary, path)?;
        } else if !self.place_new(temporary, path)? {
            return Ok(Attempt::Lost);
        }
        if let Some(keep_as) = keep_as
            && let Err(error) = self.keep(second, keep_as)
        {
            self.disk.rename(second, path)?;
            return Err(error);
        }
        Ok(Attempt::Done)
    }

    /// Gives the old file a second name; a copy where there are no second names.
    fn second_name(&mut self, path: &str, second: &str) -> Result<(), FsError> {
        match self.disk.link(path, second) {
            Ok(true) => Ok(()),
            Ok(false) => Err(FsError::Other("the name of a temporary file is taken; try again".into())),
            Err(_) => {
                let old = self.disk.read(path)?.map(|old| old.bytes).unwrap_or_default();
                self.disk.create(second, &old, Some(path), true)
            }
        }
    }

    /// Moves a file to the path where it is kept, in place of the file there.
    fn keep(&mut self, from: &str, keep_as: &str) -> Result<(), FsError> {
        self.disk.make_folder(above(keep_as))?;
        self.disk.is_file(keep_as)?;
        self.disk.rename(from, keep_as)
    }

    /// Moves a file to a free path. Returns false if it is taken.
    fn place_new(&mut self, from: &str, to: &str) -> Result<bool, FsError> {
        match self.disk.link(from, to) {
            Ok(true) => self.disk.remove(from).map(|()| true),
            Ok(false) => Ok(false),
            // Where there are no second names, only hosts of the lock protocol can be kept from a name that was free.
            Err(_) if self.disk.kind(to)?.is_none() => self.disk.rename(from, to).map(|()| true),
            Err(_) => Ok(false),
        }
    }

    fn is_still(&self, path: &str, old: Option<&[u8]>) -> Result<bool, FsError> {
        let found = self.disk.read(path)?;
        Ok(found.as_ref().map(|found| found.bytes.as_slice()) == old)
    }

    /// Makes a change survive a power cut. If that fails, the change stays and is marked.
    fn sync(&mut self, path: &str, folders: &[&str]) -> Result<(), FsError> {
        for (at, folder) in folders.iter().enumerate() {
            if folders[..at].contains(folder) {
                continue;
            }
            if let Err(error) = self.disk.sync_folder(folder) {
                self.mark(path, true);
                return Err(FsError::NotDurable(error.to_string()));
            }
        }
        Ok(())
    }

    fn is_unsynced(&self, path: &str) -> Result<bool, FsError> {
        let marker = marker(path);
        Ok(self.disk.is_above(&marker)? && self.disk.kind(&marker)?.is_some())
    }

    /// Sets or removes the marker that tells other hosts. A disk that fails may not take it either.
    fn mark(&mut self, path: &str, unsynced: bool) {
        let marker = marker(path);
        if self.is_unsynced(path).is_ok_and(|found| found != unsynced) {
            let _ = if unsynced {
                self.disk.make_folder(UNSYNCED).and_then(|()| self.disk.create(&marker, path.as_bytes(), None, true))
            } else {
                self.disk.remove(&marker)
            };
        }
    }

    /// Writes a marked file again, to new blocks of the disk.
    fn settle(&mut self, path: &RelPath) -> Result<(), FsError> {
        if !self.is_unsynced(path.as_str())? {
            return Ok(());
        }
        self.lock(&[path])?;
        let settled = match self.disk.read(path.as_str()) {
            Ok(Some(old)) => {
                let old = old.bytes.as_slice();
                let change = Replace { path, old: Some(old), new: old, keep_as: None, like: None };
                self.replace(&change).map(|_| ())
            }
            Ok(None) => {
                self.mark(path.as_str(), false);
                Ok(())
            }
            Err(error) => Err(error),
        };
        self.unlock();
        settled
    }
}

impl Storage for Folder {
    fn lock(&mut self, _paths: &[&RelPath]) -> Result<(), FsError> {
        Ok(())
    }

    fn unlock(&mut self) {}

    fn read(&mut self, path: &RelPath) -> Result<Option<Vec<u8>>, FsError> {
        Ok(self.disk.read(path.as_str())?.map(|content| content.bytes))
    }

    fn settled(&mut self, path: &RelPath) -> Result<(), FsError> {
        self.settle(path)
    }

    fn list(&mut self, folder: Option<&RelPath>) -> Result<Vec<Found>, FsError> {
        self.disk.list(folder.map_or("", RelPath::as_str))
    }

    fn describe(&mut self, path: &RelPath) -> Result<Option<Described>, FsError> {
        Ok(match self.disk.read_checked(path.as_str()) {
            Ok(Some(content)) => Some(Described {
                size: content.bytes.len() as u64,
                version: Some(version_of(&content.bytes).0),
                modified: content.modified,
            }),
            Ok(None) => None,
            // It must not hide the others.
            Err(_) => Some(Described { size: 0, version: None, modified: 0 }),
        })
    }

    fn replace(&mut self, change: &Replace<'_>) -> Result<Attempt, FsError> {
        let path = change.path.as_str();
        self.disk.make_folder(above(path))?;
        if let Some(keep_as) = change.keep_as {
            self.disk.is_file(keep_as.as_str())?;
        }
        let temporary = self.temporary(path);
        let second = second_name(&temporary);
        self.note(match change.keep_as {
            Some(keep_as) => format!("keeping\t{temporary}\t{path}\t{keep_as}\n"),
            None => format!("staged\t{temporary}\t{path}\n"),
        })?;
        let placed = self.place(change, &temporary, &second);
        if placed != Ok(Attempt::Done) {
            // Nothing else has these names, and a name that stays is never listed.
            let _ = self.disk.remove(&second);
            let _ = self.disk.remove(&temporary);
            return placed;
        }
        if let Some(keep_as) = change.keep_as {
            self.mark(keep_as.as_str(), self.is_unsynced(path)?);
            self.sync(path, &[above(keep_as.as_str()), above(path)])?;
        } else {
            self.sync(path, &[above(path)])?;
        }
        self.mark(path, false);
        Ok(Attempt::Done)
    }

    fn remove(
        &mut self,
        path: &RelPath,
        old: &[u8],
        keep_as: Option<&RelPath>,
        may_return: bool,
    ) -> Result<Attempt, FsError> {
        let path = path.as_str();
        if keep_as.is_some() {
            self.disk.sync_file(path)?;
        }
        if !self.is_locked()? || !self.is_still(path, Some(old))? {
            return Ok(Attempt::Lost);
        }
        match keep_as {
            Some(keep_as) => {
                self.keep(path, keep_as.as_str())?;
                self.mark(keep_as.as_str(), self.is_unsynced(path)?);
            }
            None => self.disk.remove(path)?,
        }
        self.mark(path, false);
        if !may_return {
            let kept = keep_as.map_or(above(path), |keep_as| above(keep_as.as_str()));
            self.sync(path, &[kept, above(path)])?;
        }
        Ok(Attempt::Done)
    }

    fn rename(&mut self, path: &RelPath, to: &RelPath, old: &[u8]) -> Result<Move, FsError> {
        let (path, to) = (path.as_str(), to.as_str());
        self.disk.make_folder(above(to))?;
        if self.disk.kind(to)?.is_some() {
            return Ok(Move::Exists);
        }
        if !self.is_locked()? || !self.is_still(path, Some(old))? {
            return Ok(Move::Attempt(Attempt::Lost));
        }
        if !self.place_new(path, to)? {
            return Ok(Move::Exists);
        }
        self.mark(to, self.is_unsynced(path)?);
        self.mark(path, false);
        self.sync(to, &[above(to), above(path)])?;
        Ok(Move::Attempt(Attempt::Done))
    }

    fn make_directory(&mut self, path: &RelPath) -> Result<(), FsError> {
        self.disk.make_folder(path.as_str())
    }

    fn remove_directory(&mut self, path: &RelPath) -> Result<RemoveDirectoryOutcome, FsError> {
        if !self.disk.is_folder(path.as_str())? {
            return Ok(RemoveDirectoryOutcome::Absent);
        }
        if !self.disk.remove_folder(path.as_str())? {
            return Ok(RemoveDirectoryOutcome::NotEmpty);
        }
        self.sync(path.as_str(), &[above(path.as_str())])?;
        Ok(RemoveDirectoryOutcome::Removed)
    }

    fn generation(&mut self) -> Result<String, FsError> {
        Err(FsError::Unsupported)
    }
}

/// Returns the path of the marker of a file that could not be synced.
fn marker(path: &str) -> String {
    let digest = hex(&Sha256::digest(path));
    format!("{UNSYNCED}/{}", &digest[..32])
}

/// Returns the name that an old file has beside the new one until it is kept.
fn second_name(temporary: &str) -> String {
    format!("{}-old.tmp", temporary.trim_end_matches(".tmp"))
}
