//! Opens regular files only. A pipe is not waited for, and a device is refused.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file that is not a link.
pub(crate) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    if is_link(path) {
        return Err(refused());
    }
    without_waiting(options, true);
    checked(options.open(path)?)
}

/// Opens a regular file that is not a link. A new file can be read by this user alone.
pub(crate) fn open_private(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    open(path, options)
}

/// Returns the bytes of a regular file, or of the one that a link leads to, and `None` if it has more than `most`.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let bytes = head(path, most.saturating_add(1))?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// Returns the first bytes of a regular file, or of the one that a link leads to, at most this many.
pub(crate) fn head(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut options = OpenOptions::new();
    without_waiting(options.read(true), false);
    let mut bytes = Vec::new();
    checked(options.open(path)?)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Removes a regular file whose maker is gone: while it lives, it holds the lock of the file, and the error is
/// [`io::ErrorKind::WouldBlock`].
pub(crate) fn remove_unused(path: &Path) -> io::Result<()> {
    let file = match open(path, OpenOptions::new().read(true).write(true)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
        // A file system without locks has none that is held.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    std::fs::remove_file(path)
}

/// Returns true if a path is a regular file, and not a link to one.
pub(crate) fn is_one(path: &Path) -> bool {
    path.symlink_metadata().as_ref().is_ok_and(Metadata::is_file)
}

fn checked(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(refused()) }
}

fn refused() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_symlink())
}

/// Lets opening a pipe return at once. A link that takes the name meanwhile is not followed either.
#[cfg(unix)]
fn without_waiting(options: &mut OpenOptions, refuses_links: bool) {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::OFlags;

    let links = if refuses_links { OFlags::NOFOLLOW } else { OFlags::empty() };
    options.custom_flags((OFlags::NONBLOCK | links).bits().cast_signed());
}

#[cfg(not(unix))]
fn without_waiting(_: &mut OpenOptions, _: bool) {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn links_pipes_and_folders_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("none"), at("dangling")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
            .unwrap();
        for name in ["link", "dangling", "pipe", "."] {
            assert!(open(&at(name), OpenOptions::new().read(true)).is_err(), "{name}");
            assert!(open_private(&at(name), OpenOptions::new().append(true).create(true)).is_err(), "{name}");
        }
        assert!(!at("none").exists());
        assert_eq!(read(&at("link"), 4).unwrap().as_deref(), Some(&b"text"[..]));
        assert_eq!(read(&at("file"), 3).unwrap(), None);
        assert!(read(&at("pipe"), 4).is_err() && read(folder.path(), 4).is_err());
        assert!(remove_unused(&at("link")).is_err() && remove_unused(&at("none")).is_ok());
        let used = open(&at("file"), OpenOptions::new().read(true)).unwrap();
        used.lock().unwrap();
        assert_eq!(remove_unused(&at("file")).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert!(at("file").exists());
        drop(used);
        assert!(is_one(&at("file")) && !is_one(&at("link")) && !is_one(&at("pipe")) && !is_one(&at("none")));
        remove_unused(&at("file")).unwrap();
        assert!(!at("file").exists());
    }
}
