//! [`LocalDir`]: a store in a folder of the local disk.
//!
//! Paths are walked one segment at a time from the open root, and no symbolic link below it is followed. Writers of a path take
//! turns by a lock file ([`lock`]). Readers take no lock, because a write replaces the old file by a whole new one ([`write`]).
//! People who edit a file at the same time take no lock either: their text is noticed by its version ([`version`]) and kept.
//! A file that could not be synced is written again before anything relies on it ([`unsynced`]). The leftovers of a dead writer
//! are removed by the next one ([`leftovers`]).
//!
//! # How does the disk stay whole?
//!
//! `LocalDir` is the executor on a folder of the local disk. **Locks:** a writer holds the kernel lock (`flock`) of its path's number:
//! one of 128 files, `.saddlebag/locks-3/00` to `127`, chosen by FNV-1a over the ASCII characters of the path in lower
//! case, because some file systems ignore case. Half of them are for paths below a folder `.saddlebag`. 3 is the number of the lock
//! protocol ([`protocol`]), whose rules are in the crate `saddlebag-locks`. A store has one
//! protocol. A rename, and a change that keeps the old file, takes both
//! in ascending order. A lock is requested again and again for at most 10 seconds; then the answer is `locked` and
//! names the process that holds it. After taking a lock, the writer checks that the locked file is still the one that
//! others would lock. The 10 seconds begin again when the lock moves to another writer, for at most two minutes: many
//! writers on a slow disk wait for each other, but nobody waits for a suspended one. Readers take no lock, and neither does the
//! removal of a folder: a writer whose folder is gone begins again.
//!
//! **Hosts without kernel locks** take leases, numbered files in `.saddlebag/locks-3/leases`. Without that folder they cost a writer one
//! failed open. Directly before each step that changes a file, the writer looks at the clock: the [`Permit`](permit::Permit) of that look
//! is an argument of each such step. After 4 seconds it renews its line, and begins the change again if a host with a lease came meanwhile,
//! because that host takes a holder for dead whose line has not changed for 8 seconds.
//!
//! **Lock files** begin with `free` unless the lock is held. The holder writes its process and program into the file, the name of its
//! temporary file, and its progress. The next holder of the lock, or the first change of a newly opened store, finds there what
//! a dead holder left. A temporary file that was never in place is removed. After an exchange it is removed if it is the new
//! file or the old one, unchanged; an old one that is to be kept is moved to its path. Anything else may be a person's text, is
//! moved to `.saddlebag/recovered` and named on standard error. The records are not synced: after a power cut a temporary file stays.
//!
//! **Generation.** Each line of a holder is a new one, so the content of all lock files is different after each change. With
//! [`only_hosts_write`](LocalDirOptions::only_hosts_write) its digest answers whether anything has changed. Where editors change
//! files too, the digest counts together with the number of changes that a `Watch` of the folder has seen.
//!
//! **Write.** Take the lock, check the precondition, write `.saddlebag-<process>-<count>-<random>.tmp` in the same folder
//! with the mode and, if permitted, the owner of the old file, sync it. Then put it in place: by exchange for `matches`,
//! by a rename that replaces nothing for `absent`, by a plain rename for `any`. Then sync the folder.
//!
//! **Keep.** With `keep-as` the old file moves to that path once the new one is in place: after an exchange from the temporary
//! name, otherwise from a second name that it got before. So it has a name at every moment, and what was at that path is
//! replaced last. If it cannot be moved, the change is undone. A file that changed in the last two minutes is synced before,
//! because its editor may not have done so. `remove` moves the file with one rename. A power cut between the two steps can leave
//! the old file under the temporary name.
//!
//! **Exchange.** A person's editor takes no lock. So the new file and the old one exchange names in one step, and the displaced
//! file is checked. If it is not the one that the precondition named, the files are exchanged back and the write is `stale`.
//! If another file took the name in between, the later one gets it, and the earlier is recovered. With `fast` the file is
//! replaced by a plain rename after one more check: a file system that writes late protects a rename over a file from a power
//! cut by syncing the new one first, but not an exchange.
//!
//! **Versions.** The first letter gives the kind. `s`: device, inode, size, modification and change time. It is used only if
//! both times are more than 20 ms old (2 s if the file system counts whole seconds), so that no later change can have the
//! same stat: git's racy rule. `h`: SHA-256 of the bytes, for files that changed just before and have at most 4 MiB. `r`: like
//! `s`, for larger files; it matches nothing, so its holder reads again.
//!
//! **Append.** One `write` on an `O_APPEND` descriptor under the lock. A short write is undone by cutting the file to its
//! old size, and is an error. If an editor replaced the file meanwhile, the text is added to the new file, unless the editor
//! had read it in. A file with a second name is replaced instead, so that the other name, which may be outside of the store,
//! keeps its text.
//!
//! **Durability.** `full` syncs the file and the folder before the answer, new folders included, and is the default. `fast`
//! syncs nothing: it survives the end of the process, not a power cut. If a sync fails after the bytes are in place, the
//! outcome is `not-durable`, and the path gets a marker in `.saddlebag/locks-3/unsynced`. Linux marks bytes that it failed to
//! write as clean, so the next sync would succeed without them: the next append or read of a marked file writes all of it to a
//! new file first. A new folder that cannot be synced is removed again.
//!
//! **Root.** Before every change, and at most 50 ms before a read, the path of the root is compared with the folder that
//! was opened. If it leads elsewhere or nowhere, the operation is refused.
//!
//! **Links.** A path is walked from the open root, one segment at a time, each opened without following a link. On Linux
//! since 5.6 a folder below another one is opened by one `openat2` that stays beneath the root and refuses every link.
//! Pipes and devices are opened without blocking and refused.
//!
//! **Modes.** New files are 0600, new folders 0700; a file that is replaced keeps its mode. **Backups** are the
//! component's: `MEMORY.bak` beside `MEMORY.md`, or in `.saddlebag/backups/`, one per file, with the text that was replaced by an overwrite, a deletion (a
//! `forget` is one), a restore, or an edit of long-term memory or the scratchpad. An empty file is not kept. The backup has the
//! mode of the file. Names of the host itself (`.saddlebag/locks*`,
//! `.saddlebag-*.tmp`, and the `.gitignore` that it puts into each `.saddlebag/` that it writes to) can be neither listed
//! nor requested.
//!
//! | | Linux | macOS | Windows |
//! | --- | --- | --- | --- |
//! | Exchange | `renameat2` | `renameatx_np` | None |
//! | If there is none, or the file system cannot | The version is checked once more right before the rename: a window of microseconds | The same | The same |
//! | Move to a free name | `renameat2` | `renameatx_np` | A hard link, then the old name is removed; without hard links a check before the rename |
//! | Opening folders | `openat2`, else segment by segment | Segment by segment | Segment by segment; names that Windows interprets further are refused |
//! | Parts of a version | Device, inode, size, both times | The same | Size, modification and creation time |
//! | Syncing a folder | `fsync` | `fsync`, which does not flush the drive | Nothing |
//! | Modes | 0600, 0700 | 0600, 0700 | Inherited from the folder |

mod append;
mod batch;
mod change;
mod dir;
mod error;
mod filling;
mod keep;
mod leftovers;
mod list;
mod lock;
mod permit;
mod protocol;
mod read;
mod sys;
mod unsynced;
mod version;
mod walk;
#[cfg(feature = "watch")]
mod watch;
mod write;

#[cfg(test)]
mod tests;

use saddlebag::protocol::{FsError, FsOp, FsOutcome};

use crate::executor::{Executor, by_method, check, traced_path};
pub use dir::{LocalDir, LocalDirOptions, OpenError};
pub use error::io_cause;
pub use leftovers::Recovered;
#[cfg(feature = "watch")]
pub use watch::{Noticed, Watch, WatchError};

impl Executor for LocalDir {
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
        perform(self, op)
    }

    fn perform_all(&mut self, ops: &[&FsOp]) -> Vec<Result<FsOutcome, FsError>> {
        batch::perform_all(self, ops, perform)
    }
}

fn perform(store: &LocalDir, op: &FsOp) -> Result<FsOutcome, FsError> {
    let span = tracing::trace_span!("fs", op = op.name(), path = traced_path(op));
    let _entered = span.enter();
    let checked = check(op, store.options.max_write_bytes).and_then(|()| store.check_root(op));
    let outcome = checked.and_then(|()| {
        if let FsOp::Read { path, .. } = op
            && store.must_settle(path)
        {
            store.settle(path);
        }
        by_method!(store, op)
    });
    match &outcome {
        Ok(_) => tracing::trace!("done"),
        Err(error) => tracing::debug!(%error, "not performed"),
    }
    outcome
}
