//! A run without arguments: some clients ignore the list of arguments in a configuration that they share.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Hooks, claude, text_of};
use crate::support::{Run, engine, run};

impl Hooks {
    /// Returns the program without any argument.
    fn alone(&self) -> Command {
        let mut command = self.store.bare(&[]);
        command.env("HOME", &self.home).env("USERPROFILE", &self.home).env("APPDATA", self.home.join("data"));
        command.env("XDG_STATE_HOME", self.home.join("state")).env("SADDLEBAG_ROOT", &self.store.root);
        super::OF_CLIENTS.iter().for_each(|name| {
            command.env_remove(name);
        });
        command
    }

    fn alone_with(&self, input: &[u8]) -> Run {
        run(&mut self.alone(), Some(input))
    }

    fn alone_at(&self, payload: &Value) -> Run {
        let text = payload.to_string().replace("{project}", self.project.to_str().expect("text"));
        self.alone_with(text.as_bytes())
    }
}

#[test]
fn a_run_without_arguments_serves_the_event_of_its_input() {
    if cfg!(feature = "component") && engine() == "native" {
        // Such a run takes the default engine.
        return eprintln!("a_run_without_arguments_serves_the_event_of_its_input: not run with the native engine");
    }
    let hooks = Hooks::with_memory();
    let started = hooks.alone_at(&claude("s", "SessionStart", &json!({ "source": "startup" }))).exits(0);
    assert!(text_of(&started.json()).contains("Reports are in euros"), "{started:?}");
    let asked = claude("s", "UserPromptSubmit", &json!({ "prompt": "Which rounding does the tax report use?" }));
    let answered = hooks.alone_at(&asked).exits(0);
    assert!(text_of(&answered.json()).contains("half to even"), "{answered:?}");
    // VS Code names the fields in its own way.
    let other =
        json!({ "sessionId": "t", "hookEventName": "SessionStart", "transcript_path": "/t", "cwd": "{project}" });
    assert!(hooks.alone_at(&other).exits(0).stdout.contains("Reports are in euros"));
    hooks.alone_at(&claude("s", "PreToolUse", &json!({ "tool_name": "Bash", "tool_input": {} }))).exits(0).prints("");
    assert_eq!(hooks.log(), Vec::<Value>::new());
}

#[test]
fn a_run_without_arguments_is_silent_for_any_other_input() {
    let hooks = Hooks::with_memory();
    let before = hooks.everything();
    let inputs: [&[u8]; 7] =
        [b"", b"\n", b"hello", b"[1]", b"{}", b"{\"session_id\":\"s\",\"prompt\":\"x\"}", b"{\"hook_event_name\":7}"];
    for input in inputs {
        let ended = hooks.alone_with(input).exits(0).prints("");
        assert_eq!(ended.stderr, "", "{}", String::from_utf8_lossy(input));
    }
    run(hooks.alone().stdin(Stdio::null()), None).exits(0).prints("");
    assert_eq!(hooks.log(), Vec::<Value>::new());
    assert_eq!(hooks.everything(), before);
}

#[test]
fn a_run_without_arguments_that_fails_is_logged_and_blocks_nothing() {
    let hooks = Hooks::with_memory();
    let start = claude("s", "SessionStart", &json!({ "source": "moon" }));
    hooks.alone_at(&start).exits(0).prints("");
    assert_eq!(hooks.log().len(), 1);
    let mut command = hooks.alone();
    command.env("SADDLEBAG_SECRETS", "perhaps");
    run(&mut command, Some(start.to_string().as_bytes())).exits(0).prints("");
}

#[test]
fn a_run_without_arguments_whose_input_does_not_end_is_no_failed_hook() {
    let hooks = Hooks::with_memory();
    let mut child = hooks.alone().stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("started");
    let input = child.stdin.take();
    assert!(child.wait().expect("ended").success());
    drop(input);
    assert_eq!(hooks.log(), Vec::<Value>::new());
    // A newer client has events that are not known.
    hooks.alone_at(&claude("s", "SomethingNew", &json!({}))).exits(0).prints("");
    assert_eq!(hooks.log(), Vec::<Value>::new());
}

#[cfg(unix)]
#[test]
fn a_run_without_arguments_on_a_terminal_prints_the_help() {
    let hooks = Hooks::new();
    let Some(shown) = crate::terminal::answering(hooks.alone(), Some("")) else {
        return eprintln!(
            "a_run_without_arguments_on_a_terminal_prints_the_help: not run, as there is no pseudo-terminal"
        );
    };
    assert!(shown.contains("Everyday commands"), "{shown}");
}
