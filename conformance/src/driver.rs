//! [`Driver`]: a host in another program, which answers over its standard input and output.
//!
//! Every failure is a text. A driver that does not follow the protocol is killed; [`Driver::ready`] starts it again.

use std::ffi::OsString;
use std::fmt;
use std::io::{BufRead, BufReader, Read, Write, empty};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use saddlebag::protocol::{FsError, FsOutcome};
use saddlebag::wit_convert::canonical::FromCanonical;
use saddlebag_host::PACKAGE;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Version of the protocol between the kit and a driver.
pub(crate) const PROTOCOL: u32 = 1;
/// Number of answers that may not come before the driver is given up.
const SILENT: usize = 3;
/// Maximum number of characters of a request or an answer in a message.
const SHOWN: usize = 160;
/// Maximum number of lines of standard error in a message.
const ERROR_LINES: usize = 5;
/// Time for a driver to end, and for each line of its standard error to come.
const TO_END: Duration = Duration::from_secs(3);

/// Description of a host, by its driver.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Hello {
    /// Version of the protocol.
    pub(crate) protocol: u32,
    /// Name of the host.
    pub(crate) name: String,
    /// Package of the contract, with its version.
    pub(crate) package: String,
    /// Name of the method by which the host makes versions.
    pub(crate) version_scheme: String,
    /// True if a store is a folder of the disk.
    pub(crate) folder: bool,
    /// True if a store can contain symbolic links.
    pub(crate) links: bool,
    /// True if a store has folders.
    pub(crate) folders: bool,
    /// Kind of its locks.
    pub(crate) lock: Lock,
}

/// Kind of the locks of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Lock {
    /// Locks of the kernel, which end with their process.
    Kernel,
    /// Locks that end when their holder no longer renews them.
    Lease,
    /// The host must be the only writer.
    #[default]
    None,
}

/// Result of an operation.
pub(crate) type Answer = Result<FsOutcome, FsError>;

/// A program that is a driver.
#[derive(Clone, Debug)]
pub struct Program {
    /// The program, with its arguments.
    pub command: Vec<OsString>,
    /// Time to wait for an answer.
    pub patience: Duration,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.command.iter().map(|word| word.to_string_lossy()).collect();
        f.write_str(&shortened(&words.join(" ")))
    }
}

/// A host in another program.
pub(crate) struct Driver {
    program: Program,
    hello: Hello,
    process: Option<Process>,
    /// The process that was killed last. A message has its standard error too.
    killed: Option<Process>,
    /// Requests whose answers did not come.
    silent: Vec<String>,
}

impl Driver {
    /// Starts the program, and asks it what its host is.
    pub(crate) fn start(program: Program) -> Result<Self, String> {
        let mut driver = Self { program, hello: Hello::default(), process: None, killed: None, silent: Vec::new() };
        driver.ready()?;
        Ok(driver)
    }

    /// Speaks with a driver that answers in a thread.
    pub(crate) fn within(
        input: impl Write + Send + 'static,
        output: impl Read + Send + 'static,
    ) -> Result<Self, String> {
        let program = Program { command: Vec::new(), patience: Duration::from_secs(30) };
        let process =
            Process { child: None, input: Box::new(input), answers: lines_of(output), errors: lines_of(empty()) };
        let hello = Hello::default();
        let mut driver = Self { program, hello, process: Some(process), killed: None, silent: Vec::new() };
        driver.greet()?;
        Ok(driver)
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    pub(crate) fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Starts the program again if it does not run.
    pub(crate) fn ready(&mut self) -> Result<(), String> {
        if self.silent.len() >= SILENT {
            return Err(format!("the driver was given up: it did not answer {}", self.silent.join(", ")));
        }
        if self.process.is_none() {
            self.process = Some(started(&self.program)?);
            self.greet()?;
        }
        Ok(())
    }

    /// Asks a driver that was just started what its host is.
    fn greet(&mut self) -> Result<(), String> {
        let request = json!({ "hello": { "protocol": PROTOCOL } });
        let answer = self.ask(&request)?;
        let said = answer.get("hello").unwrap_or(&Value::Null);
        for (field, expected) in [("protocol", json!(PROTOCOL)), ("package", json!(PACKAGE))] {
            let found = said.get(field).unwrap_or(&Value::Null);
            if *found != expected {
                self.process = None;
                return Err(format!("the {field} of the driver is {found}, and the kit checks {expected}"));
            }
        }
        let hello = Hello::deserialize(said).map_err(|error| self.not_valid(&request, &answer, &error.to_string()));
        self.hello = hello?;
        Ok(())
    }

    /// Opens a memory on a store.
    pub(crate) fn open(&mut self, store: &str, opening: &Opening) -> Result<(), String> {
        let Opening { epoch, project, agent } = opening;
        let epoch = epoch.to_string();
        let request = json!({ "open": { "store": store, "epoch": epoch, "project": project, "agent": agent } });
        let answer = self.ask(&request)?;
        match answer.get("err") {
            None if answer.get("ok").is_some() => Ok(()),
            Some(reason) => Err(format!("the store was not opened: {reason}")),
            None => Err(self.not_valid(&request, &answer, "neither `ok` nor `err`")),
        }
    }

    /// Performs an operation on the open store. The result is checked to be one of this operation.
    pub(crate) fn perform(&mut self, op: &Value) -> Result<Answer, String> {
        self.begin(op)?;
        self.finish(op)
    }

    /// Sends an operation without waiting for its result.
    pub(crate) fn begin(&mut self, op: &Value) -> Result<(), String> {
        self.send(&json!({ "perform": op }))
    }

    /// Waits for the result of an operation that was begun.
    pub(crate) fn finish(&mut self, op: &Value) -> Result<Answer, String> {
        let answer = self.receive(op)?;
        self.result(op, answer)
    }

    /// Kills the driver. Returns the result of the operation that was begun, if the driver has answered.
    pub(crate) fn kill(&mut self) -> Option<Answer> {
        let line = self.killed.insert(self.process.take()?).kill()?;
        serde_json::from_str(&line).ok().and_then(|answer| Answer::read(answer).ok())
    }

    /// Sends a request and waits for its answer, which is JSON.
    pub(crate) fn ask(&mut self, request: &Value) -> Result<Value, String> {
        self.send(request)?;
        self.receive(request)
    }

    /// Ends the driver, and returns an error with the answer to a request and the reason why it is not valid.
    fn not_valid(&mut self, request: &Value, answer: &Value, reason: &str) -> String {
        self.trouble(format!("the answer {} to {} is not valid: {reason}", short(answer), short(request)))
    }

    /// Ends the driver, and returns a message that ends in what it wrote to standard error.
    fn trouble(&mut self, message: String) -> String {
        let errors = self.errors();
        self.process = None;
        message + &errors
    }

    fn result(&mut self, op: &Value, answer: Value) -> Result<Answer, String> {
        let asked = op.as_object().and_then(|op| op.keys().next()).map(String::as_str).or(op.as_str());
        match Answer::read(answer.clone()) {
            Ok(Ok(outcome)) if Some(outcome.name()) != asked => {
                Err(self.not_valid(op, &answer, "it belongs to another operation"))
            }
            Ok(result) => Ok(result),
            Err(error) => Err(self.not_valid(op, &answer, &error.to_string())),
        }
    }

    fn send(&mut self, request: &Value) -> Result<(), String> {
        self.ready()?;
        let Some(process) = &mut self.process else { return Err("the driver does not run".into()) };
        let sent = process.input.write_all(format!("{request}\n").as_bytes()).and_then(|()| process.input.flush());
        sent.map_err(|_| self.ended(request))
    }

    fn receive(&mut self, request: &Value) -> Result<Value, String> {
        let Some(process) = &self.process else { return Err("the driver does not run".into()) };
        let line = match process.answers.recv_timeout(self.program.patience) {
            Ok(line) => line,
            Err(RecvTimeoutError::Disconnected) => return Err(self.ended(request)),
            Err(RecvTimeoutError::Timeout) => {
                let (asked, seconds) = (short(request), self.program.patience.as_secs());
                self.silent.push(asked.clone());
                return Err(self.trouble(format!(
                    "the driver did not answer {asked} within {seconds} s: it may wait for a lock, keep its answer in a buffer, or \
                     need longer (--patience)"
                )));
            }
        };
        serde_json::from_str(&line).map_err(|error| {
            self.trouble(format!("the answer to {} is not JSON ({error}): {}", short(request), shortened(&line)))
        })
    }

    /// Returns the error for a driver that ended.
    fn ended(&mut self, request: &Value) -> String {
        let status = self.process.as_mut().and_then(Process::status);
        let how = status.map_or("closed its output".to_string(), |status| format!("ended ({status})"));
        self.trouble(format!("the driver {how} instead of answering {}", short(request)))
    }

    /// Ends the driver, and returns the last lines of its standard error as the end of a message.
    pub(crate) fn errors(&mut self) -> String {
        let mut lines = Vec::new();
        for process in self.killed.iter_mut().chain(&mut self.process) {
            process.end();
            // A program that the driver started may still hold its standard error open.
            while let Ok(line) = process.errors.recv_timeout(TO_END) {
                lines.push(line.trim_end().to_string());
            }
        }
        let last = lines[lines.len().saturating_sub(ERROR_LINES)..].join("\n");
        if last.is_empty() { last } else { format!("; its standard error ends in {last:?}") }
    }
}

/// Options that a memory is opened with.
#[derive(Clone, Default)]
pub(crate) struct Opening {
    pub(crate) epoch: u64,
    pub(crate) project: Option<String>,
    pub(crate) agent: Option<String>,
}

/// A running driver. It is killed when it is dropped.
struct Process {
    /// The program; `None` for a driver in a thread.
    child: Option<Child>,
    input: Box<dyn Write + Send>,
    answers: Receiver<String>,
    errors: Receiver<String>,
}

impl Process {
    /// Kills the driver. Returns a line that it had written before.
    fn kill(&mut self) -> Option<String> {
        self.end();
        self.answers.recv().ok().filter(|line| line.ends_with('\n'))
    }

    /// Returns the status of a program that ends in time.
    fn status(&mut self) -> Option<ExitStatus> {
        let (child, until) = (self.child.as_mut()?, Instant::now() + TO_END);
        loop {
            match child.try_wait() {
                Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(10)),
                status => return status.ok().flatten(),
            }
        }
    }

    fn end(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended before.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

fn started(program: &Program) -> Result<Process, String> {
    let mut words = program.command.iter();
    let name = words.next().ok_or("there is no command")?;
    let mut command = Command::new(name);
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let shown = name.display();
    let mut child = command.spawn().map_err(|error| format!("the driver `{shown}` does not start: {error}"))?;
    let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(format!("the driver `{shown}` has no standard input and output"));
    };
    let errors = child.stderr.take().map_or_else(|| lines_of(empty()), lines_of);
    Ok(Process { child: Some(child), input: Box::new(input), answers: lines_of(output), errors })
}

/// Returns the lines that a driver writes.
fn lines_of(output: impl Read + Send + 'static) -> Receiver<String> {
    let (lines, answers) = channel();
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while output.read_until(b'\n', &mut line).is_ok_and(|length| length > 0)
            && lines.send(String::from_utf8_lossy(&std::mem::take(&mut line)).into_owned()).is_ok()
        {}
    });
    answers
}

/// Returns a request or an answer for a message.
pub(crate) fn short(value: &Value) -> String {
    shortened(&value.to_string())
}

fn shortened(text: &str) -> String {
    let text = text.trim_end();
    if text.chars().count() <= SHOWN {
        text.to_string()
    } else {
        format!("{}…", text.chars().take(SHOWN).collect::<String>())
    }
}
