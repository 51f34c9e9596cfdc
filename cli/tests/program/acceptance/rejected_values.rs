//! A value that a person rejected for good does not come back: by MCP, hooks and `backfill`.

use std::fs;

use serde_json::{Value, json};

use crate::hook::{Hooks, claude};
#[cfg(feature = "server")]
use crate::mcp::client::Pipes;
use crate::support::Store;

const VALUE: &str = "Staging listens on port 8080.";
/// The same value in disguise: another case, letters of another script, an invisible character, other white space.
const DISGUISES: [&str; 4] = [
    "STAGING LISTENS ON PORT 8080",
    "Ѕtаgіng lіѕtеnѕ оn роrt 8080.",
    "Sta\u{200b}ging listens on port 80\u{2060}80.",
    "staging   listens\u{a0}on  port 8080",
];
const PARAPHRASE: &str = "The staging server is reached at port 8080.";
const NEIGHBOUR: &str = "Production listens on port 443.";
const REFUSED: &str = "rejected for good";

/// Returns a store in which a person has rejected the value, which was a note, and kept its neighbour.
fn rejected() -> Store {
    let store = Store::new();
    store.run(&["remember", "Staging", VALUE]).exits(0);
    store.run(&["remember", "Production", NEIGHBOUR]).exits(0);
    let reply = store.run(&["--json", "memory", "reject", "Staging", "--for-good"]).exits(0).json();
    assert_eq!((&reply["for_good"], &reply["skipped"]), (&json!(["Staging"]), &json!([])));
    store
}

/// Returns the number of files outside of `.saddlebag` that have a text, without backups.
fn kept_files_with(store: &Store, text: &str) -> usize {
    let files = store.tree().into_iter().filter(|(path, _)| path.extension().is_none_or(|end| end != "bak"));
    files.filter(|(_, bytes)| String::from_utf8_lossy(bytes).contains(text)).count()
}

fn recalled(store: &Store, query: &str) -> String {
    store.run(&["recall", query]).stdout
}

/// `backfill` names the rejected value and takes the rest.
#[test]
fn backfill_reports_the_rejected_value_and_takes_the_rest() {
    let store = rejected();
    for (number, answer) in [
        (1, format!("{}, because 80 is taken.", VALUE.trim_end_matches('.'))),
        (2, "The server blocks us after the fifth one.".into()),
    ] {
        let said = |kind: &str, text: &str| json!({ "timestamp": "2026-05-22T09:00:00Z", "type": "event_msg", "payload": { "type": kind, "message": text } });
        let id = number.to_string();
        let lines = [
            json!({ "type": "session_meta", "payload": { "id": id, "cwd": store.here } }),
            said("user_message", &format!("Look at server {number} again.")),
            said("agent_message", &answer),
        ];
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(store.here.join(format!("rollout-{number}.jsonl")), lines).expect("written");
    }
    let reply = store.run(&["--json", "backfill", "--from", "codex", "."]);
    assert!(reply.stdout.contains(REFUSED), "{reply:?}");
    assert_eq!(kept_files_with(&store, "because 80 is taken"), 0);
    assert_eq!(kept_files_with(&store, "blocks us after the fifth one"), 1, "the control is stored");
}

/// No tool of an agent stores a rejected value.
#[cfg(feature = "server")]
#[test]
fn no_tool_over_mcp_stores_a_rejected_value() {
    let store = rejected();
    let mut client = Pipes::start(&store, &[]).open();
    let calls = |text: &str| {
        [
            ("mem_remember", json!({ "title": "Again", "content": text })),
            ("mem_log", json!({ "entry": text })),
            ("mem_edit", json!({ "name": "Production", "old_str": "443.", "new_str": format!("443. {text}") })),
            ("memory_store", json!({ "key": "again", "content": text })),
        ]
    };
    let answer = |client: &mut Pipes, (tool, arguments): (&str, Value)| {
        let result = client.call(tool, arguments);
        (result["isError"] == true, result.to_string())
    };
    for spelling in [VALUE].iter().chain(&DISGUISES) {
        for call in calls(spelling) {
            let before = store.tree();
            let (is_error, text) = answer(&mut client, call.clone());
            assert!(is_error && text.contains(REFUSED), "{call:?}: {text}");
            assert_eq!(store.tree(), before, "{call:?}");
        }
    }
    for call in calls(PARAPHRASE) {
        let (is_error, text) = answer(&mut client, call.clone());
        assert!(!is_error, "{call:?}: {text}");
    }
    client.close();
    assert!(recalled(&store, "staging server port").contains("staging server is reached"));
}

/// A hook never blocks its client over a rejected value, and the note of the session has the rest.
#[test]
fn a_hook_leaves_a_rejected_value_out_and_goes_on() {
    let hooks = Hooks::with_memory();
    hooks.memory(&["remember", "--key", "staging", VALUE]).exits(0);
    hooks.memory(&["memory", "reject", "staging", "--for-good"]).exits(0);
    let send = |event: &str, fields: Value| {
        hooks.send(&[], &claude("s", event, &fields));
    };
    send("SessionStart", json!({ "source": "startup" }));
    for prompt in [VALUE].iter().chain(&DISGUISES).chain(&["Fix the rounding of the tax report"]) {
        send("UserPromptSubmit", json!({ "prompt": prompt }));
    }
    for command in [format!("echo {VALUE}"), "make report".into()] {
        let input = json!({ "command": command });
        let error = format!("Exit code 2: {command}");
        send(
            "PostToolUseFailure",
            json!({ "tool_name": "Bash", "tool_use_id": command, "tool_input": input, "error": error }),
        );
    }
    send("SessionEnd", json!({ "reason": "exit" }));
    let notes: Vec<String> = hooks
        .store
        .tree()
        .into_iter()
        .filter(|(path, _)| path.parent().is_some_and(|above| above.ends_with("sessions")))
        .map(|(_, bytes)| String::from_utf8(bytes).expect("text"))
        .collect();
    assert_eq!(notes.len(), 1, "the session has a note");
    assert!(notes[0].contains("Fix the rounding") && notes[0].contains("make report"), "the control: {}", notes[0]);
    assert!(!notes[0].contains("80") && !notes[0].to_lowercase().contains("staging"), "{}", notes[0]);
}
