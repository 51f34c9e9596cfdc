//! The world of the shell with one function for each tool is that of the table of tools.

#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

use std::path::Path;

use saddlebag::tools::{DEFAULT_SETS, Tool, tools};
use saddlebag_tests_shared::generated::Kind;
use serde_json::{Value, json};

/// An argument of a tool.
struct Argument {
    name: String,
    in_wit: String,
    in_rust: String,
}

fn arguments(tool: &Tool) -> Vec<Argument> {
    // The order of the table, which is that of the text.
    let schema: Value = serde_json::from_str(&tool.input_schema).expect("a schema");
    let required = |name: &str| schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
    let properties = schema["properties"].as_object().expect("an object");
    let mut named: Vec<(usize, &String, &Value)> = properties
        .iter()
        .map(|(name, of)| (tool.input_schema.find(&format!("\"{name}\":")).expect("it is in the text"), name, of))
        .collect();
    named.sort_by_key(|(at, ..)| *at);
    let argument = |(_, name, of): (usize, &String, &Value)| {
        let (in_wit, in_rust) = match (of["type"].as_str(), of["items"]["type"].as_str()) {
            (Some("string"), _) => ("string", "String"),
            (Some("boolean"), _) => ("bool", "bool"),
            (Some("integer"), _) => ("s64", "i64"),
            (Some("array"), Some("string")) => ("list<string>", "Vec<String>"),
            other => panic!("{}: {name} is {other:?}", tool.name),
        };
        let (in_wit, in_rust) = if required(name) {
            (in_wit.to_owned(), in_rust.to_owned())
        } else {
            (format!("option<{in_wit}>"), format!("Option<{in_rust}>"))
        };
        Argument { name: name.clone(), in_wit, in_rust }
    };
    named.into_iter().map(argument).collect()
}

/// Returns what the tool is for, and what its arguments mean.
fn docs(tool: &Tool) -> String {
    let schema: Value = serde_json::from_str(&tool.input_schema).expect("a schema");
    let mut docs = tool.description.clone();
    for argument in arguments(tool) {
        let of = &schema["properties"][&argument.name];
        let words: Vec<&str> = of["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let words = (!words.is_empty()).then(|| format!("one of {}", words.join(", ")));
        let about: Vec<String> = of["description"].as_str().map(str::to_owned).into_iter().chain(words).collect();
        if !about.is_empty() {
            docs.push_str(&format!("\n{}: {}", kebab(&argument.name), about.join("; ")));
        }
    }
    docs
}

fn kebab(name: &str) -> String {
    name.replace('_', "-")
}

#[test]
fn the_functions_of_the_shell_are_those_of_the_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("shells/tools");
    let tools = tools(DEFAULT_SETS);
    let (mut wit, mut rust) = (
        "// Generated from the table of tools.\n\npackage saddlebag:tools@0.3.0-dev;\n\n\
         /// One function for each tool. Each returns the text for a model.\nworld saddlebag-tools {\n"
            .to_owned(),
        "// Generated from the table of tools.\n\nfunctions! {\n".to_owned(),
    );
    let mut all = serde_json::Map::new();
    for tool in &tools {
        let (arguments, docs) = (arguments(tool), docs(tool));
        docs.lines().for_each(|line| wit.push_str(&format!("    /// {line}\n")));
        // Every name is escaped, because some are words of WIT.
        let given: Vec<String> = arguments.iter().map(|one| format!("%{}: {}", kebab(&one.name), one.in_wit)).collect();
        wit.push_str(&format!(
            "    export {}: func({}) -> result<string, string>;\n",
            kebab(&tool.name),
            given.join(", ")
        ));
        let given: Vec<String> = arguments.iter().map(|one| format!("{}: {}", one.name, one.in_rust)).collect();
        rust.push_str(&format!("    {}({});\n", tool.name, given.join(", ")));
        all.insert(kebab(&tool.name), json!({ "docs": docs }));
    }
    wit.push_str("}\n");
    rust.push_str("}\n");
    // The form that `wasm-tools` gives the docs of a package. A text alone is also valid there, but wassette ignores it.
    let docs = json!({ "worlds": { "saddlebag-tools": { "func_exports": all } } });
    let docs = serde_json::to_string_pretty(&docs).expect("JSON") + "\n";
    for (file, made) in [("world.wit", &wit), ("functions.rs", &rust), ("package-docs.json", &docs)] {
        Kind::Shells.check(&folder.join(file), made).unwrap_or_else(|difference| panic!("{difference}"));
    }
}
