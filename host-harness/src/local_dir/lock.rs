//! Locks that keep writers of one path apart, in this process and in others.
//!
//! A path belongs to one of [`SHARDS`] lock files in the folder of the lock [`protocol`]. A data file itself is never
//! locked: each write replaces it, and a lock on the old file would stop nobody.
//!
//! While it is held, a lock file names the holder, for those who wait, and the holder's temporary file, for the next
//! holder if this one dies. At all other times it is empty.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cap_std::fs::Dir;
use saddlebag::protocol::FsError;
use saddlebag::store::RelPath;

use super::error::refusal;
use super::protocol;
use super::sys::{self, Access, Kind};

/// Number of lock files: enough that two paths seldom share one.
const SHARDS: u64 = 64;

/// Maximum pause between two attempts to get a lock.
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// Pause between two checks of the holder of a lock.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Maximum wait, as a multiple of the patience, while the lock moves from one writer to the next.
const MOST_PATIENCES: u32 = 12;

/// Maximum number of bytes that are read from a lock file, more than a holder and two paths need.
const LONGEST_TEXT: u64 = 16 * 1024;

/// Holds the locks of some paths until it is dropped.
#[derive(Debug)]
pub(super) struct Guard {
    held: Vec<Held>,
}

/// A lock file that is held.
#[derive(Debug)]
struct Held {
    file: File,
    /// Length of the line that names the holder, in bytes.
    header: u64,
    /// True if the file may be written to: a second name of it may be outside of the store.
    is_ours: bool,
}

impl Held {
    fn new(file: File) -> Self {
        let is_ours = sys::stat_of(&file).is_ok_and(|stat| stat.kind == Kind::File && stat.links == 1);
        Self { file, header: 0, is_ours }
    }
}

impl Guard {
    /// Returns the records of dead holders in the lock files.
    pub(super) fn leftovers(&mut self) -> Vec<String> {
        let ours = self.held.iter_mut().filter(|held| held.is_ours);
        ours.map(|held| text_of(&mut held.file)).filter(|text| !text.is_empty()).collect()
    }

    /// Writes this process as the holder into the lock files. An error is ignored, because the lock holds without the
    /// text.
    pub(super) fn sign(&mut self) {
        for held in self.held.iter_mut().filter(|held| held.is_ours) {
            let line = holder_line();
            let signed = held.file.set_len(0).and_then(|()| write_at(&held.file, 0, &line));
            held.header = if signed.is_ok() { line.len() as u64 } else { 0 };
        }
    }

    /// Records the temporary file in use in each lock file, for the next holder if this process dies.
    pub(super) fn note(&self, record: &str) {
        for held in self.held.iter().filter(|held| held.is_ours) {
            if let Err(error) = write_at(&held.file, held.header, record) {
                tracing::debug!(%error, "a temporary file is not noted in its lock file");
            }
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        for held in self.held.iter().filter(|held| held.is_ours) {
            // Text that stays tells the next holder that a program died, so it looks for leftovers.
            let _ = held.file.set_len(0);
        }
    }
}

/// Waits for the locks of `paths`, at most `patience` for each as long as one writer holds it.
pub(super) fn acquire(root: &Dir, paths: &[&RelPath], patience: Duration) -> Result<Guard, FsError> {
    acquire_shards(root, paths.iter().map(|path| shard(path.as_str())).collect(), patience)
}

/// Waits for all locks, so that no writer of any path is active.
pub(super) fn acquire_all(root: &Dir, patience: Duration) -> Result<Guard, FsError> {
    acquire_shards(root, (0..SHARDS).collect(), patience)
}

fn acquire_shards(root: &Dir, mut shards: Vec<u64>, patience: Duration) -> Result<Guard, FsError> {
    // All writers use the same order, or two renames in opposite directions would wait for each other. Two paths of one
    // number share a lock, and a second attempt to take it would wait for the first.
    shards.sort_unstable();
    shards.dedup();
    let mut held = Vec::with_capacity(shards.len());
    for shard in shards {
        held.push(Held::new(acquire_one(|| protocol::folder(root), &file_name(shard), patience)?));
    }
    Ok(Guard { held })
}

/// Waits for all lock files in the folder of an earlier protocol, so that no host of it is changing the store.
pub(super) fn acquire_earlier(folder: &Dir, patience: Duration) -> Result<Guard, FsError> {
    let open = || folder.try_clone().map_err(refusal);
    let held = (0..SHARDS).map(|shard| acquire_one(open, &file_name(shard), patience).map(Held::new));
    Ok(Guard { held: held.collect::<Result<_, _>>()? })
}

/// Returns the names of all lock files.
pub(super) fn file_names() -> impl Iterator<Item = String> {
    (0..SHARDS).map(file_name)
}

fn file_name(shard: u64) -> String {
    format!("{shard:02}")
}

/// Returns the locks, each held, whose holders seem to have died with unfinished work.
pub(super) fn abandoned(root: &Dir) -> Vec<Guard> {
    let Ok(Some(folder)) = protocol::find(root) else { return Vec::new() };
    let names = sys::names(&folder).unwrap_or_default().into_iter().map(|name| name.text);
    names
        .filter(|name| name.len() == 2 && name.parse::<u64>().is_ok_and(|shard| shard < SHARDS))
        .filter(|name| sys::stat_at(&folder, name).is_ok_and(|stat| stat.size > 0))
        .filter_map(|name| acquire_one(|| protocol::folder(root), &name, Duration::ZERO).ok())
        .map(|file| Guard { held: vec![Held::new(file)] })
        .collect()
}

fn acquire_one(open: impl Fn() -> Result<Dir, FsError>, name: &str, patience: Duration) -> Result<File, FsError> {
    let mut wait = Wait::new(patience);
    loop {
        // Opened again each time, because an old handle may be of a deleted file.
        let folder = open()?;
        let mut file = sys::open_file(&folder, name, Access::Lock).map_err(refusal)?;
        // Polls, because a blocking wait cannot end in time if the holder was suspended.
        while let Err(error) = file.try_lock() {
            match error {
                TryLockError::WouldBlock => wait.pause(&mut file)?,
                TryLockError::Error(error) => return Err(refusal(error)),
            }
        }
        if is_current(&folder, name, &file).map_err(refusal)? {
            return Ok(file);
        }
    }
}

/// A wait for a lock. It continues as long as the lock moves from one writer to the next, because they make progress.
struct Wait {
    patience: Duration,
    began: Instant,
    /// Time when the present holder was first seen.
    since: Instant,
    looked: Option<Instant>,
    holder: String,
    pause: Duration,
}

impl Wait {
    fn new(patience: Duration) -> Self {
        let now = Instant::now();
        let pause = Duration::from_micros(20);
        Self { patience, began: now, since: now, looked: None, holder: String::new(), pause }
    }

    /// Sleeps for a moment, or gives up.
    fn pause(&mut self, file: &mut File) -> Result<(), FsError> {
        let now = Instant::now();
        let is_over = now.duration_since(self.since) >= self.patience;
        if is_over || self.looked.is_none_or(|looked| now.duration_since(looked) >= LOOK_EVERY) {
            let holder = text_of(file).lines().next().unwrap_or_default().to_owned();
            // An empty text means that the holder has not written its name yet.
            if holder != self.holder && !holder.is_empty() {
                if self.looked.is_some() {
                    self.since = now;
                }
                self.holder = holder;
            }
            self.looked = Some(now);
        }
        let waited = now.duration_since(self.since);
        let all = now.duration_since(self.began);
        if waited >= self.patience || all >= self.patience * MOST_PATIENCES {
            let holder = Holder(&self.holder);
            return Err(FsError::Locked(if waited >= self.patience {
                format!("{holder} has held the lock of this file for {}", Seconds(waited))
            } else {
                format!("other writers have held the lock of this file for {}, now {holder}", Seconds(all))
            }));
        }
        thread::sleep(self.pause);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}

/// First line of a lock file, formatted for a message.
struct Holder<'a>(&'a str);

impl fmt::Display for Holder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = self.0.split('\t');
        let process = words.next().and_then(|word| word.parse::<u32>().ok());
        match (process, words.next()) {
            (Some(process), Some(program)) => write!(f, "process {process} ({program})"),
            _ => f.write_str("another program"),
        }
    }
}

struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < Duration::from_secs(1) {
            return write!(f, "{} ms", self.0.as_millis());
        }
        write!(f, "{} s", self.0.as_secs())
    }
}

/// Returns the process, the program, and a number that no other lock of the process has.
fn holder_line() -> String {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let program = PROGRAM.get_or_init(|| {
        let path = std::env::current_exe().ok();
        let name = path.as_deref().and_then(|path| path.file_stem()).map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_else(|| "unknown program".into());
        name.chars().filter(|c| !c.is_control()).take(64).collect()
    });
    format!("{}\t{program}\t{}\n", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed))
}

/// Returns the text of a lock file; empty if it cannot be read.
fn text_of(file: &mut File) -> String {
    let mut bytes = Vec::new();
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.take(LONGEST_TEXT).read_to_end(&mut bytes));
    if read.is_ok() { String::from_utf8_lossy(&bytes).into_owned() } else { String::new() }
}

fn write_at(mut file: &File, offset: u64, text: &str) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(text.as_bytes())
}

/// Returns true if the locked file is still the one that others would lock.
fn is_current(folder: &Dir, name: &str, file: &File) -> io::Result<bool> {
    match sys::stat_at(folder, name) {
        Ok(stat) => Ok(stat.same_file(&sys::stat_of(file)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// FNV-1a over the ASCII characters of the path, in lower case.
///
/// If the file system ignores case, two spellings of one file must share a lock. Hosts whose Unicode tables differ
/// disagree about the lower case of other characters, so these do not count.
fn shard(path: &str) -> u64 {
    let letters = path.bytes().filter(u8::is_ascii).map(|byte| byte.to_ascii_lowercase());
    let hash =
        letters.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    hash % SHARDS
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    fn root() -> (tempfile::TempDir, Dir) {
        let folder = tempfile::tempdir().unwrap();
        let root = Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).unwrap();
        (folder, root)
    }

    fn path() -> RelPath {
        RelPath::new("a.md").unwrap()
    }

    fn lock(root: &Dir) -> Guard {
        let mut guard = acquire(root, &[&path()], Duration::from_secs(10)).unwrap();
        guard.sign();
        guard
    }

    /// Invariant (disk): no data file is ever locked, because a write puts another file in its place, and writers of
    /// different releases agree on the lock of a path.
    #[test]
    fn shards_stay_what_they_are() {
        // Writers of different releases must use the same shards.
        assert_eq!([shard("MEMORY.md"), shard("memory.MD"), shard("daily/2026-05-30.md")], [9, 9, 48]);
    }

    #[test]
    fn a_character_that_hosts_lower_differently_does_not_count() {
        for path in ["notes/Ɤ.md", "notes/ɤ.md", "notes/é.md", "notes/笔记.MD", "Notes/.md"] {
            assert_eq!(shard(path), 42, "{path}");
        }
    }

    #[test]
    fn two_paths_of_one_number_are_locked_once() {
        let (_folder, root) = root();
        let paths = ["notes/笔.md", "notes/记.md"].map(|path| RelPath::new(path).unwrap());
        let guard = acquire(&root, &[&paths[0], &paths[1]], Duration::ZERO).unwrap();
        assert_eq!(guard.held.len(), 1);
    }

    #[test]
    fn a_lock_that_is_not_given_back_ends_in_time_out_and_names_its_holder() {
        let (_folder, root) = root();
        let path = path();
        let mut held = acquire(&root, &[&path, &path], Duration::ZERO).unwrap();
        let FsError::Locked(text) = acquire(&root, &[&path], Duration::ZERO).unwrap_err() else { panic!("not locked") };
        assert!(text.starts_with("another program has held"), "{text}");
        held.sign();
        let error = acquire(&root, &[&path], Duration::from_millis(30)).unwrap_err();
        let text = error.to_string();
        let expected = format!("timed out: process {} (", std::process::id());
        assert!(text.starts_with(&expected) && text.contains("has held the lock of this file for "), "{text}");
        drop(held);
        assert!(acquire(&root, &[&path], Duration::ZERO).is_ok());
    }

    #[test]
    fn a_lock_that_goes_from_one_writer_to_the_next_is_waited_for_longer() {
        let (_folder, root) = root();
        let (mut file, patience) = (tempfile::tempfile().unwrap(), Duration::from_millis(100));
        let path = path();
        let mut wait = Wait::new(patience);
        let began = Instant::now();
        while began.elapsed() < patience * 3 {
            file.set_len(0).unwrap();
            write_at(&file, 0, &holder_line()).unwrap();
            wait.pause(&mut file).unwrap();
        }
        // A holder that stays ends the wait.
        let error = loop {
            if let Err(error) = wait.pause(&mut file) {
                break error;
            }
        };
        assert!(matches!(error, FsError::Locked(_)));
        assert!(began.elapsed() < patience * MOST_PATIENCES);
        drop(acquire(&root, &[&path], patience).unwrap());
    }

    #[test]
    fn the_record_of_a_dead_holder_is_found_once_and_a_clean_end_leaves_nothing() {
        let (_folder, root) = root();
        drop(lock(&root));
        assert!(abandoned(&root).is_empty());
        let guard = lock(&root);
        guard.note("staged \ta\tb\n");
        assert!(abandoned(&root).is_empty(), "the holder is alive");
        // A process that dies runs no destructor, and its files are closed.
        guard.held[0].file.unlock().unwrap();
        let [dead] = &mut abandoned(&root)[..] else { panic!("not found") };
        assert!(dead.leftovers()[0].ends_with("\nstaged \ta\tb\n"));
    }
}
