//! Writes `docs/schemas/`: a JSON Schema of the output of each subcommand with `--json`, made from its types.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use saddlebag_tests_shared::generated::Kind;
use schemars::Schema;
use serde_json::Value;

use crate::args::Command;
use crate::failure::ErrorObject;
use crate::subcommand::schema_of;

#[test]
fn the_schemas_in_the_docs_are_those_of_the_subcommands() {
    let folder = folder();
    let mut made: Vec<(String, Schema)> =
        Command::schemas().into_iter().filter(|(_, schema)| prints_an_object(schema)).collect();
    made.push(("error".into(), schema_of::<ErrorObject>()));
    for (name, schema) in &mut made {
        let title = if name == "error" { "An error with --json".into() } else { format!("saddlebag {name} --json") };
        schema.insert("title".into(), title.into());
        as_printed(schema.as_object_mut().expect("an object").values_mut());
        let text = format!("{}\n", serde_json::to_string_pretty(schema).expect("JSON"));
        Kind::Schemas.check(&folder.join(file_name(name)), &text).unwrap_or_else(|difference| panic!("{difference}"));
    }
    let names: BTreeSet<String> = made.into_iter().map(|(name, _)| file_name(&name)).collect();
    let entries = fs::read_dir(&folder).expect("docs/schemas");
    let kept: BTreeSet<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(kept, names, "docs/schemas has files of no subcommand, or lacks some");
}

/// Returns the file name of a subcommand's schema. For `related` it is `note-related.json`.
fn file_name(subcommand: &str) -> String {
    format!("{}.json", subcommand.replace(' ', "-"))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schemas")
}

/// Gives descriptions, which come from the documentation of the library, the form of the JSON: without links, and with times
/// that are RFC 3339 there.
fn as_printed<'a>(values: impl Iterator<Item = &'a mut Value>) {
    for value in values {
        match value {
            Value::String(text) => {
                let plain = text.replace("[`", "`").replace("`]", "`");
                let unit = " in nanoseconds since 1970-01-01T00:00:00Z";
                *text = plain.replace(&format!("{unit}; 0 if unknown"), " as RFC 3339; null if unknown");
                *text = text.replace(unit, " as RFC 3339");
            }
            Value::Array(items) => as_printed(items.iter_mut()),
            Value::Object(fields) => as_printed(fields.values_mut()),
            _ => {}
        }
    }
}

/// Returns false if a subcommand prints no JSON. The type of its output is then `()`.
fn prints_an_object(schema: &Schema) -> bool {
    schema.get("type") != Some(&Value::from("null"))
}
