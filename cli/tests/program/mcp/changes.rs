//! What the server sees and tells of changes: its own, those of other processes, and those of editors.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use saddlebag_host::project_slug;
use serde_json::{Value, json};

use super::client::{Pipes, Server, request};
use super::text;
use crate::support::Store;

const METHOD_NOT_FOUND: i64 = -32_601;
const INVALID_PARAMS: i64 = -32_602;
const NOT_FOUND: i64 = -32_002;
const UPDATED: &str = "notifications/resources/updated";
const LIST_CHANGED: &str = "notifications/resources/list_changed";
/// Time after which the change of an editor is seen.
const SEEN_WITHIN: Duration = Duration::from_millis(200);

const PATIENCE: Duration = Duration::from_secs(60);

/// A path of the project's memory.
fn of_project(store: &Store, path: &str) -> String {
    format!("{}{path}", store.memory)
}

fn uri(path: &str) -> String {
    format!("saddlebag://file/{path}")
}

fn subscribe(client: &mut Pipes, uri: &str) {
    assert_eq!(client.result("resources/subscribe", json!({ "uri": uri })), json!({}));
}

/// The URI of the next resource that was updated.
fn updated(client: &mut Pipes) -> String {
    client.notification(UPDATED)["params"]["uri"].as_str().expect("a URI").to_string()
}

fn listed(client: &mut Pipes) -> BTreeSet<String> {
    let resources = client.result("resources/list", json!({}))["resources"].clone();
    let uris = resources.as_array().expect("resources").iter().map(|resource| resource["uri"].as_str().expect("a URI"));
    uris.map(String::from).collect()
}

/// A text with a word. An answer that finds nothing repeats the word, but not the text.
fn with(word: &str) -> String {
    format!("The word is {word} here.\n")
}

fn finds(client: &mut Pipes, word: &str) -> bool {
    let answer = client.call("mem_recall", json!({ "query": word }));
    assert_ne!(answer["isError"], true, "{answer}");
    text(&answer).contains(with(word).trim_end())
}

#[test]
fn a_subscriber_is_told_of_its_resources_alone() {
    let store = Store::new();
    let [plan, other] = ["notes/plan.md", "notes/other.md"].map(|path| of_project(&store, path));
    store.put(&plan, "Ship on Monday.\n");
    store.put(&other, "Nothing.\n");
    let mut client = Pipes::start(&store, &[]).open();
    subscribe(&mut client, &uri(&plan));
    store.put(&other, "Something.\n");
    store.put(&plan, "Ship on Tuesday.\n");
    assert_eq!(updated(&mut client), uri(&plan), "an editor");
    let edit = json!({ "name": plan, "old_str": "Tuesday", "new_str": "Friday" });
    assert_ne!(client.call("mem_edit", edit)["isError"], true);
    assert_eq!(updated(&mut client), uri(&plan), "the client itself");

    // The block is told of when its text changes.
    client.result("resources/unsubscribe", json!({ "uri": uri(&plan) }));
    subscribe(&mut client, "saddlebag://context");
    client.told.clear();
    store.put(&plan, "Ship on Sunday.\n");
    store.put(&of_project(&store, "MEMORY.md"), "The port is 8080.\n");
    assert_eq!(updated(&mut client), "saddlebag://context");
    assert!(client.told.iter().all(|message| message["method"] != UPDATED), "{:?}", client.told);
}

#[test]
fn only_what_can_be_read_can_be_subscribed_to() {
    let store = Store::new();
    let foreign = format!("projects/{}/notes/secret.md", project_slug(&store.here.join("b")));
    store.put(&foreign, "Not yours.\n");
    let mut client = Pipes::start(&store, &[]).open();
    for missing in [uri(&foreign), uri(&of_project(&store, "notes/none.md")), "file:///etc/passwd".into()] {
        let (code, message) = client.error("resources/subscribe", json!({ "uri": missing }));
        assert_eq!(code, NOT_FOUND, "{missing}: {message}");
    }
    assert_eq!(client.error("resources/subscribe", json!({})).0, INVALID_PARAMS);
}

#[test]
fn a_file_that_comes_or_goes_changes_the_list_and_an_edit_does_not() {
    let store = Store::new();
    let [plan, other] = ["notes/plan.md", "notes/deep/er/other.md"].map(|path| of_project(&store, path));
    store.put(&plan, "Ship on Monday.\n");
    let mut client = Pipes::start(&store, &[]).open();
    store.put(&other, "Nothing.\n");
    client.notification(LIST_CHANGED);
    let both = listed(&mut client);
    assert!(both.contains(&uri(&plan)) && both.contains(&uri(&other)), "{both:?}");

    // Until here, a folder may have been told of before the file in it.
    fs::remove_file(store.file(&plan)).expect("removed");
    while listed(&mut client).contains(&uri(&plan)) {}
    client.notification(LIST_CHANGED);
    subscribe(&mut client, &uri(&other));
    client.told.clear();
    let edit = json!({ "name": other, "old_str": "Nothing", "new_str": "Something" });
    assert_ne!(client.call("mem_edit", edit)["isError"], true);
    assert_eq!(updated(&mut client), uri(&other));
    store.put(&other, "By hand.\n");
    assert_eq!(updated(&mut client), uri(&other));
    assert!(client.told.iter().all(|message| message["method"] != LIST_CHANGED), "{:?}", client.told);
}

#[test]
fn each_session_over_http_has_its_own_subscriptions() {
    let store = Store::new();
    let [plan, other] = ["notes/plan.md", "notes/other.md"].map(|path| of_project(&store, path));
    store.put(&plan, "Ship on Monday.\n");
    store.put(&other, "Nothing.\n");
    let server = Server::start(&store);
    let updates = [&plan, &other].map(|path| {
        let mut session = server.open();
        let stream = session.stream();
        session.result("resources/subscribe", json!({ "uri": uri(path) }));
        stream.filter(|message| message["method"] == UPDATED)
    });
    store.put(&plan, "Ship on Tuesday.\n");
    store.put(&other, "Something.\n");
    for (mut updates, path) in updates.into_iter().zip([&plan, &other]) {
        assert_eq!(updates.next().expect("endless")["params"]["uri"], uri(path));
    }
}

#[test]
fn a_client_without_a_session_listens_to_its_own_project_alone() {
    let store = Store::new();
    let plan = of_project(&store, "notes/plan.md");
    let foreign = format!("projects/{}/notes/secret.md", project_slug(&store.here.join("b")));
    store.put(&plan, "Ship on Monday.\n");
    store.put(&foreign, "Not yours.\n");
    let mut client = Pipes::start(&store, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "by hand", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let wanted = json!({ "resourcesListChanged": true, "resourceSubscriptions": [uri(&foreign), uri(&plan)] });
    client.send(&request(7, "subscriptions/listen", json!({ "_meta": meta, "notifications": wanted })));
    client.notification("notifications/subscriptions/acknowledged");
    store.put(&foreign, "Still not yours.\n");
    store.put(&plan, "Ship on Tuesday.\n");
    assert_eq!(updated(&mut client), uri(&plan));
    store.put(&of_project(&store, "notes/new.md"), "New.\n");
    client.notification(LIST_CHANGED);
    assert!(client.told.iter().all(|message| message["method"] != UPDATED), "{:?}", client.told);
}

#[test]
fn the_path_of_a_file_is_completed() {
    let store = Store::new();
    for path in ["notes/my plan.md", "notes/plan.md", "notes/other.md"] {
        store.put(&of_project(&store, path), "Text.\n");
    }
    let mut client = Pipes::start(&store, &[]).open();
    let template = client.result("resources/templates/list", json!({}))["resourceTemplates"][0]["uriTemplate"].clone();
    let mut complete = |typed: &str| {
        let reference = json!({ "type": "ref/resource", "uri": template });
        let argument = json!({ "name": "path", "value": typed });
        client.result("completion/complete", json!({ "ref": reference, "argument": argument }))["completion"].clone()
    };
    let paths = |paths: &[&str]| json!(paths.iter().map(|path| of_project(&store, path)).collect::<Vec<_>>());
    let plans = complete("plan");
    assert_eq!(plans["values"], paths(&["notes/plan.md", "notes/my%20plan.md"]), "{plans}");
    assert_eq!((&plans["total"], &plans["hasMore"]), (&json!(2), &json!(false)));
    assert_eq!(complete("nothing like it")["values"], json!([]));
    let found = complete("my plan")["values"][0].as_str().expect("a path").to_string();
    let read = client.result("resources/read", json!({ "uri": uri(&found) }));
    assert_eq!(read["contents"][0]["text"], "Text.\n");

    for (reference, argument) in [
        (json!({ "type": "ref/resource", "uri": template }), "name"),
        (json!({ "type": "ref/resource", "uri": "saddlebag://context" }), "path"),
        (json!({ "type": "ref/prompt", "name": "reflect" }), "path"),
        (json!({ "type": "ref/prompt", "name": "none" }), "path"),
    ] {
        let argument = json!({ "name": argument, "value": "" });
        let (code, message) = client.error("completion/complete", json!({ "ref": reference, "argument": argument }));
        assert_eq!(code, INVALID_PARAMS, "{message}");
    }
}

/// A change that another process acknowledged is seen by the next question, although the server lists nothing
/// between changes.
#[test]
fn the_next_question_sees_what_another_process_changed() {
    let store = Store::new();
    store.put(&of_project(&store, "notes/plan.md"), "Ship on Monday.\n");
    let mut client = Pipes::start(&store, &[]).open();
    for round in 0..200 {
        // Two questions, so that the server has nothing to catch up with.
        let (word, title) = (format!("wordnumber{round}"), format!("Note {round}"));
        let text = with(&word);
        assert!(!finds(&mut client, &word) && !finds(&mut client, &word));
        let kind = round % 4;
        let stored = match kind {
            0 => store.run(&["write", "long_term", &text]),
            1 => store.run(&["remember", &title, &text]),
            2 => store.run(&["remember", "--key", &format!("key{round}"), &text]),
            _ => store.run(&["write", "scratchpad", &text]),
        };
        stored.exits(0);
        assert!(finds(&mut client, &word), "round {round}");
        if kind == 1 {
            store.run(&["forget", &title]).exits(0);
            assert!(!finds(&mut client, &word), "round {round}");
        }
    }
}

/// A question that is asked 200 ms after an editor saved a file sees the new text.
#[test]
fn a_question_sees_what_an_editor_saved_200_ms_before() {
    let store = Store::new();
    let mut client = Pipes::start(&store, &[]).open();
    for round in 0..30 {
        let word = format!("wordnumber{round}");
        assert!(!finds(&mut client, &word) && !finds(&mut client, &word));
        let path = match round % 3 {
            0 => "notes/edited.md".to_string(),
            1 => format!("notes/folder{round}/new/file.md"),
            _ => "MEMORY.md".to_string(),
        };
        store.put(&of_project(&store, &path), with(&word));
        let saved = Instant::now();
        loop {
            let is_due = saved.elapsed() >= SEEN_WITHIN;
            if finds(&mut client, &word) {
                break;
            }
            assert!(!is_due, "round {round}");
        }
    }
}

#[test]
fn without_a_watch_each_question_checks_every_file_and_nobody_is_told() {
    let store = Store::new();
    let plan = of_project(&store, "notes/plan.md");
    store.put(&plan, "Ship on Monday.\n");
    let mut client = Pipes::start_with(&store, &["--no-watch"]);
    let hello = client.result("initialize", super::client::hello(super::client::VERSION));
    assert_eq!(hello["capabilities"]["resources"], json!({}), "{hello}");
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    assert_eq!(client.error("resources/subscribe", json!({ "uri": uri(&plan) })).0, METHOD_NOT_FOUND);
    for round in 0..20 {
        let word = format!("wordnumber{round}");
        assert!(!finds(&mut client, &word));
        store.put(&plan, with(&word));
        assert!(finds(&mut client, &word), "round {round}");
    }
    assert_eq!(client.told, Vec::<Value>::new());
}

#[cfg(target_os = "linux")]
#[test]
fn between_changes_no_folder_is_listed() {
    let store = Store::new();
    let plan = of_project(&store, "notes/plan.md");
    store.put(&plan, "Ship on Monday.\n");
    // The watched folder has no event for a write through a name outside of it, so only a listing would see it.
    let outside = store.here.join("other-name.md");
    fs::hard_link(store.file(&plan), &outside).expect("linked");
    let mut client = Pipes::start(&store, &[]).open();
    assert_ne!(client.call("mem_log", json!({ "entry": "Started." }))["isError"], true);
    let begun = Instant::now();
    let unseen = (0..).map(|round| format!("wordnumber{round}")).find(|word| {
        assert!(begun.elapsed() < PATIENCE, "folders are listed all the time");
        // The first question catches up with changes whose events arrive late.
        finds(&mut client, word);
        fs::write(&outside, with(word)).expect("written");
        !finds(&mut client, word)
    });
    store.put(&of_project(&store, "notes/other.md"), "Any other change.\n");
    let begun = Instant::now();
    while !finds(&mut client, unseen.as_deref().expect("endless")) {
        assert!(begun.elapsed() < PATIENCE);
    }
}
