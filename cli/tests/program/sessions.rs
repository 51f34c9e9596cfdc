//! `sessions`, and questions about a time.

use std::fs;

use crate::support::{Run, Store, run};

fn session(store: &Store, day: &str, name: &str, fields: &str, text: &str) {
    let folder = store.file("sessions");
    fs::create_dir_all(&folder).expect("made");
    let note = format!(
        "---\ntitle: Session {name}\ndate: {day}T10:00:00Z\nsession: {name}\nfinished: true\nlast: {day}T11:00:00Z\n{fields}---\n\n\
         # Session {name}\n\n{text}\n"
    );
    fs::write(folder.join(format!("{day}-{name}.md")), note).expect("written");
}

fn begin(store: &Store, name: &str) -> Run {
    let event = serde_json::json!({
        "session_id": name, "hook_event_name": "SessionStart", "source": "startup", "cwd": store.here.display().to_string(),
    });
    store.run_with(&["hook", "start"], event.to_string().as_bytes()).exits(0)
}

#[test]
fn a_person_chooses_or_refuses_what_the_next_session_begins_with() {
    let store = Store::new();
    store.run(&["sessions"]).exits(0).complains("there are no sessions");
    session(&store, "2026-05-28", "old", "claimed-by: other\nworked: false\n", "Rotated the keys.");
    session(&store, "2026-05-29", "new", "", "Wrote a poem.");
    let listed = store.run(&["--json", "sessions"]).exits(0).json();
    let states: Vec<_> = listed["sessions"].as_array().expect("a list").iter().map(|one| &one["session"]).collect();
    assert_eq!(states.len(), 2, "{listed}");
    assert!(store.run(&["sessions", "show", "old"]).exits(0).stdout.contains("Rotated the keys."));

    store.run(&["sessions", "resume", "new"]).exits(0);
    store.run(&["sessions", "resume", "old"]).exits(0);
    // The last choice counts.
    assert_eq!(store.run(&["sessions"]).exits(0).stdout.matches("  next  ").count(), 1);
    store.run(&["sessions", "refuse", "new"]).exits(0);
    let lines = store.run(&["sessions"]).exits(0).stdout;
    assert!(lines.contains("  next  ") && lines.contains("  refused  "), "{lines}");
    let block = begin(&store, "first").stdout;
    assert!(block.contains("Rotated the keys.") && !block.contains("poem"), "{block}");
    // It was chosen for one session.
    let block = begin(&store, "second").stdout;
    assert!(!block.contains("Rotated the keys.\\n") && !block.contains("poem"), "{block}");
    assert!(store.run(&["sessions"]).exits(0).stdout.contains("handed to first"));
    store.refuses(&["sessions", "resume", "nowhere"], 1, "there is no note of a session");
    store.refuses(&["sessions", "refuse", "nowhere"], 1, "there is no note of a session");
}

#[test]
fn a_question_about_a_time_is_answered_in_its_order() {
    let store = Store::new();
    session(&store, "2026-05-20", "one", "", "Moved staging to port 8443.");
    let note = |day: &str, title: &str| {
        store.run(&["remember", title, "Text."]).exits(0);
        let path = store.run(&["show", "--path", title]).exits(0).stdout;
        let text = fs::read_to_string(path.trim_end()).expect("a note").replace("2026-05-30T", &format!("{day}T"));
        fs::write(path.trim_end(), text).expect("written");
    };
    note("2026-05-19", "Before it");
    note("2026-05-22", "After it");
    note("2026-05-28", "This week");
    fs::create_dir_all(store.file("daily")).expect("made");
    fs::write(store.file("daily/2026-05-21.md"), "## Keys\n\nRotated them.\n").expect("written");
    let answered = store.run(&["recall", "what did I do last week?"]).exits(0).stdout;
    let places = ["Before it", "Session one", "Rotated them", "After it"].map(|text| answered.find(text));
    assert!(places.is_sorted() && places[0].is_some(), "{places:?}: {answered}");
    assert!(!answered.contains("This week"), "{answered}");
    let tool = r#"{"query": "What happened last week?"}"#;
    let answered = store.run(&["tools", "mem_recall", tool]).exits(0).stdout;
    assert!(answered.contains("Session one") && answered.contains("2026-05-20"), "{answered}");
    store.run(&["recall", "what did we do yesterday"]).exits(1);
    // Notes for all projects belong to each, and those of other projects only to a question everywhere.
    store.run_in("one", &["--user", "remember", "For all", "Text."]).exits(0);
    store.run_in("one", &["remember", "Here", "Text."]).exits(0);
    store.run_in("two", &["remember", "Elsewhere", "Text."]).exits(0);
    let today = store.run_in("one", &["recall", "what happened today"]).exits(0).stdout;
    assert!(today.contains("For all") && today.contains("Here") && !today.contains("Elsewhere"), "{today}");
    let today = store.run_in("one", &["recall", "--everywhere", "what happened today"]).exits(0).stdout;
    assert!(["For all", "Here", "Elsewhere"].iter().all(|title| today.contains(title)), "{today}");
    // What is found there is opened by its path, for a person.
    let found = store.run_in("one", &["--json", "recall", "--everywhere", "Elsewhere"]).exits(0).json();
    let path = found["hits"][0]["path"].as_str().expect("a path");
    assert!(store.run_in("one", &["show", path]).exits(0).stdout.contains("Text."));
    store.run_in("one", &["--provenance", "agent", "show", path]).exits(1);
    let all = store.run(&["recall", "what happened last week", "--limit", "2"]).exits(0);
    assert!(all.stderr.contains("2 of 4, in the order of time") && !all.stdout.contains("[] in"), "{all:?}");
}

#[test]
fn logs_and_sessions_are_kinds_and_a_session_has_its_name() {
    let store = Store::new();
    session(&store, "2026-05-29", "importer-7", "", "The importer stops at row 4,000.");
    store.run(&["log", "The importer runs again."]).exits(0);
    store.run(&["remember", "Importer", "Reads rows of the importer."]).exits(0);
    let kinds = |kind: &str| -> Vec<String> {
        let found = store.run(&["--json", "recall", "importer", "--kind", kind]).exits(0).json();
        let mut kinds: Vec<String> = found["hits"]
            .as_array()
            .expect("hits")
            .iter()
            .map(|hit| hit["kind"].as_str().expect("a kind").into())
            .collect();
        kinds.sort();
        kinds
    };
    assert_eq!(kinds("log"), ["log"]);
    assert_eq!(kinds("session"), ["session"]);
    // To ask for notes means these too.
    assert_eq!(kinds("note"), ["log", "note", "session"]);
    let of_time = store.run(&["recall", "what did I do this week", "--kind", "log"]).exits(0).stdout;
    assert!(of_time.contains("runs again") && !of_time.contains("row 4,000"), "{of_time}");
    let listed = |kind: &str| store.run(&["list", "--kind", kind]).exits(0).stdout;
    assert!(listed("log").contains("2026-05-30.md") && !listed("log").contains("Importer"), "{}", listed("log"));
    assert!(listed("session").contains("Session importer-7") && listed("session").lines().count() == 1);
    let all = store.run(&["list"]).exits(0).stdout;
    assert!(["log ", "session ", "note "].iter().all(|kind| all.lines().any(|line| line.starts_with(kind))), "{all}");
    store.run(&["list", "--kind", "log", "--path", "facts"]).exits(0).prints("");

    assert!(store.run(&["show", "importer-7"]).exits(0).stdout.contains("row 4,000"));
    store.run(&["edit", "importer-7", "--old", "4,000", "--new", "5,000"]).exits(0);
    store.run(&["tag", "add", "importer-7", "data"]).exits(0);
    assert!(store.run(&["history", "importer-7"]).exits(0).stdout.contains("tag"), "by its name");
    store.run(&["forget", "importer-7"]).exits(0);
    store.run(&["show", "importer-7"]).exits(1);
    store.run(&["restore", "importer-7"]).exits(0);
    store.run(&["show", "importer-7"]).exits(0);
}

#[test]
fn a_session_is_undone_after_its_note_was_handed_on() {
    let store = Store::new();
    begin(&store, "first");
    let event = |name: &str, fields: serde_json::Value| {
        let mut event = serde_json::json!({
            "session_id": "first", "hook_event_name": name, "cwd": store.here.display().to_string(),
        });
        event.as_object_mut().expect("an object").extend(fields.as_object().expect("fields").clone());
        store.run_with(&["hook"], event.to_string().as_bytes()).exits(0);
    };
    event("UserPromptSubmit", serde_json::json!({ "prompt": "change the port of staging" }));
    let used = serde_json::json!({
        "tool_name": "Bash", "tool_use_id": "1", "tool_input": { "command": "make check" },
        "tool_response": { "stdout": "ok", "exit_code": 0 },
    });
    event("PostToolUse", used);
    event("SessionEnd", serde_json::json!({ "reason": "exit" }));
    assert_eq!(store.run(&["list", "--kind", "session"]).exits(0).stdout.lines().count(), 1);
    let block = begin(&store, "second").stdout;
    assert!(block.contains("port"), "{block}");
    let claimed = store.run(&["sessions"]).exits(0).stdout;
    assert!(claimed.contains("handed to second"), "{claimed}");
    // Beginning a session is not a change that a person takes back.
    let last = store.run(&["undo", "--dry-run"]).exits(0).stdout;
    assert!(!last.contains("begin-session"), "{last}");
    store.run(&["undo", "--session", "first"]).exits(0);
    assert_eq!(store.run(&["list", "--kind", "session"]).exits(0).stdout, "");
    store.run(&["redo"]).exits(0);
    assert!(store.run(&["sessions"]).exits(0).stdout.contains("handed to second"));
}

#[test]
fn a_prompt_lists_each_folder_once() {
    let store = Store::new();
    store.run(&["remember", "Port", "Postgres listens on port 5432."]).exits(0);
    let event = serde_json::json!({
        "session_id": "one", "hook_event_name": "UserPromptSubmit", "prompt": "which port has postgres?",
        "cwd": store.here.display().to_string(),
    });
    let mut command = store.command(&["hook"]);
    command.env("SADDLEBAG_LOG", "trace");
    let asked = run(&mut command, Some(event.to_string().as_bytes())).exits(0);
    assert!(asked.stdout.contains("5432"), "{asked:?}");
    let mut listed: Vec<&str> = asked.stderr.lines().filter(|line| line.contains("op=\"list-directory\"")).collect();
    listed.iter_mut().for_each(|line| *line = line.split_once(" path=").map_or(*line, |(_, path)| path));
    let all = listed.len();
    listed.sort_unstable();
    listed.dedup();
    assert!(all > 1 && listed.len() == all, "{}", asked.stderr);
}

/// Returns what a hook gives to the model.
fn given(run: &Run) -> String {
    let answer: serde_json::Value = serde_json::from_str(&run.stdout).expect("an answer");
    answer["hookSpecificOutput"]["additionalContext"].as_str().expect("text").to_string()
}

#[test]
fn context_is_what_a_session_begins_with_byte_for_byte() {
    let store = Store::new();
    session(&store, "2026-05-28", "old", "worked: true\n", "Rotated the keys.");
    store.run(&["remember", "Refund window", "Fourteen days."]).exits(0);
    store.run(&["remember", "--key", "port", "8443"]).exits(0);
    let shown = store.run(&["context"]).exits(0).stdout;
    let sources = store.run(&["context", "--sources"]).exits(0).stdout;
    let begun = given(&begin(&store, "first"));
    assert_eq!(shown.trim_end_matches('\n'), begun);
    for text in ["Rotated the keys.", "- Refund window\n", "- port\n", "- port (core)\n  8443"] {
        assert!(begun.contains(text), "{text}: {begun}");
    }
    assert!(sources.contains("facts/refund-window.md"), "{sources}");
    // Looking claimed nothing, and the session did.
    assert!(store.run(&["sessions"]).exits(0).stdout.contains("handed to first"));
    assert!(!store.run(&["context"]).exits(0).stdout.contains("Rotated the keys.\n\n## Entries"));
    let off = store.run(&["--map-bytes", "0", "context"]).exits(0).stdout;
    assert!(!off.contains("What memory knows") && shown.contains("What memory knows"), "{off}");
}

#[test]
fn each_subagent_gets_the_names_and_nothing_is_recorded_for_it() {
    let store = Store::new();
    session(&store, "2026-05-28", "old", "worked: true\n", "Rotated the keys.");
    store.run(&["remember", "Refund window", "Fourteen days."]).exits(0);
    let before = store.tree();
    for agent in ["a1", "a2"] {
        let event = serde_json::json!({
            "session_id": "s", "hook_event_name": "SubagentStart", "agent_id": agent, "agent_type": "Explore",
            "cwd": store.here.display().to_string(),
        });
        let run = store.run_with(&["hook", "start"], event.to_string().as_bytes()).exits(0);
        let text = given(&run);
        assert!(text.contains("- Refund window") && !text.contains("Rotated"), "{text}");
        assert!(run.stdout.contains("\"SubagentStart\""), "{}", run.stdout);
    }
    assert_eq!(store.tree(), before);
}

#[test]
fn a_name_that_says_nothing_gets_a_better_one_and_status_lists_it() {
    let store = Store::new();
    let text = "Refunds over 500 euros need the approval of finance.";
    let advice = "the name says nothing about it, and sessions begin with the names: better is for example \
                  `Refunds euros need approval finance`";
    assert!(store.run(&["remember", "important!!", text]).exits(0).stdout.contains(advice));
    assert!(store.run(&["remember", "--key", "2026-05-30", text]).exits(0).stdout.contains(advice));
    let arguments = serde_json::json!({ "title": "Notes from the call", "content": text }).to_string();
    let answer = store.run(&["tools", "mem_remember", &arguments]).exits(0).stdout;
    assert!(answer.contains(advice), "{answer}");
    assert!(!store.run(&["remember", "Refund window", text]).exits(0).stdout.contains("says nothing"));
    let status = store.run(&["status"]).exits(0).stdout;
    let line = status.lines().find(|line| line.starts_with("names that say nothing")).unwrap_or_default();
    for name in ["important!!", "2026-05-30", "Notes from the call"] {
        assert!(line.contains(name), "{status}");
    }
    assert!(!line.contains("Refund window"), "{status}");
}
