//! A value that a person rejected for good does not come back: by the command line, MCP, hooks, imports and `backfill`.

use std::fs;

use serde_json::{Value, json};

use super::ways::{Seat, files_with};
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

/// No subcommand stores a rejected value, whatever its case, script or white space.
#[test]
fn no_subcommand_stores_a_rejected_value_in_any_spelling() {
    for provenance in ["user", "agent", "tool"] {
        let store = rejected();
        store.run(&["remember", "Plan", "x"]).exits(0);
        let ways = |text: &str| -> Vec<Vec<String>> {
            let call = json!({ "target": "daily", "content": text }).to_string();
            let create = json!({ "command": "create", "path": "/memories/again.md", "file_text": text }).to_string();
            let mut ways = vec![vec!["remember", "Again", text], vec!["remember", "--key", "again", text]];
            // What cannot record its provenance is refused for text of a tool in any case.
            if provenance != "tool" {
                ways.push(vec!["log", text]);
                ways.push(vec!["write", "long_term", text]);
                ways.push(vec!["write", "note:other", text]);
                ways.push(vec!["edit", "Plan", "--old", "x", "--new", text]);
                ways.push(vec!["link", "Plan", "Production", text]);
                ways.push(vec!["tools", "/memory", "write", "long_term", text]);
                ways.push(vec!["tools", "memory_write", &call]);
                ways.push(vec!["tools", "--tools", "anthropic", "memory", &create]);
            }
            let words =
                |way: Vec<&str>| ["--provenance", provenance].iter().copied().chain(way).map(String::from).collect();
            ways.into_iter().map(words).collect()
        };
        for spelling in [VALUE].iter().chain(&DISGUISES) {
            for way in ways(spelling) {
                let before = store.tree();
                let way: Vec<&str> = way.iter().map(String::as_str).collect();
                store.run(&way).exits(3).complains(REFUSED).prints("");
                assert_eq!(store.tree(), before, "{way:?}");
            }
        }
        for way in ways(PARAPHRASE) {
            let way: Vec<&str> = way.iter().map(String::as_str).collect();
            store.run(&way).exits(0);
        }
        assert!(
            recalled(&store, "staging server port").contains("staging server is reached"),
            "the paraphrase is recalled"
        );
    }
}

/// Commands that bring text back do not bring back a rejected value; only `unforget` allows it again.
#[test]
fn undo_and_restore_do_not_bring_a_rejected_value_back_and_unforget_does() {
    let store = rejected();
    let path = store.printed("facts/staging.md");
    store.refuses(&["undo"], 3, REFUSED);
    store.refuses(&["restore", &path], 3, REFUSED);
    store.refuses(&["restore", &path, "--at", "2"], 3, REFUSED);
    let found = recalled(&store, "listens port");
    assert!(found.contains("443") && !found.contains("8080"), "{found}");
    store.refuses(&["--provenance", "agent", "unforget", &path], 3, "only a person");
    let reply = store.run(&["--json", "unforget", &path]).exits(0).json();
    assert_eq!((&reply["restored"], &reply["lifted"]), (&json!(true), &json!(1)), "{reply}");
    assert!(store.text("facts/staging.md").contains(VALUE));
    store.run(&["remember", "Again", VALUE]).exits(0);
}

/// Rejects the value for good, which was a note and an entry, and keeps its neighbour.
fn reject(seat: &Seat<'_>) {
    seat.run(&["remember", "Staging", VALUE]).exits(0);
    seat.run(&["remember", "--key", "staging", VALUE]).exits(0);
    seat.run(&["remember", "Production", NEIGHBOUR]).exits(0);
    seat.run(&["memory", "reject", "Staging", "--for-good"]).exits(0);
    seat.run(&["memory", "reject", "staging", "--for-good"]).exits(0);
}

/// Lets a session of a client happen in which a text is asked for, fails, and is the answer.
fn say(seat: &Seat<'_>, session: &str, text: &str) {
    let input = json!({ "command": format!("echo {text}"), "description": text });
    let error = format!("Exit code 2: {text}");
    for (event, fields) in [
        ("SessionStart", json!({ "source": "startup" })),
        ("UserPromptSubmit", json!({ "prompt": text })),
        (
            "PostToolUseFailure",
            json!({ "tool_name": "Bash", "tool_use_id": text, "tool_input": input, "error": error }),
        ),
        ("Stop", json!({ "stop_hook_active": false, "last_assistant_message": text })),
        ("PreCompact", json!({ "trigger": "manual", "custom_instructions": text })),
        ("SessionEnd", json!({ "reason": "exit" })),
    ] {
        seat.hook(session, event, &fields);
    }
}

/// A rejection holds by every way, ten years later, without the history and the index.
#[test]
fn a_rejection_outlives_purges_the_index_and_years() {
    const TEA: &str = "The team drinks tea.";
    let hooks = Hooks::new();
    let seat = Seat::new(&hooks, "tax", "main");
    reject(&seat);
    seat.run(&["remember", "--key", "tea", TEA]).exits(0);
    seat.run(&["forget", "tea"]).exits(0);
    seat.run(&["forget", "--purge"]).exits(0);
    let root = &hooks.store.root;
    for scope in [root.clone(), root.join(seat.memory()), root.join("agents/main/entries")] {
        for folder in ["index", "history"] {
            let _ = fs::remove_dir_all(scope.join(".saddlebag").join(folder));
        }
    }
    *hooks.now.lock().expect("a time") = "2036-01-01T00:00:00Z".into();
    for spelling in [VALUE].iter().chain(&DISGUISES) {
        seat.run(&["remember", "--key", "later", spelling]).exits(3).complains(REFUSED);
    }
    seat.run(&["remember", "--key", "tea", TEA]).exits(0);
    #[cfg(feature = "server")]
    {
        let mut client = seat.client();
        for (text, is_refused) in [(VALUE, true), (DISGUISES[1], true), (TEA, false)] {
            let answer = client.call("mem_remember", json!({ "title": "Later", "content": text }));
            assert_eq!(answer["isError"] == true, is_refused, "{answer}");
        }
    }
    say(&seat, "value", VALUE);
    say(&seat, "tea", TEA);
    assert_eq!(files_with(root, "listens on port 8080"), [""; 0]);
    assert!(files_with(root, TEA).iter().any(|path| path.contains("/sessions/")), "the control: it is recorded");
    seat.finds("what does the team drink?", &[TEA], &["8080"]);
    seat.finds("which port does production listen on?", &[NEIGHBOUR], &["8080"]);
}

/// Several sessions state, supersede and corroborate a rejected value: it is in no other file than the rejected entry.
#[test]
fn a_value_that_many_sessions_state_again_stays_out() {
    let hooks = Hooks::new();
    let seat = Seat::new(&hooks, "tax", "main");
    reject(&seat);
    for (number, disguise) in DISGUISES.iter().enumerate() {
        say(&seat, &format!("value-{number}"), VALUE);
        say(&seat, &format!("disguise-{number}"), disguise);
        #[cfg(feature = "server")]
        {
            let mut client = seat.client();
            for arguments in [
                json!({ "key": "staging", "content": VALUE }),
                json!({ "key": format!("again-{number}"), "content": disguise }),
                json!({ "title": "Staging", "content": VALUE, "provenance": "tool" }),
                json!({ "title": "Later", "content": VALUE, "supersedes": "Production", "kind": "decision" }),
            ] {
                let answer = client.call("mem_remember", arguments).to_string();
                assert!(answer.contains(REFUSED) || answer.contains("forgotten"), "{answer}");
            }
            client.call("mem_undo", json!({}));
        }
    }
    seat.finds("which port does production listen on?", &[NEIGHBOUR], &["8080"]);
    seat.finds("which port does staging listen on?", &[], &["8080"]);
    assert!(!seat.run(&["list", "--pending"]).exits(0).stdout.contains("8080"));
    let kept: Vec<String> = files_with(&hooks.store.root, "listens on port 8080");
    let kept: Vec<_> = kept.iter().filter(|path| !path.ends_with("/core/staging.md")).collect();
    assert!(kept.is_empty(), "the value is only in the entry that was rejected: {kept:?}");
}

/// An import names the rejected value, stores no second copy of it, and takes the rest.
#[test]
fn an_import_reports_the_rejected_value_and_takes_the_rest() {
    let store = rejected();
    let put = |path: &str, text: &str| {
        let path = store.here.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    };
    put("in/core/old.md", &format!("---\nkey: old\n---\n\n{VALUE}\n"));
    put("in/core/tea.md", "---\nkey: tea\n---\n\nThe team drinks tea.\n");
    put("claude/role.md", &format!("---\nname: role\ndescription: who\ntype: user\n---\n\n{}\n", DISGUISES[1]));
    put("claude/editor.md", "---\nname: editor\ndescription: what\ntype: user\n---\n\nUses helix.\n");
    for arguments in [
        &["memory", "import", "in"][..],
        &["memory", "import", "in", "--trust"],
        &["memory", "import", "claude", "--from", "claude-code"],
    ] {
        for dry_run in [true, false] {
            let dry: &[&str] = if dry_run { &["--dry-run"] } else { &[] };
            let arguments = [&["--json"], arguments, dry].concat();
            let run = store.run(&arguments).exits(3);
            let reply = run.json();
            assert!(reply["rejected"].to_string().contains(REFUSED), "{arguments:?}: {reply}");
        }
    }
    store.run(&["show", "tea"]).exits(0);
    store.run(&["show", "editor"]).exits(0);
    for spelling in [VALUE].iter().chain(&DISGUISES) {
        assert_eq!(kept_files_with(&store, spelling), 0, "nothing is made and hidden");
    }
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
