//! [`Disk`]: the calls of `std::fs` below the root of a store, none of which follows a link that was there before.
//!
//! `std::fs` takes paths, not open folders, so each call looks at the folders of its path first. A link that somebody puts there
//! in between is followed, on WASI never to a place outside of the preopened folder.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use saddlebag::protocol::{EntryKind, FsError};

use crate::storage::{Found, Name, Stamp};

/// Time after which a change has another time on every file system, even one that counts whole seconds.
const SETTLED: Duration = Duration::from_secs(2);

/// Number of times that a file is read again if it changes meanwhile.
const ATTEMPTS: u32 = 8;

/// Number of times that a folder is listed again if something in it is removed meanwhile.
const LISTINGS: u32 = 1000;

/// A folder of the disk.
pub(super) struct Disk {
    root: PathBuf,
    #[cfg(target_os = "wasi")]
    folder: wasip2::filesystem::types::Descriptor,
}

/// A whole file and its time of change in nanoseconds since 1970.
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    pub(super) modified: u64,
}

/// What was read of a file.
enum Read {
    Whole(Content),
    Absent,
    NotRegular,
    /// It was changed meanwhile.
    Changing,
}

impl Read {
    /// Compares what was read with size and time of change of the file before and after.
    fn of(bytes: Vec<u8>, [before, after]: [(u64, u64); 2]) -> Self {
        let is_whole = before == after && before.0 == bytes.len() as u64;
        if is_whole { Self::Whole(Content { bytes, modified: before.1 }) } else { Self::Changing }
    }
}

impl Disk {
    pub(super) fn new(root: &Path) -> Result<Self, FsError> {
        Ok(Self {
            root: root.into(),
            #[cfg(target_os = "wasi")]
            folder: open_folder(root)?,
        })
    }

    fn at(&self, path: &str) -> PathBuf {
        if path.is_empty() { self.root.clone() } else { self.root.join(path) }
    }

    /// Checks the folders above a path. Returns false if one does not exist.
    pub(super) fn is_above(&self, path: &str) -> Result<bool, FsError> {
        path.rsplit_once('/').map_or(Ok(true), |(above, _)| self.is_folder(above))
    }

    /// Checks a folder and those above it. Returns false if one does not exist.
    pub(super) fn is_folder(&self, path: &str) -> Result<bool, FsError> {
        for end in ends(path) {
            match self.kind(&path[..end])? {
                Some(EntryKind::Directory) => {}
                Some(_) => return Err(self.not_a_folder(&path[..end])),
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Returns the kind of what is at a path whose folders were checked; `None` if nothing is there.
    pub(super) fn kind(&self, path: &str) -> Result<Option<EntryKind>, FsError> {
        match fs::symlink_metadata(self.at(path)) {
            Ok(found) => Ok(Some(kind_of(&found))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(fs_error(error)),
        }
    }

    /// Checks a path at which a file is, or may be. Returns false if nothing is there.
    pub(super) fn is_file(&self, path: &str) -> Result<bool, FsError> {
        if !self.is_above(path)? {
            return Ok(false);
        }
        match self.kind(path)? {
            None => Ok(false),
            Some(EntryKind::File) => Ok(true),
            Some(EntryKind::Directory) => Err(FsError::IsDirectory),
            Some(EntryKind::Other) if self.is_link(path) => Err(FsError::SymbolicLink),
            Some(EntryKind::Other) => Err(FsError::NotRegular),
        }
    }

    fn is_link(&self, path: &str) -> bool {
        fs::symlink_metadata(self.at(path)).is_ok_and(|found| found.file_type().is_symlink())
    }

    fn not_a_folder(&self, path: &str) -> FsError {
        if self.is_link(path) { FsError::SymbolicLink } else { FsError::NotDirectory }
    }

    /// Creates a folder and those above it, and syncs the folder above each new one.
    pub(super) fn make_folder(&self, path: &str) -> Result<(), FsError> {
        for end in ends(path) {
            let folder = &path[..end];
            match self.kind(folder)? {
                Some(EntryKind::Directory) => continue,
                Some(_) => return Err(self.not_a_folder(folder)),
                None => {}
            }
            #[cfg_attr(not(unix), allow(unused_mut))]
            let mut builder = fs::DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            match builder.create(self.at(folder)) {
                Ok(()) => self.sync_folder(above(folder))?,
                // Somebody else has made it, or something else there: the next round looks.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => return self.make_folder(path),
                Err(error) => return Err(fs_error(error)),
            }
        }
        Ok(())
    }

    /// Returns a whole file at one moment; `None` if it does not exist.
    pub(super) fn read(&self, path: &str) -> Result<Option<Content>, FsError> {
        if self.is_file(path)? { self.read_checked(path) } else { Ok(None) }
    }

    /// Returns a whole file in a folder that was checked.
    pub(super) fn read_checked(&self, path: &str) -> Result<Option<Content>, FsError> {
        for _ in 0..ATTEMPTS {
            match self.read_once(path).map_err(fs_error)? {
                Read::Whole(content) => return Ok(Some(content)),
                Read::Absent => return Ok(None),
                Read::NotRegular => return Err(FsError::NotRegular),
                Read::Changing => {}
            }
        }
        Err(FsError::Other("the file kept changing while it was read; try again".into()))
    }

    #[cfg(not(target_os = "wasi"))]
    fn read_once(&self, path: &str) -> io::Result<Read> {
        let mut file = match options().read(true).open(self.at(path)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Read::Absent),
            Err(error) => return Err(error),
        };
        let before = file.metadata()?;
        if !before.is_file() {
            return Ok(Read::NotRegular);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(before.len()).unwrap_or(0) + 1);
        io::Read::read_to_end(&mut file, &mut bytes)?;
        let after = file.metadata()?;
        Ok(Read::of(bytes, [&before, &after].map(|found| (found.len(), modified(found)))))
    }

    /// `std::fs` makes more than twice as many calls, which are most of the time of a listing.
    #[cfg(target_os = "wasi")]
    fn read_once(&self, path: &str) -> io::Result<Read> {
        use wasip2::filesystem::types::{DescriptorFlags, DescriptorType, ErrorCode, OpenFlags, PathFlags};

        let file = match self.folder.open_at(PathFlags::empty(), path, OpenFlags::empty(), DescriptorFlags::READ) {
            Ok(file) => file,
            Err(ErrorCode::NoEntry) => return Ok(Read::Absent),
            Err(code) => return Err(wasi_error(code)),
        };
        let before = file.stat().map_err(wasi_error)?;
        if before.type_ != DescriptorType::RegularFile {
            return Ok(Read::NotRegular);
        }
        let mut bytes = Vec::new();
        loop {
            // One byte more shows the end of the file.
            let wanted = (before.size + 1).saturating_sub(bytes.len() as u64).max(1);
            let (read, at_end) = file.read(wanted, bytes.len() as u64).map_err(wasi_error)?;
            let is_end = at_end || read.is_empty() || bytes.len() as u64 > before.size;
            if bytes.is_empty() {
                bytes = read;
            } else {
                bytes.extend(read);
            }
            if is_end {
                break;
            }
        }
        let after = file.stat().map_err(wasi_error)?;
        let modified = |time: Option<wasip2::clocks::wall_clock::Datetime>| {
            time.map_or(0, |time| time.seconds.saturating_mul(1_000_000_000).saturating_add(time.nanoseconds.into()))
        };
        Ok(Read::of(bytes, [before, after].map(|found| (found.size, modified(found.data_modification_timestamp)))))
    }

    /// Returns size and time of change of a file, unless it changed so lately that another change could have the same time.
    pub(super) fn stamp(&self, path: &str) -> Option<Stamp> {
        if !self.is_file(path).ok()? {
            return None;
        }
        let found = fs::symlink_metadata(self.at(path)).ok()?;
        let age = found.modified().ok()?.elapsed().ok()?;
        (age > SETTLED).then(|| Stamp(found.len(), modified(&found)))
    }

    /// Returns what is in a folder; nothing if it does not exist.
    pub(super) fn list(&self, folder: &str) -> Result<Vec<Found>, FsError> {
        for _ in 0..LISTINGS {
            if !self.is_folder(folder)? {
                return Ok(Vec::new());
            }
            #[cfg(target_os = "wasi")]
            let found = entries(&self.folder, folder);
            #[cfg(not(target_os = "wasi"))]
            let found = entries(&self.at(folder));
            if let Some(found) = found.map_err(fs_error)? {
                return Ok(found);
            }
        }
        Err(FsError::Other("the folder kept changing while it was listed; try again".into()))
    }

    /// Creates a file that must be new, with these bytes and the permissions of another file, and syncs it.
    pub(super) fn create(&self, path: &str, bytes: &[u8], like: Option<&str>) -> Result<(), FsError> {
        self.create_new(path, bytes, like, true).map_err(fs_error)
    }

    pub(super) fn create_new(&self, path: &str, bytes: &[u8], like: Option<&str>, synced: bool) -> io::Result<()> {
        let mut options = options();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.write(true).create_new(true).open(self.at(path))?;
        if let Some(permissions) =
            like.and_then(|like| fs::symlink_metadata(self.at(like)).ok()).map(|like| like.permissions())
        {
            // A host without permissions cannot set them.
            let _ = file.set_permissions(permissions);
        }
        file.write_all(bytes)?;
        if synced { file.sync_all() } else { Ok(()) }
    }

    /// Refuses a file that has a second name, which may be outside of the store. WASI does not tell.
    #[cfg_attr(not(unix), allow(clippy::unused_self, clippy::unnecessary_wraps, unused_variables))]
    pub(super) fn refuse_second_name(&self, path: &str) -> Result<(), FsError> {
        #[cfg(unix)]
        if fs::symlink_metadata(self.at(path))
            .is_ok_and(|found| found.is_file() && std::os::unix::fs::MetadataExt::nlink(&found) > 1)
        {
            return Err(FsError::Other("a file of the locks has a second name".into()));
        }
        Ok(())
    }

    /// Writes over the first bytes of a file that exists. Returns false if it does not.
    pub(super) fn overwrite(&self, path: &str, bytes: &[u8]) -> Result<bool, FsError> {
        if !self.is_file(path)? {
            return Ok(false);
        }
        match options().write(true).open(self.at(path)) {
            Ok(mut file) => file.write_all(bytes).map(|()| true).map_err(fs_error),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(fs_error(error)),
        }
    }

    /// Replaces what is at `to`, in one step.
    pub(super) fn rename(&self, from: &str, to: &str) -> Result<(), FsError> {
        fs::rename(self.at(from), self.at(to)).map_err(fs_error)?;
        // Two names of one file both stay.
        match (self.read(from), self.read(to)) {
            (Ok(Some(left)), Ok(Some(moved))) if left.bytes == moved.bytes => self.remove(from),
            _ => Ok(()),
        }
    }

    /// Gives a file a second name. Returns false if the name is taken.
    pub(super) fn link(&self, from: &str, to: &str) -> Result<bool, FsError> {
        match fs::hard_link(self.at(from), self.at(to)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(fs_error(error)),
        }
    }

    /// Moves a file to a free path. Returns false if it is taken.
    pub(super) fn place_new(&self, from: &str, to: &str) -> Result<bool, FsError> {
        match self.link(from, to) {
            Ok(true) => self.remove(from).map(|()| true),
            Ok(false) => Ok(false),
            // Where there are no second names, only the lock keeps others from a name that was free.
            Err(_) if self.kind(to)?.is_none() => self.rename(from, to).map(|()| true),
            Err(_) => Ok(false),
        }
    }

    /// Removes a file. It is not an error if it is gone.
    pub(super) fn remove(&self, path: &str) -> Result<(), FsError> {
        match fs::remove_file(self.at(path)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(fs_error(error)),
            _ => Ok(()),
        }
    }

    /// Removes an empty folder. Returns false if it is not empty.
    pub(super) fn remove_folder(&self, path: &str) -> Result<bool, FsError> {
        match fs::remove_dir(self.at(path)) {
            Ok(()) => Ok(true),
            Err(error) if kind_of_error(&error) == ErrorKind::DirectoryNotEmpty => Ok(false),
            Err(error) => Err(fs_error(error)),
        }
    }

    pub(super) fn sync_file(&self, path: &str) -> Result<(), FsError> {
        let file = options().read(true).open(self.at(path)).map_err(fs_error)?;
        file.sync_all().map_err(fs_error)
    }

    pub(super) fn sync_folder(&self, path: &str) -> Result<(), FsError> {
        File::open(self.at(path)).and_then(|folder| folder.sync_all()).map_err(fs_error)
    }
}

/// Returns the folder that a path is in; empty for the root.
pub(super) fn above(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(above, _)| above)
}

/// Returns the ends of a folder and of those above it, outermost first; nothing for the root.
fn ends(path: &str) -> impl Iterator<Item = usize> {
    let last = (!path.is_empty()).then_some(path.len());
    path.match_indices('/').map(|(end, _)| end).chain(last)
}

/// Opens no link and waits for no pipe, where the system can be asked for it.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    options.create(false);
    options
}

fn kind_of(found: &Metadata) -> EntryKind {
    if found.is_file() {
        EntryKind::File
    } else if found.is_dir() {
        EntryKind::Directory
    } else {
        EntryKind::Other
    }
}

fn modified(found: &Metadata) -> u64 {
    let since = found.modified().ok().and_then(|modified| modified.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// Returns the entries of a folder; `None` if one was removed meanwhile. Without it, the rest may show no moment: the newest
/// lease is removed after the next one was created.
#[cfg(not(target_os = "wasi"))]
fn entries(folder: &Path) -> io::Result<Option<Vec<Found>>> {
    let mut found = Vec::new();
    let listing = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        listing => listing?,
    };
    for entry in listing {
        let entry = entry?;
        let kind = match entry.file_type() {
            Ok(kind) if kind.is_file() => EntryKind::File,
            Ok(kind) if kind.is_dir() => EntryKind::Directory,
            Ok(_) => EntryKind::Other,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let name = match entry.file_name().into_string() {
            Ok(name) => Name::Text(name),
            Err(name) => Name::Damaged(name.to_string_lossy().into_owned()),
        };
        found.push(Found { name, kind });
    }
    Ok(Some(found))
}

/// Opens a folder for the calls of WASI that `std::fs` does not have.
#[cfg(target_os = "wasi")]
fn open_folder(folder: &Path) -> Result<wasip2::filesystem::types::Descriptor, FsError> {
    use wasip2::filesystem::preopens::get_directories;
    use wasip2::filesystem::types::{DescriptorFlags, OpenFlags, PathFlags};

    let mut opened = get_directories();
    // The longest path that leads here, as `std::fs` takes it.
    opened.sort_by_key(|(_, path)| std::cmp::Reverse(path.len()));
    let below = |path: &str| match folder.strip_prefix(path) {
        Err(_) if path == "." && folder.is_relative() => Some(folder),
        below => below.ok(),
    };
    let mut found = opened.iter().filter_map(|(open, path)| Some((open, below(path)?.to_str()?)));
    let (above, rest) = found.next().ok_or(FsError::Denied)?;
    let rest = if rest.is_empty() { "." } else { rest };
    let folder = above.open_at(PathFlags::SYMLINK_FOLLOW, rest, OpenFlags::DIRECTORY, DescriptorFlags::READ);
    folder.map_err(|code| fs_error(wasi_error(code)))
}

/// Returns an error of WASI as `std::fs` does.
#[cfg(target_os = "wasi")]
fn wasi_error(code: wasip2::filesystem::types::ErrorCode) -> io::Error {
    use wasip2::filesystem::types::ErrorCode;
    let kind = match code {
        ErrorCode::Access | ErrorCode::NotPermitted => ErrorKind::PermissionDenied,
        ErrorCode::IsDirectory => ErrorKind::IsADirectory,
        ErrorCode::NotDirectory => ErrorKind::NotADirectory,
        _ => ErrorKind::Other,
    };
    io::Error::new(kind, code)
}

/// Returns the entries of a folder below the root; `None` if one was removed meanwhile. `std::fs` ends at a name that is not
/// UTF-8, and WASI goes on.
#[cfg(target_os = "wasi")]
fn entries(root: &wasip2::filesystem::types::Descriptor, folder: &str) -> io::Result<Option<Vec<Found>>> {
    use wasip2::filesystem::types::{DescriptorFlags, DescriptorType, ErrorCode, OpenFlags, PathFlags};

    let folder = if folder.is_empty() { "." } else { folder };
    let folder = root.open_at(PathFlags::empty(), folder, OpenFlags::DIRECTORY, DescriptorFlags::READ);
    let stream = match folder.and_then(|folder| folder.read_directory()) {
        Err(ErrorCode::NoEntry) => return Ok(None),
        stream => stream.map_err(wasi_error)?,
    };
    let mut found = Vec::new();
    loop {
        match stream.read_directory_entry() {
            Ok(None) => return Ok(Some(found)),
            Ok(Some(entry)) => {
                let kind = match entry.type_ {
                    DescriptorType::RegularFile => EntryKind::File,
                    DescriptorType::Directory => EntryKind::Directory,
                    _ => EntryKind::Other,
                };
                found.push(Found { name: Name::Text(entry.name), kind });
            }
            // The name is not told.
            Err(ErrorCode::IllegalByteSequence) => {
                let name = Name::Damaged(char::REPLACEMENT_CHARACTER.into());
                found.push(Found { name, kind: EntryKind::Other });
            }
            // The runtime looks at each entry after it has listed them all.
            Err(ErrorCode::NoEntry) => return Ok(None),
            Err(code) => return Err(wasi_error(code)),
        }
    }
}

/// Returns the kind of an error. The standard library knows few of the numbers of WASI.
fn kind_of_error(error: &io::Error) -> ErrorKind {
    #[cfg(target_os = "wasi")]
    match error.raw_os_error() {
        Some(2 | 63 | 76) => return ErrorKind::PermissionDenied,
        Some(19 | 51) => return ErrorKind::StorageFull,
        Some(31) => return ErrorKind::IsADirectory,
        Some(54) => return ErrorKind::NotADirectory,
        Some(55) => return ErrorKind::DirectoryNotEmpty,
        Some(69) => return ErrorKind::ReadOnlyFilesystem,
        _ => {}
    }
    error.kind()
}

pub(super) fn fs_error(error: io::Error) -> FsError {
    match kind_of_error(&error) {
        ErrorKind::PermissionDenied => FsError::Denied,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => FsError::NoSpace,
        ErrorKind::ReadOnlyFilesystem => FsError::ReadOnly,
        ErrorKind::IsADirectory => FsError::IsDirectory,
        ErrorKind::NotADirectory => FsError::NotDirectory,
        ErrorKind::TimedOut => FsError::TimedOut,
        _ => FsError::Other(error.to_string()),
    }
}
