//! The calls of the page. Each is `POST /api/NAME` with a JSON object, and answers with JSON: the reply as the program
//! prints it with `--json`, or `{"error": …}`.

use std::collections::BTreeMap;

use saddlebag::history::{HistoryCommand, SetHistoryPolicy};
use saddlebag::items::{ItemKind, ItemList, ListItems};
use saddlebag::protocol::ErrorCode;
use saddlebag::wit_convert::canonical::{Fields, Malformed, read_command};
use saddlebag::{Answered, Command, Effect, Moment, Origin, Request};
use serde_json::{Value, json};

use super::index_size::index_bytes;
use super::render::render;
use crate::difference::unified;
use crate::everyday::{LISTED, Sessions, newest, sizes};
use crate::failure::{Code, ProgramCode};
use crate::hook::log::Log;
use crate::prelude::*;
use crate::server::worker::Memory;

/// Name of the page in the history, as the client of its changes.
const CLIENT: &str = "saddlebag-ui";
/// Number of notes that are asked for at once.
const NOTES: u32 = 2_000;

/// Calls of the page on one memory.
pub(crate) struct Api {
    memory: Memory,
    global: Global,
}

impl Api {
    pub(crate) fn new(memory: Memory, global: &Global) -> Self {
        Self { memory, global: global.clone() }
    }

    /// Answers a call. Refuses every change, for the given reason.
    pub(crate) async fn answer(&self, name: &str, given: Value, refusal: Option<Failure>) -> Result<Value, Failure> {
        match name {
            "call" => self.call(given, refusal).await,
            "render" => {
                let text: String = only(given, "text")?;
                Ok(json!({ "html": apart(move || render(&text)).await? }))
            }
            "diff" => {
                let mut fields = Fields::of(given).map_err(malformed)?;
                let mut take = |name| fields.take::<String>(name).map_err(malformed);
                let (before, after) = (take("before")?, take("after")?);
                fields.end().map_err(malformed)?;
                let diff = apart(move || unified(&before, &after));
                Ok(json!({ "diff": diff.await? }))
            }
            "status" => {
                let global = self.global.clone();
                value(&apart(move || sizes(&global, &mut Output::new(true))).await??)
            }
            "index-size" => {
                let global = self.global.clone();
                Ok(json!({ "bytes": apart(move || index_bytes(&global)).await?? }))
            }
            "hook-log" => {
                let lines = Log::of_user().map(|log| log.newest_lines()).transpose().map_err(|error| {
                    let message = format!("the log of the hooks cannot be read: {}", saddlebag_host::io_cause(&error));
                    Failure::new(ProgramCode::Input, message, "`saddlebag hook log` prints it")
                })?;
                value(&lines.unwrap_or_default())
            }
            "sources" => value(&self.sources().await?),
            "sessions" => value(&Sessions::of_notes(self.list(newest(LISTED)).await?)),
            _ => Err(Failure::new(ErrorCode::NotFound, format!("there is no call `{name}`"), "docs/ui.md has them")),
        }
    }

    /// Returns the provenance of each note that states one, by path.
    async fn sources(&self) -> Result<BTreeMap<String, String>, Failure> {
        let mut sources = BTreeMap::new();
        let mut after = None;
        loop {
            let kinds = vec![ItemKind::Note];
            let page = self.list(ListItems { kinds, limit: Some(NOTES), after, ..ListItems::default() }).await?;
            for note in page.items {
                let metadata: Value = serde_json::from_str(&note.metadata).unwrap_or_default();
                if let Some(provenance) = metadata["provenance"].as_str() {
                    sources.insert(note.path, provenance.to_string());
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(sources);
            }
        }
    }

    async fn list(&self, command: ListItems) -> Result<ItemList, Failure> {
        let reply = self.memory.call(command, None).await?;
        ListItems::from_reply(reply).ok_or_else(|| Failure::wrong_reply(ListItems::NAME))
    }

    /// Runs a command of the contract.
    async fn call(&self, given: Value, refusal: Option<Failure>) -> Result<Value, Failure> {
        let mut fields = Fields::of(given).map_err(malformed)?;
        let interface: String = fields.take("interface").map_err(malformed)?;
        let command = fields.take_value("command").map_err(malformed)?;
        let command = read_command(&interface, command).map_err(|error| malformed(error.below("command")))?;
        let operation: Option<String> = fields.take("operation").map_err(malformed)?;
        let reason: Option<String> = fields.take("reason").map_err(malformed)?;
        let at: Option<Moment> = fields.take("at").map_err(malformed)?;
        fields.end().map_err(malformed)?;
        if let Some(failure) = refusal.filter(|_| changes(&command)) {
            return Err(failure);
        }
        let origin = Origin { client: Some(CLIENT.into()), operation, reason, at, ..Origin::default() };
        value(&self.memory.call(origin.with(command), None).await?)
    }
}

/// Returns true if a command may change memory.
fn changes(command: &Command) -> bool {
    match command {
        // It changes no memory, but what is kept of changes. Without values it shows what is kept.
        Command::History(HistoryCommand::SetHistoryPolicy(policy)) => *policy != SetHistoryPolicy::default(),
        command => command.effect() != Effect::Reads,
    }
}

/// Does work that may take long for large texts, away from the other calls.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Failure::new(ProgramCode::Engine, format!("the work was given up: {error}"), "ask again"))
}

/// Returns the only field of an object.
fn only(given: Value, name: &str) -> Result<String, Failure> {
    let mut fields = Fields::of(given).map_err(malformed)?;
    let text = fields.take(name).map_err(malformed)?;
    fields.end().map_err(malformed)?;
    Ok(text)
}

fn value(reply: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(reply).map_err(|error| Failure::new(ErrorCode::Internal, error.to_string(), ""))
}

fn malformed(error: Malformed) -> Failure {
    Failure::new(ErrorCode::InvalidArgument, error.to_string(), "docs/ui.md has the form of a call")
}

/// Returns a failure as the page reads it. What `--json` says of changes is about a whole run, which a server has not.
pub(crate) fn error(failure: &Failure) -> Value {
    let Failure { code, message, help } = failure;
    json!({ "code": code.as_str(), "message": message, "help": help })
}

/// Returns the status of HTTP for a failure.
pub(super) fn status(code: Code) -> u16 {
    match code.exit() {
        Exit::Nothing => 404,
        Exit::Usage => 400,
        _ => 422,
    }
}
