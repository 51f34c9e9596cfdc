//! The lock protocol: which lock files the hosts of a store share.
//!
//! Hosts of two protocols would not keep each other out, so a store has one. The first change of a host makes the folder of its
//! lock files. A later protocol puts a file in its place, and each change is refused.

use cap_std::fs::Dir;
use saddlebag::protocol::FsError;
use saddlebag_locks::{JoinError, LOCKS_FOLDER, LockFiles, PROTOCOL};

use super::walk;
use crate::Durability;

/// Folder of the markers of files that could not be synced, beside the lock files.
const MARKERS_FOLDER: &str = "unsynced";

/// Joins the protocol of the store, or refuses to if it is a later one.
pub(super) fn join(locks: &impl LockFiles<Error = FsError>) -> Result<(), FsError> {
    saddlebag_locks::join(locks).map_err(|error| match error {
        JoinError::Later(number) => FsError::Other(format!(
            "this store has lock protocol {number}, and this program knows {PROTOCOL}; use a newer release of the program"
        )),
        JoinError::Files(error) => error,
    })
}

/// Opens the folder of the lock files. A person may have deleted it since this host joined the protocol.
pub(super) fn folder(root: &Dir, locks: &impl LockFiles<Error = FsError>) -> Result<Dir, FsError> {
    match walk::find_folder(root, LOCKS_FOLDER) {
        Ok(Some(folder)) => Ok(folder),
        Ok(None) | Err(FsError::NotDirectory) => {
            join(locks)?;
            walk::make_folder(root, LOCKS_FOLDER, Durability::Fast)
        }
        Err(error) => Err(error),
    }
}

/// Opens the folder of the markers of files that could not be synced.
pub(super) fn markers(root: &Dir) -> Option<Dir> {
    let locks = walk::find_folder(root, LOCKS_FOLDER).ok().flatten()?;
    walk::find_folder(&locks, MARKERS_FOLDER).ok().flatten()
}

/// Makes the folder of the markers.
pub(super) fn make_markers(root: &Dir) -> Result<Dir, FsError> {
    walk::make_folder(root, &format!("{LOCKS_FOLDER}/{MARKERS_FOLDER}"), Durability::Fast)
}
