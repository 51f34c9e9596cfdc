//! What a host does for the protocol: a few operations on small files, a clock and a pause.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use crate::Record;

/// The files of the locks, as a host opens them.
///
/// A path is relative to the root of the store, such as `.saddlebag/locks-3/09`. No link below the root is followed.
/// Nothing here needs a sync.
pub trait LockFiles {
    /// Error of the host.
    type Error;

    /// Returns the content of a file; `None` if it does not exist. An error counts as a lock that is held.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has a second name.
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Self::Error>;

    /// Returns the contents of these files of a folder, in their order, as [`read`](Self::read) does.
    ///
    /// # Errors
    ///
    /// Those of [`read`](Self::read).
    fn read_several(&self, folder: &str, names: &[String]) -> Result<Vec<Option<Vec<u8>>>, Self::Error> {
        names.iter().map(|name| self.read(&format!("{folder}/{name}"))).collect()
    }

    /// Writes over the first bytes of a file, which is not cut. Returns false if it does not exist.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or has a second name.
    fn write(&self, path: &str, bytes: &[u8]) -> Result<bool, Self::Error>;

    /// Creates a file of this content, of mode 0600. Returns false if the name is taken (`O_EXCL`). Others may see the file
    /// before it has its content.
    ///
    /// # Errors
    ///
    /// The file cannot be created or written.
    fn create(&self, path: &str, content: &[u8]) -> Result<bool, Self::Error>;

    /// Returns the names in a folder as they were at one moment; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// The folder cannot be listed.
    fn list(&self, folder: &str) -> Result<Option<Vec<String>>, Self::Error>;

    /// Removes a file; it is not an error if it is gone.
    ///
    /// # Errors
    ///
    /// The file cannot be removed.
    fn remove(&self, path: &str) -> Result<(), Self::Error>;

    /// Creates a folder and those above it; it is not an error if they exist.
    ///
    /// # Errors
    ///
    /// A folder cannot be created.
    fn make_folder(&self, path: &str) -> Result<(), Self::Error>;

    /// Returns the time of a monotonic clock, which runs on while the process is stopped.
    fn now(&self) -> Duration;

    /// Waits about this long.
    fn pause(&self, time: Duration);

    /// Carries out the record of a holder that died. Another host may do the same at the same time, or before.
    fn clean_up(&self, record: &Record<'_>);
}

/// Kernel locks (`flock`, on Windows `LockFileEx`), which end with their process.
pub trait KernelLocks: LockFiles {
    /// An open lock file. Dropping it releases its lock.
    type File;

    /// Opens a lock file, and creates it with mode 0600 if it is missing.
    ///
    /// # Errors
    ///
    /// The file cannot be opened or created.
    fn open(&self, path: &str) -> Result<Self::File, Self::Error>;

    /// Takes the kernel lock. Returns false if another process, or another open file of this one, has it.
    ///
    /// # Errors
    ///
    /// The file system has no locks.
    fn try_lock(&self, file: &Self::File) -> Result<bool, Self::Error>;

    /// Returns true if the open file is the one at `path`.
    ///
    /// # Errors
    ///
    /// The path cannot be looked at.
    fn is_at(&self, file: &Self::File, path: &str) -> Result<bool, Self::Error>;

    /// Returns the content of an open lock file.
    ///
    /// # Errors
    ///
    /// As of [`read`](LockFiles::read).
    fn read_open(&self, file: &Self::File) -> Result<Vec<u8>, Self::Error>;

    /// Writes over the bytes of an open lock file from `offset` on, by one call.
    ///
    /// # Errors
    ///
    /// As of [`write`](LockFiles::write). The host cuts the file to nothing, so that it does not show the state of an earlier
    /// holder.
    fn write_open(&self, file: &Self::File, offset: u64, bytes: &[u8]) -> Result<(), Self::Error>;
}
