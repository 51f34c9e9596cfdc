//! The locks that keep writers of one path apart, in this process and in others.
//!
//! A path belongs to one of [`SHARDS`] lock files in `.saddlebag/locks`. A data file is never
//! locked itself: it is replaced by each write, and a lock on the old one would hold nobody back.

use std::fs::{File, TryLockError};
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use cap_std::fs::Dir;
use saddlebag::protocol::FsError;
use saddlebag::store::RelPath;

use super::error::refusal;
use super::sys::{self, Access};
use super::walk;
use crate::Durability;
use crate::executor::{LOCKS_FOLDER, STATE_FOLDER};

/// How many lock files there are: enough that two paths seldom share one.
const SHARDS: u64 = 64;

/// The longest pause between two attempts at a lock.
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// Holds the locks of some paths until it is dropped.
#[derive(Debug)]
pub(super) struct Guard {
    _files: Vec<File>,
}

/// Waits for the locks of `paths`, at most `patience` for each.
pub(super) fn acquire(
    root: &Dir,
    paths: &[&RelPath],
    patience: Duration,
) -> Result<Guard, FsError> {
    let mut shards: Vec<u64> = paths.iter().map(|path| shard(path.as_str())).collect();
    // One order for everybody, or two renames in opposite directions would wait for each other.
    shards.sort_unstable();
    shards.dedup();
    let files = shards
        .into_iter()
        .map(|shard| acquire_one(root, shard, patience))
        .collect::<Result<_, _>>()?;
    Ok(Guard { _files: files })
}

fn acquire_one(root: &Dir, shard: u64, patience: Duration) -> Result<File, FsError> {
    let name = format!("{shard:02}");
    let deadline = Instant::now() + patience;
    let mut pause = Duration::from_micros(20);
    loop {
        // Opened anew each time: an old handle may be of a file that somebody has deleted.
        let folder = walk::make_folder(
            root,
            &format!("{STATE_FOLDER}/{LOCKS_FOLDER}"),
            Durability::Fast,
        )?;
        let file = sys::open_file(&folder, &name, Access::Lock).map_err(refusal)?;
        // Asked for again and again, as a wait for the lock itself cannot end in time when its
        // holder was suspended.
        while let Err(error) = file.try_lock() {
            match error {
                TryLockError::WouldBlock if Instant::now() < deadline => {
                    thread::sleep(pause);
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                TryLockError::WouldBlock => return Err(FsError::TimedOut),
                TryLockError::Error(error) => return Err(refusal(error)),
            }
        }
        if is_current(&folder, &name, &file).map_err(refusal)? {
            return Ok(file);
        }
    }
}

/// Whether the locked file still is the one that others would lock.
fn is_current(folder: &Dir, name: &str, file: &File) -> io::Result<bool> {
    match sys::stat_at(folder, name) {
        Ok(stat) => Ok(stat.same_file(&sys::stat_of(file)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// FNV-1a over the path in lower case: where the file system ignores case, two spellings of one
/// file must share a lock, and elsewhere it does no harm.
fn shard(path: &str) -> u64 {
    let hash = path
        .to_lowercase()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    hash % SHARDS
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn shards_stay_what_they_are() {
        // Writers of different releases must agree.
        assert_eq!(
            [
                shard("MEMORY.md"),
                shard("memory.MD"),
                shard("daily/2026-05-30.md")
            ],
            [9, 9, 48]
        );
    }

    #[test]
    fn a_lock_that_is_not_given_back_ends_in_time_out() {
        let root = tempfile::tempdir().unwrap();
        let root = Dir::open_ambient_dir(root.path(), cap_std::ambient_authority()).unwrap();
        let path = RelPath::parse("a.md").unwrap();
        let held = acquire(&root, &[&path, &path], Duration::ZERO).unwrap();
        assert_eq!(
            acquire(&root, &[&path], Duration::ZERO).unwrap_err(),
            FsError::TimedOut
        );
        drop(held);
        assert!(acquire(&root, &[&path], Duration::ZERO).is_ok());
    }
}
