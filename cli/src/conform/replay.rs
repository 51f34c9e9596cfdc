//! `conform --replay`: runs a recorded trace again, without a store.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use saddlebag_host::{Difference, EngineError, ReplayError, Replayed, open_engine, replay};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::engine::engine;
use crate::failure::{Exit, Failure, ProgramCode};
use crate::global::Global;
use crate::output::{JsonLine, Output};

/// Result of replaying a trace.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ReplayJson {
    /// Number of memories that the trace opens.
    memories: u64,
    /// Number of calls with the recorded answer.
    calls: u64,
    /// Number of requests of these calls.
    requests: u64,
    /// Lines that are incomplete because their program ended.
    cut: Vec<u64>,
    /// Fields of configurations that no trace contains. Behaviour that depends on them may differ.
    never_written: Vec<String>,
    /// First call with a different answer, or `null`.
    difference: Option<DifferenceJson>,
}

/// Call whose result differs from the recorded one.
#[derive(Serialize, JsonSchema)]
struct DifferenceJson {
    /// Line of the trace, counted from 1.
    line: u64,
    /// Position of the difference in the line.
    at: String,
    /// Recorded value, or `null`.
    recorded: Option<Value>,
    /// Value of the engine, or `null`.
    actual: Option<Value>,
}

/// Runs a recorded trace, and prints the first call with a different answer.
pub(super) fn run(path: &Path, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
    let shown = path.display().to_string();
    let file = File::open(path).map_err(|error| {
        let message = format!("cannot open the trace `{shown}`: {}", saddlebag_host::io_cause(&error));
        Failure::new(ProgramCode::Trace, message, "name a file that --trace wrote")
    })?;
    let kind = engine(global)?;
    let found = replay(BufReader::new(file), |config| open_engine(kind.clone(), config))
        .map_err(|error| failure(&shown, error))?;
    show(found, output)
}

fn show(found: Replayed, output: &mut Output) -> Result<Exit, Failure> {
    let Replayed { memories, calls, requests, cut, never_written, difference, .. } = found;
    let exit = if difference.is_some() { Exit::Nothing } else { Exit::Done };
    for line in &cut {
        output.warning(&format!("line {line} was cut off when its program ended; it was not replayed"));
    }
    for field in &never_written {
        output.warning(&format!("a trace never has `{field}`, which was set: results that use it may differ"));
    }
    if output.is_json() {
        let difference = difference.map(|Difference { line, at, recorded, actual, .. }| DifferenceJson {
            line,
            at,
            recorded,
            actual,
        });
        output.object(&ReplayJson { memories, calls, requests, cut, never_written, difference })?;
        return Ok(exit);
    }
    let agreed = format!("{calls} calls with {requests} requests");
    let Some(Difference { line, at, recorded, actual, .. }) = difference else {
        output.line(&format!("All {agreed} agree"))?;
        return Ok(exit);
    };
    let text = |value: Option<Value>| value.map_or("nothing".to_string(), |value| JsonLine::new(&value).to_string());
    output.line(&format!("Line {line} differs at `{at}`; {agreed} before it agree"))?;
    output.line(&format!("  recorded: {}", text(recorded)))?;
    output.line(&format!("  actual:   {}", text(actual)))?;
    Ok(exit)
}

fn failure(shown: &str, error: ReplayError) -> Failure {
    let help = match &error {
        ReplayError::Open { error, .. } if !matches!(error, EngineError::Config(_)) => {
            return Failure::from(error.clone());
        }
        ReplayError::Io(_) | ReplayError::Empty => "name a file that --trace wrote",
        ReplayError::Version { .. } => "replay it with the version of the program that its header names",
        ReplayError::LeftOut { .. } => {
            "the calls before it agree; record it again with `--secrets allow`, which leaves nothing out, or with \
             `--no-index-file` if these are bytes of the index"
        }
        _ => "the calls before it agree; a trace is replayed as it was recorded, so record it again",
    };
    Failure::new(ProgramCode::Trace, format!("cannot replay `{shown}`: {error}"), help)
}
