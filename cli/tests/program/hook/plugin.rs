//! The plugin for OpenCode, in Node.js with a stub of the interface of plugins. `saddlebag setup` writes the same text.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::Hooks;
use crate::support::{NOW, engine};

/// Plays the part of OpenCode: it calls the hooks of the plugin, and prints what they added as JSON.
const STUB: &str = r#"
import { pathToFileURL } from "node:url"

const [plugin, directory] = process.argv.slice(2)
const exported = await import(pathToFileURL(plugin))
const [make, ...others] = Object.values(exported)
const hooks = await make({ directory, worktree: directory, client: {}, project: {}, $: () => {} })
const sessionID = "ses_1"
const seen = { exports: others.length + 1 }
const system = async (id = sessionID) => {
  const output = { system: ["base"] }
  await hooks["experimental.chat.system.transform"]({ sessionID: id }, output)
  return output.system.slice(1)
}
const emit = (type, properties) => hooks.event({ event: { type, properties } })
const tool = async (callID, tool, args, output) => {
  await hooks["tool.execute.before"]({ tool, sessionID, callID }, { args })
  await hooks["tool.execute.after"]({ tool, sessionID, callID }, output)
}

await emit("session.created", { info: { id: sessionID } })
await emit("session.created", { info: { id: "ses_child", parentID: sessionID } })
seen.start = await system()
seen.child = await system("ses_child")
const parts = [
  { type: "text", text: "Which rounding does the tax report use for cents? <private>4711</private>" },
  { type: "text", text: "SYNTHETIC", synthetic: true },
  { type: "file", url: "file:///x" },
]
await hooks["chat.message"]({ sessionID, messageID: "msg_1" }, { message: { id: "msg_1" }, parts })
seen.prompt = await system()
await tool("c1", "edit", { filePath: directory + "/src/tax.py", oldString: "BODY", newString: "BODY" }, { title: "", output: "", metadata: {} })
await tool("c2", "bash", { command: "make check" }, { title: "", output: "error: rounding of 0.5 cents is wrong", metadata: { exit: 2 } })
await tool("c3", "read", { filePath: directory + "/src/tax.py" }, { title: "", output: "BODY", metadata: {} })
const part = { type: "tool", tool: "write", callID: "c4", sessionID: "ses_child",
  state: { status: "error", input: { filePath: directory + "/src/locked.py", content: "BODY" }, error: "error: src/locked.py is read-only" } }
await emit("message.part.updated", { part })
await emit("message.part.updated", { part: { type: "text", text: "x" } })
await emit("session.idle", { sessionID })
await emit("unknown", undefined)
const compacting = { context: [] }
await hooks["experimental.session.compacting"]({ sessionID }, compacting)
seen.compacting = compacting.context
await hooks.dispose()
console.log(JSON.stringify(seen))
"#;

/// Plays a session of OpenCode with the plugin; `None` where there is no Node.js.
fn played(test: &str, hooks: &Hooks, program: &Path) -> Option<Value> {
    let stub = hooks.store.here.join("stub.mjs");
    fs::write(&stub, STUB).expect("written");
    // OpenCode loads plugins as modules; Node.js does so by their name.
    let plugin = hooks.store.here.join("saddlebag.mjs");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/opencode/saddlebag.js");
    fs::copy(source, &plugin).expect("copied");
    let mut command = Command::new("node");
    command.arg(&stub).arg(&plugin).arg(&hooks.project).env("SADDLEBAG_PROGRAM", program);
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("{test}: not run with node: {error}");
            return None;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

/// Writes a script that runs the program with the options and the environment of the test.
fn program(hooks: &Hooks) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt;

    let command = hooks.bare();
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let mut script = "#!/bin/sh\n".to_string();
    for (name, value) in command.get_envs() {
        let name = name.to_string_lossy();
        match value {
            Some(value) => script.push_str(&format!("export {name}={}\n", quoted(&value.to_string_lossy()))),
            None => script.push_str(&format!("unset {name}\n")),
        }
    }
    let root = hooks.store.root.to_string_lossy().into_owned();
    let words =
        [env!("CARGO_BIN_EXE_saddlebag"), "--now", NOW, "--durability", "fast", "--engine", &engine(), "--root", &root];
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    script.push_str(&format!("exec {} \"$@\"\n", words.join(" ")));
    let path = hooks.store.here.join("program.sh");
    fs::write(&path, script).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set");
    path
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().map(|text| text.as_str().expect("a text")).collect()
}

#[test]
fn opencode_gets_its_memory_from_the_plugin() {
    let hooks = Hooks::with_memory();
    let program = program(&hooks);
    let Some(seen) = played("opencode_gets_its_memory_from_the_plugin", &hooks, &program) else { return };
    // OpenCode takes every export for a plugin.
    assert_eq!(seen["exports"], 1);
    assert!(texts(&seen["start"])[0].contains("Reports are in euros."), "{seen}");
    // A subagent works for the session above it, and gets no memory of its own.
    assert_eq!(texts(&seen["child"]), [""; 0]);
    let prompt = texts(&seen["prompt"]);
    assert_eq!(prompt.len(), 2, "{seen}");
    assert!(prompt[1].contains("half to even"), "{seen}");
    assert!(texts(&seen["compacting"])[0].contains("src/tax.py"), "{seen}");
    let everything = hooks.everything();
    for kept in ["src/tax.py", "src/locked.py", "make check"] {
        assert!(everything.contains(kept), "{kept} was not recorded");
    }
    for absent in ["4711", "SYNTHETIC", "BODY"] {
        assert!(!everything.contains(absent), "{absent} was kept");
    }
    assert_eq!(hooks.log(), Vec::<Value>::new());
}

#[test]
fn opencode_goes_on_where_there_is_no_program() {
    let hooks = Hooks::with_memory();
    let missing = hooks.store.here.join("missing");
    let Some(seen) = played("opencode_goes_on_where_there_is_no_program", &hooks, &missing) else { return };
    for name in ["start", "prompt", "compacting"] {
        assert_eq!(texts(&seen[name]), [""; 0], "{name}");
    }
}
