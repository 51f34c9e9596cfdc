//! Links, renames and notes that are forgotten, with crashes and editors in between.

use saddlebag::Command;
use saddlebag::Config;
use saddlebag::notebook::{ConditionKind, NoteFilter};
use saddlebag::protocol::ErrorCode;
use saddlebag_host::{Scheduler, Simulator};
use support::drive::{Drive, changes};
use support::{Kind, ask, both_engines, each, fact, path};

use super::{call, config, list, open, refused, run, text};

#[both_engines]
fn a_link_is_written_once_in_the_way_of_the_notebook(kind: Kind) {
    let markdown = "[format.markdown]\nlink-format = 'markdown'\n";
    for config in ["[format.markdown]\nlink-format='wiki'\n", markdown] {
        let mut drive = open(
            kind,
            &[(".zk/config.toml", config), ("facts/port.md", "# The port\n"), ("notes/a.md", "# A\n\ntext\n")],
        );
        let linked = call(&mut drive, ask::link("A", "The port"));
        assert!(!linked.already_linked);
        assert!(text(&drive, "notes/a.md").ends_with(&format!("text\n\n{}\n", linked.link)), "{linked:?}");
        assert_eq!(linked.link.starts_with("[["), config != markdown, "{linked:?}");
        let again = call(&mut drive, ask::link("notes/a.md", "facts/port"));
        assert!(again.already_linked && again.link.is_empty(), "{again:?}");
        let filter = NoteFilter::default().with(ConditionKind::LinkedBy, ["notes/a.md"]);
        assert_eq!(list(&mut drive, filter), ["facts/port.md"]);
        assert_eq!(changes(&drive.executor), ["write notes/a.md"]);
        let error = refused(&mut drive, ask::link("A", "notes/a"));
        assert!(error.message.contains("itself"), "{error:?}");
    }
}

#[both_engines]
fn tags_are_written_to_the_frontmatter_once_and_removed(kind: Kind) {
    let note = "---\r\ntitle: A\r\n---\r\n\r\ntext #inline";
    let mut drive = open(kind, &[("notes/a.md", note)]);
    let tag = |add: &[&str], remove: &[&str]| {
        let list = |tags: &[&str]| tags.iter().map(ToString::to_string).collect();
        ask::tag("A", list(add), list(remove))
    };
    let tagged = call(&mut drive, tag(&["#ops", "inline"], &[]));
    assert_eq!((tagged.tags.len(), tagged.changed), (2, true), "{tagged:?}");
    assert_eq!(text(&drive, "notes/a.md"), "---\r\ntitle: A\r\ntags: [\"ops\"]\r\n---\r\n\r\ntext #inline");
    assert!(!call(&mut drive, tag(&["ops"], &["absent"])).changed);
    let error = refused(&mut drive, tag(&[], &["inline"]));
    assert!(error.message.contains("is in the text"), "{error:?}");
    let removed = call(&mut drive, tag(&["db"], &["ops"]));
    assert_eq!(removed.tags, ["db", "inline"]);
    assert_eq!(changes(&drive.executor).len(), 2);
    assert!(refused(&mut drive, tag(&[], &[])).message.contains("no tag"));
    assert!(refused(&mut drive, tag(&["a"], &["a"])).message.contains("added and removed"));
}

/// An edit of a note changes one thing, and keeps every other byte, line ends, frontmatter and
/// the final newline included.
#[both_engines]
fn a_link_keeps_line_ends_frontmatter_and_the_final_newline(kind: Kind) {
    for note in [
        "---\r\nTitle:  'a'\r\nb: [1,2]\r\n---\r\n\r\ntext",
        "---\nb: [1,2] # mine\n\n---\ntext\n\n\n",
        "\u{feff}# A\r\ntext\r\n",
        "",
        "# A\n\n```\ncode",
        "---\nbroken: [\n---\ntext\n",
        "text\n<!-- open",
    ] {
        let mut drive = open(kind, &[("facts/port.md", "# The port\n"), ("notes/a.md", note)]);
        let linked = call(&mut drive, ask::link("notes/a.md", "facts/port.md"));
        let new = text(&drive, "notes/a.md");
        // Markup that is open at the end stays at the end, and the link comes before it.
        let is_open = note.contains("```") || note.contains("<!--");
        if !is_open {
            assert!(new.starts_with(note.trim_end_matches(['\r', '\n'])), "{new:?}");
        }
        for line in note.lines() {
            assert!(new.contains(line), "{new:?}");
        }
        assert!(new.ends_with('\n') || is_open, "{new:?}");
        if note.contains("\r\n") {
            assert!(!new.replace("\r\n", "").contains('\n'), "{new:?}");
        }
        assert!(new.contains(&linked.link), "{new:?}");
        let filter = NoteFilter::default().with(ConditionKind::LinkTo, ["facts/port.md"]);
        assert_eq!(list(&mut drive, filter), ["notes/a.md"], "the link is one: {new:?}");
        assert!(call(&mut drive, ask::link("notes/a.md", "facts/port.md")).already_linked);
    }
}

#[both_engines]
fn links_that_race_are_each_written_once(kind: Kind) {
    for seed in each("seed", 0..24) {
        let mut drive = open(
            kind,
            &[("a.md", "# A\n"), ("b.md", "# B\n"), ("c.md", "# C\n"), ("d.md", "# D\n"), ("e.md", "# E\n")],
        );
        for to in ["b", "c", "d", "e", "b", "c", "d", "e"] {
            drive.submit(ask::link("a", to));
        }
        drive.settle_in_any_order(&mut Scheduler::new(seed));
        assert!(drive.finished.values().all(Result::is_ok), "{:?}", drive.finished);
        let text = text(&drive, "a.md");
        for to in ["[[b|", "[[c|", "[[d|", "[[e|"] {
            assert_eq!(text.matches(to).count(), 1, "seed {seed}: {text}");
        }
    }
}

const PORT: &str = "---\ntitle: Port\ntags: [db]\n---\n\nSee [[port#Why]].\n\n## Why\n";
const LOG: &str = "# Log\r\n\r\n- [[port]], [[facts/port#Why|the port]], `[[port]]`\r\n- [p](../facts/port.md), \
                   [q](../facts/port#Why \"title\"), [ref]\r\n- [[Port]] and [[other]]\r\n\r\n[ref]: ../facts/port.md\r\n";
const OTHER: &str = "# Other\n\n[[port]]\n";

fn linked_notebook(kind: Kind) -> Drive<Simulator> {
    open(kind, &[("facts/port.md", PORT), ("daily/log.md", LOG), ("facts/other.md", OTHER)])
}

#[both_engines]
fn a_rename_takes_every_link_along(kind: Kind) {
    let mut drive = linked_notebook(kind);
    let before = list(&mut drive, NoteFilter::default().with(ConditionKind::LinkTo, ["facts/port.md"]));
    let renamed = call(&mut drive, ask::rename("Port", "DB: port"));
    assert_eq!((renamed.old_path.as_str(), renamed.path.as_str()), ("facts/port.md", "facts/db-port.md"));
    let log = text(&drive, "daily/log.md");
    assert!(log.contains("[[facts/db-port#Why|the port]]"), "{log}");
    assert!(log.contains("[p](../facts/db-port.md)") && log.contains("[q](../facts/db-port#Why \"title\")"), "{log}");
    assert!(log.contains("`[[port]]`") && log.contains("[[other]]"), "code and other links stay: {log}");
    assert!(log.contains("[ref]: ../facts/db-port.md\r\n"), "{log}");
    assert!(!log.replace("\r\n", "").contains('\n'));
    assert_eq!(text(&drive, "facts/other.md"), "# Other\n\n[[db-port]]\n");
    assert!(!drive.executor.files().contains_key("facts/port.md"));
    let after = list(&mut drive, NoteFilter::default().with(ConditionKind::LinkTo, ["facts/db-port.md"]));
    let moved = |paths: Vec<String>| -> Vec<String> {
        paths.into_iter().map(|path| path.replace("facts/port.md", "facts/db-port.md")).collect()
    };
    let (mut before, mut after) = (moved(before), after);
    before.sort();
    after.sort();
    assert_eq!(after, before);
    assert_eq!(call(&mut drive, ask::dead_links()).links, []);
    let error = refused(&mut drive, ask::rename("facts/port", "x"));
    assert_eq!(error.code, ErrorCode::NotFound);
}

#[both_engines]
fn a_rename_to_a_taken_name_takes_another(kind: Kind) {
    let mut drive = open(kind, &[("facts/a.md", "# A\n\nof a\n"), ("facts/b.md", "# B\n"), ("c.md", "[[facts/a]]\n")]);
    let renamed = call(&mut drive, ask::rename("facts/a.md", "B"));
    assert_eq!(renamed.path, "facts/b-2.md");
    assert_eq!(text(&drive, "facts/b.md"), "# B\n");
    let filter = NoteFilter::default().with(ConditionKind::LinkedBy, ["c.md"]);
    assert_eq!(list(&mut drive, filter), ["facts/b-2.md"]);
}

/// Checks the text that every crash must leave in the notebook of [`linked_notebook`].
fn assert_nothing_lost(drive: &mut Drive<Simulator>, place: &str) {
    let files = drive.executor.files();
    let whole = |part: &str| files.values().any(|bytes| String::from_utf8_lossy(bytes).contains(part));
    for part in ["## Why", "tags: [db]", "the port]]", "# Other"] {
        assert!(whole(part), "{place}: {part} is lost: {files:?}");
    }
    let notes = files.keys().filter(|file| !file.starts_with(".saddlebag/")).count();
    assert!(notes <= 4, "{place}: {files:?}");
}

/// A rename that is cut short loses nothing and can be finished, by any process.
#[both_engines]
fn a_rename_that_a_crash_cuts_short_loses_nothing_and_can_be_finished(kind: Kind) {
    let mut calm = linked_notebook(kind);
    run(&mut calm, ask::rename("Port", "DB: port"));
    for crash in each("crash", 0..calm.executor.operations()) {
        for seed in each("seed", 0..2) {
            let mut store = Simulator::new(seed);
            for (file, text) in [("facts/port.md", PORT), ("daily/log.md", LOG), ("facts/other.md", OTHER)] {
                store.insert(&path(file), text);
            }
            store.crash_at(crash);
            let mut drive = Drive::new(kind, config(), store);
            assert!(drive.run(ask::rename("facts/port.md", "DB: port")).is_err(), "crash at {crash}");
            drive.executor.restart();
            assert_nothing_lost(&mut drive, &format!("crash at {crash}, seed {seed}"));
            let mut again = Drive::new(kind, Config { epoch: 2, ..config() }, drive.executor);
            let is_under_way = again.executor.files().contains_key(".saddlebag/rename.json");
            if again.executor.files().contains_key("facts/port.md") || is_under_way {
                run(&mut again, ask::rename("facts/port.md", "DB: port"));
            }
            assert_eq!(again.executor.files(), calm.executor.files(), "crash at {crash}, seed {seed}");
        }
    }
}

#[both_engines]
fn a_rename_that_a_crash_cuts_short_is_finished_by_the_next_change(kind: Kind) {
    let mut calm = linked_notebook(kind);
    run(&mut calm, ask::rename("Port", "DB: port"));
    let operations = calm.executor.operations();
    run(&mut calm, ask::log("on"));
    for crash in each("crash", 0..operations) {
        let mut drive = linked_notebook(kind);
        drive.executor.crash_at(crash);
        assert!(drive.run(ask::rename("facts/port.md", "DB: port")).is_err(), "crash at {crash}");
        drive.executor.restart();
        let mut again = Drive::new(kind, Config { epoch: 2, ..config() }, drive.executor);
        let has_begun = again.executor.files().contains_key(".saddlebag/rename.json");
        run(&mut again, ask::log("on"));
        let files = again.executor.files();
        if has_begun {
            assert_eq!(files, calm.executor.files(), "crash at {crash}");
        } else {
            assert_ne!(files.contains_key("facts/port.md"), files.contains_key("facts/db-port.md"), "at {crash}");
        }
    }
}

/// What an editor saves during a change is never overwritten.
#[both_engines]
fn what_an_editor_saves_during_a_change_is_never_overwritten(kind: Kind) {
    let saved = |old: &str| format!("{old}\nsaved by the editor\n");
    let commands: [(Command, &[(&str, &str)]); 5] = [
        (
            ask::rename("facts/port.md", "DB: port").into(),
            &[("facts/port.md", PORT), ("daily/log.md", LOG), ("facts/other.md", OTHER)],
        ),
        (ask::rename("facts/port.md", "PORT").into(), &[("facts/port.md", PORT), ("daily/log.md", LOG)]),
        (ask::link("facts/other.md", "daily/log.md").into(), &[("facts/other.md", OTHER)]),
        (ask::forget("facts/port.md").into(), &[("facts/port.md", PORT)]),
        (fact("Port", "new").into(), &[("facts/port.md", PORT), ("facts/port-2.md", "# x\n")]),
    ];
    for (command, victims) in &commands {
        let mut calm = linked_notebook(kind);
        run(&mut calm, command.clone());
        for operation in each("operation", 0..calm.executor.operations()) {
            for (file, old) in *victims {
                let mut drive = linked_notebook(kind);
                drive.executor.edit_at(operation, &path(file), Some(saved(old).into_bytes()));
                let outcome = drive.run(command.clone());
                let files = drive.executor.files();
                let is_kept = files.values().any(|bytes| {
                    let text = String::from_utf8_lossy(bytes);
                    text.contains("saved by the editor")
                });
                assert!(is_kept, "{command:?}: {file} saved at {operation} is lost, {outcome:?}: {files:?}");
            }
        }
    }
}

#[both_engines]
fn a_forgotten_note_is_kept_as_a_backup_that_no_list_shows(kind: Kind) {
    let mut drive = linked_notebook(kind);
    let forgotten = call(&mut drive, ask::forget("Port"));
    assert_eq!(
        (forgotten.path.as_str(), forgotten.backup.as_deref()),
        ("facts/port.md", Some(".saddlebag/backups/facts/port.bak"))
    );
    assert!(forgotten.message.as_str().contains("2 notes still link to it"), "{forgotten:?}");
    assert_eq!(text(&drive, ".saddlebag/backups/facts/port.bak"), PORT);
    assert_eq!(list(&mut drive, NoteFilter::default()).len(), 2);
    assert_eq!(call(&mut drive, ask::recall("db why")).hits.iter().filter(|hit| hit.path.contains("bak")).count(), 0);
    assert!(!call(&mut drive, ask::dead_links()).links.is_empty());
    let again = refused(&mut drive, ask::forget("Port"));
    assert_eq!(again.code, ErrorCode::NotFound);
}

/// A note that cannot be kept is not forgotten.
#[both_engines]
fn a_note_whose_backup_cannot_be_kept_is_not_forgotten(kind: Kind) {
    let mut calm = linked_notebook(kind);
    run(&mut calm, ask::forget("Port"));
    let removal = calm.executor.log().iter().position(|done| done.op == "remove").unwrap() as u64;
    let mut drive = linked_notebook(kind);
    drive.executor.fail_at(removal, saddlebag::protocol::FsError::NoSpace);
    assert!(drive.run(ask::forget("Port")).is_err());
    assert_eq!(text(&drive, "facts/port.md"), PORT);
    assert!(!drive.executor.files().contains_key("facts/port.bak"));
}
