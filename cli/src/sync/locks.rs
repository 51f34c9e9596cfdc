//! Locks of a work tree: that of `sync`, and those that a killed git left.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use saddlebag::protocol::ErrorCode;

use crate::failure::{Failure, ProgramCode};
use crate::output::single_line;

/// Time after which a lock of git belongs to none that runs.
const LOCKS_LAST: Duration = Duration::from_secs(1);

/// Pause between two looks at the locks of git.
const LOCKS_PAUSE: Duration = Duration::from_millis(50);

/// Keeps a second run away, until this one ends.
pub(super) fn lock(state: &Path) -> Result<File, Failure> {
    let path = state.join("saddlebag-sync.lock");
    let failed = |cause: String| {
        let message = format!("cannot lock `{}`: {cause}", path.display());
        Failure::new(ProgramCode::Output, message, "check the permissions of the folder of git")
    };
    let file = File::create(&path).map_err(|error| failed(saddlebag_host::io_cause(&error)))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let message = "another `sync` of this work tree is running";
            Err(Failure::new(ErrorCode::Conflict, message, "wait until it has ended"))
        }
        Err(TryLockError::Error(error)) => Err(failed(saddlebag_host::io_cause(&error))),
    }
}

/// Refuses to begin while files of git's locks are there, which a git that was killed leaves. Each would fail another step.
pub(super) fn check_locks(state: &Path) -> Result<(), Failure> {
    let mut locks = locks_of_git(state);
    let begun = Instant::now();
    // A git that runs removes its own soon.
    while !locks.is_empty() && begun.elapsed() < LOCKS_LAST {
        thread::sleep(LOCKS_PAUSE);
        locks = locks_of_git(state);
    }
    if locks.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = locks.iter().map(|path| single_line(&path.to_string_lossy())).collect();
    let quoted = shown.iter().map(|path| shlex::try_quote(path).unwrap_or_else(|_| path.into()));
    let remove = quoted.collect::<Vec<_>>().join(" ");
    let message = format!("git has left locks in the repository: {}", shown.join(", "));
    let help = format!("if no git is running in the folder of the store, remove them: `rm {remove}`");
    Err(Failure::new(ErrorCode::Conflict, message, help))
}

/// Returns the files with which git locks the index, the branches and the settings.
fn locks_of_git(state: &Path) -> Vec<PathBuf> {
    // A further work tree has its branches in the folder of the first one.
    let common = fs::read_to_string(state.join("commondir")).map(|common| state.join(common.trim_end()));
    let common = common.unwrap_or_else(|_| state.to_path_buf());
    let names = ["HEAD.lock", "index.lock"].map(|name| state.join(name));
    let shared = ["packed-refs.lock", "config.lock"].map(|name| common.join(name));
    let mut found: Vec<PathBuf> = names.into_iter().chain(shared).filter(|path| path.exists()).collect();
    let mut folders = vec![common.join("refs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(_) if entry.path().extension().is_some_and(|suffix| suffix == "lock") => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}
