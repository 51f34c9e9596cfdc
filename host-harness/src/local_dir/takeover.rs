//! Taking a store over from hosts of earlier lock protocols.
//!
//! All locks of an earlier protocol are taken before they are removed, so no earlier host is at work, and one that waits for
//! a lock finds the lock gone.

use std::io;
use std::time::{Duration, Instant};

use cap_std::fs::Dir;
use saddlebag::protocol::FsError;
use saddlebag_locks::{EARLIER_FOLDERS, Error, KernelLocks, LockFiles, Number, Record, lock_earlier};

use super::error::refusal;
use super::lock::LockFolder;
use super::permit::Permit;
use super::protocol::{MARKERS_FOLDER, join as join_protocol, make_markers};
use super::{sys, walk};

/// Pause between two attempts to replace the folder of an earlier protocol.
const PAUSE: Duration = Duration::from_millis(1);

/// Joins the protocol of the store, or refuses to if it is a later one.
pub(super) fn join(locks: &LockFolder, patience: Duration) -> Result<(), FsError> {
    let began = Instant::now();
    while !join_protocol(locks)? {
        for path in EARLIER_FOLDERS {
            take_over(locks, path, patience)?;
        }
        if began.elapsed() > patience {
            return Err(FsError::Locked("programs of an earlier release keep using the locks of this store".into()));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

/// Removes the folder of an earlier protocol while none of its hosts holds a lock.
fn take_over(locks: &LockFolder, path: &str, patience: Duration) -> Result<(), FsError> {
    // Without the folder, another host was faster.
    let Some(folder) = folder_of_earlier(locks, path)? else { return Ok(()) };
    let mut held = Vec::new();
    for number in Number::of_files() {
        match lock_earlier(locks, &format!("{path}/{number}"), patience) {
            Ok(file) => held.push(file),
            Err(_) if folder_of_earlier(locks, path)?.is_none() => return Ok(()),
            Err(Error::Files(error)) => return Err(error),
            Err(error) => return Err(FsError::Locked(error.to_string())),
        }
    }
    for content in held.iter().filter_map(|file| locks.read_open(file).ok()) {
        if let Some(record) = std::str::from_utf8(&content).ok().and_then(Record::of) {
            locks.clean_up(&record);
        }
    }
    if let Some(marked) = walk::find_folder(&folder, MARKERS_FOLDER)? {
        let markers = make_markers(&locks.root)?;
        for sys::Name { text: name, .. } in sys::names(&marked).map_err(refusal)? {
            sys::replace_across(Permit::of_record(), &marked, &name, &markers, &name).map_err(refusal)?;
        }
        folder.remove_dir(MARKERS_FOLDER).map_err(refusal)?;
    }
    // A host that waits for one of these files finds that it is gone, and asks for the folder again.
    for number in Number::of_files() {
        locks.remove(&format!("{path}/{number}"))?;
    }
    drop(held);
    let Some((state, name)) = locks.find(path)? else { return Ok(()) };
    match state.remove_dir(name) {
        // A host of the earlier protocol has made a lock file meanwhile: the caller tries again.
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(()),
        Err(error) => Err(refusal(error)),
        Ok(()) => Ok(()),
    }
}

/// Opens the folder of an earlier protocol; `None` if it is gone or replaced by the file that refuses its hosts.
fn folder_of_earlier(locks: &LockFolder, path: &str) -> Result<Option<Dir>, FsError> {
    match walk::find_folder(&locks.root, path) {
        Err(FsError::NotDirectory) => Ok(None),
        found => found,
    }
}
