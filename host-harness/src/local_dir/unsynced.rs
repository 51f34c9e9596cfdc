//! Files that could not be synced, so that nothing later relies on their bytes.
//!
//! After a sync has failed, the system may mark the bytes in its cache as clean: they can be read, the next sync
//! succeeds, and yet they are not on the disk. So such a file is written again, to new blocks, before any further
//! operation on it is acknowledged.
//!
//! Each such file has a marker in `unsynced` beside the lock files, for other processes. It need not survive a power cut,
//! which empties the cache as well.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cap_std::fs::Dir;
use saddlebag::store::RelPath;
use sha2::{Digest, Sha256};

use super::protocol;
use super::sys::{self, Access};

/// Files of a store that could not be synced.
#[derive(Debug, Default)]
pub(super) struct Unsynced {
    /// Paths that this process knows of.
    known: Mutex<BTreeSet<String>>,
}

impl Unsynced {
    /// Reads the markers of other processes.
    pub(super) fn load(root: &Dir) -> Self {
        let mut known = BTreeSet::new();
        if let Some(folder) = protocol::markers(root) {
            for sys::Name { text: name, .. } in sys::names(&folder).unwrap_or_default() {
                let mut path = String::new();
                let read = sys::open_file(&folder, &name, Access::Read).and_then(|file| {
                    let longest = saddlebag::store::MAX_PATH_BYTES as u64;
                    file.take(longest).read_to_string(&mut path)
                });
                if read.is_ok() {
                    known.insert(path);
                }
            }
        }
        Self { known: Mutex::new(known) }
    }

    /// Returns true if this process knows that the file could not be synced. Makes no system call.
    pub(super) fn is_known(&self, path: &RelPath) -> bool {
        let known = self.known();
        known.contains(path.as_str())
    }

    /// Returns true if this process or another could not sync the file. The caller holds its lock.
    pub(super) fn contains(&self, root: &Dir, path: &RelPath) -> bool {
        self.is_known(path)
            || protocol::markers(root).is_some_and(|folder| sys::stat_at(&folder, &marker(path.as_str())).is_ok())
    }

    /// Records that the file could not be synced. The caller holds its lock.
    pub(super) fn add(&self, root: &Dir, path: &RelPath) {
        if let Err(error) = leave_marker(root, path.as_str()) {
            // A failing disk may refuse the marker too. Then only this process knows.
            tracing::warn!(%error, %path, "other programs cannot be told that the file was not synced");
        }
        self.known().insert(path.as_str().to_owned());
    }

    /// Removes the record of a file that was written again and synced, or is gone. The caller holds its lock.
    pub(super) fn remove(&self, root: &Dir, path: &RelPath) {
        self.known().remove(path.as_str());
        if let Some(folder) = protocol::markers(root) {
            // A marker that stays costs one more rewrite of the file.
            let _ = folder.remove_file(marker(path.as_str()));
        }
    }

    fn known(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn leave_marker(root: &Dir, marked: &str) -> io::Result<()> {
    let folder = protocol::make_markers(root).map_err(io::Error::other)?;
    match sys::open_file(&folder, &marker(marked), Access::WriteNew) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        file => file?.write_all(marked.as_bytes()),
    }
}

fn marker(marked: &str) -> String {
    Sha256::digest(marked).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
