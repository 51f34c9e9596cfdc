//! The driver of the conformance kit: one JSON object per line in, one per line out.

use saddlebag::Origin;
use saddlebag::protocol::{CommandId, FsOp, FsRequest, FsResult};
use saddlebag::store::Timestamp;
use saddlebag::tools::{CallTool, ToolAnswer, ToolOptions};
use saddlebag::trust::Provenance;
use saddlebag::wit_convert::PACKAGE;
use saddlebag::wit_convert::canonical::{FromCanonical, Malformed, Scribe, ToCanonical};
use serde_json::{Value, json};

use crate::executor::{Executor, VERSION_SCHEME};
use crate::guest::{Guest, Options};
use crate::storage::Storage;

/// Fields of operations that are paths.
const PATHS: [&str; 6] = ["path", "to", "folder", "after", "keep-as", "like"];

/// How a driver describes its host.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// Name of the host.
    pub name: &'static str,
    /// True if the store is a folder of the disk.
    pub folder: bool,
    /// True if the store has folders.
    pub folders: bool,
    /// Kind of its locks: `lease` or `none`.
    pub lock: &'static str,
}

/// Opens the storage of a name.
type Open<S> = dyn FnMut(&str) -> Result<Executor<S>, String>;

/// Answers the lines of a kit. `open` opens the storage of a name.
pub struct Driver<S> {
    host: Host,
    open: Box<Open<S>>,
    guest: Option<Guest<S>>,
}

impl<S: Storage> Driver<S> {
    /// Creates a driver without a store.
    pub fn new(host: Host, open: impl FnMut(&str) -> Result<Executor<S>, String> + 'static) -> Self {
        Self { host, open: Box::new(open), guest: None }
    }

    /// Returns the answer to a line, without its end.
    pub fn answer(&mut self, line: &str) -> String {
        let answer = match serde_json::from_str::<Value>(line) {
            Ok(request) => self.answer_to(request),
            Err(error) => Err(error.to_string()),
        };
        answer.unwrap_or_else(|reason| json!({ "err": reason }).to_string())
    }

    fn answer_to(&mut self, mut request: Value) -> Result<String, String> {
        if request.get("hello").is_some() {
            let Host { name, folder, folders, lock } = self.host;
            let hello = json!({
                "protocol": 1, "name": name, "package": PACKAGE, "version-scheme": VERSION_SCHEME, "folder": folder,
                "links": folder, "folders": folders, "lock": lock,
            });
            return Ok(json!({ "hello": hello }).to_string());
        }
        if let Some(open) = request.get("open") {
            self.guest = None;
            let text = |name: &str| open[name].as_str().map(str::to_owned);
            let options = Options {
                epoch: text("epoch").and_then(|epoch| epoch.parse().ok()).ok_or("the epoch is not a number")?,
                project: text("project"),
                agent: text("agent"),
                index_file: true,
                provenance: Provenance::User,
            };
            let executor = (self.open)(&text("store").ok_or("the name of the store is missing")?)?;
            self.guest = Some(Guest::open(executor, options)?);
            return Ok(json!({ "ok": null }).to_string());
        }
        let guest = self.guest.as_mut().ok_or("no memory is open")?;
        if let Some(call) = request.get_mut("call") {
            let id = call["id"].as_str().and_then(|id| id.parse().ok()).ok_or("the id is not a number")?;
            let now = Timestamp::read(call["now"].take()).map_err(|error| error.to_string())?;
            let tool = call["tool"].as_str().ok_or("the name of the tool is missing")?.to_owned();
            let call = CallTool { tool, input: call["input"].to_string(), options: ToolOptions::default() };
            let mut requests = Vec::new();
            let answered = guest.run(CommandId(id), now, Origin::default().with(call), &mut |request| {
                requests.push(canonical(request));
            })?;
            let ToolAnswer { text, structured, is_error } = answered.answer;
            let structured = structured.map_or_else(|| "null".to_owned(), |object| object.into_string());
            let answer =
                format!(r#"{{"text":{},"structured":{structured},"is-error":{is_error}}}"#, json!(text.as_str()));
            let (changed, requests) = (answered.changed, requests.join(","));
            return Ok(format!(r#"{{"ok":{{"answer":{answer},"changed":{changed},"requests":[{requests}]}}}}"#));
        }
        let op = request.get_mut("perform").ok_or("the request is unknown")?.take();
        let op = match FsOp::read(op) {
            Ok(op) => op,
            Err(Malformed { at, reason }) if PATHS.iter().any(|path| at.ends_with(path)) => {
                return Ok(json!({ "err": { "invalid-path": reason.to_string() } }).to_string());
            }
            Err(error) => return Err(error.to_string()),
        };
        Ok(canonical(&guest.executor().perform(&op)))
    }
}

/// Performs the operation of a `request` of the contract, and returns the `reply`.
///
/// # Errors
///
/// The text is not a request.
pub fn perform_json<S: Storage>(executor: &Executor<S>, request: &str) -> Result<String, String> {
    let request: Value = serde_json::from_str(request).map_err(|error| error.to_string())?;
    let request = FsRequest::read(request).map_err(|error| error.to_string())?;
    let outcome = executor.perform(&request.op);
    Ok(canonical(&FsResult { key: request.key.into_string(), outcome }))
}

/// Returns the canonical JSON of a value of the contract.
pub fn canonical(value: &impl ToCanonical) -> String {
    Scribe::default().json(value)
}
