//! The JSON that every subcommand prints, compared with the files in `cli/tests/golden/json/`.
//!
//! [`cases`] has the runs, [`store`] the memory that each of them begins with. A run that prints something else fails.
//! `SADDLEBAG_REWRITE=1` writes the files instead, so that the difference can be looked at and committed.

mod cases;
mod store;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::support::{Run, Store};
use cases::Case;

/// Writes the golden files instead of comparing them.
const REWRITE: &str = "SADDLEBAG_REWRITE";

#[test]
fn every_subcommand_prints_the_json_of_its_golden_files() {
    let rewrites = std::env::var_os(REWRITE).is_some_and(|value| !value.is_empty());
    let cases = cases::all();
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name).collect();
    assert_eq!(names.len(), cases.len(), "two cases have the same name");
    let mut differences = Vec::new();
    for case in &cases {
        let seen = seen(case);
        let path = folder().join(format!("{}.json", case.name));
        if rewrites {
            let text = format!("{}\n", serde_json::to_string_pretty(&seen).expect("JSON"));
            fs::write(&path, text).expect("the golden file is written");
            continue;
        }
        let expected = fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
        if expected.as_ref() != Some(&seen) {
            let expected = expected.unwrap_or(Value::String("no golden file, or not JSON".into()));
            differences.push(format!("{}.json: expected\n{expected:#}\nbut the program gave\n{seen:#}", case.name));
        }
    }
    let help = format!("look at each difference; {REWRITE}=1 rewrites the files if they are meant");
    assert!(differences.is_empty(), "{}\n\n{help}", differences.join("\n\n"));
}

#[test]
fn every_golden_file_belongs_to_a_case() {
    let cases = cases::all();
    for entry in fs::read_dir(folder()).expect("the folder of golden files") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_string();
        let is_left_out = cfg!(not(feature = "mcp")) && stem.starts_with("mcp");
        assert!(is_left_out || cases.iter().any(|case| case.name == stem), "{stem}.json has no case: remove it");
    }
}

#[test]
fn no_whole_number_is_larger_than_what_json_parsers_keep() {
    for case in cases::all() {
        let text = fs::read_to_string(folder().join(format!("{}.json", case.name))).expect("a golden file");
        let golden: Value = serde_json::from_str(&text).expect("JSON");
        assert!(is_exact(&golden), "{}.json has a whole number larger than {MOST_EXACT}", case.name);
    }
    assert!(!is_exact(&json!([{ "a": MOST_EXACT + 1 }])));
}

/// The largest whole number up to which a double has every one.
const MOST_EXACT: u64 = 1 << 53;

fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_u64().is_none_or(|number| number <= MOST_EXACT),
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(fields) => fields.values().all(is_exact),
        _ => true,
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/json")
}

/// Runs a case in a new store and returns what its golden file has.
fn seen(case: &Case) -> Value {
    let store = store::prepared();
    for arguments in case.before {
        let run = run(&store, case, arguments);
        assert_eq!(run.code, 0, "{}: {arguments:?} prepares the store: {run:?}", case.name);
    }
    let run = run(&store, case, &[&["--json"], case.arguments].concat());
    let mut fields = Map::new();
    fields.insert("command".into(), case.command().into());
    fields.insert("arguments".into(), case.arguments.into());
    fields.insert("exit".into(), run.code.into());
    for (name, text) in [("output", &run.stdout), ("error", &run.stderr)] {
        if !text.is_empty() {
            // Warnings for people, which some commands print beside an object, are text.
            let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()));
            fields.insert(name.into(), value);
        }
    }
    if case.traced {
        let trace = fs::read_to_string(store.here.join("trace")).expect("a trace");
        let lines: Vec<Value> = trace.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        fields.insert("trace".into(), lines.into());
    }
    let mut seen = Value::Object(fields);
    normalise(&mut seen, &store);
    seen
}

fn run(store: &Store, case: &Case, arguments: &[&str]) -> Run {
    let root = store.root.to_str().expect("text");
    let arguments: Vec<String> = arguments.iter().map(|argument| argument.replace(cases::STORE, root)).collect();
    let mut command = store.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let home = store.here.join("home");
    command.env("HOME", &home).env("USERPROFILE", &home).env("XDG_STATE_HOME", home.join("state"));
    for name in [
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "HERMES_HOME",
        "MEMORY_FILE_PATH",
        "ZS_CONFIG_DIR",
        "ZS_DATA_DIR",
        "ZK_NOTEBOOK_DIR",
    ] {
        command.env_remove(name);
    }
    crate::setup::without_clients(&mut command);
    if case.traced {
        command.arg("--trace").arg("trace");
    }
    crate::support::run(&mut command, Some(case.input.as_bytes()))
}

/// Replaces text that differs between runs: the folders of the store, the times and versions of files that were just
/// written, values that depend on them, and the help text that changes with every option.
fn normalise(value: &mut Value, store: &Store) {
    match value {
        Value::String(text) => {
            for (folder, name) in [(&store.root, cases::STORE), (&store.here, "<here>")] {
                *text = text.replace(folder.to_str().expect("text"), name);
            }
            *text = text.replace(cases::SECRET, "<secret>").replace(env!("CARGO_BIN_EXE_saddlebag"), "<saddlebag>");
        }
        Value::Array(items) => items.iter_mut().for_each(|item| normalise(item, store)),
        Value::Object(fields) => {
            // The version of an entry is the hash of its text; in a trace versions are those of files.
            let has = |names: &[&str]| names.iter().all(|name| fields.contains_key(*name));
            let is_traced = [&["kind"][..], &["max-bytes"], &["recursive"], &["bytes", "size"], &["entries", "next"]]
                .into_iter()
                .any(has);
            let is_of_uninstall = has(&["kind", "path", "files", "bytes"]);
            let is_failure_of_a_hook = has(&["time", "code"]);
            let is_confirmation = fields.len() == 2 && fields.contains_key("reason");
            if is_of_uninstall {
                // The record of setup has paths of this machine, so its size differs.
                fields["bytes"] = json!(0);
            }
            for (name, field) in fields.iter_mut() {
                normalise(field, store);
                let placeholder = match (name.as_str(), &*field) {
                    ("modified" | "created", Value::String(time)) if !store::has_time(time) => "<time>",
                    ("time", Value::String(_)) if is_failure_of_a_hook => "<time>",
                    ("version" | "unless", Value::String(_)) if is_traced => "<version>",
                    ("matches" | "written" | "stale", Value::String(_)) => "<version>",
                    ("program", Value::String(program)) if program.starts_with("saddlebag ") => "<program>",
                    // The digest also depends on the path of the file.
                    ("digest", Value::String(_)) if is_confirmation => "<digest>",
                    // The files that are read again depend on how long ago they were written.
                    ("operations", Value::Array(_)) => "<operations>",
                    ("script", Value::String(_)) => "<script>",
                    ("roff", Value::String(_)) => "<roff>",
                    _ => continue,
                };
                *field = if field.is_array() { json!([placeholder]) } else { json!(placeholder) };
            }
        }
        _ => {}
    }
}
