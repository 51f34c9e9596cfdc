//! [`LocalDir`]: a store in a folder of the local disk.
//!
//! Paths are walked one segment at a time from the open root, and no symbolic link below it is
//! followed. Writers of a path take turns by a lock file ([`lock`]); readers take no lock, as a
//! write puts a whole new file in the place of the old one ([`write`]). People who edit a file at
//! the same time take no lock either: what they have saved is noticed by its version ([`version`])
//! and kept.

mod append;
mod change;
mod error;
mod list;
mod lock;
mod read;
mod sys;
mod version;
mod walk;
mod write;

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use saddlebag::protocol::{FsError, FsOp, FsOutcome};

use crate::executor::{Durability, Executor, refuse_reserved, traced_path};

/// How a [`LocalDir`] works.
#[derive(Clone, Debug)]
pub struct LocalDirOptions {
    /// What an acknowledged change survives.
    pub durability: Durability,
    /// The most bytes that one read gives; 16 MiB unless told.
    pub max_read_bytes: u64,
    /// The most bytes that one write or append takes; 16 MiB unless told.
    pub max_write_bytes: u64,
    /// How long to wait for another writer of the same path before the answer is
    /// [`FsError::TimedOut`]; 10 seconds unless told.
    pub lock_timeout: Duration,
}

impl Default for LocalDirOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Full,
            max_read_bytes: 16 * 1024 * 1024,
            max_write_bytes: 16 * 1024 * 1024,
            lock_timeout: Duration::from_secs(10),
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
    #[error("the store's folder `{}` cannot be opened: {}", .path.display(), .source.kind())]
    Unusable {
        /// The path as it was given.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
}

/// An [`Executor`] on a folder of the local disk.
///
/// - New files are for their owner alone (0600), new folders as well (0700); an existing file
///   keeps its permissions. Hard links and extended attributes of a file do not survive a write.
/// - Symbolic links below the root are refused with [`FsError::SymbolicLink`]; the root itself may
///   be reached through some.
/// - Names that are not UTF-8, or hold what a path may not hold, are not listed. Neither are the
///   host's own: `.saddlebag/locks` and `.saddlebag-*.tmp`, which cannot be read or written either.
/// - A writer that is killed can leave a `.saddlebag-*.tmp` behind. It is not removed by itself: in
///   the rare case that a person saved the file at that very moment, it holds their text.
///
/// Writers are kept apart as long as they open the same root: a store inside another store has
/// locks of its own. On network file systems, locks are only as good as the server's, and a server
/// whose clock is behind can hide a change within one tick.
///
/// On Linux and macOS a conditional write that races with an editor never loses the editor's text. Where the
/// system or the file system cannot exchange two files in one step, the version is checked once
/// more right before the file is replaced, which leaves a window of some microseconds. The same
/// window is left for conditional appends, removals and renames.
///
/// A removal or a rename that was done but could not be synced is an error that says so; a write or
/// an append in that case is `Unknown`.
#[derive(Debug)]
pub struct LocalDir {
    root: Dir,
    options: LocalDirOptions,
    #[cfg(test)]
    before_placing: tests::Hook,
}

impl LocalDir {
    /// Opens the store at `root`, which must exist.
    ///
    /// # Errors
    ///
    /// [`OpenError`], when `root` is not a folder that can be opened.
    pub fn open(root: &Path, options: LocalDirOptions) -> Result<Self, OpenError> {
        let unusable = |source| OpenError::Unusable {
            path: root.into(),
            source,
        };
        let found = std::fs::metadata(root).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => OpenError::Missing(root.into()),
            io::ErrorKind::NotADirectory => OpenError::NotDirectory(root.into()),
            _ => unusable(error),
        })?;
        if !found.is_dir() {
            return Err(OpenError::NotDirectory(root.into()));
        }
        Ok(Self {
            root: Dir::open_ambient_dir(root, ambient_authority()).map_err(unusable)?,
            options,
            #[cfg(test)]
            before_placing: tests::Hook::default(),
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
                _ => Err(OpenError::Unusable {
                    path: root.into(),
                    source: error,
                }),
            },
            _ => Self::open(root, options),
        }
    }

    /// Refuses more bytes than one write or append takes.
    fn check_size(&self, content: &[u8]) -> Result<(), FsError> {
        let limit = self.options.max_write_bytes;
        if content.len() as u64 > limit {
            Err(FsError::TooLarge(limit))
        } else {
            Ok(())
        }
    }
}

impl Executor for LocalDir {
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
        let span = tracing::trace_span!("fs", op = op.name(), path = traced_path(op));
        let _entered = span.enter();
        let outcome = refuse_reserved(op).and_then(|()| match op {
            FsOp::Read {
                path,
                offset,
                max_bytes,
                unless,
            } => self
                .read(path, *offset, *max_bytes, unless.as_ref())
                .map(FsOutcome::Read),
            FsOp::Write {
                path,
                content,
                precondition,
            } => self
                .write(path, content, precondition)
                .map(FsOutcome::Write),
            FsOp::Append {
                path,
                content,
                newline_first,
                precondition,
            } => self
                .append(path, content, *newline_first, precondition)
                .map(FsOutcome::Append),
            FsOp::List {
                folder,
                recursive,
                after,
                limit,
            } => self
                .list(folder.as_ref(), *recursive, after.as_ref(), *limit)
                .map(FsOutcome::List),
            FsOp::Remove { path, precondition } => {
                self.remove(path, precondition).map(FsOutcome::Remove)
            }
            FsOp::Rename {
                from,
                to,
                precondition,
            } => self.rename(from, to, precondition).map(FsOutcome::Rename),
            FsOp::MakeDirectory { path } => {
                self.make_directory(path).map(|()| FsOutcome::MakeDirectory)
            }
            _ => Err(FsError::Unsupported),
        });
        match &outcome {
            Ok(_) => tracing::trace!("done"),
            Err(error) => tracing::debug!(%error, "not performed"),
        }
        outcome
    }
}
