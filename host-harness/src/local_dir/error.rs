//! Errors of the operating system as errors of the contract.

use std::io;

use saddlebag::protocol::FsError;

/// Why an attempt at a change failed.
#[derive(Debug)]
pub(super) enum Failed {
    /// The change is not made.
    Refused(FsError),
    /// Its folder is gone, or another host has taken its lock over: begin again.
    Again,
}

impl Failed {
    /// Returns the answer to an operation that is not begun again.
    pub(super) fn into_answer(self) -> FsError {
        match self {
            Self::Refused(error) => error,
            Self::Again => FsError::Locked("another program has taken the lock over".into()),
        }
    }
}

impl From<FsError> for Failed {
    fn from(error: FsError) -> Self {
        Self::Refused(error)
    }
}

impl From<saddlebag_locks::Error<FsError>> for Failed {
    fn from(error: saddlebag_locks::Error<FsError>) -> Self {
        match error {
            saddlebag_locks::Error::Locked(locked) => Self::Refused(FsError::Locked(locked.to_string())),
            saddlebag_locks::Error::Lost => Self::Again,
            saddlebag_locks::Error::Files(error) => Self::Refused(error),
        }
    }
}

/// Returns why a file could not be created or moved. A file or folder that was there a moment ago is gone.
pub(super) fn failed(error: io::Error) -> Failed {
    if error.kind() == io::ErrorKind::NotFound { Failed::Again } else { Failed::Refused(refusal(error)) }
}

/// Returns the contract's error for `error`. It never contains a path of this machine.
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
        io::ErrorKind::InvalidFilename => FsError::InvalidPath("the file system does not accept this name".into()),
        _ => FsError::Other(match error.raw_os_error() {
            Some(code) => format!("{} (os error {code})", io_cause(&error)),
            None => io_cause(&error),
        }),
    }
}

/// Explains an error of the system to a person, without any path: the cause, and the way out if there is one.
pub fn io_cause(error: &io::Error) -> String {
    error.raw_os_error().and_then(explanation).map_or_else(|| kind_in_words(error.kind()), str::to_owned)
}

/// Returns the kind of an error. The standard library calls a file or folder an entity.
fn kind_in_words(kind: io::ErrorKind) -> String {
    match kind {
        io::ErrorKind::NotFound => "no such file or folder".into(),
        // A pipe or a device, or a name with a zero byte.
        io::ErrorKind::InvalidInput => "not a regular file, or no valid name".into(),
        io::ErrorKind::AlreadyExists => "a file or folder of this name exists already".into(),
        other => other.to_string(),
    }
}

/// Returns the answer to a change that was made but could not be synced.
pub(super) fn not_durable(error: io::Error) -> FsError {
    FsError::NotDurable(refusal(error).to_string())
}

/// Returns cause and way out for the system's error number. The standard library calls most of these uncategorized.
#[cfg(unix)]
fn explanation(code: i32) -> Option<&'static str> {
    use rustix::io::Errno;

    Some(match Errno::from_raw_os_error(code) {
        Errno::NOSPC => "no space left on the device; free some space and try again",
        Errno::DQUOT => "your quota on this file system is used up; free some space and try again",
        Errno::ROFS => "the file system is read-only",
        Errno::IO => "the disk reports an input/output error; check the disk and its cable or connection",
        Errno::MFILE => "this program has too many files open; raise the limit (`ulimit -n`) and try again",
        Errno::NFILE => "the machine has too many files open; end some programs and try again",
        Errno::NOMEM => "the machine is out of memory; end some programs and try again",
        Errno::STALE => "the network file system has lost the file (stale handle); mount it again and try again",
        Errno::TXTBSY => "the file is being run as a program; end that program and try again",
        Errno::BUSY => "the file or the device is in use by the system; try again when it is free",
        Errno::FBIG => "the file would be larger than the file system or the user's limit (`ulimit -f`) allows",
        Errno::NXIO | Errno::NODEV => "the device is gone; connect and mount it again",
        Errno::MLINK => "the folder has as many links as the file system allows; move some folders away",
        Errno::XDEV => {
            "the folders are on different file systems, so the file cannot be moved between them in one step"
        }
        Errno::NOTEMPTY => "the folder is not empty",
        Errno::HOSTDOWN
        | Errno::HOSTUNREACH
        | Errno::NETDOWN
        | Errno::NETUNREACH
        | Errno::CONNRESET
        | Errno::NOTCONN
        | Errno::CONNABORTED => "the server of the network file system does not answer; try again when it does",
        Errno::NOLCK => "the file system has no locks left or no lock service; check its mount options",
        Errno::NOSYS | Errno::OPNOTSUPP => {
            "the file system does not support this operation; keep the store on another one"
        }
        Errno::INVAL => "the system does not take this operation or name here (invalid argument)",
        _ => return None,
    })
}

#[cfg(not(unix))]
fn explanation(_: i32) -> Option<&'static str> {
    None
}

/// Returns true if a link was found where links are not followed.
#[cfg(unix)]
pub(super) fn is_link_error(error: &io::Error) -> bool {
    // `FilesystemLoop` is not a stable kind of error. FreeBSD returns `EMLINK`.
    let code = error.raw_os_error();
    code == Some(rustix::io::Errno::LOOP.raw_os_error())
        || (cfg!(any(target_os = "freebsd", target_os = "dragonfly"))
            && code == Some(rustix::io::Errno::MLINK.raw_os_error()))
}

/// Returns true if a link was found where links are not followed.
#[cfg(not(unix))]
pub(super) fn is_link_error(_: &io::Error) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use rustix::io::Errno;

    #[test]
    fn errors_are_distinguished() {
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
        assert!(text.contains("larger than the file system"), "{text}");
    }

    #[test]
    fn no_common_error_is_uncategorized() {
        for errno in [
            Errno::IO,
            Errno::MFILE,
            Errno::NFILE,
            Errno::NOMEM,
            Errno::ROFS,
            Errno::STALE,
            Errno::TXTBSY,
            Errno::BUSY,
            Errno::FBIG,
            Errno::NAMETOOLONG,
            Errno::NXIO,
            Errno::NODEV,
            Errno::MLINK,
            Errno::XDEV,
            Errno::NOTEMPTY,
            Errno::NOLCK,
            Errno::NOSYS,
            Errno::OPNOTSUPP,
            Errno::INVAL,
            Errno::HOSTDOWN,
            Errno::INTR,
            Errno::AGAIN,
            Errno::NOENT,
            Errno::EXIST,
            Errno::PIPE,
        ] {
            let text = refusal(errno.into()).to_string();
            assert!(!text.contains("uncategorized") && !text.contains("other error"), "{errno:?}: {text}");
        }
        let text = refusal(Errno::IO.into()).to_string();
        assert_eq!(
            text,
            "the disk reports an input/output error; check the disk and its cable or connection (os error 5)"
        );
    }
}
