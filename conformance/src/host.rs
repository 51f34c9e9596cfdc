//! [`CallingHost`]: a host of the kit that answers calls of tools, and tells what each requested.

use std::sync::{Arc, Mutex, PoisonError};

use saddlebag::Config;
use saddlebag::entries::EntriesConfig;
use saddlebag::protocol::{FsError, FsOp, FsOutcome, FsRequest, RemoveDirectoryOutcome};
use saddlebag::store::Timestamp;
use saddlebag::tools::{CallTool, ToolAnswer, ToolOptions};
use saddlebag::wit_convert::canonical::{Scribe, ToCanonical};
use saddlebag_host::{Engine, EngineError, Executor, Host, HostError, NativeEngine, Observer, Simulator};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::driver::Hello;

/// Beginning of the paths of the index, whose bytes contain versions.
pub(crate) const INDEX: &str = ".saddlebag/index";
/// Calls, one on each line.
const CALLS: &str = include_str!("calls.jsonl");

/// A call of a tool.
#[derive(Deserialize)]
pub(crate) struct ToolCall {
    r#in: String,
    pub(crate) tool: String,
    pub(crate) input: Value,
}

/// Returns the calls of a scenario.
pub(crate) fn calls_of(scenario: &str) -> Result<Vec<ToolCall>, String> {
    let calls: Result<Vec<ToolCall>, _> = CALLS.lines().map(serde_json::from_str).collect();
    Ok(calls.map_err(|error| error.to_string())?.into_iter().filter(|call| call.r#in == scenario).collect())
}

/// Returns the time of a call. Each call is an hour later than the previous one, each opening a month.
pub(crate) fn time(call: u32, opening: u64) -> Timestamp {
    let seconds = 1_780_125_300 + i64::from(call) * 3600 + opening as i64 * 30 * 86_400;
    Timestamp { seconds, nanoseconds: 0, utc_offset_seconds: 7200 }
}

/// Result of a call of a tool.
pub(crate) struct Called {
    pub(crate) answer: ToolAnswer,
    /// True if the call changed a file, or may have.
    pub(crate) changed: bool,
    /// Requests, in the order in which they were performed.
    pub(crate) requests: Vec<FsRequest>,
}

impl Called {
    /// Returns the result in the JSON of the driver protocol.
    pub(crate) fn json(&self) -> Result<Value, String> {
        let ToolAnswer { text, structured, is_error } = &self.answer;
        let structured = structured.as_ref().map(|json| serde_json::from_str::<Value>(json.as_str())).transpose();
        let structured = structured.map_err(|error| error.to_string())?;
        let answer = json!({ "text": text.as_str(), "structured": structured, "is-error": is_error });
        Ok(json!({ "answer": answer, "changed": self.changed, "requests": value(&self.requests)? }))
    }
}

/// Returns the canonical JSON of a value of the contract.
pub(crate) fn value(of: &impl ToCanonical) -> Result<Value, String> {
    serde_json::from_str(&Scribe::default().json(of)).map_err(|error| error.to_string())
}

/// Opens an engine with a configuration.
pub(crate) type OpenEngine = dyn Fn(Config) -> Result<Box<dyn Engine>, EngineError>;

/// Opens the native engine.
///
/// # Errors
///
/// A field of the configuration is invalid.
pub fn native(config: Config) -> Result<Box<dyn Engine>, EngineError> {
    Ok(Box::new(NativeEngine::open(config)?))
}

/// An engine on an executor.
pub(crate) struct CallingHost<X> {
    host: Host<Box<dyn Engine>, X>,
    performed: Performed,
}

impl<X: Executor> CallingHost<X> {
    /// Opens a memory with the configuration of the driver protocol.
    pub(crate) fn open(
        engine: &OpenEngine,
        opening: OwnedOpening,
        scheme: &str,
        executor: X,
    ) -> Result<Self, HostError> {
        let OwnedOpening { epoch, project, agent } = opening;
        let config = Config {
            epoch,
            project,
            index_file: true,
            version_scheme: scheme.into(),
            entries: agent.map(EntriesConfig::for_agent),
            ..Config::default()
        };
        let performed = Performed::default();
        let mut host = Host::new(engine(config)?, executor);
        host.observe(performed.clone());
        Ok(Self { host, performed })
    }

    pub(crate) fn executor_mut(&mut self) -> &mut X {
        self.host.executor_mut()
    }

    /// Runs a tool of any set.
    pub(crate) fn call(&mut self, now: Timestamp, tool: &str, input: String) -> Result<Called, HostError> {
        let command = CallTool { tool: tool.into(), input, options: ToolOptions::default() };
        let answer = self.host.call(now, command)?;
        Ok(Called { answer, changed: self.host.take_changed(), requests: self.performed.take() })
    }
}

/// The store of the kit's own host, in memory.
pub(crate) struct InMemory {
    pub(crate) disk: Simulator,
    /// False if a folder exists only as long as it has a file.
    has_folders: bool,
}

impl InMemory {
    /// Creates an empty store that has what the store of another host has.
    pub(crate) fn like(hello: &Hello) -> Self {
        Self { disk: Simulator::new(1).with_hashes_of(&hello.version_scheme), has_folders: hello.folders }
    }
}

impl Executor for InMemory {
    fn perform(&mut self, op: &FsOp) -> Result<FsOutcome, FsError> {
        match op {
            FsOp::MakeDirectory { .. } if !self.has_folders => Ok(FsOutcome::MakeDirectory),
            FsOp::RemoveDirectory { .. } if !self.has_folders => {
                Ok(FsOutcome::RemoveDirectory(RemoveDirectoryOutcome::Absent))
            }
            FsOp::Remove { path, .. } | FsOp::Rename { path, .. } if !self.has_folders => {
                let outcome = self.disk.perform(op);
                let mut above = path.parent();
                while let Some(path) = above {
                    above = path.parent();
                    // A folder that is not empty stays.
                    let _ = self.disk.perform(&FsOp::RemoveDirectory { path });
                }
                outcome
            }
            _ => self.disk.perform(op),
        }
    }
}

/// Options that a memory is opened with.
#[derive(Clone)]
pub(crate) struct OwnedOpening {
    pub(crate) epoch: u64,
    pub(crate) project: Option<String>,
    pub(crate) agent: Option<String>,
}

/// Observer that keeps the requests that were performed.
#[derive(Clone, Default)]
struct Performed(Arc<Mutex<Vec<FsRequest>>>);

impl Performed {
    fn take(&self) -> Vec<FsRequest> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Observer for Performed {
    fn result(&mut self, request: &FsRequest, _: &Result<FsOutcome, FsError>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
    }
}
