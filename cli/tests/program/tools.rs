//! `tools` and `call`.

use serde_json::json;

use crate::support::Store;

#[test]
fn the_tools_are_printed_in_the_shape_that_is_asked_for() {
    let store = Store::new();
    let text = store.run(&["tools", "--tools", "entries"]).exits(0).stdout;
    assert!(text.starts_with("memory_store [category] content key [provenance] [tags]\n  Keep one fact"), "{text}");
    let names = |arguments: &[&str], pointer: &str| -> Vec<String> {
        let tools = store.run(&[&["tools"], arguments].concat()).exits(0).json();
        let name = |tool: &serde_json::Value| tool.pointer(pointer).and_then(|name| name.as_str()).map(String::from);
        tools.as_array().expect("an array").iter().filter_map(name).collect()
    };
    assert_eq!(names(&["--for", "mcp"], "/name").len(), 10);
    assert_eq!(names(&["--for", "openai", "--tools", "journal"], "/function/name").len(), 4);
    assert_eq!(names(&["--for", "anthropic", "--tools", "anthropic"], "/type"), ["memory_20250818"]);
    store.run(&["tools", "--tools", "nope"]).exits(2).complains("unknown set of tools: nope");
}

#[test]
fn a_tool_is_called() {
    let store = Store::new();
    let fact = json!({ "key": "port", "content": "8080" }).to_string();
    store.run(&["tools", "memory_store", &fact]).exits(0).prints("Stored port in core\n");
    let answer = store.run(&["--json", "tools", "memory_recall", "{\"key\": \"port\"}"]).exits(0).json();
    assert_eq!(answer["structured"]["entries"][0]["content"], "8080");
    store.run(&["tools", "memory_recall", "{\"key\": \"nope\"}"]).exits(3).complains("UZ-MEM-004");
    store.run(&["tools", "memory_recall", "nope"]).exits(3).complains("not a JSON object");
    let answer = store.run(&["--json", "tools", "memory_recall"]).exits(3).json();
    assert_eq!(answer["is_error"], true);
    let missing = json!({ "command": "delete", "path": "/memories/x" }).to_string();
    store.run(&["tools", "memory", &missing]).exits(3).complains("Error: The path /memories/x does not exist");
    store.run(&["tools", "memory", &missing, "--dialect", "sdk"]).exits(3).complains("error: The path /memories/x");
    store.run(&["tools", "memory", &missing, "--tools", "journal"]).exits(3).complains("unknown tool: memory");
}
