//! `replay-trace COMPONENT TRACE`: replays a recorded trace against a component of either world, and compares every answer.
//!
//! `saddlebag-conformance --replay` runs the memory natively.

#![allow(clippy::print_stderr, reason = "it reports what it compared")]

use std::fs;
use std::process::ExitCode;

use saddlebag_host::{CodeCache, Compile, ComponentRuntime, PACKAGE, Replayed, replay};
use serde_json::Value;
use wasmtime::component::{Component, ComponentExportIndex, Instance, Linker, Val};
use wasmtime::{Engine, Store};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [component, trace] = arguments.as_slice() else {
        eprintln!("usage: replay-trace COMPONENT TRACE");
        return ExitCode::from(2);
    };
    match run(component, trace) {
        Ok(agreed) => {
            eprintln!("{component}: {agreed}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {component}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(component: &str, trace: &str) -> Result<String, String> {
    let bytes = fs::read(component).map_err(|error| format!("it cannot be read: {error}"))?;
    let text = fs::read_to_string(trace).map_err(|error| format!("{trace} cannot be read: {error}"))?;
    let engine = Engine::default();
    let component = Component::new(&engine, &bytes).map_err(|error| format!("{error:#}"))?;
    let (package, version) = PACKAGE.split_once('@').ok_or("the package has no version")?;
    let interface = format!("{package}/json@{version}");
    let (memories, calls) = match component.get_export_index(None, &interface) {
        Some(_) => replay_text(&engine, &component, &interface, &text)?,
        None => replay_typed(bytes, &text)?,
    };
    match calls {
        0 => Err("the trace has no calls, so nothing was compared".to_string()),
        _ => Ok(format!("{calls} calls in {memories} memories agree")),
    }
}

fn replay_typed(component: Vec<u8>, trace: &str) -> Result<(u64, u64), String> {
    let mut compile = Compile::new(component);
    compile.cache = CodeCache::Off;
    let runtime = ComponentRuntime::new(compile.into()).map_err(|error| error.to_string())?;
    match replay(trace.as_bytes(), |config| runtime.open(config)).map_err(|error| error.to_string())? {
        Replayed { difference: Some(difference), .. } => Err(format!("{difference:?}")),
        Replayed { memories, calls, .. } => Ok((memories, calls)),
    }
}

/// Makes the calls as they are recorded, and compares the bytes of the answers.
fn replay_text(engine: &Engine, component: &Component, interface: &str, trace: &str) -> Result<(u64, u64), String> {
    let (mut memories, mut calls) = (0, 0);
    let mut instance = None;
    for line in trace.lines() {
        let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if value.get("saddlebag-trace").is_some() {
            let mut opened = Opened::new(engine, component, interface)?;
            let answer = opened.call("open", &value["config"].to_string())?;
            if answer != r#"{"ok":null}"# {
                return Err(format!("`open` returned {answer}"));
            }
            instance = Some(opened);
            memories += 1;
            continue;
        }
        let opened = instance.as_mut().ok_or("the trace does not begin with a header")?;
        let (name, arguments, returned) = parts(line).ok_or_else(|| format!("this line is not a call: {line}"))?;
        let answer = opened.call(name, arguments)?;
        // A result that cannot fail has no `ok` in a trace.
        if answer != returned && answer != format!("{{\"ok\":{returned}}}") {
            return Err(format!("{line}\nreturned {answer}"));
        }
        calls += 1;
    }
    Ok((memories, calls))
}

/// Returns the name, the arguments and the result of a recorded call.
fn parts(line: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = line.strip_prefix("{\"")?.split_once("\":")?;
    let (arguments, returned) = rest.strip_suffix('}')?.split_once(",\"returned\":")?;
    Some((name, arguments, returned))
}

/// An instance of the component whose calls are text.
struct Opened {
    store: Store<()>,
    instance: Instance,
    interface: ComponentExportIndex,
}

impl Opened {
    fn new(engine: &Engine, component: &Component, interface: &str) -> Result<Self, String> {
        let mut store = Store::new(engine, ());
        let instance = Linker::new(engine).instantiate(&mut store, component).map_err(|error| format!("{error:#}"))?;
        let interface = component.get_export_index(None, interface).ok_or("it lacks the interface `json`")?;
        Ok(Self { store, instance, interface })
    }

    fn call(&mut self, name: &str, argument: &str) -> Result<String, String> {
        let function = self
            .instance
            .get_export_index(&mut self.store, Some(&self.interface), name)
            .and_then(|function| self.instance.get_func(&mut self.store, function))
            .ok_or_else(|| format!("it lacks json.{name}"))?;
        let mut results = [Val::Bool(false)];
        let given = [Val::String(argument.to_string())];
        function.call(&mut self.store, &given, &mut results).map_err(|error| format!("{error:#}"))?;
        match results {
            [Val::String(answer)] => Ok(answer),
            [other] => Err(format!("json.{name} returned {other:?}")),
        }
    }
}
