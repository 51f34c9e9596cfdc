//! [`replay()`]: runs a recorded trace again, without a store.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;

use saddlebag_host::{Difference, ReplayError, Replayed};
use serde_json::Value;

use crate::host::native;

/// Runs the trace of a file with the native engine. Writes the first call with a different answer, and to `warnings` what may make
/// a difference. Returns true if every call has the recorded answer.
///
/// # Errors
///
/// The trace cannot be replayed, with the way out; or the result cannot be written.
pub fn replay(path: &Path, output: &mut dyn Write, warnings: &mut dyn Write) -> Result<bool, String> {
    let shown = path.display();
    let file = File::open(path).map_err(|error| format!("cannot open the trace `{shown}`: {error}"))?;
    let found = saddlebag_host::replay(BufReader::new(file), native)
        .map_err(|error| format!("cannot replay `{shown}`: {error}\n  {}", way_out(&error)))?;
    let text = described(&found);
    let warning = warned(&found);
    let written = warnings.write_all(warning.as_bytes()).and_then(|()| output.write_all(text.as_bytes()));
    written.map_err(|error| error.to_string())?;
    Ok(found.difference.is_none())
}

fn warned(Replayed { cut, never_written, .. }: &Replayed) -> String {
    let cut = cut
        .iter()
        .map(|line| format!("warning: line {line} was cut off when its program ended; it was not replayed\n"));
    let never = never_written
        .iter()
        .map(|field| format!("warning: a trace never has `{field}`, which was set: results that use it may differ\n"));
    cut.chain(never).collect()
}

fn described(Replayed { calls, requests, difference, .. }: &Replayed) -> String {
    let agreed = format!("{calls} calls with {requests} requests");
    let Some(Difference { line, at, recorded, actual, .. }) = difference else {
        return format!("All {agreed} agree\n");
    };
    let text = |value: &Option<Value>| value.as_ref().map_or("nothing".to_string(), Value::to_string);
    let (recorded, actual) = (text(recorded), text(actual));
    format!("Line {line} differs at `{at}`; {agreed} before it agree\n  recorded: {recorded}\n  actual:   {actual}\n")
}

fn way_out(error: &ReplayError) -> &'static str {
    match error {
        ReplayError::Io(_) | ReplayError::Empty => "name a file that --trace wrote",
        ReplayError::Version { .. } => "replay it with the version of the kit that its header names",
        _ => "the calls before it agree; a trace is replayed as it was recorded, so record it again",
    }
}
