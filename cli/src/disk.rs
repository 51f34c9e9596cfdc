//! Reads and writes configuration files: whole files, atomically, and only if nobody else has changed them meanwhile.

use std::fs::{self, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use crate::failure::{Failure, ProgramCode};
use crate::regular;

/// Maximum size of a configuration file, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Beginning and end of the names of temporary files. No other program makes such names.
const TEMPORARY_PREFIX: &str = ".saddlebag-setup-";
const TEMPORARY_SUFFIX: &str = ".tmp";

/// Mark at the start of a file that some editors write.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Reason why a file was not read or written.
#[derive(Debug)]
pub(crate) enum DiskError {
    /// The file cannot be read.
    Unreadable(io::Error),
    /// The path leads to a folder, a pipe or a device.
    NotRegular,
    /// The file is larger than [`MAX_FILE_BYTES`].
    TooLarge,
    /// The file is not UTF-8 text.
    NotText { at: usize },
    /// The file has other bytes than those that were read before.
    Changed,
    /// The file must not be written.
    ReadOnly,
    /// The file cannot be written.
    Unwritable(io::Error),
}

impl std::fmt::Display for DiskError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "it cannot be read: {}", saddlebag_host::io_cause(error)),
            Self::NotRegular => f.write_str("it is not a regular file"),
            Self::TooLarge => write!(f, "it has more than {} MiB, so it is not a configuration", MAX_FILE_BYTES >> 20),
            Self::NotText { at } => write!(f, "it is not UTF-8 text (at byte {at})"),
            Self::Changed => f.write_str("another program changed it meanwhile; run the command again"),
            Self::ReadOnly => f.write_str("it is read-only; allow writing to it, or change it where it is made"),
            Self::Unwritable(error) => write!(f, "it cannot be written: {}", saddlebag_host::io_cause(error)),
        }
    }
}

/// Returns the bytes of a regular file, or of the one that a link leads to; `None` if there is no such file.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, DiskError> {
    read_up_to(path, MAX_FILE_BYTES)
}

fn read_up_to(path: &Path, most: u64) -> Result<Option<Vec<u8>>, DiskError> {
    match regular::read(path, most) {
        Ok(Some(bytes)) => Ok(Some(bytes)),
        Ok(None) => Err(DiskError::TooLarge),
        Err(_) if path.exists() && !path.is_file() => Err(DiskError::NotRegular),
        // A link that leads nowhere is an error, because the file would replace the link.
        Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => Ok(None),
        Err(error) => Err(DiskError::Unreadable(error)),
    }
}

/// Splits bytes into the byte order mark, if there is one, and the text.
pub(crate) fn text_of(bytes: &[u8]) -> Result<(&'static str, &str), DiskError> {
    let text = std::str::from_utf8(bytes).map_err(|error| DiskError::NotText { at: error.valid_up_to() })?;
    Ok(text.strip_prefix(BYTE_ORDER_MARK).map_or(("", text), |text| (BYTE_ORDER_MARK, text)))
}

/// Returns a new name for the temporary file of a file that will be written; `None` if it will be removed. It is beside
/// the file that a link leads to.
pub(crate) fn temporary_name(path: &Path, before: Option<&[u8]>, after: Option<&[u8]>) -> Option<PathBuf> {
    after?;
    let target = if before.is_some() { path.canonicalize().ok()? } else { path.to_path_buf() };
    Some(target.parent()?.join(random_name()))
}

/// Returns a name that no other file has.
fn random_name() -> String {
    let random = RandomState::new().hash_one(std::process::id());
    format!("{TEMPORARY_PREFIX}{random:016x}{TEMPORARY_SUFFIX}")
}

/// Returns true for the path of a temporary file.
pub(crate) fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let random = name.and_then(|name| name.strip_prefix(TEMPORARY_PREFIX)?.strip_suffix(TEMPORARY_SUFFIX));
    random.is_some_and(|random| random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Replaces the bytes of a file, or creates or removes the file. `before` are the bytes that were read; if the file has
/// others now, nothing is changed. A link stays, and the file that it leads to is changed. `temporary` is its
/// [`temporary_name`], which somebody has written down. Returns the folders that were created, the outermost first.
pub(crate) fn replace(
    path: &Path,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
    temporary: Option<&Path>,
) -> Result<Vec<PathBuf>, DiskError> {
    let target =
        if before.is_some() { path.canonicalize().map_err(DiskError::Unreadable)? } else { path.to_path_buf() };
    let Some(after) = after else {
        unchanged(&target, before)?;
        return fs::remove_file(&target).map(|()| Vec::new()).map_err(DiskError::Unwritable);
    };
    let folder = target.parent().unwrap_or(Path::new("/"));
    let made = make_folders(folder).map_err(DiskError::Unwritable)?;
    let temporary = temporary.filter(|temporary| temporary.parent() == Some(folder));
    let temporary = temporary.map_or_else(|| folder.join(random_name()), Path::to_path_buf);
    let written = write(&target, temporary, before, after);
    if written.is_err() {
        remove_folders(&made);
    }
    written.map(|()| made)
}

fn write(target: &Path, temporary: PathBuf, before: Option<&[u8]>, after: &[u8]) -> Result<(), DiskError> {
    let permissions = match fs::metadata(target) {
        Ok(metadata) if metadata.permissions().readonly() => return Err(DiskError::ReadOnly),
        Ok(metadata) => Some(metadata.permissions()),
        Err(_) => None,
    };
    // Of a new file, the system takes away what the user's mask excludes.
    let mode = if permissions.is_some() { 0o600 } else { 0o666 };
    let mut file = create(temporary, mode).map_err(DiskError::Unwritable)?;
    // The error of the file itself has its number; the error of the temporary file has only its kind.
    let filled = file.as_file_mut().write_all(after).and_then(|()| match permissions {
        Some(permissions) => file.as_file().set_permissions(permissions),
        None => Ok(()),
    });
    filled.and_then(|()| file.as_file().sync_all()).map_err(DiskError::Unwritable)?;
    unchanged(target, before)?;
    let kept = if before.is_some() { file.persist(target) } else { file.persist_noclobber(target) };
    kept.map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => DiskError::Changed,
        _ => DiskError::Unwritable(error.error),
    })?;
    Ok(())
}

/// Replaces a text file that still is what was read; an empty text removes it.
pub(crate) fn write_file(path: &Path, before: Option<&str>, after: &str) -> Result<(), Failure> {
    let before = before.map(str::as_bytes);
    let written = if after.is_empty() {
        unchanged(path, before).and_then(|()| fs::remove_file(path).map_err(DiskError::Unwritable))
    } else {
        let folder = path.parent().unwrap_or(Path::new("."));
        write(path, folder.join(random_name()), before, after.as_bytes())
    };
    written.map_err(|error| {
        let message = format!("cannot write `{}`: {error}", path.display());
        Failure::new(ProgramCode::Output, message, "check the permissions of the file and its folder")
    })
}

/// Writes a file that only this user can read.
pub(crate) fn write_private(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = create(folder.join(random_name()), 0o600)?;
    file.as_file_mut().write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Creates a temporary file, and holds its lock, so that another run does not take it for a file of a killed run.
fn create(path: PathBuf, #[cfg_attr(not(unix), allow(unused_variables))] mode: u32) -> io::Result<NamedTempFile> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    let file = options.open(&path)?;
    // Without locks, two runs at once may fail, but lose nothing.
    let _ = file.try_lock();
    Ok(NamedTempFile::from_parts(file, TempPath::try_from_path(path)?))
}

/// Fails if a file has other bytes than those that were read before.
fn unchanged(path: &Path, before: Option<&[u8]>) -> Result<(), DiskError> {
    let most = before.map_or(0, |bytes| bytes.len() as u64).max(MAX_FILE_BYTES);
    if read_up_to(path, most)?.as_deref() == before { Ok(()) } else { Err(DiskError::Changed) }
}

/// Creates a folder and those above it, and returns the created ones, the outermost first.
fn make_folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut missing: Vec<PathBuf> =
        folder.ancestors().take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect();
    missing.reverse();
    fs::create_dir_all(folder)?;
    Ok(missing)
}

/// Removes folders that are empty, the innermost first. A folder that has something stays.
pub(crate) fn remove_folders(folders: &[PathBuf]) {
    let mut folders: Vec<&PathBuf> = folders.iter().collect();
    folders.sort_unstable_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    for folder in folders {
        // A folder with files of others cannot be removed, which is what is wanted.
        let _ = fs::remove_dir(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<std::ffi::OsString> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn a_file_that_changed_since_it_was_read_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "theirs").unwrap();
        for (before, after) in [(Some(&b"old"[..]), Some(&b"ours"[..])), (None, Some(b"ours")), (Some(b"old"), None)] {
            let refused = replace(&path, before, after, None);
            assert!(matches!(refused, Err(DiskError::Changed)), "{refused:?}");
            assert_eq!(fs::read(&path).unwrap(), b"theirs");
        }
        assert_eq!(names(folder.path()), ["file"], "no temporary file is left");
        fs::remove_file(&path).unwrap();
        assert!(replace(&path, Some(b"old"), Some(b"ours"), None).is_err(), "somebody removed it");
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn created_folders_are_returned_and_removed_unless_somebody_uses_them() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("a/b/file");
        let made = replace(&path, None, Some(b"ours"), None).unwrap();
        assert_eq!(made, [top.path().join("a"), top.path().join("a/b")]);
        fs::write(top.path().join("a/theirs"), "").unwrap();
        replace(&path, Some(b"ours"), None, None).unwrap();
        remove_folders(&made);
        assert_eq!(names(top.path()), ["a"]);
        assert_eq!(names(&top.path().join("a")), ["theirs"]);
    }
}
