//! The files of the locks, as the lock protocol asks for them, and what dead holders left.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use saddlebag::protocol::FsError;
use saddlebag_locks::{LockFiles, Record, second_name};

use super::disk::{Disk, above};
use crate::storage::Name;

/// Folder for text that was found in temporary files.
const RECOVERED: &str = ".saddlebag/recovered";

/// The files of the locks of a folder.
pub(super) struct Files {
    pub(super) disk: Disk,
    pub(super) began: Instant,
    /// Makes leases survive a power cut, so that a token of the store never comes back.
    pub(super) synced: bool,
}

impl LockFiles for Files {
    type Error = FsError;

    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, FsError> {
        self.disk.refuse_second_name(path)?;
        Ok(self.disk.read(path)?.map(|content| content.bytes))
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<bool, FsError> {
        self.disk.refuse_second_name(path)?;
        self.disk.overwrite(path, bytes)
    }

    fn create(&self, path: &str, content: &[u8]) -> Result<bool, FsError> {
        self.disk.is_above(path)?;
        match self.disk.create_new(path, content, None, self.synced) {
            Ok(()) if self.synced => self.disk.sync_folder(above(path)).map(|()| true),
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(super::disk::fs_error(error)),
        }
    }

    fn list(&self, folder: &str) -> Result<Option<Vec<String>>, FsError> {
        if !self.disk.is_folder(folder)? {
            return Ok(None);
        }
        let found = self.disk.list(folder)?.into_iter();
        Ok(Some(found.filter_map(|found| if let Name::Text(name) = found.name { Some(name) } else { None }).collect()))
    }

    fn remove(&self, path: &str) -> Result<(), FsError> {
        if self.disk.is_above(path)? { self.disk.remove(path) } else { Ok(()) }
    }

    fn make_folder(&self, path: &str) -> Result<(), FsError> {
        self.disk.make_folder(path)
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }

    fn clean_up(&self, record: &Record<'_>) {
        // What fails here was done by somebody else, or stays under a name that is not listed.
        let _ = self.carry_out(record);
    }
}

impl Files {
    fn carry_out(&self, record: &Record<'_>) -> Result<(), FsError> {
        match record {
            Record::Staged { temporary, .. } => self.remove(temporary),
            Record::Placing { temporary, path, new, keep_as, .. } => match keep_as {
                Some(_) if self.is_new(temporary, new) => self.remove(temporary),
                Some(keep_as) => self.keep(temporary, keep_as),
                None => self.recover(temporary, path),
            },
            Record::Keeping { temporary, keep_as, .. } => {
                let second = second_name(temporary);
                if self.disk.is_file(temporary)? {
                    self.remove(&second)?;
                    self.remove(temporary)
                } else {
                    self.keep(&second, keep_as)
                }
            }
        }
    }

    /// Returns true if a temporary file is still the new file, whose size and time of change end its name in the record. Nothing
    /// else of that name can be known here.
    fn is_new(&self, temporary: &str, new: &str) -> bool {
        let Ok(Some(content)) = self.disk.read(temporary) else { return false };
        new.ends_with(&format!(".{:x}.{:x}", content.bytes.len(), content.modified))
    }

    fn keep(&self, from: &str, keep_as: &str) -> Result<(), FsError> {
        if !saddlebag::store::RelPath::check(keep_as).is_ok_and(|()| !saddlebag_locks::is_own(keep_as)) {
            return Ok(());
        }
        if self.disk.is_file(from)? {
            self.disk.make_folder(above(keep_as))?;
            self.disk.is_file(keep_as)?;
            self.disk.rename(from, keep_as)?;
            self.disk.sync_folder(above(keep_as))?;
        }
        Ok(())
    }

    /// Moves text that may be a person's to a free name in the folder for it.
    fn recover(&self, temporary: &str, path: &str) -> Result<(), FsError> {
        if !self.disk.is_file(temporary)? {
            return Ok(());
        }
        self.disk.make_folder(RECOVERED)?;
        let stem = path.replace('/', "-");
        let stem = &stem[..stem.floor_char_boundary(60)];
        for number in 1.. {
            if self.disk.place_new(temporary, &format!("{RECOVERED}/{stem}.{number}"))? {
                break;
            }
        }
        Ok(())
    }
}
