//! Turns the payload of a client into an [`Event`].
//!
//! One settings file may run its hooks in several clients, so the shape of the payload decides which client it is, and
//! its event decides over the one on the command line. The options of the command line count where the payload says
//! nothing.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::event::{Client, Detail, Event, Moment, Source, Style, moment};
use super::tools::{public_start, tool_use};
use super::trouble::Trouble;

/// Field that marks the payload of our own plugins. Its value is the version of their format.
pub(crate) const PLUGIN_MARK: &str = "saddlebag_hook";
/// Version of the format of our own plugins.
const PLUGIN_FORMAT: u64 = 1;

/// Maximum size of a prompt, in bytes. The rest of a longer one, such as a log, is not asked about.
const MAX_PROMPT_BYTES: usize = 32 << 10;
/// Maximum length of a word from a payload in a message, in characters.
const MAX_SHOWN_CHARS: usize = 40;

/// Name of the event at which a subagent begins.
const SUBAGENT: &str = "SubagentStart";

/// Choices of the command line, for what a payload leaves open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    /// Event of the command line.
    pub(crate) event: Option<String>,
    /// Client of the command line.
    pub(crate) client: Option<Client>,
}

/// Returns the event of a payload; `None` if memory has no use for it.
pub(crate) fn event(payload: &Map<String, Value>, given: &Given) -> Result<Option<Event>, Trouble> {
    let fields = Fields(payload);
    let (client, style) = client(&fields, given)?;
    let named = if style == Style::Plugin { "event" } else { "hook_event_name" };
    let of_payload = fields.text(named).or(fields.text("hookEventName"));
    let Some(name) = of_payload.or(given.event.as_deref()) else {
        return Err(Trouble::input("the payload has no event, and the command line names none"));
    };
    let Some(known) = moment(name) else {
        // A newer client has further events.
        if of_payload.is_some() {
            return Ok(None);
        }
        return Err(Trouble::input(format!("`{}` is not an event of a client", shown(name))));
    };
    let Some(moment) = known else { return Ok(None) };
    let session = ["session_id", "conversation_id", "sessionId", "session"];
    // Cursor names the conversation in every event, and the session only in some.
    let session =
        if client == Client::Cursor { ["conversation_id", "session_id", "sessionId", "session"] } else { session };
    let session = session.iter().find_map(|name| fields.text(name)).filter(|session| !session.is_empty());
    let Some(session) = session else { return Err(Trouble::input("the payload has no session")) };
    let Some(detail) = detail(moment, name, client, &fields)? else { return Ok(None) };
    let ids: &[&str] = match moment {
        Moment::BeforeTool | Moment::Tool => &["tool_use_id", "toolUseId", "call"],
        Moment::Start => &["agent_id"],
        Moment::Prompt => &["prompt_id", "turn_id", "generation_id", "call"],
        // The same turn may end more than once.
        _ => &[],
    };
    Ok(Some(Event {
        client,
        name: name.to_string(),
        style,
        session: session.to_string(),
        folders: folders(client, &fields),
        detail,
        id: ids
            .iter()
            .find_map(|name| fields.text(name))
            .map_or_else(|| call_time(moment, client, &fields), String::from),
    }))
}

/// Returns true if a payload names its event itself, as payloads of hooks do.
pub(crate) fn names_an_event(payload: &Map<String, Value>) -> bool {
    ["hook_event_name", "hookEventName"].iter().any(|name| payload.get(*name).is_some_and(Value::is_string))
}

/// Returns the time of a call of Copilot in place of its id, which Copilot does not give. Two calls may be alike, and follow
/// each other at once.
fn call_time(moment: Moment, client: Client, fields: &Fields<'_>) -> String {
    let time = fields
        .0
        .get("timestamp")
        .filter(|_| client == Client::Copilot && matches!(moment, Moment::BeforeTool | Moment::Tool));
    time.map(Value::to_string).unwrap_or_default()
}

/// Fields of a payload.
struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name)?.as_str()
    }

    fn any(&self, names: &[&str]) -> Option<&'a Value> {
        names.iter().find_map(|name| self.0.get(*name))
    }
}

/// Returns the client, and the spelling of its answers.
fn client(fields: &Fields<'_>, given: &Given) -> Result<(Client, Style), Trouble> {
    if let Some(format) = fields.0.get(PLUGIN_MARK) {
        if format.as_u64() != Some(PLUGIN_FORMAT) {
            return Err(Trouble::input(format!("the plugin's format is not {PLUGIN_FORMAT}; update the plugin")));
        }
        let name = fields.text("client").ok_or_else(|| Trouble::input("the payload names no client"))?;
        let client = name.parse().map_err(|_| Trouble::input("the client that the payload names is not known"))?;
        return Ok((client, Style::Plugin));
    }
    if fields.has("cursor_version") || fields.has("conversation_id") {
        return Ok((Client::Cursor, Style::Snake));
    }
    if let Some(name) = fields.text("hook_event_name") {
        return Ok(match snake_client(name, fields, given) {
            Client::Cursor => (Client::Cursor, Style::Snake),
            client => (client, Style::Nested),
        });
    }
    if fields.has("hookEventName") {
        return Ok((Client::Copilot, Style::Nested));
    }
    if fields.has("sessionId") {
        return Ok((Client::Copilot, Style::Camel));
    }
    Err(Trouble::input("the payload is not that of a known client"))
}

/// Returns the client whose payload has `hook_event_name`.
fn snake_client(name: &str, fields: &Fields<'_>, given: &Given) -> Client {
    const OF_GEMINI: [&str; 8] = [
        "BeforeAgent",
        "AfterAgent",
        "BeforeTool",
        "AfterTool",
        "PreCompress",
        "BeforeModel",
        "AfterModel",
        "BeforeToolSelection",
    ];
    let transcript = fields.text("transcript_path").map(|path| path.replace('\\', "/"));
    let is_in = |part: &str| transcript.as_deref().is_some_and(|path| path.contains(part));
    if OF_GEMINI.contains(&name) {
        Client::Gemini
    } else if fields.has("timestamp") {
        // Both write the time. Only Gemini names the transcript at the start and at the end.
        let is_shared = ["SessionStart", "SessionEnd", "Notification"].contains(&name);
        if is_shared && transcript.is_some() { Client::Gemini } else { Client::Copilot }
    } else if name.starts_with(|c: char| c.is_ascii_lowercase()) {
        Client::Cursor
    } else if is_in("/.claude/") || fields.has("prompt_id") {
        Client::ClaudeCode
    } else if fields.has("turn_id") || is_in("/rollout-") || fields.0.get("transcript_path") == Some(&Value::Null) {
        Client::Codex
    } else {
        // A client that was named decides between the two whose payloads look alike.
        let is_either = |client: &Client| matches!(client, Client::ClaudeCode | Client::Codex);
        given.client.filter(is_either).unwrap_or(Client::ClaudeCode)
    }
}

/// Returns the folders that a payload names, the most certain one first.
fn folders(client: Client, fields: &Fields<'_>) -> Vec<PathBuf> {
    // A client that was started by another one inherits its variables, so each reads only its own.
    let variable = match client {
        Client::ClaudeCode => Some("CLAUDE_PROJECT_DIR"),
        Client::Cursor => Some("CURSOR_PROJECT_DIR"),
        Client::Gemini => Some("GEMINI_PROJECT_DIR"),
        Client::Codex | Client::OpenCode | Client::Copilot | Client::OpenClaw | Client::Hermes => None,
    };
    let variable = variable.and_then(std::env::var_os).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let roots = fields.0.get("workspace_roots").and_then(Value::as_array);
    let roots = roots.into_iter().flatten().filter_map(Value::as_str).map(PathBuf::from);
    let named = ["project", "cwd"].iter().filter_map(|name| fields.text(name)).map(PathBuf::from);
    variable.into_iter().chain(roots).chain(named).collect()
}

/// Returns the fields of a moment; `None` if there is nothing to do.
fn detail(moment: Moment, name: &str, client: Client, fields: &Fields<'_>) -> Result<Option<Detail>, Trouble> {
    Ok(Some(match moment {
        // Another client drops the text for a subagent.
        Moment::Start if name == SUBAGENT => match client {
            Client::ClaudeCode | Client::Codex => Detail::Start(Source::Subagent, None),
            _ => return Ok(None),
        },
        Moment::Start => {
            let first = ["initialPrompt", "initial_prompt"].iter().find_map(|name| fields.text(name));
            Detail::Start(
                source(fields)?,
                first.map(|prompt| public_start(prompt, MAX_PROMPT_BYTES)).filter(|prompt| !prompt.trim().is_empty()),
            )
        }
        // The client has written it, and not the person.
        Moment::Prompt if fields.text("source") == Some("system") => return Ok(None),
        Moment::Prompt => {
            let Some(prompt) = fields.text("prompt") else {
                return Err(Trouble::input("the payload has no prompt"));
            };
            Detail::Prompt(public_start(without_hook_context(client, prompt), MAX_PROMPT_BYTES))
        }
        Moment::BeforeTool | Moment::Tool => {
            // The user stopped the tool, or did not allow it: it has not failed.
            let is_stopped = fields.0.get("is_interrupt") == Some(&Value::Bool(true))
                || fields.text("failure_type") == Some("permission_denied");
            let Some(tool) = fields.any(&["tool_name", "toolName", "tool"]).and_then(Value::as_str) else {
                return Err(Trouble::input("the payload has no tool"));
            };
            let input = fields.any(&["tool_input", "toolArgs", "input"]).unwrap_or(&Value::Null);
            let result = ["tool_response", "tool_result", "toolResult", "tool_output", "result"];
            let result = fields.any(&result).unwrap_or(&Value::Null);
            let error = fields.any(&["error_message", "error"]).filter(|error| !error.is_null());
            // An event of a failure may come without text.
            let failed = error.or(name.ends_with("Failure").then_some(&Value::Null));
            let used = tool_use(client, tool, input, result, failed);
            // That a tool has run at all says that there was work.
            if is_stopped || moment == Moment::BeforeTool && !used.has_effect() {
                return Ok(None);
            }
            if moment == Moment::BeforeTool { Detail::BeforeTool(used) } else { Detail::Tool(used) }
        }
        Moment::Compact => Detail::Compact,
        Moment::Stop => {
            let answer = ["last_assistant_message", "prompt_response", "answer"];
            let answer = answer.iter().find_map(|name| fields.text(name));
            Detail::Stop(answer.map(|text| public_start(text, MAX_PROMPT_BYTES)).filter(|text| !text.trim().is_empty()))
        }
        Moment::End => Detail::End,
    }))
}

/// Returns a prompt without the text that hooks added to the session. Gemini CLI puts it before the first prompt.
fn without_hook_context(client: Client, prompt: &str) -> &str {
    const OPEN: &str = "<hook_context>";
    const CLOSE: &str = "</hook_context>";
    let inside = prompt.strip_prefix(OPEN).filter(|_| client == Client::Gemini);
    // Added text has no closing tag, because the client escapes it.
    let rest = inside.and_then(|inside| inside.split_once(CLOSE));
    rest.map_or(prompt, |(_, rest)| rest.trim_start())
}

/// Returns the reason why a session begins. Copilot and VS Code call a start `new`.
fn source(fields: &Fields<'_>) -> Result<Source, Trouble> {
    match fields.0.get("source") {
        None | Some(Value::Null) => Ok(Source::Startup),
        Some(Value::String(word)) if word == "new" => Ok(Source::Startup),
        Some(Value::String(word)) => {
            word.parse().map_err(|_| Trouble::input(format!("`{}` is not a source of a session", shown(word))))
        }
        Some(_) => Err(Trouble::input("the source of the session is not a string")),
    }
}

/// Returns the beginning of a word, for a message.
fn shown(word: &str) -> String {
    word.chars().take(MAX_SHOWN_CHARS).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(payload: Value, given: &Given) -> Result<Option<Event>, Trouble> {
        let Value::Object(payload) = payload else { panic!("an object") };
        event(&payload, given)
    }

    #[test]
    fn text_that_hooks_added_before_a_prompt_is_not_a_prompt() {
        let prompt = "<hook_context>&lt;memory&gt; x &lt;/memory&gt;</hook_context>\n\nRound half cents";
        for (event, expected) in [("BeforeAgent", "Round half cents"), ("UserPromptSubmit", prompt)] {
            let payload = json!({ "session_id": "s", "hook_event_name": event, "prompt": prompt });
            let Detail::Prompt(found) = of(payload, &Given::default()).unwrap().unwrap().detail else {
                panic!("a prompt")
            };
            assert_eq!(found, expected);
        }
    }

    fn client_of(payload: Value, client: Option<Client>) -> (Client, Style) {
        let given = Given { event: Some("start".into()), client };
        let event = of(payload, &given).unwrap().unwrap();
        (event.client, event.style)
    }

    #[test]
    fn the_payload_says_which_client_it_is() {
        use Client::{ClaudeCode, Codex, Copilot, Cursor, Gemini, Hermes, OpenClaw, OpenCode};
        let start = "SessionStart";
        for (payload, expected) in [
            (
                json!({ "session_id": "s", "transcript_path": "/h/.claude/projects/-s/s.jsonl", "hook_event_name": start }),
                (ClaudeCode, Style::Nested),
            ),
            (json!({ "session_id": "s", "hook_event_name": "Stop" }), (ClaudeCode, Style::Nested)),
            (json!({ "session_id": "s", "transcript_path": null, "hook_event_name": start }), (Codex, Style::Nested)),
            (json!({ "session_id": "s", "hook_event_name": "Stop", "turn_id": "t" }), (Codex, Style::Nested)),
            (
                json!({ "session_id": "s", "transcript_path": "/h/.codex/sessions/2026/rollout-1.jsonl", "hook_event_name": start }),
                (Codex, Style::Nested),
            ),
            (json!({ "conversation_id": "s", "hook_event_name": "sessionStart" }), (Cursor, Style::Snake)),
            (json!({ "session_id": "s", "hook_event_name": "sessionStart" }), (Cursor, Style::Snake)),
            (
                json!({ "session_id": "s", "hook_event_name": start, "timestamp": "2026", "transcript_path": "/t" }),
                (Gemini, Style::Nested),
            ),
            (json!({ "session_id": "s", "hook_event_name": "AfterAgent" }), (Gemini, Style::Nested)),
            (
                json!({ "session_id": "s", "hook_event_name": start, "timestamp": "2026", "source": "new" }),
                (Copilot, Style::Nested),
            ),
            (json!({ "sessionId": "s", "hookEventName": start, "transcript_path": "/t" }), (Copilot, Style::Nested)),
            (json!({ "sessionId": "s", "timestamp": 1 }), (Copilot, Style::Camel)),
            (
                json!({ "saddlebag_hook": 1, "client": "opencode", "session": "s", "event": "start" }),
                (OpenCode, Style::Plugin),
            ),
            (
                json!({ "saddlebag_hook": 1, "client": "openclaw", "session": "s", "event": "start" }),
                (OpenClaw, Style::Plugin),
            ),
            (
                json!({ "saddlebag_hook": 1, "client": "hermes", "session": "s", "event": "start" }),
                (Hermes, Style::Plugin),
            ),
        ] {
            for named in [None, Some(Cursor), Some(OpenCode)] {
                assert_eq!(client_of(payload.clone(), named), expected, "{payload}");
            }
        }
        let either = json!({ "session_id": "s", "hook_event_name": start, "transcript_path": "/x" });
        assert_eq!(client_of(either, Some(Codex)).0, Codex);
    }

    #[test]
    fn a_plugin_names_a_known_client() {
        for payload in [
            json!({ "saddlebag_hook": 1, "client": "other", "session": "s", "event": "start" }),
            json!({ "saddlebag_hook": 1, "session": "s", "event": "start" }),
        ] {
            assert!(event(payload.as_object().expect("an object"), &Given::default()).is_err(), "{payload}");
        }
    }

    #[test]
    fn the_event_of_the_payload_counts_where_there_is_one() {
        let given = Given { event: Some("stop".into()), client: None };
        let claude = json!({ "session_id": "s", "hook_event_name": "SessionEnd" });
        assert_eq!(of(claude, &given).unwrap().unwrap().moment(), Moment::End);
        let copilot = json!({ "sessionId": "s", "timestamp": 1 });
        assert_eq!(of(copilot.clone(), &given).unwrap().unwrap().moment(), Moment::Stop);
        assert_eq!(of(copilot, &Given::default()).unwrap_err().code, "input");
    }

    #[test]
    fn an_event_without_use_is_not_an_error() {
        for payload in [
            json!({ "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash" }),
            json!({ "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": { "file_path": "/s/a" } }),
            json!({ "session_id": "s", "hook_event_name": "PermissionRequest", "tool_name": "Bash" }),
            json!({ "session_id": "s", "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "is_interrupt": true }),
            json!({ "conversation_id": "s", "hook_event_name": "postToolUseFailure", "tool_name": "Shell",
                "failure_type": "permission_denied" }),
        ] {
            assert_eq!(of(payload.clone(), &Given::default()), Ok(None), "{payload}");
        }
    }

    #[test]
    fn a_payload_of_wrong_types_is_refused_in_words_without_its_text() {
        for payload in [
            json!({}),
            json!({ "session_id": 7, "hook_event_name": "Stop" }),
            json!({ "session_id": "", "hook_event_name": "Stop" }),
            json!({ "session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": ["SECRET"] }),
            json!({ "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": { "SECRET": 1 } }),
            json!({ "session_id": "s", "hook_event_name": "SessionStart", "source": ["SECRET"] }),
            json!({ "saddlebag_hook": 2, "session": "SECRET", "event": "start" }),
        ] {
            let trouble = of(payload.clone(), &Given::default()).unwrap_err();
            assert!(!trouble.message.contains("SECRET"), "{payload}: {trouble:?}");
        }
    }

    #[test]
    fn a_failure_without_a_text_is_a_failure() {
        let payload = json!({ "session_id": "s", "hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
            "tool_input": { "command": "make" } });
        let Detail::Tool(used) = of(payload, &Given::default()).unwrap().unwrap().detail else { panic!("a tool") };
        assert!(used.failed && used.output.is_none());
    }

    #[test]
    fn private_parts_of_a_prompt_and_its_end_over_the_limit_are_left_out() {
        let prompt = format!("why <private>x</private>{}", "é".repeat(MAX_PROMPT_BYTES));
        let payload = json!({ "session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": prompt });
        let Detail::Prompt(prompt) = of(payload, &Given::default()).unwrap().unwrap().detail else {
            panic!("a prompt")
        };
        assert!(prompt.starts_with("why  é") && prompt.len() <= MAX_PROMPT_BYTES);
    }
}
