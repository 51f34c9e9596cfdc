//! `concurrent_writers_lose_nothing`, with processes.

use std::thread;

use crate::support::{Store, TODAY};

#[test]
fn two_processes_appending_lose_no_line_ten_times_in_a_row() {
    for round in 0..10 {
        let store = Store::new();
        thread::scope(|scope| {
            for writer in 0..2 {
                let store = &store;
                scope.spawn(move || {
                    for line in 0..200 {
                        store.run(&["write", "daily", &format!("writer {writer} line {line}")]).exits(0);
                    }
                });
            }
        });
        let text = store.text(TODAY);
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!((text.lines().count(), lines.len()), (400, 400), "round {round}");
    }
}

#[test]
fn two_hundred_concurrent_edits_of_one_file_lose_none() {
    const WRITERS: usize = 8;
    const EDITS: usize = 25;

    let store = Store::new();
    let counters: String = (0..WRITERS).map(|writer| format!("counter {writer} is 0.\n")).collect();
    store.put("notes/counters.md", counters);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let store = &store;
            scope.spawn(move || {
                for count in 0..EDITS {
                    let old = format!("counter {writer} is {count}.");
                    let new = format!("counter {writer} is {}.", count + 1);
                    store.run(&["edit", "note:counters", "--old", &old, "--new", &new]).exits(0);
                }
            });
        }
    });
    let expected: String = (0..WRITERS).map(|writer| format!("counter {writer} is {EDITS}.\n")).collect();
    assert_eq!(store.text("notes/counters.md"), expected);
}

#[test]
fn concurrent_undos_take_an_operation_each() {
    const UNDOS: usize = 6;

    for round in 0..5 {
        let store = Store::new();
        for note in 0..UNDOS + 1 {
            store.run_now(&["remember", &format!("Note {note}"), "Text."]).exits(0);
        }
        thread::scope(|scope| {
            for _ in 0..UNDOS {
                let store = &store;
                scope.spawn(move || store.run_now(&["undo"]).exits(0));
            }
        });
        let left = store.run_now(&["list", "--kind", "note"]).exits(0).stdout;
        assert!(left.lines().count() == 1 && left.contains("Note 0"), "round {round}: {left}");
        for _ in 0..UNDOS {
            store.run_now(&["redo"]).exits(0);
        }
        store.run_now(&["redo"]).exits(1);
        assert_eq!(
            store.run_now(&["list", "--kind", "note"]).exits(0).stdout.lines().count(),
            UNDOS + 1,
            "round {round}"
        );
    }
}
