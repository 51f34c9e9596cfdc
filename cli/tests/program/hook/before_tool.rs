//! What memory says about a file or a command before a tool uses it.

use serde_json::{Value, json};

use super::recordings::{CLIENTS, answer, played};
use super::{Hooks, claude, text_of};

/// Steps of the recordings at which a client takes the text: about the command, and about the file.
const STEPS: [(&str, &[&str]); 8] = [
    ("claude-code", &["before-tool"]),
    ("codex", &["before-tool"]),
    ("copilot", &["edit", "failed"]),
    ("copilot-claude-names", &["edit", "failed"]),
    ("cursor", &["edit", "failed"]),
    ("gemini", &["edit", "failed"]),
    ("opencode", &["before-tool"]),
    ("vscode", &["edit", "failed"]),
];

fn before(session: &str, tool: &str, input: Value) -> Value {
    claude(session, "PreToolUse", &json!({ "tool_name": tool, "tool_input": input }))
}

/// Returns what is said before a tool.
fn said(hooks: &Hooks, arguments: &[&str], payload: &Value) -> String {
    let run = hooks.send(arguments, payload);
    if run.stdout.is_empty() { String::new() } else { text_of(&run.json()).to_string() }
}

#[test]
fn each_client_gets_what_names_the_file_or_the_command_once() {
    assert_eq!(STEPS.map(|(client, _)| client), CLIENTS);
    for (client, expected) in STEPS {
        let hooks = Hooks::with_memory();
        let played = played(&hooks, client);
        let steps = ["before-tool", "edit", "excluded", "failed", "passed"];
        let texts = steps.iter().filter(|step| played.iter().any(|(name, _)| name == *step));
        let texts: Vec<(&str, &str)> = texts.map(|step| (*step, text_of(answer(&played, step)))).collect();
        let with_text: Vec<&str> = texts.iter().filter(|(_, text)| !text.is_empty()).map(|(step, _)| *step).collect();
        assert_eq!(with_text, expected, "{client}: {texts:?}");
        for (_, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
            assert!(text.contains("decisions/audit.md") && text.len() <= 400, "{client}: {text}");
            assert!(!text.contains("UNAPPROVED"), "{client}: {text}");
        }
    }
}

#[test]
fn nothing_is_said_about_what_no_text_names_and_an_empty_memory_stays_empty() {
    let hooks = Hooks::new();
    let edit = json!({ "file_path": "{project}/src/tax.py" });
    assert_eq!(said(&hooks, &[], &before("1", "Edit", edit.clone())), "");
    assert!(!hooks.everything().contains("sessions"), "nothing is written");
    let hooks = Hooks::with_memory();
    for (tool, input) in [
        ("Edit", json!({ "file_path": "{project}/src/locked.py" })),
        ("Edit", json!({ "file_path": "/etc/src/tax.py" })),
        ("Read", edit.clone()),
        ("Bash", json!({ "command": "make" })),
        ("Bash", json!({ "command": "echo 'make check'" })),
        ("Bash", json!({ "command": "" })),
        ("Bash", json!({})),
    ] {
        assert_eq!(said(&hooks, &[], &before("1", tool, input.clone())), "", "{tool} {input}");
    }
    assert_eq!(said(&hooks, &["--exclude", "src/"], &before("1", "Edit", edit.clone())), "");
    let text = said(&hooks, &[], &before("1", "Write", edit.clone()));
    assert!(text.contains("Never rename src/tax.py."), "{text}");
    assert_eq!(said(&hooks, &[], &before("1", "Edit", edit)), "");
}

#[test]
fn odd_folders_and_commands_that_others_run_are_named() {
    let hooks = Hooks::new();
    let paths = [
        "app/[slug]/page.tsx",
        "app/(shop)/cart.tsx",
        "src/my dir/a.ts",
        "src/$lib/b.ts",
        "src/a&b/c.ts",
        "src/{x}/it's.ts",
    ];
    for (number, path) in paths.iter().enumerate() {
        let rule = format!("Never touch `{path}` without asking.");
        hooks.memory(&["remember", &format!("Rule {number}"), &rule]).exits(0);
        let edit = json!({ "file_path": format!("{{project}}/{path}") });
        let text = said(&hooks, &[], &before(&format!("f{number}"), "Edit", edit));
        assert!(text.contains("Never touch") && text.lines().count() < 12, "{path}: {text}");
    }
    let checks =
        "Use `make check` only on the big machine; `pytest -q` needs the database; `git push --force` is forbidden.";
    hooks.memory(&["remember", "Checks", checks, "--template", "decision"]).exits(0);
    for (number, command) in [
        "timeout 60 make check",
        "(make check)",
        "for i in 1 2; do\n  make check\ndone",
        "a; b; c; nice make check",
        "uv run pytest -q",
        "python3 -m pytest -q",
        "git -C sub push --force",
        "bash -c \"cd x && make check\"",
    ]
    .iter()
    .enumerate()
    {
        let text = said(&hooks, &[], &before(&format!("c{number}"), "Bash", json!({ "command": command })));
        assert!(text.contains("decisions/checks.md"), "{command}: {text}");
    }
}

#[test]
fn one_option_switches_it_off_and_the_use_of_the_tool_is_recorded() {
    let hooks = Hooks::with_memory();
    let payload = before("1", "Bash", json!({ "command": "cd x && make check | tail" }));
    assert_eq!(said(&hooks, &["--without-before-tool"], &payload), "");
    let mut by_environment = hooks.command(&[]);
    by_environment.env("SADDLEBAG_HOOKS", "without-before-tool");
    let text = payload.to_string().replace("{project}", hooks.project.to_str().expect("text"));
    assert_eq!(crate::support::run(&mut by_environment, Some(text.as_bytes())).exits(0).stdout, "");
    assert!(said(&hooks, &[], &payload).contains("needs LANG=C"));
    let gemini = json!({ "session_id": "g", "transcript_path": "/t/x.json", "cwd": "{project}", "timestamp": "2026-05-30T07:04:00Z",
        "hook_event_name": "AfterTool", "tool_name": "write_file", "tool_input": { "file_path": "{project}/src/tax.py" },
        "tool_response": { "llmContent": "ok" } });
    assert_eq!(said(&hooks, &["--without-before-tool"], &gemini), "");
    let end = json!({ "session_id": "g", "transcript_path": "/t/x.json", "cwd": "{project}", "timestamp": "2026-05-30T07:05:00Z",
        "hook_event_name": "SessionEnd", "reason": "exit" });
    hooks.send(&[], &end);
    assert!(hooks.everything().contains("`src/tax.py` (1)"), "the file is in the note of the session");
}
