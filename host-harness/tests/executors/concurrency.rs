//! Many writers, of one process and of several.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use saddlebag::protocol::{ReadOutcome, RemoveDirectoryOutcome, RemoveOutcome, WriteOutcome};

use crate::support::{Absent, Any, Ask, Matches, open};

/// Number of lines that each process appends.
pub(crate) const LINES: usize = 200;
/// Number of edits that each thread makes.
pub(crate) const EDITS: usize = 25;
/// Number of stores that threads race for, and number of threads for each.
const FRESH_STORES: usize = 500;
const FIRST_WRITERS: usize = 4;

/// Runs in a separate process.
#[test]
#[ignore = "started by `processes_that_append_lose_nothing`"]
fn append_lines() {
    let root = std::env::var_os("SADDLEBAG_TEST_ROOT").expect("given by the other test");
    let who = std::env::var("SADDLEBAG_TEST_WHO").expect("given by the other test");
    let mut store = open(Path::new(&root));
    for line in 0..LINES {
        store.append("log/today.md", &format!("{who} {line}")).unwrap();
    }
}

#[test]
fn processes_that_append_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let children: Vec<Child> = ["one", "two"].map(|who| start("concurrency::append_lines", folder.path(), who)).into();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let text = open(folder.path()).text("log/today.md");
    assert_eq!(text.lines().count(), 2 * LINES);
    for who in ["one", "two"] {
        let own: Vec<&str> = text.lines().filter(|line| line.starts_with(who)).collect();
        let expected: Vec<String> = (0..LINES).map(|line| format!("{who} {line}")).collect();
        assert_eq!(own, expected);
    }
}

#[test]
fn the_first_writers_of_a_fresh_store_make_its_folders_together() {
    for _ in 0..FRESH_STORES {
        let folder = tempfile::tempdir().unwrap();
        let start = Barrier::new(FIRST_WRITERS);
        thread::scope(|scope| {
            for who in 0..FIRST_WRITERS {
                let (start, mut store) = (&start, open(folder.path()));
                scope.spawn(move || {
                    start.wait();
                    store.append("projects/shop/daily/today.md", &who.to_string()).unwrap();
                });
            }
        });
        assert_eq!(open(folder.path()).text("projects/shop/daily/today.md").lines().count(), FIRST_WRITERS);
    }
}

/// Runs in a separate process.
#[test]
#[ignore = "started by `concurrent_writers_lose_nothing`"]
fn edit_a_counter() {
    let root = std::env::var_os("SADDLEBAG_TEST_ROOT").expect("given by the other test");
    (0..EDITS).for_each(|_| add_one(Path::new(&root)));
}

#[test]
fn concurrent_writers_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let children: Vec<Child> =
        ["one", "two"].map(|who| start("concurrency::edit_a_counter", folder.path(), who)).into();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..EDITS).for_each(|_| add_one(folder.path())));
        }
    });
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(open(folder.path()).text("counter.md"), ((8 + 2) * EDITS).to_string());
}

#[test]
fn readers_never_see_a_torn_file() {
    let folder = tempfile::tempdir().unwrap();
    let text = |n: usize| char::from(b'a' + (n % 26) as u8).to_string().repeat(10_000 + n);
    open(folder.path()).put("a.md", &text(0));
    thread::scope(|scope| {
        let writer = scope.spawn(|| (0..200).for_each(|n| drop(open(folder.path()).put("a.md", &text(n)))));
        let mut store = open(folder.path());
        while !writer.is_finished() {
            let content = store.content("a.md");
            assert!(content.bytes.iter().all(|byte| *byte == content.bytes[0]));
            assert_eq!(content.bytes.len() as u64, content.size);
        }
    });
}

#[test]
fn renames_in_opposite_directions_do_not_wait_for_each_other() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).put("a.md", "text");
    thread::scope(|scope| {
        for (from, to) in [("a.md", "b.md"), ("b.md", "a.md")] {
            let folder = &folder;
            scope.spawn(move || {
                let mut store = open(folder.path());
                (0..200).for_each(|_| drop(store.rename(from, to, crate::support::Any).unwrap()));
            });
        }
    });
    assert_eq!(open(folder.path()).list("", false).unwrap().len(), 1);
}

/// Runs in a separate process, until it is killed.
#[test]
#[ignore = "started by `a_killed_writer_leaves_whole_files_and_no_lock`"]
fn write_without_end() {
    let root = std::env::var_os("SADDLEBAG_TEST_ROOT").expect("given by the other test");
    let mut store = open(Path::new(&root));
    for n in 0.. {
        store.put("a.md", &whole_text(n));
        store.append("log.md", "one line of the log\n").unwrap();
    }
}

#[test]
fn a_killed_writer_leaves_whole_files_and_no_lock() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    store.append("log.md", "one line of the log\n").unwrap();
    for round in 0..10 {
        store.put("a.md", "before");
        let mut child = start("concurrency::write_without_end", folder.path(), "writer");
        while store.text("a.md") == "before" {
            assert!(child.try_wait().unwrap().is_none(), "the writer must go on until it is killed");
            thread::yield_now();
        }
        (0..round * 10).for_each(|_| drop(store.text("a.md")));
        child.kill().unwrap();
        child.wait().unwrap();

        let text = store.text("a.md");
        assert_eq!(text, whole_text(text.len() - 20_000));
        let log = store.text("log.md");
        assert!(log.lines().all(|line| line == "one line of the log") && log.ends_with('\n'));
    }
}

/// Text that shows by its length whether all of it is there.
fn whole_text(n: usize) -> String {
    let length = 20_000 + n % 5_000;
    char::from(b'a' + (length % 26) as u8).to_string().repeat(length)
}

/// Reads a number, adds one and writes it, until nobody else was faster.
fn add_one(root: &Path) {
    let mut store = open(root);
    loop {
        let (number, precondition) = match store.read_part("counter.md", 0, 100).unwrap() {
            ReadOutcome::Content(content) => {
                let number: usize = String::from_utf8(content.bytes).unwrap().parse().unwrap();
                (number, Matches(content.version))
            }
            _ => (0, Absent),
        };
        if let WriteOutcome::Written(_) = store.write("counter.md", &(number + 1).to_string(), precondition).unwrap() {
            return;
        }
    }
}

/// Starts this program again for one of its tests.
pub(crate) fn start(test: &str, root: &Path, who: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored"])
        .env("SADDLEBAG_TEST_ROOT", root)
        .env("SADDLEBAG_TEST_WHO", who)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_folder_that_is_removed_again_and_again_takes_no_file_with_it_and_fails_no_writer() {
    let folder = tempfile::tempdir().unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let (is_over, mut remover) = (&is_over, open(folder.path()));
        let writers = ["one.md", "two.md"].map(|name| {
            let mut store = open(folder.path());
            scope.spawn(move || {
                let at = format!("d/e/{name}");
                for edit in 0..EDITS {
                    store.put(&at, &edit.to_string());
                    store.append(&at, "line").unwrap();
                    assert_eq!(store.text(&at), format!("{edit}\nline"));
                    assert_eq!(store.remove(&at, Any), Ok(RemoveOutcome::Done));
                }
            })
        });
        let removing = scope.spawn(move || {
            let mut removed = 0;
            // Once more after the last writer, without a race.
            loop {
                let is_last = is_over.load(Ordering::SeqCst);
                removed += usize::from(remover.remove_directory("d/e").unwrap() == RemoveDirectoryOutcome::Removed);
                if is_last {
                    return removed;
                }
            }
        });
        let written = writers.map(thread::ScopedJoinHandle::join);
        is_over.store(true, Ordering::SeqCst);
        assert!(removing.join().unwrap() > 0);
        assert!(written.iter().all(Result::is_ok));
    });
    assert_eq!(open(folder.path()).list("d", true), Ok(vec![]));
}
