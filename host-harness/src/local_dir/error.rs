//! What the operating system says, in the words of the contract.

use std::io;

use saddlebag::protocol::FsError;

/// The contract's name for `error`; never with a path of this machine in it.
pub(super) fn refusal(error: io::Error) -> FsError {
    if is_link_error(&error) {
        return FsError::SymbolicLink;
    }
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => FsError::NoSpace,
        io::ErrorKind::ReadOnlyFilesystem => FsError::ReadOnly,
        io::ErrorKind::PermissionDenied => FsError::Denied,
        io::ErrorKind::IsADirectory => FsError::IsDirectory,
        io::ErrorKind::NotADirectory => FsError::NotDirectory,
        io::ErrorKind::TimedOut => FsError::TimedOut,
        io::ErrorKind::InvalidFilename => {
            FsError::InvalidPath("the file system does not take such a name".into())
        }
        kind => FsError::Other(match error.raw_os_error() {
            Some(code) => format!("{kind} (os error {code})"),
            None => kind.to_string(),
        }),
    }
}

/// Whether a link was met where none is followed.
#[cfg(unix)]
pub(super) fn is_link_error(error: &io::Error) -> bool {
    // `FilesystemLoop` is not a stable kind of error. FreeBSD says `EMLINK`.
    let code = error.raw_os_error();
    code == Some(rustix::io::Errno::LOOP.raw_os_error())
        || (cfg!(any(target_os = "freebsd", target_os = "dragonfly"))
            && code == Some(rustix::io::Errno::MLINK.raw_os_error()))
}

/// Whether a link was met where none is followed.
#[cfg(not(unix))]
pub(super) fn is_link_error(_: &io::Error) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use rustix::io::Errno;

    #[test]
    fn errors_are_told_apart() {
        for (errno, expected) in [
            (Errno::NOSPC, FsError::NoSpace),
            (Errno::DQUOT, FsError::NoSpace),
            (Errno::ROFS, FsError::ReadOnly),
            (Errno::ACCESS, FsError::Denied),
            (Errno::PERM, FsError::Denied),
            (Errno::ISDIR, FsError::IsDirectory),
            (Errno::NOTDIR, FsError::NotDirectory),
            (Errno::LOOP, FsError::SymbolicLink),
        ] {
            assert_eq!(refusal(errno.into()), expected);
        }
        let FsError::Other(text) = refusal(Errno::FBIG.into()) else {
            return assert_eq!("other", "");
        };
        assert_eq!(
            text,
            format!("file too large (os error {})", Errno::FBIG.raw_os_error())
        );
    }
}
