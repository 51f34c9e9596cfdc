//! `sync` before it changes anything. It refuses a branch that the remote repository lacks, and locks that a killed git left. It
//! names files whose names other systems cannot have, and memory that the folder does not read.

use std::fs;

use crate::machines::Machines;

/// Returns two machines of which one has sent a note, and the other one has another branch.
fn on_two_branches() -> Option<Machines> {
    let machines = Machines::new(&["a", "b"])?;
    machines.git("b", &["symbolic-ref", "HEAD", "refs/heads/master"]);
    machines.run("a", &["remember", "Seed", "Text."]).exits(0);
    for name in ["a", "b"] {
        machines.run(name, &["setup", "git", "--yes"]).exits(0);
    }
    machines.sync("a");
    Some(machines)
}

#[test]
fn a_machine_on_another_branch_than_the_remote_repository_is_refused_and_told_the_way_out() {
    let Some(machines) = on_two_branches() else { return };
    machines.run("b", &["remember", "Other", "Text."]).exits(0);
    for arguments in [&["sync", "--dry-run"][..], &["sync"]] {
        let refused = machines.run("b", arguments).exits(3);
        for part in ["`master`", "`main`", "git branch -m main"] {
            assert!(refused.stderr.contains(part), "{part}: {refused:?}");
        }
    }
    assert!(!machines.try_git("b", &["rev-parse", "--verify", "--quiet", "HEAD"]).status.success());
    machines.git("b", &["branch", "-m", "main"]);
    machines.settle(&["b", "a"]);
    assert_eq!(machines.tree("a"), machines.tree("b"));

    // A branch that a person begins is synchronised.
    machines.git("a", &["checkout", "--quiet", "-b", "other"]);
    let refused = machines.run("a", &["sync"]).exits(3);
    assert!(refused.stderr.contains("git push -u origin other"), "{refused:?}");
    machines.git("a", &["push", "--quiet", "-u", "origin", "other"]);
    machines.run("a", &["remember", "Third", "Text."]).exits(0);
    let synced = machines.run("a", &["sync"]).exits(0);
    assert!(synced.stdout.contains("with origin/other"), "{synced:?}");
}

#[test]
fn the_locks_that_a_killed_git_left_are_named_at_once() {
    let Some(machines) = Machines::sharing(&["a"]) else { return };
    let locks = [".git/HEAD.lock", ".git/index.lock", ".git/refs/heads/main.lock"];
    for lock in locks {
        fs::write(machines.root("a").join(lock), "").expect("written");
    }
    for arguments in [&["sync", "--dry-run"][..], &["sync"]] {
        let refused = machines.run("a", arguments).exits(3);
        assert!(refused.stderr.contains("`rm "), "{refused:?}");
        for lock in ["HEAD.lock", "index.lock", "main.lock"] {
            assert!(refused.stderr.contains(lock), "{refused:?}");
        }
    }
    for lock in locks {
        fs::remove_file(machines.root("a").join(lock)).expect("removed");
    }
    machines.sync("a");
}

#[cfg(target_os = "linux")]
#[test]
fn a_new_file_with_a_name_that_another_system_cannot_have_is_left_out_and_named() {
    let Some(machines) = Machines::sharing(&["a", "b"]) else { return };
    for (path, text) in [("notes/q?.md", "1"), ("notes/aux.md", "2"), ("notes/Case.md", "3"), ("notes/case.md", "4")] {
        machines.put("a", path, text);
    }
    let synced = machines.run("a", &["sync"]).exits(0);
    for path in ["notes/q?.md", "notes/aux.md", "notes/case.md"] {
        assert!(synced.stderr.contains(&format!("{path}: another system ")), "{path}: {synced:?}");
    }
    machines.sync("b");
    assert_eq!(machines.text("b", "notes/Case.md"), "3");
    assert!(!machines.file("b", "notes/q?.md").exists() && !machines.file("b", "notes/case.md").exists());
    // A file that only changes the case of its name is renamed.
    fs::remove_file(machines.file("a", "notes/Case.md")).expect("removed");
    machines.settle(&["a", "b"]);
    assert_eq!(machines.text("b", "notes/case.md"), "4");
    // Both machines make one name, in different letters.
    machines.put("a", "notes/Readme.md", "of a");
    machines.put("b", "notes/README.md", "of b");
    machines.sync("a");
    let synced = machines.run("b", &["sync"]).exits(0);
    assert!(synced.stderr.contains("notes/README.md: another system "), "{synced:?}");
    assert_eq!(
        (machines.text("b", "notes/Readme.md"), machines.text("b", "notes/README.md")),
        ("of a".into(), "of b".into())
    );
}

#[test]
fn memory_of_a_project_in_another_folder_is_named_by_sync_and_setup_git() {
    let Some(machines) = Machines::new(&["a", "b"]) else { return };
    machines.run("a", &["remember", "Seed", "Text."]).exits(0);
    machines.run("a", &["setup", "git", "--yes"]).exits(0);
    machines.sync("a");
    let name = machines.store.memory.trim_end_matches('/').rsplit('/').next().expect("a name").to_string();
    let elsewhere = machines.folder.join("elsewhere").join(machines.store.here.file_name().expect("a name"));
    fs::create_dir_all(&elsewhere).expect("made");
    let at = |arguments: &[&str]| {
        let mut command = machines.command("b", arguments);
        command.current_dir(&elsewhere);
        crate::support::run(&mut command, None)
    };
    at(&["setup", "git", "--yes", "--share", "entries"]).exits(0);
    let way = format!("saddlebag project {name}");
    at(&["sync"]).exits(0).complains(&way);
    at(&["show", "Seed"]).exits(1);
    at(&["project", &name, "--yes"]).exits(0);
    let marked = at(&["setup", "git", "--yes"]).exits(0);
    assert!(marked.stdout.contains(&name) && !marked.stderr.contains(&way), "{marked:?}");
    at(&["sync"]).exits(0);
    at(&["show", "Seed"]).exits(0);
}

#[test]
fn an_index_without_what_is_committed_is_mended() {
    let Some(machines) = Machines::sharing(&["a"]) else { return };
    machines.run("a", &["remember", "First", "Text."]).exits(0);
    machines.sync("a");
    let first = machines.git("a", &["ls-files", "*first.md"]);
    machines.git("a", &["rm", "--cached", "--quiet", first.trim()]);
    machines.run("a", &["remember", "Second", "Text."]).exits(0);
    let synced = machines.run("a", &["sync"]).exits(0);
    assert!(synced.stdout.contains("1 file committed") && !synced.stdout.contains("first.md"), "{synced:?}");
    assert_eq!(machines.git("a", &["status", "--short", "--", first.trim()]), "");
}
