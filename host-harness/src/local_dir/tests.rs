//! Races that only show between two steps of one operation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use saddlebag::protocol::{
    AppendOutcome, FsOp, FsOutcome, Precondition, ReadOutcome, RemoveOutcome, Version, WriteOutcome,
};
use saddlebag::store::RelPath;

use super::{LocalDir, LocalDirOptions};
use crate::{Durability, Executor};

/// Runs once, after an operation has checked what it needs and before it is acknowledged.
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

struct Store {
    folder: tempfile::TempDir,
    dir: LocalDir,
}

impl Store {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = LocalDirOptions {
            durability: Durability::Fast,
            ..LocalDirOptions::default()
        };
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
        let op = FsOp::Read {
            path: path(),
            offset: 0,
            max_bytes: 100,
            unless: None,
        };
        match self.dir.perform(&op).unwrap() {
            FsOutcome::Read(ReadOutcome::Content(content)) => content.version,
            other => panic!("{other:?}"),
        }
    }

    fn write(&mut self, precondition: Precondition) -> WriteOutcome {
        let op = FsOp::Write {
            path: path(),
            content: b"agent".into(),
            precondition,
        };
        match self.dir.perform(&op).unwrap() {
            FsOutcome::Write(outcome) => outcome,
            other => panic!("{other:?}"),
        }
    }

    /// Lets the version be one of the stat, as it is for a file that has been lying there.
    fn age(&self) {
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(100);
        fs::File::options()
            .write(true)
            .open(self.file())
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
        // The change time cannot be set, so wait until it is beyond doubt.
        std::thread::sleep(std::time::Duration::from_millis(25));
    }

    fn assert_tidy(&self) {
        let names = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        let left: Vec<_> = names
            .filter(|name| name.to_string_lossy().ends_with(".tmp"))
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

fn path() -> RelPath {
    RelPath::parse("a.md").unwrap()
}

/// What an editor can do in between, with what is at the name afterwards.
type Edit = fn(&std::path::Path);

const EDITS: [(&str, Edit); 3] = [
    ("save by rename", |file| {
        let other = file.with_extension("swp");
        fs::write(&other, "PERSON").unwrap();
        fs::rename(other, file).unwrap();
    }),
    ("save in place", |file| {
        fs::write(file, "PERSON, longer").unwrap()
    }),
    (
        "save in place, the same size, within the same tick",
        |file| fs::write(file, "PERSON").unwrap(),
    ),
];

#[test]
fn an_editor_that_saves_between_check_and_exchange_is_not_overwritten() {
    for settled in [false, true] {
        for (how, edit) in EDITS {
            let mut store = Store::new();
            fs::write(store.file(), "before").unwrap();
            if settled {
                store.age();
            }
            let version = store.version();
            assert_eq!(version.0.starts_with('s'), settled, "{version:?}");
            let file = store.file();
            store.dir.before_placing.set(move || edit(&file));

            let outcome = store.write(Precondition::Matches(version));

            assert!(
                store.text().starts_with("PERSON"),
                "{how}: {}",
                store.text()
            );
            assert_eq!(outcome, WriteOutcome::Stale(Some(store.version())), "{how}");
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
    store
        .dir
        .before_placing
        .set(move || fs::remove_file(file).unwrap());
    assert_eq!(
        store.write(Precondition::Matches(version)),
        WriteOutcome::Stale(None)
    );
    assert!(!store.file().exists());

    let file = store.file();
    store
        .dir
        .before_placing
        .set(move || fs::write(file, "PERSON").unwrap());
    assert!(matches!(
        store.write(Precondition::Absent),
        WriteOutcome::Stale(Some(_))
    ));
    assert_eq!(store.text(), "PERSON");
    store.assert_tidy();
}

#[test]
fn a_write_without_precondition_replaces_what_came_in_between() {
    let mut store = Store::new();
    let file = store.file();
    store
        .dir
        .before_placing
        .set(move || fs::write(file, "PERSON").unwrap());
    assert!(matches!(
        store.write(Precondition::Any),
        WriteOutcome::Written(_)
    ));
    assert_eq!(store.text(), "agent");
    store.assert_tidy();
}

#[test]
fn an_append_goes_to_the_file_that_an_editor_has_put_there() {
    for (saved, expected) in [
        ("PERSON\n", "PERSON\nline\n"),
        ("PERSON\nline\n", "PERSON\nline\n"),
    ] {
        let mut store = Store::new();
        fs::write(store.file(), "before\n").unwrap();
        let file = store.file();
        store.dir.before_placing.set(move || {
            let other = file.with_extension("swp");
            fs::write(&other, saved).unwrap();
            fs::rename(other, file).unwrap();
        });
        let content = b"line\n".to_vec();
        let op = FsOp::Append {
            path: path(),
            content,
            newline_first: true,
            precondition: Precondition::Any,
        };
        let outcome = store.dir.perform(&op).unwrap();
        assert!(matches!(
            outcome,
            FsOutcome::Append(AppendOutcome::Written(_))
        ));
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
    let op = FsOp::Remove {
        path: path(),
        precondition: Precondition::Matches(before),
    };
    assert!(matches!(
        store.dir.perform(&op),
        Ok(FsOutcome::Remove(RemoveOutcome::Stale(_)))
    ));
}

#[test]
fn a_version_that_was_given_out_early_still_counts_later() {
    let mut store = Store::new();
    let WriteOutcome::Written(version) = store.write(Precondition::Absent) else {
        panic!("not written")
    };
    assert!(version.0.starts_with('h'));
    store.age();
    assert!(store.version().0.starts_with('s'));
    assert!(matches!(
        store.write(Precondition::Matches(version)),
        WriteOutcome::Written(_)
    ));
}
