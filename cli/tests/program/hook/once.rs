//! The same moment, reported more than once, and many moments at once.

use std::fs;
use std::thread;

use serde_json::json;

use super::{Hooks, claude, text_of};

#[test]
fn an_event_that_is_delivered_twice_adds_nothing_and_answers_once() {
    let hooks = Hooks::with_memory();
    let events = [
        claude("s", "SessionStart", &json!({ "source": "startup" })),
        claude("s", "UserPromptSubmit", &json!({ "prompt_id": "p1", "prompt": "rounding of the tax report in cents" })),
        claude(
            "s",
            "PostToolUseFailure",
            &json!({ "tool_name": "Bash", "tool_use_id": "t1",
            "tool_input": { "command": "make check" }, "error": "error: no rule for check" }),
        ),
        claude(
            "s",
            "PostToolUse",
            &json!({ "tool_name": "Edit", "tool_use_id": "t2",
            "tool_input": { "file_path": "{project}/src/tax.py" } }),
        ),
        claude("s", "Stop", &json!({})),
        claude("s", "SessionEnd", &json!({ "reason": "other" })),
    ];
    for event in events {
        let first = hooks.send(&[], &event);
        let after = hooks.everything();
        let second = hooks.send(&[], &event);
        assert_eq!(second.stdout, "", "{event} after {}", first.stdout);
        assert_eq!(hooks.everything(), after, "{event}");
    }
}

#[test]
fn a_settings_file_that_two_hooks_of_one_client_share_adds_nothing_twice() {
    let hooks = Hooks::with_memory();
    let of_cursor = json!({
        "conversation_id": "c", "cursor_version": "2.5", "workspace_roots": ["{project}"], "generation_id": "g",
        "hook_event_name": "postToolUse", "tool_name": "Shell", "tool_input": { "command": "make check" },
        "tool_output": "{\"exitCode\":2,\"stderr\":\"error: no rule for check\"}", "tool_use_id": "u1",
    });
    // Cursor also runs the hooks of Claude Code, with its own payload.
    hooks.send(&["postToolUse"], &of_cursor);
    let after = hooks.everything();
    hooks.send(&["tool", "--client", "claude-code"], &of_cursor);
    assert_eq!(hooks.everything(), after);
}

#[test]
fn of_twenty_tool_hooks_at_once_none_fails_and_nothing_is_lost() {
    const HOOKS: usize = 20;

    let hooks = Hooks::with_memory();
    hooks.send(&[], &claude("s", "UserPromptSubmit", &json!({ "prompt": "change many files" })));
    for number in 0..HOOKS {
        fs::write(hooks.project.join(format!("src/file-{number}.py")), "").expect("written");
    }
    thread::scope(|scope| {
        for number in 0..HOOKS {
            let hooks = &hooks;
            scope.spawn(move || {
                let edit = claude(
                    "s",
                    "PostToolUse",
                    &json!({ "tool_name": "Edit", "tool_use_id": format!("t{number}"),
                    "tool_input": { "file_path": format!("{{project}}/src/file-{number}.py") } }),
                );
                hooks.send(&["tool"], &edit);
            });
        }
    });
    assert_eq!(hooks.log(), Vec::<serde_json::Value>::new());
    let everything = hooks.everything();
    for number in 0..HOOKS {
        assert!(everything.contains(&format!("src/file-{number}.py")), "file-{number} is lost");
    }
}

#[test]
fn no_note_is_shown_twice_in_a_session_and_again_in_another() {
    let hooks = Hooks::with_memory();
    let asked = |session: &str, prompt: &str| {
        let event = claude(session, "UserPromptSubmit", &json!({ "prompt": prompt }));
        let run = hooks.send(&["prompt"], &event);
        if run.stdout.is_empty() { String::new() } else { text_of(&run.json()).to_string() }
    };
    assert!(asked("s", "Which rounding does the tax report use for cents?").contains("half to even"));
    for prompt in ["Rounding of the tax report?", "tax report rounding cents", "the tax report rounds cents"] {
        assert!(!asked("s", prompt).contains("half to even"), "{prompt}");
    }
    assert!(asked("other", "Which rounding does the tax report use for cents?").contains("half to even"));
}

#[test]
fn a_superseded_note_is_shown_by_no_hook_and_its_successor_is() {
    let hooks = Hooks::with_memory();
    for number in 0..6 {
        hooks.memory(&["remember", &format!("Part {number}"), "About something else."]).exits(0);
    }
    let newer =
        ["remember", "Cut the cents", "They are cut off, since May.", "--supersedes", "Rounding of the tax report"];
    let made = hooks.memory(&newer).exits(0).stdout;
    assert!(made.contains("cut-the-cents.md, which supersedes"), "{made}");
    for (client, session) in [(&["prompt"][..], "s"), (&[], "t")] {
        let asked = json!({ "prompt": "Which rounding does the tax report use for cents?" });
        let text = hooks.send(client, &claude(session, "UserPromptSubmit", &asked)).json();
        let text = text_of(&text);
        assert!(text.contains("They are cut off") && !text.contains("half to even"), "{text}");
        assert!(!text.contains("Supersedes"), "{text}");
    }
    let none = hooks.memory(&["remember", "Another title", "x", "--supersede"]).exits(1);
    assert!(none.stderr.contains("there is no note with the title `Another title`"), "{}", none.stderr);
}
