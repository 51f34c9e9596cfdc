//! `saddlebag ui`: who gets an answer. The page itself is tested in a browser, in `cli/tests/page/`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;

use super::mcp::client::{Answer, exchange};
use super::support::Store;

/// A served page.
struct Page {
    child: Child,
    /// Host and port.
    address: String,
    /// Folder of the page.
    folder: String,
    /// Path with the key that signs in.
    path: String,
}

impl Page {
    fn start(store: &Store, options: &[&str]) -> Self {
        let mut command = store.command(&["ui", "--no-open"]);
        let mut child = command.args(options).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a program");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("an address");
        let (address, path) = line.trim().strip_prefix("http://").and_then(|rest| rest.split_once('/')).expect("a URL");
        let (folder, _) = path.split_once('?').expect("a key");
        Self { child, address: address.into(), folder: format!("/{folder}"), path: format!("/{path}") }
    }

    fn ask(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
        let has_host = headers.iter().any(|header| header.starts_with("Host:"));
        let host = if has_host { String::new() } else { format!("Host: {}\r\n", self.address) };
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let length = body.len();
        let head =
            format!("{method} {path} HTTP/1.1\r\n{host}Connection: close\r\nContent-Length: {length}\r\n{headers}\r\n");
        exchange(&self.address, &head, body.as_bytes())
    }

    /// Signs in, and returns the headers of a call.
    fn sign_in(&self) -> [String; 2] {
        let answer = self.ask("GET", &self.path, &[], "");
        assert_eq!(answer.status, 303, "{answer:?}");
        let cookie = answer.header("Set-Cookie").expect("a cookie");
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
        let cookie = format!("Cookie: {}", cookie.split(';').next().expect("a value"));
        let page = self.ask("GET", &self.folder, &[&cookie], "").body;
        let secret = page.split("saddlebag-csrf\" content=\"").nth(1).and_then(|rest| rest.split('"').next());
        [cookie, format!("X-Saddlebag-Csrf: {}", secret.expect("a secret"))]
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const FIND: &str = r#"{"interface": "items", "command": {"show": {"name": "Postgres port", "offset": "0"}}}"#;
const FORGET: &str = r#"{"interface": "items", "command": {"forget": {"name": "Postgres port"}}}"#;

fn store() -> Store {
    let store = Store::new();
    store.run(&["remember", "Postgres port", "It listens on 5433."]).exits(0);
    store
}

/// Only the browser that signed in gets an answer of the page, and only to requests of that page.
#[test]
fn only_the_browser_that_signed_in_gets_an_answer() {
    let store = store();
    let page = Page::start(&store, &[]);
    for path in ["", "app.js", "api/changes", "?key=", "?key=wrong"] {
        let path = format!("{}{path}", page.folder);
        let answer = page.ask("GET", &path, &[], "");
        assert_eq!(answer.status, 401, "{path}: {answer:?}");
    }
    let [cookie, secret] = page.sign_in();
    assert_eq!(page.ask("GET", &page.path, &[], "").status, 401, "the key signs in once");
    let path = format!("{}api/call", page.folder);
    let call = |headers: &[&str]| page.ask("POST", &path, headers, FIND);
    assert_eq!(page.ask("POST", "/api/call", &[&cookie, &secret], FIND).status, 401, "outside of the folder");
    let found = call(&[&cookie, &secret]);
    assert_eq!(found.status, 200, "{found:?}");
    let found: Value = serde_json::from_str(&found.body).expect("JSON");
    assert_eq!(found["name"], "Postgres port");
    assert_eq!(call(&[&secret]).status, 401);
    assert_eq!(call(&[&cookie]).status, 403);
    assert_eq!(call(&[&cookie, "X-Saddlebag-Csrf: guessed"]).status, 403);
    let own = format!("Origin: http://{}", page.address);
    assert_eq!(call(&[&cookie, &secret, &own]).status, 200);
    for header in [
        "Origin: http://localhost:1",
        "Origin: https://evil.example",
        "Origin: null",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
        "Host: evil.example",
        "Host: 127.0.0.1:1",
    ] {
        let answer = call(&[&cookie, &secret, header]);
        assert_eq!(answer.status, 403, "{header}: {answer:?}");
        assert!(!answer.body.contains("Postgres"), "{answer:?}");
    }
    assert_eq!(call(&[&cookie, &cookie, &secret]).status, 400, "a header that occurs twice");
}

#[test]
fn a_page_that_only_reads_refuses_every_change() {
    let store = store();
    let page = Page::start(&store, &["--read-only"]);
    let [cookie, secret] = page.sign_in();
    let path = format!("{}api/call", page.folder);
    let call = |body: &str| page.ask("POST", &path, &[&cookie, &secret], body);
    let refused = call(FORGET);
    assert_eq!(refused.status, 422, "{refused:?}");
    assert!(refused.body.contains("not-permitted"), "{refused:?}");
    let policy = r#"{"interface": "history", "command": {"set-history-policy": {"recording": false}}}"#;
    assert_eq!(call(policy).status, 422);
    assert_eq!(call(FIND).status, 200);
    assert!(store.run(&["show", "Postgres port"]).exits(0).stdout.contains("5433"));
}

#[test]
fn a_call_that_is_not_one_says_what_is_wrong() {
    let store = store();
    let page = Page::start(&store, &[]);
    let [cookie, secret] = page.sign_in();
    let call = |path: &str, body: &str| page.ask("POST", &format!("{}{path}", page.folder), &[&cookie, &secret], body);
    for (path, body, status, said) in [
        ("api/call", "{", 400, "JSON"),
        ("api/call", "[]", 400, "object"),
        ("api/call", r#"{"interface": "items", "command": {"nope": {}}}"#, 400, "nope"),
        ("api/call", r#"{"interface": "items", "command": {"show": {"name": "x", "offset": "0", "y": 1}}}"#, 400, "y"),
        (
            "api/call",
            r#"{"interface": "items", "command": {"show": {"name": "Nowhere", "offset": "0"}}}"#,
            404,
            "Nowhere",
        ),
        ("api/nope", "{}", 404, "nope"),
    ] {
        let answer = call(path, body);
        assert_eq!(answer.status, status, "{body}: {answer:?}");
        assert!(answer.body.contains(said), "{body}: {answer:?}");
    }
}

/// The page refuses a value that was rejected for good.
#[test]
fn the_page_stores_no_value_that_was_rejected_for_good() {
    let store = store();
    store.run(&["memory", "reject", "Postgres port", "--for-good"]).exits(0);
    let page = Page::start(&store, &[]);
    let [cookie, secret] = page.sign_in();
    let remember = |content: &str| {
        let note = serde_json::json!({
            "title": "Again", "content": content, "template": "fact", "tags": [], "links": [], "supersede": false,
        });
        let command = serde_json::json!({ "write": { "item": { "note": note } } });
        let body = serde_json::json!({ "interface": "items", "command": command }).to_string();
        page.ask("POST", &format!("{}api/call", page.folder), &[&cookie, &secret], &body)
    };
    let before = store.tree();
    let refused = remember("It listens on 5433.");
    assert!(refused.status >= 400 && refused.body.contains("rejected for good"), "{refused:?}");
    assert_eq!(store.tree(), before);
    let stored = remember("The port is 5434.");
    assert_eq!(stored.status, 200, "{stored:?}");
}

#[test]
fn the_page_shows_what_a_session_begins_with_and_may_not_begin_one() {
    let store = Store::new();
    store.run(&["remember", "Refund window", "Fourteen days."]).exits(0);
    let page = Page::start(&store, &["--read-only"]);
    let [cookie, secret] = page.sign_in();
    let path = format!("{}api/call", page.folder);
    let begin = |dry_run: bool| {
        let begin = serde_json::json!({
            "session": "preview", "source": "startup", "max-bytes": null, "form": "claude", "dry-run": dry_run,
        });
        let body = serde_json::json!({ "interface": "session", "command": { "begin-session": begin } }).to_string();
        page.ask("POST", &path, &[&cookie, &secret], &body)
    };
    let reply: Value = serde_json::from_str(&begin(true).body).expect("a reply");
    let shown = store.run(&["context"]).exits(0).stdout;
    assert_eq!(reply["text"].as_str(), shown.strip_suffix('\n'), "{reply}");
    assert_ne!(begin(false).status, 200);
}
