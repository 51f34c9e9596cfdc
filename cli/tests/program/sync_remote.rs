//! What `sync` says of a remote repository: none, unreached, one that refuses a push, and one with another history.

use std::fs;

use crate::machines::Machines;

#[test]
fn commits_that_were_not_sent_are_counted_and_not_called_up_to_date() {
    let Some(machines) = Machines::sharing(&["a"]) else { return };
    machines.run("a", &["remember", "First", "Text."]).exits(0);
    fs::rename(machines.root("hub"), machines.root("away")).expect("moved");
    machines.run("a", &["sync"]).exits(1);
    let synced = machines.run("a", &["sync"]).exits(1);
    assert!(synced.stdout.contains("1 commit is not sent") && !synced.stdout.contains("up to date"), "{synced:?}");
    fs::rename(machines.root("away"), machines.root("hub")).expect("moved back");
    machines.sync("a");

    machines.git("a", &["remote", "remove", "origin"]);
    machines.run("a", &["remember", "Second", "Text."]).exits(0);
    let synced = machines.run("a", &["sync"]).exits(0);
    assert!(synced.stdout.contains("1 file committed") && synced.stdout.contains("no remote"), "{synced:?}");
    let synced = machines.run("a", &["sync"]).exits(0);
    assert!(synced.stdout.contains("no remote") && !synced.stdout.contains("up to date"), "{synced:?}");
    let json = machines.sync("a");
    assert!(json["not_sent_commits"].as_u64().is_some_and(|count| count > 1), "{json}");
}

#[cfg(unix)]
#[test]
fn a_push_that_is_refused_is_not_called_a_repository_that_is_not_reached() {
    let Some(machines) = Machines::sharing(&["a"]) else { return };
    let hook = machines.folder.join("hub/hooks/pre-receive");
    fs::write(&hook, "#!/bin/sh\necho protected branch >&2\nexit 1\n").expect("written");
    let may_run = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&hook, may_run).expect("permitted");
    machines.run("a", &["remember", "Third", "Text."]).exits(0);
    let refused = machines.run("a", &["sync"]).exits(1);
    let text = format!("{refused:?}");
    assert!(!text.contains("not reached") && text.contains("nothing was sent"), "{text}");
    assert!(!refused.stdout.contains("sent +"), "{refused:?}");
    assert!(text.contains("protected branch") && refused.stdout.contains("1 commit is not sent"), "{text}");
}

#[test]
fn a_remote_repository_with_another_history_is_refused_and_a_new_machine_is_not() {
    let Some(machines) = Machines::sharing(&["a", "b"]) else { return };
    machines.run("a", &["remember", "Port", "5432"]).exits(0);
    machines.settle(&["a", "b"]);
    // The address is that of another repository.
    machines.git(".", &["init", "--quiet", "--bare", "other"]);
    machines.git(".", &["init", "--quiet", "maker"]);
    fs::write(machines.root("maker").join("README.md"), "# Other\n").expect("written");
    machines.git("maker", &["add", "--all"]);
    machines.git("maker", &["commit", "--quiet", "-m", "by hand"]);
    let other = machines.folder.join("other").display().to_string();
    machines.git("maker", &["push", "--quiet", &other, "main"]);
    machines.git("a", &["remote", "set-url", "origin", &other]);
    machines.run("a", &["remember", "Second", "Text."]).exits(0);
    let (before, head) = (machines.tree("a"), machines.git("a", &["rev-parse", "HEAD"]));
    for arguments in [&["sync", "--dry-run"][..], &["sync"]] {
        let refused = machines.run("a", arguments).exits(3).complains("no common commit");
        assert!(refused.stderr.contains("--allow-unrelated-histories"), "{refused:?}");
    }
    assert_eq!((machines.tree("a"), machines.git("a", &["rev-parse", "HEAD"])), (before, head));
    // A machine that has only received is not new either.
    let Some(receiver) = Machines::new(&["a", "b"]) else { return };
    receiver.run("a", &["remember", "Port", "5432"]).exits(0);
    receiver.run("a", &["setup", "git", "--yes"]).exits(0);
    receiver.sync("a");
    receiver.git("b", &["config", "saddlebag.shares", "projects/none"]);
    receiver.sync("b");
    receiver.git("b", &["remote", "set-url", "origin", &other]);
    receiver.run("b", &["sync"]).exits(3).complains("no common commit");
    // The way out.
    machines.git("a", &["add", "--all"]);
    machines.git("a", &["commit", "--quiet", "-m", "by hand"]);
    machines.git("a", &["merge", "--quiet", "--no-edit", "--allow-unrelated-histories", "origin/main"]);
    machines.sync("a");
    assert!(machines.git("other", &["ls-tree", "-r", "--name-only", "main"]).contains("second.md"));

    // A machine that was first offline has commits of `sync` alone.
    let Some(machines) = Machines::new(&["a", "b"]) else { return };
    machines.run("a", &["remember", "Port", "5432"]).exits(0);
    for name in ["a", "b"] {
        machines.run(name, &["setup", "git", "--yes"]).exits(0);
    }
    machines.sync("a");
    machines.run("b", &["remember", "Host", "grey"]).exits(0);
    fs::rename(machines.root("hub"), machines.root("away")).expect("moved");
    machines.run("b", &["sync"]).exits(1);
    fs::rename(machines.root("away"), machines.root("hub")).expect("moved back");
    machines.settle(&["b", "a"]);
    assert_eq!(machines.tree("a"), machines.tree("b"));
}

#[test]
fn a_note_that_one_machine_forgot_and_another_one_renamed_is_named() {
    let Some(machines) = Machines::sharing(&["a", "b"]) else { return };
    machines.run("a", &["remember", "Port", "The port is 5432.\n\nIt is open.\n\nIt was closed."]).exits(0);
    machines.settle(&["a", "b"]);
    machines.run("a", &["move", "Port", "Harbour"]).exits(0);
    machines.sync("a");
    machines.run("b", &["forget", "Port"]).exits(0);
    let synced = machines.run("b", &["sync"]).exits(0);
    let line = synced.stderr.lines().find(|line| line.contains("facts/harbour.md")).unwrap_or_default();
    assert!(line.contains("facts/port.md") && line.contains("forgot") && line.contains("renamed"), "{synced:?}");
    machines.settle(&["a", "b"]);
    assert_eq!(machines.tree("a"), machines.tree("b"));
    assert!(machines.file("b", "facts/harbour.md").exists(), "nothing is lost");
}
