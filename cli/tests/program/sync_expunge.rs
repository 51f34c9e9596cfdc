//! Text that a person expunged on one machine, and `sync` on the others.

use std::fs;

use crate::machines::Machines;

pub(crate) const VALUE: &str = "tango-9914";

/// Returns the files of a machine's store that have the value, without those of git.
pub(crate) fn holders(machines: &Machines, name: &str) -> Vec<String> {
    let mut folders = vec![machines.root(name)];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.extend((entry.file_name() != ".git").then_some(path));
            } else if fs::read(&path).expect("read").windows(VALUE.len()).any(|part| part == VALUE.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    for version in 1..5 {
        let shown = machines.run(name, &["show", &format!("facts/port@{version}")]).stdout;
        found.extend(shown.contains(VALUE).then(|| format!("version {version}")));
    }
    found
}

/// Machines that have a note with the value.
fn sharing(names: &[&str]) -> Option<Machines> {
    let machines = Machines::sharing(names)?;
    let text = format!("The port is 5432.\n\nThe password is {VALUE}.\n\nIt is open.");
    machines.run("a", &["remember", "Port", &text]).exits(0);
    machines.settle(names);
    Some(machines)
}

#[test]
fn what_one_machine_expunged_is_named_on_the_other_and_removed_by_a_person() {
    let Some(machines) = sharing(&["a", "b"]) else { return };
    let expunged = machines.run("a", &["expunge", VALUE, "--yes"]).exits(0);
    assert!(expunged.stderr.contains("expunge --received"), "{expunged:?}");
    let log = fs::read_to_string(machines.root("a").join("expunged.log")).expect("a log");
    assert!(log.contains("facts/port.md") && !log.contains("tango"), "{log}");
    machines.sync("a");

    // The file comes as it is there; the history here has the text, and only a person removes it.
    let synced = machines.run("b", &["sync"]).exits(1).complains("saddlebag expunge --received");
    assert!(synced.stderr.contains("facts/port.md") && !synced.stderr.contains(VALUE), "{synced:?}");
    assert!(machines.text("b", "facts/port.md").contains("The password is (expunged)."));
    assert!(!holders(&machines, "b").is_empty(), "nothing is removed without a person");
    machines.run("b", &["sync"]).exits(1).complains("saddlebag expunge --received");
    let refused = machines.run("b", &["--provenance", "agent", "expunge", "--received", "--yes"]).exits(3);
    assert!(refused.stderr.contains("only a person"), "{refused:?}");
    let dry = machines.run("b", &["expunge", "--received"]).exits(0);
    assert!(dry.stdout.starts_with("Dry run") && !dry.stdout.contains(VALUE), "{dry:?}");
    machines.run("b", &["expunge", "--received", "--yes"]).exits(0);
    assert_eq!(holders(&machines, "b"), [] as [String; 0]);
    machines.run("b", &["expunge", "--received", "--yes"]).exits(1);
    machines.settle(&["b", "a"]);
    assert_eq!(machines.tree("a"), machines.tree("b"));
}

#[test]
fn an_expunged_text_does_not_come_back_by_an_edit_or_a_commit_of_another_machine() {
    let Some(machines) = sharing(&["a", "b", "c"]) else { return };
    machines.run("a", &["expunge", VALUE, "--yes"]).exits(0);
    machines.sync("a");
    // One edits the paragraph, and another one has committed an edit while it did not reach the others.
    machines.run("b", &["edit", "Port", "--old", "The password is", "--new", "Our password is"]).exits(0);
    machines.run("b", &["remember", "Harbour", "It has a port."]).exits(0);
    fs::rename(machines.root("hub"), machines.root("away")).expect("moved");
    machines.run("c", &["edit", "Port", "--old", "password is", "--new", "key is"]).exits(0);
    machines.run("c", &["sync"]).exits(1);
    fs::rename(machines.root("away"), machines.root("hub")).expect("moved back");

    let synced = machines.run("b", &["sync"]).exits(1);
    assert!(synced.stderr.contains("left out: ") && synced.stderr.contains("expunge --received"), "{synced:?}");
    machines.run("c", &["sync"]).exits(3).complains("would bring it back").complains("expunge --received");
    for name in ["b", "c"] {
        machines.run(name, &["expunge", "--received", "--yes"]).exits(0);
        assert_eq!(holders(&machines, name), [] as [String; 0], "{name}");
        machines.sync(name);
    }
    machines.settle(&["a", "b", "c"]);
    for name in ["a", "b", "c"] {
        assert_eq!(holders(&machines, name), [] as [String; 0], "{name}");
        assert_eq!(machines.tree("a"), machines.tree(name), "{name}");
    }
    let note = machines.text("a", "facts/port.md");
    assert!(note.contains("Our password is (expunged)") && note.contains("The port is 5432."), "{note}");
    assert!(machines.file("a", "facts/harbour.md").exists());
    let found = machines.try_git("hub", &["grep", "-c", "tango", "main"]);
    assert!(found.stdout.is_empty(), "{found:?}");
}

#[test]
fn text_that_was_only_in_older_versions_is_found_too_and_a_new_machine_has_nothing_to_do() {
    let Some(machines) = sharing(&["a", "b"]) else { return };
    machines.run("a", &["edit", "Port", "--old", VALUE, "--new", "secret"]).exits(0);
    machines.settle(&["a", "b"]);
    machines.run("a", &["expunge", VALUE, "--yes"]).exits(0);
    machines.sync("a");
    machines.run("b", &["sync"]).exits(1).complains("saddlebag expunge --received");
    machines.run("b", &["expunge", "--received", "--yes"]).exits(0);
    assert_eq!(holders(&machines, "b"), [] as [String; 0]);
    machines.run("b", &["sync"]).exits(0);
    // What is not shared gives no digest away.
    machines.run("a", &["--user", "remember", "Mine", "The other password is bravo-4411."]).exits(0);
    machines.run("a", &["--user", "expunge", "bravo-4411", "--yes"]).exits(0);
    let log = fs::read_to_string(machines.root("a").join("expunged.log")).expect("a log");
    assert_eq!(log.lines().count(), 1, "{log}");
}

#[test]
fn a_note_that_one_machine_expunged_does_not_come_back_from_another_that_edited_or_renamed_it() {
    let Some(machines) = Machines::sharing(&["a", "b", "c", "d"]) else { return };
    machines.run("a", &["remember", "Server", &format!("The pass is {VALUE} for staging.")]).exits(0);
    machines.settle(&["a", "b", "c", "d"]);
    // One has edited it, one has renamed it too, and one has committed the edit while it did not reach the others.
    let edited = ["edit", "Server", "--old", "staging", "--new", "prod"];
    for name in ["b", "c", "d"] {
        machines.run(name, &edited).exits(0);
    }
    machines.run("c", &["move", "Server", "Production"]).exits(0);
    fs::rename(machines.root("hub"), machines.root("away")).expect("moved");
    machines.run("d", &["sync"]).exits(1);
    fs::rename(machines.root("away"), machines.root("hub")).expect("moved back");
    machines.run("a", &["expunge", "Server", "--yes"]).exits(0);
    machines.sync("a");
    let log = fs::read_to_string(machines.root("a").join("expunged.log")).expect("a log");
    assert!(log.contains("facts/server.md") && !log.contains("tango"), "{log}");

    for (name, path) in [("b", "facts/server.md"), ("c", "facts/production.md")] {
        for _ in 0..2 {
            let synced = machines.run(name, &["sync"]).exits(1).complains("expunge --received");
            assert!(synced.stderr.contains("left out: ") && synced.stderr.contains(path), "{synced:?}");
            assert!(!synced.stdout.contains(path), "{synced:?}");
        }
        assert!(machines.text(name, path).contains("for prod"), "nothing is removed without a person");
    }
    machines.run("d", &["sync"]).exits(3).complains("would bring it back").complains("expunge --received");
    for name in ["b", "c", "d"] {
        let listed = machines.run(name, &["expunge", "--received"]).exits(0);
        assert!(listed.stdout.contains("facts/"), "{listed:?}");
        machines.run(name, &["expunge", "--received", "--yes"]).exits(0);
        assert_eq!(holders(&machines, name), [] as [String; 0], "{name}");
        machines.sync(name);
    }
    // A later note may have the name.
    machines.run("b", &["remember", "Server", "It is in the cellar."]).exits(0);
    machines.settle(&["a", "b", "c", "d"]);
    for name in ["a", "b", "c", "d"] {
        assert_eq!(holders(&machines, name), [] as [String; 0], "{name}");
        assert_eq!(machines.tree("a"), machines.tree(name), "{name}");
    }
    assert!(machines.text("a", "facts/server.md").contains("cellar"));
    let found = machines.try_git("hub", &["grep", "-c", "tango", "main"]);
    assert!(found.stdout.is_empty(), "{found:?}");
}

#[test]
fn text_of_a_title_is_found_on_another_machine_also_if_only_the_history_has_it() {
    let Some(machines) = Machines::sharing(&["a", "b"]) else { return };
    let title = format!("{VALUE} title");
    machines.run("a", &["remember", &title, "Some words."]).exits(0);
    machines.settle(&["a", "b"]);
    machines.run("a", &["move", &title, "Plain title"]).exits(0);
    machines.run("a", &["expunge", VALUE, "--yes"]).exits(0);
    machines.sync("a");
    for _ in 0..2 {
        machines.run("b", &["sync"]).exits(1).complains("expunge --received");
    }
    machines.run("b", &["expunge", "--received", "--yes"]).exits(0);
    assert_eq!(holders(&machines, "b"), [] as [String; 0]);
    machines.run("b", &["sync"]).exits(0);
    machines.run("b", &["undo"]);
    assert_eq!(holders(&machines, "b"), [] as [String; 0]);
    assert!(!machines.file("b", &format!("facts/{VALUE}-title.md")).exists());
}

#[test]
fn a_machine_that_expunged_a_text_does_not_get_it_again_from_one_that_edited_the_file() {
    let Some(machines) = Machines::sharing(&["a", "b"]) else { return };
    let text = format!("Intro.\n\nThe password is {VALUE} here.\n\nEnd.");
    machines.run("a", &["remember", "Port", &text]).exits(0);
    machines.run("a", &["remember", "Name", &text]).exits(0);
    machines.run("a", &["remember", "Old", &text.replace("Intro", "Other intro")]).exits(0);
    machines.settle(&["a", "b"]);
    machines.run("a", &["edit", "Old", "--old", VALUE, "--new", "gone"]).exits(0);
    machines.sync("a");
    // The other one has pushed an edit of another paragraph, an edit beside the text, and a new note.
    machines.run("b", &["edit", "Port", "--old", "End.", "--new", "B end."]).exits(0);
    machines.run("b", &["edit", "Name", "--old", "The password", "--new", "Our password"]).exits(0);
    machines.run("b", &["move", "Name", "Title"]).exits(0);
    machines.run("b", &["remember", "New", &format!("It is {VALUE} too.")]).exits(0);
    machines.run("b", &["log", "Seen", &format!("The word {VALUE}.")]).exits(0);
    machines.sync("b");
    machines.run("a", &["expunge", VALUE, "--yes"]).exits(0);

    let dry = machines.run("a", &["sync", "--dry-run"]).exits(0);
    assert!(dry.stderr.contains("facts/port.md came with text that was expunged"), "{dry:?}");
    let synced = machines.sync("a");
    assert_eq!(synced["replaced"].as_array().map(Vec::len), Some(4), "{synced}");
    for _ in 0..2 {
        assert_eq!(holders(&machines, "a"), [] as [String; 0]);
        machines.sync("a");
    }
    let port = machines.text("a", "facts/port.md");
    assert!(port.contains("B end.") && port.contains("The password is (expunged) here."), "{port}");
    let title = machines.text("a", "facts/title.md");
    assert!(title.contains("Our password is (expunged) here."), "{title}");
    machines.run("b", &["sync"]).exits(1).complains("expunge --received");
    machines.run("b", &["expunge", "--received", "--yes"]).exits(0);
    machines.settle(&["b", "a"]);
    assert_eq!(holders(&machines, "b"), [] as [String; 0]);
    assert_eq!(machines.tree("a"), machines.tree("b"));

    // Git alone sends it again, and this machine has changed nothing.
    let text = machines.text("b", "facts/port.md");
    machines.put("b", "facts/port.md", &text.replace("(expunged)", VALUE).replace("Intro", "New intro"));
    machines.git("b", &["commit", "--quiet", "--all", "-m", "by hand"]);
    machines.git("b", &["push", "--quiet"]);
    let synced = machines.run("a", &["sync"]).exits(0);
    assert!(synced.stderr.contains("facts/port.md came with text that was expunged"), "{synced:?}");
    assert_eq!(holders(&machines, "a"), [] as [String; 0]);
    let port = machines.text("a", "facts/port.md");
    assert!(port.contains("New intro") && port.contains("(expunged)"), "{port}");
    let found = machines.try_git("hub", &["grep", "-c", "tango", "main"]);
    assert!(found.stdout.is_empty(), "{found:?}");
}
