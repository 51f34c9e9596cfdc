//! The lock protocol: which lock files the hosts of a store share.
//!
//! Hosts of two protocols would not keep each other out, so a store has one. Where an earlier protocol had its folder, there is a
//! file: a host of that protocol cannot open its locks, and each change that it tries is refused.
//!
//! The first change of a host makes these files, or takes the folders of earlier protocols over ([`takeover`](super::takeover)).

use std::io;

use cap_std::fs::Dir;
use saddlebag::protocol::FsError;
use saddlebag_locks::{EARLIER_FOLDERS, JoinError, LOCKS_FOLDER, LockFiles, PROTOCOL, protocol_of};

use super::error::refusal;
use super::walk;
use crate::Durability;

/// Folder of the markers of files that could not be synced, beside the lock files.
pub(super) const MARKERS_FOLDER: &str = "unsynced";

/// Joins the protocol of the store. Returns false if it has the folder of an earlier one.
pub(super) fn join(locks: &impl LockFiles<Error = FsError>) -> Result<bool, FsError> {
    match saddlebag_locks::join(locks) {
        Ok(()) => Ok(true),
        Err(JoinError::Earlier) => Ok(false),
        Err(JoinError::Later(number)) => Err(later(number)),
        Err(JoinError::Files(error)) => Err(error),
    }
}

/// Opens the folder of the lock files of this protocol, which is created if it is missing, or of an earlier one.
pub(super) fn folder(root: &Dir, locks: &impl LockFiles<Error = FsError>, path: &str) -> Result<Dir, FsError> {
    match walk::find_folder(root, path) {
        Ok(Some(folder)) => Ok(folder),
        Ok(None) if path != LOCKS_FOLDER => Err(refusal(io::ErrorKind::NotFound.into())),
        // A person has deleted the state of the store since this host joined the protocol.
        Ok(None) if join(locks)? => walk::make_folder(root, path, Durability::Fast),
        Ok(None) => Err(FsError::Other("a program of an earlier release uses this store; end it and try again".into())),
        Err(FsError::NotDirectory) => Err(match locks.read(path) {
            Ok(Some(content)) => protocol_of(&content).map_or(FsError::NotDirectory, later),
            _ => FsError::NotDirectory,
        }),
        Err(error) => Err(error),
    }
}

/// Opens the folder of the markers of files that could not be synced. Before the first change, those of hosts of earlier
/// protocols count.
pub(super) fn markers(root: &Dir) -> Option<Dir> {
    let folder = |path: &str| walk::find_folder(root, path).ok().flatten();
    let locks = [LOCKS_FOLDER].into_iter().chain(EARLIER_FOLDERS.into_iter().rev()).find_map(folder)?;
    walk::find_folder(&locks, MARKERS_FOLDER).ok().flatten()
}

/// Makes the folder of the markers.
pub(super) fn make_markers(root: &Dir) -> Result<Dir, FsError> {
    walk::make_folder(root, &format!("{LOCKS_FOLDER}/{MARKERS_FOLDER}"), Durability::Fast)
}

/// Returns the refusal of a store that has a later protocol.
fn later(number: u32) -> FsError {
    FsError::Other(format!(
        "this store has lock protocol {number}, and this program knows {PROTOCOL}; use a newer release of the program"
    ))
}
