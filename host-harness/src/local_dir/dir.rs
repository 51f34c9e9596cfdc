//! [`LocalDir`] itself: its root, its options, and what every operation on it begins with.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use saddlebag::protocol::{FsError, FsOp};
use saddlebag::store::RelPath;

use super::error::{self, io_cause};
use super::leftovers::{self, Recovered};
use super::lock::{self, Guard};
use super::sys;
#[cfg(test)]
use super::tests::Hook;
use super::unsynced::Unsynced;
use crate::executor::{Durability, is_read};

/// How long a look at where the root is serves reads. Changes look each time.
pub(super) const ROOT_IS_FRESH: Duration = Duration::from_millis(50);

/// How a [`LocalDir`] works.
#[derive(Clone, Debug)]
pub struct LocalDirOptions {
    /// What an acknowledged change survives.
    pub durability: Durability,
    /// The most bytes that one read gives; 16 MiB unless told.
    pub max_read_bytes: u64,
    /// The most bytes that one write or append takes; 16 MiB unless told.
    pub max_write_bytes: u64,
    /// How long to wait for one other writer that holds the lock of a path before the answer is
    /// [`FsError::Locked`]; 10 seconds unless told. While the lock goes from one writer to the next, the wait is
    /// up to twelve times as long.
    pub lock_timeout: Duration,
    /// Is told of each text that was found in the temporary file of a writer that died and is kept.
    pub on_recovered: Option<fn(&Recovered)>,
}

impl Default for LocalDirOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Full,
            max_read_bytes: 16 * 1024 * 1024,
            max_write_bytes: 16 * 1024 * 1024,
            lock_timeout: Duration::from_secs(10),
            on_recovered: None,
        }
    }
}

/// Why a folder cannot be the root of a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is nothing at the path.
    #[error("the store's folder `{}` does not exist; create it first", .0.display())]
    Missing(PathBuf),
    /// The path is not a folder.
    #[error("the store's folder `{}` is not a directory; give the path of one", .0.display())]
    NotDirectory(PathBuf),
    /// The folder cannot be made or opened.
    #[error("the store's folder `{}` cannot be opened: {}", .path.display(), io_cause(.source))]
    Unusable {
        /// The path as it was given.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
}

/// An [`Executor`](crate::Executor) on a folder of the local disk.
///
/// - New files are for their owner alone (0600), new folders as well (0700); an existing file
///   keeps its permissions. Hard links and extended attributes of a file do not survive a write, nor do hard
///   links survive an append: the other name keeps the text that it had.
/// - Symbolic links below the root are refused with [`FsError::SymbolicLink`]; the root itself may
///   be reached through some.
/// - Names that are not UTF-8, or hold what a path may not hold, are not listed. Neither are the
///   host's own: `.saddlebag/locks` and `.saddlebag-*.tmp`, which cannot be read or written either.
/// - A writer that is killed can leave a `.saddlebag-*.tmp`. The first change by the next process removes it
///   if it is the writer's own. In the rare case that a person saved the file at that very moment, it holds
///   their text, is moved to `.saddlebag/recovered` and reported
///   ([`on_recovered`](LocalDirOptions::on_recovered)). After a power cut, one that the disk has kept stays.
/// - A change, and soon after a read too, is refused once the root is no longer at the path that was opened.
///
/// Writers are kept apart as long as they open the same root: a store inside another store has
/// locks of its own. On network file systems, locks are only as good as the server's, and a server
/// whose clock is behind can hide a change within one tick.
///
/// On Linux and macOS a conditional write that races with an editor never loses the editor's text. Where the
/// system or the file system cannot exchange two files in one step, and with [`Durability::Fast`], the version
/// is checked once more right before the file is replaced, which leaves a window of some microseconds. The same
/// window is left for conditional appends, removals and renames.
///
/// A change that was made but could not be synced is [`FsError::NotDurable`]. The file is then written again,
/// to new blocks, by the next change or read of it, whichever process makes it.
#[derive(Debug)]
pub struct LocalDir {
    pub(super) root: Dir,
    /// Where the root was opened, and what was opened there.
    path: PathBuf,
    identity: sys::RootId,
    /// When the root was last seen at its path.
    seen: Mutex<Option<Instant>>,
    pub(super) options: LocalDirOptions,
    unsynced: OnceLock<Unsynced>,
    /// The leftovers of dead writers have been looked for.
    cleared: AtomicBool,
    #[cfg(test)]
    pub(super) before_placing: Hook,
    #[cfg(test)]
    pub(super) after_placing: Hook,
}

impl LocalDir {
    /// Names the versions of this release, for [`Config::version_scheme`](saddlebag::Config::version_scheme).
    pub const VERSION_SCHEME: &str = "local-dir/1";

    /// Opens the store at `root`, which must exist.
    ///
    /// # Errors
    ///
    /// [`OpenError`], when `root` is not a folder that can be opened.
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
            root: opened,
            path,
            seen: Mutex::new(None),
            options,
            unsynced: OnceLock::new(),
            cleared: AtomicBool::new(false),
            #[cfg(test)]
            before_placing: Hook::default(),
            #[cfg(test)]
            after_placing: Hook::default(),
        })
    }

    /// Opens the store at `root`, making the folder and those above it if they are missing.
    ///
    /// # Errors
    ///
    /// [`OpenError`], when `root` is not a folder that can be made and opened.
    pub fn create(root: &Path, options: LocalDirOptions) -> Result<Self, OpenError> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(root) {
            // What is there already is judged below.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => match error.kind() {
                io::ErrorKind::NotADirectory => Err(OpenError::NotDirectory(root.into())),
                _ => Err(OpenError::Unusable { path: root.into(), source: error }),
            },
            _ => Self::open(root, options),
        }
    }

    /// Refuses an operation once the root is not where it was opened: what is acknowledged then would be lost
    /// to everybody who looks there.
    pub(super) fn check_root(&self, op: &FsOp) -> Result<(), FsError> {
        let now = Instant::now();
        let seen = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if is_read(op) && seen.is_some_and(|seen| now.duration_since(seen) < ROOT_IS_FRESH) {
            return Ok(());
        }
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

    /// Waits for the locks of `paths` and clears up what writers that died have left.
    pub(super) fn lock(&self, paths: &[&RelPath]) -> Result<Guard, FsError> {
        self.lock_within(paths, self.options.lock_timeout)
    }

    /// Waits for the locks of every path.
    pub(super) fn lock_all(&self) -> Result<Guard, FsError> {
        self.hold(|| lock::acquire_all(&self.root, self.options.lock_timeout))
    }

    pub(super) fn lock_within(&self, paths: &[&RelPath], patience: Duration) -> Result<Guard, FsError> {
        self.hold(|| lock::acquire(&self.root, paths, patience))
    }

    fn hold(&self, acquire: impl FnOnce() -> Result<Guard, FsError>) -> Result<Guard, FsError> {
        if !self.cleared.swap(true, Ordering::Relaxed) {
            lock::abandoned(&self.root).iter_mut().for_each(|guard| self.clear(guard));
        }
        let mut guard = acquire()?;
        self.clear(&mut guard);
        guard.sign();
        Ok(guard)
    }

    fn clear(&self, guard: &mut Guard) {
        for text in guard.leftovers() {
            if let Some(recovered) = leftovers::clear(&self.root, &text) {
                self.report(&recovered);
            }
        }
    }

    /// Keeps the text of somebody else that has a temporary name.
    pub(super) fn recover(&self, folder: &Dir, temporary: &str, path: &str) {
        self.report(&leftovers::keep(&self.root, folder, temporary, path));
    }

    fn report(&self, recovered: &Recovered) {
        tracing::warn!(path = %recovered.path, kept = %recovered.kept, "a text is recovered");
        if let Some(tell) = self.options.on_recovered {
            tell(recovered);
        }
    }

    /// The files that could not be synced, by this process or another.
    pub(super) fn unsynced(&self) -> &Unsynced {
        self.unsynced.get_or_init(|| Unsynced::load(&self.root))
    }

    /// Returns true if a read must write the file again first: a caller may find in it what it was about to write,
    /// and call that kept.
    pub(super) fn must_settle(&self, path: &RelPath) -> bool {
        self.options.durability == Durability::Full && self.unsynced().is_known(path)
    }
}
