//! Over HTTP.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use saddlebag_tests_shared::mutations::each_mutation;
use serde_json::{Value, json};

use super::client::{Server, Session, VERSION, hello, request};
use super::{assert_answers, every_tool, text};
use crate::support::{Store, TODAY};

#[test]
fn a_session_over_http_lists_calls_and_reads() {
    let store = Store::new();
    let server = Server::start(&store);
    let mut session = server.open();
    let list = session.result("tools/list", json!({}));
    for (name, arguments) in every_tool().into_iter().filter(|(name, _)| name != "memory") {
        let result = session.result("tools/call", json!({ "name": name, "arguments": arguments }));
        assert_answers(&list, &name, &result);
    }
    let resources = session.result("resources/list", json!({}));
    let uri = &resources["resources"][1]["uri"];
    let read = session.result("resources/read", json!({ "uri": uri }));
    assert!(read["contents"][0]["text"].is_string(), "{read}");
    assert!(session.result("prompts/list", json!({}))["prompts"].is_array());
}

#[test]
fn an_entry_names_the_client_the_session_and_the_tool_and_not_what_lets_the_client_in() {
    let store = Store::new();
    let server = Server::start(&store);
    let mut stored = Vec::new();
    for key in ["a", "b"] {
        let mut session = server.open();
        let arguments = json!({ "key": key, "content": "x" });
        session.result("tools/call", json!({ "name": "memory_store", "arguments": arguments }));
        let text = store.text(&format!("agents/main/entries/core/{key}.md"));
        assert!(
            text.contains("\norigin-client: \"by hand\"\n") && text.contains("\norigin-tool: memory_store\n"),
            "{text}"
        );
        assert!(!text.contains(&session.id), "{text}");
        let line = text.lines().find(|line| line.starts_with("origin-session: ")).expect("a session").to_string();
        stored.push(line);
    }
    assert_ne!(stored[0], stored[1]);
}

#[test]
fn no_client_becomes_the_person_over_http_unless_a_person_has_asked_for_the_page() {
    let store = Store::new();
    store.run(&["remember", "Rule", "Obey the page.", "--provenance", "tool"]).exits(0);
    let extension = json!({ "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app"] } });
    let capabilities = json!({ "extensions": extension });
    let key = |session: &mut Session<'_>| {
        let result = session.result("tools/call", json!({ "name": "mem_list", "arguments": {} }));
        result["_meta"]["saddlebag/key"].as_str().map(String::from)
    };
    let call = |key: &str| {
        let arguments = json!({ "call": "render", "key": key, "body": { "text": "x" } });
        request(9, "tools/call", json!({ "name": "memory_page", "arguments": arguments }))
    };
    let server = Server::start(&store);
    let mut session = server.open_with(&capabilities);
    let tools = session.result("tools/list", json!({}))["tools"].to_string();
    assert!(!tools.contains("memory_page") && key(&mut session).is_none(), "{tools}");
    assert!(session.post(&call("x")).message()["error"].is_object(), "an unknown tool");

    let server = Server::start_with(&store, "everyday,page");
    let mut sessions = [server.open_with(&capabilities), server.open_with(&capabilities)];
    let keys: Vec<String> = sessions.iter_mut().map(|session| key(session).expect("a key")).collect();
    assert_ne!(keys[0], keys[1]);
    for (place, session) in sessions.iter_mut().enumerate() {
        for (of, key) in keys.iter().enumerate() {
            let result = session.post(&call(key)).message()["result"].clone();
            assert_eq!(result["isError"] == true, place != of, "{result}");
        }
    }
}

#[test]
fn only_this_machine_is_served() {
    let store = Store::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.168.1.1:8080", "example.com:80", "nonsense"] {
        store.run(&["mcp", "--http", address]).exits(2).complains("--http");
    }
}

#[test]
fn the_token_is_made_for_the_owner_alone_and_shown_to_nobody() {
    let store = Store::new();
    let server = Server::start(&store);
    assert!(server.token.len() >= 43 && !server.said.contains(&server.token), "{}", server.said);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&server.token_file).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        // A file that others can read does not keep a secret.
        let open = store.here.join("open");
        std::fs::write(&open, &server.token).expect("written");
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o644)).expect("set");
        let file = open.to_str().expect("text");
        store.run(&["mcp", "--http", "127.0.0.1:0", "--token-file", file]).exits(3).complains("chmod 600");
    }
    let again = Server::start(&store);
    assert_eq!(again.token, server.token, "a token is kept");
}

/// Over HTTP, a request without a token is not read, and a page of another origin gets no answer.
#[test]
fn a_request_without_a_token_is_refused() {
    let store = Store::new();
    let server = Server::start(&store);
    let hello = request(1, "initialize", hello(VERSION));
    let wrong = format!("Authorization: Bearer {}x", &server.token[..server.token.len() - 1]);
    let basic = format!("Authorization: Basic {}", server.token);
    for headers in [vec![], vec![wrong.as_str()], vec![basic.as_str()], vec!["Authorization: Bearer "]] {
        let answer = server.post(&headers, &hello);
        assert_eq!(answer.status, 401, "{answer:?}");
        assert!(answer.header("WWW-Authenticate").is_some_and(|value| value.starts_with("Bearer")), "{answer:?}");
    }
    // A session is not a credential.
    let session = server.open();
    let id = format!("Mcp-Session-Id: {}", session.id);
    let answer = server.post(&[&id], &request(2, "tools/list", json!({})));
    assert_eq!(answer.status, 401, "{answer:?}");
}

#[test]
fn a_page_of_another_origin_and_another_name_of_the_host_are_refused() {
    let store = Store::new();
    let server = Server::start(&store);
    let token = server.authorization();
    let message = request(1, "initialize", hello(VERSION));
    for header in [
        "Origin: https://evil.example",
        "Origin: null",
        "Origin: http://localhost.evil.example",
        "Origin: nonsense",
        "Host: evil.example",
        "Host: 127.0.0.1.evil.example:80",
    ] {
        let answer = server.post(&[&token, header], &message);
        assert_eq!(answer.status, 403, "{header}: {answer:?}");
    }
    for header in ["Origin: http://localhost:6274", "Origin: http://127.0.0.1:1", "Host: localhost"] {
        let answer = server.post(&[&token, header], &message);
        assert_eq!(answer.status, 200, "{header}: {answer:?}");
    }
}

#[test]
fn an_invalid_message_is_refused_and_the_server_goes_on() {
    let store = Store::new();
    let server = Server::start(&store);
    let token = server.authorization();
    let answer = server.post_bytes(&[&token], b"{not json");
    assert_eq!((answer.status, answer.message()["error"]["code"].as_i64()), (400, Some(-32_700)), "{answer:?}");

    let answer = server.post_bytes(&[&token], &vec![b'x'; 100 << 20]);
    assert_eq!(answer.status, 413, "{answer:?}");
    assert!(answer.message()["error"]["message"].as_str().is_some_and(|text| text.contains("8388608")), "{answer:?}");

    let unknown = server.post(&[&token, "Mcp-Session-Id: nope"], &request(1, "tools/list", json!({})));
    assert_eq!(unknown.status, 404, "{unknown:?}");
    let elsewhere = format!("GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.address);
    assert_eq!(server.exchange(&elsewhere, b"").status, 404);

    // Clients that hang up in the head, and in the body.
    let head = format!("POST /mcp HTTP/1.1\r\nHost: {}\r\n{token}\r\nContent-Length: 100\r\n\r\n", server.address);
    for part in ["POST /m", head.as_str(), &format!("{head}{{\"json")] {
        let mut stream = TcpStream::connect(&server.address).expect("it listens");
        stream.write_all(part.as_bytes()).expect("sent");
    }
    let mut session = server.open();
    session.result("tools/call", json!({ "name": "notebook_journal", "arguments": { "entry": "still up" } }));
    assert!(store.text(TODAY).contains("still up"));
}

#[test]
fn two_sessions_that_edit_one_file_lose_nothing() {
    const EDITS: usize = 20;

    let store = Store::new();
    store.put("notes/counters.md", "counter 0 is 0.\ncounter 1 is 0.\n");
    let server = Server::start(&store);
    thread::scope(|scope| {
        for writer in 0..2 {
            let server = &server;
            scope.spawn(move || {
                let mut session = server.open();
                for count in 0..EDITS {
                    let arguments = json!({
                        "target": "note", "name": "counters",
                        "old_str": format!("counter {writer} is {count}."),
                        "new_str": format!("counter {writer} is {}.", count + 1),
                    });
                    let params = json!({ "name": "memory_edit", "arguments": arguments });
                    let result = session.result("tools/call", params);
                    assert_ne!(result["isError"], true, "{}", text(&result));
                }
            });
        }
    });
    assert_eq!(store.text("notes/counters.md"), format!("counter 0 is {EDITS}.\ncounter 1 is {EDITS}.\n"));
}

#[test]
fn a_session_ends_when_its_client_says_so() {
    let store = Store::new();
    let server = Server::start(&store);
    let session = server.open();
    let headers = session.headers().join("\r\n");
    let head = format!("DELETE /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}\r\n\r\n", server.address);
    let ended = server.exchange(&head, b"");
    assert_eq!(ended.status, 204, "{ended:?}");
    let after = session.post(&request(1, "tools/list", json!({})));
    assert_eq!(after.status, 404, "{after:?}");
}

#[test]
fn answers_on_a_connection_that_is_kept_are_not_delayed() {
    let store = Store::new();
    let server = Server::start(&store);
    let session = server.open();
    let mut stream = TcpStream::connect(&server.address).expect("it listens");
    stream.set_nodelay(true).expect("set");
    let mut times: Vec<Duration> = (0..20)
        .map(|id| {
            let body = request(id, "ping", json!({})).to_string();
            let head = format!(
                "POST /mcp HTTP/1.1\r\nHost: {}\r\n{}\r\nContent-Type: application/json\r\nAccept: application/json, \
                 text/event-stream\r\nContent-Length: {}\r\n\r\n",
                server.address,
                session.headers().join("\r\n"),
                body.len()
            );
            let begin = Instant::now();
            stream.write_all(format!("{head}{body}").as_bytes()).expect("sent");
            let mut answer = Vec::new();
            let mut part = [0; 4096];
            while !answer.ends_with(b"\r\n0\r\n\r\n") {
                let read = stream.read(&mut part).expect("an answer");
                assert_ne!(read, 0, "{}", String::from_utf8_lossy(&answer));
                answer.extend_from_slice(&part[..read]);
            }
            begin.elapsed()
        })
        .collect();
    times.sort_unstable();
    // If small parts wait for the acknowledgement of earlier ones, nearly every answer takes 40 ms.
    assert!(times[8] < Duration::from_millis(35), "{times:?}");
}

#[test]
fn a_second_host_and_a_host_with_a_user_are_refused() {
    let store = Store::new();
    let server = Server::start(&store);
    let (token, message) = (server.authorization(), request(1, "initialize", hello(VERSION)));
    let body = message.to_string();
    let send = |hosts: &[&str]| {
        let hosts: String = hosts.iter().map(|host| format!("Host: {host}\r\n")).collect();
        let head = format!(
            "POST /mcp HTTP/1.1\r\n{hosts}{token}\r\nContent-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        server.exchange(&head, body.as_bytes()).status
    };
    assert_eq!(send(&[&server.address]), 200);
    assert_eq!(send(&[&server.address, "evil.example"]), 400);
    assert_eq!(send(&[&server.address, &server.address]), 400);
    assert_eq!(send(&["x@localhost"]), 400);
    assert_eq!(send(&["localhost:80@evil.example"]), 400);
    assert_eq!(server.post(&[&token, &token], &message).status, 400);
}

#[test]
fn a_damaged_head_gets_an_answer_or_none_and_the_server_goes_on() {
    let store = Store::new();
    let server = Server::start(&store);
    let body = request(1, "initialize", hello(VERSION)).to_string();
    let token = server.authorization();
    let head = |headers: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\n{headers}Content-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            server.address,
            body.len()
        )
    };
    let samples = [
        head(&format!("{token}\r\n")),
        head(&format!("{token}\r\nOrigin: http://localhost:1\r\nMcp-Session-Id: none\r\n")),
        head(&format!("{token}\r\nTransfer-Encoding: chunked\r\n")),
        head("Authorization: Basic x\r\nExpect: 100-continue\r\n"),
        format!("GET /mcp HTTP/1.0\r\nHost: localhost\r\n{token}\r\nUpgrade: websocket\r\n\r\n"),
    ];
    let samples: Vec<&[u8]> = samples.iter().map(String::as_bytes).collect();
    let before = store.tree();
    let mut answered = 0;
    each_mutation(5, &samples, 2_000, |bytes| {
        let mut stream = TcpStream::connect(&server.address).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("set");
        // The server may close the connection before it has read everything.
        let _ = stream.write_all(bytes).and_then(|()| stream.shutdown(std::net::Shutdown::Write));
        let mut answer = Vec::new();
        if let Err(error) = stream.read_to_end(&mut answer) {
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}");
        }
        assert!(answer.len() < 64 << 10, "{} bytes", answer.len());
        let text = String::from_utf8_lossy(&answer);
        let is_let_in = text.contains(" 200 OK") && text.contains("serverInfo");
        let shows_token = bytes.windows(server.token.len()).any(|part| part == server.token.as_bytes());
        assert!(!is_let_in || shows_token, "let in without the token: {text}");
        answered += usize::from(text.starts_with("HTTP/1."));
    });
    assert!(answered > 500, "only {answered} heads were answered");
    assert_eq!(store.tree(), before);
    server.open().result("tools/list", json!({}));
}

#[test]
fn what_is_not_a_request_is_answered_as_on_standard_output() {
    let store = Store::new();
    let server = Server::start(&store);
    let token = server.authorization();
    for (body, code, id) in [
        ("[]", -32_600, Value::Null),
        ("42", -32_600, Value::Null),
        (r#"{"id":7,"method":"ping"}"#, -32_600, json!(7)),
        (
            r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"x","arguments":{"a":"\ud800"}}}"#,
            -32_600,
            json!(8),
        ),
        (
            r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"x","arguments":{"a":1,"a":2}}}"#,
            -32_602,
            json!(9),
        ),
        ("{not json", -32_700, Value::Null),
    ] {
        let answer = server.post_bytes(&[&token], body.as_bytes());
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
        let message = answer.message();
        assert_eq!((message["error"]["code"].as_i64(), &message["id"]), (Some(code), &id), "{body}: {answer:?}");
    }
}

#[test]
fn clients_that_say_nothing_do_not_keep_others_out() {
    let store = Store::new();
    let server = Server::start(&store);
    let mut session = server.open();
    let mut silent = Vec::new();
    let connect = || TcpStream::connect(&server.address).expect("it listens");
    for number in 0..300 {
        let mut stream = connect();
        if number % 2 == 0 {
            // The head never ends.
            stream.write_all(b"POST /mcp HTTP/1.1\r\nX-Drip: ").expect("sent");
        }
        silent.push(stream);
    }
    let begin = Instant::now();
    session.result("tools/list", json!({}));
    let mut other = server.open();
    other.result("tools/list", json!({}));
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    drop(silent);
}

#[test]
fn the_session_that_is_unused_for_longest_gives_way_to_a_new_one() {
    const MAX_SESSIONS: usize = 1024;

    let store = Store::new();
    let server = Server::start(&store);
    let (mut used, unused) = (server.open(), server.open());
    for _ in 2..MAX_SESSIONS {
        server.open();
    }
    used.result("ping", json!({}));
    let mut new = server.open();
    new.result("ping", json!({}));
    used.result("ping", json!({}));
    assert_eq!(unused.post(&request(1, "ping", json!({}))).status, 404);
}
