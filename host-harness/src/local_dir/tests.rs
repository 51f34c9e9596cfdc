//! Tests of races that only show between two steps of one operation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use saddlebag::protocol::{
    AppendOutcome, FsError, FsOp, FsOutcome, Precondition, ReadOutcome, RemoveOutcome, Version, WriteOutcome,
};
use saddlebag::store::RelPath;

use super::{LocalDir, LocalDirOptions};
use crate::{Durability, Executor};

mod changes;
mod keeping;

/// Function that runs once, after the checks of an operation and before its answer.
#[derive(Default)]
pub(super) struct Hook(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Hook {
    pub(super) fn call(&self) {
        let action = self.0.lock().unwrap().take();
        if let Some(action) = action {
            action();
        }
    }

    fn set(&self, action: impl FnOnce() + Send + 'static) {
        *self.0.lock().unwrap() = Some(Box::new(action));
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Hook")
    }
}

thread_local! {
    /// Results of the next syncs of this thread; syncs without an entry succeed.
    static SYNCS: RefCell<VecDeque<io::Result<()>>> = const { RefCell::new(VecDeque::new()) };
    /// Number of syncs of this thread.
    static SYNCED: Cell<u32> = const { Cell::new(0) };
}

/// Returns the planned result of the current sync.
pub(super) fn sync_result() -> io::Result<()> {
    SYNCED.set(SYNCED.get() + 1);
    SYNCS.with_borrow_mut(VecDeque::pop_front).unwrap_or(Ok(()))
}

/// Plans that `good` syncs succeed and `bad` ones after them fail.
fn plan_syncs(good: usize, bad: usize) {
    let failure = || Err(io::Error::from_raw_os_error(5));
    SYNCS.set((0..good).map(|_| Ok(())).chain((0..bad).map(|_| failure())).collect());
}

thread_local! {
    /// Time for which this thread was stopped, as its monotonic clock shows it.
    static STOPPED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

pub(super) fn stopped_for() -> Duration {
    STOPPED.get()
}

thread_local! {
    /// Function that runs while an operation of this thread waits for an empty file to be filled.
    static PAUSE: RefCell<Option<Box<dyn FnMut()>>> = const { RefCell::new(None) };
    static PAUSES: RefCell<u32> = const { RefCell::new(0) };
}

/// Runs what was planned for the next pause.
pub(super) fn pause() {
    PAUSES.with_borrow_mut(|pauses| *pauses += 1);
    if let Some(mut action) = PAUSE.take() {
        action();
    }
}

#[test]
fn a_file_that_an_editor_has_just_truncated_is_not_taken_for_empty() {
    type Fill = fn(&PathBuf);
    let fills: [Fill; 3] = [
        |file| fs::write(file, "PERSON").unwrap(),
        |file| {
            let other = file.with_extension("swp");
            fs::write(&other, "PERSON").unwrap();
            fs::rename(other, file).unwrap();
        },
        |file| fs::remove_file(file).unwrap(),
    ];
    for fill in fills {
        for is_write in [true, false] {
            let mut store = Store::new();
            fs::write(store.file(), "").unwrap();
            let version = store.version();
            let file = store.file();
            PAUSE.set(Some(Box::new(move || fill(&file))));
            if is_write {
                let outcome = store.write(Precondition::Matches(version));
                assert!(matches!(outcome, WriteOutcome::Stale(_)), "{outcome:?}");
            } else {
                let op = FsOp::remove(path(), Precondition::Matches(version));
                let outcome = store.dir.perform(&op).unwrap();
                let is_gone = !store.file().exists();
                let FsOutcome::Remove(outcome) = outcome else { panic!("{outcome:?}") };
                assert_eq!(matches!(outcome, RemoveOutcome::Done), is_gone, "{outcome:?}");
            }
            assert!(!store.file().exists() || store.text() == "PERSON");
            store.assert_tidy();
        }
    }
}

#[test]
fn an_empty_file_that_stays_empty_is_changed_and_an_old_one_at_once() {
    let mut store = Store::new();
    let file = fs::File::create(store.file()).unwrap();
    file.set_modified(std::time::SystemTime::now() - Duration::from_secs(1)).unwrap();
    PAUSES.set(0);
    let version = store.version();
    assert!(matches!(store.write(Precondition::Matches(version)), WriteOutcome::Written(_)));
    assert_eq!(PAUSES.take(), 0);
    let file = fs::File::create(store.file()).unwrap();
    let version = store.version();
    // It is old by the first look after the pause.
    let old = std::time::SystemTime::now() - Duration::from_secs(2);
    PAUSE.set(Some(Box::new(move || file.set_modified(old).unwrap())));
    // Its time was changed, so the writer looks at it again.
    let outcome = store.write(Precondition::Matches(version));
    let WriteOutcome::Stale(Some(version)) = outcome else { panic!("{outcome:?}") };
    let outcome = store.write(Precondition::Matches(version));
    assert!(matches!(outcome, WriteOutcome::Written(_)), "{outcome:?}");
    assert_eq!((PAUSES.take(), store.text().as_str()), (1, "agent"));
}

#[test]
fn the_folders_above_a_new_root_are_synced() {
    let top = tempfile::tempdir().unwrap();
    let root = top.path().join("a/b/c");
    let options = || LocalDirOptions { durability: Durability::Full, ..LocalDirOptions::default() };
    for good in 0..3 {
        plan_syncs(good, 1);
        let outcome = LocalDir::create(&root, options());
        assert!(matches!(outcome, Err(super::OpenError::Unusable { .. })), "{good}: {outcome:?}");
        fs::remove_dir_all(top.path().join("a")).unwrap();
    }
    plan_syncs(3, 0);
    LocalDir::create(&root, options()).unwrap();
    // What exists is not synced again.
    plan_syncs(0, 1);
    LocalDir::create(&root, options()).unwrap();
    plan_syncs(0, 0);
}

#[test]
fn a_folder_moves_between_threads_and_serves_several() {
    fn assert_send_and_sync<T: Send + Sync>() {}
    assert_send_and_sync::<LocalDir>();
}

struct Store {
    folder: tempfile::TempDir,
    dir: LocalDir,
}

impl Store {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = LocalDirOptions { durability: Durability::Fast, ..LocalDirOptions::default() };
        let dir = LocalDir::open(folder.path(), options).unwrap();
        Self { folder, dir }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("a.md")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    fn version(&mut self) -> Version {
        let op = FsOp::Read { path: path(), offset: 0, max_bytes: 100 };
        match self.dir.perform(&op).unwrap() {
            FsOutcome::Read(ReadOutcome::Content(content)) => content.version,
            other => panic!("{other:?}"),
        }
    }

    fn write(&mut self, precondition: Precondition) -> WriteOutcome {
        let op = FsOp::write(path(), b"agent".into(), precondition);
        match self.dir.perform(&op).unwrap() {
            FsOutcome::Write(outcome) => outcome,
            other => panic!("{other:?}"),
        }
    }

    /// Waits until the version is one of the stat, as for an older file.
    fn age(&self) {
        let long_ago = std::time::SystemTime::now() - Duration::from_secs(100);
        fs::File::options().write(true).open(self.file()).unwrap().set_modified(long_ago).unwrap();
        // The change time cannot be set, so the test waits until it is settled.
        std::thread::sleep(Duration::from_millis(25));
    }

    /// Lets the version be that of the content, however long the test has to wait for the processor.
    fn put_in_doubt(&self) {
        let later = std::time::SystemTime::now() + Duration::from_secs(1000);
        fs::File::options().write(true).open(self.file()).unwrap().set_modified(later).unwrap();
    }

    fn assert_tidy(&self) {
        let names = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let left: Vec<_> = names.filter(|name| name.to_string_lossy().ends_with(".tmp")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

fn path() -> RelPath {
    RelPath::new("a.md").unwrap()
}

/// Edit by an editor between two steps, and the expected content afterwards.
type Edit = fn(&std::path::Path);

const EDITS: [(&str, Edit); 3] = [
    ("save by rename", |file| {
        let other = file.with_extension("swp");
        fs::write(&other, "PERSON").unwrap();
        fs::rename(other, file).unwrap();
    }),
    ("save in place", |file| fs::write(file, "PERSON, longer").unwrap()),
    ("save in place, the same size, within the same tick", |file| fs::write(file, "PERSON").unwrap()),
];

/// Text that a person saved while a write was under way is not overwritten by a conditional write.
#[test]
fn an_editor_that_saves_between_check_and_exchange_is_not_overwritten() {
    for settled in [false, true] {
        for (how, edit) in EDITS {
            let mut store = Store::new();
            fs::write(store.file(), "before").unwrap();
            if settled {
                store.age();
            } else {
                store.put_in_doubt();
            }
            let version = store.version();
            assert_eq!(version.0.starts_with('s'), settled, "{version:?}");
            let file = store.file();
            store.dir.before_placing.set(move || edit(&file));

            let outcome = store.write(Precondition::Matches(version));

            assert!(store.text().starts_with("PERSON"), "{how}: {}", store.text());
            // The version may be read in another form by now, so what is checked is that it is that of the file.
            let WriteOutcome::Stale(Some(found)) = outcome else { panic!("{how}: {outcome:?}") };
            let outcome = store.write(Precondition::Matches(found));
            assert!(matches!(outcome, WriteOutcome::Written(_)), "{how}: {outcome:?}");
            store.assert_tidy();
        }
    }
}

#[test]
fn a_file_that_is_removed_or_made_in_between_makes_the_write_stale() {
    let mut store = Store::new();
    fs::write(store.file(), "before").unwrap();
    let version = store.version();
    let file = store.file();
    store.dir.before_placing.set(move || fs::remove_file(file).unwrap());
    assert_eq!(store.write(Precondition::Matches(version)), WriteOutcome::Stale(None));
    assert!(!store.file().exists());

    let file = store.file();
    store.dir.before_placing.set(move || fs::write(file, "PERSON").unwrap());
    assert!(matches!(store.write(Precondition::Absent), WriteOutcome::Stale(Some(_))));
    assert_eq!(store.text(), "PERSON");
    store.assert_tidy();
}

#[test]
fn a_write_without_precondition_replaces_what_came_in_between() {
    let mut store = Store::new();
    let file = store.file();
    store.dir.before_placing.set(move || fs::write(file, "PERSON").unwrap());
    assert!(matches!(store.write(Precondition::Any), WriteOutcome::Written(_)));
    assert_eq!(store.text(), "agent");
    store.assert_tidy();
}

#[test]
fn an_append_goes_to_the_file_that_an_editor_has_written() {
    for (saved, expected) in [("PERSON\n", "PERSON\nline\n"), ("PERSON\nline\n", "PERSON\nline\n")] {
        let mut store = Store::new();
        fs::write(store.file(), "before\n").unwrap();
        let file = store.file();
        store.dir.before_placing.set(move || {
            let other = file.with_extension("swp");
            fs::write(&other, saved).unwrap();
            fs::rename(other, file).unwrap();
        });
        let content = b"line\n".to_vec();
        let op = FsOp::append(path(), content, true, Precondition::Any);
        let outcome = store.dir.perform(&op).unwrap();
        assert!(matches!(outcome, FsOutcome::Append(AppendOutcome::Written(_))));
        assert_eq!(store.text(), expected);
    }
}

#[test]
fn a_rewrite_of_the_same_size_within_a_tick_is_noticed() {
    let mut store = Store::new();
    fs::write(store.file(), "one").unwrap();
    let before = store.version();
    fs::write(store.file(), "two").unwrap();
    assert_ne!(store.version(), before);
    let op = FsOp::remove(path(), Precondition::Matches(before));
    assert!(matches!(store.dir.perform(&op), Ok(FsOutcome::Remove(RemoveOutcome::Stale(_)))));
}

#[test]
fn a_version_that_was_given_out_early_still_counts_later() {
    let mut store = Store::new();
    let WriteOutcome::Written(version) = store.write(Precondition::Absent) else { panic!("not written") };
    assert!(version.0.starts_with('h'));
    store.age();
    assert!(store.version().0.starts_with('s'));
    assert!(matches!(store.write(Precondition::Matches(version)), WriteOutcome::Written(_)));
}

fn durable() -> Store {
    let folder = tempfile::tempdir().unwrap();
    let dir = LocalDir::open(folder.path(), LocalDirOptions::default()).unwrap();
    Store { folder, dir }
}

impl Store {
    fn append(&mut self, line: &str) -> Result<AppendOutcome, FsError> {
        let content = line.as_bytes().to_vec();
        let op = FsOp::append(path(), content, true, Precondition::Any);
        self.dir.perform(&op).map(|outcome| match outcome {
            FsOutcome::Append(outcome) => outcome,
            other => panic!("{other:?}"),
        })
    }

    fn try_write(&mut self, path: &str, precondition: Precondition) -> Result<FsOutcome, FsError> {
        self.dir.perform(&FsOp::write(RelPath::new(path).unwrap(), b"agent".into(), precondition))
    }

    #[cfg(unix)]
    fn inode(&self) -> u64 {
        std::os::unix::fs::MetadataExt::ino(&fs::metadata(self.file()).unwrap())
    }

    /// Returns the files of one of the host's own folders.
    fn own(&self, folder: &str) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.folder.path().join(".saddlebag").join(folder)) else { return Vec::new() };
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect()
    }

    fn locks_are_free(&self) -> bool {
        self.own("locks-3").iter().all(|lock| fs::read(lock).unwrap().starts_with(b"free"))
    }

    fn temporary(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|suffix| suffix == "tmp")).collect()
    }
}

#[test]
fn a_change_that_cannot_be_synced_is_not_acknowledged() {
    let mut store = durable();
    store.append("one\n").unwrap();
    // Only the file is synced if it exists; only the folder is synced once the new file is complete.
    plan_syncs(0, 1);
    let error = store.append("two\n").unwrap_err();
    assert!(matches!(&error, FsError::NotDurable(cause) if cause.contains("input/output error")), "{error}");
    for conditional in [false, true] {
        let precondition = if conditional { Precondition::Matches(store.version()) } else { Precondition::Any };
        plan_syncs(1, 1);
        let error = store.try_write("a.md", precondition).unwrap_err();
        assert!(matches!(error, FsError::NotDurable(_)), "{error}");
    }
    plan_syncs(0, 1);
    let moved = FsOp::Rename { path: path(), to: RelPath::new("b.md").unwrap(), precondition: Precondition::Any };
    assert!(matches!(store.dir.perform(&moved), Err(FsError::NotDurable(_))));
    plan_syncs(0, 1);
    let removed = FsOp::remove(RelPath::new("b.md").unwrap(), Precondition::Any);
    assert!(matches!(store.dir.perform(&removed), Err(FsError::NotDurable(_))));
    store.assert_tidy();
}

#[test]
fn a_new_file_that_cannot_be_synced_before_it_is_in_place_changes_nothing() {
    let mut store = durable();
    plan_syncs(0, 1);
    let error = store.try_write("a.md", Precondition::Absent).unwrap_err();
    assert!(error.to_string().starts_with("the disk reports an input/output error"), "{error}");
    assert!(!store.file().exists());
    store.assert_tidy();
}

#[test]
fn a_folder_that_cannot_be_synced_is_created_again_by_the_next_change() {
    let mut store = durable();
    plan_syncs(0, 1);
    store.try_write("d/a.md", Precondition::Any).unwrap_err();
    assert!(!store.folder.path().join("d").exists());
    store.try_write("d/a.md", Precondition::Any).unwrap();
}

#[cfg(unix)]
#[test]
fn the_change_after_a_failed_sync_writes_the_whole_file_to_new_blocks() {
    for another_process in [false, true] {
        let mut store = durable();
        store.append("one\n").unwrap();
        let first = store.inode();
        plan_syncs(0, 1);
        store.append("two\n").unwrap_err();
        if another_process {
            // Both stores are open when the sync fails. The other one knows of it only by the marker.
            store.dir = LocalDir::open(store.folder.path(), LocalDirOptions::default()).unwrap();
        }
        let held = fs::File::open(store.file()).unwrap();
        assert!(matches!(store.append("three\n"), Ok(AppendOutcome::Written(_))));
        assert_ne!(store.inode(), first);
        assert_eq!(store.text(), "one\ntwo\nthree\n");
        drop(held);
        // From then on, the file is appended to again.
        let second = store.inode();
        store.append("four\n").unwrap();
        assert_eq!(store.inode(), second);
        assert!(store.own("locks-3/unsynced").is_empty());
        store.assert_tidy();
    }
}

#[cfg(unix)]
#[test]
fn a_process_that_was_open_before_another_ones_sync_failed_does_not_append_to_the_file() {
    let mut store = durable();
    store.append("one\n").unwrap();
    let mut other = LocalDir::open(store.folder.path(), LocalDirOptions::default()).unwrap();
    let read = FsOp::Read { path: path(), offset: 0, max_bytes: 100 };
    other.perform(&read).unwrap();
    plan_syncs(0, 1);
    store.append("two\n").unwrap_err();
    let first = store.inode();
    let content = b"three\n".to_vec();
    let op = FsOp::append(path(), content, true, Precondition::Any);
    other.perform(&op).unwrap();
    assert_ne!(store.inode(), first);
}

#[cfg(unix)]
#[test]
fn among_many_reads_what_was_not_synced_is_written_again_before_it_is_read() {
    let mut store = durable();
    store.append("one\n").unwrap();
    plan_syncs(0, 1);
    store.append("two\n").unwrap_err();
    let first = store.inode();
    let read = FsOp::Read { path: path(), offset: 0, max_bytes: 100 };
    let outcomes = store.dir.perform_all(&[&read; 100]);
    assert_ne!(store.inode(), first);
    assert_eq!(outcomes.len(), 100);
    for outcome in outcomes {
        assert!(
            matches!(outcome, Ok(FsOutcome::Read(ReadOutcome::Content(content))) if content.bytes == b"one\ntwo\n")
        );
    }
    assert!(store.own("locks-3/unsynced").is_empty());
}

#[cfg(unix)]
#[test]
fn what_was_not_synced_is_written_again_before_it_is_read() {
    let mut store = durable();
    store.append("one\n").unwrap();
    plan_syncs(0, 1);
    store.append("two\n").unwrap_err();
    let first = store.inode();
    // If the disk still fails, the file is unchanged and can be read.
    plan_syncs(0, 1);
    store.version();
    assert_eq!((store.inode(), store.text().as_str()), (first, "one\ntwo\n"));
    store.version();
    assert_ne!(store.inode(), first);
    assert_eq!(store.text(), "one\ntwo\n");
}

#[cfg(unix)]
#[test]
fn a_file_that_could_not_be_synced_stays_so_under_its_new_name() {
    let mut store = durable();
    store.append("one\n").unwrap();
    plan_syncs(0, 1);
    store.append("two\n").unwrap_err();
    for (from, to) in [("a.md", "b.md"), ("b.md", "a.md")] {
        let [from, to] = [from, to].map(|path| RelPath::new(path).unwrap());
        store.dir.perform(&FsOp::Rename { path: from, to, precondition: Precondition::Any }).unwrap();
    }
    let first = store.inode();
    store.append("three\n").unwrap();
    assert_ne!(store.inode(), first);
}

#[cfg(unix)]
#[test]
fn an_append_does_not_write_through_a_second_name() {
    let mut store = durable();
    let outside = tempfile::tempdir().unwrap();
    let other = outside.path().join("other.md");
    fs::write(&other, "theirs").unwrap();
    if fs::hard_link(&other, store.file()).is_err() {
        return; // Two file systems.
    }
    assert!(matches!(store.append("ours\n"), Ok(AppendOutcome::Written(_))));
    assert_eq!(store.text(), "theirs\nours\n");
    assert_eq!(fs::read_to_string(&other).unwrap(), "theirs");
    // An editor that saves in between is not overwritten, and the line is not lost either.
    fs::remove_file(store.file()).unwrap();
    fs::hard_link(&other, store.file()).unwrap();
    let file = store.file();
    store.dir.before_placing.set(move || {
        let saved = file.with_extension("swp");
        fs::write(&saved, "PERSON\nours\n").unwrap();
        fs::rename(saved, file).unwrap();
    });
    store.append("ours\n").unwrap();
    assert_eq!(store.text(), "PERSON\nours\nours\n", "the line of the editor is its own");
    store.assert_tidy();
}

#[cfg(unix)]
#[test]
fn a_lock_file_with_a_second_name_is_not_written_to() {
    let mut store = durable();
    store.append("one\n").unwrap();
    let [lock] = &store.own("locks-3")[..] else { panic!("one lock") };
    let other = store.folder.path().join("theirs.txt");
    fs::write(&other, "theirs\nstaged\t.saddlebag-x.tmp\ta.md\n").unwrap();
    fs::write(store.folder.path().join(".saddlebag-x.tmp"), "x").unwrap();
    fs::remove_file(lock).unwrap();
    fs::hard_link(&other, lock).unwrap();
    store.dir = LocalDir::open(store.folder.path(), LocalDirOptions::default()).unwrap();
    store.append("two\n").unwrap();
    store.try_write("a.md", Precondition::Any).unwrap();
    assert_eq!(fs::read_to_string(&other).unwrap(), "theirs\nstaged\t.saddlebag-x.tmp\ta.md\n");
    assert_eq!(store.temporary().len(), 1);
}

#[cfg(unix)]
#[test]
fn without_syncs_a_file_is_replaced_and_never_exchanged() {
    // After an exchange the old file has the temporary name for a moment, so it has a reader's inode as well.
    for (durability, exchanged) in [(Durability::Fast, false), (Durability::Full, true)] {
        let folder = tempfile::tempdir().unwrap();
        let options = LocalDirOptions { durability, ..LocalDirOptions::default() };
        let mut store = Store { dir: LocalDir::open(folder.path(), options).unwrap(), folder };
        fs::write(store.file(), "before").unwrap();
        let version = store.version();
        let notes = Arc::new(Mutex::new(String::new()));
        let (seen, root) = (notes.clone(), store.folder.path().to_path_buf());
        store.dir.after_placing.set(move || {
            let texts = fs::read_dir(root.join(".saddlebag/locks-3")).unwrap().map(|entry| entry.unwrap().path());
            *seen.lock().unwrap() = texts.filter_map(|path| fs::read_to_string(path).ok()).collect();
        });
        assert!(matches!(store.write(Precondition::Matches(version)), WriteOutcome::Written(_)));
        assert_eq!(store.text(), "agent");
        assert_eq!(notes.lock().unwrap().contains("placing"), exchanged, "{notes:?}");
    }
}

#[test]
fn the_root_is_looked_for_where_it_was_opened() {
    let parent = tempfile::tempdir().unwrap();
    let root = parent.path().join("root");
    fs::create_dir(&root).unwrap();
    let mut dir = LocalDir::open(&root, LocalDirOptions::default()).unwrap();
    let op = FsOp::write(path(), b"x".into(), Precondition::Any);
    dir.perform(&op).unwrap();
    fs::rename(&root, parent.path().join("moved")).unwrap();
    let error = dir.perform(&op).unwrap_err().to_string();
    assert!(error.contains("was moved away or removed after this program opened it"), "{error}");
    std::thread::sleep(super::dir::ROOT_IS_FRESH);
    let read = FsOp::Read { path: path(), offset: 0, max_bytes: 1 };
    assert!(dir.perform(&read).is_err());
    if cfg!(unix) {
        fs::create_dir(&root).unwrap();
        let error = dir.perform(&op).unwrap_err().to_string();
        assert!(error.contains("was replaced by another folder"), "{error}");
        assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
        fs::remove_dir(&root).unwrap();
    }
    fs::rename(parent.path().join("moved"), &root).unwrap();
    dir.perform(&op).unwrap();
}

/// Leaves the state of a writer that is killed at some point: a temporary file, and its record in the lock file.
#[cfg(unix)]
fn leave_behind(store: &mut Store, at: &str, change_after: Option<&str>) {
    leave_behind_keeping(store, at, change_after, None);
}

/// Does the same for a writer that keeps the old file.
#[cfg(unix)]
fn leave_behind_keeping(store: &mut Store, at: &str, change_after: Option<&str>, keep_as: Option<RelPath>) {
    fs::write(store.file(), "before").unwrap();
    let version = store.version();
    let root = store.folder.path().to_path_buf();
    let saved = Arc::new(Mutex::new(Vec::new()));
    let keep = saved.clone();
    let copy = move || {
        let mut files = keep.lock().unwrap();
        for folder in [root.clone(), root.join(".saddlebag/locks-3")] {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let path = entry.path();
                if path.is_file() {
                    // A second name keeps the file itself, with its inode.
                    let other = root.join(format!("kept-{}", files.len()));
                    let is_lock = path.parent() != Some(&root);
                    if is_lock {
                        fs::copy(&path, &other).unwrap();
                    } else {
                        fs::hard_link(&path, &other).unwrap();
                    }
                    files.push((path, other));
                }
            }
        }
    };
    match at {
        "staged" => store.dir.before_placing.set(copy),
        _ => store.dir.after_placing.set(copy),
    }
    let (content, precondition) = (b"agent".to_vec(), Precondition::Matches(version));
    let op = FsOp::Write { path: path(), content, precondition, keep_as, like: None };
    assert!(matches!(store.dir.perform(&op), Ok(FsOutcome::Write(WriteOutcome::Written(_)))));
    for (path, other) in saved.lock().unwrap().drain(..) {
        if path.parent() == Some(store.folder.path()) {
            fs::rename(&other, &path).unwrap();
        } else {
            fs::copy(&other, &path).unwrap();
            fs::remove_file(&other).unwrap();
        }
    }
    if let Some(text) = change_after {
        fs::write(&store.temporary()[0], text).unwrap();
    }
    assert_eq!(store.temporary().len(), 1, "{:?}", store.temporary());
    store.dir = LocalDir::open(
        store.folder.path(),
        LocalDirOptions {
            on_recovered: Some(|found| TOLD.with_borrow_mut(|told| told.push(found.clone()))),
            ..LocalDirOptions::default()
        },
    )
    .unwrap();
}

#[cfg(unix)]
thread_local! {
    static TOLD: RefCell<Vec<super::Recovered>> = const { RefCell::new(Vec::new()) };
}

#[cfg(unix)]
#[test]
fn what_a_killed_writer_left_is_removed_by_the_next_process() {
    for (at, text) in [("staged", "before"), ("placing", "agent")] {
        let mut store = durable();
        leave_behind(&mut store, at, None);
        assert_eq!(store.text(), text);
        // Another file of the store, with its own lock.
        store.try_write("b.md", Precondition::Any).unwrap();
        store.assert_tidy();
        assert_eq!(store.text(), text, "{at}");
        assert!(store.own("recovered").is_empty());
        assert!(store.locks_are_free());
    }
}

#[cfg(unix)]
#[test]
fn a_text_of_somebody_else_under_a_temporary_name_is_kept_and_named() {
    let mut store = durable();
    leave_behind(&mut store, "placing", Some("PERSON"));
    store.try_write("b.md", Precondition::Any).unwrap();
    store.assert_tidy();
    let [kept] = &store.own("recovered")[..] else { panic!("{:?}", store.own("recovered")) };
    assert_eq!(fs::read_to_string(kept).unwrap(), "PERSON");
    let told = TOLD.take();
    assert_eq!(told, [super::Recovered { path: "a.md".into(), kept: ".saddlebag/recovered/a.md.1".into() }]);
}

#[test]
fn a_note_in_a_lock_file_removes_nothing_but_temporary_files() {
    let mut store = durable();
    store.append("one\n").unwrap();
    let [lock] = &store.own("locks-3")[..] else { panic!("one lock") };
    for record in
        ["staged\ta.md\ta.md\n", "staged\t../a.md\ta.md\n", "staged\n", "\n", "staged\t.saddlebag-x.tmp\ta.md"]
    {
        fs::write(store.folder.path().join(".saddlebag-x.tmp"), "x").unwrap();
        fs::write(lock, format!("1\tp\t0\n{record}")).unwrap();
        store.append("two\n").unwrap();
        assert!(store.text().starts_with("one\n"), "{record}");
        assert_eq!(store.temporary().len(), 1, "{record}");
    }
}

#[test]
fn a_store_of_a_later_lock_protocol_is_read_and_not_changed() {
    let mut store = Store::new();
    fs::create_dir(store.folder.path().join(".saddlebag")).unwrap();
    fs::write(store.folder.path().join(".saddlebag/locks-3"), "lock protocol 4\n").unwrap();
    fs::write(store.file(), "text").unwrap();
    store.version();

    let error = store.append("x").unwrap_err().to_string();

    assert!(error.contains("lock protocol 4, and this program knows 3; use a newer release"), "{error}");
    assert_eq!(store.text(), "text");
}

#[test]
fn a_folder_that_is_removed_under_a_writer_is_made_again() {
    let at = RelPath::new("d/a.md").unwrap();
    let append = |content: &[u8]| FsOp::append(at.clone(), content.into(), true, Precondition::Any);
    let rename = FsOp::Rename { path: path(), to: at.clone(), precondition: Precondition::Any };
    let keep =
        FsOp::Remove { path: path(), precondition: Precondition::Any, keep_as: Some(at.clone()), may_return: false };
    let write = |precondition| FsOp::write(at.clone(), b"text".to_vec(), precondition);
    for op in [write(Precondition::Any), write(Precondition::Absent), append(b"text"), rename, keep] {
        let mut store = Store::new();
        fs::write(store.file(), "text").unwrap();
        let folder = store.folder.path().join("d");
        let is_move = matches!(op, FsOp::Rename { .. } | FsOp::Remove { .. });
        let hook = if is_move { &store.dir.before_placing } else { &store.dir.before_creating };
        hook.set(move || fs::remove_dir(folder).unwrap());
        store.dir.perform(&op).unwrap();
        assert_eq!(fs::read_to_string(store.folder.path().join("d/a.md")).unwrap(), "text", "{op:?}");
    }
}

/// Lets another host, which has leases, take the lock of [`path`] over and give it back.
fn take_lock_over(root: &std::path::Path, count: u64) {
    let leases = root.join(".saddlebag/locks-3/leases/15");
    fs::create_dir_all(&leases).unwrap();
    let _ = fs::remove_file(leases.join((count - 1).to_string()));
    fs::write(leases.join(count.to_string()), "free\t1\tother\t0-0\n").unwrap();
}

/// Returns how many lines were written into the lock of [`path`].
fn signed(root: &std::path::Path) -> u64 {
    let text = fs::read_to_string(root.join(".saddlebag/locks-3/15")).unwrap();
    text.lines().next().unwrap().rsplit('-').next().unwrap().parse().unwrap()
}

/// A process that was stopped for so long that another host took its lock over undoes its change and makes it
/// again.
#[test]
fn a_change_of_a_host_that_was_stopped_begins_again() {
    assert_eq!(saddlebag_locks::Number::of("a.md").to_string(), "15");
    type Change = fn(&mut Store) -> bool;
    let changes: [(Change, &str); 5] = [
        (|store| matches!(store.write(Precondition::Any), WriteOutcome::Written(_)), "agent"),
        (|store| matches!(store.append("line\n"), Ok(AppendOutcome::Written(_))), "OTHER\nline\n"),
        (|store| matches!(store.write(Precondition::Absent), WriteOutcome::Stale(Some(_))), "OTHER\n"),
        (|store| matches!(store.dir.perform(&FsOp::remove(path(), Precondition::Any)), Ok(FsOutcome::Remove(_))), ""),
        (
            |store| {
                let to = RelPath::new("b.md").unwrap();
                let op = FsOp::Rename { path: path(), to, precondition: Precondition::Any };
                matches!(store.dir.perform(&op), Ok(FsOutcome::Rename(_)))
            },
            "",
        ),
    ];
    for (index, (change, expected)) in changes.into_iter().enumerate() {
        // The other host is the first with leases, or a later one.
        for count in [1, 2] {
            let mut store = Store::new();
            let root = store.folder.path().to_path_buf();
            if count > 1 {
                store.append("").unwrap();
                take_lock_over(&root, 1);
                fs::remove_file(store.file()).unwrap();
            }
            if expected.is_empty() {
                fs::write(store.file(), "text").unwrap();
            }
            let file = store.file();
            let hook = if index == 1 { &store.dir.before_creating } else { &store.dir.before_placing };
            let before = Arc::new(Mutex::new(0));
            let (seen, at) = (before.clone(), root.clone());
            hook.set(move || {
                *seen.lock().unwrap() = signed(&root);
                STOPPED.set(STOPPED.get() + Duration::from_secs(5));
                take_lock_over(&root, count);
                fs::write(file, "OTHER\n").unwrap();
            });
            assert!(change(&mut store), "{index} {count}");
            // A line when it looked again, and one when it began again; a rename has two locks.
            assert!(signed(&at) >= *before.lock().unwrap() + 2, "{index} {count}");
            assert_eq!(fs::read_to_string(store.file()).unwrap_or_default(), expected, "{index} {count}");
            store.assert_tidy();
            assert!(store.locks_are_free());
        }
    }
}

#[test]
fn a_change_that_takes_long_keeps_its_lock_if_nobody_takes_it_over() {
    let mut store = Store::new();
    let root = store.folder.path().to_path_buf();
    let at = root.clone();
    store.dir.before_placing.set(move || {
        let before = fs::read_to_string(at.join(".saddlebag/locks-3/15")).unwrap();
        assert!(before.starts_with("held\t") && before.contains("\nstaged\t.saddlebag-"), "{before}");
        assert_eq!(signed(&at), 0);
        STOPPED.set(STOPPED.get() + Duration::from_secs(5));
    });
    assert!(matches!(store.write(Precondition::Any), WriteOutcome::Written(_)));
    assert_eq!((store.text().as_str(), signed(&root)), ("agent", 1));
    assert!(store.locks_are_free());
}

/// If only hosts of the lock protocol change a store, its generation is different after each change of a file, and
/// is not told while one is under way.
#[test]
fn the_generation_changes_with_every_change_of_a_file() {
    if super::sys::boot().is_none() {
        return;
    }
    let mut store = Store::new();
    assert_eq!(store.dir.generation(), Err(FsError::Unsupported), "people may edit the files");
    store.dir.options.only_hosts_write = true;
    let is_locked = |store: &Store| matches!(store.dir.generation(), Err(FsError::Locked(_)));
    assert!(is_locked(&store), "nobody has taken a lock");
    let mut seen = std::collections::BTreeSet::new();
    let mut is_new = |store: &Store| seen.insert(store.dir.generation().unwrap());
    store.append("one\n").unwrap();
    assert!(is_new(&store) && !is_new(&store));
    store.append("one\n").unwrap();
    assert!(is_new(&store));
    store.try_write("b.md", Precondition::Any).unwrap();
    assert!(is_new(&store));
    store.dir.perform(&FsOp::remove(path(), Precondition::Any)).unwrap();
    assert!(is_new(&store));
    // The index belongs to the component, and a read changes nothing.
    store.try_write(".saddlebag/index", Precondition::Any).unwrap();
    store.dir.perform(&FsOp::Read { path: path(), offset: 0, max_bytes: 1 }).unwrap();
    assert!(!is_new(&store));
    take_lock_over(store.folder.path(), 1);
    assert!(is_new(&store));

    let guard = store.dir.lock_within(&[&path()], Duration::ZERO).unwrap();
    assert!(is_locked(&store));
    drop(guard);
    assert!(is_new(&store));
    let lock = store.folder.path().join(".saddlebag/locks-3/15");
    fs::write(&lock, "").unwrap();
    assert!(is_locked(&store));
}
