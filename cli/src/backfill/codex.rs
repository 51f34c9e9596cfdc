//! Transcripts of Codex: `sessions/YYYY/MM/DD/rollout-TIME-UUID.jsonl`.
//!
//! Prompts and answers are read from `event_msg`, because `response_item` repeats them with text that the client added.
//! Commands and patches are read from either.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use saddlebag::session::prompt_of;

use super::session::{Event, Session};
use crate::client_json::parsed;

/// Lines of a patch that name a file.
const PATCHED: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// Words before the exit code in the output of a command.
const EXIT_CODES: [&str; 2] = ["exited with code ", "Exit code: "];

fn field<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

/// Reads a line into a session. `seen` has the prompts of all sessions, because a fork repeats those before it.
pub(super) fn read(line: &Value, seen: &mut BTreeSet<u64>, session: &mut Session) {
    let (Some(kind), Some(payload)) = (field(line, "type"), line.get("payload")) else { return };
    let time = field(line, "timestamp");
    match kind {
        "session_meta" if session.id.is_empty() => {
            session.id = field(payload, "id").unwrap_or_default().to_string();
            session.folder = session.folder.take().or_else(|| field(payload, "cwd").map(String::from));
        }
        "turn_context" if session.folder.is_none() => session.folder = field(payload, "cwd").map(String::from),
        "event_msg" => {
            if is_repeated(time, payload, seen) {
                return;
            }
            session.at(time);
            event(payload, session);
        }
        "response_item" => item(payload, session),
        _ => {}
    }
}

fn is_repeated(time: Option<&str>, payload: &Value, seen: &mut BTreeSet<u64>) -> bool {
    let (Some(time), Some(message)) = (time, field(payload, "message")) else { return false };
    let mut hasher = DefaultHasher::new();
    (time, field(payload, "type"), message).hash(&mut hasher);
    !seen.insert(hasher.finish())
}

fn event(payload: &Value, session: &mut Session) {
    let message = || field(payload, "message").map(String::from);
    match field(payload, "type") {
        Some("user_message") => {
            if let Some(text) = message().filter(|text| prompt_of(text).is_some()) {
                session.take(Event::Prompt(text));
            }
        }
        Some("agent_message") => message().into_iter().for_each(|text| session.take(Event::Answer(text))),
        Some("patch_apply_begin" | "patch_apply_end") => {
            let changes = payload.get("changes").and_then(Value::as_object);
            changes.into_iter().flatten().for_each(|(path, _)| session.take(Event::File(path.clone())));
        }
        _ => {}
    }
}

fn item(payload: &Value, session: &mut Session) {
    let number = || field(payload, "call_id").unwrap_or_default().to_string();
    match field(payload, "type") {
        Some("function_call" | "local_shell_call") => {
            // Only a tool that patches names files. The text of another command may come from a page.
            if field(payload, "name") == Some("apply_patch") {
                patched(&patch(payload), session);
            } else if let Some(command) = command(payload) {
                session.take(Event::Command(number(), command));
            } else {
                session.take(Event::Used);
            }
        }
        Some("custom_tool_call") if field(payload, "name") == Some("apply_patch") => {
            patched(field(payload, "input").unwrap_or_default(), session);
        }
        Some("function_call_output" | "custom_tool_call_output") => {
            if let Some(code) = payload.get("output").and_then(exit_code) {
                let text = payload.get("output").map(output_text).unwrap_or_default();
                let result = if code == 0 { Ok(text) } else { Err(format!("exit code {code}\n{text}")) };
                session.take(Event::Ended(number(), result));
            }
        }
        _ => {}
    }
}

/// Returns the command of a call; `None` if the call does not run a command.
fn command(payload: &Value) -> Option<String> {
    let inner;
    let arguments = match (payload.get("action"), field(payload, "arguments")) {
        (Some(action), _) => action,
        (None, Some(text)) => {
            inner = parsed(text.as_bytes()).ok()?;
            &inner
        }
        (None, None) => return None,
    };
    match arguments.get("command").or_else(|| arguments.get("cmd"))? {
        Value::String(command) => Some(command.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            // The shell that runs it says nothing.
            let is_shell = |word: &str| ["bash", "sh", "zsh"].contains(&word.rsplit('/').next().unwrap_or_default());
            match words.as_slice() {
                [shell, option, command] if is_shell(shell) && option.starts_with('-') => Some((*command).to_string()),
                words => Some(words.join(" ")),
            }
        }
        _ => None,
    }
}

/// Returns the text of a patch: an argument, or the last word of a command.
fn patch(payload: &Value) -> String {
    let arguments = field(payload, "arguments").and_then(|text| parsed(text.as_bytes()).ok());
    let input = arguments.as_ref().and_then(|arguments| field(arguments, "input").or(field(arguments, "patch")));
    input.map(String::from).or_else(|| command(payload)).unwrap_or_default()
}

/// Returns the text of an output.
fn output_text(output: &Value) -> String {
    let text = output.as_str().or_else(|| field(output, "content")).or_else(|| field(output, "output"));
    text.unwrap_or_default().to_string()
}

/// Records the files that a patch names.
fn patched(patch: &str, session: &mut Session) {
    for line in patch.lines() {
        if let Some(path) = PATCHED.iter().find_map(|prefix| line.strip_prefix(prefix)) {
            session.take(Event::File(path.trim().to_string()));
        }
    }
}

/// Returns the exit code that an output names: in its metadata, or in words.
fn exit_code(output: &Value) -> Option<i64> {
    let in_metadata =
        |value: &Value| value.get("metadata").and_then(|metadata| metadata.get("exit_code")).and_then(Value::as_i64);
    if let Some(code) = in_metadata(output) {
        return Some(code);
    }
    let text = output.as_str().or_else(|| field(output, "content"))?;
    if text.starts_with('{')
        && let Ok(output) = parsed(text.as_bytes())
    {
        return in_metadata(&output);
    }
    let after = EXIT_CODES.iter().find_map(|words| text.split_once(words))?.1;
    let digits: String = after.chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn meta(id: &str) -> Value {
        json!({"timestamp": "2026-11-02T09:00:00Z", "type": "session_meta", "payload": {"id": id, "cwd": "/s", "cli_version": "0.99.0"}})
    }

    fn said(kind: &str, second: u32, text: &str) -> Value {
        json!({"timestamp": format!("2026-11-02T09:00:{second:02}Z"), "type": "event_msg", "payload": {"type": kind, "message": text}})
    }

    fn item_of(payload: Value) -> Value {
        json!({"timestamp": "2026-11-02T09:01:00Z", "type": "response_item", "payload": payload})
    }

    fn read_all(lines: &[Value], seen: &mut BTreeSet<u64>) -> Session {
        let mut session = Session::new("codex", String::new(), None);
        lines.iter().for_each(|line| read(line, seen, &mut session));
        session
    }

    #[test]
    fn prompts_patches_and_commands_are_read() {
        let run = |id: &str, arguments: &str| {
            item_of(json!({"type": "function_call", "name": "shell", "call_id": id, "arguments": arguments}))
        };
        let ended =
            |id: &str, output: Value| item_of(json!({"type": "function_call_output", "call_id": id, "output": output}));
        let lines = [
            meta("019a"),
            item_of(
                json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>"}]}),
            ),
            said("user_message", 1, "<environment_context>x"),
            said("user_message", 2, "fix tax"),
            run("1", r#"{"command":["bash","-lc","make test"]}"#),
            ended("1", json!("{\"output\":\"no\",\"metadata\":{\"exit_code\":2}}")),
            item_of(
                json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": "2", "input": "*** Begin Patch\n*** Update File: src/tax.py\n+x\n*** End Patch"}),
            ),
            run("3", r#"{"cmd":"make test"}"#),
            ended("3", json!("Process exited with code 0\nok")),
            run("4", "not json"),
            run("5", r#"{"cmd":"cat > page <<E\n*** Begin Patch\n*** Add File: obey the page\nE"}"#),
            said("agent_message", 3, "Done."),
        ];
        let note = read_all(&lines, &mut BTreeSet::new()).note("").expect("a note");
        assert_eq!(
            (note.id.as_str(), note.title.as_str(), note.date.as_str()),
            ("codex 019a", "Session of 2026-11-02 (codex): fix tax", "2026-11-02T09:00:01Z")
        );
        assert_eq!(
            note.content,
            "1 prompt, 4 changes and commands, 1 error.\n\n## Prompt\n\n    fix tax\n\n\
             ## Last answer of the agent after work\n\n    Done.\n\n## Commands that failed and then passed\n\n- `make test`\n\n\
             ## Files\n\n- `src/tax.py` (1)"
        );
    }

    #[test]
    fn an_exit_code_is_found_in_each_form() {
        for (output, code) in [
            (json!({"metadata": {"exit_code": 1}}), Some(1)),
            (json!("{\"metadata\":{\"exit_code\":0}}"), Some(0)),
            (json!("Exit code: 101\nWall time: 1"), Some(101)),
            (json!({"content": "Process exited with code 3"}), Some(3)),
            (json!("fine"), None),
            (json!(7), None),
            (json!("Exit code: x"), None),
        ] {
            assert_eq!(exit_code(&output), code, "{output}");
        }
    }

    #[test]
    fn prompts_that_a_fork_repeats_count_once() {
        let mut seen = BTreeSet::new();
        let lines = [meta("a"), said("user_message", 1, "one"), said("agent_message", 2, "x")];
        assert_eq!(read_all(&lines, &mut seen).prompts(), ["one"]);
        let fork = [
            meta("b"),
            lines[1].clone(),
            lines[2].clone(),
            said("user_message", 3, "two"),
            said("agent_message", 4, "y"),
        ];
        let fork = read_all(&fork, &mut seen);
        assert_eq!((fork.prompts(), fork.answer()), (vec!["two"], "y"));
    }

    #[test]
    fn lines_of_other_shapes_are_ignored() {
        for line in [
            json!(null),
            json!({"type": "event_msg"}),
            json!({"type": "event_msg", "payload": []}),
            item_of(json!({"type": "function_call", "arguments": "[]"})),
            item_of(json!({"type": "function_call_output", "output": {}})),
            json!({"type": "session_meta", "payload": {"id": 5}}),
        ] {
            assert_eq!(read_all(&[line], &mut BTreeSet::new()).note(""), None);
        }
    }
}
