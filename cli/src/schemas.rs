//! Writes `docs/schemas/`: a JSON Schema of the output of each subcommand with `--json`, made from its types.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use schemars::Schema;
use serde_json::Value;

use crate::args::Command;
use crate::failure::ErrorObject;
use crate::subcommand::schema_of;

/// Environment variable that makes the test write the files instead of comparing them.
const REWRITE: &str = "SADDLEBAG_REWRITE";

#[test]
fn the_schemas_in_the_docs_are_those_of_the_subcommands() {
    let folder = folder();
    let mut made: Vec<(String, Schema)> =
        Command::schemas().into_iter().filter(|(_, schema)| prints_an_object(schema)).collect();
    made.push(("error".into(), schema_of::<ErrorObject>()));
    let rewrites = std::env::var_os(REWRITE).is_some_and(|value| !value.is_empty());
    for (name, schema) in &mut made {
        let title = if name == "error" { "An error with --json".into() } else { format!("saddlebag {name} --json") };
        schema.insert("title".into(), title.into());
        without_links(schema.as_object_mut().expect("an object").values_mut());
        let text = format!("{}\n", serde_json::to_string_pretty(schema).expect("JSON"));
        let file = file_name(name);
        let path = folder.join(&file);
        if rewrites {
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(&path, &text).expect("written");
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == text, "docs/schemas/{file} is not what `{name}` prints; {REWRITE}=1 writes it again");
    }
    let names: BTreeSet<String> = made.into_iter().map(|(name, _)| file_name(&name)).collect();
    let entries = fs::read_dir(&folder).expect("docs/schemas");
    let kept: BTreeSet<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(kept, names, "docs/schemas has files of no subcommand, or lacks some");
}

/// Returns the file name of a subcommand's schema. For `note list` it is `note-list.json`.
fn file_name(subcommand: &str) -> String {
    format!("{}.json", subcommand.replace(' ', "-"))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schemas")
}

/// Removes the links from descriptions, which come from the documentation of the library.
fn without_links<'a>(values: impl Iterator<Item = &'a mut Value>) {
    for value in values {
        match value {
            Value::String(text) => *text = text.replace("[`", "`").replace("`]", "`"),
            Value::Array(items) => without_links(items.iter_mut()),
            Value::Object(fields) => without_links(fields.values_mut()),
            _ => {}
        }
    }
}

/// Returns false if a subcommand prints no JSON. The type of its output is then `()`.
fn prints_an_object(schema: &Schema) -> bool {
    schema.get("type") != Some(&Value::from("null"))
}
