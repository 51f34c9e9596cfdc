//! The locks of a store ([`saddlebag_locks`]), as files that are opened from its root.
//!
//! A data file itself is never locked: each write replaces it, and a lock on the old file would stop nobody.

use std::fs::{File, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

use cap_std::fs::Dir;
use saddlebag::protocol::FsError;
use saddlebag_locks::{Identity, KernelGuard, KernelLocks, LOCKS_FOLDER, LockFiles, Number, Record};

use super::error::{Failed, refusal};
use super::leftovers::{self, Recovered};
use super::permit::Permit;
use super::sys::{self, Access, Kind};
use super::{protocol, walk};
use crate::Durability;

/// Maximum number of bytes that are read from a lock file, more than a holder and two paths need.
const LONGEST_TEXT: u64 = 16 * 1024;

/// The locks of some paths. It gives them back when it is dropped.
#[derive(Debug)]
pub(super) struct Guard<'d>(KernelGuard<'d, LockFolder>);

impl Guard<'_> {
    /// Returns the permit for the step that comes next.
    pub(super) fn check(&self) -> Result<Permit<'_>, Failed> {
        Ok(self.0.check()?.into())
    }

    /// Records the step that comes next, for the next holder of a lock if this process dies.
    pub(super) fn note(&self, record: &Record<'_>) {
        self.0.note(record);
    }
}

/// The files of the locks.
#[derive(Debug)]
pub(super) struct LockFolder {
    pub(super) root: Dir,
    me: Identity,
    began: Instant,
    on_recovered: Option<fn(&Recovered)>,
}

impl LockFolder {
    pub(super) fn new(root: Dir, on_recovered: Option<fn(&Recovered)>) -> Self {
        let path = std::env::current_exe().ok();
        let program = path.as_deref().and_then(|path| path.file_stem()).map(|name| name.to_string_lossy().into_owned());
        let program = program.unwrap_or_else(|| "unknown program".into());
        let process = std::process::id();
        // The hasher has a random key.
        let me = Identity::new(&process.to_string(), &program, RandomState::new().hash_one(process));
        Self { root, me, began: Instant::now(), on_recovered }
    }

    /// Waits for locks, at most `patience` for each as long as one host holds it.
    pub(super) fn acquire(
        &self,
        numbers: impl IntoIterator<Item = Number>,
        patience: Duration,
    ) -> Result<Guard<'_>, FsError> {
        KernelGuard::acquire(self, &self.me, numbers, patience)
            .map(Guard)
            .map_err(|error| Failed::from(error).into_answer())
    }

    /// Clears up after writers that seem to have died with unfinished work.
    pub(super) fn clear_abandoned(&self) {
        let Ok(Some(names)) = self.list(LOCKS_FOLDER) else { return };
        for number in names.iter().filter_map(|name| Number::from_name(name)) {
            let content = self.read(&format!("{LOCKS_FOLDER}/{number}"));
            if content.is_ok_and(|content| {
                content.is_some_and(|content| !content.is_empty() && !content.starts_with(b"free"))
            }) {
                // If the holder lives, it has the lock.
                drop(self.acquire([number], Duration::ZERO));
            }
        }
    }

    pub(super) fn report(&self, recovered: &Recovered) {
        tracing::warn!(path = %recovered.path, kept = %recovered.kept, "text is recovered");
        if let Some(tell) = self.on_recovered {
            tell(recovered);
        }
    }

    /// Opens the folder of a path, and returns it with the last segment; `None` if it does not exist.
    pub(super) fn find<'p>(&self, path: &'p str) -> Result<Option<(Dir, &'p str)>, FsError> {
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        Ok(walk::find_folder(&self.root, above)?.map(|folder| (folder, name)))
    }

    /// Opens a file that exists and has no second name, which may be outside of the store; `None` if it does not exist.
    fn open_existing(&self, path: &str, access: Access) -> Result<Option<File>, FsError> {
        let Some((folder, name)) = self.find(path)? else { return Ok(None) };
        open_existing_in(&folder, name, access)
    }
}

fn open_existing_in(folder: &Dir, name: &str, access: Access) -> Result<Option<File>, FsError> {
    match sys::open_file(folder, name, access) {
        Ok(file) if is_ours(&file) => Ok(Some(file)),
        Ok(_) => Err(second_name()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(refusal(error)),
    }
}

impl LockFiles for LockFolder {
    type Error = FsError;

    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, FsError> {
        let Some(mut file) = self.open_existing(path, Access::Read)? else { return Ok(None) };
        content_of(&mut file).map(Some).map_err(refusal)
    }

    // Opens the folder once: a server reads all lock files for each question.
    fn read_several(&self, folder: &str, names: &[String]) -> Result<Vec<Option<Vec<u8>>>, FsError> {
        let Some(folder) = walk::find_folder(&self.root, folder)? else { return Ok(vec![None; names.len()]) };
        let content = |name: &String| {
            let Some(mut file) = open_existing_in(&folder, name, Access::Read)? else { return Ok(None) };
            content_of(&mut file).map(Some).map_err(refusal)
        };
        names.iter().map(content).collect()
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<bool, FsError> {
        let Some(mut file) = self.open_existing(path, Access::Overwrite)? else { return Ok(false) };
        file.write_all(bytes).map(|()| true).map_err(refusal)
    }

    fn create(&self, path: &str, content: &[u8]) -> Result<bool, FsError> {
        let Some((folder, name)) = self.find(path)? else { return Err(refusal(io::ErrorKind::NotFound.into())) };
        match sys::open_file(&folder, name, Access::WriteNew) {
            Ok(mut file) => file.write_all(content).map(|()| true).map_err(refusal),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(refusal(error)),
        }
    }

    fn list(&self, folder: &str) -> Result<Option<Vec<String>>, FsError> {
        let Some(folder) = walk::find_folder(&self.root, folder)? else { return Ok(None) };
        let names = sys::names(&folder).map_err(refusal)?;
        Ok(Some(names.into_iter().map(|name| name.text).collect()))
    }

    fn remove(&self, path: &str) -> Result<(), FsError> {
        let Some((folder, name)) = self.find(path)? else { return Ok(()) };
        match folder.remove_file(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(refusal(error)),
            _ => Ok(()),
        }
    }

    fn make_folder(&self, path: &str) -> Result<(), FsError> {
        walk::make_folder(&self.root, path, Durability::Fast).map(drop)
    }

    fn now(&self) -> Duration {
        let now = self.began.elapsed();
        #[cfg(test)]
        let now = now + super::tests::stopped_for();
        now
    }

    fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }

    fn clean_up(&self, record: &Record<'_>) {
        if let Some(recovered) = leftovers::clear(&self.root, record) {
            self.report(&recovered);
        }
    }
}

/// An open lock file.
#[derive(Debug)]
pub(super) struct LockFile {
    file: File,
    /// True if it has no second name, which may be outside of the store.
    is_ours: bool,
    folder: Dir,
    name: String,
}

impl KernelLocks for LockFolder {
    type File = LockFile;

    fn open(&self, path: &str) -> Result<LockFile, FsError> {
        let (_, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = protocol::folder(&self.root, self)?;
        let file = sys::open_file(&folder, name, Access::Lock).map_err(refusal)?;
        Ok(LockFile { is_ours: is_ours(&file), file, folder, name: name.into() })
    }

    fn try_lock(&self, file: &LockFile) -> Result<bool, FsError> {
        match file.file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(refusal(error)),
        }
    }

    fn is_at(&self, file: &LockFile, _: &str) -> Result<bool, FsError> {
        match sys::stat_at(&file.folder, &file.name) {
            Ok(stat) => Ok(stat.same_file(&sys::stat_of(&file.file).map_err(refusal)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(refusal(error)),
        }
    }

    fn read_open(&self, file: &LockFile) -> Result<Vec<u8>, FsError> {
        if !file.is_ours {
            return Err(second_name());
        }
        let mut open = &file.file;
        open.seek(SeekFrom::Start(0)).and_then(|_| content_of(&mut open)).map_err(refusal)
    }

    fn write_open(&self, file: &LockFile, offset: u64, bytes: &[u8]) -> Result<(), FsError> {
        if !file.is_ours {
            return Err(second_name());
        }
        let mut open = &file.file;
        let written = open.seek(SeekFrom::Start(offset)).and_then(|_| open.write_all(bytes));
        written.map_err(|error| {
            let _ = open.set_len(0);
            refusal(error)
        })
    }
}

fn content_of(file: &mut impl Read) -> io::Result<Vec<u8>> {
    // Enough for most, so that one call reads all.
    let mut bytes = Vec::with_capacity(1024);
    file.take(LONGEST_TEXT).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns true if the file has no second name. A lease that another host has just removed has no name at all.
fn is_ours(file: &File) -> bool {
    sys::stat_of(file).is_ok_and(|stat| stat.kind == Kind::File && stat.links <= 1)
}

fn second_name() -> FsError {
    FsError::Other("a file of the locks has a second name; remove one of the two".into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    fn locks() -> (tempfile::TempDir, LockFolder) {
        let folder = tempfile::tempdir().unwrap();
        let root = Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).unwrap();
        (folder, LockFolder::new(root, None))
    }

    fn number() -> [Number; 1] {
        [Number::of("a.md")]
    }

    #[test]
    fn a_lock_that_is_not_given_back_ends_in_time_out_and_names_its_holder() {
        let (_folder, locks) = locks();
        let held = locks.acquire(number(), Duration::ZERO).unwrap();
        let error = locks.acquire(number(), Duration::from_millis(30)).unwrap_err();
        let text = error.to_string();
        let expected = format!("timed out: process {} (", std::process::id());
        assert!(text.starts_with(&expected) && text.contains("has held the lock of this file for "), "{text}");
        drop(held);
        assert!(locks.acquire(number(), Duration::ZERO).is_ok());
    }

    #[test]
    fn a_holder_leaves_its_name_and_its_record_until_it_gives_the_lock_back() {
        let (folder, locks) = locks();
        let text = || std::fs::read_to_string(folder.path().join(".saddlebag/locks-3/15")).unwrap();
        let guard = locks.acquire(number(), Duration::ZERO).unwrap();
        let mut lines = Vec::from_iter(text().lines().map(str::to_owned));
        assert_eq!((lines.len(), lines.pop().as_deref()), (2, Some("")));
        let record = Record::Staged { temporary: ".saddlebag-1.tmp", path: "a.md" };
        guard.note(&record);
        assert_eq!(text(), format!("{}\n{record}", lines[0]));
        assert!(lines[0].starts_with(&format!("held\t{}\t", std::process::id())), "{lines:?}");
        drop(guard);
        assert_eq!(text(), format!("free{}\n{record}", &lines[0][4..]));
        // Each line is a new one.
        drop(locks.acquire(number(), Duration::ZERO).unwrap());
        assert_ne!(text().lines().next(), Some(&*format!("free{}", &lines[0][4..])));
    }
}
