//! Payloads, command lines and pipes that a hook must survive: exit code 0, no output, one line in the log.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Hooks, claude};

/// Returns payloads that cannot be used, each with the code that is logged.
fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    let with = |event: &str, fields: serde_json::Value| claude("s", event, &fields).to_string().into_bytes();
    let huge = format!("{{\"session_id\":\"s\",\"prompt\":\"{}", "x".repeat(9 << 20));
    vec![
        ("nothing", Vec::new()),
        ("white space", b" \n".to_vec()),
        ("not JSON", b"SECRET".to_vec()),
        ("half an object", b"{\"session_id\":\"SECRET\",".to_vec()),
        ("two objects", b"{} {}".to_vec()),
        ("a list", b"[\"SECRET\"]".to_vec()),
        ("a number", b"7".to_vec()),
        ("an empty object", b"{}".to_vec()),
        ("bytes that are not text", b"\xff\xfe\x00\x01".to_vec()),
        ("a deep list", "[".repeat(200_000).into_bytes()),
        ("a deep object", "{\"a\":".repeat(200_000).into_bytes()),
        ("a deep field", with("Stop", json!({})).iter().take(20).copied().chain("[".repeat(100_000).bytes()).collect()),
        ("over the limit", huge.into_bytes()),
        ("a session that is a number", with("Stop", json!({ "session_id": 7 }))),
        ("a session without a name", with("Stop", json!({ "session_id": "" }))),
        ("a session with NUL", with("Stop", json!({ "session_id": "a\0SECRET" }))),
        (
            "a session with half a pair",
            br#"{"session_id":"\ud800\n","hook_event_name":"Stop","cwd":"{project}"}"#.to_vec(),
        ),
        ("a session that is too long", with("Stop", json!({ "session_id": "s".repeat(100_000) }))),
        ("an event that is a list", with("Stop", json!({ "hook_event_name": ["Stop"], "session_id": null }))),
        ("a prompt that is an object", with("UserPromptSubmit", json!({ "prompt": { "SECRET": 1 } }))),
        ("a tool that is a number", with("PostToolUse", json!({ "tool_name": 1, "tool_input": "SECRET" }))),
        ("a source that is unknown", with("SessionStart", json!({ "source": "moon" }))),
        ("a folder that does not exist", with("Stop", json!({ "cwd": "/SECRET/does/not/exist" }))),
        ("a folder that is a number", with("Stop", json!({ "cwd": 5, "session_id": 5 }))),
    ]
}

#[test]
fn hostile_payloads_end_in_silence_and_a_line_of_the_log() {
    let hooks = Hooks::with_memory();
    let before = hooks.store.tree();
    let payloads = hostile();
    assert!(payloads.len() >= 20);
    for (count, (name, payload)) in payloads.into_iter().enumerate() {
        let payload = String::from_utf8(payload.clone())
            .map(|text| text.replace("{project}", hooks.project.to_str().expect("text")).into_bytes())
            .unwrap_or(payload);
        let run = hooks.hook(&[], &payload).exits(0).prints("");
        assert_eq!(run.stderr, "", "{name}");
        let log = hooks.log();
        assert_eq!(log.len(), count + 1, "{name}: {:?}", log.last());
        assert!(!log[count].to_string().contains("does/not/exist"), "{name}: {}", log[count]);
    }
    assert_eq!(hooks.store.tree(), before);
}

#[test]
fn odd_values_that_can_be_used_are_used() {
    let hooks = Hooks::with_memory();
    let odd = [
        claude("s", "UserPromptSubmit", &json!({ "prompt": "rounding\u{0} of the \u{202e} tax report" })),
        claude("s", "UserPromptSubmit", &json!({ "prompt": "" })),
        claude("s", "UserPromptSubmit", &json!({ "prompt": "<private>all of it" })),
        claude("s", "UserPromptSubmit", &json!({ "prompt": "x ".repeat(1 << 20) })),
        claude("s", "PostToolUse", &json!({ "tool_name": "Bash", "tool_input": null, "tool_response": [[[]]] })),
        claude(
            "s",
            "PostToolUse",
            &json!({ "tool_name": "Bash", "tool_input": { "command": "echo \0 ok" }, "tool_response": 7 }),
        ),
        claude("s", "PostToolUse", &json!({ "tool_name": "Write", "tool_input": { "file_path": "a\nb\0c" } })),
        claude(
            "s",
            "PostToolUse",
            &json!({ "tool_name": "Bash", "tool_input": { "command": "make" }, "tool_response": "x".repeat(6 << 20) }),
        ),
        claude("s", "Stop", &json!({ "unknown": { "deep": [1, 2, 3] } })),
    ];
    for payload in odd {
        hooks.send(&[], &payload);
    }
    let half = br#"{"session_id":"s","transcript_path":"/h/.claude/x","cwd":"{project}","hook_event_name":"UserPromptSubmit","prompt":"half \ud83d a pair"}"#;
    let half = String::from_utf8_lossy(half).replace("{project}", hooks.project.to_str().expect("text"));
    hooks.hook(&[], half.as_bytes()).exits(0);
    assert_eq!(hooks.log(), Vec::<serde_json::Value>::new());
}

#[test]
fn a_command_line_that_is_wrong_never_has_another_exit_code() {
    let hooks = Hooks::new();
    let payload = claude("s", "Stop", &json!({})).to_string();
    let wrong: [&[&str]; 7] = [
        &["stop", "--max-byts", "7"],
        &["stop", "--max-bytes", "many"],
        &["stop", "--client", "emacs"],
        &["stop", "--exclude", "["],
        &["stop", "--min-score", "-1"],
        &["stop", "more", "words"],
        &["moon"],
    ];
    for (count, arguments) in wrong.iter().enumerate() {
        let input = if *arguments == ["moon"] { "{\"sessionId\":\"s\"}" } else { &payload };
        hooks.hook(arguments, input.as_bytes()).exits(0).prints("");
        assert_eq!(hooks.log().len(), count + 1, "{arguments:?}");
    }
    let mut command = hooks.bare();
    command.args(["--rooot", "x", "hook", "stop"]);
    let run = crate::support::run(&mut command, Some(payload.as_bytes())).exits(0).prints("");
    assert!(run.stderr.contains("the hook does nothing"), "{}", run.stderr);
    // Other commands still say it with their exit code.
    hooks.memory(&["status", "--max-byts", "7"]).exits(2);
    hooks.hook(&["--help"], b"").exits(0).complains("");
}

#[test]
fn a_client_that_never_closes_its_pipe_is_not_kept_waiting() {
    let hooks = Hooks::new();
    let mut child = hooks.command(&["prompt"]).stdin(Stdio::piped()).spawn().expect("it starts");
    let begun = Instant::now();
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(b"{\"session_id\":").expect("written");
    let ended = child.wait().expect("it ends");
    drop(stdin);
    assert_eq!(ended.code(), Some(0));
    assert!(begun.elapsed() >= Duration::from_millis(1_900), "{:?}", begun.elapsed());
    assert_eq!(hooks.log()[0]["code"], "time-limit");
}

#[test]
fn closed_pipes_are_no_reason_to_fail() {
    let hooks = Hooks::with_memory();
    let payload = claude("s", "SessionStart", &json!({ "source": "startup" })).to_string();
    let payload = payload.replace("{project}", hooks.project.to_str().expect("text"));
    let mut child = hooks.command(&["start"]).stdin(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    child.stdin.take().expect("a pipe").write_all(payload.as_bytes()).expect("written");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert_eq!(hooks.log()[0]["code"], "output");
    let closed = hooks.command(&["start"]).stdin(Stdio::null()).output().expect("it runs");
    assert_eq!((closed.status.code(), closed.stdout), (Some(0), Vec::new()));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_under_the_output_is_no_reason_to_fail() {
    let hooks = Hooks::with_memory();
    let payload = claude("s", "SessionStart", &json!({ "source": "startup" })).to_string();
    let payload = payload.replace("{project}", hooks.project.to_str().expect("text"));
    let full = std::fs::File::options().write(true).open("/dev/full").expect("it is there");
    let mut child = hooks.command(&["start"]).stdin(Stdio::piped()).stdout(full).spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(payload.as_bytes()).expect("written");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert_eq!(hooks.log()[0]["code"], "output");
}
