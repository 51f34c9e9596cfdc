//! The server of the Model Context Protocol: the cost of a call for a client.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command as Process, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::corpus;
use crate::report::{Bar, Report};
use crate::selection::Selection;
use crate::work::{Result, median};

const QUESTION: &str = "which port does postgres listen on";
/// Time within which a server sees the change of an editor.
const SEEN_WITHIN: Duration = Duration::from_millis(200);

/// A server on pipes.
struct Client {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl Client {
    fn start(program: &Path, root: &Path) -> Result<Self> {
        let mut server = Process::new(program)
            .arg("--root")
            .arg(root)
            .args(["--notebook", "mcp"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (Some(input), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
            return Err("the server has no pipes".into());
        };
        let mut client = Self { server, input, output: BufReader::new(output), last_id: 0 };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "saddlebag-bench", "version": "1" },
        });
        client.request("initialize", &hello)?;
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(client)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        writeln!(self.input, "{message}")?;
        Ok(self.input.flush()?)
    }

    /// Sends a request and waits for its answer.
    fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.last_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                return Err("the server has ended".into());
            }
            let mut answer: Value = serde_json::from_str(&line)?;
            if answer["id"] == self.last_id {
                let result = answer["result"].take();
                return if result.is_null() { Err(line.into()) } else { Ok(result) };
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Measures a question to a server that watches its folder, when nothing changes and after each change of another program.
pub(crate) fn measure(report: &mut Report, selection: &Selection) -> Result<()> {
    let Some(program) = &selection.program else { return Ok(()) };
    let notes = selection.notes[0];
    let folder = tempfile::tempdir()?;
    corpus::write_notebook(folder.path(), notes, 3)?;
    let mut client = Client::start(program, folder.path())?;
    let params = json!({ "name": "mem_recall", "arguments": { "query": QUESTION } });
    let mut ask = |words: &str| {
        let answer = client.request("tools/call", &params)?;
        match answer["isError"] != true && answer.to_string().contains(words) {
            true => Ok(answer),
            false => Err(answer.to_string().into()),
        }
    };
    ask("found")?;
    let unchanged = median(101, || ask("found"))?;
    let bar = Bar { baseline: "2 ms", time: Some(Duration::from_millis(2)), at_most: 1.0 };
    report.add(&format!("MCP round trip, recall of a question, {notes} notes, nothing changed"), unchanged, &[bar]);
    let mut times = Vec::new();
    for change in 0..21 {
        let text = format!("# Changed\n\nPostgres listens on port 9{change:03}.\n");
        std::fs::write(folder.path().join("changed.md"), text)?;
        std::thread::sleep(SEEN_WITHIN);
        let start = Instant::now();
        ask(&format!("9{change:03}"))?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let changed = times.get(times.len() / 2).copied().unwrap_or_default();
    report.add(&format!("MCP round trip, recall 200 ms after an editor's change, {notes} notes"), changed, &[]);
    Ok(())
}
