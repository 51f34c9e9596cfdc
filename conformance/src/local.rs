//! [`LocalDriver`]: the driver of the host on the local disk.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use saddlebag::Config;
use saddlebag::protocol::FsOp;
use saddlebag::store::Timestamp;
use saddlebag::wit_convert::canonical::{Fields, FromCanonical, Malformed};
use saddlebag_host::{Durability, Engine, EngineError, Executor, LocalDir, LocalDirOptions, PACKAGE};
use serde_json::{Value, json};

use crate::driver::{Hello, Lock, PROTOCOL};
use crate::host::{CallingHost, OpenEngine, OwnedOpening, value};

/// Fields of operations that are paths.
const PATHS: [&str; 6] = ["path", "to", "folder", "after", "keep-as", "like"];

/// The driver of the host on the local disk, between two requests.
pub struct LocalDriver {
    engine: Box<OpenEngine>,
    options: LocalDirOptions,
    opened: Option<Opened>,
}

/// An open memory.
struct Opened {
    root: PathBuf,
    opening: OwnedOpening,
    /// Performs operations without an engine.
    store: LocalDir,
    /// Runs calls. It is opened for the first of them, because most stores of the kit get none.
    host: Option<CallingHost<LocalDir>>,
}

impl LocalDriver {
    /// Creates a driver without a store. `engine` opens the engine that runs calls.
    #[must_use]
    pub fn new(
        durability: Durability,
        engine: impl Fn(Config) -> Result<Box<dyn Engine>, EngineError> + 'static,
    ) -> Self {
        let options = LocalDirOptions { durability, ..LocalDirOptions::default() };
        Self { engine: Box::new(engine), options, opened: None }
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
        let answer = match serde_json::from_str(line) {
            Ok(request) => self.answer_to(request).unwrap_or_else(|reason| json!({ "err": reason })),
            Err(error) => json!({ "err": format!("the request is not JSON: {error}") }),
        };
        answer.to_string()
    }

    fn answer_to(&mut self, request: Value) -> Result<Value, String> {
        let Value::Object(request) = request else { return Err("the request is not an object".into()) };
        let Some((what, given)) = request.into_iter().next() else { return Err("the request is empty".into()) };
        match what.as_str() {
            "hello" => Ok(json!({ "hello": hello() })),
            "open" => {
                let (root, opening) = read_opening(given).map_err(|error| error.to_string())?;
                let store = LocalDir::open(&root, self.options.clone()).map_err(|error| error.to_string())?;
                self.opened = Some(Opened { root, opening, store, host: None });
                Ok(json!({ "ok": null }))
            }
            "call" => {
                let (now, tool, input) = read_call(given).map_err(|error| error.to_string())?;
                let called = self.host()?.call(now, &tool, input).map_err(|error| error.to_string())?;
                Ok(json!({ "ok": called.json()? }))
            }
            "perform" => performed(&mut self.opened.as_mut().ok_or("no store is open")?.store, given),
            other => Err(format!("`{other}` is not a request")),
        }
    }

    fn host(&mut self) -> Result<&mut CallingHost<LocalDir>, String> {
        let Opened { root, opening, host, .. } = self.opened.as_mut().ok_or("no store is open")?;
        if host.is_none() {
            let store = LocalDir::open(root, self.options.clone()).map_err(|error| error.to_string())?;
            let opened = CallingHost::open(&*self.engine, opening.clone(), LocalDir::VERSION_SCHEME, store);
            *host = Some(opened.map_err(|error| error.to_string())?);
        }
        host.as_mut().ok_or_else(|| "no memory is open".into())
    }
}

/// Performs an operation that is given as JSON.
pub(crate) fn performed(store: &mut dyn Executor, op: Value) -> Result<Value, String> {
    match FsOp::read(op) {
        Ok(op) => value(&store.perform(&op)),
        Err(Malformed { at, reason }) if PATHS.iter().any(|path| at.ends_with(path)) => {
            Ok(json!({ "err": { "invalid-path": reason.to_string() } }))
        }
        Err(error) => Err(error.to_string()),
    }
}

fn hello() -> Hello {
    Hello {
        protocol: PROTOCOL,
        name: "saddlebag".into(),
        package: PACKAGE.into(),
        version_scheme: LocalDir::VERSION_SCHEME.into(),
        folder: true,
        links: true,
        folders: true,
        lock: Lock::Kernel,
    }
}

fn read_opening(given: Value) -> Result<(PathBuf, OwnedOpening), Malformed> {
    let mut fields = Fields::of(given)?;
    let opening =
        OwnedOpening { epoch: fields.take("epoch")?, project: fields.take("project")?, agent: fields.take("agent")? };
    Ok((fields.take::<String>("store")?.into(), opening))
}

fn read_call(given: Value) -> Result<(Timestamp, String, String), Malformed> {
    let mut fields = Fields::of(given)?;
    Ok((fields.take("now")?, fields.take("tool")?, fields.take_value("input")?.to_string()))
}
