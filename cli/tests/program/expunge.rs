//! `saddlebag expunge`: after it, no file of the program has the text, and it says what it cannot reach.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

#[cfg(feature = "server")]
use crate::mcp::client::Pipes;
use crate::support::{Store, run, tree_of};

const VALUE: &str = "zebra-7741-quartz";

/// Returns the files of the store, of the project and of the program's state that have the value. Contents of the history are
/// compressed, so every version is printed too.
fn holders(store: &Store) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for folder in [&store.root, &store.here.with_file_name("state")] {
        search(folder, &mut found);
    }
    let operations = store.run(&["history", "-n", "1000"]).stdout;
    if operations.contains(VALUE) {
        found.insert("history".into());
    }
    for name in ["facts/port", "facts/safe", "scratchpad", "MEMORY.md", "k"] {
        for version in 1..9 {
            if store.run(&["show", &format!("{name}@{version}")]).stdout.contains(VALUE) {
                found.insert(format!("{name}@{version}"));
            }
        }
    }
    found
}

fn search(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().expect("a kind").is_dir() {
            search(&path, found);
        } else if fs::read(&path).is_ok_and(|bytes| bytes.windows(VALUE.len()).any(|part| part == VALUE.as_bytes())) {
            found.insert(path.display().to_string());
        }
    }
}

/// A store in which the value is in a note with versions, an entry, long-term memory, a backup and the state of a session.
fn filled() -> Store {
    let store = Store::new();
    store.run(&["remember", "Port", &format!("The port is {VALUE}.\n\nsibling-line")]).exits(0);
    store.run(&["remember", "Safe", "harmless sibling-line"]).exits(0);
    store.run(&["edit", "facts/port", "--old", "The port", "--new", "Our port"]).exits(0);
    store.run(&["remember", "--key", "k", &format!("entry {VALUE}")]).exits(0);
    store.run(&["write", "long_term", &format!("- shared {VALUE}")]).exits(0);
    store.run(&["write", "scratchpad", &format!("- [ ] {VALUE}"), "--reason", &format!("due to {VALUE}")]).exits(0);
    store.put("MEMORY.bak", format!("- older {VALUE}\n"));
    let prompt = json!({
        "session_id": "s",
        "transcript_path": "/home/ada/.claude/projects/-tax/x.jsonl",
        "cwd": store.here,
        "hook_event_name": "UserPromptSubmit",
        "prompt": format!("where is {VALUE}, and which port?"),
    });
    store.run_with(&["hook", "prompt"], prompt.to_string().as_bytes()).exits(0);
    store
}

fn paths(places: &Value) -> Vec<String> {
    let path = |place: &Value| place["path"].as_str().expect("a path").to_string();
    places.as_array().expect("places").iter().map(path).collect()
}

#[test]
fn a_dry_run_lists_every_place_and_yes_leaves_none() {
    let store = filled();
    assert!(store.run(&["recall", VALUE]).exits(0).stdout.contains(VALUE), "the value is found before");
    let before = store.tree();
    let dry = store.run(&["expunge", VALUE]).exits(0).complains("--yes removes it");
    assert!(dry.stdout.starts_with("Dry run") && dry.stdout.contains("facts/port.md"), "{dry:?}");
    for unreachable in ["git history", "exports", "other machines", "--trace"] {
        assert!(dry.stderr.contains(unreachable), "{unreachable}: {dry:?}");
    }
    assert_eq!(store.tree(), before);
    let done = store.run(&["--json", "redact", VALUE, "--yes"]).exits(0).json();
    assert_eq!((done["left"].clone(), done["dry_run"].clone()), (json!([]), json!(false)), "{done}");
    let listed = paths(&done["places"]);
    for path in ["facts/port.md", "MEMORY.md", "MEMORY.bak", ".jsonl", ".log", "SCRATCHPAD.md", "k.md"] {
        assert!(listed.iter().any(|listed| listed.ends_with(path)), "{path}: {listed:?}");
    }
    assert_eq!(holders(&store), BTreeSet::new());
    assert!(!store.run(&["recall", VALUE]).stdout.contains("port is"));
    let sibling = store.run(&["show", "facts/port"]).exits(0).stdout;
    assert!(sibling.contains("Our port is (expunged).") && sibling.contains("sibling-line"), "{sibling}");
    let log = store.run(&["op"]).exits(0).stdout;
    let digest = done["digests"][0].as_str().expect("a digest");
    assert!(log.contains("expunge") && log.contains(digest), "{log}");
    store.run(&["expunge", VALUE]).exits(1).complains("").prints("Nothing has the text\n");
}

#[test]
fn copies_in_other_projects_and_of_other_agents_go_too() {
    let store = filled();
    store.run_in("other", &["remember", "Copied", &format!("{VALUE} in a second project, sibling-line")]).exits(0);
    store.run(&["--agent", "second", "remember", "--key", "x", &format!("{VALUE} of a second agent")]).exits(0);
    store.run(&["--user", "remember", "All", &format!("{VALUE} for all")]).exits(0);
    store.run(&["expunge", VALUE, "--yes"]).exits(0);
    assert_eq!(holders(&store), BTreeSet::new());
    let other = store.run_in("other", &["recall", "sibling"]).exits(0).stdout;
    assert!(other.contains("(expunged) in a second project"), "{other}");
    let versions = store.run_in("other", &["history", "Copied", "-p"]).stdout;
    assert!(!versions.contains(VALUE), "{versions}");
}

#[test]
fn an_old_export_is_named_as_out_of_reach_and_brings_nothing_back_by_itself() {
    let store = filled();
    let export = store.here.join("old.tar");
    store.run(&["memory", "export", "--out", export.to_str().expect("text")]).exits(0);
    store.run(&["expunge", VALUE, "--yes"]).exits(0).complains("exports");
    assert!(export.exists());
    store.run(&["recall", "port"]);
    store.run(&["context"]).exits(0);
    assert_eq!(holders(&store), BTreeSet::new());
}

#[test]
fn a_name_removes_the_item_and_text_forces_the_text() {
    let store = Store::new();
    store.run(&["remember", "Port", &format!("first {VALUE}")]).exits(0);
    store.run(&["edit", "facts/port", "--old", "first", "--new", "second"]).exits(0);
    store.run(&["remember", "Other", "A line about Port."]).exits(0);
    let dry = store.run(&["--json", "expunge", "Port", "--text"]).exits(0).json();
    assert_eq!(dry["item"], Value::Null);
    let dry = store.run(&["--json", "expunge", "Port"]).exits(0).json();
    assert!(dry["item"].as_str().expect("an item").ends_with("facts/port.md"), "{dry}");
    store.run(&["expunge", "Port", "--yes"]).exits(0);
    assert!(!store.file("facts/port.md").exists() && !store.file("facts/port.bak").exists());
    assert_eq!(holders(&store), BTreeSet::new());
    assert!(store.run(&["show", "facts/other"]).exits(0).stdout.contains("about Port"));
    store.refuses(&["expunge", "abc", "--yes"], 2, "fewer than 4 characters");
    store.refuses(&["--provenance", "agent", "expunge", "about Port", "--yes"], 3, "only a person");
}

#[test]
fn the_title_of_a_forgotten_note_means_the_note() {
    let store = Store::new();
    // One is kept by the history alone, the other in a backup beside it.
    for (title, name) in [("Door code", "door-code"), ("Alarm", "alarm")] {
        store.run(&["remember", title, &format!("It is {VALUE}.")]).exits(0);
        store.run(&["forget", title]).exits(0);
        if title == "Alarm" {
            store.put(&format!("facts/{name}.bak"), format!("# Alarm\n\nIt is {VALUE}.\n"));
        }
    }
    store.run(&["remember", "Copy", &format!("A copy: It is {VALUE}.")]).exits(0);
    for (title, name) in [("door CODE", "facts/door-code.md"), ("Alarm", "facts/alarm.md")] {
        let dry = store.run(&["--json", "expunge", title]).exits(0).json();
        assert!(dry["item"].as_str().is_some_and(|item| item.ends_with(name)), "{dry}");
        store.run(&["expunge", title, "--yes"]).exits(0);
    }
    store.run(&["remember", "--key", "gate", &format!("The gate: {VALUE}")]).exits(0);
    store.run(&["forget", "gate"]).exits(0);
    let dry = store.run(&["--json", "expunge", "gate"]).exits(0).json();
    assert!(dry["item"].as_str().is_some_and(|item| item.ends_with("core/gate.md")), "{dry}");
    store.run(&["expunge", "gate", "--yes"]).exits(0);
    store.run(&["remember", "Old name", &format!("A name of {VALUE}")]).exits(0);
    store.run(&["move", "Old name", "New name"]).exits(0);
    store.run(&["forget", "New name"]).exits(0);
    store.run(&["expunge", "New name", "--yes"]).exits(0);
    assert_eq!(holders(&store), BTreeSet::new());
    let listed = store.run(&["list", "--forgotten"]).stdout;
    assert!(!listed.contains("oor code") && !listed.contains("Alarm"), "{listed}");
}

#[test]
fn an_item_takes_no_other_item_with_it() {
    let store = Store::new();
    // Another note had the path before, and lives on under another.
    store.run(&["remember", "Alpha", "the body of the moved note"]).exits(0);
    store.run(&["move", "Alpha", "Beta"]).exits(0);
    store.run(&["remember", "Alpha", &format!("new {VALUE}")]).exits(0);
    store.run(&["expunge", "Alpha", "--yes"]).exits(0);
    assert_eq!(holders(&store), BTreeSet::new());
    assert!(store.run(&["show", "Beta@2"]).exits(0).stdout.contains("the body of the moved note"));
    // The name in the middle of a chain, and a name that a note had until a move was undone.
    store.run(&["remember", "First", "a kangaroo"]).exits(0);
    store.run(&["move", "First", "Middle"]).exits(0);
    store.run(&["move", "Middle", "Last"]).exits(0);
    store.run(&["remember", "Middle", &format!("new {VALUE}")]).exits(0);
    store.run(&["expunge", "Middle", "--yes"]).exits(0);
    assert!(store.run(&["show", "Last@3"]).exits(0).stdout.contains("a kangaroo"));
    store.run(&["move", "Last", "Undone"]).exits(0);
    store.run(&["undo"]).exits(0);
    store.run(&["expunge", "Undone", "--yes"]);
    assert!(store.run(&["show", "Last"]).exits(0).stdout.contains("a kangaroo"));
    // A note for all projects is not a text to remove from this one.
    store.run_in("p", &["--user", "remember", "House rules", "No shoes inside."]).exits(0);
    store.run_in("p", &["remember", "About", "The House rules are kept."]).exits(0);
    store.run_in("p", &["expunge", "House rules", "--yes"]).exits(3).complains("--user expunges the item");
    assert!(store.run_in("p", &["show", "About"]).exits(0).stdout.contains("House rules"));
    store.run_in("p", &["history", "House rules"]).exits(3).complains("--user");
    store.run_in("p", &["--user", "forget", "House rules"]).exits(0);
    store.run_in("p", &["expunge", "House rules", "--yes"]).exits(3).complains("--user expunges the item");
    store.run_in("p", &["--user", "expunge", "House rules", "--yes"]).exits(0);
    store.run_in("p", &["show", "House rules"]).exits(1);
}

#[test]
fn what_is_left_is_named_and_the_exit_code_is_1() {
    let store = Store::new();
    store.run(&["remember", VALUE, "text"]).exits(0);
    let left = store.run(&["expunge", VALUE, "--text", "--yes"]).exits(1).complains("`move`");
    assert!(left.stdout.contains("still in 1 place in 1 file"), "{left:?}");
    store.run(&["move", &format!("facts/{VALUE}"), "Other"]).exits(0);
    store.run(&["expunge", VALUE, "--text", "--yes"]).exits(0);
    assert_eq!(holders(&store), BTreeSet::new());
}

#[test]
fn lines_of_the_programs_own_log_go() {
    let store = Store::new();
    store.run(&["remember", "Port", VALUE]).exits(0);
    let state = store.here.with_file_name("state").join("saddlebag");
    fs::create_dir_all(&state).expect("made");
    let line = |message: &str| json!({ "time": "2026-05-30T00:00:00Z", "code": "x", "message": message }).to_string();
    fs::write(state.join("hook.log"), format!("{}\n{}\n", line(VALUE), line("kept"))).expect("written");
    store.run(&["expunge", VALUE, "--yes"]).exits(0);
    assert_eq!(holders(&store), BTreeSet::new());
    assert!(fs::read_to_string(state.join("hook.log")).expect("read").contains("kept"));
}

#[cfg(feature = "server")]
#[test]
fn a_server_that_runs_meanwhile_does_not_bring_it_back() {
    let store = filled();
    let mut client = Pipes::start(&store, &[]).open();
    let found = client.call("mem_recall", json!({ "query": VALUE }));
    assert!(found.to_string().contains("port is"), "the server has read it: {found}");
    run(&mut store.command(&["expunge", VALUE, "--yes"]), None).exits(0);
    let found = client.call("mem_recall", json!({ "query": VALUE }));
    assert!(!found.to_string().contains("port is"), "{found}");
    let written = client.call("mem_remember", json!({ "title": "Later", "content": "a later note, sibling-line" }));
    assert_ne!(written["isError"], true, "{written}");
    let _ = client.call("mem_undo", json!({}));
    let found = client.call("mem_recall", json!({ "query": "sibling-line" }));
    assert!(found.to_string().contains("sibling-line"), "{found}");
    drop(client);
    assert_eq!(holders(&store), BTreeSet::new());
}

#[test]
fn redo_goes_past_what_was_expunged() {
    let store = Store::new();
    store.run(&["remember", "Kept", "Text that stays."]).exits(0);
    store.run(&["remember", "Gone", "The password is hunter2-hunter2."]).exits(0);
    store.run(&["undo"]).exits(0);
    store.run(&["undo"]).exits(0);
    store.run(&["expunge", "Text that stays", "--yes"]).exits(0);
    // The last undo cannot be taken back. The previous undo can.
    let made = store.run(&["redo"]).exits(0);
    assert!(made.stdout.contains("Gone") || made.stdout.contains("gone.md"), "{made:?}");
    assert!(store.run(&["show", "Gone"]).exits(0).stdout.contains("hunter2"));
    store.run(&["show", "Kept"]).exits(1);
}

#[test]
fn exports_lose_the_text_in_each_form() {
    const TEXT: &str = "the \"pass\" is <tango>";
    let store = Store::new();
    store.run(&["remember", "--key", "login", TEXT]).exits(0);
    store.run(&["remember", "--key", "other", "Text that stays."]).exits(0);
    store.run(&["remember", "Login", TEXT]).exits(0);
    let place = |name: &str| store.here.with_file_name(name).display().to_string();
    store.run(&["memory", "export", "--out", &place("own")]).exits(0);
    store.run(&["memory", "export", "--to", "jsonl", "--out", &place("all.jsonl")]).exits(0);
    store.run(&["ui", "--out", &place("page.html")]).exits(0);
    let has_text = || {
        let mut bytes = fs::read(place("all.jsonl")).expect("an export");
        bytes.extend(fs::read(place("page.html")).expect("a page"));
        bytes.extend(tree_of(&store.here.with_file_name("own")).into_values().flatten());
        let text = String::from_utf8(bytes).expect("text");
        (text.matches("tango").count(), text.contains("Text that stays."))
    };
    let (before, _) = has_text();
    assert!(before >= 3, "{before}");
    let listed = store.run(&["expunge", TEXT]).exits(0).stdout;
    for name in ["own", "all.jsonl", "page.html"] {
        assert!(listed.contains(&place(name)), "{listed}");
    }
    assert_eq!(has_text().0, before);
    let done = store.run(&["expunge", TEXT, "--yes"]).exits(0).stdout;
    assert_eq!(has_text(), (0, true), "{done}");
    let lines = fs::read_to_string(place("all.jsonl")).expect("an export");
    for line in lines.lines() {
        serde_json::from_str::<serde_json::Value>(line).expect("JSON");
    }
    // A text of its own that only looks the same in JSON, and files that somebody else has written or changed.
    store.run(&["remember", "--key", "lines", "et\nora"]).exits(0);
    store.run(&["memory", "export", "--to", "jsonl", "--out", &place("more.jsonl")]).exits(0);
    fs::write(place("own/novel.txt"), "a novel of nora").expect("a file");
    let listed = store.run(&["expunge", "nora", "--text", "--yes"]);
    assert!(listed.stderr.contains("novel.txt") || listed.stdout.contains("Nothing"), "{listed:?}");
    assert_eq!(fs::read_to_string(place("own/novel.txt")).expect("a file"), "a novel of nora");
    assert!(fs::read_to_string(place("more.jsonl")).expect("an export").contains("et\\nora"));
    store.run(&["ui", "--out", &place("own")]).exits(3);
    // A link in the place of an export leads to a file of somebody else.
    #[cfg(unix)]
    {
        let foreign = store.here.with_file_name("foreign");
        fs::write(&foreign, "a second text").expect("a file");
        fs::remove_file(place("all.jsonl")).expect("removed");
        std::os::unix::fs::symlink(&foreign, place("all.jsonl")).expect("a link");
        store.run(&["remember", "Second", "a second text"]).exits(0);
        store.run(&["expunge", "a second text", "--text", "--yes"]).exits(0);
        assert_eq!(fs::read_to_string(&foreign).expect("a file"), "a second text");
    }
}

#[test]
fn the_text_as_names_of_files_spell_it_is_named() {
    let store = Store::new();
    store.run(&["remember", "Merger with Bluebird", "x"]).exits(0);
    store.run(&["remember", "--key", "Bluebird-Deal", "y"]).exits(0);
    let dry = store.run(&["expunge", "Bluebird", "--text"]).exits(0).stdout;
    assert!(dry.contains("merger-with-bluebird.md") && dry.contains("%42luebird-%44eal.md"), "{dry}");
    let done = store.run(&["expunge", "Bluebird", "--text", "--yes"]).exits(1);
    assert!(done.stdout.contains("still in") && done.stdout.contains("merger-with-bluebird.md"), "{done:?}");
    assert!(done.stdout.contains("%42luebird-%44eal.md") && done.stderr.contains("another spelling"), "{done:?}");
    let locks = tree_of(&store.root.join(".saddlebag"));
    let is_lock = |path: &std::path::Path| path.to_string_lossy().contains("locks");
    for (path, bytes) in locks.iter().filter(|(path, _)| is_lock(path)) {
        let text = String::from_utf8_lossy(bytes).to_lowercase();
        assert!(!text.contains("bluebird"), "{path:?}: {text}");
    }
}
