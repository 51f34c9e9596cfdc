//! Writes the plugin folders from the tables of setup, and holds them against JSON Schemas.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use saddlebag_tests_shared::generated::Kind;
use serde_json::Value as Json;

use super::clients::{Client, OPENCODE_ARGUMENTS, OPENCODE_PLUGIN, OPENCODE_PROGRAM, Run, opencode_plugin};
use super::format::Format;
use super::hooks;
use super::json::Dialect;
use super::piece::{Piece, SERVER};
use super::places::Platform;
use super::value::Value;

const DESCRIPTION: &str = "Memory for agents, kept as plain Markdown files that you own";

/// Text that tells a model how to use its memory. Every plugin has a copy.
const SKILL: &str = "plugins/claude-code/skills/memory/SKILL.md";

/// Files of the plugins that are made, with their schemas in `plugins/schemas/`.
fn made() -> BTreeMap<&'static str, (String, Option<&'static str>)> {
    let run = Run { command: SERVER.to_string(), ..Run::default() };
    let servers = |client: Client| table(vec![(SERVER, client.server(&run, None))]);
    let claude = table(vec![("mcpServers", servers(Client::ClaudeCode))]);
    let codex = table(vec![("mcpServers", servers(Client::Codex))]);
    let agent_plugins = table(vec![
        ("$schema", Value::text("https://agent-plugins.org/schemas/1.0.0/mcp.schema.json")),
        ("mcpServers", table(vec![(SERVER, with_type(Client::Codex.server(&run, None)))])),
    ]);
    let skill = fs::read_to_string(project().join(SKILL)).expect("the text for models");
    BTreeMap::from([
        ("plugins/claude-code/.claude-plugin/plugin.json", (json(&manifest(&[], &[])), Some("claude-plugin"))),
        ("plugins/claude-code/.mcp.json", (json(&claude), Some("mcp"))),
        ("plugins/claude-code/hooks/hooks.json", (json(&hooks_of(Client::ClaudeCode, &run)), Some("hooks"))),
        (".claude-plugin/marketplace.json", (json(&claude_marketplace()), Some("claude-marketplace"))),
        ("plugins/codex/.codex-plugin/plugin.json", (json(&codex_manifest()), Some("codex-plugin"))),
        ("plugins/codex/.mcp.json", (json(&codex), Some("mcp"))),
        ("plugins/codex/hooks/hooks.json", (json(&hooks_of(Client::Codex, &run)), Some("hooks"))),
        ("plugins/codex/skills/memory/SKILL.md", (skill.clone(), None)),
        (".agents/plugins/marketplace.json", (json(&codex_marketplace()), Some("codex-marketplace"))),
        ("plugins/agent-plugins/plugin.json", (json(&agent_plugin()), Some("agent-plugin"))),
        ("plugins/agent-plugins/mcp.json", (json(&agent_plugins), Some("agent-plugin-mcp"))),
        ("plugins/agent-plugins/skills/memory/SKILL.md", (skill, None)),
    ])
}

#[test]
fn the_plugins_are_made_of_the_tables_of_setup() {
    for (name, (text, _)) in made() {
        Kind::Plugins.check(&project().join(name), &text).unwrap_or_else(|difference| panic!("{difference}"));
    }
}

#[test]
fn the_plugin_for_opencode_runs_the_program_with_its_options() {
    for part in [OPENCODE_PROGRAM, OPENCODE_ARGUMENTS] {
        assert_eq!(OPENCODE_PLUGIN.matches(part).count(), 1, "setup replaces {part}");
    }
    let options = vec!["--root".to_string(), "/a \"b\"".to_string()];
    let text = opencode_plugin(&Run { command: "C:\\x.exe".to_string(), options, ..Run::default() });
    assert!(text.contains(r#""C:\\x.exe""#), "{text}");
    assert!(text.contains(r#"["--root", "/a \"b\"", "hook", event]"#), "{text}");
}

#[test]
fn every_file_of_a_plugin_is_valid_under_its_schema() {
    for (name, (text, schema)) in made() {
        let Some(schema) = schema else { continue };
        let validator = validator(schema);
        let value: Json = serde_json::from_str(&text).expect("JSON");
        let problems: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{name}: {problems:?}");
    }
}

#[test]
fn the_schemas_refuse_files_that_clients_refuse() {
    for (schema, bad) in [
        ("claude-plugin", r#"{"name": "Has Spaces"}"#),
        ("claude-plugin", r#"{"name": "x", "skills": "skills"}"#),
        ("claude-marketplace", r#"{"name": "x", "plugins": []}"#),
        ("codex-plugin", r#"{"version": "1.0.0"}"#),
        ("codex-marketplace", r#"{"name": "x", "plugins": [{"name": "y", "source": {"source": "local"}}]}"#),
        ("agent-plugin", r#"{"name": "x"}"#),
        (
            "agent-plugin",
            r#"{"$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json", "name": "a..b"}"#,
        ),
        (
            "agent-plugin",
            r#"{"$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json", "name": "x", "hooks": {}}"#,
        ),
        (
            "agent-plugin-mcp",
            r#"{"$schema": "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json", "mcpServers": {"x": {"type": "stdio", "command": "/abs"}}}"#,
        ),
        ("mcp", r#"{"mcpServers": {"x": {"args": []}}}"#),
        ("hooks", r#"{"hooks": {"Stop": [{"type": "command", "command": "x"}]}}"#),
    ] {
        let value: Json = serde_json::from_str(bad).expect("JSON");
        assert!(!validator(schema).is_valid(&value), "{schema}: {bad}");
    }
}

#[test]
fn the_text_for_models_has_a_name_and_a_description() {
    let text = fs::read_to_string(project().join(SKILL)).expect("the text");
    let head = text.strip_prefix("---\nname: memory\ndescription: ").expect("frontmatter");
    let (description, body) = head.split_once("\n---\n").expect("the end of the frontmatter");
    assert!((20..=1024).contains(&description.len()) && !description.contains('\n'));
    for tool in saddlebag::tools::tools(saddlebag::tools::DEFAULT_SETS) {
        if body.contains(&format!("`{}`", tool.name)) {
            return;
        }
    }
    panic!("the text names no tool");
}

fn validator(schema: &str) -> jsonschema::Validator {
    let path = project().join("plugins/schemas").join(format!("{schema}.json"));
    let schema: Json = serde_json::from_str(&fs::read_to_string(&path).expect("a schema")).expect("JSON");
    jsonschema::validator_for(&schema).expect("a schema that holds")
}

/// Returns the fields that every manifest has, with others before and after them.
fn manifest(before: &[(&str, Value)], after: &[(&str, Value)]) -> Value {
    let mut pairs = before.to_vec();
    pairs.extend([
        ("name", Value::text(SERVER)),
        ("version", Value::text(env!("CARGO_PKG_VERSION"))),
        ("description", Value::text(DESCRIPTION)),
        ("author", table(vec![("name", Value::text("The Saddlebag authors"))])),
        ("repository", Value::text(env!("CARGO_PKG_REPOSITORY"))),
        ("license", Value::text(env!("CARGO_PKG_LICENSE"))),
        ("keywords", Value::texts(["memory", "markdown", "mcp"])),
    ]);
    pairs.extend_from_slice(after);
    table(pairs)
}

fn codex_manifest() -> Value {
    let interface = table(vec![
        ("displayName", Value::text("Saddlebag")),
        ("shortDescription", Value::text(DESCRIPTION)),
        ("category", Value::text("Productivity")),
    ]);
    manifest(
        &[],
        &[("skills", Value::text("./skills/")), ("mcpServers", Value::text("./.mcp.json")), ("interface", interface)],
    )
}

fn agent_plugin() -> Value {
    manifest(&[("$schema", Value::text("https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"))], &[])
}

fn claude_marketplace() -> Value {
    let plugin = table(vec![
        ("name", Value::text(SERVER)),
        ("source", Value::text("./plugins/claude-code")),
        ("description", Value::text(DESCRIPTION)),
        ("version", Value::text(env!("CARGO_PKG_VERSION"))),
    ]);
    let owner = table(vec![("name", Value::text("The Saddlebag authors"))]);
    table(vec![("name", Value::text(SERVER)), ("owner", owner), ("plugins", Value::List(vec![plugin]))])
}

fn codex_marketplace() -> Value {
    let source = table(vec![("source", Value::text("local")), ("path", Value::text("./plugins/codex"))]);
    let policy = table(vec![("installation", Value::text("AVAILABLE")), ("authentication", Value::text("ON_INSTALL"))]);
    let plugin = table(vec![
        ("name", Value::text(SERVER)),
        ("source", source),
        ("policy", policy),
        ("category", Value::text("Productivity")),
    ]);
    let interface = table(vec![("displayName", Value::text("Saddlebag"))]);
    table(vec![("name", Value::text(SERVER)), ("interface", interface), ("plugins", Value::List(vec![plugin]))])
}

/// Returns the hooks of a client as a file of hooks has them.
fn hooks_of(client: Client, run: &Run) -> Value {
    let pieces = hooks::of(client).expect("it has hooks").pieces(client, run, Platform::Unix);
    let events = pieces.into_iter().filter_map(|piece| match piece {
        Piece::Hook { path, value } => Some((path.last()?.clone(), Value::List(vec![value?]))),
        _ => None,
    });
    table(vec![("hooks", Value::Table(events.collect()))])
}

fn with_type(server: Value) -> Value {
    match server {
        Value::Table(pairs) => {
            Value::Table(std::iter::once(("type".to_string(), Value::text("stdio"))).chain(pairs).collect())
        }
        other => other,
    }
}

fn table(pairs: Vec<(&str, Value)>) -> Value {
    Value::Table(pairs.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

fn json(value: &Value) -> String {
    Format::Json(Dialect::Strict).insert("", &[], value).expect("a table")
}

/// Returns the folder of the workspace.
fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
