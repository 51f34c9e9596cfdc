//! [`HostDriver`]: the driver of a host in Rust, such as the one on the local disk.

use std::io::{self, BufRead, Write};
use std::path::Path;

use saddlebag::Config;
use saddlebag::protocol::FsOp;
use saddlebag::store::Timestamp;
use saddlebag::wit_convert::canonical::{Fields, FromCanonical, Malformed};
use saddlebag_host::{Durability, Engine, EngineError, Executor, LocalDir, LocalDirOptions, PACKAGE};
use serde_json::{Value, json};

use crate::driver::{Hello, Lock, Opening, PROTOCOL};
use crate::host::{CallingHost, OpenEngine, value};

/// Fields of operations that are paths.
const PATHS: [&str; 6] = ["path", "to", "folder", "after", "keep-as", "like"];

/// The driver of a host, between two requests.
pub struct HostDriver<X> {
    hello: Hello,
    engine: Box<OpenEngine>,
    open: Box<OpenStore<X>>,
    opened: Option<CallingHost<X>>,
}

/// Opens the store of a name.
type OpenStore<X> = dyn Fn(&str) -> Result<X, String>;

impl HostDriver<LocalDir> {
    /// Creates the driver of the host on the local disk, without a store. `engine` opens the engine that runs calls.
    pub fn local(
        durability: Durability,
        engine: impl Fn(Config) -> Result<Box<dyn Engine>, EngineError> + 'static,
    ) -> Self {
        let hello = Hello {
            protocol: PROTOCOL,
            name: "saddlebag".into(),
            package: PACKAGE.into(),
            version_scheme: LocalDir::VERSION_SCHEME.into(),
            folder: true,
            links: true,
            folders: true,
            lock: Lock::Kernel,
        };
        let options = LocalDirOptions { durability, ..LocalDirOptions::default() };
        let open = move |store: &str| LocalDir::open(Path::new(store), options.clone()).map_err(said);
        Self::new(hello, engine, open)
    }
}

impl<X: Executor> HostDriver<X> {
    pub(crate) fn new(
        hello: Hello,
        engine: impl Fn(Config) -> Result<Box<dyn Engine>, EngineError> + 'static,
        open: impl Fn(&str) -> Result<X, String> + 'static,
    ) -> Self {
        Self { hello, engine: Box::new(engine), open: Box::new(open), opened: None }
    }

    /// Answers requests, one on each line, until they end.
    ///
    /// # Errors
    ///
    /// A request cannot be read, or its answer not be written.
    pub fn serve(&mut self, requests: impl BufRead, mut answers: impl Write) -> io::Result<()> {
        for line in requests.lines() {
            writeln!(answers, "{}", self.answer(&line?))?;
            answers.flush()?;
        }
        Ok(())
    }

    /// Returns the answer to a request, without the end of the line.
    pub fn answer(&mut self, line: &str) -> String {
        let request = serde_json::from_str(line).map_err(|error| format!("the request is not JSON: {error}"));
        let answer = request.and_then(|request| self.answer_to(request));
        answer.unwrap_or_else(|reason| json!({ "err": reason })).to_string()
    }

    fn answer_to(&mut self, mut request: Value) -> Result<Value, String> {
        if request.get("hello").is_some() {
            return Ok(json!({ "hello": self.hello }));
        }
        if let Some(given) = request.get_mut("open") {
            let (store, opening) = read_opening(given.take()).map_err(said)?;
            // The open one may lock its store.
            self.opened = None;
            let (store, scheme) = ((self.open)(&store)?, &self.hello.version_scheme);
            self.opened = Some(CallingHost::open(&*self.engine, opening, scheme, store).map_err(said)?);
            return Ok(json!({ "ok": null }));
        }
        let host = self.opened.as_mut().ok_or("no store is open")?;
        if let Some(given) = request.get_mut("call") {
            let (now, tool, input) = read_call(given.take()).map_err(said)?;
            return Ok(json!({ "ok": host.call(now, tool, input)? }));
        }
        match FsOp::read(request.get_mut("perform").ok_or("the request is unknown")?.take()) {
            Ok(op) => value(&host.executor_mut().perform(&op)),
            Err(Malformed { at, reason }) if PATHS.iter().any(|path| at.ends_with(path)) => {
                Ok(json!({ "err": { "invalid-path": reason.to_string() } }))
            }
            Err(error) => Err(said(error)),
        }
    }
}

fn said(error: impl ToString) -> String {
    error.to_string()
}

fn read_opening(given: Value) -> Result<(String, Opening), Malformed> {
    let mut fields = Fields::of(given)?;
    let opening =
        Opening { epoch: fields.take("epoch")?, project: fields.take("project")?, agent: fields.take("agent")? };
    Ok((fields.take("store")?, opening))
}

fn read_call(given: Value) -> Result<(Timestamp, String, String), Malformed> {
    let mut fields = Fields::of(given)?;
    Ok((fields.take("now")?, fields.take("tool")?, fields.take_value("input")?.to_string()))
}
