//! An acknowledged change stays, whatever crashes and whoever else writes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use proptest::prelude::*;
use saddlebag::entries::{
    Checkpoint, CloseRun, ImportEntries, ImportFile, ImportMode, NewEntry, OpenRun, PurgeEntries, RetainEntries,
};
use saddlebag::journal::{FlushSummary, Target};
use saddlebag::notebook::{RememberError, Today, WriteNote};
use saddlebag::protocol::{ErrorCode, FsError};
use saddlebag::{Command, Config, Memory, Submission};
use saddlebag_host::{Durability, LocalDir, LocalDirOptions, NativeEngine, Scheduler, Simulator};
use support::arbitrary::cases;
use support::drive::{Drive, Shared, simulator};
use support::{Kind, agent_config, ask, both_engines, commands, each, keep, path, project_config, without_history};

const PAD: &str = "projects/proj/SCRATCHPAD.md";

/// Name of the file that a change of the simulator leaves when it stops halfway.
const LEFT: &str = ".saddlebag-left.tmp";

type Files = BTreeMap<String, Vec<u8>>;

fn note() -> Target {
    Target::Note("n".into())
}

fn script() -> Vec<Submission<Command>> {
    commands![
        ask::append(Target::LongTerm, "fact one\nfact two"),
        ask::append(Target::LongTerm, "fact two\nfact three"),
        ask::edit(Target::LongTerm, "fact one", "fact 1"),
        ask::overwrite(Target::LongTerm, "all new"),
        ask::restore(Target::LongTerm),
        ask::append(Target::Scratchpad, "- [ ] a"),
        ask::append_daily("h", "b"),
        FlushSummary { messages: Some(3), ..ask::flush("s") },
        ask::overwrite(note(), "first"),
        ask::overwrite(note(), "second"),
        ask::forget(note()),
        ask::restore(note()),
        ask::slash("/memory clear daily"),
        ask::slash("/memory clear note n"),
    ]
}

/// The commands of the entries that change something.
fn entries_script() -> Vec<Submission<Command>> {
    let tagged = NewEntry { tags: vec!["t".into()], ..NewEntry::new("k", "five", "core") };
    let file = |path: &str, content: &str| ImportFile { path: path.into(), content: Ok(content.into()) };
    let import = ImportEntries {
        files: vec![file("core/k.md", "six"), file("notes/new.md", "---\nkey: new\n---\n\nseven")],
        mode: ImportMode::Replace,
        dry_run: false,
        earlier: Vec::new(),
    };
    commands![
        keep("k", "one", "core"),
        keep("k", "two", "core"),
        keep("k", "two", "core"),
        ask::restore_entry("k"),
        keep("k", "two", "notes"),
        keep("k", "three", "core"),
        keep("shared", "of all", "workspace"),
        keep("gone", "soon", "daily"),
        ask::forget_entry("gone"),
        keep("gone", "back", "daily"),
        ask::forget_entry("gone"),
        PurgeEntries { key: None },
        ask::in_run(OpenRun { fence: 7 }),
        ask::in_run(keep("k", "four", "core")),
        ask::in_run(Checkpoint),
        ask::in_run(ask::store(tagged)),
        ask::in_run(CloseRun),
        import,
        RetainEntries { imported: Vec::new(), dry_run: false },
    ]
}

/// Returns the commands of [`script`] and those of other families that end in one write, or in several writes after
/// each of which the store is whole.
fn whole_script() -> Vec<Submission<Command>> {
    let fact = |content: &str, supersede| WriteNote { supersede, ..ask::fact("Port", content) };
    let notebook = commands![
        fact("5432", false),
        fact("5433", false),
        fact("5434", true),
        ask::log("deployed"),
        Today,
        ask::link("facts/port", "facts/port-2"),
        RememberError { tool: "t".into(), error: "fatal: x".into() },
        RememberError { tool: "t".into(), error: "fatal: x".into() },
        ask::forget("facts/port-2"),
    ];
    [script(), notebook, entries_script()].concat()
}

#[both_engines]
fn acknowledged_writes_survive(kind: Kind) {
    let commands = whole_script();
    let mut states: Vec<Files> = Vec::new();
    let mut calm = Drive::new(Kind::Native, agent_config(), Simulator::new(1));
    states.push(without_history(calm.executor.files()));
    for command in &commands {
        calm.run(command.clone()).unwrap();
        states.push(without_history(calm.executor.files()));
    }
    let operations = calm.executor.operations();
    assert!(operations > 20);
    for seed in each("seed", 0..4) {
        for crash in each("crash", 0..operations) {
            let mut store = Simulator::new(seed);
            store.crash_at(crash);
            let mut drive = Drive::new(kind, agent_config(), store);

            let acknowledged = commands.iter().take_while(|command| drive.run((*command).clone()).is_ok()).count();
            drive.executor.restart();

            let after = without_history(drive.executor.files());
            let (before, done) = (&states[acknowledged], &states[(acknowledged + 1).min(commands.len())]);
            let names: Vec<&String> = before.keys().chain(done.keys()).chain(after.keys()).collect();
            for name in names {
                let found = after.get(name);
                // An entry that is moved gets its new category in its old file before the file is moved.
                let key = name.rsplit('/').next().unwrap_or_default();
                let is_moving = name.starts_with("agents/")
                    && name.ends_with(".md")
                    && done.iter().any(|(other, bytes)| other.ends_with(&format!("/{key}")) && found == Some(bytes));
                // A change that stops halfway leaves the replaced text for the next one to keep.
                let is_left = name.ends_with(LEFT) && before.values().any(|bytes| found == Some(bytes));
                assert!(
                    found == before.get(name) || found == done.get(name) || is_left || is_moving,
                    "{kind:?}, crash at {crash}, seed {seed}, {acknowledged} acknowledged: {name} is {found:?}"
                );
            }
            let mut again = Drive::new(kind, Config { epoch: 2, ..project_config() }, drive.executor);
            assert!(again.run(ask::append(Target::Scratchpad, "- [ ] later")).is_ok());
            assert!(!again.executor.files().keys().any(|name| name.ends_with(LEFT)));
        }
    }
}

/// An interrupted change leaves what it replaces in some file.
#[test]
fn a_change_that_was_not_acknowledged_keeps_its_backup_or_has_none() {
    for crash in each("crash", 0..2) {
        for seed in each("seed", 0..4) {
            let mut store = Simulator::new(seed);
            store.insert(&path("MEMORY.md"), "precious");
            store.crash_at(crash);
            let mut drive = Drive::new(Kind::Component, project_config(), store);
            let _ = drive.run(ask::overwrite(Target::LongTerm, "new"));
            drive.executor.restart();
            let files = drive.executor.files();
            assert!(files.values().any(|bytes| bytes == b"precious"), "crash at {crash}: {files:?}");
        }
    }
}

#[test]
fn a_restore_that_stops_halfway_loses_neither_text() {
    for seed in each("seed", 0..8) {
        for crash in each("crash", 0..5) {
            let mut store = Simulator::new(seed);
            store.insert(&path("MEMORY.md"), "newer");
            store.insert(&path("MEMORY.bak"), "older");
            store.crash_at(crash);
            let mut drive = Drive::new(Kind::Component, project_config(), store);
            let _ = drive.run(ask::restore(Target::LongTerm));
            drive.executor.restart();
            assert_holds_both(&drive, crash);
            let text = drive.executor.files()["MEMORY.md"].clone();
            // The next restore exchanges the two, whatever the interrupted one has left.
            drive.run(ask::restore(Target::LongTerm)).expect("it restores");
            assert_holds_both(&drive, crash);
            assert_ne!(drive.executor.files()["MEMORY.md"], text, "crash at {crash}");
            assert_eq!(drive.executor.files().len(), 2, "crash at {crash}");
        }
    }
}

/// Changes that keep what they replace.
fn backed_up_changes() -> Vec<Submission<Command>> {
    commands![
        ask::overwrite(Target::LongTerm, "newest"),
        ask::edit(Target::LongTerm, "newer", "newest"),
        ask::slash("clear long_term"),
        ask::slash("edit long_term newer => newest"),
    ]
}

#[both_engines]
fn a_change_that_fails_leaves_the_older_backup(kind: Kind) {
    for command in backed_up_changes() {
        let files: [(&str, &[u8]); 2] = [("MEMORY.md", b"newer"), ("MEMORY.bak", b"older")];
        let mut calm = Drive::new(kind, project_config(), simulator(&files));
        calm.run(command.clone()).expect("it is made");
        assert_eq!(calm.executor.files()["MEMORY.bak"], b"newer");
        for operation in each("operation", 0..calm.executor.operations()) {
            let mut drive = Drive::new(kind, project_config(), simulator(&files));
            drive.executor.fail_at(operation, FsError::NoSpace);
            let result = drive.run(command.clone());
            let found = drive.executor.files();
            assert!(found.values().any(|bytes| bytes == b"newer"), "{command:?} at {operation}: {found:?}");
            if result.is_err() {
                assert_eq!(found["MEMORY.md"], b"newer", "{command:?} at {operation}: {result:?}");
                assert_eq!(found["MEMORY.bak"], b"older", "{command:?} at {operation}: {result:?}");
            }
        }
    }
}

#[test]
fn an_interrupted_change_can_be_restored() {
    for command in backed_up_changes() {
        let files: [(&str, &[u8]); 2] = [("MEMORY.md", b"newer"), ("MEMORY.bak", b"older")];
        let mut calm = Drive::new(Kind::Component, project_config(), simulator(&files));
        calm.run(command.clone()).expect("it is made");
        for (seed, crash) in (0..8).flat_map(|seed| (0..calm.executor.operations()).map(move |crash| (seed, crash))) {
            let mut store = Simulator::new(seed);
            for (name, bytes) in files {
                store.insert(&path(name), bytes);
            }
            store.crash_at(crash);
            let mut drive = Drive::new(Kind::Component, project_config(), store);
            let _ = drive.run(command.clone());
            drive.executor.restart();
            let changed = drive.executor.files()["MEMORY.md"] != b"newer";
            drive.run(ask::restore(Target::LongTerm)).expect("it restores");
            let expected: &[u8] = if changed { b"newer" } else { b"older" };
            let found = drive.executor.files();
            assert_eq!(found["MEMORY.md"], expected, "{command:?}, crash at {crash}, seed {seed}");
            assert_eq!(found.len(), 2, "{command:?}, crash at {crash}, seed {seed}: {found:?}");
        }
    }
}

#[both_engines]
fn an_empty_file_never_replaces_a_backup(kind: Kind) {
    let mut drive = Drive::new(kind, project_config(), simulator(&[("MEMORY.md", b""), ("MEMORY.bak", b"precious")]));
    drive.run(ask::overwrite(Target::LongTerm, "new")).expect("it is written");
    assert_eq!(drive.executor.files()["MEMORY.bak"], b"precious");
    let mut drive = Drive::new(kind, project_config(), simulator(&[("MEMORY.md", b""), ("MEMORY.bak", b"precious")]));
    drive.run(ask::restore(Target::LongTerm)).expect("it restores");
    assert_eq!(drive.executor.files()["MEMORY.md"], b"precious");
    assert_eq!(drive.executor.files()["MEMORY.bak"], b"precious");
}

fn assert_holds_both(drive: &Drive<Simulator>, crash: u64) {
    let files = drive.executor.files();
    for text in [b"newer", b"older"] {
        assert!(files.values().any(|bytes| bytes == text), "crash at {crash}: {files:?}");
    }
}

/// A write that may have happened is not done twice, with one exception: an append in doubt after a
/// change of length.
#[both_engines]
fn a_write_that_may_have_happened_is_not_doubled(kind: Kind) {
    for committed in [true, false] {
        for command in [script(), entries_script()].concat() {
            let files: [(&str, &[u8]); 5] = [
                ("MEMORY.md", b"fact one\n"),
                ("MEMORY.bak", b"old\n"),
                ("projects/proj/notes/n.md", b"note"),
                ("projects/proj/notes/n.bak", b"old note"),
                ("agents/a/entries/core/k.md", b"---\nkey: k\ncategory: core\n---\n\nzero"),
            ];
            let mut calm = Drive::new(kind, agent_config(), simulator(&files));
            let expected = calm.run(command.clone()).map(|_| calm.executor.files());
            for operation in each("operation", 0..calm.executor.operations()) {
                let mut drive = Drive::new(kind, agent_config(), simulator(&files));
                drive.executor.unknown_at(operation, committed);
                let result = drive.run(command.clone());
                match (&expected, result) {
                    // A backup that may not have been written is not relied upon.
                    (Ok(_), Err(error)) if error.code == ErrorCode::Storage => {}
                    (Ok(files), Ok(_)) => {
                        let mut found = drive.executor.files();
                        for (name, bytes) in
                            without_history(files.clone()).iter().filter(|(name, _)| !name.ends_with(".bak"))
                        {
                            assert_eq!(found.remove(name).as_ref(), Some(bytes), "{command:?} at {operation}");
                        }
                    }
                    (Err(_), Err(_)) => {}
                    (expected, result) => panic!("{command:?} gave {result:?}, not {expected:?}"),
                }
            }
        }
    }
}

#[both_engines]
fn a_change_that_is_not_durable_is_never_acknowledged(kind: Kind) {
    let ignored = |name: &String| name.ends_with(".bak");
    for at in each("command", 0..whole_script().len()) {
        let commands = whole_script();
        let (earlier, command) = (&commands[..at], &commands[at]);
        let begin = || {
            let mut drive = Drive::new(kind, agent_config(), Simulator::new(1));
            earlier.iter().for_each(|command| drop(drive.run(command.clone())));
            drive
        };
        let mut calm = begin();
        let first = calm.executor.operations();
        calm.run(command.clone()).unwrap();
        let expected = calm.executor.files();
        for operation in each("operation", first..calm.executor.operations()) {
            let mut drive = begin();
            drive.executor.not_durable_at(operation);
            let result = drive.run(command.clone());
            drive.executor.lose_power();
            match result {
                // The acknowledged text is on the disk; the reply names a backup that failed.
                Ok(_) => {
                    let found = drive.executor.files();
                    for (name, bytes) in without_history(expected.clone()).iter().filter(|(name, _)| !ignored(name)) {
                        assert_eq!(found.get(name), Some(bytes), "{command:?} at {operation}: {name}");
                    }
                }
                Err(error) => {
                    let storage = [ErrorCode::Storage, ErrorCode::MemoryUnavailable];
                    assert!(storage.contains(&error.code), "{command:?} at {operation}: {error}");
                    assert!(error.message.contains("power cut may undo it"), "{error}");
                    // A change whose record is not on the disk is not made.
                    assert!(drive.has_changed || error.message.contains("/history/"), "{error}");
                }
            }
        }
    }
}

/// The one exception to "no write is done twice": the bytes that were read back at an offset may have moved.
#[both_engines]
fn an_append_in_doubt_after_a_change_of_length_may_be_doubled_and_is_never_lost(kind: Kind) {
    for committed in [true, false] {
        let mut drive = Drive::new(kind, project_config(), simulator(&[(PAD, b"- [ ] a\n")]));
        drive.executor.unknown_at(0, committed);
        let rest: &[u8] = if committed { b"a longer first line\nadded\n" } else { b"a longer first line\n" };
        drive.executor.edit_at(1, &path(PAD), Some(rest.to_vec()));

        drive.run(ask::append(Target::Scratchpad, "added")).unwrap();

        assert_eq!(count(&drive.executor.files(), PAD, "added"), if committed { 2 } else { 1 });
    }
}

/// Counts the lines of a file that are equal to this one.
fn count(files: &Files, file: &str, line: &str) -> usize {
    let text = String::from_utf8(files.get(file).cloned().unwrap_or_default()).unwrap();
    text.lines().filter(|found| *found == line).count()
}

/// Appenders and editors write the same files in any order; an operation with an unknown outcome is settled by reading
/// again. Text at an offset stays there as long as nobody changes the length of the text before it, so the edits keep
/// the length here.
#[both_engines]
fn concurrent_writers_lose_nothing(kind: Kind) {
    proptest!(cases(48), |(
        seed in any::<u64>(),
        doubts in prop::collection::vec((0_u64..200, any::<bool>()), 0..12),
        writers in 2_usize..5,
        rounds in 1_usize..6,
    )| {
        let mut store = Simulator::new(seed);
        let items: String =
            (0..writers).flat_map(|w| (0..rounds).map(move |r| format!("- [ ] item {w}-{r}\n"))).collect();
        store.insert(&path("projects/proj/SCRATCHPAD.md"), items);
        for (operation, committed) in &doubts {
            store.unknown_at(*operation, *committed);
        }
        let store = Rc::new(RefCell::new(store));
        let mut drives: Vec<Drive<Shared>> = (0..writers)
            .map(|w| Drive::new(kind, Config { epoch: w as u64, ..project_config() }, Shared(store.clone())))
            .collect();
        let mut edits = vec![Vec::new(); writers];
        for (w, drive) in drives.iter_mut().enumerate() {
            for r in 0..rounds {
                drive.submit(ask::append(Target::LongTerm, format!("fact {w}-{r}")));
                drive.submit(ask::append(Target::Daily(None), format!("line {w}-{r}")));
                let item = |mark| format!("- [{mark}] item {w}-{r}\n");
                edits[w].push(drive.submit(ask::edit(Target::Scratchpad, item(' '), item('x'))));
                drive.submit(ask::append(Target::Scratchpad, format!("added {w}-{r}")));
            }
        }
        let mut order = Scheduler::new(seed);
        loop {
            let busy: Vec<usize> = (0..writers).filter(|&w| !drives[w].pending.is_empty()).collect();
            if busy.is_empty() {
                break;
            }
            let w = order.reorder(busy)[0];
            let next = order.reorder((0..drives[w].pending.len()).collect())[0];
            drives[w].answer(next);
        }

        let files = store.borrow().files();
        for (w, drive) in drives.iter().enumerate() {
            for r in 0..rounds {
                prop_assert_eq!(count(&files, "MEMORY.md", &format!("fact {w}-{r}")), 1);
                prop_assert_eq!(count(&files, "projects/proj/daily/2026-05-25.md", &format!("line {w}-{r}")), 1);
                prop_assert_eq!(count(&files, "projects/proj/SCRATCHPAD.md", &format!("added {w}-{r}")), 1);
                prop_assert_eq!(count(&files, "projects/proj/SCRATCHPAD.md", &format!("- [x] item {w}-{r}")), 1);
            }
            for (id, outcome) in &drive.finished {
                // If an edit was done with an unknown outcome and another writer changed the file since, its text is no
                // longer there to replace.
                let overtaken = !doubts.is_empty()
                    && edits[w].contains(id)
                    && outcome.as_ref().is_err_and(|error| error.code == ErrorCode::NoUniqueMatch);
                prop_assert!(outcome.is_ok() || overtaken, "{outcome:?}");
            }
        }
    });
}

#[test]
fn threads_on_one_folder_lose_nothing() {
    const WRITERS: usize = 4;
    const ROUNDS: usize = 25;
    let root = tempfile::tempdir().unwrap();
    let items: String = (0..WRITERS).map(|w| format!("writer {w} did 00\n")).collect();
    std::fs::write(root.path().join("MEMORY.md"), items).unwrap();
    std::thread::scope(|scope| {
        for w in 0..WRITERS {
            let root = root.path();
            scope.spawn(move || {
                let options = LocalDirOptions { durability: Durability::Fast, ..LocalDirOptions::default() };
                let store = LocalDir::open(root, options).unwrap();
                let memory = Memory::open(Config { epoch: w as u64, ..project_config() }).unwrap();
                let mut drive = Drive::new(Kind::Native, Config::default(), store);
                drive.engine = Box::new(NativeEngine::new(memory));
                for r in 0..ROUNDS {
                    drive.run(ask::append(Target::Daily(None), format!("line {w}-{r}"))).unwrap();
                    let done = |r: usize| format!("writer {w} did {r:02}");
                    drive.run(ask::edit(Target::LongTerm, done(r), done(r + 1))).unwrap();
                }
            });
        }
    });
    let read = |file: &str| std::fs::read_to_string(root.path().join(file)).unwrap();
    let log = read("projects/proj/daily/2026-05-25.md");
    assert_eq!(log.lines().count(), WRITERS * ROUNDS);
    for w in 0..WRITERS {
        let lines: Vec<&str> = log.lines().filter(|line| line.starts_with(&format!("line {w}-"))).collect();
        let expected: Vec<String> = (0..ROUNDS).map(|r| format!("line {w}-{r}")).collect();
        assert_eq!(lines, expected, "each writer's lines are in its order");
        assert!(read("MEMORY.md").contains(&format!("writer {w} did {ROUNDS}")));
    }
}
