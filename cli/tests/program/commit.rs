//! `saddlebag commit`: the history as commits of the user's own repository, with the same facts, and nothing else changed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Run, Store, engine, run};

/// A store in a work tree of git.
struct World {
    store: Store,
    home: PathBuf,
}

impl World {
    /// Returns a store with an empty repository at its root; `None` if git is missing.
    fn new() -> Option<Self> {
        let store = Store::new();
        let home = store.here.with_file_name("home");
        fs::create_dir(&home).expect("made");
        fs::write(home.join(".gitconfig"), "[user]\n\tname = Ana\n\temail = ana@example.org\n").expect("written");
        if Command::new("git").arg("--version").output().is_err() {
            eprintln!("skipped: git is missing");
            return None;
        }
        let world = Self { store, home };
        world.git(&["init", "--quiet", "--initial-branch=main"]);
        world.put(".gitignore", ".saddlebag/\n*.bak\n");
        Some(world)
    }

    fn isolate(&self, command: &mut Command) {
        command.env("HOME", &self.home).env("USERPROFILE", &self.home).env("XDG_CONFIG_HOME", &self.home);
        command.env("GIT_CONFIG_NOSYSTEM", "1");
    }

    fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.store.root).args(arguments).stdin(Stdio::null());
        command.env("GIT_AUTHOR_DATE", "2026-05-01T10:00:00Z").env("GIT_COMMITTER_DATE", "2026-05-01T10:00:00Z");
        self.isolate(&mut command);
        let output = command.output().expect("git runs");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text").trim_end().to_string()
    }

    /// Runs the program at a minute of the day.
    fn at(&self, minute: u32, arguments: &[&str]) -> Run {
        let now = format!("2026-05-30T09:{minute:02}:00+02:00");
        let mut command = self.store.bare(&["--now", &now, "--durability", "fast", "--engine", &engine(), "--root"]);
        command.arg(&self.store.root).args(arguments);
        self.isolate(&mut command);
        run(&mut command, None)
    }

    fn commit(&self, arguments: &[&str]) -> Run {
        self.at(59, &[&["commit"], arguments].concat())
    }

    fn commit_json(&self, arguments: &[&str]) -> Value {
        self.at(59, &[&["--json", "commit"], arguments].concat()).exits(0).json()
    }

    fn put(&self, path: &str, text: &str) {
        fs::write(self.store.root.join(path), text).expect("written");
    }

    /// Returns the path of a note below the root.
    fn note(&self, name: &str) -> String {
        format!("{}facts/{name}.md", self.store.memory)
    }

    fn log(&self, format: &str) -> Vec<String> {
        let log = self.git(&["log", "--reverse", &format!("--format={format}")]);
        log.lines().map(String::from).collect()
    }

    /// Returns every file of the folder of git.
    fn repository(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        walk(&self.store.root.join(".git"), &mut files);
        files
    }
}

fn walk(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        match entry.file_type().expect("a kind").is_dir() {
            true => walk(&entry.path(), files),
            false => drop(files.insert(entry.path(), fs::read(entry.path()).expect("read"))),
        }
    }
}

fn count(json: &Value, field: &str) -> usize {
    json[field].as_array().expect("a list").len()
}

#[test]
fn each_operation_becomes_a_commit_with_its_author_time_facts_and_files() {
    let Some(world) = World::new() else { return };
    world.at(1, &["remember", "Port", "The port is 8443."]).exits(0);
    let scout = ["--provenance", "agent", "--agent", "scout"];
    let edit = ["edit", "facts/port", "--old", "8443", "--new", "9443", "--reason", "it moved\nSaddlebag-Operation: 0"];
    world.at(2, &[&scout[..], &edit].concat()).exits(0);
    let mule = ["--provenance", "agent", "--agent", "mule"];
    world.at(3, &[&mule[..], &["remember", "Host", "The host is grey."]].concat()).exits(0);
    let shown = world.commit(&[]).exits(0);
    assert!(shown.stdout.starts_with("Made 3 commits\n") && shown.stdout.contains("scout"), "{shown:?}");
    assert_eq!(
        world.log("%an <%ae> %aI by %cn"),
        [
            "Ana <ana@example.org> 2026-05-30T09:01:00+02:00 by Ana",
            "scout <scout@saddlebag.invalid> 2026-05-30T09:02:00+02:00 by Ana",
            "mule <mule@saddlebag.invalid> 2026-05-30T09:03:00+02:00 by Ana",
        ]
    );
    assert_eq!(world.log("%cI")[2], "2026-05-30T09:59:00+02:00");
    let operations = world.at(4, &["--json", "history"]).exits(0).json();
    let named = world.log("%(trailers:key=Saddlebag-Operation,valueonly,separator=%x2C)");
    for (place, name) in named.iter().enumerate() {
        assert_eq!(json!(name), operations["operations"][2 - place]["operation"]);
    }
    assert_eq!(world.log("%(trailers:key=Saddlebag-Agent,valueonly,separator=%x2C)"), ["", "scout", "mule"]);
    assert_eq!(world.log("%(trailers:key=Saddlebag-Machine,valueonly,separator=%x2C)"), ["laptop"; 3]);
    assert!(world.log("%(trailers:key=Saddlebag-Reason,valueonly,separator=%x2C)")[1].starts_with("it moved"));
    assert!(world.log("%s")[1].contains("facts/port.md: it moved"), "{:?}", world.log("%s"));
    let commits = world.log("%H");
    let (port, host) = (world.note("port"), world.note("host"));
    let text = |commit: &str, path: &str| world.git(&["show", &format!("{commit}:{path}")]);
    assert!(text(&commits[0], &port).contains("8443") && text(&commits[1], &port).contains("9443"));
    assert_eq!(text(&commits[2], &port), world.store.text("facts/port.md").trim_end());
    assert_eq!(world.git(&["ls-tree", "-r", "--name-only", &commits[1]]), port);
    assert_eq!(world.git(&["ls-tree", "-r", "--name-only", "HEAD"]), format!("{host}\n{port}"));
    assert_eq!(world.git(&["status", "--porcelain"]), "?? .gitignore", "no file of the memory differs");
    let before = world.repository();
    world.commit(&[]).exits(0).prints("Nothing to commit\n");
    assert_eq!(world.repository(), before);
    world.at(5, &["write", "scratchpad", "- [ ] later"]).exits(0);
    assert_eq!(count(&world.commit_json(&[]), "commits"), 1);
}

#[test]
fn a_move_and_a_removal_are_in_the_trees_and_undo_is_a_commit() {
    let Some(world) = World::new() else { return };
    world.at(1, &["remember", "Port", "The port is 8443."]).exits(0);
    world.at(2, &["move", "facts/port", "Harbour"]).exits(0);
    world.at(3, &["forget", "facts/harbour"]).exits(0);
    world.at(4, &["undo"]).exits(0);
    let made = world.commit_json(&[]);
    assert!(count(&made, "commits") >= 4, "{made}");
    let tree = |commit: &Value| world.git(&["ls-tree", "-r", "--name-only", commit["commit"].as_str().expect("made")]);
    let trees: Vec<String> = made["commits"].as_array().expect("commits").iter().map(tree).collect();
    let last = trees.len() - 1;
    assert_eq!((trees[0].as_str(), trees[last - 1].as_str()), (world.note("port").as_str(), ""));
    assert_eq!(trees[last], world.note("harbour"));
    assert_eq!(world.git(&["status", "--porcelain"]), "?? .gitignore");
}

#[test]
fn a_change_by_hand_is_named_and_committed_on_request() {
    let Some(world) = World::new() else { return };
    world.at(1, &["remember", "Port", "The port is 8443."]).exits(0);
    let port = world.note("port");
    world.put(&port, "An editor wrote this.\n");
    world.put(&world.note("own"), "A note that only an editor wrote.\n");
    let shown = world.commit(&[]).exits(0).complains(&format!("changed by hand, not committed: {port}"));
    assert!(shown.stdout.contains("Made 1 commit\n"), "{shown:?}");
    assert!(world.git(&["show", &format!("HEAD:{port}")]).contains("8443"));
    assert_eq!(world.store.text("facts/port.md"), "An editor wrote this.\n");
    let made = world.commit_json(&["--all"]);
    assert_eq!((count(&made, "commits"), count(&made, "by_hand")), (1, 0), "{made}");
    assert_eq!(made["commits"][0]["files"], json!([world.note("own"), port]));
    assert_eq!((&made["commits"][0]["author"], &made["commits"][0]["operation"]), (&json!("Ana"), &Value::Null));
    assert_eq!(world.git(&["show", &format!("HEAD:{port}")]), "An editor wrote this.");
    assert_eq!(world.git(&["status", "--porcelain"]), "?? .gitignore");
    assert_eq!(count(&world.commit_json(&["--all"]), "commits"), 0);
    world.at(3, &["edit", "facts/port", "--old", "this", "--new", "that"]).exits(0);
    assert_eq!(count(&world.commit_json(&[]), "commits"), 1);
}

#[test]
fn what_git_ignores_and_what_the_history_does_not_keep_is_left_out() {
    let Some(world) = World::new() else { return };
    world.put(".gitignore", ".saddlebag/\n*.bak\nhidden.md\n");
    world.at(1, &["remember", "Hidden", "Not for git."]).exits(0);
    world.at(2, &["remember", "Port", "The port is 8443."]).exits(0);
    // In two parts, so that no scanner finds a secret here.
    let secret = format!("ghp_{}", "x7Kq2mZ9vB4nT6wR1yL8pD3sF5hJ0gC7aE2k");
    let text = world.store.text("facts/port.md");
    world.put(&world.note("port"), &format!("{text}\nThe token is {secret}\n"));
    let made = world.commit_json(&["--all"]);
    assert_eq!((count(&made, "commits"), &made["ignored"]), (1, &json!(1)), "{made}");
    assert_eq!(made["left_out"][0]["path"], json!(world.note("port")), "{made}");
    world.at(3, &["edit", "facts/port", "--old", "8443", "--new", "80443"]).exits(0);
    let made = world.commit_json(&["--all"]);
    let left_out = &made["left_out"][0];
    assert_eq!((count(&made, "commits"), count(&made, "left_out")), (0, 1), "{made}");
    assert!(left_out["operation"].is_string() && left_out["reason"].is_string(), "{made}");
    assert_eq!(world.git(&["ls-tree", "-r", "--name-only", "HEAD"]), world.note("port"));
    assert!(!world.git(&["log", "-p", "--all"]).contains(&secret));
}

#[test]
fn what_the_user_staged_stays_staged_and_is_refused_for_the_same_file() {
    let Some(world) = World::new() else { return };
    world.put("own.txt", "staged\n");
    world.git(&["add", "own.txt"]);
    world.put("own.txt", "staged, and changed again\n");
    world.at(1, &["remember", "Port", "The port is 8443."]).exits(0);
    world.commit(&[]).exits(0);
    assert_eq!(world.git(&["status", "--porcelain"]), "AM own.txt\n?? .gitignore");
    assert_eq!(world.git(&["ls-tree", "-r", "--name-only", "HEAD"]), world.note("port"));
    world.at(2, &["edit", "facts/port", "--old", "8443", "--new", "9443"]).exits(0);
    let text = world.store.text("facts/port.md");
    world.put(&world.note("port"), "staged by hand\n");
    world.git(&["add", &world.note("port")]);
    world.put(&world.note("port"), &text);
    let before = world.git(&["rev-parse", "HEAD"]);
    world.commit(&[]).exits(3).complains(&world.note("port")).complains("git restore --staged");
    assert_eq!(world.git(&["rev-parse", "HEAD"]), before);
    // What is staged already as it will be committed is in nobody's way.
    world.git(&["add", &world.note("port")]);
    world.commit(&[]).exits(0);
    assert_eq!(world.git(&["status", "--porcelain"]), "AM own.txt\n?? .gitignore");
}

#[test]
fn entries_of_an_agent_filters_of_git_and_an_index_in_use_are_respected() {
    let Some(world) = World::new() else { return };
    world.git(&["config", "filter.upper.clean", "tr a-z A-Z"]);
    world.put(".gitattributes", "*.md filter=upper\n");
    world.at(1, &["remember", "--key", "port", "The port is 8443."]).exits(0);
    let lock = world.store.root.join(".git/index.lock");
    fs::write(&lock, "").expect("written");
    world.commit(&[]).exits(3).complains("index.lock");
    fs::remove_file(&lock).expect("removed");
    assert_eq!(count(&world.commit_json(&[]), "commits"), 1);
    let entry = world.git(&["ls-tree", "-r", "--name-only", "HEAD"]);
    assert!(entry.starts_with("agents/main/entries/"), "{entry}");
    assert!(world.git(&["show", &format!("HEAD:{entry}")]).contains("THE PORT IS 8443."));
    assert_eq!(world.git(&["status", "--porcelain"]), "?? .gitattributes\n?? .gitignore");
    let left = fs::read_dir(world.store.root.join(".git")).expect("a folder").flatten();
    assert!(left.into_iter().all(|entry| !entry.file_name().to_string_lossy().contains("saddlebag")));
}

#[test]
fn two_runs_at_once_make_each_commit_once() {
    let Some(world) = World::new() else { return };
    for (minute, name) in (1..).zip(["A", "B", "C", "D", "E"]) {
        world.at(minute, &["remember", &format!("Note {name}"), &format!("The text of note {name}.")]).exits(0);
    }
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| world.commit(&[]))).collect();
        let runs: Vec<Run> = runs.into_iter().map(|run| run.join().expect("it ran")).collect();
        assert!(runs.iter().any(|run| run.code == 0), "{runs:?}");
    });
    world.commit(&[]).exits(0);
    assert_eq!(world.log("%s").len(), 5, "{:?}", world.log("%s"));
    assert_eq!(world.git(&["status", "--porcelain"]), "?? .gitignore");
}

#[test]
fn a_dry_run_lists_the_commits_and_changes_nothing() {
    let Some(world) = World::new() else { return };
    world.at(1, &["remember", "Port", "The port is 8443."]).exits(0);
    let (repository, tree) = (world.repository(), world.store.tree());
    let shown = world.commit(&["--dry-run"]).exits(0);
    assert!(shown.stdout.starts_with("Dry run, nothing is changed: 1 commit to make\n"), "{shown:?}");
    let json = world.commit_json(&["--dry-run"]);
    assert_eq!((&json["dry_run"], &json["commits"][0]["commit"]), (&json!(true), &Value::Null));
    assert_eq!((world.repository(), world.store.tree()), (repository, tree));
}

#[test]
fn what_was_committed_in_another_way_is_not_committed_again() {
    let Some(world) = World::new() else { return };
    world.at(1, &["remember", "Port", "The port is 8443."]).exits(0);
    world.at(2, &["edit", "facts/port", "--old", "8443", "--new", "9443"]).exits(0);
    world.git(&["add", "--all"]);
    world.git(&["commit", "--quiet", "--message", "By hand"]);
    world.commit(&[]).exits(0).prints("Nothing to commit\n");
    world.at(3, &["edit", "facts/port", "--old", "9443", "--new", "7443"]).exits(0);
    assert_eq!(count(&world.commit_json(&[]), "commits"), 1);
    world.at(4, &["edit", "facts/port", "--old", "7443", "--new", "6443"]).exits(0);
    world.put(&world.note("port"), "An editor wrote this.\n");
    world.git(&["commit", "--quiet", "--all", "--message", "By hand"]);
    world.commit(&[]).exits(0).prints("Nothing to commit\n");
    assert_eq!(world.git(&["status", "--porcelain"]), "");
}

#[test]
fn no_hook_runs_and_an_agent_a_merge_and_a_missing_work_tree_are_refused() {
    let Some(world) = World::new() else { return };
    world.at(1, &["remember", "Port", "The port is 8443."]).exits(0);
    let hooks = world.store.root.join(".git/hooks");
    fs::create_dir_all(&hooks).expect("made");
    for name in ["pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"] {
        let ran = world.home.join("ran");
        fs::write(hooks.join(name), format!("#!/bin/sh\ntouch '{}'\nexit 1\n", ran.display())).expect("written");
        #[cfg(unix)]
        fs::set_permissions(hooks.join(name), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    }
    world.at(2, &["--provenance", "agent", "commit"]).exits(3).complains("only a person may commit");
    let merging = world.store.root.join(".git/MERGE_HEAD");
    fs::write(&merging, "").expect("written");
    world.commit(&[]).exits(3).complains("a merge is going on");
    fs::remove_file(&merging).expect("removed");
    world.commit(&[]).exits(0);
    assert!(!world.home.join("ran").exists());
    assert_eq!(world.log("%s").len(), 1);
    let bare = Store::new();
    bare.run(&["commit"]).exits(3).complains("not in a git work tree").complains("git init");
    let mut missing = bare.command(&["--json", "commit"]);
    missing.env("PATH", &world.home);
    let error: Value = serde_json::from_str(&run(&mut missing, None).exits(3).stderr).expect("an object");
    assert!(error["error"]["message"].as_str().expect("text").starts_with("cannot run git"), "{error}");
}

#[cfg(unix)]
#[test]
fn no_setting_of_a_repository_runs_a_program() {
    use std::os::unix::fs::PermissionsExt;

    let Some(world) = World::new() else { return };
    world.at(1, &["remember", "Port", "The port is 8443."]).exits(0);
    world.put(".gitattributes", "* diff=evil\n");
    let marker = world.home.join("it-ran");
    let script = world.home.join("evil.sh");
    fs::write(&script, format!("#!/bin/sh\ntouch '{}'\n", marker.display())).expect("written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("executable");
    let script = script.to_str().expect("text");
    for (name, value) in [
        ("core.fsmonitor", script.to_string()),
        ("core.pager", script.to_string()),
        ("pager.log", script.to_string()),
        ("core.editor", script.to_string()),
        ("core.sshCommand", script.to_string()),
        ("core.hooksPath", world.home.display().to_string()),
        ("log.showSignature", "true".to_string()),
        ("gpg.program", script.to_string()),
        ("alias.log", format!("!{script}")),
        ("diff.external", script.to_string()),
        ("diff.evil.textconv", script.to_string()),
        ("diff.evil.command", script.to_string()),
        ("credential.helper", script.to_string()),
        ("format.pretty", "%H".to_string()),
        ("log.date", "relative".to_string()),
    ] {
        world.git(&["config", name, &value]);
    }
    assert_eq!(count(&world.commit_json(&[]), "commits"), 1);
    assert!(!marker.exists(), "the repository ran a program");
    // An object that is missing would be fetched by a program that the repository names.
    world.at(2, &["edit", "facts/port", "--old", "8443", "--new", "9443"]).exits(0);
    world.git(&["config", "extensions.partialClone", "origin"]);
    world.git(&["config", "core.repositoryFormatVersion", "1"]);
    world.git(&["config", "remote.origin.url", &format!("ext::{script}")]);
    world.git(&["config", "remote.origin.promisor", "true"]);
    world.git(&["config", "protocol.ext.allow", "always"]);
    for entry in fs::read_dir(world.store.root.join(".git/objects")).expect("objects").flatten() {
        if entry.file_name().len() == 2 {
            fs::remove_dir_all(entry.path()).expect("removed");
        }
    }
    let run = world.commit(&[]);
    assert_ne!(run.code, 0, "{run:?}");
    assert!(!marker.exists(), "the repository ran a program");
}

#[test]
fn the_folder_of_the_project_may_be_the_work_tree_and_head_may_be_detached() {
    let Some(world) = World::new() else { return };
    fs::remove_dir_all(world.store.root.join(".git")).expect("removed");
    world.at(1, &["remember", "Port", "The port is 8443."]).exits(0);
    world.at(2, &["write", "long_term", "- a fact for all projects"]).exits(0);
    let folder = world.store.memory.trim_end_matches('/').to_string();
    world.git(&["init", "--quiet", "--initial-branch=main", &folder]);
    let made = world.commit_json(&[]);
    assert_eq!((count(&made, "commits"), &made["outside"]), (1, &json!(1)), "{made}");
    assert_eq!(world.git(&["-C", &folder, "ls-tree", "-r", "--name-only", "HEAD"]), "facts/port.md");
    world.git(&["-C", &folder, "checkout", "--quiet", "--detach"]);
    world.at(3, &["edit", "facts/port", "--old", "8443", "--new", "9443"]).exits(0);
    assert_eq!(count(&world.commit_json(&[]), "commits"), 1);
    assert_eq!(world.git(&["-C", &folder, "log", "--oneline", "main"]).lines().count(), 1);
    assert_eq!(world.git(&["-C", &folder, "log", "--oneline", "HEAD"]).lines().count(), 2);
}

#[test]
fn settings_of_the_user_hide_no_commit_that_was_made() {
    let Some(world) = World::new() else { return };
    world.at(1, &["remember", "Port", "The port is 8443."]).exits(0);
    for (name, value) in [("trailer.separators", "="), ("grep.patternType", "fixed"), ("commit.gpgSign", "true")] {
        world.git(&["config", name, value]);
    }
    assert_eq!(count(&world.commit_json(&[]), "commits"), 1);
    // Were the commit not found, the note that is missing in git would look as if it had never been there.
    world.git(&["rm", "--quiet", "--cached", &world.note("port")]);
    world.git(&["-c", "commit.gpgSign=false", "commit", "--quiet", "--message", "Out"]);
    let made = world.commit_json(&[]);
    assert_eq!((count(&made, "commits"), &made["by_hand"]), (0, &json!([world.note("port")])), "{made}");
}
