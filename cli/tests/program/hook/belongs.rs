//! What belongs to a session: its project, whatever folder the client names later, and what its agent stored over MCP.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{Hooks, claude, text_of};
use crate::mcp::client::Pipes;
use crate::support::{Run, run};

impl Hooks {
    fn codex(&self, session: &str, event: &str, folder: &Path, fields: &Value) -> String {
        let mut payload = claude(session, event, fields);
        payload["cwd"] = json!(folder);
        payload["transcript_path"] = Value::Null;
        let run = self.send(&["--client", "codex"], &payload);
        if run.stdout.is_empty() { String::new() } else { text_of(&run.json()).to_string() }
    }

    fn in_folder(&self, folder: &Path, arguments: &[&str]) -> Run {
        let mut command = self.bare();
        command.arg("--project").arg(folder).arg("--root").arg(&self.store.root).args(arguments);
        run(&mut command, None)
    }
}

#[test]
fn a_session_stays_in_the_project_that_it_began_in() {
    let hooks = Hooks::new();
    // Nothing marks the folder around the projects as one.
    fs::remove_dir(hooks.store.here.join(".git")).expect("removed");
    let (began, gone) = (hooks.store.here.join("g"), hooks.store.here.join("gone"));
    fs::create_dir_all(began.join("sub")).expect("made");
    for (number, later) in [began.join("sub"), hooks.project.clone(), gone].iter().enumerate() {
        let (session, prompt) = (format!("s{number}"), format!("sort drawing {number} by its year"));
        hooks.codex(&session, "SessionStart", &began, &json!({ "source": "startup" }));
        hooks.codex(&session, "UserPromptSubmit", &began, &json!({ "prompt": prompt, "turn_id": "1" }));
        let ran = json!({ "tool_name": "Bash", "tool_use_id": "t", "tool_input": { "command": "ls" } });
        hooks.codex(&session, "PostToolUse", later, &ran);
        hooks.codex(&session, "Stop", later, &json!({ "last_assistant_message": "All sorted." }));
        hooks.codex(&session, "SessionEnd", later, &json!({}));
        let shown = hooks.in_folder(&began, &["sessions", "show"]).exits(0).stdout;
        assert!(shown.contains(&prompt) && shown.contains("All sorted."), "{}: {shown}", later.display());
    }
    hooks.memory(&["sessions"]).exits(0).prints("");
    // Without a beginning, a session is where its first event was, as long as its folders are there.
    hooks.codex("t", "UserPromptSubmit", &began, &json!({ "prompt": "sort the other drawings too" }));
    hooks.codex("t", "Stop", &began.join("sub"), &json!({}));
    assert!(hooks.in_folder(&began, &["sessions"]).exits(0).stdout.contains("sort the other drawings too"));
    hooks.codex("t", "UserPromptSubmit", &hooks.project.clone(), &json!({ "prompt": "sort the tax tables now" }));
    hooks.codex("t", "Stop", &hooks.project.clone(), &json!({}));
    assert!(hooks.memory(&["sessions"]).exits(0).stdout.contains("sort the tax tables now"));
    assert_eq!(hooks.log(), Vec::<Value>::new());
    // A folder below it is told of the memory above.
    hooks.in_folder(&began, &["remember", "Drawings", "They are sorted by year."]).exits(0);
    assert!(hooks.in_folder(&began.join("sub"), &["status"]).exits(0).stdout.contains("with this folder inside of it"));
    let told = hooks.codex("u", "SessionStart", &began.join("sub"), &json!({ "source": "startup" }));
    assert!(told.contains("which has this folder inside of it"), "{told}");
    let told = hooks.codex("v", "SessionStart", &hooks.project.clone(), &json!({ "source": "startup" }));
    assert!(!told.contains("inside of it"), "{told}");
}

#[test]
fn an_undo_of_a_session_takes_back_what_its_agent_stored_over_mcp() {
    let hooks = Hooks::new();
    let mut server = hooks.bare();
    server.arg("--project").arg(&hooks.project).arg("--root").arg(&hooks.store.root).arg("mcp");
    let mut server = Pipes::from_command(server).open();
    let send = |event: &str, fields: Value| hooks.send(&[], &claude("S", event, &fields));
    send("SessionStart", json!({ "source": "startup" }));
    send("UserPromptSubmit", json!({ "prompt": "remember what the program is written in" }));
    let calls = [
        ("mem_remember", json!({ "title": "Wrong fact", "content": "Everything is written in COBOL." })),
        ("mem_remember", json!({ "key": "language", "content": "COBOL" })),
        ("mem_edit", json!({ "name": "Wrong fact", "old_str": "COBOL", "new_str": "Fortran" })),
        ("mem_log", json!({ "entry": "wrote it down" })),
        ("mem_remember", json!({ "title": "Loose fact", "content": "No hook has told of this one." })),
    ];
    for (number, (tool, arguments)) in calls.iter().enumerate() {
        let answer = server.call(tool, arguments.clone());
        assert_ne!(answer["isError"], true, "{answer}");
        if number < 4 {
            let used = json!({ "tool_name": format!("mcp__saddlebag__{tool}"), "tool_use_id": number.to_string(),
                "tool_input": arguments, "tool_response": answer["content"] });
            send("PostToolUse", used);
        }
    }
    send("Stop", json!({ "last_assistant_message": "Noted." }));
    send("SessionEnd", json!({}));
    let history = hooks.memory(&["history", "--session", "S"]).exits(0).stdout;
    assert_eq!(history.matches("mem_").count(), 4, "{history}");
    let undone = hooks.memory(&["undo", "--session", "S"]).exits(0).stdout;
    assert!(undone.contains("; 1 change over MCP at that time is not part of it"), "{undone}");
    hooks.memory(&["show", "Wrong fact"]).exits(1);
    hooks.memory(&["show", "language"]).exits(1);
    hooks.memory(&["show", "Loose fact"]).exits(0);
    // The server undoes its own last change, and not what is tied to nobody it knows.
    let answer = server.call("mem_undo", json!({}));
    assert_ne!(answer["isError"], true, "{answer}");
    hooks.memory(&["show", "Loose fact"]).exits(1);
}

#[test]
fn an_excluded_path_with_brackets_is_nowhere() {
    let hooks = Hooks::new();
    fs::create_dir_all(hooks.project.join("app/[q]")).expect("made");
    fs::write(hooks.project.join("app/[q]/p.tsx"), "").expect("written");
    let exclude = ["--exclude", "app/?q?/p.tsx"];
    hooks.send(&exclude, &claude("s", "UserPromptSubmit", &json!({ "prompt": "change the odd named page now" })));
    for (tool, input) in [
        ("Edit", json!({ "file_path": "{project}/app/[q]/p.tsx" })),
        ("Bash", json!({ "command": "cat 'app/[q]/p.tsx'" })),
    ] {
        let fields = json!({ "tool_name": tool, "tool_use_id": tool, "tool_input": input, "tool_response": {} });
        hooks.send(&exclude, &claude("s", "PostToolUse", &fields));
    }
    hooks.send(&exclude, &claude("s", "Stop", &json!({})));
    let everything = hooks.everything();
    assert!(everything.contains("change the odd named page now") && !everything.contains("p.tsx"), "{everything}");
}

#[test]
fn a_path_is_of_the_project_that_the_session_began_in() {
    let hooks = Hooks::new();
    fs::remove_dir(hooks.store.here.join(".git")).expect("removed");
    let began = hooks.store.here.join("g");
    fs::create_dir_all(began.join("secret")).expect("made");
    for file in ["secret/plan.md", "a.txt"] {
        fs::write(began.join(file), "").expect("written");
    }
    let send = |event: &str, folder: &Path, fields: &Value| {
        let mut payload = claude("s", event, fields);
        payload["cwd"] = json!(folder);
        hooks.send(&["--client", "codex", "--exclude", "secret"], &payload);
    };
    send("UserPromptSubmit", &began, &json!({ "prompt": "improve all of the files of this thing" }));
    let below = began.join("secret");
    for (file, command) in [("secret/plan.md", "cat plan.md"), ("a.txt", "make check")] {
        let write = json!({ "tool_name": "Write", "tool_use_id": file, "tool_input": { "file_path": began.join(file) },
            "tool_response": {} });
        send("PostToolUse", &below, &write);
        let failed = json!({ "tool_name": "Bash", "tool_use_id": command, "tool_input": { "command": command },
            "error": "Exit code 2" });
        send("PostToolUse", if file == "a.txt" { &began } else { &below }, &failed);
    }
    send("Stop", &below, &json!({ "last_assistant_message": "Done." }));
    let shown = hooks.in_folder(&began, &["sessions", "show"]).exits(0).stdout;
    assert!(shown.contains("- `a.txt` (1)") && shown.contains("- `make check`"), "{shown}");
    assert!(!shown.contains("plan.md") && !shown.contains("secret"), "{shown}");
}
