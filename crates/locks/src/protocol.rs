//! The lock protocol of a store, and the files that keep hosts of earlier ones out.

use alloc::format;
use alloc::string::String;

use crate::files::LockFiles;
use crate::names::Number;

/// Number of the protocol.
pub const PROTOCOL: u32 = 3;

/// Folder of the lock files.
pub const LOCKS_FOLDER: &str = ".saddlebag/locks-3";

/// Folder of the leases.
pub(crate) const LEASES_FOLDER: &str = ".saddlebag/locks-3/leases";

/// Folders of the protocols 1 and 2. A file of this name refuses their hosts.
pub const EARLIER_FOLDERS: [&str; 2] = [".saddlebag/locks", ".saddlebag/locks-2"];

/// First line of such a file, without the number.
const TITLE: &str = "lock protocol ";

/// Returns the path of a lock file.
pub(crate) fn lock_file(number: Number) -> String {
    format!("{LOCKS_FOLDER}/{number}")
}

/// Returns the content of a file that refuses hosts of an earlier protocol.
#[must_use]
pub fn refusal() -> String {
    format!(
        "{TITLE}{PROTOCOL}\nThe locks of this store are in `locks-{PROTOCOL}`. A program that needs a folder of this name is \
         too old to change the store: use a newer release.\n"
    )
}

/// Returns the protocol that a file in the place of a folder names.
#[must_use]
pub fn protocol_of(content: &[u8]) -> Option<u32> {
    core::str::from_utf8(content).ok()?.lines().next()?.strip_prefix(TITLE)?.parse().ok()
}

/// Why a host cannot join the protocol of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JoinError<E> {
    /// A host of an earlier protocol has used the store, and its folder must be taken over.
    Earlier,
    /// The store has a later protocol.
    Later(u32),
    /// Error of the host.
    Files(E),
}

/// Joins the protocol of a store, before the first change. Creates the folder of the locks, and the files that refuse hosts of
/// earlier protocols.
///
/// # Errors
///
/// [`JoinError`] if the store has another protocol, or an error of the host.
pub fn join<F: LockFiles>(files: &F) -> Result<(), JoinError<F::Error>> {
    files.make_folder(".saddlebag").map_err(JoinError::Files)?;
    for folder in EARLIER_FOLDERS {
        let is_new = files.create(folder, refusal().as_bytes()).map_err(JoinError::Files)?;
        if !is_new && matches!(files.list(folder), Ok(Some(_))) {
            return Err(JoinError::Earlier);
        }
    }
    files.make_folder(LOCKS_FOLDER).map_err(|error| match files.read(LOCKS_FOLDER) {
        Ok(Some(content)) => protocol_of(&content).map_or(JoinError::Files(error), JoinError::Later),
        _ => JoinError::Files(error),
    })
}
