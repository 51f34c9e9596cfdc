//! System calls that differ between systems, each on one name in an open folder.
//!
//! Nothing here follows a symbolic link: every name is a single segment, which is opened or examined itself. What changes a
//! file takes a [`Permit`] of the locks.

use std::fs::File;
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, OpenOptions};

use super::permit::Permit;

/// Returns nanoseconds since 1970.
///
/// Call it before the stat that it judges. A later time would trust the stat too early.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    Link,
    Other,
}

/// A name in a folder.
#[derive(Clone, Debug)]
pub(super) struct Name {
    /// Name, with U+FFFD for bytes that are not text.
    pub(super) text: String,
    /// True if the whole name is text.
    pub(super) is_exact: bool,
    /// Kind, if the folder tells it.
    pub(super) kind: Option<Kind>,
}

/// Metadata of a file. Times are nanoseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stat {
    pub(super) kind: Kind,
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) size: u64,
    pub(super) modified: i64,
    /// Change time of the inode; on systems without one, the creation time of the file.
    pub(super) changed: i64,
    /// Permission bits; 0 on systems without them.
    #[cfg_attr(not(unix), allow(dead_code))]
    pub(super) mode: u32,
    /// User and group; 0 on systems without them.
    #[cfg_attr(not(unix), allow(dead_code))]
    pub(super) owner: (u32, u32),
    /// Number of names of the file; 1 if it is unknown.
    pub(super) links: u64,
}

impl Stat {
    /// Returns true if both are the same file with, as far as times can tell, the same bytes.
    ///
    /// The change time does not count, because a rename or an unlink changes it too.
    pub(super) fn same_bytes(&self, other: &Self) -> bool {
        self.same_file(other) && (self.size, self.modified) == (other.size, other.modified)
    }

    /// Returns true if both are the same file.
    pub(super) fn same_file(&self, other: &Self) -> bool {
        let same = (self.kind, self.device, self.inode) == (other.kind, other.device, other.inode);
        // Without inodes, only the creation time distinguishes a file from the next one of that name.
        same && (cfg!(unix) || self.changed == other.changed)
    }
}

/// Purpose of opening a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Reads.
    Read,
    /// Reads and appends; the file exists.
    Append,
    /// Reads and appends; the file must not exist.
    AppendNew,
    /// Writes; the file must not exist.
    WriteNew,
    /// Only syncs; the file exists.
    Flush,
    /// Reads and writes; the file is created if it is missing.
    Lock,
    /// Reads and writes; the file exists.
    Overwrite,
}

/// Opens the file `name` itself. A link is an error; a pipe or a device does not block.
pub(super) fn open_file(folder: &Dir, name: &str, access: Access) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.follow(FollowSymlinks::No);
    match access {
        Access::Read => options.read(true),
        Access::Append => options.read(true).append(true),
        Access::AppendNew => options.read(true).append(true).create_new(true),
        Access::WriteNew => options.write(true).create_new(true),
        // Windows syncs only what is open for writing.
        Access::Flush => options.read(true).append(cfg!(windows)),
        Access::Lock => options.read(true).write(true).create(true),
        Access::Overwrite => options.read(true).write(true),
    };
    #[cfg(unix)]
    {
        cap_fs_ext::OpenOptionsSyncExt::nonblock(&mut options, true);
        cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    folder.open_with(name, &options).map(cap_std::fs::File::into_std)
}

/// Opens the folder `name`. A link is an error.
pub(super) fn open_folder(folder: &Dir, name: &str) -> io::Result<Dir> {
    folder.open_dir_nofollow(name)
}

/// Opens the folder at `path`, of several segments, in one call. A link anywhere on the way is an error. Only Linux
/// can do this; elsewhere, and on kernels before 5.6, every call fails.
#[cfg(target_os = "linux")]
pub(super) fn open_folder_at(root: &Dir, path: &str) -> io::Result<Dir> {
    use rustix::fs::{Mode, OFlags, ResolveFlags};

    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let folder = rustix::fs::openat2(root, path, flags, Mode::empty(), resolve)?;
    Ok(Dir::from_std_file(folder.into()))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn open_folder_at(_: &Dir, _: &str) -> io::Result<Dir> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Opens the file at `path`, of one segment or several, for reading in one call. A link anywhere on the way is an
/// error; a pipe or a device does not block. It fails on the same systems as [`open_folder_at`].
#[cfg(target_os = "linux")]
pub(super) fn open_file_at(root: &Dir, path: &str) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, ResolveFlags};

    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    Ok(rustix::fs::openat2(root, path, flags, Mode::empty(), resolve)?.into())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn open_file_at(_: &Dir, _: &str) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Creates the folder `name`, for its owner only.
pub(super) fn make_folder(folder: &Dir, name: &str) -> io::Result<()> {
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut builder = cap_std::fs::DirBuilder::new();
    #[cfg(unix)]
    cap_std::fs::DirBuilderExt::mode(&mut builder, 0o700);
    folder.create_dir_with(name, &builder)
}

/// Moves `from` to `to` in one step, and replaces whatever is there.
pub(super) fn replace(permit: Permit<'_>, folder: &Dir, from: &str, to: &str) -> io::Result<()> {
    replace_across(permit, folder, from, folder, to)
}

/// Moves `from` in one folder to `to` in another in one step, and replaces whatever is there.
pub(super) fn replace_across(
    _: Permit<'_>,
    from_folder: &Dir,
    from: &str,
    to_folder: &Dir,
    to: &str,
) -> io::Result<()> {
    from_folder.rename(from, to_folder, to)
}

/// Removes a file.
pub(super) fn remove(_: Permit<'_>, folder: &Dir, name: &str) -> io::Result<()> {
    folder.remove_file(name)
}

/// Returns what is different after each start of the machine; `None` if the system does not tell.
pub(super) fn boot() -> Option<String> {
    // Only Linux has it in a file.
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()
}

/// Syncs the bytes of a file, so that they survive a power cut.
pub(super) fn sync_file(file: &File) -> io::Result<()> {
    #[cfg(test)]
    super::tests::sync_result()?;
    file.sync_all()
}

/// Syncs a folder, so that created, renamed and removed names survive a power cut.
pub(super) fn sync_folder(folder: &Dir) -> io::Result<()> {
    #[cfg(test)]
    super::tests::sync_result()?;
    sync_names(folder)
}

#[cfg(unix)]
use unix::sync_names;
#[cfg(unix)]
pub(super) use unix::{RootId, names, root_at, root_of, stat_at, stat_of, take_over};

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use cap_std::fs::Dir;
    use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Uid};

    use super::{Kind, Name, Stat};

    /// Returns the metadata of `name` itself.
    pub(in super::super) fn stat_at(folder: &Dir, name: &str) -> io::Result<Stat> {
        Ok(convert(&rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Returns the metadata of an open file.
    pub(in super::super) fn stat_of(file: &File) -> io::Result<Stat> {
        Ok(convert(&rustix::fs::fstat(file)?))
    }

    /// Returns the names in a folder, unsorted, with their kind if the folder tells it. Names that are not UTF-8 are
    /// left out.
    pub(in super::super) fn names(folder: &Dir) -> io::Result<Vec<Name>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::new(readable(folder)?)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy();
            if name == "." || name == ".." {
                continue;
            }
            let kind = entry.file_type();
            let is_exact = matches!(name, std::borrow::Cow::Borrowed(_));
            let kind = (kind != FileType::Unknown).then(|| kind_of(kind));
            names.push(Name { text: name.into_owned(), is_exact, kind });
        }
        Ok(names)
    }

    pub(super) fn sync_names(folder: &Dir) -> io::Result<()> {
        Ok(rustix::fs::fsync(readable(folder)?)?)
    }

    /// Returns the same folder, open for reading. A folder that was opened as a mere path can be neither read nor
    /// synced.
    fn readable(folder: &Dir) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(folder, ".", flags, Mode::empty())?)
    }

    /// Identity of a folder on the machine: device and inode.
    pub(in super::super) type RootId = (u64, u64);

    /// Identifies an open folder.
    pub(in super::super) fn root_of(folder: &Dir) -> io::Result<RootId> {
        let stat = convert(&rustix::fs::fstat(folder)?);
        Ok((stat.device, stat.inode))
    }

    /// Identifies the folder that is at `path` now. Links on the way are followed.
    pub(in super::super) fn root_at(path: &Path) -> io::Result<RootId> {
        let stat = convert(&rustix::fs::stat(path)?);
        Ok((stat.device, stat.inode))
    }

    /// Gives a new file the permissions of the one that it replaces, and its owner if permitted, so that editing
    /// someone's file does not take it away from them.
    pub(in super::super) fn take_over(file: &File, old: &Stat) -> io::Result<()> {
        let new = stat_of(file)?;
        if new.owner != old.owner {
            let _ = rustix::fs::fchown(file, Some(Uid::from_raw(old.owner.0)), Some(Gid::from_raw(old.owner.1)));
        }
        if new.mode != old.mode {
            rustix::fs::fchmod(file, Mode::from_raw_mode(old.mode as rustix::fs::RawMode))?;
        }
        Ok(())
    }

    #[allow(clippy::unnecessary_cast, reason = "the types of the fields differ from system to system")]
    fn convert(stat: &rustix::fs::Stat) -> Stat {
        let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Stat {
            kind: kind_of(FileType::from_raw_mode(stat.st_mode)),
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            size: u64::try_from(stat.st_size as i64).unwrap_or(0),
            modified: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            mode: stat.st_mode as u32 & 0o777,
            owner: (stat.st_uid, stat.st_gid),
            links: stat.st_nlink as u64,
        }
    }

    fn kind_of(kind: FileType) -> Kind {
        match kind {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            _ => Kind::Other,
        }
    }
}

#[cfg(not(unix))]
use portable::sync_names;
#[cfg(not(unix))]
pub(super) use portable::{RootId, names, root_at, root_of, stat_at, stat_of, take_over};

/// Without inodes, a file is identified by size, creation time and last change. Permissions are inherited from the
/// folder. Folders cannot be synced and need not be.
#[cfg(not(unix))]
mod portable {
    use std::fs::File;
    use std::io;
    use std::time::{SystemTime, UNIX_EPOCH};

    use cap_std::fs::{Dir, FileType};

    use super::{Kind, Name, Stat};

    pub(in super::super) fn stat_at(folder: &Dir, name: &str) -> io::Result<Stat> {
        let found = folder.symlink_metadata(name)?;
        let time = |time: io::Result<cap_std::time::SystemTime>| time.ok().map(cap_std::time::SystemTime::into_std);
        Ok(convert(kind_of(found.file_type()), found.len(), time(found.modified()), time(found.created())))
    }

    pub(in super::super) fn stat_of(file: &File) -> io::Result<Stat> {
        let found = file.metadata()?;
        let kind = if found.is_file() {
            Kind::File
        } else if found.is_dir() {
            Kind::Directory
        } else {
            Kind::Other
        };
        Ok(convert(kind, found.len(), found.modified().ok(), found.created().ok()))
    }

    pub(in super::super) fn names(folder: &Dir) -> io::Result<Vec<Name>> {
        let mut names = Vec::new();
        for entry in folder.entries()? {
            let entry = entry?;
            let kind = entry.file_type().ok().map(kind_of);
            names.push(match entry.file_name().into_string() {
                Ok(text) => Name { text, is_exact: true, kind },
                Err(name) => Name { text: name.to_string_lossy().into_owned(), is_exact: false, kind },
            });
        }
        Ok(names)
    }

    pub(super) fn sync_names(_: &Dir) -> io::Result<()> {
        Ok(())
    }

    /// Empty: without inodes, only the existence of the folder can be checked.
    pub(in super::super) type RootId = ();

    pub(in super::super) fn root_of(_: &Dir) -> io::Result<RootId> {
        Ok(())
    }

    pub(in super::super) fn root_at(path: &std::path::Path) -> io::Result<RootId> {
        std::fs::metadata(path).map(drop)
    }

    pub(in super::super) fn take_over(_: &File, _: &Stat) -> io::Result<()> {
        Ok(())
    }

    fn convert(kind: Kind, size: u64, modified: Option<SystemTime>, created: Option<SystemTime>) -> Stat {
        let nanoseconds = |time: Option<SystemTime>| {
            let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
            i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
        };
        let (modified, changed) = (nanoseconds(modified), nanoseconds(created));
        Stat { kind, device: 0, inode: 0, size, modified, changed, mode: 0, owner: (0, 0), links: 1 }
    }

    fn kind_of(kind: FileType) -> Kind {
        if kind.is_symlink() {
            Kind::Link
        } else if kind.is_dir() {
            Kind::Directory
        } else if kind.is_file() {
            Kind::File
        } else {
            Kind::Other
        }
    }
}

/// Exchanges two names in one step. Returns `false` if the system or the file system cannot.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(super) fn exchange(_: Permit<'_>, folder: &Dir, one: &str, other: &str) -> io::Result<bool> {
    use rustix::fs::RenameFlags;
    match rustix::fs::renameat_with(folder, one, folder, other, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(errno) if is_unsupported(errno) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Exchanges two names in one step. Returns `false` if the system or the file system cannot.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(super) fn exchange(_: Permit<'_>, _: &Dir, _: &str, _: &str) -> io::Result<bool> {
    Ok(false)
}

/// Moves a file to a free name in one step; `AlreadyExists` if the name is taken.
pub(super) fn move_new(_: Permit<'_>, from_folder: &Dir, from: &str, to_folder: &Dir, to: &str) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::RenameFlags;
        match rustix::fs::renameat_with(from_folder, from, to_folder, to, RenameFlags::NOREPLACE) {
            Err(errno) if is_unsupported(errno) => {}
            result => return result.map_err(io::Error::from),
        }
    }
    move_new_by_link(from_folder, from, to_folder, to)
}

/// Moves a file on systems without such a rename: creates a second name, which cannot replace anything, then removes
/// the first one. Without hard links, it checks before the rename, which leaves a moment in which someone who takes no
/// lock can lose a file of that name.
fn move_new_by_link(from_folder: &Dir, from: &str, to_folder: &Dir, to: &str) -> io::Result<()> {
    match from_folder.hard_link(from, to_folder, to) {
        Ok(()) => from_folder.remove_file(from),
        Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => Err(error),
        Err(_) => match stat_at(to_folder, to) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => from_folder.rename(from, to_folder, to),
            Err(error) => Err(error),
        },
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn is_unsupported(errno: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP].contains(&errno)
}
