//! Folders that were moved, cloned or unpacked: which memory they open, and what a person is told.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::hook::Hooks;
use crate::support::{Run, Store, run};

const REMOTE: &str = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = ";

/// A store with the memory of the project `work/api`, which has a remote.
fn with_memory() -> Store {
    let store = Store::new();
    store.run_in("work/api", &["remember", "Port", "Staging listens on port 8443."]).exits(0);
    has_remote(&store, "work/api", "git@example.org:Team/api.git");
    // The traits are recorded by the first run that finds memory without a record.
    let records = store.root.join(".saddlebag/projects");
    fs::remove_dir_all(records).expect("removed");
    store.run_in("work/api", &["write", "scratchpad", "- [ ] rotate the key"]).exits(0);
    store
}

fn has_remote(store: &Store, project: &str, url: &str) {
    let git = store.here.join(project).join(".git");
    fs::create_dir_all(&git).expect("made");
    fs::write(git.join("config"), format!("{REMOTE}{url}\n\tfetch = x\n")).expect("written");
}

/// Name of the only project in `projects/` that is not one of `others`.
fn name_of(store: &Store, others: &[&str]) -> String {
    let names = fs::read_dir(store.root.join("projects")).expect("projects").map(|entry| entry.unwrap().file_name());
    let mut names = names.map(|name| name.into_string().unwrap()).filter(|name| !others.contains(&name.as_str()));
    names.next().expect("a project")
}

/// The output of everything that reads memory, in a project.
fn all_that_is_read(store: &Store, project: &str) -> String {
    let commands: [&[&str]; 6] = [
        &["context"],
        &["recall", "staging port 8443"],
        &["search", "8443"],
        &["list", "--kind", "note"],
        &["list", "--kind", "file"],
        &["--json", "tools", "memory_search", r#"{"query":"staging port"}"#],
    ];
    commands.iter().map(|command| store.run_in(project, command).stdout).collect()
}

#[test]
fn a_fork_or_an_unpacked_archive_reads_and_writes_nothing_of_the_project_with_its_remote() {
    let store = with_memory();
    let api = name_of(&store, &[]);
    let before = store.tree();
    for (fork, url) in
        [("fork/api", "https://me:secret@EXAMPLE.org/Team/api"), ("unpacked/api-main", "git@example.org:Team/api.git")]
    {
        has_remote(&store, fork, url);

        let read = all_that_is_read(&store, fork);
        assert!(!read.contains("listens") && !read.contains("rotate"), "{read}");
        let status = store.run_in(fork, &["status"]).exits(0).stdout;
        let hint = format!("memory that is not read here: {api}, {}", store.here.join("work/api").display());
        assert!(status.contains(&hint) && status.contains("with the same git remote"), "{status}");
        assert!(status.contains(&format!("`saddlebag project {api}`")), "{status}");

        store.run_in(fork, &["remember", "Fork", "Of the fork."]).exits(0);
        store.run_in(fork, &["write", "scratchpad", "- [ ] of the fork"]).exits(0);
        store.run_in(fork, &["forget", "Port"]).exits(1);
        let after = store.tree();
        let of_api = |path: &&PathBuf| path.components().any(|part| part.as_os_str() == api.as_str());
        for path in before.keys().filter(of_api).filter(|path| !path.to_string_lossy().contains(".saddlebag")) {
            assert_eq!(before[path], after[path], "{}", path.display());
        }
        // Its own memory is there now, and the other folder still exists: no more hints.
        assert!(!store.run_in(fork, &["status"]).exits(0).stdout.contains("not read here"));
    }
    let records: String = fs::read_dir(store.root.join(".saddlebag/projects"))
        .expect("records")
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    assert!(!records.contains("secret") && !records.contains("example.org"), "{records}");
}

#[test]
fn a_person_links_a_folder_to_the_memory_of_another_and_unlinks_it() {
    let store = with_memory();
    let api = name_of(&store, &[]);
    has_remote(&store, "clone/api", "git@example.org:Team/api.git");
    let before = store.tree();

    store
        .run_in("clone/api", &["project", &api])
        .exits(3)
        .complains("standard input is not a terminal")
        .complains("--yes");
    let agent = ["--provenance", "agent", "project", &api, "--yes"];
    store.run_in("clone/api", &agent).exits(3).complains("only a person");
    store.run_in("clone/api", &["project", "nothing-00000000", "--yes"]).exits(1).complains("`project`");
    store.run_in("work/api", &["project", &api, "--yes"]).exits(2).complains("is the project of this folder");
    assert_eq!(store.tree(), before);

    store.run_in("clone/api", &["project", &api, "--yes"]).exits(0);
    let read = all_that_is_read(&store, "clone/api");
    assert!(read.contains("listens") && read.contains("rotate"), "{read}");
    assert!(!store.run_in("clone/api", &["status"]).exits(0).stdout.contains("not read here"));
    let path = store.run_in("clone/api", &["show", "--path", "scratchpad"]).exits(0).stdout;
    assert!(path.contains(&api), "{path}");
    store.run_in("clone/api", &["remember", "Clone", "Of the clone."]).exits(0);
    store.run_in("work/api", &["show", "Clone"]).exits(0);

    store.run_in("clone/api", &["project", "--undo"]).exits(0);
    assert!(!all_that_is_read(&store, "clone/api").contains("listens"));
    store.run_in("clone/api", &["project", "--undo"]).exits(1);
}

#[cfg(unix)]
#[test]
fn a_link_is_made_only_after_a_yes() {
    use crate::terminal::answering;
    for (typed, is_linked) in [("n\n", false), ("y\n", true)] {
        let store = with_memory();
        let api = name_of(&store, &[]);
        let command = store.project_command("clone/api", &["project", &api]);
        let Some(shown) = answering(command, Some(typed)) else { return };
        assert!(shown.contains("would read and change the memory of"), "{shown}");
        assert_eq!(all_that_is_read(&store, "clone/api").contains("listens"), is_linked, "{shown}");
    }
}

#[test]
fn the_memory_of_a_folder_that_was_moved_is_named_and_moved_after_it() {
    let store = with_memory();
    let api = name_of(&store, &[]);
    fs::create_dir(store.here.join("new")).expect("made");
    fs::rename(store.here.join("work/api"), store.here.join("new/service")).expect("moved");

    let status = store.run_in("new/service", &["status"]).exits(0).stdout;
    assert!(status.contains("which does not exist any more, with the same git remote"), "{status}");
    let listed = store.run_in("new/service", &["--json", "project"]).exits(0).json();
    assert_eq!((&listed["projects"][0]["name"], &listed["projects"][0]["is_gone"]), (&json!(api), &json!(true)));
    store.run_in("new/service", &["project", "--move", &api]).exits(3).complains("standard input is not a terminal");

    store.run_in("new/service", &["project", "--move", &api, "--yes"]).exits(0);

    let read = all_that_is_read(&store, "new/service");
    assert!(read.contains("listens") && read.contains("rotate"), "{read}");
    assert!(!store.root.join("projects").join(&api).exists());
    let listed = store.run_in("new/service", &["project"]).exits(0).stdout;
    assert_eq!(listed.lines().count(), 1, "{listed}");
    assert!(listed.contains("new/service") && listed.contains("(this folder)"), "{listed}");
    assert!(!store.run_in("new/service", &["status"]).exits(0).stdout.contains("not read here"));
    // A new folder at the old place begins with nothing.
    assert!(!all_that_is_read(&store, "work/api").contains("listens"));
}

#[test]
fn memory_is_not_moved_over_other_memory() {
    let store = with_memory();
    let api = name_of(&store, &[]);
    store.run_in("other", &["remember", "Other", "Of the other."]).exits(0);
    let before = store.tree();
    store.run_in("other", &["project", "--move", &api, "--yes"]).exits(3).complains("has its own memory");
    assert_eq!(store.tree(), before);
}

#[test]
fn the_start_of_a_session_says_that_memory_exists_and_shows_nothing_of_it() {
    let hooks = Hooks::with_memory();
    let api = name_of(&hooks.store, &[]);
    let moved = hooks.store.here.join("moved/tax");
    fs::create_dir_all(moved.join(".git")).expect("made");
    let begin = |folder: &Path, session: &str| -> Run {
        let event =
            json!({"hook_event_name": "SessionStart", "session_id": session, "source": "startup", "cwd": folder});
        let mut command = hooks.command(&["--client", "claude-code"]);
        run(command.current_dir(folder), Some(event.to_string().as_bytes())).exits(0)
    };

    let told = begin(&moved, "one").stdout;
    assert!(told.contains(&format!("a person can run `saddlebag project {api}`")), "{told}");
    assert!(!told.contains("Rounding") && !told.contains("tax table"), "{told}");
    assert!(!begin(&hooks.project, "two").stdout.contains("project link"));
}

#[test]
fn the_memory_of_a_moved_folder_is_offered_and_moved_although_a_session_was_opened_in_the_folder() {
    let hooks = Hooks::with_memory();
    let tax = name_of(&hooks.store, &[]);
    let moved = hooks.store.here.join("moved/tax");
    let event = |folder: &Path, fields: serde_json::Value| -> Run {
        let mut event = json!({"session_id": "one", "cwd": folder});
        event.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
        let mut command = hooks.command(&["--client", "claude-code"]);
        run(command.current_dir(folder), Some(event.to_string().as_bytes())).exits(0)
    };
    let start = json!({"hook_event_name": "SessionStart", "source": "startup"});
    event(&hooks.project, start.clone());
    event(&hooks.project, json!({"hook_event_name": "UserPromptSubmit", "prompt": "Before the folder was moved."}));
    fs::create_dir(hooks.store.here.join("moved")).expect("made");
    fs::rename(&hooks.project, &moved).expect("moved");

    let told = event(&moved, start).stdout;
    assert!(told.contains(&format!("a person can run `saddlebag project --move {tax}`")), "{told}");
    event(&moved, json!({"hook_event_name": "UserPromptSubmit", "prompt": "After the folder was moved."}));
    fs::write(moved.join("rates.py"), "rate = 19\n").expect("written");
    let edit = json!({"file_path": moved.join("rates.py"), "old_string": "a", "new_string": "b"});
    event(
        &moved,
        json!({"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_input": edit, "tool_response": {}}),
    );
    event(&moved, json!({"hook_event_name": "SessionEnd", "reason": "exit"}));
    let status = hooks.store.run_in("moved/tax", &["status"]).exits(0).stdout;
    assert!(status.contains(&format!("run `saddlebag project --move {tax}`")), "{status}");
    let own = name_of(&hooks.store, &[tax.as_str()]);
    let notes = |project: &str| -> Vec<String> {
        let folder = hooks.store.root.join("projects").join(project).join("sessions");
        let listed = fs::read_dir(folder).into_iter().flatten();
        let mut texts: Vec<String> = listed.map(|note| fs::read_to_string(note.unwrap().path()).unwrap()).collect();
        texts.sort();
        texts
    };
    let written = notes(&own);
    assert!(!written.is_empty(), "the session has a note");
    hooks.store.run_in("moved/tax", &["project", "--move", &tax, "--yes"]).exits(0);
    assert!(written.iter().all(|note| notes(&own).contains(note)), "{written:?}");

    hooks.store.run_in("moved/tax", &["show", "Rounding of the tax report"]).exits(0);
    // The session was in both folders, and lost nothing.
    let state = hooks.everything();
    assert!(state.contains("Before the folder was moved.") && state.contains("After the folder was moved."), "{state}");
    assert!(!hooks.store.root.join("projects").join(&tax).exists());
}
