//! Over standard input and output.

use std::thread;

use serde_json::{Value, json};

use crate::replay::replays;

use super::client::{Pipes, VERSION, error_of, hello, request};
use super::{ALL_SETS, assert_answers, assert_lists_every_tool, every_tool, text};
use crate::support::{Store, TODAY};

const PARSE_ERROR: i64 = -32_700;
const INVALID_REQUEST: i64 = -32_600;
const METHOD_NOT_FOUND: i64 = -32_601;
const INVALID_PARAMS: i64 = -32_602;
const NOT_FOUND: i64 = -32_002;

fn open(store: &Store) -> Pipes {
    Pipes::start(store, &[]).open()
}

#[test]
fn a_session_begins_with_what_the_server_is() {
    let store = Store::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", VERSION] {
        let mut client = Pipes::start(&store, &[]);
        let result = client.result("initialize", hello(version));
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "saddlebag");
        assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        for capability in ["tools", "resources", "prompts"] {
            assert!(result["capabilities"][capability].is_object(), "{result}");
        }
        assert!(result["instructions"].as_str().is_some_and(|text| text.len() < 500), "{result}");
        assert_eq!(client.result("ping", json!({})), json!({}));
        assert_eq!(client.close(), (0, Vec::new()));
    }
    assert!(store.tree().is_empty(), "looking made nothing");
}

#[test]
fn a_client_without_hooks_is_told_what_memory_knows() {
    let store = Store::new();
    store.run(&["remember", "Refund window", "Fourteen days."]).exits(0);
    for (client, is_told) in [("by hand", true), ("claude-ai", true), ("claude-code", false), ("Codex", false)] {
        let mut hello = hello(VERSION);
        hello["clientInfo"]["name"] = client.into();
        let mut pipes = Pipes::start(&store, &[]);
        let result = pipes.result("initialize", hello);
        let text = result["instructions"].as_str().unwrap_or_default();
        assert_eq!(text.contains("- Refund window"), is_told, "{client}: {text}");
        pipes.close();
    }
}

#[test]
fn a_request_of_the_version_without_sessions_needs_no_session() {
    let store = Store::new();
    let mut client = Pipes::start(&store, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "by hand", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let result = client.result("tools/list", json!({ "_meta": meta }));
    assert!(result["tools"].as_array().is_some_and(|tools| tools.len() > 10), "{result}");
}

#[test]
fn every_tool_is_listed_and_answers() {
    let store = Store::new();
    let client = Pipes::start_with(&store, &["--tools", ALL_SETS]);
    check_every_tool(client);
    assert_eq!(store.text("notes/plan.md"), "Ship on Monday.\n");
}

#[test]
fn every_tool_answers_in_a_project() {
    let store = Store::new();
    check_every_tool(Pipes::from_command(store.project_command("a", &["mcp", "--tools", ALL_SETS])));
    assert!(store.text("agents/main/entries/core/editor.md").contains("Uses helix."));
}

fn check_every_tool(client: Pipes) {
    let mut client = client.open();
    let list = client.result("tools/list", json!({}));
    assert_lists_every_tool(&list);
    for (name, arguments) in every_tool() {
        let result = client.call(&name, arguments);
        assert_answers(&list, &name, &result);
    }
}

#[test]
fn a_server_without_options_has_one_set_and_its_prompt_names_no_other_tool() {
    let store = Store::new();
    let mut client = Pipes::from_command(store.project_command("a", &["mcp"])).open();
    let list = client.result("tools/list", json!({}));
    let names: Vec<&str> =
        list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 10, "{list}");
    assert!(names.iter().all(|name| name.starts_with("mem_")), "{list}");
    let prompt = client.result("prompts/get", json!({ "name": "memory-protocol" }));
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("`mem_recall`") && !text.contains("`memory_") && !text.contains("`notebook_"), "{text}");
    let kept = client.call("mem_remember", json!({ "key": "editor", "content": "Uses helix." }));
    assert!(kept["isError"] != true && kept["structuredContent"].is_null(), "{kept}");
    assert!(store.text("agents/main/entries/core/editor.md").contains("Uses helix."));
}

#[test]
fn only_the_sets_that_are_on_are_there() {
    let store = Store::new();
    let mut client = Pipes::start_with(&store, &["--tools", "notebook"]).open();
    let list = client.result("tools/list", json!({}));
    let tools = list["tools"].as_array().expect("tools");
    assert!(tools.iter().all(|tool| tool["name"].as_str().is_some_and(|name| name.starts_with("notebook_"))), "{list}");
    let params = json!({ "name": "memory_write", "arguments": { "target": "daily", "content": "x" } });
    let (code, message) = client.error("tools/call", params);
    assert_eq!(code, INVALID_PARAMS);
    assert!(message.contains("unknown tool `memory_write`; one of notebook_remember, "), "{message}");
    store.run(&["mcp", "--tools", "journal,nope"]).exits(2).complains("nope");
}

#[test]
fn a_tool_that_fails_says_so_to_the_model() {
    let store = Store::new();
    let mut client = open(&store);
    for (tool, arguments, named) in [
        ("memory_write", json!({ "target": "nowhere", "content": "x" }), "long_term"),
        ("memory_write", json!({ "target": "daily", "content": "x", "colour": "red" }), "colour"),
        ("memory_write", json!({ "target": "daily" }), "content"),
        ("memory_write", json!({ "target": "daily", "content": "x".repeat(65_537) }), "the limit is 65536"),
        ("memory_edit", json!({ "target": "note", "name": "../x", "old_str": "a", "new_str": "b" }), "note name"),
        ("memory_store", json!({ "key": "k", "content": "x", "agent": "other" }), "agent"),
    ] {
        let result = client.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        assert!(text(&result).contains(named), "{result}");
    }
    assert!(store.tree().is_empty(), "refused input changed nothing");
}

/// An invalid message does not end the server.
#[test]
fn an_invalid_message_is_answered_and_the_server_goes_on() {
    let store = Store::new();
    let mut client = Pipes::start(&store, &[]);
    // Also before the session is open.
    client.send_bytes(b"{not json\n");
    assert_eq!(error_of(&client.response()).0, PARSE_ERROR);
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    client.send(&json!({ "jsonrpc": "2.0", "id": 9, "result": {} }));
    let mut client = client.open();
    for (line, code) in [
        ("{\"jsonrpc\":\"2.0\",\"id\":1,", PARSE_ERROR),
        ("hello", PARSE_ERROR),
        ("\u{fffd}\u{0}", PARSE_ERROR),
        ("[]", INVALID_REQUEST),
        ("42", INVALID_REQUEST),
        ("{\"id\":77,\"method\":\"ping\"}", INVALID_REQUEST),
        (r#"{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"\ud800"}}"#, INVALID_REQUEST),
    ] {
        client.send_bytes(format!("{line}\n").as_bytes());
        let answer = client.response();
        assert_eq!(error_of(&answer).0, code, "{line}: {answer}");
        assert_eq!(answer["id"], if line.contains("77") { json!(77) } else { Value::Null });
    }
    client.send_bytes(b"\xff\xfe\n");
    assert_eq!(error_of(&client.response()).0, PARSE_ERROR);
    client.send_bytes(b"\n\r\n");
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/unheard_of", "params": { "x": 1 } }));
    assert_eq!(client.error("memories/steal", json!({})).0, METHOD_NOT_FOUND);
    assert_eq!(client.error("tools/call", json!({ "arguments": {} })).0, INVALID_PARAMS);
    assert_eq!(client.error("resources/read", json!({})).0, INVALID_PARAMS);
    assert_eq!(client.result("ping", json!({})), json!({}));
    assert_eq!(client.close().0, 0);
}

#[test]
fn an_argument_that_is_given_twice_is_refused_and_changes_nothing() {
    let store = Store::new();
    let mut client = open(&store);
    client.send_bytes(
        br#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"memory_write","arguments":{"target":"daily","content":"a","content":"b"}}}"#,
    );
    client.send_bytes(b"\n");
    let answer = client.response();
    assert_eq!(answer["id"], 5);
    let (code, message) = error_of(&answer);
    assert_eq!((code, message.as_str()), (INVALID_PARAMS, "`params.arguments.content` is given twice; give it once"));
    assert!(store.tree().is_empty());
    assert_eq!(client.result("ping", json!({})), json!({}));
}

#[test]
fn a_message_of_a_hundred_megabytes_is_refused_and_the_server_goes_on() {
    let store = Store::new();
    let mut client = open(&store);
    let content = "x".repeat(100 << 20);
    client.send(&request(5, "tools/call", json!({ "name": "memory_write", "arguments": { "content": content } })));
    let (code, message) = error_of(&client.response());
    assert_eq!(code, INVALID_REQUEST);
    assert!(message.contains("more than 8388608 bytes"), "{message}");
    assert!(client.call("memory_write", json!({ "target": "daily", "content": "small" }))["isError"] != true);
    assert_eq!(store.text(TODAY), "small\n");
    assert_eq!(client.close().0, 0);
}

#[test]
fn a_client_that_hangs_up_in_the_middle_loses_nothing_that_it_sent_whole() {
    let store = Store::new();
    let mut client = open(&store);
    let write = |content| json!({ "name": "memory_write", "arguments": { "target": "daily", "content": content } });
    client.send(&request(7, "tools/call", write("whole")));
    let half = request(8, "tools/call", write("half")).to_string();
    client.send_bytes(&half.as_bytes()[..half.len() - 5]);
    let (code, lines) = client.close();
    assert_eq!(code, 0);
    assert!(lines.iter().any(|line| line.contains("\"id\":7")), "{lines:?}");
    assert_eq!(store.text(TODAY), "whole\n");
    // A client that sends nothing.
    assert_eq!(Pipes::start(&store, &[]).close(), (0, Vec::new()));
}

#[test]
fn who_approves_a_text_sees_the_client_the_session_and_the_tool_that_wrote_it() {
    let store = Store::new();
    let mut client = Pipes::start_with(&store, &["--tools", ALL_SETS]).open();
    for key in ["page", "site"] {
        client.call("memory_store", json!({ "key": key, "content": "obey", "provenance": "tool" }));
    }
    client.call("notebook_remember", json!({ "title": "A page", "content": "obey", "provenance": "tool" }));
    let session = |path: &str| {
        let text = store.text(path);
        let line = text.lines().find_map(|line| line.strip_prefix("origin-session: ").map(String::from));
        line.unwrap_or_else(|| panic!("no session: {text}"))
    };
    let of_entry = session("agents/main/entries/core/page.md");
    assert_eq!(session("agents/main/entries/core/site.md"), of_entry);
    let of_note = session("facts/a-page.md");
    assert_eq!(of_note, of_entry);
    let session = of_entry.trim_matches('"');
    let pending = store.run(&["list", "--pending"]).exits(0).stdout;
    for line in [
        format!("  written by: client by hand, session {session}, tool memory_store\n"),
        format!("  written by: agent main, client by hand, session {session}, tool notebook_remember\n"),
    ] {
        assert!(pending.contains(&line), "{line:?} is missing: {pending}");
    }
}

#[test]
fn two_clients_that_edit_one_file_lose_nothing() {
    const EDITS: usize = 20;

    let store = Store::new();
    store.put("notes/counters.md", "counter 0 is 0.\ncounter 1 is 0.\n");
    thread::scope(|scope| {
        for writer in 0..2 {
            let store = &store;
            scope.spawn(move || {
                let mut client = open(store);
                for count in 0..EDITS {
                    let arguments = json!({
                        "target": "note", "name": "counters",
                        "old_str": format!("counter {writer} is {count}."),
                        "new_str": format!("counter {writer} is {}.", count + 1),
                    });
                    let result = client.call("memory_edit", arguments);
                    assert_ne!(result["isError"], true, "{result}");
                }
            });
        }
    });
    assert_eq!(store.text("notes/counters.md"), format!("counter 0 is {EDITS}.\ncounter 1 is {EDITS}.\n"));
}

#[test]
fn memory_is_read_as_resources() {
    let store = Store::new();
    store.put("MEMORY.md", "Staging listens on port 8443.\n");
    store.put("notes/a b #1.md", "spaced");
    store.put("notes/記憶.md", "");
    store.put("notes/bytes.md", b"\xff");
    for number in 0..240 {
        store.put(&format!("facts/{number:03}.md"), "fact");
    }
    store.put("facts/001.md", "---\ndate: 2026-05-24\nsupersedes: facts/000.md\n---\nfact");
    store.put("agents/main/entries/core/k.md", "---\nkey: k\ncategory: core\n---\n\nan entry of mine");
    store.put("agents/other/entries/core/k.md", "---\nkey: k\ncategory: core\n---\n\nof another agent");
    let mut client = open(&store);

    let first = client.result("resources/list", json!({}));
    assert_eq!(first["resources"][0]["uri"], "saddlebag://context");
    let second = client.result("resources/list", json!({ "cursor": first["nextCursor"] }));
    assert!(second["nextCursor"].is_null(), "{second}");
    let uris: Vec<&str> = [&first, &second]
        .iter()
        .flat_map(|page| page["resources"].as_array().expect("a page"))
        .map(|resource| resource["uri"].as_str().expect("a uri"))
        .collect();
    // Entries are not resources.
    let of_note = format!("saddlebag://file/{}notes/a%20b%20%231.md", store.memory);
    assert_eq!(uris.len(), 1 + 1 + 3 + 240, "{uris:?}");
    assert!(uris.contains(&of_note.as_str()), "{uris:?}");
    assert!(uris.iter().all(|uri| !uri.contains("other")), "{uris:?}");
    let templates = client.result("resources/templates/list", json!({}));
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "saddlebag://file/{+path}");

    let mut read = |uri: &str| client.request("resources/read", json!({ "uri": uri }));
    let block = read("saddlebag://context")["result"]["contents"][0]["text"].as_str().expect("text").to_string();
    assert!(block.contains("port 8443") && block.contains("an entry of mine"), "{block}");
    for uri in uris.iter().filter(|uri| !uri.contains("bytes")) {
        let answer = read(uri);
        assert_eq!(answer["result"]["contents"][0]["uri"], **uri, "{answer}");
        assert_eq!(answer["result"]["contents"][0]["mimeType"], "text/markdown", "{answer}");
    }
    assert_eq!(read(&of_note)["result"]["contents"][0]["text"], "spaced");
    let older = read(&of_note.replace("notes/a%20b%20%231", "facts/000"));
    let marked = format!("(superseded by {}facts/001.md since 2026-05-24)\n\nfact", store.memory);
    assert_eq!(older["result"]["contents"][0]["text"], marked);
    for (uri, code) in [
        ("saddlebag://file/agents/other/entries/core/k.md", NOT_FOUND),
        ("saddlebag://file/agents/main/entries/core/k.md", NOT_FOUND),
        (&format!("saddlebag://file/{}notes/none.md", store.memory), NOT_FOUND),
        ("saddlebag://file/../here/x.md", INVALID_PARAMS),
        ("saddlebag://file/notes/%2e%2e/%2e%2e/x.md", INVALID_PARAMS),
        (&format!("saddlebag://file/{}notes/bytes.md", store.memory), INVALID_PARAMS),
        ("file:///etc/passwd", NOT_FOUND),
        ("", NOT_FOUND),
    ] {
        let answer = read(uri);
        assert_eq!(error_of(&answer).0, code, "{uri}: {answer}");
    }
    assert_eq!(client.error("resources/list", json!({ "cursor": "../x" })).0, INVALID_PARAMS);
}

#[test]
fn the_protocol_of_memory_is_a_prompt() {
    let store = Store::new();
    store.put("MEMORY.md", "Staging listens on port 8443.\n");
    let mut client = open(&store);
    let list = client.result("prompts/list", json!({}));
    let names: Vec<&str> =
        list["prompts"].as_array().expect("prompts").iter().filter_map(|p| p["name"].as_str()).collect();
    assert_eq!(names, ["memory-protocol", "reflect", "flush-before-compaction"]);
    for name in names {
        let prompt = client.result("prompts/get", json!({ "name": name }));
        let message = &prompt["messages"][0];
        assert_eq!(message["role"], "user", "{prompt}");
        assert!(message["content"]["text"].as_str().is_some_and(|text| text.len() > 200), "{prompt}");
        if name == "memory-protocol" {
            assert!(text(&json!({ "content": [message["content"]] })).contains("port 8443"), "{prompt}");
        }
    }
    let (code, message) = client.error("prompts/get", json!({ "name": "obey" }));
    assert_eq!(code, INVALID_PARAMS);
    assert!(message.contains("memory-protocol, reflect"), "{message}");
}

#[test]
fn another_agents_entries_are_out_of_reach() {
    let store = Store::new();
    let mut own = Pipes::start(&store, &["--agent", "a"]).open();
    own.call("memory_store", json!({ "key": "door", "content": "The code is hush4711." }));
    let mut other = Pipes::start(&store, &["--agent", "b"]).open();
    for (tool, arguments) in [
        ("memory_recall", json!({ "key": "door" })),
        ("memory_recall", json!({ "query": "code" })),
        ("memory_list", json!({})),
        ("memory_search", json!({ "query": "hush4711" })),
        ("notebook_recall", json!({ "query": "code" })),
        ("memory_forget", json!({ "key": "door" })),
        ("memory_recall", json!({ "key": "door", "agent": "a" })),
        ("memory_list", json!({ "workspace": "w" })),
        ("memory_read", json!({ "source": "note", "name": "agents/a/entries/core/door" })),
    ] {
        let result = other.call(tool, arguments);
        assert!(!result.to_string().contains("hush4711 "), "{tool}: {result}");
        assert!(!text(&result).contains("The code is"), "{tool}: {result}");
    }
    let context = other.result("resources/read", json!({ "uri": "saddlebag://context" }));
    assert!(!context.to_string().contains("hush4711"), "{context}");
    assert!(text(&own.call("memory_recall", json!({ "key": "door" }))).contains("hush4711"));
}

/// A store in which a search is under way for a while.
fn large_store() -> Store {
    let store = Store::new();
    for number in 0..3000 {
        store.put(&format!("notes/n{number}.md"), format!("fact {number}\n"));
    }
    store
}

#[test]
fn a_long_call_says_how_far_it_is() {
    let store = large_store();
    let mut client = open(&store);
    let search = |meta: Value| json!({ "name": "memory_search", "arguments": { "query": "fact" }, "_meta": meta });
    assert_ne!(client.result("tools/call", search(json!({ "progressToken": "p" })))["isError"], true);
    assert!(client.told.len() > 5, "{:?}", client.told);
    let mut last = 0.0;
    for told in std::mem::take(&mut client.told) {
        assert_eq!(told["method"], "notifications/progress", "{told}");
        assert_eq!(told["params"]["progressToken"], "p", "{told}");
        let progress = told["params"]["progress"].as_f64().expect("a number");
        assert!(progress > last, "{told}");
        last = progress;
    }
    // Without a progress token, the server reports no progress.
    client.result("tools/call", search(json!({})));
    assert!(client.told.is_empty(), "{:?}", client.told);
}

/// A call that is cancelled ends at its next operation and has no answer.
#[test]
fn a_call_that_is_cancelled_ends_and_has_no_answer() {
    let store = large_store();
    let trace = store.here.join("trace.jsonl");
    let mut client = Pipes::start(&store, &["--trace", trace.to_str().expect("text")]).open();
    let arguments = json!({ "query": "fact" });
    let meta = json!({ "progressToken": 41 });
    let params = json!({ "name": "memory_search", "arguments": arguments, "_meta": meta });
    client.send(&request(41, "tools/call", params));
    // The search has started.
    assert_eq!(client.receive()["method"], "notifications/progress");
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 41 } });
    client.send(&cancel);
    // The next response is not that of the search.
    assert_ne!(client.call("memory_write", json!({ "target": "daily", "content": "after" }))["isError"], true);
    let (code, rest) = client.close();
    assert_eq!((code, rest), (0, Vec::new()));
    let text = std::fs::read_to_string(&trace).expect("a trace");
    let ended = text.lines().filter(|line| line.starts_with("{\"cancel\"") && line.contains("\"code\":\"cancelled\""));
    assert_eq!(ended.count(), 1);
    replays(&trace);
    assert_eq!(store.text(TODAY), "after\n");
}

#[test]
fn a_short_call_does_not_wait_for_a_long_one() {
    let store = large_store();
    let mut client = open(&store);
    let search = request(51, "tools/call", json!({ "name": "memory_search", "arguments": { "query": "fact" } }));
    let write = json!({ "name": "memory_write", "arguments": { "target": "daily", "content": "at once" } });
    client.send_bytes(format!("{search}\n{}\n", request(52, "tools/call", write)).as_bytes());
    assert_eq!(client.response()["id"], 52);
    assert_eq!(client.response()["id"], 51);
}

#[cfg(unix)]
#[test]
fn a_root_that_was_moved_away_or_replaced_is_written_to_no_longer() {
    let store = Store::new();
    let mut client = open(&store);
    let write = json!({ "target": "daily", "content": "x" });
    assert_ne!(client.call("memory_write", write.clone())["isError"], true);
    let moved = store.here.join("moved");
    std::fs::rename(&store.root, &moved).expect("moved");
    let refused = client.call("memory_write", write.clone());
    assert!(refused["isError"] == true && text(&refused).contains("was moved away or removed"), "{refused}");
    std::fs::create_dir(&store.root).expect("made");
    let refused = client.call("memory_write", write.clone());
    assert!(text(&refused).contains("was replaced by another folder"), "{refused}");
    assert!(store.tree().is_empty());
    let log = std::fs::read_to_string(moved.join(store.printed(TODAY))).expect("the log");
    assert_eq!(log.lines().count(), 1, "{log}");
    std::fs::remove_dir(&store.root).expect("removed");
    std::fs::rename(&moved, &store.root).expect("moved back");
    assert_ne!(client.call("memory_write", write)["isError"], true);
}

#[cfg(unix)]
#[test]
fn a_root_that_was_deleted_is_named_by_every_read() {
    let store = Store::new();
    store.put("facts/port.md", "# Port\n\nStaging listens on port 8443.\n");
    let mut client = Pipes::start_with(&store, &["--tools", ALL_SETS]).open();
    let reads = [
        ("memory_search", json!({ "query": "staging" })),
        ("memory_read", json!({ "target": "long_term" })),
        ("notebook_recall", json!({ "query": "staging port" })),
        ("memory_recall", json!({ "query": "staging" })),
        ("memory_list", json!({})),
    ];
    for (tool, arguments) in &reads {
        let answered = client.call(tool, arguments.clone());
        assert!(!text(&answered).contains("was moved away"), "{tool}: {answered}");
    }
    std::fs::remove_dir_all(&store.root).expect("removed");
    for (tool, arguments) in reads {
        let refused = client.call(tool, arguments);
        assert!(
            refused["isError"] == true && text(&refused).contains("was moved away or removed"),
            "{tool}: {refused}"
        );
    }
}
