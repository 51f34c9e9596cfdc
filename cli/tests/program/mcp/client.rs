//! Clients that speak JSON-RPC by hand, so that they can be wrong: over pipes and over sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::ALL_SETS;
use crate::support::Store;

/// Longer than anything here takes; what takes longer has stopped.
const PATIENCE: Duration = Duration::from_secs(120);
/// The last version that has sessions.
pub(crate) const VERSION: &str = "2025-11-25";

/// The parameters of `initialize`.
pub(crate) fn hello(version: &str) -> Value {
    json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "by hand", "version": "1" } })
}

pub(crate) fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// A server on pipes, and its client.
pub(crate) struct Pipes {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    last_id: u64,
    /// Messages that are not responses: notifications.
    pub(crate) told: Vec<Value>,
}

impl Pipes {
    /// Starts a server with all tools.
    pub(crate) fn start(store: &Store, arguments: &[&str]) -> Self {
        let mut command = store.command(&[]);
        command.args(arguments).args(["mcp", "--tools", ALL_SETS]);
        Self::from_command(command)
    }

    /// Starts a server with all tools for a project.
    pub(crate) fn start_in(store: &Store, project: &str, arguments: &[&str]) -> Self {
        let mut command = store.project_command(project, arguments);
        command.args(["mcp", "--tools", ALL_SETS]);
        Self::from_command(command)
    }

    /// Starts a server with its own options.
    pub(crate) fn start_with(store: &Store, options: &[&str]) -> Self {
        let mut command = store.command(&["mcp"]);
        command.args(options);
        Self::from_command(command)
    }

    /// Starts a server by its own command.
    pub(crate) fn from_command(mut command: std::process::Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the server starts");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in output.lines() {
                let Ok(line) = line else { break };
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, lines, last_id: 0, told: Vec::new() }
    }

    /// Opens the session.
    pub(crate) fn open(mut self) -> Self {
        let answer = self.request("initialize", hello(VERSION));
        assert_eq!(answer["result"]["protocolVersion"], VERSION, "{answer}");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        self
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("open");
        input.write_all(bytes).and_then(|()| input.flush()).expect("the server reads");
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    /// The next message, whatever it is. Standard output has nothing but messages.
    pub(crate) fn receive(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("the server answers");
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        message
    }

    /// The next response.
    pub(crate) fn response(&mut self) -> Value {
        loop {
            let message = self.receive();
            if message.get("method").is_none() {
                return message;
            }
            self.told.push(message);
        }
    }

    /// The next notification of a method, which may have arrived already.
    pub(crate) fn notification(&mut self, method: &str) -> Value {
        if let Some(index) = self.told.iter().position(|message| message["method"] == method) {
            return self.told.remove(index);
        }
        loop {
            let message = self.receive();
            if message["method"] == method {
                return message;
            }
            self.told.push(message);
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&request(id, method, params));
        let response = self.response();
        assert_eq!(response["id"], id, "{response}");
        response
    }

    /// The result of a request.
    #[track_caller]
    pub(crate) fn result(&mut self, method: &str, params: Value) -> Value {
        let response = self.request(method, params);
        assert!(response["error"].is_null(), "{response}");
        response["result"].clone()
    }

    /// The code and the message of the error of a request.
    #[track_caller]
    pub(crate) fn error(&mut self, method: &str, params: Value) -> (i64, String) {
        error_of(&self.request(method, params))
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Closes standard input. Returns the exit code and the remaining messages.
    pub(crate) fn close(mut self) -> (i32, Vec<String>) {
        drop(self.input.take());
        let status = self.child.wait().expect("the server ends");
        (status.code().expect("an exit code"), self.lines.iter().collect())
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The code and the message of an error.
#[track_caller]
pub(crate) fn error_of(response: &Value) -> (i64, String) {
    let error = &response["error"];
    let code = error["code"].as_i64().unwrap_or_else(|| panic!("no error: {response}"));
    (code, error["message"].as_str().expect("a message").to_string())
}

/// A server on its own port.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
    pub(crate) token_file: PathBuf,
    /// Output at the start.
    pub(crate) said: String,
}

/// A response over HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// The last message in it, which is the response of a request.
    #[track_caller]
    pub(crate) fn message(&self) -> Value {
        let last =
            self.body.lines().filter_map(|line| line.strip_prefix("data:")).rfind(|data| !data.trim().is_empty());
        serde_json::from_str(last.unwrap_or(&self.body)).unwrap_or_else(|_| panic!("no message: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

impl Server {
    pub(crate) fn start(store: &Store) -> Self {
        Self::start_with(store, ALL_SETS)
    }

    /// Starts a server with these sets of tools.
    pub(crate) fn start_with(store: &Store, sets: &str) -> Self {
        let token_file = store.here.join("token");
        let mut command = store.command(&["mcp", "--tools", sets, "--http", "127.0.0.1:0", "--token-file"]);
        command.arg(&token_file).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let mut errors = BufReader::new(child.stderr.take().expect("piped"));
        let mut said = String::new();
        while !said.contains("the bearer token is in") {
            assert_ne!(errors.read_line(&mut said).expect("readable"), 0, "the server ended: {said}");
        }
        thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        let address = said.split("http://").nth(1).and_then(|rest| rest.split("/mcp").next()).expect("an address");
        let (address, token) = (address.to_string(), std::fs::read_to_string(&token_file).expect("written"));
        Self { child, address, token: token.trim().to_string(), token_file, said }
    }

    pub(crate) fn authorization(&self) -> String {
        format!("Authorization: Bearer {}", self.token)
    }

    /// Sends bytes, and returns everything that arrives until the server closes the connection.
    pub(crate) fn exchange(&self, head: &str, body: &[u8]) -> Answer {
        exchange(&self.address, head, body)
    }

    /// Posts bytes with headers beside those that each request has.
    pub(crate) fn post_bytes(&self, headers: &[&str], body: &[u8]) -> Answer {
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Connection: close\r\nContent-Length: {}\r\n",
            body.len()
        );
        if !headers.iter().any(|header| header.starts_with("Host:")) {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        for header in headers {
            head.push_str(&format!("{header}\r\n"));
        }
        self.exchange(&format!("{head}\r\n"), body)
    }

    pub(crate) fn post(&self, headers: &[&str], message: &Value) -> Answer {
        self.post_bytes(headers, message.to_string().as_bytes())
    }

    /// Opens a session, and returns the header that names it.
    pub(crate) fn open(&self) -> Session<'_> {
        self.open_with(&json!({}))
    }

    /// Opens a session of a client with these capabilities.
    pub(crate) fn open_with(&self, capabilities: &Value) -> Session<'_> {
        let mut hello = hello(VERSION);
        hello["capabilities"] = capabilities.clone();
        let answer = self.post(&[&self.authorization()], &request(0, "initialize", hello));
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.message()["result"]["serverInfo"]["name"], "saddlebag", "{answer:?}");
        let id = answer.header("Mcp-Session-Id").expect("a session").to_string();
        let session = Session { server: self, id, last_id: 0 };
        let told = session.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        assert_eq!(told.status, 202, "{told:?}");
        session
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One client of a server.
pub(crate) struct Session<'a> {
    server: &'a Server,
    pub(crate) id: String,
    last_id: u64,
}

impl Session<'_> {
    pub(crate) fn headers(&self) -> [String; 3] {
        [
            self.server.authorization(),
            format!("Mcp-Session-Id: {}", self.id),
            format!("MCP-Protocol-Version: {VERSION}"),
        ]
    }

    pub(crate) fn post(&self, message: &Value) -> Answer {
        let headers = self.headers();
        self.server.post(&headers.each_ref().map(String::as_str), message)
    }

    /// Opens the stream of the server's own messages, and returns them without end.
    pub(crate) fn stream(&self) -> impl Iterator<Item = Value> + use<> {
        let mut stream = TcpStream::connect(&self.server.address).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("set");
        let headers = self.headers().join("\r\n");
        let host = &self.server.address;
        let head = format!("GET /mcp HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\n{headers}\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("sent");
        let lines = BufReader::new(stream).lines().map(|line| line.expect("the server goes on"));
        lines.filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?.trim()).ok())
    }

    #[track_caller]
    pub(crate) fn result(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let response = self.post(&request(self.last_id, method, params)).message();
        assert_eq!(response["id"], self.last_id, "{response}");
        assert!(response["error"].is_null(), "{response}");
        response["result"].clone()
    }
}

/// Sends bytes to a server, and returns everything that arrives until it closes the connection.
pub(crate) fn exchange(address: &str, head: &str, body: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("set");
    stream.write_all(head.as_bytes()).expect("sent");
    // The server may answer before it has read everything.
    let _ = stream.write_all(body);
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("it hangs up");
    let text = String::from_utf8(bytes).expect("text");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let is_chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if is_chunked { unchunked(body) } else { body.to_string() };
    Answer { status, head: head.to_string(), body }
}

/// Joins a body that arrived in chunks.
fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).expect("a size");
        let Some(chunk) = rest.get(..size).filter(|_| size > 0) else { break };
        whole.push_str(chunk);
        body = rest.get(size + 2..).unwrap_or_default();
    }
    whole
}
