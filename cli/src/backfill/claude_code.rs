//! Transcripts of Claude Code: `projects/P/SESSION.jsonl`.
//!
//! The lines of a session are a tree by `uuid` and `parentUuid`. A prompt that was edited begins another branch, and only
//! the branch of the last line counts. A resumed session may repeat lines of an earlier file with their `uuid`; each counts
//! once. [`Branches`] reads the tree first, [`read`] the lines.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use saddlebag::session::prompt_of;

use super::session::{Event, Session};

/// Maximum number of lines of a session in its tree.
const MAX_LINES: usize = 1 << 20;

/// Tools that change a file, with the field of its path.
const EDITS: [(&str, &str); 4] =
    [("Edit", "file_path"), ("MultiEdit", "file_path"), ("Write", "file_path"), ("NotebookEdit", "notebook_path")];

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

fn field<'a>(line: &'a Value, name: &str) -> Option<&'a str> {
    line.get(name).and_then(Value::as_str)
}

fn is_set(line: &Value, name: &str) -> bool {
    line.get(name).and_then(Value::as_bool).unwrap_or_default()
}

/// Returns true if a line is a part of the conversation with the person.
fn counts(line: &Value) -> bool {
    let left_out = ["isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage"];
    matches!(field(line, "type"), Some("user" | "assistant")) && !left_out.iter().any(|name| is_set(line, name))
}

/// Tree of the lines of a session.
#[derive(Default)]
pub(super) struct Branches {
    /// Lines in order: the line, the previous line, and true if it is a prompt.
    lines: Vec<(u64, u64, bool)>,
    is_full: bool,
}

/// Lines of branches that were given up.
#[derive(Default)]
pub(super) struct Dropped(BTreeSet<u64>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the last line.
    OnPath,
    /// Beside the path, such as the result of one of several tools.
    Beside,
    /// In a branch that begins with another prompt than the path.
    Dropped,
    /// Without a connection to the path, such as before a compaction.
    Apart,
}

impl Branches {
    /// Records a line.
    pub(super) fn add(&mut self, line: &Value) {
        let Some(uuid) = field(line, "uuid").filter(|_| !is_set(line, "isSidechain")) else { return };
        if self.lines.len() == MAX_LINES {
            self.is_full = true;
            return;
        }
        let before = field(line, "parentUuid").or_else(|| field(line, "logicalParentUuid"));
        let is_prompt = counts(line) && !prompts(line).is_empty();
        self.lines.push((hash(uuid), before.map(hash).unwrap_or_default(), is_prompt));
    }

    /// Returns the lines of branches that were given up; nothing for a session with too many lines.
    pub(super) fn dropped(&self) -> Dropped {
        if self.is_full {
            return Dropped::default();
        }
        let before: BTreeMap<u64, u64> = self.lines.iter().map(|(line, before, _)| (*line, *before)).collect();
        let mut path = BTreeSet::new();
        let mut next = self.lines.last().map(|(line, _, _)| *line);
        while let Some(line) = next.filter(|line| path.insert(*line)) {
            next = before.get(&line).copied();
        }
        let mut places: BTreeMap<u64, Place> = BTreeMap::new();
        for (line, before, is_prompt) in &self.lines {
            let place = match places.get(before) {
                _ if path.contains(line) => Place::OnPath,
                Some(Place::OnPath | Place::Beside) if *is_prompt => Place::Dropped,
                Some(Place::OnPath | Place::Beside) => Place::Beside,
                Some(place) => *place,
                // The first prompt of all can be edited, too.
                None if *before == 0 && *is_prompt && self.begins_anew(&path) => Place::Dropped,
                None => Place::Apart,
            };
            places.insert(*line, place);
        }
        Dropped(places.into_iter().filter(|(_, place)| *place == Place::Dropped).map(|(line, _)| line).collect())
    }

    /// Returns true if the path begins with a prompt and not with the boundary of a compaction.
    fn begins_anew(&self, path: &BTreeSet<u64>) -> bool {
        self.lines.iter().any(|(line, before, is_prompt)| *before == 0 && *is_prompt && path.contains(line))
    }
}

/// Reads a line into a session. `seen` has the lines of all sessions.
pub(super) fn read(line: &Value, dropped: &Dropped, seen: &mut BTreeSet<u64>, session: &mut Session) {
    if session.folder.is_none() {
        session.folder = field(line, "cwd").map(String::from);
    }
    if session.id.is_empty() {
        session.id = field(line, "sessionId").unwrap_or_default().to_string();
    }
    if !counts(line) {
        return;
    }
    if let Some(uuid) = field(line, "uuid").map(hash)
        && (dropped.0.contains(&uuid) || !seen.insert(uuid))
    {
        return;
    }
    session.at(field(line, "timestamp"));
    if field(line, "type") == Some("user") {
        prompts(line).into_iter().for_each(|text| session.take(Event::Prompt(text.to_string())));
    }
    for block in blocks(line) {
        match (field(line, "type"), field(block, "type")) {
            (Some("assistant"), Some("text")) => {
                session.take(Event::Answer(field(block, "text").unwrap_or_default().to_string()));
            }
            (Some("assistant"), Some("tool_use")) => tool(block, session),
            (Some("user"), Some("tool_result")) => {
                let number = field(block, "tool_use_id").unwrap_or_default().to_string();
                let text = result_text(block);
                session.take(Event::Ended(number, if is_set(block, "is_error") { Err(text) } else { Ok(text) }));
            }
            _ => {}
        }
    }
}

fn tool(block: &Value, session: &mut Session) {
    let Some(name) = field(block, "name") else { return };
    let input = |name: &str| block.get("input").and_then(|input| field(input, name)).map(String::from);
    if let Some((_, path)) = EDITS.iter().find(|(tool, _)| *tool == name) {
        input(path).into_iter().for_each(|path| session.take(Event::File(path)));
    } else if name == "Bash"
        && let Some(command) = input("command")
    {
        session.take(Event::Command(field(block, "id").unwrap_or_default().to_string(), command));
    } else {
        session.take(Event::Used);
    }
}

fn blocks(line: &Value) -> &[Value] {
    line.get("message").and_then(|message| message.get("content")).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the text of the result of a tool.
fn result_text(block: &Value) -> String {
    match block.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| field(part, "text")).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

/// Returns what the person wrote in a line.
fn prompts(line: &Value) -> Vec<&str> {
    if field(line, "type") != Some("user") {
        return Vec::new();
    }
    let whole = line.get("message").and_then(|message| field(message, "content"));
    let parts = blocks(line)
        .iter()
        .filter(|block| field(block, "type") == Some("text"))
        .filter_map(|block| field(block, "text"));
    whole.into_iter().chain(parts).filter(|text| prompt_of(text).is_some()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn user(uuid: &str, before: Option<&str>, text: &str) -> Value {
        json!({"type": "user", "uuid": uuid, "parentUuid": before, "sessionId": "8c1f", "cwd": "/s",
               "timestamp": "2026-11-02T09:00:00.000Z", "message": {"role": "user", "content": text}})
    }

    fn assistant(uuid: &str, before: &str, content: Value) -> Value {
        json!({"type": "assistant", "uuid": uuid, "parentUuid": before, "sessionId": "8c1f", "cwd": "/s",
               "timestamp": "2026-11-02T09:01:00.000Z", "message": {"role": "assistant", "content": content}})
    }

    fn answer(uuid: &str, before: &str, text: &str) -> Value {
        assistant(uuid, before, json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}]))
    }

    fn read_all(lines: &[Value], seen: &mut BTreeSet<u64>) -> Session {
        let mut branches = Branches::default();
        lines.iter().for_each(|line| branches.add(line));
        let (dropped, mut session) = (branches.dropped(), Session::new("claude-code", String::new(), None));
        lines.iter().for_each(|line| read(line, &dropped, seen, &mut session));
        session
    }

    fn content(lines: &[Value]) -> String {
        read_all(lines, &mut BTreeSet::new()).note("").expect("a note").content
    }

    /// Returns the prompts and the last answer.
    fn said(lines: &[Value]) -> (Vec<String>, String) {
        of(&read_all(lines, &mut BTreeSet::new()))
    }

    fn of(session: &Session) -> (Vec<String>, String) {
        (session.prompts().into_iter().map(String::from).collect(), session.answer().to_string())
    }

    fn all(prompts: &[&str], answer: &str) -> (Vec<String>, String) {
        (prompts.iter().map(|prompt| (*prompt).to_string()).collect(), answer.to_string())
    }

    #[test]
    fn prompts_files_and_commands_are_read() {
        let bash =
            |id: &str| json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make test"}}]);
        let result = |uuid: &str, before: &str, id: &str, failed: bool| {
            let mut line = user(uuid, Some(before), "");
            line["message"]["content"] =
                json!([{"type": "tool_result", "tool_use_id": id, "is_error": failed, "content": "x"}]);
            line
        };
        let edit = json!([{"type": "tool_use", "id": "t2", "name": "Edit", "input": {"file_path": "/s/tax.py", "new_string": "secret text"}}]);
        let lines = [
            json!({"type": "file-history-snapshot", "messageId": "x"}),
            user("u1", None, "fix tax"),
            assistant("a1", "u1", bash("t1")),
            result("r1", "a1", "t1", true),
            assistant("a2", "r1", edit),
            result("r2", "a2", "t2", false),
            assistant("a3", "r2", bash("t3")),
            result("r3", "a3", "t3", false),
            answer("a4", "r3", "Done."),
        ];
        let expected = "1 prompt, 3 changes and commands, 1 error.\n\n## Prompt\n\n    fix tax\n\n\
                        ## Last answer of the agent after work\n\n    Done.\n\n\
                        ## Commands that failed and then passed\n\n- `make test`\n\n## Files\n\n- `tax.py` (1)";
        assert_eq!(content(&lines), expected);
    }

    #[test]
    fn what_the_client_wrote_is_not_a_prompt() {
        let mut lines = vec![user("u1", None, "real")];
        for (number, text) in [
            "<command-name>/clear</command-name>",
            "<local-command-stdout>x",
            "[Request interrupted by user]",
            "  <system-reminder>do",
        ]
        .iter()
        .enumerate()
        {
            lines.push(user(&format!("c{number}"), Some("u1"), text));
        }
        for flag in ["isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage"] {
            let mut line = user(flag, Some("u1"), "not a prompt");
            line[flag] = json!(true);
            lines.push(line);
            let mut line = answer(&format!("a{flag}"), "u1", "not an answer");
            line[flag] = json!(true);
            lines.push(line);
        }
        lines.push(answer("a1", "u1", "Done."));
        assert_eq!(said(&lines), all(&["real"], "Done."));
    }

    #[test]
    fn only_the_branch_of_the_last_line_counts() {
        let lines = [
            user("u1", None, "one"),
            answer("a1", "u1", "first"),
            user("u2", Some("a1"), "given up"),
            answer("a2", "u2", "given up"),
            user("u3", Some("a1"), "taken"),
            answer("a3", "u3", "last"),
        ];
        assert_eq!(said(&lines), all(&["one", "taken"], "last"));
        let edited_first = [
            user("u0", None, "given up"),
            answer("a0", "u0", "x"),
            user("u1", None, "one"),
            answer("a1", "u1", "last"),
        ];
        assert_eq!(said(&edited_first), all(&["one"], "last"));
    }

    #[test]
    fn what_was_said_before_a_compaction_counts() {
        let boundary = |before: Option<&str>| json!({"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": null, "logicalParentUuid": before});
        for before in [Some("a1"), None] {
            let lines = [
                user("u1", None, "one"),
                answer("a1", "u1", "x"),
                boundary(before),
                user("u2", Some("b"), "two"),
                answer("a2", "u2", "last"),
            ];
            assert_eq!(said(&lines), all(&["one", "two"], "last"), "{before:?}");
        }
    }

    #[test]
    fn lines_that_a_resumed_session_repeats_count_once() {
        let mut seen = BTreeSet::new();
        let first = [user("u1", None, "one"), answer("a1", "u1", "x")];
        assert_eq!(of(&read_all(&first, &mut seen)), all(&["one"], "x"));
        let resumed = [first[0].clone(), first[1].clone(), user("u2", Some("a1"), "two"), answer("a2", "u2", "last")];
        assert_eq!(of(&read_all(&resumed, &mut seen)), all(&["two"], "last"));
        assert_eq!(of(&read_all(&first, &mut seen)), all(&[], ""));
    }

    #[test]
    fn hostile_trees_end() {
        let circle = [
            user("u1", Some("u2"), "one"),
            user("u2", Some("u1"), "two"),
            user("u1", Some("u1"), "three"),
            answer("a", "u1", "x"),
        ];
        assert_eq!(said(&circle).1, "x");
        for line in [
            json!(null),
            json!([]),
            json!({"type": 1, "uuid": {}}),
            json!({"type": "user", "message": []}),
            json!({"type": "assistant", "uuid": "u", "message": {"content": [1, {"type": "tool_use", "name": "Edit", "input": 3}]}}),
        ] {
            assert_eq!(read_all(&[line], &mut BTreeSet::new()).note(""), None);
        }
    }
}
