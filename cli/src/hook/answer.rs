//! Answers to hooks, in the format of each client.

use serde_json::{Value, json};

use super::event::{Client, Event, Moment, Style};

/// Default maximum size of the text at the start of a session, in bytes.
pub(crate) const START_BYTES: u32 = 8_000;
/// Default maximum size of the text for a prompt, in bytes.
pub(crate) const PROMPT_BYTES: u32 = 1_500;

/// Maximum size of the text about a file or a command, in bytes.
pub(crate) const TOOL_BYTES: u32 = 400;

/// Returns the maximum size of text that a client takes whole, in bytes. Longer text would be moved to a file or cut.
fn limit(client: Client) -> u32 {
    match client {
        // 10,000 characters; a character has at least one byte.
        Client::ClaudeCode => 10_000,
        // 2,500 tokens, which Codex counts as 4 bytes each.
        Client::Codex => 10_000,
        // 10 KB, joined with the answers of other hooks.
        Client::Copilot => 10_000,
        // These name no limit.
        Client::Cursor | Client::Gemini | Client::OpenCode | Client::OpenClaw | Client::Hermes => 32_000,
    }
}

/// Returns the maximum size of the text for an event, in bytes. `None` if the client takes no text at this event.
pub(crate) fn room(event: &Event, asked: Option<u32>) -> Option<u32> {
    let usual = match event.moment() {
        Moment::BeforeTool | Moment::Tool if takes_text_of_a_tool(event) => {
            return Some(asked.unwrap_or(TOOL_BYTES).min(TOOL_BYTES));
        }
        Moment::Start => START_BYTES,
        Moment::Prompt if takes_text_with_a_prompt(event.client) => PROMPT_BYTES,
        // Only our plugin can add text to the request for a summary.
        Moment::Compact if event.style == Style::Plugin => START_BYTES,
        _ => return None,
    };
    Some(asked.unwrap_or(usual).min(limit(event.client)))
}

/// Returns the maximum sizes of the block and of what the first prompt recalls, in bytes, for a client that takes both at the
/// start of a session. Together they have at most what was asked for, and what the client takes whole.
pub(crate) fn start_rooms(client: Client, asked: Option<u32>) -> (u32, u32) {
    // They are joined by a line break.
    let both = asked.unwrap_or(START_BYTES + PROMPT_BYTES).min(limit(client)).saturating_sub(1);
    let recalled = PROMPT_BYTES.min(both / 4);
    (both - recalled, recalled)
}

/// Returns true for a client that takes text with a prompt.
pub(crate) fn takes_text_with_a_prompt(client: Client) -> bool {
    match client {
        Client::ClaudeCode | Client::Codex | Client::Gemini | Client::OpenCode | Client::OpenClaw | Client::Hermes => {
            true
        }
        // Cursor has no field for it, and Copilot drops the answer.
        Client::Cursor | Client::Copilot => false,
    }
}

/// Returns true for an event at which a client takes text about the file or the command of a tool: before the tool runs, or
/// else with its result. The model reads either with the result.
fn takes_text_of_a_tool(event: &Event) -> bool {
    match event.client {
        Client::ClaudeCode | Client::Codex | Client::OpenCode | Client::OpenClaw | Client::Hermes => {
            event.moment() == Moment::BeforeTool
        }
        // These drop text before a tool runs, and after one that failed.
        Client::Cursor | Client::Copilot | Client::Gemini => {
            event.moment() == Moment::Tool && !event.name.ends_with("Failure")
        }
    }
}

/// Returns the answer with text for the model.
pub(crate) fn answer(event: &Event, text: &str) -> Value {
    match event.style {
        Style::Nested => {
            json!({ "hookSpecificOutput": { "hookEventName": event.name, "additionalContext": text } })
        }
        Style::Snake => json!({ "additional_context": text }),
        Style::Camel => json!({ "additionalContext": text }),
        Style::Plugin => json!({ "text": text }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::event::{Detail, Source, ToolUse};

    fn event(client: Client, style: Style, detail: Detail) -> Event {
        let name = "SessionStart".to_string();
        Event { client, name, style, session: "s".into(), folders: Vec::new(), detail, id: String::new() }
    }

    #[test]
    fn block_and_recalled_notes_share_what_a_client_takes_at_the_start() {
        assert_eq!(start_rooms(Client::Copilot, None), (7_999, 1_500));
        assert_eq!(start_rooms(Client::Copilot, Some(u32::MAX)), (8_499, 1_500));
        assert_eq!(start_rooms(Client::Copilot, Some(1_001)), (750, 250));
        assert_eq!(start_rooms(Client::Copilot, Some(0)), (0, 0));
    }

    #[test]
    fn each_client_takes_text_about_a_tool_at_one_event() {
        let (before, after) = (Detail::BeforeTool(ToolUse::default()), Detail::Tool(ToolUse::default()));
        for client in Client::ALL {
            let rooms =
                [&before, &after].map(|detail| room(&event(client, Style::Nested, detail.clone()), Some(9_999)));
            assert_eq!(rooms.iter().flatten().collect::<Vec<_>>(), [&TOOL_BYTES], "{client}");
        }
        let failed = Event { name: "postToolUseFailure".into(), ..event(Client::Cursor, Style::Snake, after) };
        assert_eq!(room(&failed, None), None);
    }

    #[test]
    fn no_client_gets_more_than_it_takes_or_text_where_it_takes_none() {
        let start = |client| event(client, Style::Nested, Detail::Start(Source::Startup, None));
        let prompt = |client| event(client, Style::Nested, Detail::Prompt(String::new()));
        for client in [Client::ClaudeCode, Client::Codex, Client::Copilot] {
            assert_eq!(room(&start(client), Some(u32::MAX)), Some(10_000), "{client}");
            assert_eq!(room(&start(client), None), Some(START_BYTES), "{client}");
        }
        assert_eq!(room(&prompt(Client::Gemini), Some(100)), Some(100));
        for client in [Client::Cursor, Client::Copilot] {
            assert_eq!(room(&prompt(client), None), None, "{client}");
        }
        assert_eq!(room(&event(Client::ClaudeCode, Style::Nested, Detail::Compact), None), None);
        assert_eq!(room(&event(Client::OpenCode, Style::Plugin, Detail::Compact), None), Some(START_BYTES));
    }
}
