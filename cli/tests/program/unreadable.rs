//! Files of memory that cannot be opened are named, and fail nothing else.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use serde_json::json;

use crate::hook::{Hooks, claude, text_of};
use crate::support::{Store, TODAY};

/// Puts something that cannot be opened in the place of a file. Returns the reason that messages give; `None` if this
/// user can open it all the same.
fn spoil(store: &Store, file: &str, way: &str) -> Option<&'static str> {
    let path = store.file(file);
    fs::create_dir_all(path.parent().expect("a parent")).expect("made");
    match way {
        "folder" => fs::create_dir(&path).map(|()| Some("Is a directory")),
        "pipe" => {
            assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo runs").success());
            Ok(Some("not a regular file"))
        }
        "link" => symlink("/etc/hostname", &path).map(|()| Some("goes through a symbolic link")),
        _ => {
            fs::write(&path, "text").expect("written");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o0)).expect("changed");
            Ok(fs::read(&path).err().map(|_| "ermission denied"))
        }
    }
    .expect("made")
}

#[test]
fn a_file_of_memory_that_cannot_be_opened_is_named_and_fails_nothing_else() {
    for way in ["folder", "pipe", "link", "mode"] {
        for file in ["MEMORY.md", "SCRATCHPAD.md", TODAY, "daily/2026-05-29.md"] {
            let store = Store::new();
            store.put("facts/port.md", "---\ntags: [net]\n---\n\n# Port\n\nThe port is 8443.\n");
            store.run(&["remember", "--key", "host", "The host is example.org"]).exits(0);
            let Some(reason) = spoil(&store, file, way) else { continue };
            let path = store.printed(file);
            // Only those of this day are counted, and a folder of an earlier day may be one of notes.
            let is_counted = file != "daily/2026-05-29.md";
            if !is_counted && way == "folder" {
                continue;
            }
            let status = store.run(&["--json", "status"]).exits(0).json();
            let named = status["skipped"].as_array().expect("a list").iter().filter(|skipped| skipped["path"] == path);
            let reasons: Vec<&str> = named.filter_map(|skipped| skipped["reason"].as_str()).collect();
            assert!(reasons.len() == 1 && (!is_counted || reasons[0].contains(reason)), "{way} {file}: {status}");
            assert_eq!(status["entries"], json!(1), "{way} {file}: {status}");
            assert!(status["notes"].as_u64() >= Some(1), "{way} {file}: {status}");
            store.run(&["status"]).exits(0).complains(&format!("skipped {path}: "));
            let slash = store.run(&["tools", "/memory", "status"]).exits(0).stdout;
            assert!(!is_counted || slash.contains(&format!("skipped {path}: ")), "{way} {file}: {slash}");
            for (arguments, expected) in [
                (&["context", "--entries"][..], "The host is example.org"),
                (&["recall", "port"], "8443"),
                (&["search", "8443"], "facts/port.md"),
                (&["list", "--kind", "note"], "facts/port.md"),
                (&["list", "--tags"], ""),
                (&["list", "--dead-links"], ""),
                (&["list"], "facts/port.md"),
                (&["list", "--pending"], ""),
                (&["list", "--kind", "entry"], "host"),
            ] {
                let run = store.run(arguments).exits(0);
                assert!(run.stdout.contains(expected), "{way} {file} {arguments:?}: {run:?}");
            }
        }
    }
}

#[test]
fn a_session_begins_and_tools_answer_beside_a_log_that_cannot_be_opened() {
    for way in ["folder", "pipe"] {
        let hooks = Hooks::with_memory();
        let project = fs::read_dir(hooks.store.root.join("projects")).expect("listed").next().expect("one");
        let project = format!("projects/{}", project.expect("read").file_name().to_str().expect("text"));
        let log = format!("{project}/{TODAY}");
        spoil(&hooks.store, &log, way);
        let begun = hooks.send(&["SessionStart"], &claude("s", "SessionStart", &json!({ "source": "startup" })));
        let text = begun.exits(0).json();
        let named = "Daily log 2026-05-30 (today): could not be read";
        assert!(text_of(&text).contains(named), "the block names it: {text}");
        hooks.memory(&["status"]).exits(0).complains(&format!("skipped {log}: "));
        let question = json!({ "query": "port" }).to_string();
        hooks.memory(&["tools", "memory_search", &question]).exits(0);
    }
}

#[test]
fn faults_of_the_configuration_have_the_messages_of_the_store() {
    for way in ["folder", "pipe", "link", "mode"] {
        let store = Store::notebook();
        store.put("facts/port.md", "# Port\n\nThe port is 8443.\n");
        let Some(reason) = spoil(&store, ".zk/config.toml", way) else { continue };
        for arguments in [&["recall", "port"][..], &["list", "--kind", "note"], &["remember", "A", "b"]] {
            let before = store.tree();
            let run = store.run(arguments);
            assert!(run.stderr.contains("error: .zk/config.toml: "), "{way} {arguments:?}: {run:?}");
            assert!(run.stderr.contains(reason), "{way} {arguments:?}: {run:?}");
            assert_eq!((run.code, run.stderr.contains("  help: ")), (3, true), "{run:?}");
            assert_eq!(store.tree(), before, "{way} {arguments:?} changed something");
        }
    }
}
