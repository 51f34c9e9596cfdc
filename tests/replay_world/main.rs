//! `replay-world COMPONENT TRACE`: replays a recorded trace against a component of any world, and compares every answer.
//!
//! `saddlebag conform --replay` runs components of the largest world only. This program knows no world: it finds functions and
//! types in the component. Memories of the trace that use an interface which the component lacks are left out.

#![allow(clippy::print_stderr, reason = "it reports what it compared")]

mod values;

use std::collections::BTreeMap;
use std::fs;
use std::process::ExitCode;

use serde_json::Value;
use wasmtime::component::{Component, Instance, Linker, ResourceAny, Type, Val};
use wasmtime::{Config, Engine, Store};

const PACKAGE: &str = "saddlebag:memory";

/// Interfaces that arguments of other interfaces name.
const FAMILIES: [&str; 3] = ["journal", "notebook", "entries"];

/// Number of calls and requests that agree, and of memories that were left out.
#[derive(Default)]
struct Agreed {
    memories: usize,
    left_out: usize,
    calls: usize,
    requests: usize,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [component, trace] = arguments.as_slice() else {
        eprintln!("usage: replay-world COMPONENT TRACE");
        return ExitCode::from(2);
    };
    match replay(component, trace) {
        Ok(Agreed { memories, left_out, calls, requests }) => {
            eprintln!(
                "{component}: {calls} calls with {requests} requests in {memories} memories agree; {left_out} memories \
                 use interfaces that it lacks"
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {component}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn replay(component: &str, trace: &str) -> Result<Agreed, String> {
    let text = fs::read_to_string(trace).map_err(|error| format!("cannot read {trace}: {error}"))?;
    let lines: Vec<(&str, Value)> = text
        .lines()
        .map(|line| Ok((line, serde_json::from_str(line).map_err(|error| format!("{trace}: {error}"))?)))
        .collect::<Result<_, String>>()?;
    let is_header = |(_, line): &(&str, Value)| line.get("saddlebag-trace").is_some();
    let engine = Engine::new(&Config::new()).map_err(|error| error.to_string())?;
    let component = Component::from_file(&engine, component).map_err(|error| format!("{error:#}"))?;
    let mut agreed = Agreed::default();
    let mut rest = lines.as_slice();
    while let Some(((_, header), after)) = rest.split_first() {
        let end = after.iter().position(is_header).unwrap_or(after.len());
        let (calls, next) = after.split_at(end);
        rest = next;
        let version = header["package"].as_str().and_then(|package| package.split_once('@'));
        let (_, version) = version.ok_or_else(|| format!("{trace} does not begin with a header"))?;
        let mut memory = Memory::open(&engine, &component, version, &header["config"])?;
        if !calls.iter().all(|(_, call)| memory.has(call)) {
            agreed.left_out += 1;
            continue;
        }
        for (line, call) in calls {
            let repeated = if memory.is_json { memory.repeat_text(line) } else { memory.repeat(call) };
            repeated.map_err(|error| format!("{call}\n{error}"))?;
            agreed.calls += 1;
            agreed.requests += call["returned"]["ok"]["requests"].as_array().map_or(0, Vec::len);
        }
        agreed.memories += 1;
    }
    if agreed.calls == 0 {
        return Err("no memory of the trace could be replayed, so nothing was compared".to_string());
    }
    Ok(agreed)
}

/// An instance of the component with an open memory.
struct Memory {
    store: Store<()>,
    instance: Instance,
    version: String,
    memory: Option<ResourceAny>,
    /// Interface of each command.
    interfaces: BTreeMap<String, String>,
    /// True if calls and results are JSON text.
    is_json: bool,
}

impl Memory {
    fn open(engine: &Engine, component: &Component, version: &str, config: &Value) -> Result<Self, String> {
        let mut store = Store::new(engine, ());
        let instance = Linker::new(engine).instantiate(&mut store, component).map_err(|error| format!("{error:#}"))?;
        let (version, interfaces) = (version.to_string(), BTreeMap::new());
        let mut opened = Self { store, instance, version, memory: None, interfaces, is_json: false };
        if opened.function("json", "open").is_some() {
            opened.is_json = true;
            let answer = opened.invoke_text("open", &config.to_string())?;
            return if answer == r#"{"ok":null}"# { Ok(opened) } else { Err(answer) };
        }
        let given = serde_json::json!({ "config": config });
        match opened.invoke("engine", "[static]memory.open", &given)?.0 {
            Val::Result(Ok(Some(memory))) => match *memory {
                Val::Resource(memory) => opened.memory = Some(memory),
                other => return Err(format!("`open` returned {other:?}")),
            },
            other => return Err(format!("the memory cannot be opened: {other:?}")),
        }
        Ok(opened)
    }

    /// Returns true if the component has the function of a call, and the families that its arguments name.
    fn has(&mut self, call: &Value) -> bool {
        if self.is_json {
            return true;
        }
        let (interface, name, given) = self.target(call);
        let prepared = call.get("submit").and_then(|submitted| submitted["interface"].as_str());
        let command = &given["command"];
        let sets = given["options"]["sets"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut families: Vec<&str> = sets.filter(|set| FAMILIES.contains(set)).collect();
        if !command["context"]["entries"].is_null() {
            families.push("entries");
        }
        families.extend(prepared);
        self.function(&interface, name).is_some()
            && families.iter().all(|family| self.function(family, "prepare").is_some())
    }

    /// Makes a call as JSON text, and compares the bytes of the answer.
    fn repeat_text(&mut self, line: &str) -> Result<(), String> {
        let parts = || {
            let (name, rest) = line.strip_prefix("{\"")?.split_once("\":")?;
            let (arguments, returned) = rest.strip_suffix('}')?.split_once(",\"returned\":")?;
            Some((name, arguments, returned))
        };
        let (name, arguments, returned) = parts().ok_or("the line is not a call")?;
        let answer = self.invoke_text(name, arguments)?;
        // A result that cannot fail has no `ok` in a trace.
        if answer == returned || answer == format!("{{\"ok\":{returned}}}") {
            Ok(())
        } else {
            Err(format!("returned {answer}"))
        }
    }

    fn invoke_text(&mut self, name: &str, argument: &str) -> Result<String, String> {
        let function = self.function("json", name).ok_or_else(|| format!("it lacks json.{name}"))?;
        let mut results = [Val::Bool(false)];
        let given = [Val::String(argument.to_string())];
        function.call(&mut self.store, &given, &mut results).map_err(|error| format!("{error:#}"))?;
        match results {
            [Val::String(answer)] => Ok(answer),
            [other] => Err(format!("json.{name} returned {other:?}")),
        }
    }

    /// Makes a call. The error names the result if it is not the recorded one.
    fn repeat(&mut self, call: &Value) -> Result<(), String> {
        let (interface, name, given) = self.target(call);
        if let (Some(id), Some(prepared)) = (given["id"].as_str(), given["interface"].as_str()) {
            self.interfaces.insert(id.to_string(), prepared.to_string());
        }
        let (returned, wanted) = self.invoke(&interface, name, given)?;
        // As JSON, an empty list of bytes and an empty list would differ.
        if returned == values::read(&call["returned"], &wanted)? {
            Ok(())
        } else {
            Err(format!("returned {}", values::write(&returned)?))
        }
    }

    fn function(&mut self, interface: &str, name: &str) -> Option<wasmtime::component::Func> {
        let interface = format!("{PACKAGE}/{interface}@{}", self.version);
        let interface = self.instance.get_export_index(&mut self.store, None, &interface)?;
        let function = self.instance.get_export_index(&mut self.store, Some(&interface), name)?;
        self.instance.get_func(&mut self.store, function)
    }

    /// Calls a function, and returns its result with the type. Its parameters are the fields of `given`, and the memory.
    fn invoke(&mut self, interface: &str, name: &str, given: &Value) -> Result<(Val, Type), String> {
        let function = self.function(interface, name).ok_or_else(|| format!("it lacks {interface}.{name}"))?;
        let wanted = function.ty(&self.store);
        let parameters = wanted.params().map(|(name, wanted)| match (&wanted, self.memory) {
            (Type::Borrow(_), Some(memory)) => Ok(Val::Resource(memory)),
            // The only value that a call hands over is the command of `submit`.
            (Type::Own(_), _) => {
                let family = given["interface"].as_str().unwrap_or_default();
                Ok(self.invoke(family, "prepare", given)?.0)
            }
            _ => values::read(&given[name], &wanted),
        });
        let parameters: Vec<Val> = parameters.collect::<Result<_, String>>()?;
        let mut results = [Val::Bool(false)];
        function.call(&mut self.store, &parameters, &mut results).map_err(|error| format!("{error:#}"))?;
        let [result] = results;
        let of_result = wanted.results().next().ok_or_else(|| format!("{interface}.{name} returns nothing"))?;
        Ok((result, of_result))
    }

    /// Returns the interface, the function and the arguments of a call.
    fn target<'a>(&self, call: &'a Value) -> (String, &'a str, &'a Value) {
        if let Some(given) = call.get("take") {
            let id = given["id"].as_str().unwrap_or_default();
            // For an unknown command, every interface returns the same.
            return (self.interfaces.get(id).map_or("prompt", String::as_str).to_string(), "take", given);
        }
        if let Some(given) = call.get("call") {
            return ("tools".to_string(), "call", given);
        }
        for (name, method) in [
            ("submit", "[method]memory.submit"),
            ("handle-memory-result", "[method]memory.handle-memory-result"),
            ("cancel", "[method]memory.cancel"),
        ] {
            if let Some(given) = call.get(name) {
                return ("engine".to_string(), method, given);
            }
        }
        ("engine".to_string(), "", &Value::Null)
    }
}
