//! The JSON and the text that every subcommand prints, compared with the files in `cli/tests/golden/`.
//!
//! [`cases`] has the runs, [`store`] the memory that each of them begins with. A run that prints something else fails.
//! `SADDLEBAG_REWRITE=json,text` writes the files instead, so that the difference can be looked at and committed.

mod cases;
mod store;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use saddlebag_tests_shared::generated::Kind;
use serde_json::{Map, Value, json};

use crate::support::{Run, Store};
use cases::Case;

#[test]
fn every_subcommand_prints_the_json_of_its_golden_files() {
    every_case_is_as_kept(Kind::Json, |case| {
        format!("{}\n", serde_json::to_string_pretty(&json_of(case)).expect("JSON"))
    });
}

#[test]
fn every_subcommand_prints_the_text_of_its_golden_files() {
    every_case_is_as_kept(Kind::Text, text_of);
}

fn every_case_is_as_kept(kind: Kind, seen: impl Fn(&Case) -> String) {
    let cases = cases::all();
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name).collect();
    assert_eq!(names.len(), cases.len(), "two cases have the same name");
    let checked = cases.iter().map(|case| kind.check(&file(kind, case.name), &seen(case)));
    let differences: Vec<String> = checked.filter_map(Result::err).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

#[test]
fn every_golden_file_belongs_to_a_case() {
    let cases = cases::all();
    for kind in [Kind::Json, Kind::Text] {
        let folder = file(kind, "");
        for entry in fs::read_dir(folder.parent().expect("a folder")).expect("the folder of golden files") {
            let path = entry.expect("an entry").path();
            let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_string();
            let is_left_out = cfg!(not(feature = "server")) && ["mcp", "ui"].iter().any(|name| stem.starts_with(name));
            let has_case = cases.iter().any(|case| case.name == stem);
            assert!(is_left_out || has_case, "{} has no case: remove it", path.display());
        }
    }
}

#[test]
fn no_whole_number_is_larger_than_what_json_parsers_keep() {
    for case in cases::all() {
        let text = fs::read_to_string(file(Kind::Json, case.name)).expect("a golden file");
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

fn file(kind: Kind, name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    folder.join(if kind == Kind::Json { format!("json/{name}.json") } else { format!("text/{name}.txt") })
}

/// Runs a case in a new store, with these options before its arguments.
fn ran(case: &Case, options: &[&str]) -> (Store, Run) {
    let store = store::prepared();
    for arguments in case.before {
        let run = run(&store, case, arguments);
        assert_eq!(run.code, 0, "{}: {arguments:?} prepares the store: {run:?}", case.name);
    }
    let run = run(&store, case, &[options, case.arguments].concat());
    (store, run)
}

/// Returns what the golden file of a case has of its JSON.
fn json_of(case: &Case) -> Value {
    let (store, run) = ran(case, &["--json"]);
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

/// Returns what the golden file of a case has of its text: the arguments, and what a person reads.
fn text_of(case: &Case) -> String {
    let (store, run) = ran(case, &[]);
    let quoted = case.arguments.iter().map(|argument| format!(" {argument:?}"));
    let mut text = format!("$ saddlebag{}\n", quoted.collect::<String>());
    for (name, printed) in [("", &run.stdout), ("--- standard error\n", &run.stderr)] {
        if !printed.is_empty() {
            let end = if printed.ends_with('\n') { "" } else { "<no line end>\n" };
            let printed = if GENERATED.contains(&case.name) { "<generated>\n" } else { printed };
            text.push_str(&format!("{name}{printed}{end}"));
        }
    }
    text.push_str(&format!("--- exit code {}\n", run.code));
    with_placeholders(&text, &store).split_inclusive('\n').filter_map(without_chance).collect()
}

/// Returns a printed line without what differs between runs; `None` for an operation that another run may not need, because
/// it depends on how long ago a file was written.
fn without_chance(line: &str) -> Option<String> {
    if ["  list-directory ", "  read "].iter().any(|start| line.starts_with(start)) {
        return None;
    }
    // The record of setup has paths of this machine, so its size differs.
    if let Some((before, size)) = line.rsplit_once(" (")
        && size.contains(" file")
    {
        let after = size.split_once(')').map_or("", |(_, after)| after);
        return Some(format!("{before} (<size>){after}"));
    }
    let is_digest = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_chance_time = |word: &str| word.len() == 20 && word.ends_with('Z') && !store::has_time(word);
    let words = line.split_inclusive(' ').map(|word| match word.trim_end() {
        digest if line.contains("digest: ") && is_digest(digest) => word.replace(digest, "<digest>"),
        time if is_chance_time(time) => word.replace(time, "<time>"),
        _ => word.to_string(),
    });
    Some(words.collect())
}

/// Cases whose text changes with every option.
const GENERATED: [&str; 2] = ["completions", "completions-man"];

fn run(store: &Store, case: &Case, arguments: &[&str]) -> Run {
    let root = store.root.to_str().expect("text");
    let filled = |argument: &&str| argument.replace(cases::STORE, root);
    let arguments: Vec<String> = arguments.iter().map(filled).collect();
    // One run of each command goes through the engine that a person has.
    let engine = ["--engine", if cfg!(feature = "component") { "component" } else { "native" }];
    let mut command = store.command_of(&engine, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let home = store.here.join("home");
    command.env("HOME", &home).env("USERPROFILE", &home).env("XDG_STATE_HOME", home.join("state"));
    command.env("SADDLEBAG_MACHINE", "laptop");
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
            *text = with_placeholders(text, store);
        }
        // Another machine may round the last digits of a score otherwise.
        Value::Number(number) if number.is_f64() => {
            let rounded = number.as_f64().map(|number| (number * 1_000.0).round() / 1_000.0);
            *value = json!(rounded);
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
                    // It depends on the paths.
                    ("digest", Value::String(_)) => "<digest>",
                    // The files that are read again depend on how long ago they were written.
                    ("operations", Value::Array(of)) if is_of_requests(of) => "<operations>",
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

/// Returns true for the requests of a trace; those of the history have a command or an undo.
fn is_of_requests(operations: &[Value]) -> bool {
    let has = |name: &str| operations.iter().any(|one| one.get(name).is_some());
    !operations.is_empty() && !has("command") && !has("undo")
}

/// Returns the name of the project's folder.
fn slug(store: &Store) -> &str {
    store.memory.trim_start_matches("projects/").trim_end_matches('/')
}

/// Replaces the folders and the program in what is printed.
fn with_placeholders(text: &str, store: &Store) -> String {
    let mut text = text.to_string();
    for (folder, name) in [(&store.root, cases::STORE), (&store.here, "<here>")] {
        text = text.replace(folder.to_str().expect("text"), name);
    }
    text = text.replace(slug(store), "<project>");
    text.replace(cases::SECRET, "<secret>").replace(env!("CARGO_BIN_EXE_saddlebag"), "<saddlebag>")
}
