//! [`LocalDir`] itself: its root, its options, and the first steps of every operation.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use saddlebag::protocol::{FsError, FsOp};
use saddlebag::store::RelPath;
use saddlebag_locks::Number;

use super::error::{self, Failed, io_cause};
use super::leftovers::{self, Recovered};
use super::lock::{Guard, LockFolder};
#[cfg(test)]
use super::tests::Hook;
use super::unsynced::Unsynced;
#[cfg(feature = "watch")]
use super::watch::Watch;
use super::{protocol, sys};
use crate::executor::{Durability, is_read};

/// Time for which a check of the root's place is valid for reads. Changes check each time.
pub(super) const ROOT_IS_FRESH: Duration = Duration::from_millis(50);

/// Options of a [`LocalDir`].
#[derive(Clone, Debug)]
pub struct LocalDirOptions {
    /// Extent to which an acknowledged change survives.
    pub durability: Durability,
    /// Maximum number of bytes of one read; 16 MiB by default.
    pub max_read_bytes: u64,
    /// Maximum number of bytes of one write or append; 16 MiB by default.
    pub max_write_bytes: u64,
    /// Time to wait for one other writer that holds the lock of a path, before the answer is [`FsError::Locked`]; 10
    /// seconds by default. While the lock moves from one writer to the next, the wait is up to twelve times as long.
    pub lock_timeout: Duration,
    /// Called for each recovered temporary file of a writer that died.
    pub on_recovered: Option<fn(&Recovered)>,
    /// True if nothing changes the files except hosts of the lock protocol: no editor, no version control, no synchronisation with
    /// another machine. Then [`FsOp::Generation`] is answered, and memories that have seen the present state list nothing.
    /// A change by anything else would stay unseen. Only on Linux. False by default.
    pub only_hosts_write: bool,
}

impl Default for LocalDirOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Full,
            max_read_bytes: 16 * 1024 * 1024,
            max_write_bytes: 16 * 1024 * 1024,
            lock_timeout: Duration::from_secs(10),
            on_recovered: None,
            only_hosts_write: false,
        }
    }
}

/// Reason why a folder cannot be the root of a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The path does not exist.
    #[error("the store's folder `{}` does not exist; create it first", .0.display())]
    Missing(PathBuf),
    /// The path is not a folder.
    #[error("the store's folder `{}` is not a directory; give the path of one", .0.display())]
    NotDirectory(PathBuf),
    /// The folder cannot be created or opened.
    #[error("the store's folder `{}` cannot be opened: {}", .path.display(), io_cause(.source))]
    Unusable {
        /// Path, as the caller gave it.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
}

/// An [`Executor`](crate::Executor) on a folder of the local disk.
///
/// - Only their owner can read new files (0600) and new folders (0700); an existing file keeps its permissions. Hard links and
///   extended attributes of a file do not survive a write, and hard links do not survive an append: the other name keeps
///   its old text.
/// - Symbolic links below the root are refused with [`FsError::SymbolicLink`]; the path of the root itself may have some.
/// - Names that are not UTF-8, or that are not valid in a path, are not listed. Neither are the host's own files:
///   `.saddlebag/locks*` and `.saddlebag-*.tmp`, which cannot be read or written either.
/// - A writer that is killed can leave a `.saddlebag-*.tmp`. The first change by the next process removes it
///   if it is the writer's own. In the rare case that a person saved the file at that very moment, it holds
///   their text, is moved to `.saddlebag/recovered` and reported
///   ([`on_recovered`](LocalDirOptions::on_recovered)). After a power cut, a temporary file that the disk has kept stays.
/// - A change, and soon after a read too, is refused if the root is no longer at the path that was opened.
///
/// Writers are kept apart if they open the same root: a store inside another store has its own locks. On network file
/// systems, locks are only as good as the server's, and a server whose clock is slow can hide a change within one tick.
///
/// On Linux and macOS a conditional write that races with an editor never loses the editor's text. If the system or the file
/// system cannot exchange two files in one step, and with [`Durability::Fast`], the version is checked once more right before
/// the file is replaced, which leaves a window of some microseconds. The same window exists for conditional appends,
/// removals and renames.
///
/// A change that was made but could not be synced is [`FsError::NotDurable`]. The file is then written again,
/// to new blocks, by the next change or read of it, in whichever process.
#[derive(Debug)]
pub struct LocalDir {
    pub(super) root: Dir,
    /// Path of the root, and the folder that was opened there.
    path: PathBuf,
    identity: sys::RootId,
    /// Time when the root was last seen at its path.
    seen: Mutex<Option<Instant>>,
    pub(super) options: LocalDirOptions,
    locks: LockFolder,
    unsynced: OnceLock<Unsynced>,
    /// True if the leftovers of dead writers have been looked for.
    cleared: AtomicBool,
    /// True if this host has joined the lock protocol of the store.
    joined: AtomicBool,
    #[cfg(feature = "watch")]
    watch: Option<Watch>,
    #[cfg(test)]
    pub(super) before_creating: Hook,
    #[cfg(test)]
    pub(super) before_placing: Hook,
    #[cfg(test)]
    pub(super) after_placing: Hook,
}

impl LocalDir {
    /// Version scheme of this release, for [`Config::version_scheme`](saddlebag::Config::version_scheme).
    pub const VERSION_SCHEME: &str = "local-dir/1";

    /// Opens the store at `root`, which must exist.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if `root` is not a folder that can be opened.
    pub fn open(root: &Path, options: LocalDirOptions) -> Result<Self, OpenError> {
        let unusable = |source| OpenError::Unusable { path: root.into(), source };
        let found = std::fs::metadata(root).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => OpenError::Missing(root.into()),
            io::ErrorKind::NotADirectory => OpenError::NotDirectory(root.into()),
            _ => unusable(error),
        })?;
        if !found.is_dir() {
            return Err(OpenError::NotDirectory(root.into()));
        }
        let path = std::path::absolute(root).map_err(unusable)?;
        let opened = Dir::open_ambient_dir(root, ambient_authority()).map_err(unusable)?;
        Ok(Self {
            identity: sys::root_of(&opened).map_err(unusable)?,
            locks: LockFolder::new(opened.try_clone().map_err(unusable)?, options.on_recovered),
            root: opened,
            path,
            seen: Mutex::new(None),
            options,
            unsynced: OnceLock::new(),
            cleared: AtomicBool::new(false),
            joined: AtomicBool::new(false),
            #[cfg(feature = "watch")]
            watch: None,
            #[cfg(test)]
            before_creating: Hook::default(),
            #[cfg(test)]
            before_placing: Hook::default(),
            #[cfg(test)]
            after_placing: Hook::default(),
        })
    }

    /// Opens the store at `root`, and creates the folder and its parents if they are missing.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if `root` is not a folder that can be created and opened.
    pub fn create(root: &Path, options: LocalDirOptions) -> Result<Self, OpenError> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let missing: Vec<&Path> = root.ancestors().take_while(missing).collect();
        match builder.create(root) {
            // An existing path is checked below.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => match error.kind() {
                io::ErrorKind::NotADirectory => Err(OpenError::NotDirectory(root.into())),
                _ => Err(OpenError::Unusable { path: root.into(), source: error }),
            },
            _ => {
                // A power cut must not take away the folders above acknowledged files.
                for folder in missing.into_iter().filter(|_| options.durability == Durability::Full) {
                    let synced = sync_name(folder);
                    synced.map_err(|source| OpenError::Unusable { path: folder.into(), source })?;
                }
                Self::open(root, options)
            }
        }
    }

    /// Refuses an operation if the root is no longer where it was opened. Everyone who looks there would miss a change
    /// that is acknowledged then.
    pub(super) fn check_root(&self, op: &FsOp) -> Result<(), FsError> {
        let now = Instant::now();
        let seen = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if is_read(op) && seen.is_some_and(|seen| now.duration_since(seen) < ROOT_IS_FRESH) {
            return Ok(());
        }
        self.check_place()
    }

    /// Refuses if the root is no longer where it was opened. A command that reads many files would take each of them for
    /// one that cannot be read.
    ///
    /// # Errors
    ///
    /// The folder was moved, removed or replaced, or its path cannot be looked at.
    pub fn check_place(&self) -> Result<(), FsError> {
        let now = Instant::now();
        let fate = match sys::root_at(&self.path) {
            Ok(found) if found == self.identity => {
                *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
                return Ok(());
            }
            Ok(_) => "replaced by another folder",
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                "moved away or removed"
            }
            Err(error) => return Err(error::refusal(error)),
        };
        Err(FsError::Other(format!(
            "the store's folder was {fate} after this program opened it; start the program again"
        )))
    }

    /// Removes the temporary files of writers that died, as the first change does. For callers that may change nothing.
    pub fn clear_leftovers(&self) {
        if !self.cleared.swap(true, Ordering::Relaxed) {
            self.locks.clear_abandoned();
        }
    }

    /// Makes a change by `attempt`, which is given the locks of `paths`. Begins it again if its folder was removed or its lock
    /// taken over, for as long as it would wait for a lock.
    pub(super) fn change<T>(
        &self,
        paths: &[&RelPath],
        mut attempt: impl FnMut(&Guard<'_>) -> Result<T, Failed>,
    ) -> Result<T, FsError> {
        let begun = Instant::now();
        loop {
            let guard = self.lock_within(paths, self.options.lock_timeout)?;
            match attempt(&guard) {
                Ok(outcome) => return Ok(outcome),
                Err(Failed::Refused(error)) => return Err(error),
                Err(Failed::Again) if begun.elapsed() < self.options.lock_timeout => {}
                Err(Failed::Again) => break,
            }
        }
        Err(FsError::Other("the folder of the file kept disappearing while it was changed; try again".into()))
    }

    /// Waits for the locks of all paths, so that no writer is active.
    pub(super) fn lock_all(&self) -> Result<Guard<'_>, FsError> {
        self.hold(Number::all(), self.options.lock_timeout)
    }

    /// Waits for the locks of `paths`, at most `patience` for each as long as one writer holds it.
    pub(super) fn lock_within(&self, paths: &[&RelPath], patience: Duration) -> Result<Guard<'_>, FsError> {
        self.hold(Number::of_all(paths.iter().map(|path| path.as_str())), patience)
    }

    fn hold(&self, numbers: impl IntoIterator<Item = Number>, patience: Duration) -> Result<Guard<'_>, FsError> {
        if !self.joined.load(Ordering::Relaxed) {
            protocol::join(&self.locks)?;
            self.joined.store(true, Ordering::Relaxed);
        }
        self.clear_leftovers();
        self.locks.acquire(numbers, patience)
    }

    /// Lets a watch of this folder tell the changes that take no lock, those of editors. Then
    /// [`generation`](Self::generation) is answered where people edit files too.
    #[cfg(feature = "watch")]
    pub fn watch_with(&mut self, watch: Watch) {
        self.watch = Some(watch);
    }

    /// Returns a token of the whole store, which is different after each change of a file. A change by a host of the lock protocol
    /// counts as soon as it is acknowledged, a change by an editor as soon as the watch has seen it.
    ///
    /// # Errors
    ///
    /// [`FsError::Unsupported`] without a watch and without [`only_hosts_write`](LocalDirOptions::only_hosts_write), and where the
    /// system does not tell when it was started. [`FsError::Locked`] while a writer is at work, and before the first change.
    /// [`FsError::Other`] while the watch is interrupted.
    pub fn generation(&self) -> Result<String, FsError> {
        let by_editors = self.changes_by_editors()?;
        let boot = sys::boot().ok_or(FsError::Unsupported)?;
        let token = saddlebag_locks::generation(&self.locks, &boot);
        let token = token.ok_or_else(|| FsError::Locked("another program is changing the store".into()))?;
        Ok(token + &by_editors)
    }

    /// Returns the part of the token that tells of changes without a lock; empty if there are none.
    fn changes_by_editors(&self) -> Result<String, FsError> {
        if self.options.only_hosts_write {
            return Ok(String::new());
        }
        #[cfg(feature = "watch")]
        if let Some(watch) = &self.watch {
            return watch.changes();
        }
        Err(FsError::Unsupported)
    }

    /// Keeps the text of someone else that has a temporary name.
    pub(super) fn recover(&self, folder: &Dir, temporary: &str, path: &str) {
        self.locks.report(&leftovers::keep(&self.root, folder, temporary, path));
    }

    /// Returns the files that could not be synced, by this process or another.
    pub(super) fn unsynced(&self) -> &Unsynced {
        self.unsynced.get_or_init(|| Unsynced::load(&self.root))
    }

    /// Returns true if a read must write the file again first. Otherwise a caller could find in it the text that it
    /// was about to write, and take that for kept.
    pub(super) fn must_settle(&self, path: &RelPath) -> bool {
        self.options.durability == Durability::Full && self.unsynced().is_known(path)
    }
}

/// Syncs the name of a folder, in the folder above it.
fn sync_name(folder: &Path) -> io::Result<()> {
    let above = folder.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match Dir::open_ambient_dir(above, ambient_authority()) {
        Ok(above) => sys::sync_folder(&above),
        // It may be open to others only for looking up names.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}
