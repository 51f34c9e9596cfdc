//! The driver of this program: its own host on the local disk.

use std::io::{BufRead, stdin};

use saddlebag::protocol::FsOp;
use saddlebag::store::Timestamp;
use saddlebag::wit_convert::canonical::{Fields, FromCanonical, Malformed};
use saddlebag_host::{EngineKind, Executor, LocalDir, LocalDirOptions, PACKAGE};
use serde_json::{Value, json};

use super::driver::{Hello, Lock, PROTOCOL};
use super::host::{CallingHost, OwnedOpening, value};
use crate::engine::engine;
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::output::Output;

/// Fields of operations that are paths.
const PATHS: [&str; 6] = ["path", "to", "folder", "after", "keep-as", "like"];

/// Answers the requests on standard input until it ends.
pub(super) fn serve(global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let kind = engine(global)?;
    let options = LocalDirOptions { durability: global.durability.into(), ..LocalDirOptions::default() };
    let mut memory = None;
    for line in stdin().lock().lines() {
        let answer = match serde_json::from_str(&line?) {
            Ok(request) => {
                answer(request, &kind, &options, &mut memory).unwrap_or_else(|reason| json!({ "err": reason }))
            }
            Err(error) => json!({ "err": format!("the request is not JSON: {error}") }),
        };
        output.object(&answer)?;
        output.flush()?;
    }
    Ok(Exit::Done)
}

fn answer(
    request: Value,
    kind: &EngineKind,
    options: &LocalDirOptions,
    memory: &mut Option<CallingHost<LocalDir>>,
) -> Result<Value, String> {
    let Value::Object(request) = request else { return Err("the request is not an object".into()) };
    let Some((what, given)) = request.into_iter().next() else { return Err("the request is empty".into()) };
    let opened = memory.as_mut().ok_or("no store is open");
    match what.as_str() {
        "hello" => Ok(json!({ "hello": hello() })),
        "open" => {
            let (root, opening) = read_opening(given).map_err(|error| error.to_string())?;
            let store = LocalDir::open(root.as_ref(), options.clone()).map_err(|error| error.to_string())?;
            let host = CallingHost::open(kind.clone(), opening, LocalDir::VERSION_SCHEME, store);
            *memory = Some(host.map_err(|error| error.to_string())?);
            Ok(json!({ "ok": null }))
        }
        "call" => {
            let (now, tool, input) = read_call(given).map_err(|error| error.to_string())?;
            let called = opened?.call(now, &tool, input).map_err(|error| error.to_string())?;
            Ok(json!({ "ok": called.json()? }))
        }
        "perform" => {
            let op = match FsOp::read(given) {
                Ok(op) => op,
                Err(Malformed { at, reason }) if PATHS.iter().any(|path| at.ends_with(path)) => {
                    return Ok(json!({ "err": { "invalid-path": reason.to_string() } }));
                }
                Err(error) => return Err(error.to_string()),
            };
            value(&opened?.executor_mut().perform(&op))
        }
        other => Err(format!("`{other}` is not a request")),
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

fn read_opening(given: Value) -> Result<(String, OwnedOpening), Malformed> {
    let mut fields = Fields::of(given)?;
    let opening =
        OwnedOpening { epoch: fields.take("epoch")?, project: fields.take("project")?, agent: fields.take("agent")? };
    Ok((fields.take("store")?, opening))
}

fn read_call(given: Value) -> Result<(Timestamp, String, String), Malformed> {
    let mut fields = Fields::of(given)?;
    Ok((fields.take("now")?, fields.take("tool")?, fields.take_value("input")?.to_string()))
}
