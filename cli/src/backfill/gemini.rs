//! Transcripts of Gemini CLI: `tmp/HASH/chats/session-*.jsonl`, and the older `.json` with one object.
//!
//! A line with a known `id` replaces the earlier one, `$rewindTo` drops a message and all after it, and `$set.messages`
//! replaces the list. So the events of each message are kept until the end.

use std::collections::BTreeMap;

use serde_json::Value;

use saddlebag::session::prompt_of;

use super::session::{Event, Session};

/// Tools that change a file.
const EDITS: [&str; 3] = ["write_file", "replace", "edit"];

/// Maximum number of messages of a session.
const MAX_MESSAGES: usize = 100_000;

/// Maximum size of text that is kept of a message, in bytes.
const MAX_TEXT: usize = 4_096;

/// Maximum size of the events that are kept of a session, in bytes.
const MAX_KEPT: usize = 64 << 20;

/// Messages of a session.
#[derive(Default)]
pub(super) struct Chat {
    id: String,
    /// Digest of the folder of the project, as the client writes it.
    pub(super) project: Option<String>,
    /// Folders of the session.
    pub(super) folders: Vec<String>,
    is_of_subagent: bool,
    messages: Vec<Message>,
    /// Position of each message, by its id.
    places: BTreeMap<String, usize>,
    kept: usize,
    pub(super) is_full: bool,
}

struct Message {
    id: String,
    time: Option<String>,
    events: Vec<Event>,
    size: usize,
}

fn field<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

impl Chat {
    /// Reads a line, or the whole object of an older transcript.
    pub(super) fn read(&mut self, line: &Value) {
        if let Some(set) = line.get("$set") {
            self.header(set);
        } else if let Some(id) = field(line, "$rewindTo") {
            let keep = self.places.get(id).copied().unwrap_or_default();
            self.truncate(keep);
        } else if line.get("sessionId").is_some() {
            self.header(line);
        } else {
            self.message(line);
        }
    }

    fn header(&mut self, header: &Value) {
        if let Some(id) = field(header, "sessionId") {
            self.id = id.chars().take(200).collect();
        }
        self.project = field(header, "projectHash").map(String::from).or(self.project.take());
        self.is_of_subagent |= field(header, "kind") == Some("subagent");
        if let Some(folders) = header.get("directories").and_then(Value::as_array) {
            self.folders = folders.iter().filter_map(Value::as_str).take(64).map(String::from).collect();
        }
        if let Some(messages) = header.get("messages").and_then(Value::as_array) {
            self.truncate(0);
            messages.iter().for_each(|message| self.message(message));
        }
    }

    fn truncate(&mut self, keep: usize) {
        for message in self.messages.drain(keep.min(self.messages.len())..) {
            self.places.remove(&message.id);
            self.kept -= message.size;
        }
    }

    fn message(&mut self, line: &Value) {
        let events = events(line);
        if events.is_empty() {
            return;
        }
        let size = events.iter().map(size_of).sum();
        let id: String = field(line, "id").unwrap_or_default().chars().take(200).collect();
        let place = self.places.get(&id).copied().filter(|_| !id.is_empty());
        if self.kept + size > MAX_KEPT || (place.is_none() && self.messages.len() == MAX_MESSAGES) {
            self.is_full = true;
            return;
        }
        self.kept += size;
        let message = Message { id: id.clone(), time: field(line, "timestamp").map(String::from), events, size };
        match place.and_then(|place| self.messages.get_mut(place)) {
            Some(known) => {
                self.kept -= known.size;
                *known = message;
            }
            None => {
                self.places.insert(id, self.messages.len());
                self.messages.push(message);
            }
        }
    }

    /// Returns the session; `None` for the session of a subagent.
    pub(super) fn session(self, folder: Option<String>) -> Option<Session> {
        if self.is_of_subagent {
            return None;
        }
        let mut session = Session::new("gemini", self.id, folder);
        for message in self.messages {
            session.at(message.time.as_deref());
            message.events.into_iter().for_each(|event| session.take(event));
        }
        Some(session)
    }
}

fn size_of(event: &Event) -> usize {
    64 + match event {
        Event::Used => 0,
        Event::Prompt(text) | Event::Answer(text) | Event::File(text) => text.len(),
        Event::Command(number, text) | Event::Ended(number, Ok(text) | Err(text)) => number.len() + text.len(),
    }
}

fn events(line: &Value) -> Vec<Event> {
    let text = text(line.get("displayContent").or_else(|| line.get("content")));
    let mut events = Vec::new();
    match field(line, "type") {
        Some("user") if prompt_of(&text).is_some() && !text.trim_start().starts_with('/') => {
            events.push(Event::Prompt(text));
        }
        Some("gemini") => {
            let calls = line.get("toolCalls").and_then(Value::as_array);
            calls.into_iter().flatten().zip(0_usize..).for_each(|(call, number)| tool(call, number, &mut events));
            if !text.trim().is_empty() {
                events.push(Event::Answer(text));
            }
        }
        _ => {}
    }
    events
}

/// Returns the text, or the joined text of a list of parts.
fn text(content: Option<&Value>) -> String {
    let bounded = |text: &str| saddlebag::document::head(text, MAX_TEXT).to_string();
    match content {
        Some(Value::String(text)) => bounded(text),
        Some(Value::Array(parts)) => {
            let texts: Vec<&str> =
                parts.iter().filter_map(|part| part.as_str().or_else(|| field(part, "text"))).take(64).collect();
            bounded(&texts.join("\n"))
        }
        Some(part @ Value::Object(_)) => bounded(field(part, "text").unwrap_or_default()),
        _ => String::new(),
    }
}

fn tool(call: &Value, number: usize, events: &mut Vec<Event>) {
    let argument = |name: &str| {
        call.get("args")
            .and_then(|arguments| field(arguments, name))
            .map(|text| text.chars().take(MAX_TEXT).collect::<String>())
    };
    let has_failed = field(call, "status").is_some_and(|status| status == "error");
    match field(call, "name") {
        Some(name) if EDITS.contains(&name) && !has_failed => {
            argument("file_path").into_iter().for_each(|path| events.push(Event::File(path)));
        }
        Some("run_shell_command") => {
            let number =
                format!("{} {number}", field(call, "id").unwrap_or_default().chars().take(100).collect::<String>());
            if let Some(command) = argument("command") {
                events.push(Event::Command(number.clone(), command));
                let code = exit_code(call).filter(|code| *code != 0).map(|code| format!("exit code {code}"));
                let error = code.or(has_failed.then(String::new));
                events.push(Event::Ended(number, error.map_or_else(|| Ok(String::new()), Err)));
            }
        }
        Some(_) => events.push(Event::Used),
        None => {}
    }
}

/// Returns the exit code in the result of a command.
fn exit_code(call: &Value) -> Option<i64> {
    let results = call.get("result").and_then(Value::as_array);
    let texts = results
        .into_iter()
        .flatten()
        .filter_map(|part| part.get("functionResponse")?.get("response")?.get("output")?.as_str());
    let mut texts = texts.chain(field(call, "resultDisplay"));
    texts.find_map(|text| {
        let digits: String =
            text.split_once("Exit Code: ")?.1.chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect();
        digits.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn header() -> Value {
        json!({"sessionId": "g7", "projectHash": "abc", "startTime": "2026-11-02T09:00:00Z", "kind": "main", "directories": ["/s"]})
    }

    fn user(id: &str, text: &str) -> Value {
        json!({"id": id, "timestamp": "2026-11-02T09:00:01Z", "type": "user", "content": [{"text": text}]})
    }

    fn gemini(id: &str, text: &str, calls: Value) -> Value {
        json!({"id": id, "timestamp": "2026-11-02T09:00:02Z", "type": "gemini", "content": text, "toolCalls": calls})
    }

    fn content(lines: &[Value]) -> Option<String> {
        let mut chat = Chat::default();
        lines.iter().for_each(|line| chat.read(line));
        Some(chat.session(Some("/s".into()))?.note("")?.content)
    }

    /// Returns the prompts and the last answer.
    fn said(lines: &[Value]) -> (Vec<String>, String) {
        let mut chat = Chat::default();
        lines.iter().for_each(|line| chat.read(line));
        let session = chat.session(Some("/s".into())).expect("a session");
        (session.prompts().into_iter().map(String::from).collect(), session.answer().to_string())
    }

    fn shell(output: &str) -> Value {
        json!({"id": "c", "name": "run_shell_command", "args": {"command": "make test"}, "status": "success",
               "result": [{"functionResponse": {"response": {"output": output}}}]})
    }

    #[test]
    fn prompts_files_and_commands_are_read_in_both_formats() {
        let write = json!({"id": "w", "name": "write_file", "args": {"file_path": "/s/a.py", "content": "x"}, "status": "success"});
        let failed = json!({"id": "w", "name": "write_file", "args": {"file_path": "/s/b.py"}, "status": "error"});
        let messages = [
            user("1", "fix tax"),
            gemini("2", "", json!([shell("Exit Code: 1"), write, failed])),
            gemini("3", "Done.", json!([shell("Exit Code: 0")])),
            json!({"id": "4", "type": "info", "content": "x"}),
        ];
        let expected = "1 prompt, 3 changes and commands, 1 error.\n\n## Prompt\n\n    fix tax\n\n\
                        ## Last answer of the agent after work\n\n    Done.\n\n\
                        ## Commands that failed and then passed\n\n- `make test`\n\n## Files\n\n- `a.py` (1)";
        let lines: Vec<Value> = std::iter::once(header()).chain(messages.clone()).collect();
        assert_eq!(content(&lines).as_deref(), Some(expected));
        let mut whole = header();
        whole["messages"] = json!(messages);
        assert_eq!(content(&[whole]).as_deref(), Some(expected));
    }

    #[test]
    fn a_repeated_id_replaces_and_a_rewind_drops() {
        let lines = [
            header(),
            user("1", "one"),
            gemini("2", "draft", json!([])),
            gemini("2", "x", json!([])),
            user("3", "given up"),
            gemini("4", "given up", json!([])),
            json!({"$rewindTo": "3"}),
            user("5", "two"),
            gemini("6", "last", json!([])),
        ];
        assert_eq!(said(&lines), (vec!["one".to_string(), "two".to_string()], "last".to_string()));
        let all = [header(), user("1", "one"), gemini("2", "x", json!([])), json!({"$rewindTo": "unknown"})];
        assert_eq!(content(&all), None);
        let set = [
            header(),
            user("1", "one"),
            json!({"$set": {"lastUpdated": "x", "messages": [user("9", "other"), gemini("8", "y", json!([]))]}}),
        ];
        assert_eq!(said(&set), (vec!["other".to_string()], "y".to_string()));
    }

    #[test]
    fn subagents_commands_of_the_client_and_other_shapes_are_left_out() {
        let mut sub = header();
        sub["kind"] = json!("subagent");
        assert_eq!(content(&[sub, user("1", "one"), gemini("2", "x", json!([]))]), None);
        assert_eq!(content(&[header(), user("1", "/clear"), gemini("2", "x", json!([]))]), None);
        for line in [
            json!(null),
            json!([]),
            json!({"type": "user", "content": 5}),
            json!({"$set": 3}),
            json!({"type": "gemini", "toolCalls": [1, {"name": "run_shell_command", "args": []}]}),
        ] {
            assert_eq!(content(&[header(), line]), None);
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut chat = Chat::default();
        let long = "x".repeat(100_000);
        for number in 0..20_000 {
            chat.read(&user(&number.to_string(), &long));
        }
        assert!(chat.is_full && chat.kept <= MAX_KEPT);
        chat.read(&json!({"$rewindTo": "unknown"}));
        assert_eq!((chat.kept, chat.messages.len()), (0, 0));
    }
}
