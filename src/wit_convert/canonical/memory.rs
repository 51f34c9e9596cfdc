//! [`JsonMemory`]: a memory whose calls and results are JSON, as the world `saddlebag-json` has it.

use serde_json::Value;

use super::call::Call;
use super::fields::{Fields, FromCanonical, Malformed};
use super::scribe::{Scribe, ToCanonical, Writer};
use crate::entries::EntriesConfig;
use crate::history::{MergeSides, merge};
use crate::tools::{ToolSet, tools};
use crate::{Config, Memory};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::{CommandId, Error, ErrorCode};

/// A memory whose calls and results are JSON. No text makes it panic.
#[derive(Default)]
pub struct JsonMemory(Option<Memory>);

impl JsonMemory {
    /// Creates a memory that is not open.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Opens the memory, or another one in its place.
    pub fn open(&mut self, config: &str) -> String {
        match parsed(config).and_then(read_config).map(Memory::open) {
            Ok(opened) => json(&opened.map(|memory| {
                self.0 = Some(memory);
                None::<bool>
            })),
            Err(error) => refused(Refused::Malformed(error)),
        }
    }

    /// Makes the call of this name: see [`Call::NAMES`].
    pub fn call(&mut self, name: &str, arguments: &str) -> String {
        let call = match parsed(arguments).and_then(|arguments| Call::read(name, arguments)) {
            Ok(call) => call,
            Err(error) => return refused(Refused::Malformed(error)),
        };
        let Some(memory) = &mut self.0 else { return refused(Refused::NotOpen) };
        match call {
            Call::Submit { id, now, submission } => json(&memory.submit(id, now, submission)),
            Call::HandleMemoryResult(result) => json(&memory.handle_memory_result(result)),
            Call::Cancel(id) => json(&Ok::<_, Refused>(memory.cancel(id).finished.pop())),
            Call::Take(id) => json(&memory.take(id)),
        }
    }

    /// Takes the reply to a command, as the program prints it with `--json`.
    pub fn take_printed(&mut self, arguments: &str) -> String {
        let read = |given| {
            let mut fields = Fields::of(given)?;
            let id: CommandId = fields.take("id")?;
            fields.end()?;
            Ok(id)
        };
        let id = match parsed(arguments).and_then(read) {
            Ok(id) => id,
            Err(error) => return refused(Refused::Malformed(error)),
        };
        let Some(memory) = &mut self.0 else { return refused(Refused::NotOpen) };
        let printed = memory.take(id).and_then(|reply| {
            serde_json::to_string(&reply).map_err(|error| Error::new(ErrorCode::Internal, error.to_string(), ""))
        });
        match printed {
            Ok(printed) => format!("{{\"ok\":{printed}}}"),
            Err(error) => json(&Err::<bool, _>(error)),
        }
    }

    /// Returns the tools of these sets.
    pub fn tools(arguments: &str) -> String {
        match parsed(arguments).and_then(read_sets) {
            Ok(sets) => json(&Ok::<_, Refused>(tools(&sets))),
            Err(error) => refused(Refused::Malformed(error)),
        }
    }

    /// Makes the changes of two sides to one file together.
    pub fn merge(arguments: &str) -> String {
        let read = |given| {
            let mut fields = Fields::of(given)?;
            let (path, sides): (String, MergeSides) = (fields.take("path")?, fields.take("sides")?);
            fields.end()?;
            Ok((path, sides))
        };
        match parsed(arguments).and_then(read) {
            Ok((path, sides)) => json(&merge(&path, &sides)),
            Err(error) => refused(Refused::Malformed(error)),
        }
    }
}

/// Reason why a call has no result of the contract.
enum Refused {
    /// The argument is not that of the function.
    Malformed(Malformed),
    /// No memory is open.
    NotOpen,
}

impl ToCanonical for Refused {
    fn write(&self, out: &mut Writer<'_>) {
        match self {
            Self::Malformed(error) => {
                out.begin();
                out.key("malformed");
                out.text(&error.to_string());
                out.end();
            }
            Self::NotOpen => out.text("not-open"),
        }
    }
}

fn refused(reason: Refused) -> String {
    json(&Err::<bool, _>(reason))
}

fn json(value: &impl ToCanonical) -> String {
    Scribe::default().json(value)
}

fn parsed(text: &str) -> Result<Value, Malformed> {
    serde_json::from_str(text).map_err(|error| Malformed::wrong(format!("not JSON: {error}")))
}

/// Parses a configuration. Every field but the epoch may be left out.
fn read_config(given: Value) -> Result<Config, Malformed> {
    let epoch = Fields::of(given.clone())?.take("epoch")?;
    let entries = given.get("entries").filter(|entries| entries.is_object()).map(|_| EntriesConfig::for_agent(""));
    let mut config = parsed(&json(&Config { entries, ..Config::new(epoch) }))?;
    overlay(&mut config, given);
    Config::read(config)
}

/// Replaces the fields of a record by those that are given.
fn overlay(record: &mut Value, given: Value) {
    match (record, given) {
        (Value::Object(fields), Value::Object(given)) => {
            for (name, value) in given {
                overlay(fields.entry(name).or_insert(Value::Null), value);
            }
        }
        (field, given) => *field = given,
    }
}

fn read_sets(given: Value) -> Result<Vec<ToolSet>, Malformed> {
    let mut fields = Fields::of(given)?;
    let sets: Option<Vec<ToolSet>> = fields.take("sets")?;
    fields.end()?;
    Ok(sets.unwrap_or_else(|| ToolSet::ALL.to_vec()))
}
