//! Each shell answers a call, and a later call in a fresh instance finds what the first one wrote.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread;

use saddlebag_shells_tests::{Shell, State};
use serde_json::{Value, json};
use wasmtime::component::{TypedFunc, Val};
use wasmtime::{Store, StoreContextMut};
use wasmtime_wasi::{FsPerms, WasiCtx};

const STORED: &str = r#"{"key": "port", "content": "8080"}"#;
const QUESTION: &str = r#"{"query": "port"}"#;

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_tool_runs_from_the_command_line() {
    let (shell, folder) = (Shell::new("cli"), tempfile::tempdir().unwrap());
    let run = |arguments: &[&str]| shell.run(folder.path(), &[("SADDLEBAG_UTC_OFFSET", "+02:00")], arguments, "");
    let tools = run(&["tools"]);
    assert_eq!((tools.code, tools.output.lines().count()), (0, 10), "{tools:?}");
    assert_eq!(run(&["mem_remember", STORED]).code, 0);
    let found = run(&["mem_recall", QUESTION]);
    assert!(found.code == 0 && found.output.contains("8080"), "{found:?}");
    assert_eq!(run(&["mem_recall", "{}"]).code, 1);
    let usage = run(&[]);
    assert!(usage.code == 1 && usage.errors.contains("usage"), "{usage:?}");
    let entry = fs::read_to_string(folder.path().join("agents/main/entries/core/port.md")).unwrap();
    assert!(entry.contains("8080"), "{entry}");
    assert!(folder.path().join(".saddlebag/locks-3/leases").is_dir());
}

#[test]
fn a_client_of_mcp_is_served_over_standard_input() {
    let (shell, folder) = (Shell::new("mcp"), tempfile::tempdir().unwrap());
    let call = |id: u32, tool: &str, arguments: &str| {
        let params = json!({ "name": tool, "arguments": parsed(arguments) });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
    };
    let lines = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-06-18" } })
            .to_string(),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(),
        call(2, "mem_remember", STORED),
        call(3, "mem_recall", QUESTION),
    ];
    let ran = shell.run(folder.path(), &[], &[], &lines.join("\n"));
    assert_eq!(ran.code, 0, "{ran:?}");
    let answers: Vec<Value> = ran.output.lines().map(parsed).collect();
    assert_eq!(answers.iter().map(|answer| answer["id"].clone()).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(answers[2]["result"]["content"][0]["text"].as_str().unwrap().contains("8080"), "{answers:?}");
}

#[test]
fn a_tool_runs_over_http_in_a_fresh_instance_each() {
    let (shell, folder) = (Shell::new("http"), tempfile::tempdir().unwrap());
    let ask = |method: &str, path: &str, content_type: &str, body: &str| {
        let (status, text) = shell.request(folder.path(), method, path, content_type, body);
        (status, parsed(&text))
    };
    assert_eq!(ask("POST", "/tools/mem_remember", "application/json", STORED).0, 200);
    let (status, found) = ask("POST", "/tools/mem_recall", "application/json", QUESTION);
    assert!(status == 200 && found["content"][0]["text"].as_str().unwrap().contains("8080"), "{found}");
    assert_eq!(ask("GET", "/tools?x", "text/plain", "").1["tools"].as_array().map(Vec::len), Some(10));
    assert_eq!(ask("POST", "/tools/mem_remember", "text/plain", STORED).0, 415);
}

#[test]
fn an_extension_imports_its_store_of_strings_alone() {
    let shell = Shell::new("nanopi");
    let ty = shell.component().component_type();
    let imports: Vec<String> = ty.imports(shell.component().engine()).map(|(name, _)| name.to_owned()).collect();
    assert_eq!(imports, ["host-store-get", "host-store-set"]);
    let mut linker = shell.linker();
    let get = |store: StoreContextMut<'_, State>, (key,): (String,)| {
        Ok((store.data().strings.get(&key).cloned().unwrap_or_default(),))
    };
    let set = |mut store: StoreContextMut<'_, State>, (key, value): (String, String)| {
        let strings = &mut store.data_mut().strings;
        let size: usize =
            strings.iter().filter(|(other, _)| **other != key).map(|(key, value)| key.len() + value.len()).sum();
        if size + key.len() + value.len() > 1 << 20 {
            return Ok(("error: store quota exceeded (1 MiB)".to_owned(),));
        }
        assert!(key.len() <= 128 && (strings.contains_key(&key) || strings.len() < 1000), "{key}");
        strings.insert(key, value);
        Ok((String::new(),))
    };
    linker.root().func_wrap("host-store-get", get).unwrap();
    linker.root().func_wrap("host-store-set", set).unwrap();
    let mut strings = BTreeMap::new();
    // Calls a function in a fresh instance, with the strings of the earlier ones.
    let mut call = |function: &str, arguments: &[&str]| {
        let mut state = State::new(WasiCtx::builder().build());
        state.strings = std::mem::take(&mut strings);
        let mut store = shell.store(state);
        let instance = linker.instantiate(&mut store, shell.component()).unwrap();
        let function = instance.get_func(&mut store, function).unwrap();
        let arguments: Vec<_> = arguments.iter().map(|text| Val::String((*text).into())).collect();
        let mut results = [Val::Bool(false)];
        function.call(&mut store, &arguments, &mut results).unwrap();
        strings = std::mem::take(&mut store.data_mut().strings);
        let [Val::String(text)] = results else { panic!("{results:?}") };
        parsed(&text)
    };
    assert_eq!(call("list-tools", &[]).as_array().map(Vec::len), Some(10));
    assert_eq!(call("execute-tool", &["mem_remember", STORED])["is_error"], false);
    let found = call("execute-tool", &["mem_recall", QUESTION]);
    assert!(found["content"].as_str().unwrap().contains("8080"), "{found}");
    assert_eq!(call("list-commands", &[]).as_array().map(Vec::len), Some(2));
    assert!(call("execute-command", &["recall", "which port?"])["print"].as_str().unwrap().contains("8080"));
    assert_eq!(call("list-events", &[]), json!([]));
    assert_eq!(call("handle-event", &["turn_start", "{}"]), json!({}));
    // A full store refuses, and keeps what it has.
    let long = |number: i32| {
        let content = "words of a note\n".repeat(1_900);
        json!({ "title": format!("Long {number}"), "content": content }).to_string()
    };
    let outcomes: Vec<Value> = (0..40).map(|number| call("execute-tool", &["mem_remember", &long(number)])).collect();
    assert!(outcomes.iter().take(20).all(|outcome| outcome["is_error"] == false), "{outcomes:?}");
    let last = outcomes.last().unwrap();
    assert!(last["is_error"] == true && last["content"].as_str().unwrap().contains("no space"), "{last}");
    assert!(call("execute-tool", &["mem_recall", QUESTION])["content"].as_str().unwrap().contains("8080"));
}

#[test]
fn each_tool_is_a_function_with_docs() {
    let (shell, folder) = (Shell::new("tools"), tempfile::tempdir().unwrap());
    let mut linker = shell.linker();
    wasmtime_wasi::p2::add_to_linker_sync(&mut linker).unwrap();
    // Calls a function in a fresh instance.
    let call = |name: &str, arguments: &[Val]| {
        let wasi = WasiCtx::builder().preopened_dir(folder.path(), "/memory", FsPerms::ReadWrite).unwrap().build();
        let mut store = shell.store(State::new(wasi));
        let instance = linker.instantiate(&mut store, shell.component()).unwrap();
        let mut results = [Val::Bool(false)];
        instance.get_func(&mut store, name).unwrap().call(&mut store, arguments, &mut results).unwrap();
        match results {
            [Val::Result(Ok(Some(text)))] => Ok(*text),
            [Val::Result(Err(Some(text)))] => Err(*text),
            other => panic!("{other:?}"),
        }
    };
    let (text, none) = (|text: &str| Val::String(text.into()), || Val::Option(None));
    let key = Val::Option(Some(Box::new(text("port"))));
    let rest = (0..7).map(|_| none());
    let stored: Vec<Val> = [text("8080"), none(), key].into_iter().chain(rest).collect();
    call("mem-remember", &stored).unwrap();
    let recall = |query: &str| call("mem-recall", &[text(query), none(), none(), none(), none(), none()]);
    let Ok(Val::String(found)) = recall("port") else { panic!("not found") };
    assert!(found.contains("8080"), "{found}");
    assert!(recall("").is_err());

    let bytes = fs::read(saddlebag_shells_tests::file("tools")).unwrap();
    let sections = wasmparser::Parser::new(0).parse_all(&bytes).filter_map(|payload| match payload {
        Ok(wasmparser::Payload::CustomSection(section)) => Some((section.name().to_owned(), section.data().to_vec())),
        _ => None,
    });
    let docs = sections.filter(|(name, _)| name == "package-docs").last().unwrap().1;
    assert_eq!(docs[0], 1, "the number of the format");
    let docs = parsed(std::str::from_utf8(&docs[1..]).unwrap());
    let functions = docs["worlds"]["saddlebag-tools"]["func_exports"].as_object().unwrap();
    let ty = shell.component().component_type();
    let exports: Vec<&str> = ty.exports(shell.component().engine()).map(|(name, _)| name).collect();
    assert_eq!(functions.len(), 10);
    assert!(
        functions.iter().all(|(name, docs)| exports.contains(&name.as_str()) && docs["docs"].is_string()),
        "{exports:?}"
    );
}

#[test]
fn the_disk_performs_the_operations_of_another_component() {
    let folder = tempfile::tempdir().unwrap();
    let mut disk = Disk::load(folder.path());
    let read = r#"{"key":"k","command":"1","op":{"read":{"path":"a.md","offset":"0","max-bytes":9}}}"#;
    assert!(disk.perform(read).is_err());
    disk.open();
    assert!(disk.perform("{}").is_err());
    fs::write(folder.path().join("a.md"), "text").unwrap();
    let reply = parsed(&disk.perform(read).unwrap());
    assert_eq!((&reply["key"], &reply["outcome"]["ok"]["read"]["content"]["bytes"]), (&json!("k"), &json!("dGV4dA==")));
}

/// A runtime lists the names, and then looks at each file: one that is gone by then is not an error.
#[test]
fn a_folder_is_listed_while_its_files_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let mut disk = Disk::load(folder.path());
    disk.open();
    fs::write(folder.path().join("z.md"), "text").unwrap();
    let list = r#"{"key":"k","command":"1","op":{"list-directory":{"folder":null,"limit":99}}}"#;
    let replies: Vec<Value> = thread::scope(|scope| {
        let changes = scope.spawn(|| {
            for number in 0..5000 {
                fs::write(folder.path().join(format!("{number}.md")), "text").unwrap();
                if number >= 20 {
                    fs::remove_file(folder.path().join(format!("{}.md", number - 20))).unwrap();
                }
            }
        });
        std::iter::from_fn(|| (!changes.is_finished()).then(|| parsed(&disk.perform(list).unwrap()))).collect()
    });
    for reply in replies {
        let entries = reply["outcome"]["ok"]["list-directory"]["page"]["entries"].as_array();
        assert!(entries.is_some_and(|entries| entries.iter().any(|entry| entry["path"] == "z.md")), "{reply}");
    }
}

/// The shell that performs operations, with a folder.
struct Disk {
    store: Store<State>,
    open: TypedFunc<(&'static str, bool), (Result<(), String>,)>,
    perform: TypedFunc<(&'static str,), (Result<String, String>,)>,
}

impl Disk {
    fn load(folder: &Path) -> Self {
        let shell = Shell::new("disk");
        let mut linker = shell.linker();
        wasmtime_wasi::p2::add_to_linker_sync(&mut linker).unwrap();
        let wasi = WasiCtx::builder().preopened_dir(folder, "/memory", FsPerms::ReadWrite).unwrap().build();
        let mut store = shell.store(State::new(wasi));
        let instance = linker.instantiate(&mut store, shell.component()).unwrap();
        let interface = instance.get_export_index(&mut store, None, "saddlebag:disk/disk@0.3.0-dev").unwrap();
        let mut function = |name: &str| {
            let index = instance.get_export_index(&mut store, Some(&interface), name).unwrap();
            instance.get_func(&mut store, index).unwrap()
        };
        let (open, perform) = (function("open"), function("perform"));
        let (open, perform) = (open.typed(&store).unwrap(), perform.typed(&store).unwrap());
        Self { store, open, perform }
    }

    fn open(&mut self) {
        self.open.call(&mut self.store, ("/memory", false)).unwrap().0.unwrap();
    }

    fn perform(&mut self, request: &'static str) -> Result<String, String> {
        self.perform.call(&mut self.store, (request,)).unwrap().0
    }
}
