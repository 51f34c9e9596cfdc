//! Empty files: many editors save a file by truncating it and then filling it. A change that is computed from the moment in
//! between would take the file for empty, and forget, overwrite or leave behind the text that is about to come.

use std::io;
use std::thread;
use std::time::Duration;

use cap_std::fs::Dir;

use super::sys::{self, Stat};

/// Time since the last change for which an empty file may be about to be filled, in nanoseconds.
const FILLING: i64 = 1_000_000_000;

/// Time between two looks at the file.
const PAUSE: Duration = Duration::from_millis(5);

/// Maximum number of looks, if the file is emptied again and again.
const LOOKS: u32 = 400;

/// Waits while a file is empty and was changed less than a second ago. Returns false if it is not empty any more, or gone.
pub(super) fn stays_empty(folder: &Dir, name: &str, stat: &Stat) -> io::Result<bool> {
    let mut stat = *stat;
    for _ in 0..LOOKS {
        if stat.size > 0 {
            return Ok(false);
        }
        // A time in the future is not a recent change.
        if !(0..FILLING).contains(&sys::now().saturating_sub(stat.modified)) {
            break;
        }
        #[cfg(test)]
        super::tests::pause();
        thread::sleep(PAUSE);
        stat = match sys::stat_at(folder, name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            found => found?,
        };
    }
    Ok(true)
}
