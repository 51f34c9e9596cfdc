//! Tools of the clients: which of them write files, run commands or store memory, and how each says that it failed.

use saddlebag::document::tail;
use saddlebag::session::{RunEnd, StoredItem};
use saddlebag::trust::{head_without_divided_secret, without_private};
use serde_json::{Map, Value};

use super::event::{Client, ToolUse};
use crate::client_json::parsed;

/// Maximum size of the command and of the error of a tool, in bytes. Memory keeps less.
const MAX_TEXT_BYTES: usize = 64 << 10;
/// Maximum size in bytes of the end of an output, where tests say if they have passed.
const MAX_OUTPUT_BYTES: usize = 8 << 10;
/// Maximum number of files of one use of a tool.
const MAX_FILES: usize = 200;
/// Maximum size of the key or the title of a stored text, in bytes.
const MAX_NAME_BYTES: usize = 1_024;
/// Number of lines at either end of an output in which an exit code is looked for.
const EXIT_CODE_LINES: usize = 6;

/// Effect of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Writes the files that its arguments name.
    Writes,
    /// Applies a patch that names its files.
    Patches,
    /// Runs a command.
    Runs,
}

/// Tools of OpenCode. The plugins of other clients call their tools so, too.
const PLUGIN_TOOLS: &[(&str, Kind)] = &[
    ("edit", Kind::Writes),
    ("write", Kind::Writes),
    ("multiedit", Kind::Writes),
    ("patch", Kind::Patches),
    ("apply_patch", Kind::Patches),
    ("bash", Kind::Runs),
];

/// Tools of each client that have an effect. All others are recorded only if they fail.
const TOOLS: [(Client, &[(&str, Kind)]); 8] = [
    (
        Client::ClaudeCode,
        &[
            ("Edit", Kind::Writes),
            ("Write", Kind::Writes),
            ("MultiEdit", Kind::Writes),
            ("NotebookEdit", Kind::Writes),
            ("Bash", Kind::Runs),
            ("PowerShell", Kind::Runs),
        ],
    ),
    (
        Client::Codex,
        &[
            ("apply_patch", Kind::Patches),
            ("Edit", Kind::Patches),
            ("Write", Kind::Patches),
            ("Bash", Kind::Runs),
            ("shell", Kind::Runs),
            ("exec_command", Kind::Runs),
        ],
    ),
    (
        Client::Cursor,
        &[
            ("Write", Kind::Writes),
            ("Edit", Kind::Writes),
            ("StrReplace", Kind::Writes),
            ("EditNotebook", Kind::Writes),
            ("Delete", Kind::Writes),
            ("ApplyPatch", Kind::Patches),
            ("Shell", Kind::Runs),
            ("Bash", Kind::Runs),
        ],
    ),
    (Client::Gemini, &[("write_file", Kind::Writes), ("replace", Kind::Writes), ("run_shell_command", Kind::Runs)]),
    (Client::OpenCode, PLUGIN_TOOLS),
    (Client::OpenClaw, PLUGIN_TOOLS),
    (Client::Hermes, PLUGIN_TOOLS),
    (
        Client::Copilot,
        &[
            ("edit", Kind::Writes),
            ("create", Kind::Writes),
            ("str_replace_editor", Kind::Writes),
            ("Edit", Kind::Writes),
            ("Write", Kind::Writes),
            ("create_file", Kind::Writes),
            ("replace_string_in_file", Kind::Writes),
            ("multi_replace_string_in_file", Kind::Writes),
            ("insert_edit_into_file", Kind::Writes),
            ("edit_notebook_file", Kind::Writes),
            ("editFiles", Kind::Writes),
            ("apply_patch", Kind::Patches),
            ("bash", Kind::Runs),
            ("powershell", Kind::Runs),
            ("Bash", Kind::Runs),
            ("run_in_terminal", Kind::Runs),
        ],
    ),
];

/// Role of a line that a client adds to the output of a command.
#[derive(Clone, Copy)]
enum Added {
    /// The exit code follows.
    Code,
    /// Nothing but a number follows. The line says nothing about the error.
    Frame,
    /// The exit code follows after this text. The line says nothing else about the error.
    FrameWithCode(&'static str),
}

/// Beginnings of the lines that each client adds to the output of a command, in lower case and without `<`. They are looked
/// for in the output of every client, because some run the hooks of another.
const ADDED_LINES: [(Client, &[(&str, Added)]); 5] = [
    (Client::ClaudeCode, &[("exit code ", Added::Code)]),
    (Client::Codex, &[("exit code:", Added::Code), ("process exited with code ", Added::Code)]),
    (
        Client::Gemini,
        &[
            ("exit code:", Added::Code),
            ("untrusted_context>", Added::Frame),
            ("/untrusted_context>", Added::Frame),
            ("output: (empty)", Added::Frame),
            ("process group pgid:", Added::Frame),
        ],
    ),
    (Client::OpenCode, &[("(no output)", Added::Frame)]),
    (
        Client::Copilot,
        &[
            ("exited with exit code ", Added::Code),
            ("command exited with code ", Added::Code),
            // `<shellId: 0 completed with exit code 3>`
            ("shellid:", Added::FrameWithCode(" completed with exit code ")),
        ],
    ),
];

/// Arguments that name a file, or a list of files.
const FILE_FIELDS: [&str; 7] =
    ["file_path", "filePath", "path", "notebook_path", "target_file", "absolute_path", "files"];
/// Arguments that have a command or the text of a patch.
const TEXT_FIELDS: [&str; 6] = ["command", "cmd", "input", "patch", "patchText", "patch_text"];
/// Beginnings of the lines of a patch that name a file.
const PATCH_LINES: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// Returns the use of a tool. `result` is the answer of the tool, and `error` the error that the client reports
/// itself.
pub(crate) fn tool_use(client: Client, tool: &str, input: &Value, result: &Value, error: Option<&Value>) -> ToolUse {
    // Copilot and Cursor may give the arguments as a string.
    let of_text = object_in(input);
    let input = of_text.as_ref().unwrap_or(input);
    let kind = kind(client, tool);
    let text = argument(input, kind == Some(Kind::Patches));
    let mut files = Vec::new();
    if matches!(kind, Some(Kind::Writes | Kind::Patches)) {
        files = written_files(input);
    }
    // A command may have the text of a page in it, which may look like a patch.
    if kind == Some(Kind::Patches) {
        files.extend(patched_files(&text));
    }
    files.dedup();
    files.truncate(MAX_FILES);
    let failure = match error {
        Some(error) => Some(text_of(error)),
        None => failure_of(result, kind == Some(Kind::Runs)),
    };
    let failed = failure.is_some();
    // How a command ends that is stopped, or that runs on, is not known.
    let is_set = |name: &str| result.get(name).is_some_and(|value| !is_empty(value));
    let has_ended = failed || !is_set("interrupted") && !is_set("backgroundTaskId");
    let is_command = kind == Some(Kind::Runs) && has_ended && !text.trim().is_empty();
    let output = match failure {
        Some(error) => Some(public_start(&error, MAX_TEXT_BYTES)).filter(|error| !error.trim().is_empty()),
        // Another output may be the content of a file.
        None if kind == Some(Kind::Runs) && RunEnd::needs_output(&text) => {
            printed(result).map(|printed| tail(&without_private(&printed), MAX_OUTPUT_BYTES).to_string())
        }
        None => None,
    };
    ToolUse {
        tool: tool.to_string(),
        files,
        command: is_command.then(|| public_start(&text, MAX_TEXT_BYTES)),
        failed,
        output,
        stored: if failed { None } else { stored(tool, input) },
    }
}

/// Returns the tools of a client that write files or run commands.
pub(crate) fn acting_tools(client: Client) -> Vec<&'static str> {
    let of_client = TOOLS.iter().filter(|(known, _)| *known == client);
    of_client.flat_map(|(_, tools)| tools.iter().map(|(name, _)| *name)).collect()
}

fn kind(client: Client, tool: &str) -> Option<Kind> {
    let (_, tools) = TOOLS.iter().find(|(known, _)| *known == client)?;
    tools.iter().find(|(name, _)| *name == tool).map(|(_, kind)| *kind)
}

/// Returns the command of a tool, or the text of its patch, which may be all of its input.
fn argument(input: &Value, may_be_all: bool) -> String {
    match input {
        Value::String(text) if may_be_all => text.clone(),
        Value::Object(fields) => {
            TEXT_FIELDS.iter().find_map(|name| fields.get(*name)).map(words_of).unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// Returns a command that is a string, or a list of words. The script of a shell is the command itself.
fn words_of(value: &Value) -> String {
    let Value::Array(words) = value else { return value.as_str().unwrap_or_default().to_string() };
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        [_, "-c" | "-lc" | "-Command", script] => (*script).to_string(),
        words => words.join(" "),
    }
}

fn written_files(input: &Value) -> Vec<String> {
    let mut files = Vec::new();
    for name in FILE_FIELDS {
        match input.get(name) {
            Some(Value::String(path)) => files.push(path.clone()),
            Some(Value::Array(paths)) => {
                let name_of = |path: &Value| path.as_str().or_else(|| path.get("path")?.as_str()).map(str::to_string);
                files.extend(paths.iter().filter_map(name_of));
            }
            _ => {}
        }
    }
    // Some tools make several replacements, each in a separate file.
    for edit in input.get("replacements").and_then(Value::as_array).into_iter().flatten() {
        files.extend(FILE_FIELDS.iter().find_map(|name| edit.get(*name)?.as_str()).map(str::to_string));
    }
    files
}

fn patched_files(text: &str) -> Vec<String> {
    if !text.contains("*** Begin Patch") {
        return Vec::new();
    }
    let path =
        |line: &str| PATCH_LINES.iter().find_map(|start| line.strip_prefix(start)).map(|path| path.trim().to_string());
    text.lines().filter_map(path).collect()
}

/// Returns the object that a client gives as a string.
fn object_in(value: &Value) -> Option<Value> {
    value.as_str().and_then(|text| parsed(text.as_bytes()).ok()).filter(Value::is_object)
}

/// Returns the text that a command printed; `None` if the client does not say it.
fn printed(result: &Value) -> Option<String> {
    match object_in(result).as_ref().unwrap_or(result) {
        Value::Object(fields) => {
            let says = PRINTED.iter().any(|name| fields.contains_key(*name));
            says.then(|| texts(fields).collect::<Vec<_>>().join("\n"))
        }
        result => Some(text_of(result)).filter(|text| !text.trim().is_empty()),
    }
}

/// Fields of a result with what was printed.
const PRINTED: [&str; 7] =
    ["stderr", "textResultForLlm", "text_result_for_llm", "llmContent", "content", "output", "stdout"];

/// Returns the texts of a result that are not empty.
fn texts(fields: &Map<String, Value>) -> impl Iterator<Item = String> {
    let texts = PRINTED.into_iter().filter_map(|name| fields.get(name)).map(text_of);
    texts.filter(|text| !text.trim().is_empty())
}

/// Returns the text of the error of a failed tool; `None` if the tool succeeded.
fn failure_of(result: &Value, runs: bool) -> Option<String> {
    match result {
        Value::Object(fields) => failure_in(fields, runs),
        Value::String(text) => {
            let object = text.trim_start().starts_with('{').then(|| parsed(text.as_bytes()).ok()).flatten();
            match object {
                Some(Value::Object(fields)) => failure_in(&fields, runs),
                _ if runs && exit_code(text).is_some_and(|code| code != 0) => Some(text.clone()),
                _ => None,
            }
        }
        _ => None,
    }
}

fn failure_in(fields: &Map<String, Value>, runs: bool) -> Option<String> {
    let is_true = |name: &str| fields.get(name).and_then(Value::as_bool) == Some(true);
    let error = fields.get("error").filter(|error| !is_empty(error));
    let word = ["resultType", "result_type"].iter().find_map(|name| fields.get(*name)?.as_str());
    let codes = [fields.get("metadata").and_then(Value::as_object), Some(fields)];
    let code = codes.into_iter().flatten().find_map(|fields| {
        ["exit_code", "exitCode", "exit", "returnCode"].iter().find_map(|name| fields.get(*name)?.as_i64())
    });
    let failed = error.is_some()
        || is_true("is_error")
        || is_true("isError")
        || fields.get("success").and_then(Value::as_bool) == Some(false)
        || word.is_some_and(|word| word != "success")
        || code.is_some_and(|code| code != 0);
    let text = || texts(fields).next();
    if failed {
        return Some(error_or_code(&error.map(text_of).or_else(text).unwrap_or_default(), code));
    }
    let text = text().filter(|_| runs && code.is_none())?;
    let code = exit_code(&text).filter(|code| *code != 0)?;
    Some(error_or_code(&text, Some(code)))
}

/// Returns the text of an error without its frame. If nothing is left, the exit code is the error.
fn error_or_code(text: &str, code: Option<i64>) -> String {
    let text = without_frame(text);
    let by_code = || code.map(|code| format!("exit code {code}")).unwrap_or_default();
    if text.trim().is_empty() { by_code() } else { text }
}

/// Returns an output without the lines that say nothing about the error.
fn without_frame(text: &str) -> String {
    let is_frame = |line: &&str| match added(line) {
        Some((Added::Frame, rest)) => rest.trim().bytes().all(|byte| byte.is_ascii_digit()),
        Some((Added::FrameWithCode(before_code), rest)) => rest.contains(before_code),
        Some((Added::Code, _)) | None => false,
    };
    text.lines().filter(|line| !is_frame(line)).collect::<Vec<_>>().join("\n")
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// Returns the text of an error or an output: a string, the message of an object, or the strings of a list.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => ["message", "text", "error", "output"]
            .iter()
            .find_map(|name| fields.get(*name))
            .map(text_of)
            .unwrap_or_default(),
        _ => String::new(),
    }
}

/// Returns the exit code that the first or the last lines of an output name.
fn exit_code(output: &str) -> Option<i64> {
    let lines: Vec<&str> = output.lines().collect();
    let near = lines.iter().take(EXIT_CODE_LINES).chain(lines.iter().rev().take(EXIT_CODE_LINES));
    near.filter_map(|line| {
        let (added, rest) = added(line)?;
        let code = match added {
            Added::Code => rest.trim_start(),
            Added::FrameWithCode(before_code) => rest.split_once(before_code)?.1,
            Added::Frame => return None,
        };
        let end = code.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(code.len());
        code[..end].parse().ok()
    })
    .next()
}

/// Returns the role of a line that a client added, and the rest of the line in lower case.
fn added(line: &str) -> Option<(Added, String)> {
    let line = line.trim().trim_start_matches('<').to_ascii_lowercase();
    let line = line.strip_prefix("error: ").unwrap_or(&line);
    let mut known = ADDED_LINES.iter().flat_map(|(_, lines)| *lines);
    known.find_map(|(start, added)| Some((*added, line.strip_prefix(start)?.to_string())))
}

/// Returns the first bytes of text without its private parts, and without a part of a secret at its end.
///
/// Memory removes private parts too, for every host. Here they are removed so that the limit counts what is left, and so
/// that a trace of the hook does not have them.
pub(super) fn public_start(text: &str, max_bytes: usize) -> String {
    head_without_divided_secret(&without_private(text), max_bytes).to_string()
}

/// Returns what one of our own tools has stored. The note of the session decides if it is named.
fn stored(tool: &str, input: &Value) -> Option<StoredItem> {
    let text = |name: &str| input.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let tool = own_tool(tool)?;
    let is_named = |text: &&str| !text.trim().is_empty() && text.len() <= MAX_NAME_BYTES;
    let item = match tool {
        "mem_remember" => {
            let named = text("title").filter(is_named).map(|title| StoredItem::Note(title.into()));
            named.or_else(|| text("key").filter(is_named).map(|key| StoredItem::Entry(key.into())))
        }
        "memory_store" => text("key").filter(is_named).map(|key| StoredItem::Entry(key.into())),
        "notebook_remember" => text("title").filter(is_named).map(|title| StoredItem::Note(title.into())),
        "notebook_link" | "mem_link" => text("source").filter(is_named).map(|source| StoredItem::Note(source.into())),
        "memory_write" | "memory_edit" => {
            let is_note = text("target") == Some("note");
            text("name").filter(|name| is_note && is_named(name)).map(|name| StoredItem::Note(name.into()))
        }
        "mem_edit" | "mem_forget" | "mem_log" | "memory_forget" | "notebook_journal" => None,
        _ => return None,
    };
    Some(item.unwrap_or(StoredItem::Other))
}

/// Returns the name of our own tool without the prefix that a client puts before it.
fn own_tool(tool: &str) -> Option<&str> {
    let is_of_server = tool.contains("saddlebag") || tool.starts_with("MCP:");
    let start = ["mem_", "memory_", "notebook_"].iter().filter_map(|start| tool.rfind(start)).max()?;
    let is_separate = tool[..start].ends_with(['_', ':', '-', '/', '.']);
    (is_of_server && is_separate).then(|| &tool[start..])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn used(client: Client, tool: &str, input: Value, result: Value) -> ToolUse {
        tool_use(client, tool, &input, &result, None)
    }

    #[test]
    fn files_come_from_the_arguments_and_from_patches() {
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+*** Add File: no\n*** Move to: src/b.rs\n*** Add File: c\n*** End Patch";
        for (client, tool, input, files) in [
            (Client::ClaudeCode, "Edit", json!({ "file_path": "/s/a.rs", "new_string": "x" }), vec!["/s/a.rs"]),
            (Client::ClaudeCode, "NotebookEdit", json!({ "notebook_path": "/s/a.ipynb" }), vec!["/s/a.ipynb"]),
            (Client::ClaudeCode, "Read", json!({ "file_path": "/s/a.rs" }), vec![]),
            (Client::Codex, "apply_patch", json!({ "command": patch }), vec!["src/a.rs", "src/b.rs", "c"]),
            (Client::Codex, "apply_patch", json!(patch), vec!["src/a.rs", "src/b.rs", "c"]),
            (Client::Cursor, "Write", json!({ "path": "a.rs", "contents": "x" }), vec!["a.rs"]),
            (Client::Gemini, "replace", json!({ "file_path": "/s/a.rs" }), vec!["/s/a.rs"]),
            (Client::Copilot, "create", json!("{\"path\":\"a.rs\",\"file_text\":\"x\"}"), vec!["a.rs"]),
            (Client::Copilot, "editFiles", json!({ "files": ["a.rs", { "path": "b.rs" }] }), vec!["a.rs", "b.rs"]),
            (Client::OpenCode, "edit", json!({ "filePath": "/s/a.rs" }), vec!["/s/a.rs"]),
        ] {
            assert_eq!(used(client, tool, input, Value::Null).files, files, "{client} {tool}");
        }
    }

    #[test]
    fn a_command_is_a_text_or_a_list_of_words() {
        for (command, expected) in [
            (json!("make test"), Some("make test")),
            (json!(["bash", "-lc", "make test"]), Some("make test")),
            (json!(["make", "test"]), Some("make test")),
            (json!(7), None),
            (json!(" "), None),
        ] {
            let used = used(Client::Codex, "Bash", json!({ "command": command }), Value::Null);
            assert_eq!(used.command.as_deref(), expected, "{command}");
        }
        let private = json!({ "command": "deploy <private>hunter</private> now" });
        assert_eq!(used(Client::ClaudeCode, "Bash", private, Value::Null).command.unwrap(), "deploy   now");
    }

    #[test]
    fn a_failure_is_seen_in_every_form_that_clients_give_it() {
        let bad = [
            json!({ "error": "no such file" }),
            json!({ "error": { "message": "no such file" } }),
            json!({ "is_error": true, "content": [{ "type": "text", "text": "no such file" }] }),
            json!({ "isError": true, "content": "no such file" }),
            json!({ "exitCode": 2, "stderr": "no such file", "stdout": "x" }),
            json!({ "metadata": { "exit_code": 1 }, "output": "no such file" }),
            json!({ "resultType": "failure", "textResultForLlm": "no such file" }),
            json!({ "llmContent": "Command: x\nno such file\nExit Code: 1\nSignal: 0" }),
            json!("Exit code: 1\nWall time: 0.1 s\nOutput:\nno such file"),
            json!("no such file\n<exited with exit code 1>"),
            json!("no such file\nCommand exited with code 1"),
            json!("{\"exitCode\":1,\"stderr\":\"no such file\"}"),
        ];
        for result in bad {
            let used = used(Client::Codex, "Bash", json!({ "command": "cat x" }), result.clone());
            assert!(used.failed, "{result}");
            assert!(used.output.unwrap().contains("no such file"), "{result}");
        }
        let framed = "<untrusted_context>\nOutput: (empty)\nExit Code: 3\nProcess Group PGID: 7\n</untrusted_context>";
        let used_framed =
            used(Client::Gemini, "run_shell_command", json!({ "command": "x" }), json!({ "llmContent": framed }));
        assert_eq!((used_framed.failed, used_framed.output.as_deref()), (true, Some("Exit Code: 3")));
        let silent = json!({ "exit": 3, "output": "(no output)" });
        let used_silent = used(Client::OpenCode, "bash", json!({ "command": "x" }), silent);
        assert_eq!((used_silent.failed, used_silent.output.as_deref()), (true, Some("exit code 3")));
        for (output, error) in [("", "exit code 3"), ("no such file\n", "no such file")] {
            let text = format!("{output}\n<shellId: 0 completed with exit code 3>");
            let result = json!({ "resultType": "success", "textResultForLlm": text });
            let used_shell = used(Client::Copilot, "bash", json!({ "command": "x" }), result);
            assert_eq!((used_shell.failed, used_shell.output.as_deref().map(str::trim)), (true, Some(error)));
        }
        let good = [
            json!({ "resultType": "success", "textResultForLlm": "x\n<shellId: 1 completed with exit code 0>" }),
            json!(null),
            json!("ok"),
            json!({ "exitCode": 0, "stderr": "warning" }),
            json!({ "error": null, "stdout": "error" }),
            json!({ "error": "" }),
            json!({ "resultType": "success", "textResultForLlm": "fine" }),
            json!("Exit code: 0\nOutput:\nfine"),
            json!(["odd"]),
            json!(true),
        ];
        for result in good {
            assert!(!used(Client::Codex, "Bash", json!({ "command": "cat x" }), result.clone()).failed, "{result}");
        }
    }

    #[test]
    fn what_a_command_printed_is_taken_only_if_a_pipe_hides_its_tests() {
        let printed = json!({ "stdout": "Tests: 2 failed, 48 passed\n", "stderr": "warning\n", "interrupted": false });
        for (command, expected) in [
            ("npm test 2>&1 | tail -5", Some("warning\n\nTests: 2 failed, 48 passed\n")),
            ("npm test", None),
            ("cat report.txt | tail -5", None),
        ] {
            let used = used(Client::ClaudeCode, "Bash", json!({ "command": command }), printed.clone());
            assert_eq!((used.failed, used.output.as_deref()), (false, expected), "{command}");
        }
        for (result, expected) in
            [(json!({ "stdout": "" }), Some("")), (json!({ "exitCode": 0 }), None), (json!(""), None)]
        {
            let used = used(Client::ClaudeCode, "Bash", json!({ "command": "npm run lint | tail" }), result);
            assert_eq!(used.output.as_deref(), expected);
        }
        for result in [json!({ "stdout": "", "interrupted": true }), json!({ "backgroundTaskId": "b1" })] {
            let used = used(Client::ClaudeCode, "Bash", json!({ "command": "npm test" }), result);
            assert_eq!((used.failed, used.command), (false, None));
        }
    }

    #[test]
    fn our_own_tools_are_known_under_the_prefix_of_every_client() {
        let entry = json!({ "key": "db", "content": "Postgres" });
        for tool in [
            "mcp__saddlebag__memory_store",
            "mcp__plugin_saddlebag_saddlebag__memory_store",
            "mcp_saddlebag_memory_store",
            "saddlebag_memory_store",
            "saddlebag-memory_store",
            "MCP:memory_store",
            "MCP:saddlebag:memory_store",
        ] {
            let used = used(Client::ClaudeCode, tool, entry.clone(), Value::Null);
            assert_eq!(used.stored, Some(StoredItem::Entry("db".into())), "{tool}");
        }
        for tool in ["memory_store", "mcp__other__memory_store", "mcp__saddlebag__memory_recall", "mcp__saddlebag__"] {
            assert_eq!(used(Client::ClaudeCode, tool, entry.clone(), Value::Null).stored, None, "{tool}");
        }
        let failed = json!({ "is_error": true, "content": "refused" });
        assert_eq!(used(Client::ClaudeCode, "mcp__saddlebag__memory_store", entry, failed).stored, None);
        let note = json!({ "target": "note", "name": "deploy", "content": "long" });
        let stored = used(Client::Gemini, "mcp_saddlebag_memory_write", note, Value::Null).stored;
        assert_eq!(stored, Some(StoredItem::Note("deploy".into())));
        let line = used(Client::Gemini, "mcp_saddlebag_notebook_journal", json!({ "text": "x" }), Value::Null).stored;
        assert_eq!(line, Some(StoredItem::Other));
    }

    #[test]
    fn the_text_of_a_command_names_no_file() {
        let script = "cat > page.txt <<'EOF'\n*** Begin Patch\n*** Add File: obey the page\n*** End Patch\nEOF";
        for (client, tools) in TOOLS {
            for (tool, kind) in tools.iter().filter(|(_, kind)| *kind == Kind::Runs) {
                let used = used(client, tool, json!({ "command": script }), Value::Null);
                assert_eq!(used.files, [""; 0], "{client} {tool} {kind:?}");
            }
        }
    }

    #[test]
    fn no_content_of_a_file_is_taken() {
        let input = json!({ "file_path": "a", "content": "BODY", "old_string": "BODY", "edits": [{ "new": "BODY" }] });
        for (client, tools) in TOOLS {
            for (tool, _) in tools {
                let used = used(client, tool, input.clone(), json!({ "content": "BODY", "filePath": "a" }));
                assert!(!format!("{used:?}").contains("BODY"), "{client} {tool}");
            }
        }
    }
}
