//! The answers of `saddlebag hook`, compared with a schema of each client in `cli/tests/hooks/schemas/`.
//!
//! The schemas are stricter than the clients: an answer has exactly the field that the client reads.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

fn tests_of_program() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cli/tests")
}

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the name of each client, the schema of its answers, and the recorded answers.
fn clients() -> Vec<(String, jsonschema::Validator, Vec<Value>)> {
    let entries = fs::read_dir(tests_of_program().join("hooks/schemas")).expect("the schemas");
    let client = |path: PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let schema = jsonschema::draft202012::new(&json(&path)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let golden = json(&tests_of_program().join(format!("golden/hooks/{name}.json")));
        let steps = golden.as_array().expect("a list").iter().map(|step| step["answer"].clone());
        (name, schema, steps.filter(|answer| !answer.is_null()).collect())
    };
    entries.map(|entry| client(entry.expect("an entry").path())).collect()
}

#[test]
fn every_answer_to_a_hook_is_of_the_schema_of_its_client() {
    let clients = clients();
    assert_eq!(clients.len(), 8);
    for (name, schema, answers) in clients {
        assert!(!answers.is_empty(), "{name} has no answer at all");
        for answer in answers {
            let problems: Vec<String> = schema.iter_errors(&answer).map(|error| error.to_string()).collect();
            assert!(problems.is_empty(), "{name}: {answer}: {}", problems.join("; "));
        }
    }
}

#[test]
fn the_schema_of_a_client_refuses_a_field_more() {
    for (name, schema, answers) in clients() {
        let mut answer = answers[0].clone();
        answer["continue"] = true.into();
        assert!(!schema.is_valid(&answer), "{name}: {answer}");
    }
}

#[test]
fn the_schema_of_a_client_refuses_more_text_than_it_takes() {
    for (name, schema, answers) in clients() {
        let text = answers[0].to_string();
        let long = text.replacen("Reports are in euros.", &"x".repeat(40_000), 1);
        let long: Value = serde_json::from_str(&long).expect("JSON");
        assert_ne!(long, answers[0], "{name}");
        assert!(!schema.is_valid(&long), "{name}");
    }
}
