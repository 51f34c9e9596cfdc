//! Many writers of one process.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use saddlebag::protocol::{RemoveDirectoryOutcome, RemoveOutcome};

use crate::support::{Any, Ask, open};

/// Number of edits that each thread makes.
const EDITS: usize = 25;
/// Number of stores that threads race for, and number of threads for each.
const FRESH_STORES: usize = 500;
const FIRST_WRITERS: usize = 4;

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
                (0..200).for_each(|_| drop(store.rename(from, to, Any).unwrap()));
            });
        }
    });
    assert_eq!(open(folder.path()).list("", false).unwrap().len(), 1);
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
