//! Nobody reads or changes the memory of another agent or project: by the program, MCP and hooks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::json;

use super::ways::{Seat, files_with, fill, remove_index};
use crate::hook::Hooks;
#[cfg(feature = "server")]
use crate::mcp::text;

const QUESTION: &str = "which colour has the lamp of the lighthouse?";
/// What Ana keeps as an entry, as a note of her project, and as long-term memory of her project.
const OF_ANA: [&str; 3] = ["zebra-entry", "zebra-note", "zebra-memory"];
const OF_BOB: &str = "walrus-note";

/// Gives Ana, in one project, what fits the question best, and Bob, in another one, something that fits less.
fn two_tenants(hooks: &Hooks) -> [Seat<'_>; 2] {
    let [ana, bob] = [Seat::new(hooks, "first", "ana"), Seat::new(hooks, "second", "bob")];
    let [entry, note, memory] =
        OF_ANA.map(|token| format!("The colour of the lamp of the lighthouse is {token}: `make lamp`."));
    ana.run(&["remember", "--key", "colour of the lamp of the lighthouse", &entry]).exits(0);
    ana.run(&["remember", "Colour of the lamp of the lighthouse", &note]).exits(0);
    ana.run(&["--scope", "project", "write", "long_term", &memory]).exits(0);
    let own = format!("The lamp of the lighthouse has the colour {OF_BOB}, says the keeper.");
    bob.run(&["remember", "Keeper of the lighthouse", &own]).exits(0);
    [ana, bob]
}

/// A memory of another agent or project is absent from every answer, even if it fits the question best.
#[test]
fn the_best_answer_of_another_tenant_is_absent_by_every_way() {
    let hooks = Hooks::new();
    let [ana, bob] = two_tenants(&hooks);
    ana.finds(QUESTION, &OF_ANA, &[OF_BOB]);
    bob.finds(QUESTION, &[OF_BOB], &OF_ANA);
    // The same agent in the other project has its own entries alone, and another agent in the project its notes alone.
    Seat::new(&hooks, "second", "ana").finds(QUESTION, &[OF_ANA[0], OF_BOB], &OF_ANA[1..]);
    Seat::new(&hooks, "first", "bob").finds(QUESTION, &OF_ANA[1..], &[OF_ANA[0], OF_BOB]);
}

/// A caller cannot widen its scope by a name, a wildcard or an empty name, in any field.
#[test]
fn no_name_wildcard_or_empty_name_reaches_another_scope_by_any_way() {
    let hooks = Hooks::new();
    let [ana, bob] = two_tenants(&hooks);
    let of_ana = || -> BTreeMap<PathBuf, Vec<u8>> {
        let folders = [hooks.store.root.join("agents/ana"), hooks.store.root.join(ana.memory())];
        let mut tree = hooks.store.tree();
        tree.retain(|path, _| folders.iter().any(|folder| path.starts_with(folder)));
        tree
    };
    let before = of_ana();
    assert_eq!(before.values().filter(|bytes| String::from_utf8_lossy(bytes).contains("zebra-")).count(), 3);
    let note = "facts/colour-of-the-lamp-of-the-lighthouse.md";
    let names = [
        format!("{}/{note}", ana.memory()),
        format!("../{}/{note}", ana.memory().trim_start_matches("projects/")),
        format!("{}/MEMORY.md", ana.memory()),
        "agents/ana/entries/core/colour of the lamp of the lighthouse".into(),
        "agents/*/entries/core/*".into(),
        "../ana".into(),
        "*".into(),
        String::new(),
    ];
    let seen = |way: &str, shown: &str| {
        assert!(!shown.contains("zebra-"), "{way}: {shown}");
        assert_eq!(of_ana(), before, "{way}");
    };
    for name in names.iter().map(String::as_str) {
        for command in [
            &["show", name][..],
            &["history", name, "-p"],
            &["recall", "lamp", "--path", name],
            &["search", name],
            &["list", "--kind", "entry", "--category", name],
            &["related", name],
            &["edit", name, "--old", "zebra", "--new", "x"],
            &["write", name, "x"],
            &["restore", name, "--at", "2"],
            &["move", name, "Mine"],
            &["tag", name, "--add", "x"],
            &["link", "Keeper of the lighthouse", name],
            &["remember", "--key", name, "x"],
            &["remember", name, "x"],
            &["forget", name],
        ] {
            let run = bob.run(&[&["--provenance", "agent"], command].concat());
            seen(&format!("{command:?}"), &(run.stdout + &run.stderr));
        }
    }

    #[cfg(feature = "server")]
    {
        let mut client = bob.client();
        for name in names.iter().map(String::as_str) {
            let mut calls = vec![
                ("mem_show", json!({ "name": name })),
                ("mem_related", json!({ "note": name })),
                ("mem_list", json!({ "kind": "entry", "category": name })),
                ("mem_edit", json!({ "name": name, "old_str": "zebra", "new_str": "x" })),
                ("mem_remember", json!({ "key": name, "content": "x" })),
                ("mem_remember", json!({ "title": name, "content": "x" })),
                ("mem_remember", json!({ "key": "k", "category": name, "content": "x" })),
                ("mem_link", json!({ "source": "Keeper of the lighthouse", "target": name })),
                ("mem_forget", json!({ "name": name })),
                ("memory_read", json!({ "source": "note", "name": name })),
                ("memory_recall", json!({ "key": name })),
                ("memory_forget", json!({ "key": name })),
                ("memory", json!({ "command": "view", "path": format!("/memories/{name}") })),
                ("memory", json!({ "command": "delete", "path": format!("/memories/{name}") })),
            ];
            for scope in ["agent", "project", "scope", "workspace"] {
                calls.push(("mem_recall", json!({ "query": QUESTION, scope: name })));
                calls.push(("mem_remember", json!({ "key": "k", "content": "x", scope: name })));
            }
            for (tool, arguments) in calls {
                let answer = client.call(tool, arguments.clone()).to_string();
                seen(&format!("{tool} {arguments}"), &answer);
            }
            // The answer names the URI that was asked for.
            let read = client.request("resources/read", json!({ "uri": format!("saddlebag://file/{name}") }));
            seen(name, &read.to_string());
        }
        // No agent is among what a question about all projects finds.
        let all = client.call("mem_recall", json!({ "query": QUESTION, "everywhere": true }));
        assert!(!text(&all).contains(OF_ANA[0]), "{all}");
    }

    // A hook is bound by its command line, whatever the payload says.
    for name in names.iter().map(String::as_str) {
        let bound = ["--project", bob.project.to_str().expect("text")];
        let of_payload = Seat { project: ana.project.clone(), ..Seat::new(&hooks, "second", "bob") };
        let session = format!("bound to {name}");
        for (event, fields) in [
            ("SessionStart", json!({ "source": "startup" })),
            ("UserPromptSubmit", json!({ "prompt": QUESTION })),
            ("PostToolUse", json!({ "tool_name": "mcp__saddlebag__mem_edit", "tool_input": { "name": name } })),
            ("Stop", json!({ "last_assistant_message": name })),
            ("SessionEnd", json!({ "reason": "exit" })),
        ] {
            let mut fields = fields;
            for field in ["agent", "workspace", "scope", "project", "root"] {
                fields[field] = name.into();
            }
            let shown = of_payload.hook_with(&bound, &[], &session, event, &fields);
            seen(&format!("{event} {name}"), &shown);
            assert!(event != "UserPromptSubmit" || shown.contains(OF_BOB), "the control: {shown}");
        }
    }
    ana.finds(QUESTION, &OF_ANA, &[OF_BOB]);
}

/// The index, the note of a session and the hand-off have nothing of another scope.
#[test]
fn what_is_derived_of_one_scope_has_nothing_of_another() {
    let hooks = Hooks::new();
    let tenants = two_tenants(&hooks);
    let words = ["copper", "nickel"];
    for (seat, word) in tenants.iter().zip(words) {
        let prompt = json!({ "prompt": format!("Polish the {word} lens of the lighthouse") });
        let input = json!({ "command": format!("make {word}") });
        seat.hook(word, "SessionStart", &json!({ "source": "startup" }));
        seat.hook(word, "UserPromptSubmit", &prompt);
        let failed = json!({ "tool_name": "Bash", "tool_use_id": word, "tool_input": input, "error": "Exit code 2" });
        seat.hook(word, "PostToolUseFailure", &failed);
        seat.hook(word, "SessionEnd", &json!({ "reason": "exit" }));
    }
    fill(&hooks.store.root);
    for _ in 0..2 {
        let [ana, bob] = &tenants;
        ana.finds("what about the lens of the lighthouse?", &["copper"], &["nickel", OF_BOB]);
        bob.finds("what about the lens of the lighthouse?", &["nickel"], &["copper", "zebra-"]);
        for (seat, own, other) in [(ana, "copper", "nickel"), (bob, "nickel", "copper")] {
            let folder = hooks.store.root.join(seat.memory());
            assert!(!files_with(&folder, own).is_empty(), "the control");
            assert_eq!(files_with(&folder, other), [""; 0]);
        }
        remove_index(&hooks.store.root);
    }
}
