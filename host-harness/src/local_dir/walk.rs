//! From a path to an open folder, one segment at a time, never through a link.

use std::io::{self, Write as _};

use cap_std::fs::Dir;
use saddlebag::protocol::FsError;
use saddlebag::store::{RelPath, is_name, is_special_on_windows};

use super::error::{is_link_error, refusal};
use super::sys::{self, Access, Kind, Stat};
use crate::Durability;
use crate::executor::{IGNORE_FILE, STATE_FOLDER};

/// Maximum number of times that a folder may appear or disappear between two looks before it is an error.
const OPEN_ATTEMPTS: usize = 64;

/// Opens the folder that holds `path`, and returns it with the last segment; `None` if the folder does not exist.
pub(super) fn find<'p>(root: &Dir, path: &'p RelPath) -> Result<Option<(Dir, &'p str)>, FsError> {
    let (above, name) = split(path);
    check_name(name)?;
    Ok(find_folder(root, above)?.map(|folder| (folder, name)))
}

/// Opens the folder `path`, empty for the root; `None` if it does not exist.
pub(super) fn find_folder(root: &Dir, path: &str) -> Result<Option<Dir>, FsError> {
    if path.contains('/') {
        match sys::open_folder_at(root, path) {
            Ok(folder) => return Ok(Some(folder)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(_) => {}
        }
    }
    // If that is not possible, walks segment by segment, also to find out why it failed.
    let mut folder = None;
    for name in segments(path) {
        match open_one(folder.as_ref().unwrap_or(root), name)? {
            Some(next) => folder = Some(next),
            None => return Ok(None),
        }
    }
    folder.map_or_else(|| root.try_clone().map_err(refusal), Ok).map(Some)
}

/// Opens like [`find`], but creates missing folders.
pub(super) fn make<'p>(root: &Dir, path: &'p RelPath, durability: Durability) -> Result<(Dir, &'p str), FsError> {
    let (above, name) = split(path);
    check_name(name)?;
    Ok((make_folder(root, above, durability)?, name))
}

/// Opens like [`find_folder`], but creates missing folders.
pub(super) fn make_folder(root: &Dir, path: &str, durability: Durability) -> Result<Dir, FsError> {
    for _ in 0..OPEN_ATTEMPTS {
        if let Some(folder) = make_all(root, path, durability)? {
            return Ok(folder);
        }
        // The next attempt begins with a whole time slice, so it is not interrupted between two folders.
        std::thread::yield_now();
    }
    Err(refusal(io::ErrorKind::NotFound.into()))
}

/// Returns `None` if somebody has removed one of the folders meanwhile.
fn make_all(root: &Dir, path: &str, durability: Durability) -> Result<Option<Dir>, FsError> {
    let mut folder = None;
    for name in segments(path) {
        let above = folder.as_ref().unwrap_or(root);
        let next = match open_one(above, name)? {
            Some(next) => next,
            None => match make_one(above, name, durability)? {
                Some(next) => next,
                None => return Ok(None),
            },
        };
        if name == STATE_FOLDER {
            ignore_in_git(&next);
        }
        folder = Some(next);
    }
    folder.map_or_else(|| root.try_clone().map_err(refusal), Ok).map(Some)
}

/// Looks at `name`, which must be a regular file or missing.
pub(super) fn probe(folder: &Dir, name: &str) -> Result<Option<Stat>, FsError> {
    match sys::stat_at(folder, name) {
        Ok(stat) => regular(stat).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(refusal(error)),
    }
}

/// Refuses anything that is not a regular file.
pub(super) fn regular(stat: Stat) -> Result<Stat, FsError> {
    match stat.kind {
        Kind::File => Ok(stat),
        Kind::Directory => Err(FsError::IsDirectory),
        Kind::Link => Err(FsError::SymbolicLink),
        Kind::Other => Err(FsError::NotRegular),
    }
}

/// Returns `None` if somebody has removed the new folder, or the one above it, meanwhile.
fn make_one(folder: &Dir, name: &str, durability: Durability) -> Result<Option<Dir>, FsError> {
    match sys::make_folder(folder, name) {
        Ok(()) if durability == Durability::Full => {
            if let Err(error) = sys::sync_folder(folder) {
                // The next change below a folder that stays would take it for durable.
                let _ = folder.remove_dir(name);
                return Err(refusal(error));
            }
        }
        Ok(()) => {}
        // Another writer was faster, which is equally good.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refusal(error)),
    }
    open_one(folder, name)
}

/// Content of the file that keeps a folder of the host out of version control.
const IGNORED: &[u8] = b"*\n";

/// Removes that file if it is all that a folder of the host has, as it was made, because it is not in any listing.
pub(super) fn clear_ignored(folder: &Dir, name: &str) {
    let cleared = || -> io::Result<()> {
        let inside = sys::open_folder(folder, name)?;
        let names: Vec<_> =
            inside.entries()?.take(2).map(|entry| entry.map(|entry| entry.file_name())).collect::<Result<_, _>>()?;
        if names == [IGNORE_FILE] && inside.metadata(IGNORE_FILE)?.len() == IGNORED.len() as u64 {
            inside.remove_file(IGNORE_FILE)?;
        }
        Ok(())
    };
    if is_name(name, STATE_FOLDER)
        && let Err(error) = cleared()
    {
        tracing::debug!(%error, "{IGNORE_FILE} cannot be removed");
    }
}

/// Keeps locks, index and backups out of version control. A file that is there stays, so that a person can decide
/// otherwise. An error is ignored, because no file of memory depends on this one.
fn ignore_in_git(folder: &Dir) {
    let written = sys::open_file(folder, IGNORE_FILE, Access::WriteNew).and_then(|mut file| file.write_all(IGNORED));
    if let Err(error) = written
        && error.kind() != io::ErrorKind::AlreadyExists
    {
        tracing::debug!(%error, "{IGNORE_FILE} cannot be written");
    }
}

/// Opens the folder `name`; `None` if it does not exist.
fn open_one(folder: &Dir, name: &str) -> Result<Option<Dir>, FsError> {
    check_name(name)?;
    let mut attempts = 0;
    loop {
        attempts += 1;
        let error = match sys::open_folder(folder, name) {
            Ok(folder) => return Ok(Some(folder)),
            Err(error) if is_link_error(&error) => return Err(FsError::SymbolicLink),
            Err(error) => error,
        };
        // Systems return different errors for a link in place of a folder, so look again.
        match sys::stat_at(folder, name) {
            Ok(stat) => match stat.kind {
                // Another writer created it between the two looks.
                Kind::Directory if error.kind() == io::ErrorKind::NotFound && attempts < OPEN_ATTEMPTS => {}
                Kind::Directory => return Err(refusal(error)),
                Kind::Link => return Err(FsError::SymbolicLink),
                Kind::File | Kind::Other => return Err(FsError::NotDirectory),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(_) => return Err(refusal(error)),
        }
    }
}

fn split(path: &RelPath) -> (&str, &str) {
    path.as_str().rsplit_once('/').unwrap_or(("", path.as_str()))
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|segment| !segment.is_empty())
}

/// Windows interprets names further than other systems do: streams, devices, dropped endings.
fn check_name(name: &str) -> Result<(), FsError> {
    if cfg!(windows) && is_special_on_windows(name) {
        return Err(FsError::InvalidPath("Windows does not accept this name".into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_special_on_windows;

    #[test]
    fn streams_devices_and_dropped_endings_are_special_on_windows() {
        for name in ["a:b", "a.md::$DATA", "agents.", "agents ", "CON", "nul.md", "aux.x.md", "LPT1.md", "a?"] {
            assert!(is_special_on_windows(name), "{name}");
        }
        for name in ["a.md", "auxiliary.md", "console", ".zk", "com10.md"] {
            assert!(!is_special_on_windows(name), "{name}");
        }
    }
}
