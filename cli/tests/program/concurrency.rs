//! `concurrent_writers_lose_nothing`, with processes.

use std::thread;

use serde_json::Value;

use crate::support::{Store, TODAY};
use saddlebag_tests_attributes::nightly;

#[nightly]
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

#[test]
fn concurrent_undos_of_several_files_take_an_operation_each() {
    const UNDOS: usize = 4;

    for round in 0..4 {
        let store = Store::new();
        for note in 0..=UNDOS {
            store.run_now(&["remember", &format!("Note {note}"), &format!("Text of {note}.")]).exits(0);
            // A rename changes two files.
            store.run_now(&["move", &format!("Note {note}"), &format!("Renamed {note}")]).exits(0);
        }
        thread::scope(|scope| {
            for _ in 0..UNDOS {
                let store = &store;
                scope.spawn(move || store.run_now(&["undo"]).exits(0));
            }
        });
        // The last two operations of each of two notes are undone.
        let left = store.run_now(&["list", "--kind", "note"]).exits(0).stdout;
        assert_eq!((left.lines().count(), left.matches("Renamed").count()), (UNDOS - 1, UNDOS - 1), "{round}: {left}");
        for _ in 0..UNDOS {
            store.run_now(&["redo"]).exits(0);
        }
        let left = store.run_now(&["list", "--kind", "note"]).exits(0).stdout;
        assert_eq!(left.matches("Renamed").count(), UNDOS + 1, "{round}: {left}");
    }
}

#[test]
fn concurrent_undos_and_redos_of_one_file_take_an_operation_each() {
    const LINES: usize = 6;
    const AT_ONCE: usize = 4;

    for round in 0..10 {
        let store = Store::new();
        for line in 0..LINES {
            store.run_now(&["log", "--line", &format!("line {line}")]).exits(0);
        }
        let path = store.run_now(&["show", "--path", "daily"]).exits(0).stdout;
        let lines = || std::fs::read_to_string(path.trim_end()).unwrap_or_default().matches("line ").count();
        let before = std::fs::read(path.trim_end()).expect("a log");
        let at_once = |command: &str| {
            let done: Vec<String> = thread::scope(|scope| {
                let one = || scope.spawn(|| store.run_now(&[command]).exits(0).stdout);
                let all: Vec<_> = (0..AT_ONCE).map(|_| one()).collect();
                all.into_iter().map(|one| one.join().expect("done")).collect()
            });
            let first_lines = done.iter().filter_map(|text| text.lines().next());
            let mut operations: Vec<&str> = first_lines.collect();
            operations.sort_unstable();
            operations.dedup();
            assert_eq!(operations.len(), AT_ONCE, "round {round}: {done:?}");
        };
        at_once("undo");
        assert_eq!(lines(), LINES - AT_ONCE, "round {round}");
        at_once("redo");
        assert_eq!(std::fs::read(path.trim_end()).expect("a log"), before, "round {round}");
    }
}

#[test]
fn undo_beside_a_write_takes_a_whole_operation() {
    for round in 0..20 {
        let store = Store::new();
        store.run_now(&["log", "--line", "line 0"]).exits(0);
        store.run_now(&["log", "--line", "line 1"]).exits(0);
        let undone = thread::scope(|scope| {
            let writing = scope.spawn(|| store.run_now(&["log", "--line", "line 2"]).exits(0));
            let undone = store.run_now(&["undo"]).exits(0).stdout;
            writing.join().expect("written");
            undone
        });
        let text = store.run_now(&["show", "daily"]).exits(0).stdout;
        assert_eq!(text.matches("line ").count(), 2, "round {round}: {undone}{text}");
    }
}

#[test]
fn concurrent_restores_are_undone_in_the_order_in_which_they_were_made() {
    const VERSIONS: usize = 5;

    for round in 0..8 {
        let store = Store::new();
        store.run_now(&["remember", "Port", "The port is 0."]).exits(0);
        for version in 1..VERSIONS {
            let (old, new) = (format!("is {}.", version - 1), format!("is {version}."));
            store.run_now(&["edit", "Port", "--old", &old, "--new", &new]).exits(0);
        }
        let log: Value = serde_json::from_str(&store.run_now(&["op", "log", "--json"]).stdout).expect("JSON");
        let all = log["operations"].as_array().expect("operations");
        // All operations but the newest: the note has a different text at each of them.
        let operations: Vec<&str> = all.iter().skip(1).filter_map(|info| info["operation"].as_str()).collect();
        let restored: usize = thread::scope(|scope| {
            let restores: Vec<_> = operations
                .iter()
                .map(|operation| {
                    let store = &store;
                    scope.spawn(move || store.run_now(&["restore", "Port", "--at", operation]).exits(0).stdout)
                })
                .collect();
            let done = restores.into_iter().map(|one| one.join().expect("restored"));
            done.filter(|text| text.contains("Restored version")).count()
        });
        let mut undone = 0;
        while store.run_now(&["list", "--kind", "note"]).stdout.contains("Port") {
            let before = store.run_now(&["show", "Port"]).exits(0).stdout;
            let undo = store.run_now(&["undo"]).exits(0).stdout;
            let after = store.run_now(&["show", "Port"]).stdout;
            assert_ne!(before, after, "round {round}: {undo}");
            undone += 1;
        }
        assert_eq!(undone, VERSIONS + restored, "round {round}");
    }
}
