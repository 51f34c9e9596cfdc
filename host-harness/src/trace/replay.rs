//! [`replay`]: makes the calls of a trace on another engine.

use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex, PoisonError};

use saddlebag::Config;
use saddlebag::wit_convert::PACKAGE;
use saddlebag::wit_convert::canonical::{Call, Fields, FromCanonical, Malformed};
use serde_json::Value;

use super::record::{HEADER, Recording, RecordingEngine, TRACE_VERSION};
use crate::engine::{Engine, EngineError};

/// Result of a replay.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Replayed {
    /// Number of memories that the trace opens: one per header.
    pub memories: u64,
    /// Number of calls with the recorded result.
    pub calls: u64,
    /// Number of requests in the results of these calls.
    pub requests: u64,
    /// Lines that were cut off when their program ended. They are not replayed.
    pub cut: Vec<u64>,
    /// Fields of configurations whose values are never recorded. Results that depend on them may differ.
    pub never_written: Vec<String>,
    /// First call with another result. Nothing after it was replayed.
    pub difference: Option<Difference>,
}

/// A call whose result differs from the recorded one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// Line of the trace, counted from 1.
    pub line: u64,
    /// Place in the line, such as `returned.ok.requests[0].op`.
    pub at: String,
    /// Recorded value; `None` if only the engine has one.
    pub recorded: Option<Value>,
    /// Value of the engine; `None` if only the trace has one.
    pub actual: Option<Value>,
}

/// Reason why a trace cannot be replayed. Lines are counted from 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The trace cannot be read.
    #[error("the trace cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The trace is empty.
    #[error("the trace is empty")]
    Empty,
    /// A line is not JSON.
    #[error("line {line} is not JSON: {reason}")]
    NotJson {
        /// Line of the trace.
        line: u64,
        /// Error of the parser.
        reason: String,
    },
    /// A line does not have the format.
    #[error("line {line} is not a line of a trace, {error}")]
    Malformed {
        /// Line of the trace.
        line: u64,
        /// Place and reason.
        error: Malformed,
    },
    /// A call comes before any header.
    #[error("line {line} has a call, but no header comes before it")]
    NoHeader {
        /// Line of the trace.
        line: u64,
    },
    /// The format or the contract has another version.
    #[error("line {line} begins a trace of {found}; this program replays {known}")]
    Version {
        /// Line of the trace.
        line: u64,
        /// Version in the header.
        found: String,
        /// Version that this program reads.
        known: String,
    },
    /// The engine cannot be opened with the recorded configuration.
    #[error("line {line}: {error}")]
    Open {
        /// Line of the trace.
        line: u64,
        /// Reason.
        error: EngineError,
    },
}

/// Makes every call of a trace, in order, on engines that `open` opens, and compares the results. It ends at the first
/// difference. There is no file system: results of operations come from the trace.
///
/// # Errors
///
/// The trace cannot be replayed beyond the line that the error names. The calls before it agreed.
pub fn replay<E: Engine>(
    trace: impl BufRead,
    mut open: impl FnMut(Config) -> Result<E, EngineError>,
) -> Result<Replayed, ReplayError> {
    let mut lines = Lines { trace, read: 0 };
    let mut found = Replayed::default();
    let mut session = None;
    let mut cut: Option<ReplayError> = None;
    while let Some(Line { number, text, is_whole }) = lines.next()? {
        let value = match serde_json::from_slice::<Value>(&text) {
            Ok(value) => value,
            Err(error) => {
                let refused = ReplayError::NotJson { line: number, reason: error.to_string() };
                if cut.is_some() || !error.is_eof() {
                    return Err(cut.unwrap_or(refused));
                }
                if !is_whole {
                    found.cut.push(number);
                } else {
                    // The next program that appended to the file has ended the line.
                    cut = Some(refused);
                }
                continue;
            }
        };
        let is_header = value.get(HEADER).is_some();
        match cut.take() {
            Some(_) if is_header => found.cut.push(number - 1),
            Some(refused) => return Err(refused),
            None => {}
        }
        if is_header {
            session = Some(Session::open(number, value, &mut found, &mut open)?);
            continue;
        }
        let Some(session) = &mut session else { return Err(ReplayError::NoHeader { line: number }) };
        if let Some(difference) = session.call(number, value, &mut found)? {
            found.difference = Some(difference);
            return Ok(found);
        }
    }
    match cut {
        Some(refused) => Err(refused),
        None if lines.read == 0 => Err(ReplayError::Empty),
        None => Ok(found),
    }
}

struct Lines<R> {
    trace: R,
    read: u64,
}

struct Line {
    number: u64,
    text: Vec<u8>,
    /// True if the line has a line end.
    is_whole: bool,
}

impl<R: BufRead> Lines<R> {
    fn next(&mut self) -> io::Result<Option<Line>> {
        let mut text = Vec::new();
        if self.trace.read_until(b'\n', &mut text)? == 0 {
            return Ok(None);
        }
        self.read += 1;
        let is_whole = text.pop_if(|byte| *byte == b'\n').is_some();
        Ok(Some(Line { number: self.read, text, is_whole }))
    }
}

/// An open memory, which is recorded again, so that two traces are compared.
struct Session<E> {
    engine: RecordingEngine<E>,
    lines: Written,
}

impl<E: Engine> Session<E> {
    fn open(
        line: u64,
        header: Value,
        found: &mut Replayed,
        open: &mut impl FnMut(Config) -> Result<E, EngineError>,
    ) -> Result<Self, ReplayError> {
        check_version(line, &header)?;
        let (config, never_written) = read_header(header).map_err(|error| ReplayError::Malformed { line, error })?;
        let engine = open(config.clone()).map_err(|error| ReplayError::Open { line, error })?;
        let lines = Written::default();
        let recording = Recording::new(lines.clone(), "");
        let engine = RecordingEngine::new(engine, &config, recording);
        found.memories += 1;
        found.never_written.extend(never_written);
        lines.take();
        Ok(Self { engine, lines })
    }

    /// Makes the call on the engine, and compares the result.
    fn call(&mut self, line: u64, recorded: Value, found: &mut Replayed) -> Result<Option<Difference>, ReplayError> {
        self.give(recorded.clone()).map_err(|error| ReplayError::Malformed { line, error })?;
        let written = self.lines.take();
        let actual: Value = serde_json::from_slice(&written)
            .map_err(|error| ReplayError::NotJson { line, reason: error.to_string() })?;
        if let Some(difference) = difference(String::new(), Some(&recorded), Some(&actual)) {
            return Ok(Some(Difference { line, ..difference }));
        }
        found.calls += 1;
        let requests = actual["returned"]["ok"]["requests"].as_array().map_or(0, Vec::len);
        found.requests += requests as u64;
        Ok(None)
    }

    fn give(&mut self, call: Value) -> Result<(), Malformed> {
        let mut fields = Fields::of(call)?;
        let outcome = if fields.has("failed") { "failed" } else { "returned" };
        fields.take_value(outcome)?;
        let Some(name) = Call::NAMES.into_iter().find(|name| fields.has(name)) else {
            return Err(Malformed::wrong(format!("the line has none of the calls {}", Call::NAMES.join(", "))));
        };
        let arguments = fields.take_value(name)?;
        fields.end()?;
        let call = Call::read(name, arguments).map_err(|error| error.below(name))?;
        // The result is recorded, errors included.
        match call {
            Call::Submit { id, now, submission } => drop(self.engine.submit(id, now, submission)),
            Call::HandleMemoryResult(reply) => drop(self.engine.handle_memory_result(reply)),
            Call::Cancel(id) => drop(self.engine.cancel(id)),
            Call::Take(id) => drop(self.engine.take(id)),
        }
        Ok(())
    }
}

fn check_version(line: u64, header: &Value) -> Result<(), ReplayError> {
    let (version, package) = (&header[HEADER], &header["package"]);
    if version.as_u64() == Some(TRACE_VERSION.into()) && package.as_str() == Some(PACKAGE) {
        return Ok(());
    }
    let package = package.as_str().unwrap_or("a package without a name");
    let found = format!("version {version} of {package}");
    Err(ReplayError::Version { line, found, known: format!("version {TRACE_VERSION} of {PACKAGE}") })
}

fn read_header(header: Value) -> Result<(Config, Vec<String>), Malformed> {
    let mut fields = Fields::of(header)?;
    fields.take_value(HEADER)?;
    fields.take_value("package")?;
    fields.take::<String>("program")?;
    let never_written = fields.take("never-written")?;
    let config = fields.take_value("config")?;
    fields.end()?;
    let config = Config::read(config).map_err(|error| error.below("config"))?;
    Ok((config, never_written))
}

/// Returns the first difference between two values of the contract as canonical JSON.
pub fn first_difference(expected: &Value, actual: &Value) -> Option<Difference> {
    difference(String::new(), Some(expected), Some(actual))
}

fn difference(at: String, recorded: Option<&Value>, actual: Option<&Value>) -> Option<Difference> {
    match (recorded, actual) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let names = one.keys().chain(other.keys().filter(|name| !one.contains_key(*name)));
            names.into_iter().find_map(|name| {
                let at = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
                difference(at, one.get(name), other.get(name))
            })
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) => {
            let count = one.len().max(other.len());
            (0..count).find_map(|index| difference(format!("{at}[{index}]"), one.get(index), other.get(index)))
        }
        // Other writers spell 1.0 as 1.
        (Some(Value::Number(one)), Some(Value::Number(other))) if one.as_f64() == other.as_f64() => None,
        // Another host may leave a field to its default, which the engine writes out, or leave an option out.
        (Some(Value::Null) | None, Some(_)) if at.starts_with("submit.command.") || at == "call.options" => None,
        (None, Some(Value::Null)) => None,
        (one, other) if one == other => None,
        (one, other) => Some(Difference { line: 0, at, recorded: one.cloned(), actual: other.cloned() }),
    }
}

/// Lines in memory.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
