//! The output of the program with `--json`, compared with the schemas in `docs/schemas/`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn validator(command: &str) -> jsonschema::Validator {
    let path = folder("docs/schemas").join(format!("{command}.json"));
    jsonschema::draft202012::new(&json(&path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_golden_file_has_the_json_that_the_schema_of_its_command_describes() {
    let (mut outputs, mut errors, mut wrong) = (0, 0, Vec::new());
    for entry in fs::read_dir(folder("cli/tests/golden/json")).expect("the golden files") {
        let path = entry.expect("an entry").path();
        let golden = json(&path);
        // The schema of `agents-md sync` is `agents-md-sync.json`.
        let command = &golden["command"].as_str().expect("a command").replace(' ', "-");
        let mut check = |value: &Value, schema: &str| {
            let problems: Vec<String> = validator(schema)
                .iter_errors(value)
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect();
            if !problems.is_empty() {
                wrong.push(format!("{} ({schema}): {}", path.display(), problems.join("; ")));
            }
        };
        if let Some(output) = golden.get("output").filter(|output| !output.is_string()) {
            check(output, command);
            outputs += 1;
        }
        if let Some(error) = golden.get("error").filter(|error| !error.is_string()) {
            check(error, "error");
            errors += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(outputs > 80 && errors > 20, "{outputs} outputs and {errors} errors were checked");
}

#[test]
fn a_schema_rejects_an_object_without_a_field_and_one_with_a_wrong_word() {
    let schema = validator("restore");
    let golden = json(&folder("cli/tests/golden/json/restore-entry.json"));
    assert!(schema.is_valid(&golden["output"]));
    let mut incomplete = golden["output"].clone();
    incomplete.as_object_mut().expect("an object").remove("path");
    assert!(!schema.is_valid(&incomplete));
    let mut wrong = golden["output"].clone();
    wrong["kind"] = "kept".into();
    assert!(!schema.is_valid(&wrong));
}
