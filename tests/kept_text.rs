//! Text that a change replaced: kept in the history or in a backup, and brought back from either.

use std::collections::BTreeMap;

use saddlebag::approval::{ApproveItem, Reject};
use saddlebag::entries::PurgeEntries;
use saddlebag::history::{Expunge, SetHistoryPolicy, Undo};
use saddlebag::journal::{Target, WriteFile, WriteMode};
use saddlebag::notebook::{ImportNotes, ImportedNote, NoteImportState};
use saddlebag::protocol::ErrorCode;
use saddlebag::store::BackupPlace;
use saddlebag::trust::{Provenance, TrustConfig};
use saddlebag::{Command, Config, Submission, Submit};
use saddlebag_host::Simulator;
use support::drive::{Drive, drive, simulator};
use support::{Kind, Random, agent_config, ask, both_engines, commands, each, fact, keep, path};

const PAD: &str = "projects/proj/SCRATCHPAD.md";
const PAD_BACKUP: &str = "projects/proj/SCRATCHPAD.bak";
const NOTE: &str = "projects/proj/facts/port.md";
const ENTRY: &str = "agents/a/entries/core/k.md";

type Files = BTreeMap<String, Vec<u8>>;

fn siblings() -> Config {
    Config { backups: BackupPlace::Sibling, ..agent_config() }
}

fn pad(content: &str) -> WriteFile {
    ask::overwrite(Target::Scratchpad, content)
}

fn page() -> Target {
    Target::Page("facts/port.md".into())
}

fn backups(drive: &Drive<Simulator>) -> Vec<String> {
    drive.executor.files().into_keys().filter(|path| path.ends_with(".bak")).collect()
}

/// Returns the files that people keep.
fn kept(drive: &Drive<Simulator>) -> Files {
    let is_kept = |path: &str| !path.contains(".saddlebag/") && !path.ends_with(".bak");
    drive.executor.files().into_iter().filter(|(path, _)| is_kept(path)).collect()
}

fn text(drive: &Drive<Simulator>, file: &str) -> String {
    let files = drive.executor.files();
    String::from_utf8(files.get(file).unwrap_or_else(|| panic!("no {file}: {:?}", files.keys())).clone()).unwrap()
}

#[both_engines]
fn the_history_keeps_what_is_replaced_and_every_byte_comes_back(kind: Kind) {
    let old = "caf\u{e9}\r\n\n\tno newline at the end";
    let mut drive = drive(kind, agent_config(), &[(PAD, old.as_bytes()), ("MEMORY.md", b"Tea.\n")]);
    let reply = drive.call(pad("- [ ] new\n")).unwrap();
    assert_eq!((reply.backup, backups(&drive)), (None, Vec::new()));
    let reply = drive.call(ask::restore(Target::Scratchpad)).unwrap();
    assert_eq!((reply.backup, text(&drive, PAD)), (None, old.to_string()));
    assert_eq!(reply.message, format!("Restored {PAD} from the history ({} bytes)", old.len()));
    // A second restore undoes the first.
    drive.run(ask::restore(Target::Scratchpad)).unwrap();
    assert_eq!(text(&drive, PAD), "- [ ] new\n");

    drive.run(ask::edit(Target::LongTerm, "Tea", "Coffee")).unwrap();
    drive.run(ask::slash("/memory clear long_term")).unwrap();
    drive.run(ask::restore(Target::LongTerm)).unwrap();
    assert_eq!(text(&drive, "MEMORY.md"), "Coffee.\n");

    drive.run(fact("Port", "5432")).unwrap();
    let before = text(&drive, NOTE);
    let reply = drive.call(ask::forget("facts/port")).unwrap();
    assert_eq!((reply.backup, kept(&drive).contains_key(NOTE)), (None, false));
    assert_eq!(reply.message, format!("Forgot {NOTE}; `restore` brings it back"));
    drive.run(ask::restore(page())).unwrap();
    assert_eq!(text(&drive, NOTE), before);

    drive.run(keep("k", "one", "core")).unwrap();
    drive.run(keep("k", "two", "core")).unwrap();
    for expected in ["one", "two", "one"] {
        drive.run(ask::restore_entry("k")).unwrap();
        assert!(text(&drive, ENTRY).contains(expected), "{expected}: {}", text(&drive, ENTRY));
    }
    assert_eq!(backups(&drive), Vec::<String>::new());
}

#[both_engines]
fn what_an_editor_wrote_and_what_has_a_file_of_its_own_in_the_history_come_back(kind: Kind) {
    let large = vec![b'x'; 2 << 20];
    let mut drive = drive(kind, agent_config(), &[]);
    drive.run(fact("Port", "5432")).unwrap();
    for edited in [b"by an editor".to_vec(), large, b"\xff\xfe not text".to_vec()] {
        drive.executor.insert(&path(NOTE), edited.clone());
        drive.run(ask::forget("facts/port.md")).unwrap();
        assert_eq!((kept(&drive).contains_key(NOTE), backups(&drive)), (false, Vec::new()));
        drive.run(ask::restore(page())).unwrap();
        assert_eq!(drive.executor.files()[NOTE], edited);
    }
}

/// The same content in another file may be recorded without this file's records having it.
#[both_engines]
fn content_that_only_another_file_has_recorded_comes_back(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    drive.run(pad("the same text")).unwrap();
    drive.executor.insert(&path(NOTE), "the same text");
    drive.run(ask::forget("facts/port.md")).unwrap();
    assert_eq!(backups(&drive), Vec::<String>::new());
    drive.run(ask::restore(page())).unwrap();
    assert_eq!(text(&drive, NOTE), "the same text");
}

#[both_engines]
fn a_store_with_backups_is_restored_and_goes_on_using_them(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[(PAD, b"now"), (PAD_BACKUP, b"then")]);
    let reply = drive.call(ask::restore(Target::Scratchpad)).unwrap();
    assert_eq!(reply.message, format!("Restored {PAD} from {PAD_BACKUP} (4 bytes)"));
    assert_eq!((text(&drive, PAD), text(&drive, PAD_BACKUP)), ("then".into(), "now".into()));
    let reply = drive.call(pad("new")).unwrap();
    assert_eq!((reply.backup.as_deref(), text(&drive, PAD_BACKUP)), (Some(PAD_BACKUP), "then".into()));
    drive.run(ask::restore(Target::Scratchpad)).unwrap();
    assert_eq!(text(&drive, PAD), "then");
}

#[both_engines]
fn the_newest_kept_text_comes_back_when_the_place_has_changed(kind: Kind) {
    let store = drive(kind, agent_config(), &[]).executor;
    let mut now = Drive::new(kind, agent_config(), store);
    now.run(fact("Port", "one")).unwrap();
    let mut texts = vec![text(&now, NOTE)];
    // Forgotten in the history, in a backup, with a memory that records nothing, and in the history again.
    for config in [agent_config(), siblings(), Config { machine: None, ..agent_config() }, agent_config()] {
        now = Drive::new(kind, config, now.executor);
        now.run(ask::forget("facts/port.md")).unwrap();
        texts.push(format!("text {}", texts.len()));
        for config in [agent_config(), siblings(), Config { machine: None, ..agent_config() }] {
            let mut reader = Drive::new(kind, config, now.executor.clone());
            reader.run(ask::restore(page())).unwrap();
            assert_eq!(text(&reader, NOTE), texts[texts.len() - 2]);
        }
        now.executor.insert(&path(NOTE), texts.last().unwrap().as_str());
    }
}

#[both_engines]
fn a_note_under_the_old_name_of_another_has_none_of_its_text(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    drive.run(fact("Port", "one")).unwrap();
    drive.run(ask::edit(page(), "one", "two")).unwrap();
    drive.run(ask::rename("Port", "Ports")).unwrap();
    drive.executor.insert(&path(NOTE), "another note");
    assert_eq!(drive.run(ask::restore(page())).unwrap_err().code, ErrorCode::NotFound);
    assert_eq!(text(&drive, NOTE), "another note");
}

#[both_engines]
fn kept_text_comes_back_after_a_move_was_taken_back(kind: Kind) {
    let edited = || {
        let mut drive = drive(kind, agent_config(), &[]);
        drive.run(fact("Port", "one")).unwrap();
        drive.run(ask::edit(page(), "one", "two")).unwrap();
        drive
    };
    let mut undone = edited();
    undone.run(ask::rename("Port", "Ports")).unwrap();
    undone.call(Undo::default()).unwrap();
    undone.run(ask::restore(page())).unwrap();
    assert!(text(&undone, NOTE).contains("one"));
    let mut back = edited();
    back.run(ask::rename("Port", "Ports")).unwrap();
    back.run(ask::rename("Ports", "Port")).unwrap();
    back.run(ask::restore(page())).unwrap();
    assert!(text(&back, NOTE).contains("one"));
    let mut moved = drive(kind, agent_config(), &[]);
    for (content, category) in [("one", "core"), ("two", "core"), ("two", "notes")] {
        moved.run(keep("k", content, category)).unwrap();
    }
    moved.call(Undo::default()).unwrap();
    moved.call(ask::redo()).unwrap();
    moved.run(ask::restore_entry("k")).unwrap();
    assert!(text(&moved, "agents/a/entries/notes/k.md").contains("two"), "the text before the move");
    moved.call(Undo::default()).unwrap();
    moved.call(Undo::default()).unwrap();
    moved.run(ask::restore_entry("k")).unwrap();
    assert!(text(&moved, ENTRY).contains("one"));
}

#[both_engines]
fn the_text_of_an_entry_follows_it_to_another_category(kind: Kind) {
    const MOVED: &str = "agents/a/entries/notes/k.md";
    let mut drive = drive(kind, agent_config(), &[]);
    for (content, category) in [("one", "core"), ("two", "core"), ("three", "notes")] {
        drive.run(keep("k", content, category)).unwrap();
    }
    assert_eq!(backups(&drive), [""; 0]);
    for expected in ["two", "three", "two"] {
        drive.run(ask::restore_entry("k")).unwrap();
        assert!(text(&drive, MOVED).contains(expected), "{expected}");
    }
    drive.run(keep("k", "four", "core")).unwrap();
    drive.run(ask::restore_entry("k")).unwrap();
    assert!(text(&drive, ENTRY).contains("two"));
    // Undone, it is in its old place, and the next change keeps what was there.
    for _ in 0..2 {
        drive.call(Undo::default()).unwrap();
    }
    assert!(text(&drive, MOVED).contains("two") && backups(&drive).is_empty());
    // An earlier version comes back in the category that the entry has now.
    let all = drive.call(ask::list_versions("k")).unwrap();
    drive.call(ask::restore_version("k", all.versions.last().unwrap().number)).unwrap();
    assert!(text(&drive, MOVED).contains("one") && text(&drive, MOVED).contains("category: notes"));
}

#[both_engines]
fn what_is_not_recorded_is_kept_in_a_backup(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[(PAD, b"one")]);
    drive.run(SetHistoryPolicy { recording: Some(false), ..SetHistoryPolicy::default() }).unwrap();
    let reply = drive.call(pad("two")).unwrap();
    assert_eq!((reply.backup.as_deref(), text(&drive, PAD_BACKUP).as_str()), (Some(PAD_BACKUP), "one"));
    drive.run(SetHistoryPolicy { recording: Some(true), ..SetHistoryPolicy::default() }).unwrap();
    drive.run(ask::restore(Target::Scratchpad)).unwrap();
    assert_eq!(text(&drive, PAD), "one");
}

#[both_engines]
fn text_with_a_secret_is_kept_in_a_backup_and_never_lost(kind: Kind) {
    let secret = format!("the key is {}\n", concat!("AKIA", "QWERTYUIOPASDFGH"));
    let mut drive = drive(kind, agent_config(), &[(PAD, secret.as_bytes())]);
    drive.run(pad("no key")).unwrap();
    assert_eq!(text(&drive, PAD_BACKUP), secret);
    drive.run(ask::restore(Target::Scratchpad)).unwrap();
    assert_eq!(text(&drive, PAD), secret);
    let log = text(&drive, "projects/proj/.saddlebag/history/2026-05/laptop.log");
    assert!(!log.contains("keeps_before"), "{log}");
}

#[both_engines]
fn the_log_of_another_machine_has_the_newest_text(kind: Kind) {
    let machine = |name: &str| Config { machine: Some(name.into()), ..agent_config() };
    let mut first = drive(kind, machine("zebra"), &[(PAD, b"one")]);
    first.run(pad("two")).unwrap();
    let mut second = Drive::new(kind, machine("ant"), first.executor);
    second.now.seconds += 60;
    second.run(pad("three")).unwrap();
    for name in ["zebra", "ant", "other"] {
        let mut reader = Drive::new(kind, machine(name), second.executor.clone());
        reader.now.seconds += 120;
        reader.run(ask::restore(Target::Scratchpad)).unwrap();
        assert_eq!(text(&reader, PAD), "two", "{name}");
    }
}

#[both_engines]
fn what_is_purged_or_expunged_does_not_come_back(kind: Kind) {
    let mut drive = drive(kind, agent_config(), &[]);
    drive.run(keep("k", "one", "core")).unwrap();
    drive.run(keep("k", "two", "core")).unwrap();
    drive.run(ask::forget_entry("k")).unwrap();
    drive.run(PurgeEntries { key: Some("k".into()) }).unwrap();
    drive.run(keep("k", "three", "core")).unwrap();
    assert_eq!(drive.call(ask::restore_entry("k")).unwrap_err().code, ErrorCode::NotFound);
    drive.run(keep("k", "four", "core")).unwrap();
    drive.run(ask::restore_entry("k")).unwrap();
    assert!(text(&drive, ENTRY).contains("three"));

    drive.run(fact("Port", "a port with the number 5432")).unwrap();
    drive.run(ask::forget("facts/port")).unwrap();
    let named = Expunge { name: Some("facts/port.md".into()), ..Expunge::default() };
    let expunged = drive.call(named).unwrap();
    assert!(expunged.left.is_empty() && expunged.digest.is_some(), "{expunged:?}");
    assert_eq!(drive.call(ask::restore(page())).unwrap_err().code, ErrorCode::NotFound);
    let files = drive.executor.files();
    assert!(!files.values().any(|bytes| String::from_utf8_lossy(bytes).contains("5432")), "{files:?}");
}

#[both_engines]
fn the_value_of_a_forgotten_note_is_rejected_and_it_is_not_imported_again(kind: Kind) {
    let trust = TrustConfig { provenance: Provenance::User, ..TrustConfig::default() };
    let mut drive = drive(kind, Config { trust, ..agent_config() }, &[]);
    let note = ImportedNote {
        id: "git ~/shop 1f0c9d".into(),
        title: "Port".into(),
        content: "The port is 5432.".into(),
        date: "2026-05-25T10:00:00Z".into(),
        ..ImportedNote::default()
    };
    let import = || ImportNotes { folder: "facts".into(), notes: vec![note.clone()], dry_run: false };
    let [imported] = <[_; 1]>::try_from(drive.call(import()).unwrap().notes).unwrap();
    assert_eq!(imported.state, NoteImportState::Created);
    drive.run(ask::forget(imported.path.clone())).unwrap();
    assert_eq!(backups(&drive), Vec::<String>::new());
    let [again] = <[_; 1]>::try_from(drive.call(import()).unwrap().notes).unwrap();
    let NoteImportState::Kept(reason) = &again.state else { panic!("{again:?}") };
    assert_eq!(reason.as_str(), format!("{} was forgotten, and `restore` brings it back", imported.path));

    let items = vec![ApproveItem { name: imported.path.clone(), version: String::new() }];
    let reply = drive.call(Reject { items, dry_run: false, for_good: true }).unwrap();
    assert_eq!((reply.rejected.len(), reply.skipped.len()), (1, 0), "{reply:?}");
    drive.executor.insert(&path(NOTE), "x");
    let refused = drive.call(ask::overwrite(Target::Note("n".into()), "The port is 5432.")).unwrap_err();
    assert_eq!(refused.code, ErrorCode::Rejected);
}

/// A command that replaces, removes or brings back text. Each number makes another text.
fn any_command(random: &mut Random, number: usize) -> Submission<Command> {
    let content = format!("text {number}\n");
    let target = match random.number() % 4 {
        0 => Target::Scratchpad,
        1 => Target::LongTerm,
        2 => Target::Note("n".into()),
        _ => page(),
    };
    match random.number() % 14 {
        0..=3 if target != page() => ask::overwrite(target, &content).submission(),
        0..=3 => fact("Port", &content).submission(),
        4 => ask::edit(target, "text", format!("{number} text")).submission(),
        5 => ask::forget("facts/port.md").submission(),
        6 => ask::forget(Target::Note("n".into())).submission(),
        7 | 8 => ask::restore(target).submission(),
        9 => keep("k", &content, if random.number().is_multiple_of(3) { "daily" } else { "core" }).submission(),
        10 => ask::restore_entry("k").submission(),
        11 => ask::forget_entry("k").submission(),
        12 if random.number().is_multiple_of(2) => PurgeEntries { key: None }.submission(),
        _ => ask::rename("facts/port.md", format!("Moved {number}")).submission(),
    }
}

/// Wherever replaced text is kept, the same commands have the same effect on the files that people keep.
#[both_engines]
fn each_place_brings_the_same_text_back(kind: Kind) {
    let commands = if kind == Kind::Native { 200 } else { 40 };
    let (mut restored, mut recorded) = (0, 0);
    for seed in each("seed", 0..12) {
        let (mut random, mut is_recorded) = (Random(seed), true);
        let [mut reference, mut tested] = [0, 1].map(|_| Drive::new(kind, siblings(), Simulator::new(1)));
        for number in each("command", 0..commands) {
            // From time to time another host opens the store.
            if random.number().is_multiple_of(4) {
                let config = match random.number() % 6 {
                    0 => siblings(),
                    1 => Config { machine: None, ..agent_config() },
                    2 => Config { machine: Some("desktop".into()), ..agent_config() },
                    _ => agent_config(),
                };
                is_recorded = config.machine.is_some();
                tested = Drive::new(kind, Config { epoch: 2 + number as u64, ..config }, tested.executor);
            }
            // The log of a second month begins.
            reference.now.seconds += 6 * 3600;
            tested.now = reference.now;
            let command = any_command(&mut random, number);
            if !is_recorded && command.command.name() == "purge-entries" {
                // Nobody tells the history.
                continue;
            }
            let results = [&mut reference, &mut tested].map(|drive| drive.run(command.clone()).map(drop));
            let [expected, found] = results.map(|result| result.map_err(|error| error.code));
            assert_eq!(found, expected, "{command:?}");
            assert_eq!(kept(&tested), kept(&reference), "{command:?}");
            let name = command.command.name();
            restored += usize::from(found.is_ok() && ["restore", "restore-entry"].contains(&name));
        }
        let files = tested.executor.files().into_values();
        recorded += files.map(|bytes| String::from_utf8_lossy(&bytes).matches("keeps_before").count()).sum::<usize>();
    }
    assert!(restored > commands / 4 && recorded > commands / 4, "{restored} restored, {recorded} kept in the history");
}

/// A change that keeps text in the history loses none in a crash, and `restore` finds the right one after it.
#[both_engines]
fn a_crash_loses_no_text_that_the_history_keeps(kind: Kind) {
    let commands: Vec<Submission<Command>> = commands![
        pad("two"),
        pad("three"),
        ask::restore(Target::Scratchpad),
        // The record of an append may vanish in a power cut, but not once a later record needs it.
        WriteFile { mode: WriteMode::Append, ..pad("appended") },
        pad("two"),
        ask::edit(Target::Scratchpad, "two", "four"),
        fact("Port", "one"),
        ask::forget("facts/port.md"),
        ask::restore(page()),
        keep("k", "one", "core"),
        keep("k", "two", "core"),
        ask::restore_entry("k"),
    ];
    let begin = |seed| {
        let mut store = Simulator::new(seed);
        store.insert(&path(PAD), "one");
        store
    };
    let restores: [fn() -> Submission<Command>; 3] = [
        || ask::restore(Target::Scratchpad).submission(),
        || ask::restore(page()).submission(),
        || ask::restore_entry("k").submission(),
    ];
    // What each restore does after each number of commands.
    let after = |store: &Simulator| {
        let run = |restore: &fn() -> Submission<Command>| {
            let mut drive = Drive::new(kind, Config { epoch: 3, ..agent_config() }, store.clone());
            let done = drive.run(restore()).map(drop).map_err(|error| error.code);
            (done, kept(&drive))
        };
        restores.iter().map(run).collect::<Vec<_>>()
    };
    let mut calm = Drive::new(kind, agent_config(), begin(1));
    let mut expected = vec![after(&calm.executor)];
    let mut states = vec![kept(&calm)];
    for command in &commands {
        calm.run(command.clone()).unwrap();
        expected.push(after(&calm.executor));
        states.push(kept(&calm));
    }
    assert_eq!(backups(&calm), Vec::<String>::new());
    for seed in each("seed", 0..3) {
        for crash in each("crash", 0..calm.executor.operations()) {
            let mut store = begin(seed);
            store.crash_at(crash);
            let mut drive = Drive::new(kind, agent_config(), store);
            let done = commands.iter().take_while(|command| drive.run((*command).clone()).is_ok()).count();
            drive.executor.restart();
            let found = kept(&drive);
            let made = (done..=done + 1).find(|made| states.get(*made) == Some(&found));
            let made = made.unwrap_or_else(|| panic!("after {done} commands: {found:?}"));
            for (found, expected) in after(&drive.executor).iter().zip(&expected[made]) {
                // A new file that only its record has cannot be told from one that others removed.
                let is_new = expected.0 == Err(ErrorCode::NotFound) && states.get(made + 1) == Some(&found.1);
                assert!(is_new || found == expected, "{done} commands, state {made}: {found:?}, not {expected:?}");
            }
        }
    }
}

#[both_engines]
fn a_memory_without_a_history_restores_what_the_history_keeps(kind: Kind) {
    let mut recording = Drive::new(kind, agent_config(), simulator(&[(PAD, b"one")]));
    recording.run(pad("two")).unwrap();
    let mut silent = Drive::new(kind, Config { machine: None, ..agent_config() }, recording.executor);
    let reply = silent.call(ask::restore(Target::Scratchpad)).unwrap();
    assert_eq!((text(&silent, PAD), reply.backup.as_deref()), ("one".into(), Some(PAD_BACKUP)));
    assert_eq!(text(&silent, PAD_BACKUP), "two");
}
