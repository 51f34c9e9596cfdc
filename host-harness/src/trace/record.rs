//! [`RecordingEngine`]: an engine that records every call with its result.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use saddlebag::protocol::{CommandId, Error, FsResult, SubmitError};
use saddlebag::store::Timestamp;
use saddlebag::tools::{CallTool, Tool, ToolSet};
use saddlebag::wit_convert::PACKAGE;
use saddlebag::wit_convert::canonical::{Scribe, ToCanonical, command_value};
use saddlebag::{Command, Config, Reply, Step, Submission};

use crate::engine::{Engine, EngineError};

/// Version of the format, which the header of a trace names.
pub const TRACE_VERSION: u32 = 1;

/// Field that distinguishes a header from a call.
pub(super) const HEADER: &str = "saddlebag-trace";

/// Destination of a trace. Clones write to the same destination.
#[derive(Clone)]
pub struct Recording {
    sink: Arc<Mutex<Sink>>,
    program: String,
}

struct Sink {
    out: Box<dyn Write + Send>,
    failure: Option<io::ErrorKind>,
}

impl Recording {
    /// Writes whole lines to `out`, one per call. `program` is the name and version of the recording program.
    pub fn new(out: impl Write + Send + 'static, program: impl Into<String>) -> Self {
        let sink = Sink { out: Box::new(out), failure: None };
        Self { sink: Arc::new(Mutex::new(sink)), program: program.into() }
    }

    /// Returns the error that made the trace incomplete, if there is one. Nothing is written after the first failure.
    pub fn failure(&self) -> Option<io::ErrorKind> {
        self.sink().failure
    }

    fn put(&self, line: &str) {
        let mut sink = self.sink();
        if sink.failure.is_none()
            && let Err(error) = sink.out.write_all(format!("{line}\n").as_bytes())
        {
            sink.failure = Some(error.kind());
        }
    }

    fn sink(&self) -> MutexGuard<'_, Sink> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An engine whose calls are recorded.
pub struct RecordingEngine<E> {
    engine: E,
    recording: Recording,
    scribe: Scribe,
}

impl<E: Engine> RecordingEngine<E> {
    /// Records an engine that was just opened with `config`. The header of the trace is written at once.
    pub fn new(engine: E, config: &Config, recording: Recording) -> Self {
        let mut scribe = Scribe::default();
        let config = scribe.json(config);
        let never_written = scribe.never_written().to_vec();
        let mut plain = Scribe::default();
        recording.put(&format!(
            "{{\"{HEADER}\":{TRACE_VERSION},\"program\":{},\"package\":{},\"never-written\":{},\"config\":{config}}}",
            plain.json(&recording.program),
            plain.json(&PACKAGE.to_string()),
            plain.json(&never_written),
        ));
        Self { engine, recording, scribe }
    }

    /// Writes a call. `returned` is the result that the contract gives it, or the failure of the engine.
    fn put(&mut self, call: &str, returned: Result<String, &EngineError>) {
        let outcome = match returned {
            Ok(returned) => format!("\"returned\":{returned}"),
            Err(error) => format!("\"failed\":{}", self.scribe.json(&error.to_string())),
        };
        self.recording.put(&format!("{{{call},{outcome}}}"));
    }

    fn put_step(&mut self, call: &str, step: &Result<Step, EngineError>) {
        let returned = match step {
            Ok(step) => Ok(self.scribe.json(&Ok::<_, &SubmitError>(step))),
            Err(EngineError::Submit(error)) => Ok(self.scribe.json(&Err::<&Step, _>(error))),
            Err(EngineError::Result(error)) => Ok(self.scribe.json(&Err::<&Step, _>(error))),
            Err(error) => Err(error),
        };
        self.put(call, returned);
    }
}

impl<E: Engine> Engine for RecordingEngine<E> {
    fn submit(&mut self, id: CommandId, now: Timestamp, submission: Submission<Command>) -> Result<Step, EngineError> {
        let mut json = |value: &dyn ToCanonical| self.scribe.json(value);
        let given = format!("\"id\":{},\"now\":{},\"origin\":{}", json(&id), json(&now), json(&submission.origin));
        let call = match command_value(&submission.command) {
            Ok((interface, command)) => {
                let command = json(command);
                format!("\"submit\":{{\"interface\":\"{interface}\",{given},\"command\":{command}}}")
            }
            Err(CallTool { tool, input, options }) => {
                let (tool, input, options) = (json(tool), json(input), json(options));
                format!("\"call\":{{{given},\"tool\":{tool},\"input\":{input},\"options\":{options}}}")
            }
        };
        let step = self.engine.submit(id, now, submission);
        self.put_step(&call, &step);
        step
    }

    fn take(&mut self, id: CommandId) -> Result<Result<Reply, Error>, EngineError> {
        let call = format!("\"take\":{{\"id\":{}}}", self.scribe.json(&id));
        let taken = self.engine.take(id);
        match &taken {
            Ok(reply) => {
                let returned = self.scribe.json(&reply.as_ref());
                self.put(&call, Ok(returned));
            }
            Err(error) => self.put(&call, Err(error)),
        }
        taken
    }

    fn handle_memory_result(&mut self, result: FsResult) -> Result<Step, EngineError> {
        let call = format!("\"handle-memory-result\":{{\"reply\":{}}}", self.scribe.json(&result));
        let step = self.engine.handle_memory_result(result);
        self.put_step(&call, &step);
        step
    }

    fn cancel(&mut self, id: CommandId) -> Result<Step, EngineError> {
        let call = format!("\"cancel\":{{\"id\":{}}}", self.scribe.json(&id));
        let step = self.engine.cancel(id);
        match &step {
            Ok(step) => {
                let returned = self.scribe.json(&step.finished.first());
                self.put(&call, Ok(returned));
            }
            Err(error) => self.put(&call, Err(error)),
        }
        step
    }

    fn tools(&mut self, sets: &[ToolSet]) -> Result<Vec<Tool>, EngineError> {
        self.engine.tools(sets)
    }
}
