//! `saddlebag mcp`: its answers to valid and invalid requests.

mod changes;
pub(crate) mod client;
mod http;
mod stdio;

use std::collections::BTreeSet;

use serde_json::Value;

/// Each tool with arguments that it takes, in an order in which all of them find what they need. The clients
/// that this project did not write make the same calls.
pub(crate) fn every_tool() -> Vec<(String, Value)> {
    serde_json::from_str(include_str!("../../clients/calls.json")).expect("pairs")
}

pub(crate) const ALL_SETS: &str = "everyday,journal,entries,notebook,anthropic";

/// Checks that a list has every tool, each with the fields that a client needs.
pub(crate) fn assert_lists_every_tool(list: &Value) {
    let tools = list["tools"].as_array().expect("tools");
    let listed: BTreeSet<String> =
        tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_string()).collect();
    assert_eq!(listed, every_tool().iter().map(|(name, _)| name.clone()).collect());
    for tool in tools {
        assert!(!tool["description"].as_str().expect("a description").is_empty(), "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        let hints = &tool["annotations"];
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint"] {
            assert!(hints[hint].is_boolean(), "{hint}: {tool}");
        }
        assert_eq!(hints["openWorldHint"], false, "{tool}");
        let reads = ["read", "search", "recall", "list", "related", "show"]
            .iter()
            .any(|verb| tool["name"].as_str().is_some_and(|name| name.ends_with(&format!("_{verb}"))));
        assert_eq!(hints["readOnlyHint"], reads, "{tool}");
    }
}

/// Checks that an answer is not an error, and has the structure that its tool promises.
pub(crate) fn assert_answers(list: &Value, name: &str, result: &Value) {
    assert_ne!(result["isError"], true, "{name}: {result}");
    assert!(result["content"][0]["text"].is_string(), "{name}: {result}");
    let tools = list["tools"].as_array().expect("tools");
    let tool = tools.iter().find(|tool| tool["name"] == name).expect("listed");
    let promised = tool["outputSchema"]["required"].as_array().cloned().unwrap_or_default();
    for field in &promised {
        let field = field.as_str().expect("a name");
        assert!(!result["structuredContent"][field].is_null(), "{name} promises {field}: {result}");
    }
}

pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("text")
}
