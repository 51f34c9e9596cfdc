//! `sync` in a folder that another tool keeps the same on two machines: conflict copies, and what travels beside the files.

use std::fs;
use std::path::Path;

use crate::machines::Machines;
use crate::support::Store;
use crate::sync_expunge::{VALUE, holders};

const COPY: &str = ".sync-conflict-20260530-101112-ABCDEF7";

/// Returns machines whose stores are folders without git, of which Syncthing shares the project.
fn folders(names: &[&str]) -> Option<Machines> {
    let machines = Machines::new(names)?;
    for name in names {
        fs::remove_dir_all(machines.root(name).join(".git")).expect("removed");
        machines.run(name, &["remember", &format!("Of {name}"), "A text."]).exits(0);
        machines.run(name, &["setup", "syncthing", "--yes"]).exits(0);
    }
    Some(machines)
}

/// Copies the files of a store onto those of another one, as Syncthing does.
fn copy(machines: &Machines, from: &str, to: &str) {
    for (path, text) in machines.tree(from) {
        let target = machines.root(to).join(&path);
        fs::create_dir_all(target.parent().expect("a folder")).expect("made");
        fs::write(target, text).expect("written");
    }
}

fn expunged_on_a_and_edited_on_b(text: &str, what: &str) -> Option<(Machines, String)> {
    let machines = folders(&["a", "b"])?;
    machines.run("a", &["remember", "Port", text]).exits(0);
    copy(&machines, "a", "b");
    machines.run("b", &["edit", "Port", "--old", "The password", "--new", "Our password"]).exits(0);
    let edited = machines.text("b", "facts/port.md");
    machines.run("a", &["expunge", what, "--yes"]).exits(0);
    Some((machines, edited))
}

#[test]
fn an_expunged_text_does_not_come_back_by_a_conflict_copy() {
    let text = format!("The port is 5432.\n\nThe password is {VALUE}.\n\nIt is open.");
    let Some((machines, edited)) = expunged_on_a_and_edited_on_b(&text, VALUE) else { return };
    let copy_name = format!("facts/port{COPY}.md");
    machines.put("a", &copy_name, &edited.replace("Our password", "The password").replace("open", "shut"));
    // Another copy, whose file is gone.
    let lone = format!("facts/gone{COPY}.md");
    machines.put("a", &lone, &edited.replace("Our password", "The password"));
    for _ in 0..2 {
        let synced = machines.run("a", &["sync"]).exits(1).complains("expunge --received");
        for name in [&copy_name, &lone] {
            assert!(synced.stderr.lines().any(|line| line.contains("left out") && line.contains(name)), "{synced:?}");
        }
        assert!(!synced.stderr.contains("another machine expunged"), "this one did: {synced:?}");
        assert!(machines.file("a", &copy_name).exists());
        assert!(!machines.text("a", "facts/port.md").contains(VALUE));
    }
    let listed = machines.run("a", &["expunge", "--received"]).exits(0);
    assert!(listed.stdout.contains(COPY), "{listed:?}");
    machines.run("a", &["expunge", "--received", "--yes"]).exits(0);
    machines.run("a", &["sync"]).exits(0);
    assert_eq!(holders(&machines, "a"), [] as [String; 0]);
    let note = machines.text("a", "facts/port.md");
    assert!(note.contains("It is shut.") && note.contains("The password is (expunged)."), "{note}");
    assert!(!machines.file("a", &copy_name).exists(), "the rest of the copy is merged");
    // The machine that has the text asks a person too, also if a tool has renamed the log.
    fs::write(machines.root("b").join("expunged.log"), "").expect("written");
    fs::copy(machines.root("a").join("expunged.log"), machines.root("b").join("expunged (1).log")).expect("copied");
    machines.run("b", &["sync"]).exits(1).complains("expunge --received");
    machines.run("b", &["expunge", "--received", "--yes"]).exits(0);
    machines.run("b", &["sync"]).exits(0);
    assert_eq!(holders(&machines, "b"), [] as [String; 0]);
}

#[test]
fn a_note_that_was_expunged_does_not_come_back_by_a_conflict_copy_or_by_its_file() {
    let Some((machines, edited)) = expunged_on_a_and_edited_on_b(&format!("The password is {VALUE}."), "Port") else {
        return;
    };
    // A later note has the name, and the copy is a version of the expunged one.
    machines.run("a", &["remember", "Port", "It is in the harbour."]).exits(0);
    let date = |text: &str| text.lines().find(|line| line.starts_with("date:")).map(String::from).expect("a date");
    let note =
        machines.text("a", "facts/port.md").replace(&date(&machines.text("a", "facts/port.md")), "date: 2031-01-01");
    machines.put("a", "facts/port.md", &note);
    let copy_name = format!("facts/port{COPY}.md");
    machines.put("a", &copy_name, &edited);
    let synced = machines.run("a", &["sync"]).exits(1).complains("expunge --received");
    assert!(synced.stderr.contains(&copy_name) && machines.file("a", &copy_name).exists(), "{synced:?}");
    assert!(!machines.text("a", "facts/port.md").contains(VALUE));
    machines.run("a", &["expunge", "--received", "--yes"]).exits(0);
    machines.run("a", &["sync"]).exits(0);
    assert!(!machines.file("a", &copy_name).exists() && machines.text("a", "facts/port.md").contains("harbour"));
    // Syncthing brings a file that one machine edited and the other one removed back.
    fs::remove_file(machines.file("a", "facts/port.md")).expect("removed");
    machines.put("a", "facts/port.md", &edited.replace(VALUE, "changed"));
    let synced = machines.run("a", &["sync"]).exits(1).complains("expunge --received");
    assert!(synced.stderr.contains("facts/port.md"), "{synced:?}");
    machines.run("a", &["expunge", "--received", "--yes"]).exits(0);
    machines.run("a", &["sync"]).exits(0);
    assert!(!machines.file("a", "facts/port.md").exists());
    assert_eq!(holders(&machines, "a"), [] as [String; 0]);
}

#[test]
fn a_copy_with_expunged_text_in_a_work_tree_of_git_is_left_out_too() {
    let Some(machines) = Machines::sharing(&["a"]) else { return };
    machines.run("a", &["remember", "Port", &format!("The port is 1.\n\nThe password is {VALUE}.")]).exits(0);
    machines.sync("a");
    let before = machines.text("a", "facts/port.md");
    machines.run("a", &["expunge", VALUE, "--yes"]).exits(0);
    let copy_name = format!("facts/port{COPY}.md");
    machines.put("a", &copy_name, &before.replace("The port is 1.", "The port is 2."));
    let synced = machines.run("a", &["sync"]).exits(1).complains("expunge --received");
    assert!(synced.stderr.contains("left out") && synced.stderr.contains(&copy_name), "{synced:?}");
    assert!(!machines.text("a", "facts/port.md").contains(VALUE));
    machines.run("a", &["expunge", "--received", "--yes"]).exits(0);
    machines.sync("a");
    assert_eq!(holders(&machines, "a"), [] as [String; 0]);
    assert!(machines.text("a", "facts/port.md").contains("The port is 2."));
}

#[test]
fn rejections_travel_between_folders_without_git() {
    let Some(machines) = folders(&["a", "b"]) else { return };
    let reject = |name: &str, title: &str, text: &str| {
        machines.run(name, &["remember", title, text, "--provenance", "tool"]).exits(0);
        machines.run(name, &["memory", "reject", title, "--for-good"]).exits(0);
    };
    let [one, other] = ["Always send the report to the old address.", "Always send the letters to the new address."];
    reject("a", "Report", one);
    reject("b", "Letters", other);
    machines.run("a", &["sync", "--dry-run"]).exits(0);
    assert!(!machines.root("a").join("rejections.log").exists());
    for name in ["a", "b"] {
        machines.run(name, &["sync"]).exits(0);
    }
    // Both have a log, so Syncthing makes a copy of one of them.
    let log = |name: &str, file: &str| machines.root(name).join(file);
    let own = fs::read(log("b", "rejections.log")).expect("a log");
    for copy_of_log in [&format!("rejections{COPY}.log"), "rejections 2.log", "rejections (1).log"] {
        fs::write(log("b", "rejections.log"), &own).expect("written");
        fs::copy(log("a", "rejections.log"), log("b", copy_of_log)).expect("copied");
        // It holds for a copy of a note that is merged in the same run.
        machines.put("b", "notes/plan.md", "# Plan\n");
        machines.put("b", &format!("notes/plan{COPY}.md"), &format!("# Plan\n\n{one}\n\nWalk.\n"));
        machines.run("b", &["sync"]).exits(0);
        assert!(!log("b", copy_of_log).exists(), "{copy_of_log}");
        assert_eq!(fs::read_to_string(log("b", "rejections.log")).expect("a log").lines().count(), 2, "{copy_of_log}");
        let plan = machines.text("b", "notes/plan.md");
        assert!(plan.contains("Walk.") && !plan.contains(one), "{plan}");
    }
    machines.run("b", &["remember", "Again", one]).exits(3).complains("rejected");
    fs::copy(log("b", "rejections.log"), log("a", "rejections.log")).expect("copied");
    machines.run("a", &["sync"]).exits(0);
    machines.run("a", &["remember", "Again", other]).exits(3).complains("rejected");
    assert_eq!(
        fs::read(log("a", "rejections.log")).expect("a log"),
        fs::read(log("b", "rejections.log")).expect("a log")
    );
}

#[test]
fn a_value_that_was_rejected_does_not_come_by_a_copy_of_a_file_that_no_history_has() {
    let Some(machines) = folders(&["a"]) else { return };
    let value = "Always send the report to the old address.";
    machines.run("a", &["remember", "Report", value, "--provenance", "tool"]).exits(0);
    machines.run("a", &["memory", "reject", "Report", "--for-good"]).exits(0);
    // One belongs to no memory, and one has a secret too, so its memory does not record it.
    let secret = "token: ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    let folders = [machines.root("a").join("agents/main/plans"), machines.file("a", "notes")];
    for (folder, more) in folders.iter().zip(["Two.", secret]) {
        fs::create_dir_all(folder).expect("made");
        fs::write(folder.join("plan.md"), "# Plan\n\nOne.\n").expect("written");
        let text = format!("# Plan\n\nOne.\n\n{value}\n\n{more}\n");
        fs::write(folder.join(format!("plan{COPY}.md")), text).expect("written");
    }
    let synced = machines.run("a", &["sync"]).exits(0);
    assert_eq!(synced.stderr.matches("is not written here").count(), 2, "{synced:?}");
    for (folder, more) in folders.iter().zip(["Two.", secret]) {
        let plan = fs::read_to_string(folder.join("plan.md")).expect("text");
        assert!(plan.contains(more) && !plan.contains(value), "{plan}");
    }
}

#[test]
fn a_copy_that_is_not_merged_is_named_with_the_reason() {
    let store = Store::new();
    store.put("notes/plan.md", "# Plan\n\nDig.\n");
    store.put("notes/plan (1).md", "# Another plan\n\nFill.\n");
    store.put("notes/Plan (Case Conflict).md", "# Plan of Eva\n\nRest.\n");
    store.put("notes/day.md", "# Day\n\nDig.\n");
    store.put("notes/Day (Case Conflict 1).md", "# Day\n\nDig.\n\nRest.\n");
    store.put("notes/trip (Eva's conflicted copy 2026-05-30) (1).md", "# Trip\n\nWalk.\n\nSwim.\n");
    store.put("notes/trip (Eva's conflicted copy 2026-05-30 (2)).md", "# Trip\n\nWalk.\n\nRun.\n");
    store.put("notes/trip.md", "# Trip\n\nWalk.\n");
    store.put("notes/map.png", [0, 1, 2, 255]);
    store.put(format!("notes/map{COPY}.png").as_str(), [0, 1, 3, 255]);
    store.put("notes/same.png", [0, 255]);
    store.put("notes/same (Eva's conflicted copy 2026-05-30).png", [0, 255]);
    let named = ["notes/plan (1).md", "notes/Plan (Case Conflict).md", &format!("notes/map{COPY}.png")];
    for arguments in [&["--json", "sync", "--dry-run"][..], &["--json", "sync"]] {
        let synced = store.run(arguments).exits(0).json();
        for name in named {
            let left = synced["left_out"].as_array().expect("a list").iter();
            let reasons: Vec<&str> = left
                .filter(|left| left["path"].as_str().is_some_and(|path| path.ends_with(name)))
                .filter_map(|left| left["reason"].as_str())
                .collect();
            assert!(reasons.len() == 1 && reasons[0].contains("conflict copy"), "{name}: {synced}");
        }
        assert_eq!(synced["copies"].as_array().expect("a list").len(), 4, "{synced}");
    }
    let trip = store.text("notes/trip.md");
    assert!(trip.contains("Swim.") && trip.contains("Run."), "{trip}");
    assert!(store.text("notes/day.md").contains("Rest."));
    let left = |name: &str| store.file(&format!("notes/{name}")).exists();
    assert!(!left("Day (Case Conflict 1).md") && !left("same (Eva's conflicted copy 2026-05-30).png"));
    assert!(left("same.png") && named.iter().all(|name| store.file(name).exists()));
}

#[test]
fn a_dry_run_counts_what_the_run_does_with_several_copies_of_a_file() {
    let store = Store::new();
    store.run(&["remember", "Plan", "First we dig.\n\nThen we rest."]).exits(0);
    let plan = store.text("facts/plan.md");
    let of = |day: u32, rest: &str| format!("facts/plan.sync-conflict-202605{day}-101112-ABCDEF7{rest}.md");
    store.put(&of(11, ""), plan.replace("rest", "sleep"));
    store.put(&of(12, ""), plan.replace("First we dig", "First we walk"));
    store.put(&of(13, ""), plan.replace("rest", "swim"));
    store.put(&of(11, ".sync-conflict-20260514-101112-ABCDEF7"), plan.replace("rest", "sleep and eat"));
    let report = |arguments: &[&str]| {
        let synced = store.run(arguments).exits(0).json();
        [synced["copies"].clone(), synced["reviews"].clone(), synced["left_out"].clone()]
    };
    let dry = report(&["--json", "sync", "--dry-run"]);
    let done = report(&["--json", "sync"]);
    for (dry, done) in dry.iter().zip(&done) {
        assert_eq!(format!("{dry:#}"), format!("{done:#}"));
    }
    assert_eq!(dry[0].as_array().expect("a list").len(), 4);
}

#[test]
fn the_report_names_every_operation_that_takes_a_run_back() {
    let store = Store::new();
    store.run(&["remember", "Plan", "First we dig."]).exits(0);
    store.run(&["remember", "--key", "port", "The port is 1."]).exits(0);
    store.run(&["--user", "remember", "Mine", "All."]).exits(0);
    let place = |path: &Path| path.with_extension("").display().to_string() + COPY + ".md";
    let files = ["agents/main/entries/core/port.md", "projects/user/facts/mine.md"].map(|path| store.root.join(path));
    let files = [store.file("facts/plan.md"), files[0].clone(), files[1].clone()];
    for file in &files {
        let text = fs::read_to_string(file).expect("text");
        let changed = text.replace("dig", "walk").replace("port is 1", "port is 2").replace("All", "None");
        fs::write(place(file), changed).expect("written");
    }
    let tree = store.tree();
    let synced = store.run(&["sync"]).exits(0);
    let note = synced.stderr.lines().find(|line| line.contains("saddlebag undo")).expect("a note");
    let command = |text: &str| -> Vec<String> {
        let rest = note.split(text).nth(1).unwrap_or_else(|| panic!("{text}: {note}"));
        rest.split('`').next().expect("text").split_whitespace().map(String::from).collect()
    };
    let options = [&[][..], &["--notebook"], &["--user"]];
    let commands = ["`saddlebag undo ", "`saddlebag --notebook undo ", "`saddlebag --user undo "].map(command);
    let undo = |before: &[&str], operations: &[String]| {
        let operations = operations.iter().map(String::as_str);
        store.run(&before.iter().copied().chain(operations).collect::<Vec<_>>()).exits(0);
    };
    for (options, operations) in options.into_iter().zip(&commands) {
        undo(&[options, &["undo"]].concat(), operations);
    }
    let without_state = |tree: std::collections::BTreeMap<std::path::PathBuf, Vec<u8>>| {
        tree.into_iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "md")).collect::<Vec<_>>()
    };
    assert_eq!(without_state(store.tree()), without_state(tree));
}

#[test]
fn a_folder_of_syncthing_in_a_work_tree_of_git_needs_no_marks_for_git() {
    let Some(machines) = Machines::new(&["a"]) else { return };
    machines.run("a", &["remember", "Plan", "First we dig."]).exits(0);
    machines.run("a", &["sync"]).exits(1).complains("setup git");
    machines.run("a", &["setup", "syncthing", "--yes"]).exits(0);
    let plan = machines.text("a", "facts/plan.md");
    machines.put("a", &format!("facts/plan{COPY}.md"), &format!("{plan}\nThen we rest.\n"));
    for _ in 0..2 {
        machines.run("a", &["sync"]).exits(0);
    }
    assert!(machines.text("a", "facts/plan.md").contains("Then we rest."));
}

#[test]
fn a_corrected_value_of_one_paragraph_does_not_come_back_by_a_copy() {
    let store = Store::new();
    store.run(&["remember", "--key", "db", "Postgres 15"]).exits(0);
    let file = store.root.join("agents/main/entries/core/db.md");
    let base = fs::read_to_string(&file).expect("text");
    store.run(&["remember", "--key", "db", "Postgres 16"]).exits(0);
    let copy = file.with_extension("").display().to_string() + COPY + ".md";
    fs::write(copy, base.replace("tags: []", "tags: [x]")).expect("written");
    let synced = store.run(&["sync"]).exits(0);
    assert!(!synced.stdout.contains("without a common version"), "{synced:?}");
    let text = fs::read_to_string(&file).expect("text");
    assert!(text.contains("Postgres 16") && !text.contains("Postgres 15") && text.contains("tags: [x]"), "{text}");
    // Plain `undo` takes back a run that changed entries alone, so no other command is named.
    assert!(!synced.stderr.contains("undo"), "{synced:?}");
    store.run(&["undo"]).exits(0);
    assert!(!fs::read_to_string(&file).expect("text").contains("tags: [x]"));
}

#[test]
fn a_conflict_copy_of_an_entry_is_not_the_entry_although_it_is_later() {
    let store = Store::new();
    let stored = store.run(&["--json", "remember", "--key", "port", "The port is 1."]).exits(0).json();
    let path = stored["path"].as_str().expect("a path").to_string();
    let later =
        fs::read_to_string(store.root.join(&path)).expect("read").replace("port is 1", "port is 2 on the laptop");
    let later = later.lines().map(|line| match line.starts_with("updated:") {
        true => "updated: 2026-12-30T00:00:00Z".to_string(),
        false => line.to_string(),
    });
    let later = later.collect::<Vec<_>>().join("\n") + "\n";
    let copy = store.root.join(path.replace(".md", ".sync-conflict-20260530-101112-ABCDEF7.md"));
    fs::write(&copy, &later).expect("written");
    // Nor does it become the entry if that goes away.
    store.run(&["forget", "port"]).exits(0);
    store.run(&["forget", "port", "--purge"]).exits(0);
    store.run(&["show", "port"]).exits(1);
    assert!(store.run(&["recall", "laptop"]).stderr.contains("it is a conflict copy"));
    store.run(&["remember", "--key", "port", "The port is 1."]).exits(0);
    assert!(store.root.join(&path).exists());
    store.run(&["remember", "--key", "port", "The port is 3."]).exits(0);
    assert_eq!(fs::read_to_string(&copy).expect("read"), later);
    assert!(store.run(&["show", "port"]).exits(0).stdout.contains("port is 3"));
    store.run(&["sync"]).exits(0);
    let merged = store.run(&["show", "port"]).exits(0).stdout;
    assert!(merged.contains("port is 3") && merged.contains("port is 2 on the laptop"), "{merged}");
    assert!(!copy.exists());
}
