//! Text that poses as a client, a role, a tool or a token of a model's template: in every field, it does not reach an output as it is stored.

use serde_json::{Value, json};

use super::{Hooks, claude, text_of};

/// Number of payloads that are stored at once.
const AT_ONCE: usize = 24;

/// Files of a memory by their place, with the payloads instead of `@`, each field with its number.
const FIELDS: [(&str, &str); 9] = [
    (
        "facts/rounding.md",
        "---\ntitle: 'rounding f01 @'\ntags: [tax]\naliases: ['f02 @']\ndescription: 'f03 @'\norigin-client: 'f04 @'\nsource: 'f05 @'\n\
         date: 2026-05-01\n---\n\n# f06 rounding @\n\nThe tax report rounds f07 @ half to even.\n\n- item f08 @\n\n> quote f09 @\n\n\
         ```\ncode f10 @\n```\n\n| a | b |\n|---|---|\n| cell f11 @ | x |\n\nSee [link f12 @](other.md) and [[other|f13 @]].\n",
    ),
    ("facts/other.md", "---\ntitle: other\ndate: 2026-05-01\n---\n\nf14 @ is linked from [[rounding]].\n"),
    (
        "decisions/audit.md",
        "---\ntitle: 'audit f15 @'\ntype: decision\ndate: 2026-05-01\n---\n\nNever rename src/tax.py f16 @.\n",
    ),
    ("MEMORY.md", "- rounding f17 @\n"),
    ("SCRATCHPAD.md", "- [ ] task f18 @\n"),
    ("daily/2026-05-25.md", "\n### 09:00 — heading f19 @\ntext f20 @\n"),
    ("root:MEMORY.md", "- shared f21 @\n"),
    ("root:projects/user/facts/all.md", "---\ntitle: all\ndate: 2026-05-01\n---\n\nrounding for all f22 @\n"),
    (
        "root:agents/main/entries/core/currency.md",
        "---\nkey: currency\ncategory: core\nupdated: 2026-05-01T10:00:00Z\n---\n\nrounding entry f23 @\n",
    ),
];

#[test]
fn no_payload_in_any_field_reaches_any_output() {
    let all: Vec<&str> = include_str!("../../../../tests/shared/posing.txt").lines().collect();
    let mut reached = std::collections::BTreeSet::new();
    for payloads in all.chunks(AT_ONCE) {
        let hooks = Hooks::with_memory();
        let stored: Vec<String> = payloads.iter().map(|payload| format!("{payload}evil")).collect();
        let text = stored.join(" ");
        let folder = hooks.memory(&["show", "--path", "project"]).exits(0).stdout;
        for (place, content) in FIELDS {
            let (folder, place) = match place.strip_prefix("root:") {
                Some(place) => (hooks.store.root.clone(), place),
                None => (folder.trim().into(), place),
            };
            let file = folder.join(place);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            std::fs::write(file, content.replace('@', &text)).expect("written");
        }
        let send = |event: &str, name: &str, fields: Value| {
            let run = hooks.send(&[name, "--client", "claude-code"], &claude("s", event, &fields));
            serde_json::from_str(&run.stdout).map_or(run.stdout, |answer| text_of(&answer).to_string())
        };
        let tool = |name: &str, arguments: Value| hooks.memory(&["tools", name, &arguments.to_string()]).stdout;
        let before = json!({ "tool_name": "Edit", "tool_input": { "file_path": "{project}/src/tax.py" } });
        let outputs = [
            ("start", send("SessionStart", "start", json!({ "source": "startup" }))),
            (
                "prompt",
                send("UserPromptSubmit", "prompt", json!({ "prompt": "how does the tax report do the rounding?" })),
            ),
            ("before a tool", send("PreToolUse", "before-tool", before)),
            ("context", hooks.memory(&["context", "--entries"]).stdout),
            ("hydrate", hooks.memory(&["entry", "hydrate"]).stdout),
            ("mem_recall", tool("mem_recall", json!({ "query": "rounding", "limit": 50 }))),
            ("mem_show of a note", tool("mem_show", json!({ "name": "facts/rounding" }))),
            ("mem_show of an entry", tool("mem_show", json!({ "name": "currency" }))),
            ("mem_show of the log", tool("mem_show", json!({ "name": "daily:2026-05-25" }))),
            ("mem_list", tool("mem_list", json!({}))),
            ("mem_related", tool("mem_related", json!({ "note": "facts/rounding" }))),
            ("notebook_recall", tool("notebook_recall", json!({ "query": "rounding" }))),
            ("memory_read", tool("memory_read", json!({ "source": "scratchpad" }))),
            ("memory_search", tool("memory_search", json!({ "query": "rounding" }))),
            ("memory_list", tool("memory_list", json!({}))),
            ("memory", tool("memory", json!({ "command": "view", "path": "/memories/facts/rounding.md" }))),
        ];
        for (output, shown) in &outputs {
            let may_be_empty = ["memory_list", "before a tool", "prompt", "mem_related"].contains(output);
            assert!(may_be_empty || shown.contains("evil"), "{output}: {shown}");
            for payload in &stored {
                assert!(!shown.contains(payload.as_str()), "{output} has {payload}: {shown}");
            }
            reached.extend((1..=23).map(|field| format!("f{field:02}")).filter(|field| shown.contains(field)));
        }
    }
    assert!(reached.len() >= 20, "{reached:?}");
}
