//! [`CallingHost`]: a host of the kit that answers calls of tools, and tells what each requested.

use std::sync::{Arc, Mutex, PoisonError};

use saddlebag::Config;
use saddlebag::entries::EntriesConfig;
use saddlebag::protocol::{FsError, FsOutcome, FsRequest};
use saddlebag::store::Timestamp;
use saddlebag::tools::{CallTool, ToolAnswer, ToolOptions};
use saddlebag::wit_convert::canonical::{Scribe, ToCanonical};
use saddlebag_host::{Engine, EngineError, Executor, Host, HostError, NativeEngine, Observer};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::driver::Opening;

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
    pub(crate) fn open(engine: &OpenEngine, opening: Opening, scheme: &str, executor: X) -> Result<Self, HostError> {
        let Opening { epoch, project, agent } = opening;
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

    /// Runs a tool of any set. Returns the result in the JSON of the driver protocol.
    pub(crate) fn call(&mut self, now: Timestamp, tool: String, input: String) -> Result<Value, String> {
        let command = CallTool { tool, input, options: ToolOptions::default() };
        let answer = self.host.call(now, command).map_err(|error| error.to_string())?;
        let ToolAnswer { text, structured, is_error } = answer;
        let structured = structured.as_ref().map(|json| serde_json::from_str::<Value>(json.as_str())).transpose();
        let structured = structured.map_err(|error| error.to_string())?;
        let answer = json!({ "text": text.as_str(), "structured": structured, "is-error": is_error });
        let (changed, requests) = (self.host.take_changed(), self.performed.take());
        Ok(json!({ "answer": answer, "changed": changed, "requests": value(&requests)? }))
    }
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
