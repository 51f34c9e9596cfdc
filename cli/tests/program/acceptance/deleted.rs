//! What was deleted stays deleted, after everything derived is made again and its source is read again.

use std::fs;

use serde_json::json;

use super::ways::{Seat, WAYS, files_with, fill, remove_index};
use crate::hook::Hooks;
use crate::support::Store;

const VALUE: &str = "The vault code is zebra-7741-quartz.";
const TOKEN: &str = "zebra-7741-quartz";
const SIBLING: &str = "The code of the vault hangs in the vault office.";
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

/// Everything that shows memory: what answers a question and goes into a prompt by each way, search, lists, an export.
fn shown(seat: &Seat<'_>) -> String {
    let mut shown: String = WAYS.iter().map(|way| seat.answers(*way, QUESTION)).collect();
    for command in [&["search", "vault"][..], &["list"], &["memory", "export", "--out", "-", "--to", "jsonl"]] {
        shown.push_str(&seat.run(command).stdout);
    }
    shown
}

#[track_caller]
fn is_gone(seat: &Seat<'_>, when: &str) {
    let shown = shown(seat);
    assert!(!shown.contains(TOKEN), "{when}: {shown}");
    seat.finds("what hangs in the vault office?", &["hangs in the vault office"], &[TOKEN]);
    let exported = seat.run(&["memory", "export", "--out", "-", "--to", "jsonl"]).stdout;
    assert!(exported.contains("hangs in the vault office"), "{when}: the sibling is exported: {exported}");
}

/// Lets a session of a client happen in which the value and another text are said and fail.
fn say(seat: &Seat<'_>, session: &str) {
    seat.hook(session, "SessionStart", &json!({ "source": "startup" }));
    for text in [VALUE, "Oil the hinges of the vault"] {
        seat.hook(session, "UserPromptSubmit", &json!({ "prompt": text }));
        let input = json!({ "command": format!("echo {text}") });
        let error = format!("Exit code 2: {text}");
        let failed = json!({ "tool_name": "Bash", "tool_use_id": text, "tool_input": input, "error": error });
        seat.hook(session, "PostToolUseFailure", &failed);
    }
    seat.hook(session, "SessionEnd", &json!({ "reason": "exit" }));
}

/// The source is read again, an old export imported, the index made again, and the text stated again: it stays deleted.
#[test]
fn what_was_deleted_stays_deleted_when_its_source_is_read_again() {
    let hooks = Hooks::with_memory();
    let store = &hooks.store;
    let seat = Seat::new(&hooks, "tax", "main");
    fill(&store.root);
    let source = write_source(store);
    let copy = store.here.join("copy.jsonl").to_str().expect("text").to_string();
    seat.run(&["memory", "import", &source, "--trust"]).exits(0);
    for way in WAYS {
        assert!(seat.answers(*way, QUESTION).contains(TOKEN), "the control: {way:?} has it");
    }
    fs::write(&copy, seat.run(&["memory", "export", "--out", "-", "--to", "jsonl"]).exits(0).stdout).expect("written");
    assert!(fs::read_to_string(&copy).expect("read").contains(TOKEN), "the control: the export has it");

    seat.run(&["forget", "code"]).exits(0);
    is_gone(&seat, "forgotten");
    seat.run(&["memory", "import", &source, "--trust"]).exits(3);
    is_gone(&seat, "imported again");
    remove_index(&store.root);
    is_gone(&seat, "indexed again");
    seat.run(&["memory", "import", &copy, "--from", "jsonl", "--trust"]).exits(0);
    is_gone(&seat, "an old export");
    let list = seat.run(&["history", "-n", "99"]).exits(0).stdout;
    assert!(list.contains("forget") && !list.contains(TOKEN), "{list}");

    // Until here it can be undone. From here on, nothing of the program has it, and nothing brings it back.
    seat.run(&["memory", "reject", "code", "--for-good"]).exits(0);
    seat.run(&["expunge", TOKEN, "--text", "--yes"]).exits(0);
    assert_eq!(files_with(&store.root, TOKEN), [""; 0]);
    assert_eq!(files_with(&hooks.state(), TOKEN), [""; 0]);
    let imported = seat.run(&["--json", "memory", "import", &source, "--trust"]).json();
    assert_eq!(imported["rejected"].as_array().map(Vec::len), Some(1), "{imported}");
    seat.run(&["memory", "import", &copy, "--from", "jsonl", "--trust"]);
    #[cfg(feature = "server")]
    for key in ["code", "another-code"] {
        seat.client().call("mem_remember", json!({ "key": key, "content": VALUE }));
    }
    say(&seat, "again");
    assert!(!files_with(&store.root, "hinges of the vault").is_empty(), "the control: the session is recorded");
    remove_index(&store.root);
    is_gone(&seat, "expunged");
    assert_eq!(files_with(&store.root, TOKEN), [""; 0]);
    let list = seat.run(&["op", "log", "-n", "99"]).exits(0).stdout;
    assert!(list.contains("expunge") && !list.contains(TOKEN), "{list}");
}

/// An agent that forgets what it stored does not find it again by any way, and its history has no text of it.
#[cfg(feature = "server")]
#[test]
fn what_an_agent_forgets_over_mcp_is_absent_by_every_way() {
    let hooks = Hooks::new();
    let seat = Seat::new(&hooks, "tax", "main");
    let call = |tool: &str, arguments: serde_json::Value| {
        let answer = seat.client().call(tool, arguments);
        assert_ne!(answer["isError"], true, "{answer}");
    };
    for (name, text) in [("code", VALUE), ("office", SIBLING)] {
        call("mem_remember", json!({ "key": name, "content": text }));
        call("mem_remember", json!({ "title": format!("Vault {name}"), "content": text }));
    }
    fill(&hooks.store.root);
    seat.finds(QUESTION, &[TOKEN, "hangs in the vault office"], &[]);
    for name in ["code", "Vault code"] {
        call("mem_forget", json!({ "name": name }));
    }
    for _ in 0..2 {
        is_gone(&seat, "forgotten");
        remove_index(&hooks.store.root);
    }
    let list = seat.run(&["history", "-n", "99"]).exits(0).stdout;
    assert!(list.contains("mem_forget") && !list.contains(TOKEN), "{list}");
}

/// Memory that was shared with a second project is gone there too; the project's own memory stays.
#[test]
fn what_was_shared_is_gone_in_the_second_project_which_keeps_its_own() {
    let hooks = Hooks::new();
    let [first, second] = ["first", "second"].map(|project| Seat::new(&hooks, project, "main"));
    first.run(&["--user", "remember", "Vault code", VALUE]).exits(0);
    second.run(&["remember", "Vault office", SIBLING]).exits(0);
    fill(&hooks.store.root);
    second.finds(QUESTION, &[TOKEN], &[]);
    first.run(&["--user", "forget", "Vault code"]).exits(0);
    for _ in 0..2 {
        second.finds(QUESTION, &["hangs in the vault office"], &[TOKEN]);
        remove_index(&hooks.store.root);
    }
}
