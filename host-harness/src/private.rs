//! [`PrivateFolder`]: a folder that nobody except this user and root can change, and the files in it.
//!
//! Compiled code and keys are only as safe as the path to them: whoever can rename one folder above a file can put another file
//! at its path. So every folder from the root of the disk down to the file is opened separately, without following links, and
//! its owner and mode are read from the open descriptor. The checked file is the one that is used: nothing is opened a second
//! time by its path.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, OpenOptions};

/// Reason why a folder or a file is not private.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrivateError {
    /// Someone else can change it, or read a secret in it.
    #[error("`{}` {problem}", path.display())]
    Exposed {
        /// Path of the folder or file.
        path: PathBuf,
        /// End of a sentence that begins with the path, such as "belongs to another user".
        problem: &'static str,
    },
    /// It cannot be opened, created or read.
    #[error("`{}`: {}", path.display(), crate::io_cause(source))]
    Io {
        /// Path of the folder or file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

impl PrivateError {
    /// Returns true if there is no such folder or file.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// Users who may read a file of a [`PrivateFolder`]. Nobody else may ever write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Any user.
    Anybody,
    /// This user and root.
    Owner,
}

/// An open folder. It and every folder above it belong to this user or to root. Nobody else can rename or remove
/// anything in them: others cannot write to them, or they have the sticky bit as `/tmp` does.
///
/// On Windows nothing is checked: the user's folders are private by their access lists.
#[derive(Debug)]
pub struct PrivateFolder {
    folder: Dir,
    path: PathBuf,
}

impl PrivateFolder {
    /// Opens the folder. Links on the way are resolved, and the folders above their target are checked.
    ///
    /// # Errors
    ///
    /// The topmost folder that others can change, or the reason why the folder cannot be opened.
    pub fn open(path: &Path) -> Result<Self, PrivateError> {
        let path = path.canonicalize().map_err(|source| PrivateError::Io { path: path.to_path_buf(), source })?;
        let folder = checked::open(&path)?;
        Ok(Self { folder, path })
    }

    /// Opens the folder, and creates it and its parents if they are missing, for this user only.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open), or the reason why a folder cannot be created.
    pub fn make(path: &Path) -> Result<Self, PrivateError> {
        #[cfg_attr(not(unix), allow(unused_mut))]
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(path).map_err(|source| PrivateError::Io { path: path.to_path_buf(), source })?;
        Self::open(path)
    }

    /// Opens a file of the folder for reading.
    ///
    /// # Errors
    ///
    /// The file is missing, a link, not a file, of another user, or others may write it or read it.
    pub fn open_file(&self, name: &str, readers: Readers) -> Result<File, PrivateError> {
        let file = self
            .open_as(name, OpenOptions::new().read(true))
            .map_err(|source| PrivateError::Io { path: self.path.join(name), source })?;
        checked::file(&file, readers, || self.path.join(name))?;
        Ok(file)
    }

    /// Creates a file that must not exist, for this user only.
    ///
    /// # Errors
    ///
    /// The name is taken, or the system refuses.
    pub fn create_new(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
        self.open_as(name, &options)
    }

    /// Opens the file itself. A link is an error, and a pipe does not block.
    fn open_as(&self, name: &str, options: &OpenOptions) -> io::Result<File> {
        let mut options = options.clone();
        options.follow(FollowSymlinks::No);
        #[cfg(unix)]
        cap_fs_ext::OpenOptionsSyncExt::nonblock(&mut options, true);
        self.folder.open_with(name, &options).map(cap_std::fs::File::into_std)
    }

    /// Returns the open folder.
    #[cfg_attr(not(feature = "compiler"), allow(dead_code))]
    pub(crate) fn dir(&self) -> &Dir {
        &self.folder
    }
}

#[cfg(unix)]
mod checked {
    use std::fs::File;
    use std::os::fd::OwnedFd;
    use std::path::{Component, Path, PathBuf};

    use cap_std::fs::Dir;
    use rustix::fs::{FileType, Mode, OFlags, Stat};

    use super::{PrivateError, Readers};

    const WRITABLE_BY_OTHERS: u32 = 0o022;
    const OPEN_TO_OTHERS: u32 = 0o077;
    const STICKY: u32 = 0o1000;

    /// Opens one folder after the other from the root of the disk, so that each is checked before the next name is
    /// looked up in it.
    pub(super) fn open(canonical: &Path) -> Result<Dir, PrivateError> {
        let mut path = PathBuf::from("/");
        let mut folder: Option<OwnedFd> = None;
        let names = canonical.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name),
            _ => None,
        });
        for name in std::iter::once(None).chain(names.map(Some)) {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let opened = match (&folder, name) {
                (Some(above), Some(name)) => {
                    path.push(name);
                    // A folder on the way may permit passing through only.
                    rustix::fs::openat(above, name, flags, Mode::empty())
                        .or_else(|_| rustix::fs::openat(above, name, flags | PASSING, Mode::empty()))
                }
                _ => rustix::fs::open("/", flags, Mode::empty())
                    .or_else(|_| rustix::fs::open("/", flags | PASSING, Mode::empty())),
            };
            let io = |error: rustix::io::Errno| PrivateError::Io { path: path.clone(), source: error.into() };
            let opened = opened.map_err(io)?;
            let found = rustix::fs::fstat(&opened).map_err(io)?;
            let problem = if !is_trusted(&found) {
                Some("belongs to another user")
            } else if mode(&found) & WRITABLE_BY_OTHERS != 0 && mode(&found) & STICKY == 0 {
                Some("can be written by other users")
            } else {
                None
            };
            if let Some(problem) = problem {
                return Err(PrivateError::Exposed { path, problem });
            }
            folder = Some(opened);
        }
        match folder {
            Some(folder) => Ok(Dir::from_std_file(folder.into())),
            None => Err(PrivateError::Io { path, source: std::io::ErrorKind::NotFound.into() }),
        }
    }

    /// Flags for opening a folder without the right to list it.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const PASSING: OFlags = OFlags::PATH;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const PASSING: OFlags = OFlags::empty();

    pub(super) fn file(file: &File, readers: Readers, path: impl FnOnce() -> PathBuf) -> Result<(), PrivateError> {
        let found = match rustix::fs::fstat(file) {
            Ok(found) => found,
            Err(error) => return Err(PrivateError::Io { path: path(), source: error.into() }),
        };
        let problem = if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            "is not a file"
        } else if !is_trusted(&found) {
            "belongs to another user"
        } else if mode(&found) & WRITABLE_BY_OTHERS != 0 {
            "can be written by other users"
        } else if readers == Readers::Owner && mode(&found) & OPEN_TO_OTHERS != 0 {
            "can be read by other users"
        } else {
            return Ok(());
        };
        Err(PrivateError::Exposed { path: path(), problem })
    }

    /// Root can do everything anyway.
    fn is_trusted(found: &Stat) -> bool {
        found.st_uid == 0 || found.st_uid == rustix::process::geteuid().as_raw()
    }

    #[allow(clippy::unnecessary_cast, clippy::cast_lossless, reason = "the type differs from system to system")]
    fn mode(found: &Stat) -> u32 {
        found.st_mode as u32
    }
}

#[cfg(not(unix))]
mod checked {
    use std::fs::File;
    use std::path::{Path, PathBuf};

    use cap_std::ambient_authority;
    use cap_std::fs::Dir;

    use super::{PrivateError, Readers};

    pub(super) fn open(canonical: &Path) -> Result<Dir, PrivateError> {
        Dir::open_ambient_dir(canonical, ambient_authority())
            .map_err(|source| PrivateError::Io { path: canonical.to_path_buf(), source })
    }

    pub(super) fn file(file: &File, _: Readers, path: impl FnOnce() -> PathBuf) -> Result<(), PrivateError> {
        match file.metadata() {
            Ok(found) if found.is_file() => Ok(()),
            Ok(_) => Err(PrivateError::Exposed { path: path(), problem: "is not a file" }),
            Err(source) => Err(PrivateError::Io { path: path(), source }),
        }
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, clippy::print_stderr)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// Returns a folder that is not below one that others can write, unless the whole machine is like that.
    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    fn problem<T: std::fmt::Debug>(result: Result<T, PrivateError>) -> &'static str {
        match result.unwrap_err() {
            PrivateError::Exposed { problem, .. } => problem,
            PrivateError::Io { source, .. } => unreachable!("{source}"),
        }
    }

    #[test]
    fn a_folder_below_one_that_others_can_write_is_refused() {
        let top = folder();
        let above = top.path().join("above");
        let inner = above.join("a/b");
        PrivateFolder::make(&inner).unwrap();
        for mode in [0o777, 0o770, 0o772] {
            set_mode(&above, mode);
            assert_eq!(problem(PrivateFolder::open(&inner)), "can be written by other users", "{mode:o}");
        }
        set_mode(&above, 0o1777);
        PrivateFolder::open(&inner).unwrap();
        set_mode(&above, 0o755);
        set_mode(&inner, 0o777);
        assert_eq!(problem(PrivateFolder::open(&inner)), "can be written by other users");
    }

    #[test]
    fn a_link_is_checked_where_it_leads() {
        let top = folder();
        let (open, own) = (top.path().join("open"), top.path().join("own"));
        fs::create_dir(&open).unwrap();
        fs::create_dir(open.join("cache")).unwrap();
        fs::create_dir(&own).unwrap();
        set_mode(&open, 0o777);
        symlink(open.join("cache"), own.join("link")).unwrap();
        assert_eq!(problem(PrivateFolder::open(&own.join("link"))), "can be written by other users");
        symlink(&own, top.path().join("good")).unwrap();
        PrivateFolder::open(&top.path().join("good")).unwrap();
    }

    #[test]
    fn a_file_that_is_a_link_or_open_to_others_is_refused() {
        let top = folder();
        let private = PrivateFolder::open(top.path()).unwrap();
        private.create_new("file").unwrap();
        private.open_file("file", Readers::Owner).unwrap();
        symlink("file", top.path().join("link")).unwrap();
        assert!(private.open_file("link", Readers::Anybody).is_err());
        set_mode(&top.path().join("file"), 0o644);
        assert_eq!(problem(private.open_file("file", Readers::Owner)), "can be read by other users");
        private.open_file("file", Readers::Anybody).unwrap();
        set_mode(&top.path().join("file"), 0o620);
        assert_eq!(problem(private.open_file("file", Readers::Anybody)), "can be written by other users");
        fs::create_dir(top.path().join("folder")).unwrap();
        assert_eq!(problem(private.open_file("folder", Readers::Anybody)), "is not a file");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            top.path().join("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        assert_eq!(problem(private.open_file("pipe", Readers::Anybody)), "is not a file");
        assert!(private.open_file("missing", Readers::Anybody).unwrap_err().is_missing());
    }

    #[test]
    fn what_belongs_to_another_user_is_refused() {
        const NOBODY: u32 = 65534;
        if !rustix::process::geteuid().is_root() {
            eprintln!("what_belongs_to_another_user_is_refused: not run, as only root can give a file away");
            return;
        }
        let top = folder();
        let inner = top.path().join("theirs/inner");
        let private = PrivateFolder::make(&inner).unwrap();
        private.create_new("file").unwrap();
        rustix::fs::chown(inner.join("file"), Some(rustix::fs::Uid::from_raw(NOBODY)), None).unwrap();
        assert_eq!(problem(private.open_file("file", Readers::Anybody)), "belongs to another user");
        rustix::fs::chown(top.path().join("theirs"), Some(rustix::fs::Uid::from_raw(NOBODY)), None).unwrap();
        assert_eq!(problem(PrivateFolder::open(&inner)), "belongs to another user");
    }
}
