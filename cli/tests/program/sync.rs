//! `saddlebag sync`, `merge` and `setup git`: several machines with one memory, through real git and copies of other tools.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;

use crate::machines::Machines;
use crate::support::{Store, engine, run};
use saddlebag_tests_attributes::nightly;

pub(crate) fn paths(synced: &Value, list: &str) -> Vec<String> {
    let files = synced[list].as_array().expect("a list").iter();
    files.map(|file| file["path"].as_str().expect("a path").rsplit('/').next().expect("a name").to_string()).collect()
}

#[test]
fn the_first_lines_of_a_day_on_two_offline_machines_have_one_heading() {
    let Some(machines) = Machines::new(&["a", "b"]) else { return };
    machines.run("a", &["remember", "Database", "We use Postgres."]).exits(0);
    for machine in ["a", "b"] {
        machines.run(machine, &["setup", "git", "--yes"]).exits(0);
        machines.sync(machine);
    }
    machines.run("a", &["log", "--line", "from desktop"]).exits(0);
    machines.run("b", &["log", "--line", "from laptop"]).exits(0);
    machines.settle(&["a", "b"]);
    let today = machines.run("b", &["today"]).exits(0).stdout;
    let headings = today.lines().filter(|line| line.starts_with("# ")).count();
    assert!(headings == 1 && today.contains("from desktop") && today.contains("from laptop"), "{today}");
}

#[test]
fn two_machines_get_the_changes_of_each_other() {
    let Some(machines) = Machines::new(&["a", "b"]) else { return };
    machines.run("a", &["remember", "Database", "We use Postgres."]).exits(0);
    machines.run("a", &["log", "Started", "Began the work."]).exits(0);
    machines.run("a", &["setup", "git", "--yes"]).exits(0);
    let synced = machines.sync("a");
    assert_eq!(paths(&synced, "committed").len(), 4, "{synced}");
    machines.run("b", &["setup", "git", "--yes"]).exits(0);
    let synced = machines.sync("b");
    assert!(paths(&synced, "received").contains(&"database.md".to_string()), "{synced}");
    machines.run("b", &["show", "Database"]).exits(0);

    // Offline, both change the same note at different places, and both add to the log.
    machines.run("a", &["edit", "Database", "--old", "We use Postgres.", "--new", "We use Postgres 18."]).exits(0);
    machines.run("b", &["tag", "add", "Database", "infra"]).exits(0);
    machines.run("a", &["log", "In A", "Text of A."]).exits(0);
    machines.run("b", &["log", "In B", "Text of B."]).exits(0);
    machines.settle(&["a", "b"]);
    assert_eq!(machines.tree("a"), machines.tree("b"));
    let note = machines.text("b", "facts/database.md");
    assert!(note.contains("Postgres 18.") && note.contains("infra"), "{note}");
    let log =
        machines.tree("a").into_iter().find(|(path, _)| path.parent().is_some_and(|folder| folder.ends_with("daily")));
    let log = log.expect("a log").1;
    assert!(["Began the work.", "Text of A.", "Text of B."].iter().all(|text| log.matches(text).count() == 1), "{log}");
    let synced = machines.run("a", &["sync"]).exits(0);
    assert_eq!(synced.stdout, "everything is up to date with origin/main\n");
}

#[test]
fn what_both_changed_stays_in_both_versions_and_waits_in_the_inbox() {
    let Some(machines) = Machines::sharing(&["a", "b"]) else { return };
    machines.run("a", &["remember", "Port", "The port is 5432."]).exits(0);
    machines.settle(&["a", "b"]);
    machines.run("a", &["edit", "Port", "--old", "5432", "--new", "5433"]).exits(0);
    machines.run("b", &["edit", "Port", "--old", "5432", "--new", "6000"]).exits(0);
    machines.settle(&["a", "b"]);
    assert_eq!(machines.tree("a"), machines.tree("b"));
    let note = machines.text("a", "facts/port.md");
    assert!(note.trim_end().ends_with("The port is 5433.\n\nThe port is 6000."), "{note}");
    for name in ["a", "b"] {
        let waiting = machines.run(name, &["list", "--pending"]).exits(0).stdout;
        assert!(waiting.contains("merges/port-"), "{waiting}");
        let block = machines.run(name, &["context"]).stdout;
        assert!(!block.contains("Two machines changed"), "{block}");
    }
    // Rejected on one machine, it is gone on both.
    let review =
        machines.tree("a").into_keys().find(|path| path.to_string_lossy().contains("merges")).expect("a review");
    let review = review.to_str().expect("text").replace('\\', "/");
    machines.run("a", &["edit", "Port", "--old", "The port is 5433.\n\n", "--new", ""]).exits(0);
    let version = machines.run("a", &["--json", "list", "--pending"]).exits(0).json();
    let version = version["items"][0]["version"].as_str().expect("a version").to_string();
    let approved = machines.run("a", &["memory", "approve", &review, "--base", &version]);
    assert!(approved.stdout.contains("is not memory"), "{approved:?}");
    machines.run("a", &["memory", "reject", &review]).exits(0);
    machines.settle(&["a", "b"]);
    assert_eq!(machines.tree("a"), machines.tree("b"));
    assert!(machines.run("b", &["list", "--pending"]).exits(0).stdout.starts_with("Nothing"));
}

#[test]
fn a_note_that_one_machine_forgot_stays_forgotten_and_the_edit_waits_in_the_inbox() {
    let Some(machines) = Machines::sharing(&["a", "b"]) else { return };
    machines.run("a", &["remember", "Old plan", "Move to the cloud."]).exits(0);
    machines.settle(&["a", "b"]);
    machines.run("a", &["forget", "Old plan"]).exits(0);
    machines.run("b", &["edit", "Old plan", "--old", "cloud", "--new", "cellar"]).exits(0);
    machines.settle(&["a", "b"]);
    assert_eq!(machines.tree("a"), machines.tree("b"));
    assert!(!machines.file("b", "facts/old-plan.md").exists());
    let waiting = machines.run("a", &["list", "--pending"]).exits(0).stdout;
    assert!(waiting.contains("merges/old-plan-"), "{waiting}");
    let all: String = machines.tree("a").into_values().collect();
    assert!(all.contains("> Move to the cellar."), "{all}");
}

#[test]
fn entries_are_merged_by_field_and_a_forgotten_one_keeps_the_edited_text() {
    let Some(machines) = Machines::new(&["a", "b"]) else { return };
    for name in ["a", "b"] {
        machines.run(name, &["setup", "git", "--share", "entries", "--yes"]).exits(0);
    }
    machines.run("a", &["remember", "--key", "port", "The port is 5432."]).exits(0);
    machines.settle(&["a", "b"]);
    machines.run("a", &["forget", "port"]).exits(0);
    machines.run("b", &["remember", "--key", "port", "The port is 6000."]).exits(0);
    machines.run("b", &["remember", "--key", "host", "The host is grey."]).exits(0);
    machines.settle(&["a", "b"]);
    assert_eq!(machines.tree("a"), machines.tree("b"));
    let entry = machines.tree("a").into_iter().find(|(path, _)| path.ends_with("port.md")).expect("an entry").1;
    assert!(entry.contains("forgotten: ") && entry.contains("6000"), "{entry}");
    machines.run("a", &["show", "host"]).exits(0);
    machines.run("a", &["restore", "port"]).exits(0);
    let shown = machines.run("a", &["show", "port"]).exits(0).stdout;
    assert!(shown.contains("6000"), "{shown}");
}

#[test]
fn a_note_that_one_side_renamed_and_the_other_edited_has_both_changes() {
    let Some(machines) = Machines::sharing(&["a", "b"]) else { return };
    machines.run("a", &["remember", "Port", "The port is 5432.\n\nIt is open.\n\nIt was closed."]).exits(0);
    machines.settle(&["a", "b"]);
    machines.run("a", &["move", "Port", "Harbour"]).exits(0);
    machines.run("b", &["edit", "Port", "--old", "It is open.", "--new", "It is open at night."]).exits(0);
    machines.settle(&["a", "b"]);
    assert_eq!(machines.tree("a"), machines.tree("b"));
    let notes: Vec<_> =
        machines.tree("b").into_iter().filter(|(path, _)| path.to_string_lossy().contains("facts")).collect();
    assert!(notes.len() == 1 && notes[0].1.contains("at night") && notes[0].1.contains("Harbour"), "{notes:?}");
}

#[test]
fn a_note_that_both_sides_renamed_is_one_note_with_both_changes() {
    let Some(machines) = Machines::sharing(&["a", "b"]) else { return };
    machines.run("a", &["remember", "Port", "The port is 5432.\n\nIt is open.\n\nIt was closed."]).exits(0);
    machines.settle(&["a", "b"]);
    machines.run("a", &["move", "Port", "Quay"]).exits(0);
    machines.run("a", &["edit", "Quay", "--old", "5432", "--new", "5433"]).exits(0);
    machines.run("b", &["move", "Port", "Harbour"]).exits(0);
    machines.run("b", &["edit", "Harbour", "--old", "It is open.", "--new", "It is open at night."]).exits(0);
    machines.settle(&["a", "b"]);
    assert_eq!(machines.tree("a"), machines.tree("b"));
    let facts: Vec<_> =
        machines.tree("a").into_iter().filter(|(path, _)| path.to_string_lossy().contains("facts")).collect();
    let [(path, note)] = facts.as_slice() else { panic!("{facts:?}") };
    // The later name is the title and the path, and the review has the other one.
    assert!(path.ends_with("harbour.md") == note.contains("title: \"Harbour\""), "{path:?}: {note}");
    assert!(path.ends_with("quay.md") == note.contains("title: \"Quay\""), "{path:?}: {note}");
    assert!(note.contains("5433") && note.contains("at night"), "{note}");
    let all: String = machines.tree("b").into_values().collect();
    assert!(all.contains("Quay") && all.contains("Harbour"), "{all}");
    assert!(machines.run("b", &["list", "--pending"]).exits(0).stdout.contains("merges/"), "a review");
}

#[test]
fn links_that_one_side_writes_to_a_note_which_the_other_renamed_have_the_new_name() {
    let Some(machines) = Machines::sharing(&["a", "b"]) else { return };
    machines.run("a", &["remember", "Port", "The port is 5432.\n\nIt is open.\n\nIt was closed."]).exits(0);
    machines.run("a", &["remember", "Plan", "First we see [[Port]].\n\nThen we rest."]).exits(0);
    machines.settle(&["a", "b"]);
    machines.run("a", &["move", "Port", "Harbour"]).exits(0);
    machines
        .run("b", &["edit", "Plan", "--old", "First we see [[Port]].", "--new", "First we see [[Port]] twice."])
        .exits(0);
    machines.run("b", &["remember", "Trip", "It ends at [[Port#Depth]]."]).exits(0);
    machines.settle(&["a", "b"]);
    assert_eq!(machines.tree("a"), machines.tree("b"));
    let plan = machines.text("a", "facts/plan.md");
    assert!(plan.contains("First we see [[Harbour]] twice.\n\nThen we rest."), "{plan}");
    assert!(!plan.contains("[[Port]]"), "{plan}");
    let trip = machines.text("a", "facts/trip.md");
    assert!(trip.contains("[[Harbour#Depth]]"), "{trip}");
    assert!(machines.run("b", &["list", "--pending"]).exits(0).stdout.starts_with("Nothing"));
}

#[test]
fn a_run_that_was_killed_at_any_moment_is_completed_by_the_next() {
    let Some(machines) = Machines::sharing(&["a", "b"]) else { return };
    let mut random = fastrand::Rng::with_seed(7);
    for round in 0..12 {
        for name in ["a", "b"] {
            machines.run(name, &["remember", &format!("Note {name} {round}"), "A text."]).exits(0);
            machines.run(name, &["write", "scratchpad", &format!("- [ ] {name} {round}")]).exits(0);
        }
        machines.sync("a");
        let mut killed =
            machines.command("b", &["sync"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
        std::thread::sleep(std::time::Duration::from_millis(random.u64(5..180)));
        let _ = killed.kill();
        killed.wait().expect("ended");
        // git itself leaves a lock if it is killed; here only the program is.
        std::thread::sleep(std::time::Duration::from_millis(50));
        machines.run("b", &["write", "scratchpad", &format!("- [ ] b again {round}")]).exits(0);
        machines.settle(&["b", "a"]);
        let (a, b) = (machines.tree("a"), machines.tree("b"));
        assert_eq!(a, b, "round {round}");
        let all: String = a.into_values().collect();
        for line in [format!("- [ ] a {round}\n"), format!("- [ ] b {round}\n"), format!("- [ ] b again {round}\n")] {
            assert_eq!(all.matches(&line).count(), 1, "{line} in round {round}: {all}");
        }
    }
}

#[test]
fn a_file_that_cannot_be_merged_stays_in_both_versions_and_stops_nothing() {
    let Some(machines) = Machines::sharing(&["a", "b"]) else { return };
    for (path, text) in [("notes/plan.bin", "first"), ("notes/gone.bin", "first"), ("notes/page.md", "# Page\n")] {
        machines.put("a", path, text);
    }
    machines.settle(&["a", "b"]);
    for name in ["a", "b"] {
        machines.put(name, "notes/plan.bin", &format!("of {name}"));
        machines.put(name, &format!("notes/{name}.md"), &format!("# {name}\n"));
    }
    fs::write(machines.file("a", "notes/page.md"), b"# P\xe4ge\n").expect("written");
    fs::write(machines.file("b", "notes/page.md"), b"# P\xe5ge\n").expect("written");
    fs::remove_file(machines.file("a", "notes/gone.bin")).expect("removed");
    fs::write(machines.file("b", "notes/gone.bin"), b"\xff edited").expect("written");
    machines.sync("a");
    let synced = machines.run("b", &["sync"]).exits(0);
    assert!(synced.stderr.contains("both sides changed") && synced.stderr.contains("plan ("), "{synced:?}");
    let stays = synced.stderr.lines().find(|line| line.contains("gone.bin")).unwrap_or_default();
    assert!(stays.contains("one side deleted") && stays.contains("it stays"), "{synced:?}");
    machines.settle(&["a", "b"]);
    let files = |name: &str| {
        let mut files = BTreeMap::new();
        for file in fs::read_dir(machines.file(name, "notes")).expect("a folder") {
            let file = file.expect("a file");
            files.insert(file.file_name().into_string().expect("text"), fs::read(file.path()).expect("read"));
        }
        files
    };
    let (a, b) = (files("a"), files("b"));
    assert_eq!(a, b);
    let of = |start: &str| -> Vec<&[u8]> {
        a.iter().filter(|(name, _)| name.starts_with(start)).map(|(_, bytes)| bytes.as_slice()).collect()
    };
    assert_eq!(
        (of("plan (").as_slice(), of("plan.").as_slice()),
        ([&b"of a"[..]].as_slice(), [&b"of b"[..]].as_slice())
    );
    assert_eq!((of("page").len(), of("gone"), of("a.md").len() + of("b.md").len()), (2, vec![&b"\xff edited"[..]], 2));
}

#[test]
fn what_a_sync_changed_is_one_operation_that_is_undone() {
    let Some(machines) = Machines::sharing(&["a", "b"]) else { return };
    machines.run("a", &["remember", "Database", "We use Postgres."]).exits(0);
    machines.run("a", &["remember", "Port", "5432"]).exits(0);
    machines.settle(&["a", "b"]);
    machines.run("a", &["edit", "Database", "--old", "We use Postgres.", "--new", "We use MySQL."]).exits(0);
    machines.run("a", &["forget", "Port"]).exits(0);
    machines.run("b", &["tag", "add", "Database", "infra"]).exits(0);
    machines.settle(&["a", "b"]);
    assert!(machines.text("b", "facts/database.md").contains("MySQL"));
    let history = machines.run("b", &["history", "Database"]).exits(0).stdout;
    assert!(history.lines().next().is_some_and(|line| line.contains("replace-file")), "{history}");
    let log = machines.run("b", &["op", "log"]).exits(0).stdout;
    let commit = machines.git("a", &["rev-parse", "--short", "HEAD"]);
    assert!(log.contains("sync: commit ") && log.contains("by Ana <ana@example.org> on a"), "{commit}: {log}");
    machines.run("b", &["undo"]).exits(0);
    let note = machines.text("b", "facts/database.md");
    assert!(note.contains("We use Postgres.") && note.contains("infra"), "{note}");
    assert!(machines.text("b", "facts/port.md").contains("5432"));
    // The undo is a change like any other: the next synchronisation brings it to the others.
    machines.settle(&["b", "a"]);
    assert!(machines.text("a", "facts/port.md").contains("5432"));
    assert_eq!(machines.tree("a"), machines.tree("b"));
}

#[test]
fn it_works_offline_and_goes_on_later() {
    let Some(machines) = Machines::sharing(&["a", "b"]) else { return };
    machines.run("a", &["remember", "Offline", "Written on a train."]).exits(0);
    fs::rename(machines.root("hub"), machines.root("away")).expect("moved");
    let synced = machines.run("a", &["sync"]).exits(1);
    assert!(synced.stdout.starts_with("1 file committed; origin/main was not reached"), "{synced:?}");
    assert!(synced.stdout.contains("1 commit is not sent\n") && !synced.stdout.contains("file sent"), "{synced:?}");
    assert!(synced.stderr.contains("run this again"), "{synced:?}");
    fs::rename(machines.root("away"), machines.root("hub")).expect("moved back");
    assert_eq!(paths(&machines.sync("a"), "sent"), ["offline.md"]);
    assert_eq!(paths(&machines.sync("b"), "received"), ["offline.md"]);
}

#[test]
fn a_run_that_was_interrupted_is_finished_by_the_next() {
    let Some(machines) = Machines::sharing(&["a", "b"]) else { return };
    machines.put("a", "notes/plan.md", "# Plan\n\nOne.\n\nTwo.\n");
    machines.settle(&["a", "b"]);
    machines.put("a", "notes/plan.md", "# Plan\n\nOne, by A.\n\nTwo.\n\n- a\n");
    machines.put("b", "notes/plan.md", "# Plan\n\nOne.\n\nTwo, by B.\n\n- b\n");
    machines.sync("a");
    machines.sync("b");
    let expected = machines.text("b", "notes/plan.md");
    assert!(["One, by A.", "Two, by B.", "- a\n", "- b\n"].iter().all(|text| expected.contains(text)), "{expected}");
    // As if it had been killed after it wrote the merged file, and before it moved the branch.
    machines.git("b", &["update-ref", "HEAD", "HEAD^1"]);
    machines.git("b", &["reset", "--quiet"]);
    machines.settle(&["b", "a"]);
    assert_eq!(machines.text("b", "notes/plan.md"), expected);
    assert_eq!(machines.tree("a"), machines.tree("b"));
}

#[test]
fn git_itself_merges_memory_after_setup() {
    let Some(machines) = Machines::sharing(&["a", "b"]) else { return };
    machines.put("a", "daily/2026-05-30.md", "\n### 09:00 — Start\nBegan.\n");
    machines.settle(&["a", "b"]);
    machines.put("a", "daily/2026-05-30.md", "\n### 09:00 — Start\nBegan.\n\n### 11:00 — A\nText.\n");
    machines.put("b", "daily/2026-05-30.md", "\n### 09:00 — Start\nBegan.\n\n### 10:00 — B\nText.\n");
    for name in ["a", "b"] {
        machines.git(name, &["add", "--all"]);
        machines.git(name, &["commit", "--quiet", "-m", "by hand"]);
    }
    machines.git("a", &["push", "--quiet"]);
    machines.git("b", &["pull", "--quiet", "--no-rebase", "--no-edit"]);
    let expected = "\n### 09:00 — Start\nBegan.\n\n### 10:00 — B\nText.\n\n### 11:00 — A\nText.\n";
    assert_eq!(machines.text("b", "daily/2026-05-30.md"), expected);
    // A part that both changed: no mark, and a review beside it.
    machines.git("b", &["push", "--quiet"]);
    machines.git("a", &["pull", "--quiet", "--no-rebase"]);
    machines.put("a", "daily/2026-05-30.md", &expected.replace("Began.", "Began early."));
    machines.put("b", "daily/2026-05-30.md", &expected.replace("Began.", "Began late."));
    for name in ["a", "b"] {
        machines.git(name, &["commit", "--quiet", "--all", "-m", "by hand"]);
    }
    machines.git("a", &["push", "--quiet"]);
    machines.git("b", &["pull", "--quiet", "--no-rebase", "--no-edit"]);
    let text = machines.text("b", "daily/2026-05-30.md");
    assert!(text.contains("early") && text.contains("late") && !text.contains("<<<<"), "{text}");
    assert!(machines.tree("b").into_keys().any(|path| path.to_string_lossy().contains("merges")));
}

#[test]
fn setup_git_is_taken_back_byte_for_byte() {
    let Some(machines) = Machines::new(&["a"]) else { return };
    let (ignored, attributes) = (machines.root("a").join(".gitignore"), machines.root("a").join(".gitattributes"));
    fs::write(&ignored, "target/").expect("written");
    let before = machines.git("a", &["config", "--local", "--list"]);
    machines.run("a", &["setup", "git"]).exits(3).complains("--yes");
    machines.run("a", &["setup", "git", "--dry-run"]).exits(0);
    assert!(!attributes.exists());
    machines.run("a", &["setup", "git", "--yes"]).exits(0);
    assert!(
        attributes.exists()
            && machines.git("a", &["config", "--local", "merge.saddlebag.driver"]).contains(" merge %O %A %B")
    );
    let once = fs::read(&ignored).expect("read");
    machines.run("a", &["setup", "git", "--yes"]).exits(0);
    assert_eq!(fs::read(&ignored).expect("read"), once, "a second run changes nothing");
    machines.run("a", &["setup", "git", "--remove", "--yes"]).exits(0);
    assert_eq!(fs::read_to_string(&ignored).expect("read"), "target/\n");
    assert!(!attributes.exists());
    assert_eq!(machines.git("a", &["config", "--local", "--list"]), before);
    machines.run("a", &["sync"]).exits(1).complains("setup git");
}

#[test]
fn syncthing_shares_only_what_is_marked() {
    let store = Store::new();
    store.run(&["remember", "Port", "5432"]).exits(0);
    store.run(&["setup", "syncthing", "--yes"]).exits(0);
    let ignored = fs::read_to_string(store.root.join(".stignore")).expect("read");
    let project = store.memory.trim_end_matches('/');
    assert!(ignored.contains("(?d).saddlebag\n") && ignored.contains(&format!("!/{project}\n*\n")), "{ignored}");
    store.run(&["setup", "syncthing", "--remove", "--yes"]).exits(0);
    assert!(!store.root.join(".stignore").exists());
}

#[test]
fn conflict_copies_of_other_tools_are_merged_with_the_version_that_both_had() {
    let store = Store::new();
    let at = |minute: u32, arguments: &[&str]| {
        let now = format!("2026-05-30T09:{minute:02}:00+02:00");
        let mut command = store.bare(&["--now", &now, "--durability", "fast", "--engine", &engine(), "--root"]);
        run(command.arg(&store.root).args(arguments), None).exits(0)
    };
    at(1, &["remember", "Plan", "First we dig the wide ditch.\n\nThen we fill the old pond."]);
    let first = store.text("facts/plan.md");
    at(2, &["edit", "Plan", "--old", "wide ditch", "--new", "narrow ditch"]);
    at(3, &["edit", "Plan", "--old", "narrow ditch", "--new", "narrow and deep ditch"]);
    let theirs = first.replace("Then we fill the old pond.", "Then we keep the old pond.\n\nLast we rest.");
    for name in ["plan.sync-conflict-20260530-101112-ABCDEF7.md", "plan (Eva's conflicted copy 2026-05-30).md"] {
        store.put(&format!("facts/{name}"), &theirs);
    }
    let second = "facts/plan.sync-conflict-20260530-101112-ABCDEF7.sync-conflict-20260530-111112-ABCDEF8.md";
    store.put(second, &theirs);
    // A separate file, whose name looks like a copy of iCloud, and one that is a copy.
    store.put("notes/week.md", "# Week\n\nWork on the ditch.\n");
    store.put("notes/week 2.md", "# Second week\n\nWork on the pond.\n");
    store.put("notes/month.md", "# Month\n\nThe pond is done.\n");
    store.put("notes/month 2.md", "# Month\n\nThe pond is done.\n\nThe ditch, too.\n");
    let dry = store.run(&["sync", "--dry-run"]).exits(0).stdout;
    assert!(dry.contains("4 files merged with its conflict copy"), "{dry}");
    assert!(store.file("facts/plan.sync-conflict-20260530-101112-ABCDEF7.md").exists());
    let synced = store.run(&["--json", "sync"]).exits(0).json();
    let copies = synced["copies"].as_array().expect("a list");
    assert_eq!(copies.len(), 4, "{synced}");
    assert!(copies.iter().all(|copy| copy["conflicts"] == 0), "{synced}");
    let plan = store.text("facts/plan.md");
    assert!(plan.contains("narrow and deep ditch.\n\nThen we keep the old pond.\n\nLast we rest."), "{plan}");
    assert!(!plan.contains("fill the old pond"), "{plan}");
    assert_eq!(store.text("notes/month.md"), "# Month\n\nThe pond is done.\n\nThe ditch, too.\n");
    let left: Vec<_> = store.tree().into_keys().filter(|path| path.to_string_lossy().contains("confl")).collect();
    assert_eq!(left, [] as [PathBuf; 0]);
    assert!(store.file("notes/week 2.md").exists());
    assert_eq!(store.run(&["sync"]).exits(0).stdout, "everything is up to date\n");
}

#[test]
fn a_copy_without_a_known_version_keeps_both_texts_and_is_reviewed() {
    let store = Store::new();
    store.put("notes/plan.md", "# Plan\n\nDig the ditch first.\n");
    store.put("notes/plan.sync-conflict-20260530-101112-ABCDEF7.md", "# Plan\n\nFill the pond first.\n");
    store.put("notes/gone.sync-conflict-20260530-101112-ABCDEF7.md", "# Gone\n");
    let synced = store.run(&["sync"]).exits(0);
    assert!(synced.stdout.contains("without a common version"), "{synced:?}");
    assert!(synced.stderr.contains("gone.sync-conflict") && synced.stderr.contains("does not exist"), "{synced:?}");
    let plan = store.text("notes/plan.md");
    assert!(plan.contains("Dig the ditch first.") && plan.contains("Fill the pond first."), "{plan}");
    assert!(store.run(&["list", "--pending"]).exits(0).stdout.contains("merges/plan-"));
    assert!(!store.file("notes/plan.sync-conflict-20260530-101112-ABCDEF7.md").exists());
}

#[test]
fn what_git_cannot_do_now_is_refused_and_changes_nothing() {
    let Some(machines) = Machines::sharing(&["a", "b"]) else { return };
    machines.run("a", &["remember", "Port", "5432"]).exits(0);
    let state = machines.root("a").join(".git");
    fs::create_dir(state.join("rebase-merge")).expect("made");
    machines.run("a", &["sync"]).exits(3).complains("a rebase is going on");
    fs::remove_dir(state.join("rebase-merge")).expect("removed");
    let held = fs::File::create(state.join("saddlebag-sync.lock")).expect("made");
    held.try_lock().expect("locked");
    machines.run("a", &["sync"]).exits(3).complains("another `sync` of this work tree is running");
    drop(held);
    machines.git("a", &["checkout", "--quiet", "--detach"]);
    machines.run("a", &["sync"]).exits(3).complains("no branch");
    machines.git("a", &["checkout", "--quiet", "main"]);
    machines.run("a", &["--provenance", "agent", "sync"]).exits(3).complains("only a person");
    let synced = machines.sync("a");
    assert_eq!(paths(&synced, "sent"), ["port.md"]);
}

#[test]
#[cfg(unix)]
fn what_is_no_file_of_memory_is_left_out_and_stops_nothing() {
    let Some(machines) = Machines::sharing(&["a", "b"]) else { return };
    let outside = machines.folder.join("outside.md");
    fs::write(&outside, "untouched").expect("written");
    let memory = machines.store.memory.clone();
    let paths = ["notes/link.md", ".saddlebag/rejected.log", "notes/large.md", "notes/a\nb\\c.md", "notes/sub"];
    let paths = paths.map(|path| format!("{memory}{path}"));
    for path in &paths {
        let file = machines.root("b").join(path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        match path {
            path if path.ends_with("link.md") => std::os::unix::fs::symlink(&outside, &file).expect("a link"),
            path if path.ends_with("large.md") => fs::write(&file, "A line.\n".repeat(700_000)).expect("written"),
            path if path.ends_with("sub") => {
                let head = machines.git("b", &["rev-parse", "HEAD"]);
                let entry = format!("160000,{head},{path}");
                machines.git("b", &["update-index", "--add", "--cacheinfo", &entry]);
                continue;
            }
            _ => fs::write(&file, "x\n").expect("written"),
        }
        machines.git("b", &["add", "--force", "--", path]);
    }
    machines.put("b", "notes/good.md", "Good.\n");
    machines.git("b", &["add", "--", &format!("{memory}notes/good.md")]);
    machines.git("b", &["commit", "--quiet", "-m", "hostile"]);
    machines.git("b", &["push", "--quiet"]);
    // This machine has commits too, so that both are merged.
    machines.run("a", &["remember", "Of A", "Text."]).exits(0);
    let synced = machines.run("a", &["sync"]).exits(0);
    for path in ["link.md", "rejected.log", "large.md", "b\\c.md", "notes/sub"] {
        assert!(synced.stderr.contains(path), "{path}: {synced:?}");
    }
    assert!(paths.iter().all(|path| !machines.root("a").join(path).exists()));
    assert_eq!(machines.text("a", "notes/good.md"), "Good.\n");
    assert_eq!(fs::read_to_string(&outside).expect("read"), "untouched");
    // They are deleted for nobody, and arrive when they are files.
    machines.run("a", &["remember", "Again", "Text."]).exits(0);
    machines.sync("a");
    assert!(machines.git("hub", &["ls-tree", "-r", "--name-only", "main"]).contains("notes/link.md"));
    machines.git("b", &["pull", "--quiet", "--no-rebase"]);
    fs::remove_file(machines.file("b", "notes/link.md")).expect("removed");
    machines.put("b", "notes/link.md", "A file now.\n");
    machines.git("b", &["commit", "--quiet", "--all", "-m", "mended"]);
    machines.git("b", &["push", "--quiet"]);
    machines.sync("a");
    assert_eq!(machines.text("a", "notes/link.md"), "A file now.\n");
}

/// Both machines make random edits through the program while they do not reach each other, and then synchronise.
fn random_edits(edits: usize, rounds: u64) {
    let Some(machines) = Machines::sharing(&["a", "b"]) else { return };
    for round in 0..rounds {
        let mut random = fastrand::Rng::with_seed(round);
        let mut added: Vec<String> = Vec::new();
        for note in 0..6 {
            machines.run("a", &["remember", &format!("Note {round} {note}"), "The first line of it."]);
        }
        machines.settle(&["a", "b"]);
        for name in ["a", "b"] {
            for edit in 0..edits {
                let note = format!("Note {round} {}", random.u32(0..6));
                let line = format!("{name} wrote line{edit} in round{round}.");
                let run = match random.u32(0..10) {
                    0..=4 => machines.run(name, &["log", &format!("Edit {edit}"), &line]),
                    5..=6 => machines.run(name, &["remember", &format!("New {name} {round} {edit}"), &line]),
                    7..=8 => machines.run(name, &["write", &note, &format!("- {line}")]),
                    _ => machines.run(name, &["write", "scratchpad", &format!("- [ ] {line}")]),
                };
                if run.code == 0 {
                    added.push(line);
                }
            }
        }
        machines.settle(&["a", "b"]);
        let (a, b) = (machines.tree("a"), machines.tree("b"));
        assert_eq!(a, b, "the trees differ after round {round}");
        let all: String = a.into_values().collect();
        assert!(!all.contains("<<<<<<<") && !all.contains(">>>>>>>"), "a mark of a conflict");
        for line in &added {
            assert_eq!(all.matches(line.as_str()).count(), 1, "{line:?} is lost or doubled in round {round}: {all}");
        }
        assert!(added.len() > edits, "most edits were made: {}", added.len());
    }
}

#[test]
fn random_edits_on_two_machines_meet() {
    random_edits(12, 2);
}

#[nightly]
fn five_hundred_random_edits_on_each_of_two_machines_meet() {
    random_edits(500, 1);
}
