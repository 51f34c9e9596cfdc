use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use saddlebag_packaging::entries_of_zip;
use serde_json::Value;

use crate::made::made;
use crate::schema::Schema;
use crate::tool::place_program;
use crate::used::{answer_of_server, in_home};

const SCHEMA: &str = "mcpb-manifest-v0.3.schema.json";

fn manifest(path: &Path) -> Value {
    let entries = entries_of_zip(&fs::read(path).expect("the bundle")).expect("a zip file");
    let manifest = entries.iter().find(|entry| entry.path == "manifest.json").expect("a manifest");
    serde_json::from_slice(&manifest.bytes).expect("JSON")
}

#[test]
fn the_manifest_of_each_bundle_fits_the_published_schema() {
    let made = made();
    let schema = Schema::read(SCHEMA);
    let bundles: Vec<String> = made.names().into_iter().filter(|name| name.ends_with(".mcpb")).collect();
    assert!(bundles.len() >= 2, "{bundles:?}");
    for name in bundles {
        let manifest = manifest(&made.folder.join(name));
        schema.check(&manifest);
        assert_eq!(manifest["version"], made.release.version.as_str());
        schema.refuses_without(&manifest, "", "author");
        schema.refuses_without(&manifest, "/server/mcp_config", "command");
        schema.refuses_without(&manifest, "/user_config/folder", "title");
    }
}

/// The client unpacks the bundle, fills in its variables and starts the command.
#[test]
fn the_command_of_the_bundle_starts_a_server_with_the_tools_that_its_manifest_lists() {
    let made = made();
    let folder = tempfile::tempdir().expect("a folder");
    let path = made.file(&format!("saddlebag-{}-", made.release.version), ".mcpb");
    for entry in entries_of_zip(&fs::read(&path).expect("the bundle")).expect("a zip file") {
        let to = folder.path().join(&entry.path);
        fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        if entry.is_program { place_program(&entry.bytes, &to) } else { fs::write(&to, &entry.bytes).expect("written") }
    }
    let manifest = manifest(&path);
    let memory = folder.path().join("memory");
    fs::create_dir(&memory).expect("a folder");
    let variables = BTreeMap::from([
        ("${__dirname}", folder.path().to_string_lossy().into_owned()),
        ("${user_config.folder}", memory.to_string_lossy().into_owned()),
    ]);
    let fill = |value: &Value| {
        let text = value.as_str().expect("text").to_string();
        variables.iter().fold(text, |text, (name, value)| text.replace(name, value))
    };
    let server = &manifest["server"];
    let config = &server["mcp_config"];
    assert!(folder.path().join(server["entry_point"].as_str().expect("a path")).is_file());
    let own = &config["platform_overrides"][made.target.os.name()]["command"];
    let command = || {
        let mut command = Command::new(fill(own));
        let arguments = config["args"].as_array().expect("arguments").iter().map(fill);
        in_home(&mut command, folder.path()).args(arguments);
        command
    };
    let answer = answer_of_server(command());
    assert_eq!(answer["result"]["serverInfo"]["name"], "saddlebag", "{answer}");
    let listed = crate::tool::run(Command::new(fill(own)).args(["tools", "--json"]));
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    let names = |value: &Value| -> Vec<String> {
        let tools = value["tools"].as_array().expect("tools").iter();
        tools.map(|tool| tool["name"].as_str().expect("a name").to_string()).collect()
    };
    assert!(names(&manifest).len() > 5);
    assert_eq!(names(&manifest), names(&listed));
}
