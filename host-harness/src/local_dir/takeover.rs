//! Taking a store over from hosts of an earlier lock protocol.
//!
//! All locks of the earlier protocol are taken before they are removed, so no earlier host is at work, and one that waits for
//! a lock finds the lock gone.

use std::io;
use std::time::{Duration, Instant};

use cap_std::fs::Dir;
use saddlebag::protocol::FsError;

use super::error::refusal;
use super::leftovers::{self, Recovered};
use super::protocol::{MARKERS_FOLDER, make, refuse_earlier_hosts};
use super::{lock, sys, walk};
use crate::Durability;
use crate::executor::{LOCKS_FOLDER, STATE_FOLDER};

/// Pause between two attempts to replace the folder of an earlier protocol.
const PAUSE: Duration = Duration::from_millis(1);

/// Joins the protocol of the store, or refuses to if it is a later one. Returns the files that dead hosts of an earlier
/// protocol left.
pub(super) fn join(root: &Dir, patience: Duration) -> Result<Vec<Recovered>, FsError> {
    let mut recovered = Vec::new();
    let began = Instant::now();
    while !refuse_earlier_hosts(root)? {
        take_over(root, patience, &mut recovered)?;
        if began.elapsed() > patience {
            return Err(FsError::Locked("programs of an earlier release keep using the locks of this store".into()));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(recovered)
}

/// Removes the folder of the first protocol while none of its hosts holds a lock.
fn take_over(root: &Dir, patience: Duration, recovered: &mut Vec<Recovered>) -> Result<(), FsError> {
    let Some(state) = walk::find_folder(root, STATE_FOLDER)? else { return Ok(()) };
    // Without the folder, another host was faster.
    let Some(earlier) = folder_of_earlier(&state)? else { return Ok(()) };
    let mut guard = match lock::acquire_earlier(&earlier, patience) {
        Err(_) if folder_of_earlier(&state)?.is_none() => return Ok(()),
        guard => guard?,
    };
    recovered.extend(guard.leftovers().iter().filter_map(|text| leftovers::clear(root, text)));
    if let Some(marked) = walk::find_folder(&earlier, MARKERS_FOLDER)? {
        let markers = walk::make_folder(&make(root)?, MARKERS_FOLDER, Durability::Fast)?;
        for sys::Name { text: name, .. } in sys::names(&marked).map_err(refusal)? {
            sys::replace_across(&marked, &name, &markers, &name).map_err(refusal)?;
        }
        earlier.remove_dir(MARKERS_FOLDER).map_err(refusal)?;
    }
    // A host that waits for one of these files finds that it is gone, and asks for the folder again.
    for name in lock::file_names() {
        match earlier.remove_file(&name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(refusal(error)),
            _ => {}
        }
    }
    drop(guard);
    match state.remove_dir(LOCKS_FOLDER) {
        // A host of the first protocol has made a lock file meanwhile: the caller tries again.
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(()),
        Err(error) => Err(refusal(error)),
        Ok(()) => Ok(()),
    }
}

/// Opens the folder of the first protocol; `None` if it is gone or replaced by the file that refuses its hosts.
fn folder_of_earlier(state: &Dir) -> Result<Option<Dir>, FsError> {
    match walk::find_folder(state, LOCKS_FOLDER) {
        Err(FsError::NotDirectory) => Ok(None),
        found => found,
    }
}
