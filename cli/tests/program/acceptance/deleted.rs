//! What was deleted stays deleted, and a correction answers, each after everything derived is gone.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::hook::{Hooks, claude, text_of};
use crate::support::Store;

const VALUE: &str = "The vault code is zebra-7741-quartz.";
const TOKEN: &str = "zebra-7741-quartz";
const SIBLING: &str = "The vault key hangs in the vault office.";
const QUESTION: &str = "what is the vault code of the vault?";

/// Writes a source of two entries: the value and its sibling.
fn write_source(store: &Store) -> String {
    let source = store.here.join("source/core");
    fs::create_dir_all(&source).expect("made");
    for (key, text) in [("code", VALUE), ("office", SIBLING)] {
        fs::write(source.join(format!("{key}.md")), format!("---\nkey: {key}\n---\n\n{text}\n")).expect("written");
    }
    store.here.join("source").to_str().expect("text").to_string()
}

/// Returns what the hook of a new session brings for the question.
fn brought(hooks: &Hooks, session: &str) -> String {
    let start = hooks.send(&[], &claude(session, "SessionStart", &json!({ "source": "startup" })));
    let prompt = hooks.send(&[], &claude(session, "UserPromptSubmit", &json!({ "prompt": QUESTION })));
    [start, prompt].iter().filter(|run| !run.stdout.is_empty()).map(|run| text_of(&run.json()).to_string()).collect()
}

/// Everything that shows memory: search, recall, the block, prompts, lists, an export.
fn shown(hooks: &Hooks, session: &str) -> String {
    let mut shown = brought(hooks, session);
    for command in [
        &["recall", QUESTION][..],
        &["search", "vault"],
        &["context", "--entries"],
        &["list"],
        &["memory", "export", "--out", "-", "--to", "jsonl"],
    ] {
        shown.push_str(&hooks.memory(command).stdout);
    }
    shown
}

#[track_caller]
fn is_gone(hooks: &Hooks, session: &str) {
    let shown = shown(hooks, session);
    assert!(!shown.contains(TOKEN), "{session}: {shown}");
    for of_sibling in [&["recall", "vault office"][..], &["memory", "export", "--out", "-", "--to", "jsonl"]] {
        let found = hooks.memory(of_sibling).stdout;
        assert!(found.contains("hangs in the vault office"), "{session}: the sibling is found: {found}");
    }
}

/// Adds so many notes to each project that the program writes an index.
fn fill(store: &Store) {
    for project in fs::read_dir(store.root.join("projects")).expect("projects").flatten() {
        let folder = project.path().join("notes");
        fs::create_dir_all(&folder).expect("made");
        for number in 0..130 {
            fs::write(folder.join(format!("filler-{number}.md")), format!("# Filler {number}\n")).expect("written");
        }
    }
}

/// Removes what the program derives from the files.
fn remove_index(store: &Store) {
    fn remove(folder: &Path, removed: &mut u32) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_name().to_str() {
                Some("index") => {
                    fs::remove_dir_all(&path).expect("removed");
                    *removed += 1;
                }
                _ => remove(&path, removed),
            }
        }
    }
    let mut removed = 0;
    remove(&store.root, &mut removed);
    assert!(removed > 0, "there was an index");
}

fn files_with(folder: &Path, token: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.append(&mut files_with(&path, token));
        } else if String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).contains(token) {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Acceptance (the deletion sequence; deletion, reindex and restart; deletion, copies; correction, retraction).
#[test]
fn what_was_deleted_stays_deleted_when_its_source_is_read_again() {
    let hooks = Hooks::with_memory();
    let store = &hooks.store;
    fill(store);
    let source = write_source(store);
    let copy = store.here.join("copy.jsonl").to_str().expect("text").to_string();
    hooks.memory(&["memory", "import", &source, "--trust"]).exits(0);
    let before = shown(&hooks, "before");
    assert!(before.matches(TOKEN).count() >= 4, "the control: {before}");
    assert!(brought(&hooks, "control").contains(TOKEN), "the control: a prompt brings it");
    fs::write(&copy, hooks.memory(&["memory", "export", "--out", "-", "--to", "jsonl"]).exits(0).stdout)
        .expect("written");
    assert!(fs::read_to_string(&copy).expect("read").contains(TOKEN), "the control: the export has it");

    hooks.memory(&["forget", "code"]).exits(0);
    is_gone(&hooks, "forgotten");
    hooks.memory(&["memory", "import", &source, "--trust"]).exits(3);
    is_gone(&hooks, "imported again");
    remove_index(store);
    is_gone(&hooks, "indexed again");
    hooks.memory(&["memory", "import", &copy, "--from", "jsonl", "--trust"]).exits(0);
    is_gone(&hooks, "an old export");
    let list = hooks.memory(&["history", "-n", "99"]).exits(0).stdout;
    assert!(list.contains("forget") && !list.contains(TOKEN), "{list}");

    // Until here it can be undone. From here on, nothing of the program has it, and nothing brings it back.
    hooks.memory(&["memory", "reject", "code", "--for-good"]).exits(0);
    hooks.memory(&["expunge", TOKEN, "--text", "--yes"]).exits(0);
    assert_eq!(files_with(&store.root, TOKEN), [""; 0]);
    assert_eq!(files_with(&hooks.state(), TOKEN), [""; 0]);
    let imported = hooks.memory(&["--json", "memory", "import", &source, "--trust"]).json();
    assert_eq!(imported["rejected"].as_array().map(Vec::len), Some(1), "{imported}");
    hooks.memory(&["memory", "import", &copy, "--from", "jsonl", "--trust"]);
    remove_index(store);
    is_gone(&hooks, "expunged");
    assert_eq!(files_with(&store.root, TOKEN), [""; 0]);
    let list = hooks.memory(&["op", "log", "-n", "99"]).exits(0).stdout;
    assert!(list.contains("expunge") && !list.contains(TOKEN), "{list}");
}

/// Acceptance (deletion, copies): the second project reads what was written for all.
#[test]
fn what_was_shared_is_gone_in_the_second_project_which_keeps_its_own() {
    let store = Store::new();
    store.run(&["--user", "remember", "Vault code", VALUE]).exits(0);
    let second = store.here.join("second");
    fs::create_dir_all(&second).expect("made");
    let second = second.to_str().expect("text");
    store.run(&["--project", second, "remember", "Vault office", SIBLING]).exits(0);
    fill(&store);
    let recalled = || store.run(&["--project", second, "recall", QUESTION]).stdout;
    assert!(recalled().contains(TOKEN), "the control: the second project reads it");
    store.run(&["--user", "forget", "Vault code"]).exits(0);
    for _ in 0..2 {
        let found = recalled();
        assert!(!found.contains(TOKEN) && found.contains("hangs in the vault office"), "{found}");
        remove_index(&store);
    }
}

/// Acceptance (evidence, deleted source): the entries that were made of a source go with it, and those of another source stay.
#[test]
fn rejecting_a_source_takes_its_entries_and_leaves_those_of_another() {
    let store = Store::new();
    for (source, word) in [("first", "copper"), ("second", "nickel")] {
        let folder = store.here.join(source);
        fs::create_dir_all(folder.join("core")).expect("made");
        let text = format!("---\nkey: {source}\nsource: {source}\n---\n\nThe pipe is {word}.\n");
        fs::write(folder.join("core/metal.md"), text).expect("written");
        store.run(&["memory", "import", folder.to_str().expect("text")]).exits(0);
    }
    let pending = |source: &str| store.run(&["list", "--pending", "--from", source]).stdout;
    assert!(pending("first").contains("first") && pending("second").contains("second"), "the control");
    store.run(&["memory", "reject", "--from", "first"]).exits(0);
    assert!(!pending("first").contains("copper"));
    assert!(pending("second").contains("second"));
    let found = store.run(&["recall", "which metal is the pipe"]).stdout;
    assert!(found.contains("nickel") && !found.contains("copper"), "{found}");
}

/// Acceptance (correction, reindex): five shapes of a correction.
#[test]
fn a_correction_of_each_shape_answers_after_the_index_is_made_anew() {
    let store = Store::new();
    let answers = |question: &str, now: &str, before: &str| {
        for _ in 0..2 {
            let found = store.run(&["recall", question, "--limit", "1"]).stdout;
            assert!(found.contains(now) && !found.contains(before), "{question}: {found}");
            remove_index(&store);
        }
    };
    let was = |name: &str, text: &str| {
        let shown = store.run(&["show", name]).exits(0).stdout;
        assert!(shown.contains(text), "{name}: {shown}");
    };

    // Replacement, and a part of a record.
    store.run(&["remember", "Staging", "Staging listens on port 8080.\n\nStaging runs in Oslo."]).exits(0);
    fill(&store);
    store.run(&["edit", "Staging", "--old", "port 8080", "--new", "port 8443"]).exits(0);
    answers("staging port", "8443", "8080");
    answers("where does staging run", "Oslo", "8080");
    was("Staging@2", "8080");

    // Reversal: the newer decision is taken back by a third one.
    store.run(&["remember", "Logs as text", "Logs are written as text."]).exits(0);
    let first = store.printed("facts/logs-as-text.md");
    store.run(&["remember", "Logs as JSON", "Logs are written as JSON.", "--supersedes", &first]).exits(0);
    answers("how are logs written", "JSON", "as text.");
    let second = store.printed("facts/logs-as-json.md");
    store.run(&["remember", "Plain logs", "Logs are written in plain lines again.", "--supersedes", &second]).exits(0);
    answers("how are logs written", "plain lines", "JSON");
    was("Logs as JSON", "JSON");

    // A limited period: while it lasts, the exception answers; after it, the rule.
    store.run(&["remember", "Freeze rule", "Deploys are frozen on Fridays."]).exits(0);
    let rule = store.printed("facts/freeze-rule.md");
    let exception = ["remember", "Freeze in December", "Deploys are frozen until January.", "--supersedes", &rule];
    store.run(&exception).exits(0);
    answers("when are deploys frozen", "January", "Fridays");
    store.run(&["forget", "Freeze in December"]).exits(0);
    answers("when are deploys frozen", "Fridays", "January");
    was("freeze-in-december@2", "January");

    // Retraction without a new value.
    store.run(&["remember", "Owner", "The gateway is owned by Imke."]).exits(0);
    store.run(&["forget", "Owner"]).exits(0);
    remove_index(&store);
    let found = store.run(&["recall", "who owns the gateway"]).stdout;
    assert!(!found.contains("Imke"), "{found}");
    was("owner@2", "Imke");
}
