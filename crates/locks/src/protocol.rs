//! The lock protocol of a store.

use alloc::string::String;

use crate::files::LockFiles;
use crate::names::Number;

/// Number of the protocol.
pub const PROTOCOL: u32 = 3;

/// Folder of the lock files.
pub const LOCKS_FOLDER: &str = ".saddlebag/locks-3";

/// Folder of the leases.
pub(crate) const LEASES_FOLDER: &str = ".saddlebag/locks-3/leases";

/// First line of the file that a later protocol has in the place of the folder, without the number.
const TITLE: &str = "lock protocol ";

/// Returns the path of a lock file.
pub(crate) fn lock_file(number: Number) -> String {
    format!("{LOCKS_FOLDER}/{number}")
}

/// Returns the protocol that a file in the place of the folder names.
fn protocol_of(content: &[u8]) -> Option<u32> {
    core::str::from_utf8(content).ok()?.lines().next()?.strip_prefix(TITLE)?.parse().ok()
}

/// Why a host cannot join the protocol of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JoinError<E> {
    /// The store has a later protocol.
    Later(u32),
    /// Error of the host.
    Files(E),
}

/// Joins the protocol of a store, before the first change. Creates the folder of the locks.
///
/// # Errors
///
/// [`JoinError`] if the store has a later protocol, or an error of the host.
pub fn join<F: LockFiles>(files: &F) -> Result<(), JoinError<F::Error>> {
    files.make_folder(LOCKS_FOLDER).map_err(|error| match files.read(LOCKS_FOLDER) {
        Ok(Some(content)) => protocol_of(&content).map_or(JoinError::Files(error), JoinError::Later),
        _ => JoinError::Files(error),
    })
}
