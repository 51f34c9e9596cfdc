//! [`Extension`]: tools and commands as JSON strings, over a store of strings: the shape of `nanopi:extension`.

use std::cell::Cell;
use std::rc::Rc;

use chrono::DateTime;
use saddlebag::store::Timestamp;
use saddlebag::tools::{DEFAULT_SETS, Tool, ToolAnswer, tools};
use saddlebag::trust::Provenance;
use serde_json::{Value, json};

use crate::executor::Executor;
use crate::guest::{Guest, Options};
use crate::key_value::{KeyValue, Strings, StringsError};

/// Maximum number of keys of such a store.
const MAX_KEYS: u32 = 1000;

/// Argument of every tool with the time, because such a host has no clock.
const NOW: &str = "now";

/// A memory over a store of strings, which is opened by the first call that needs it.
pub struct Extension<T> {
    strings: T,
    agent: String,
    guest: Option<Guest<KeyValue<Timed<T>>>>,
    now: Rc<Cell<Timestamp>>,
}

/// A store of strings whose time is that of the last call.
struct Timed<T> {
    strings: T,
    now: Rc<Cell<Timestamp>>,
}

impl<T: Strings> Strings for Timed<T> {
    fn get(&self, key: &str) -> Result<Option<String>, StringsError> {
        self.strings.get(key)
    }

    fn set(&self, key: &str, value: &str) -> Result<(), StringsError> {
        self.strings.set(key, value)
    }

    fn now(&self) -> u64 {
        let Timestamp { seconds, nanoseconds, .. } = self.now.get();
        u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000_000) + u64::from(nanoseconds)
    }
}

impl<T: Strings + Clone> Extension<T> {
    /// Uses a store for the memory of an agent. Nothing is read yet.
    pub fn new(strings: T, agent: &str) -> Self {
        let now = Rc::new(Cell::new(Timestamp { seconds: 0, nanoseconds: 0, utc_offset_seconds: 0 }));
        Self { strings, agent: agent.into(), guest: None, now }
    }

    fn guest(&mut self) -> Result<&mut Guest<KeyValue<Timed<T>>>, String> {
        let guest = match self.guest.take() {
            Some(guest) => guest,
            None => self.open()?,
        };
        Ok(self.guest.insert(guest))
    }

    fn open(&self) -> Result<Guest<KeyValue<Timed<T>>>, String> {
        let strings = Timed { strings: self.strings.clone(), now: self.now.clone() };
        let storage = KeyValue::open(strings, "m", MAX_KEYS).map_err(|error| error.to_string())?;
        // Time goes on from the last change until a call tells it.
        let last = storage.last_change();
        let seconds = i64::try_from(last / 1_000_000_000).unwrap_or(0);
        self.now.set(Timestamp { seconds, nanoseconds: (last % 1_000_000_000) as u32, utc_offset_seconds: 0 });
        let options = Options {
            epoch: storage.epoch(),
            project: None,
            agent: Some(self.agent.clone()),
            // The whole store is small: a copy of the index would take room from notes.
            index_file: false,
            provenance: Provenance::Agent,
        };
        Guest::open(Executor::new(storage, || 0), options)
    }

    /// Returns the tools as a JSON array.
    pub fn list_tools(&self) -> String {
        let described = |tool: &Tool| {
            let mut parameters = serde_json::from_str::<Value>(&tool.input_schema).unwrap_or_default();
            parameters["properties"][NOW] = json!({
                "type": "string",
                "description": "date and time as RFC 3339, if you know it: the memory has no clock here",
            });
            json!({ "name": tool.name, "description": tool.description, "parameters": parameters })
        };
        Value::from(tools(DEFAULT_SETS).iter().map(described).collect::<Vec<Value>>()).to_string()
    }

    /// Runs a tool with a JSON object of arguments, and returns its answer as JSON.
    pub fn execute_tool(&mut self, name: &str, arguments: &str) -> String {
        match self.call(name, arguments) {
            Ok(answer) => json!({ "content": answer.text.as_str(), "is_error": answer.is_error }).to_string(),
            Err(reason) => json!({ "content": reason, "is_error": true }).to_string(),
        }
    }

    fn call(&mut self, name: &str, arguments: &str) -> Result<ToolAnswer, String> {
        self.guest()?;
        let mut input = serde_json::from_str::<Value>(arguments).map_err(|error| error.to_string())?;
        if let Some(text) = input.as_object_mut().and_then(|fields| fields.remove(NOW)) {
            let text = text.as_str().unwrap_or_default();
            let time = DateTime::parse_from_rfc3339(text)
                .map_err(|_| format!("`{NOW}` must be a date and time such as 2026-05-30T09:15:00+02:00"))?;
            self.now.set(Timestamp {
                seconds: time.timestamp(),
                nanoseconds: time.timestamp_subsec_nanos().min(999_999_999),
                utc_offset_seconds: time.offset().local_minus_utc(),
            });
        }
        let now = self.now.get();
        self.guest()?.call(now, "", name, &input.to_string()).map(|answered| answered.answer)
    }

    /// Returns the commands of a person as a JSON array.
    pub fn list_commands(&self) -> String {
        json!([
            { "name": "recall", "description": "Ask the memory a question" },
            { "name": "remember", "description": "Add a line to long-term memory" },
        ])
        .to_string()
    }

    /// Runs a command with the rest of its line, and returns what is to be shown as JSON.
    pub fn execute_command(&mut self, name: &str, rest: &str) -> String {
        let (tool, input) = match name {
            "recall" => ("mem_recall", json!({ "query": rest })),
            "remember" => ("mem_remember", json!({ "to": "long_term", "content": rest })),
            _ => return json!({ "error": "unknown command; one of recall, remember" }).to_string(),
        };
        match self.call(tool, &input.to_string()) {
            Ok(answer) if !answer.is_error => json!({ "print": answer.text.as_str() }).to_string(),
            Ok(answer) => json!({ "error": answer.text.as_str() }).to_string(),
            Err(reason) => json!({ "error": reason }).to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_value::InMemory;

    fn parsed(text: &str) -> Value {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn tools_answer_as_json_and_a_later_opening_goes_on() {
        let strings = InMemory::default();
        let mut extension = Extension::new(strings.clone(), "ada");
        let tools = parsed(&extension.list_tools());
        let names = tools.as_array().expect("a list").iter().map(|tool| tool["name"].as_str().expect("a name"));
        assert_eq!(names.clone().count(), 10);
        assert!(names.clone().any(|name| name == "mem_remember"));
        assert_eq!(tools[0]["parameters"]["properties"]["now"]["type"], "string");
        let stored = r#"{"key": "port", "content": "8080", "now": "2026-05-30T09:15:00+02:00"}"#;
        assert_eq!(parsed(&extension.execute_tool("mem_remember", stored))["is_error"], false);
        for (tool, arguments) in [
            ("other", "{}"),
            ("mem_remember", "{"),
            ("mem_remember", "[]"),
            ("mem_remember", r#"{"key": "a", "content": "b", "now": "today"}"#),
        ] {
            assert_eq!(parsed(&extension.execute_tool(tool, arguments))["is_error"], true, "{arguments}");
        }
        drop(extension);
        let mut again = Extension::new(strings, "ada");
        let found = parsed(&again.execute_tool("mem_recall", r#"{"query": "port"}"#));
        assert!(found["content"].as_str().expect("text").contains("8080"), "{found}");
        assert_eq!(again.now.get().seconds, 1_780_125_300, "time goes on from the last change");
    }

    #[test]
    fn a_person_remembers_and_recalls() {
        let mut extension = Extension::new(InMemory::default(), "ada");
        let commands = parsed(&extension.list_commands());
        let names =
            commands.as_array().expect("a list").iter().map(|command| command["name"].as_str().expect("a name"));
        for name in names {
            let done = parsed(&extension.execute_command(name, "Staging runs on port 8080"));
            assert!(done["print"].is_string(), "{name}: {done}");
        }
        assert!(parsed(&extension.execute_command("other", ""))["error"].is_string());
        assert!(parsed(&extension.execute_command("recall", ""))["error"].is_string());
    }
}
