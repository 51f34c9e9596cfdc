//! A host with leases beside `LocalDir`, which has kernel locks, in one folder of the disk.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use saddlebag_locks::{Error, Identity, LeaseGuard, LockFiles, Number, PATIENCE, Permit, Record};

use crate::concurrency::{EDITS, LINES, start};
use crate::support::{Any, Ask, open};
use saddlebag_tests_attributes::nightly;

/// A small host on `std::fs`, which needs only files that are created exclusively.
struct LeaseHost {
    root: PathBuf,
    me: Identity,
    began: Instant,
}

impl LeaseHost {
    fn given() -> Self {
        let root = std::env::var_os("SADDLEBAG_TEST_ROOT").expect("given by the other test").into();
        let me = Identity::new(&std::process::id().to_string(), "lease host", RandomState::new().hash_one(0));
        let host = Self { root, me, began: Instant::now() };
        saddlebag_locks::join(&host).unwrap();
        host
    }

    /// Makes a change with the lock of `path`, and begins it again if the lock was lost.
    fn change(&self, path: &str, attempt: impl Fn(&LeaseGuard<'_, Self>) -> Result<(), Error<io::Error>>) {
        loop {
            let guard = LeaseGuard::acquire(self, &self.me, [Number::of(path)], PATIENCE).unwrap();
            match attempt(&guard) {
                Err(Error::Lost) => {}
                outcome => return outcome.unwrap(),
            }
        }
    }

    fn append(&self, path: &str, line: &str) {
        self.change(path, |guard| {
            let file = self.root.join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            // As the operation `append` does it with `newline-first`.
            let old = fs::read_to_string(&file).unwrap_or_default();
            let newline = if old.is_empty() || old.ends_with('\n') { "" } else { "\n" };
            add(guard.check()?, &file, &format!("{newline}{line}")).map_err(Error::Files)
        });
    }

    fn add_one(&self, path: &str) {
        self.change(path, |guard| {
            let number: usize =
                fs::read_to_string(self.root.join(path)).map_or(0, |text| text.parse().expect("a whole number"));
            let temporary = self.stage(guard, path, &(number + 1).to_string())?;
            put_in_place(guard.check()?, &temporary, &self.root.join(path)).map_err(Error::Files)
        });
    }

    fn stage(&self, guard: &LeaseGuard<'_, Self>, path: &str, content: &str) -> Result<PathBuf, Error<io::Error>> {
        let temporary = format!(".saddlebag-{}-lease.tmp", std::process::id());
        guard.note(&Record::Staged { temporary: &temporary, path });
        let staged = self.root.join(temporary);
        guard.check()?;
        fs::write(&staged, content).map_err(Error::Files)?;
        Ok(staged)
    }
}

fn add(_: Permit<'_>, path: &Path, text: &str) -> io::Result<()> {
    File::options().append(true).create(true).open(path)?.write_all(text.as_bytes())
}

fn put_in_place(_: Permit<'_>, temporary: &Path, path: &Path) -> io::Result<()> {
    fs::rename(temporary, path)
}

/// Returns `None` if the file or folder does not exist.
fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

impl LockFiles for LeaseHost {
    type Error = io::Error;

    fn read(&self, path: &str) -> io::Result<Option<Vec<u8>>> {
        if_there(fs::read(self.root.join(path)))
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<bool> {
        let file = if_there(File::options().write(true).open(self.root.join(path)))?;
        file.map_or(Ok(false), |mut file| file.write_all(bytes).map(|()| true))
    }

    fn create(&self, path: &str, content: &[u8]) -> io::Result<bool> {
        match File::create_new(self.root.join(path)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            file => file?.write_all(content).map(|()| true),
        }
    }

    fn list(&self, folder: &str) -> io::Result<Option<Vec<String>>> {
        let Some(entries) = if_there(fs::read_dir(self.root.join(folder)))? else { return Ok(None) };
        entries.map(|entry| Ok(entry?.file_name().into_string().unwrap())).collect::<io::Result<_>>().map(Some)
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        if_there(fs::remove_file(self.root.join(path))).map(drop)
    }

    fn make_folder(&self, path: &str) -> io::Result<()> {
        fs::create_dir_all(self.root.join(path))
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn pause(&self, time: Duration) {
        thread::sleep(time);
    }

    fn clean_up(&self, record: &Record<'_>) {
        if let Record::Staged { temporary, .. } = record {
            let _ = fs::remove_file(self.root.join(temporary));
        }
    }
}

/// Runs in a separate process.
#[test]
#[ignore = "started by `hosts_with_leases_and_with_kernel_locks_lose_nothing`"]
fn append_and_edit() {
    let host = LeaseHost::given();
    let who = std::env::var("SADDLEBAG_TEST_WHO").expect("given by the other test");
    for line in 0..LINES {
        host.append("log/today.md", &format!("{who} {line}"));
        if line % (LINES / EDITS) == 0 {
            host.add_one("counter.md");
        }
    }
}

#[test]
fn hosts_with_leases_and_with_kernel_locks_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let appending = ["leases::append_and_edit", "leases::append_and_edit", "concurrency::append_lines"];
    let names = ["one", "two", "three"];
    let mut children: Vec<_> = appending.iter().zip(names).map(|(test, who)| start(test, folder.path(), who)).collect();
    children.push(start("concurrency::edit_a_counter", folder.path(), ""));
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let mut store = open(folder.path());
    let text = store.text("log/today.md");
    for who in names {
        let own: Vec<&str> = text.lines().filter(|line| line.starts_with(who)).collect();
        let expected: Vec<String> = (0..LINES).map(|line| format!("{who} {line}")).collect();
        assert_eq!(own, expected);
    }
    assert_eq!(text.lines().count(), names.len() * LINES);
    assert_eq!(store.text("counter.md"), (3 * EDITS).to_string());
    let temporary = fs::read_dir(folder.path())
        .unwrap()
        .filter(|entry| entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().ends_with(".tmp")));
    assert_eq!(temporary.count(), 0);
}

/// Runs in a separate process, until it is killed.
#[test]
#[ignore = "started by `a_killed_host_with_a_lease_blocks_others_for_less_than_ten_seconds`"]
fn hold_a_lease() {
    LeaseHost::given().change("a.md", |guard| {
        let host = LeaseHost::given();
        host.stage(guard, "a.md", "half of a te")?;
        fs::write(host.root.join("ready"), "").unwrap();
        loop {
            thread::park();
        }
    });
}

#[nightly]
fn a_killed_host_with_a_lease_blocks_others_for_less_than_ten_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = start("leases::hold_a_lease", folder.path(), "");
    while !folder.path().join("ready").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it holds the lease until it is killed");
        thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let temporary = folder.path().join(format!(".saddlebag-{}-lease.tmp", child.id()));
    assert!(temporary.exists());

    let began = Instant::now();
    open(folder.path()).write("a.md", "whole", Any).unwrap();

    let waited = began.elapsed();
    assert!((Duration::from_secs(8)..Duration::from_secs(10)).contains(&waited), "{waited:?}");
    assert!(!temporary.exists());
    let began = Instant::now();
    open(folder.path()).write("a.md", "again", Any).unwrap();
    assert!(began.elapsed() < Duration::from_secs(1));
}
