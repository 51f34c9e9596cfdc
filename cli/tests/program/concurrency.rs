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
