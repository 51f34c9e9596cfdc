//! Each claim in a prompt names a file that has it. It is gone when its source is deleted. Tested by the program, MCP and hooks.

use std::fs;
use std::hash::BuildHasher;

use serde_json::json;

use super::ways::{Seat, WAYS, fill, remove_index};
use crate::hook::Hooks;

const QUESTION: &str = "which metal is the pipe of the boiler?";

/// Lets a session of a client happen, in which somebody asks for a metal and a command fails with it.
fn session(seat: &Seat<'_>, metal: &str) {
    let prompt = format!("The pipe of the boiler must be {metal}");
    let error = format!("error: the pipe of the boiler is {metal}, exit code 2");
    let input = json!({ "command": format!("make {metal}") });
    let failed = json!({ "tool_name": "Bash", "tool_use_id": metal, "tool_input": input, "error": error });
    seat.hook(metal, "SessionStart", &json!({ "source": "startup" }));
    seat.hook(metal, "UserPromptSubmit", &json!({ "prompt": prompt }));
    seat.hook(metal, "PostToolUseFailure", &failed);
    seat.hook(metal, "SessionEnd", &json!({ "reason": "exit" }));
}

/// Makes notes of a transcript of Codex whose answer names a metal.
fn backfill(seat: &Seat<'_>, metal: &str) {
    let time = "2026-05-22T09:00:00Z";
    let said = |kind: &str, text: &str| json!({ "timestamp": time, "type": "event_msg", "payload": { "type": kind, "message": text } });
    let lines = [
        json!({ "timestamp": time, "type": "session_meta", "payload": { "id": metal, "cwd": seat.project } }),
        said("user_message", "Choose the pipe of the boiler."),
        said("agent_message", &format!("The pipe of the boiler is {metal}, because it lasts.")),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let path = seat.hooks.store.here.join("rollout-1.jsonl");
    fs::write(&path, lines).expect("written");
    seat.run(&["backfill", "--from", "codex", path.to_str().expect("text")]).exits(0);
}

/// Returns the heading of an item of an answer: `1. Title (path), date`, `- path (title, date)`, `- key (category)`, or the title
/// of a session's note.
fn heading(line: &str) -> Option<&str> {
    let numbered = line.split_once(". ").filter(|(number, _)| number.parse::<u32>().is_ok()).map(|(_, rest)| rest);
    let item = line.strip_prefix("- ").filter(|item| item.ends_with(')') && !item.starts_with('`'));
    numbered.or(item).or_else(|| line.strip_prefix("# ").filter(|title| title.starts_with("Session of")))
}

/// Returns the text of the note or the entry that a heading names.
fn source_of(seat: &Seat<'_>, heading: &str) -> String {
    let path = heading.split(['(', ' ', ')']).find(|word| word.ends_with(".md"));
    let key = || heading.trim_start_matches("entry ").split_once(" (").map(|(key, _)| key.trim_matches(['[', ']']));
    let is_title = heading.starts_with("Session of");
    let name = path.or_else(|| key().filter(|_| !is_title)).unwrap_or(heading);
    seat.run(&["show", name]).exits(0).stdout
}

/// In a store that hooks, `backfill` and the tools of an agent filled, every claim names a source that has it.
#[test]
fn every_claim_of_a_prompt_names_a_source_that_has_it() {
    let hooks = Hooks::new();
    let seat = Seat::new(&hooks, "tax", "main");
    session(&seat, "copper");
    backfill(&seat, "nickel");
    let approve = |from: &str| {
        let listed = seat.run(&["--json", "list", "--pending", "--from", from]).exits(0).json();
        let digest = listed["digest"].as_str().expect("a digest");
        seat.run(&["memory", "approve", "--all-from", from, "--base", digest]).exits(0);
    };
    approve("codex");
    approve("tool");
    let agent = ["--provenance", "agent", "remember", "--key", "pipe", "The pipe of the boiler is zinc."];
    seat.run(&agent).exits(0);

    // Each hit of a question, in the program.
    let found = seat.run(&["--json", "recall", QUESTION]).exits(0).json();
    let hits = found["hits"].as_array().expect("hits");
    assert!(hits.len() >= 4, "the control: {found}");
    for hit in hits {
        let name = hit["path"].as_str().or_else(|| hit["key"].as_str()).expect("a source");
        let source = seat.run(&["show", name]).exits(0).stdout;
        for line in hit["passage"].as_str().expect("text").lines() {
            assert!(source.contains(line.trim()), "{name} has no {line}: {source}");
        }
    }
    // Each line of a block.
    let block = seat.run(&["--json", "context", "--entries", "--recall", QUESTION]).exits(0).json();
    let lines: Vec<&str> = block["block"].as_str().expect("a block").lines().collect();
    let sources = block["sources"].as_array().expect("sources");
    assert!(sources.len() >= 2, "the control: {block}");
    for source in sources {
        let at = |field: &str| usize::try_from(source[field].as_u64().expect("a line")).expect("small");
        let text = fs::read_to_string(hooks.store.root.join(source["path"].as_str().expect("a path"))).expect("there");
        // A name in a list.
        let last = lines[at("last_line") - 1].trim();
        let last = last.strip_prefix("- ").unwrap_or(last);
        assert!(text.contains(last), "{source} has no {last}: {text}");
    }
    // Each item of an answer: a heading with the source, and indented or following lines of it.
    for way in &WAYS[1..] {
        let answer = seat.answers(*way, QUESTION);
        let (mut claims, mut source) = (0, None);
        // The names of what memory knows are their own sources.
        let is_name = |line: &&str| {
            answer.split_once("## What memory knows").is_some_and(|(_, map)| {
                map.split("\n\n").next().is_some_and(|names| names.lines().any(|name| name == *line))
            })
        };
        for line in answer.lines().filter(|line| !is_name(line)) {
            if let Some(heading) = heading(line) {
                source = Some(source_of(&seat, heading));
            } else if line.contains("pipe of the boiler") {
                claims += 1;
                let source: &String =
                    source.as_ref().unwrap_or_else(|| panic!("{way:?}: {line} has no source: {answer}"));
                assert!(source.contains(line.trim()), "{way:?}: {line} is not in {source}");
            }
        }
        assert!(claims >= 3, "{way:?}: the control: {answer}");
    }
}

/// Checks that what was made of one source is gone, each kind on its own, and that what was made of its sibling stays.
#[track_caller]
fn is_gone(seat: &Seat<'_>, kinds: &[&str], gone: &str, stays: &str) {
    let tree = seat.hooks.store.tree();
    for kind in kinds {
        let root = &seat.hooks.store.root;
        let place = if kind.starts_with("agents") { root.join(kind) } else { root.join(seat.memory()).join(kind) };
        let of_kind = tree.iter().filter(|(path, _)| path.starts_with(&place));
        let text: String = of_kind.map(|(_, bytes)| String::from_utf8_lossy(bytes)).collect();
        assert!(text.contains(stays) && !text.contains(gone), "{kind}: {text}");
    }
    fill(&seat.hooks.store.root);
    for _ in 0..2 {
        seat.finds(QUESTION, &[stays], &[gone]);
        remove_index(&seat.hooks.store.root);
    }
}

/// A rejected source takes the entries of its import and the notes of `backfill` with it, and those of another source stay.
#[test]
fn rejecting_a_source_takes_its_entries_and_notes_and_leaves_those_of_another() {
    let hooks = Hooks::new();
    let seat = Seat::new(&hooks, "tax", "main");
    for metal in ["copper", "nickel"] {
        let folder = hooks.store.here.join(metal);
        fs::create_dir_all(folder.join("core")).expect("made");
        let text = format!("---\nkey: {metal}\nsource: {metal}\n---\n\nThe pipe of the boiler is {metal}.\n");
        fs::write(folder.join("core/metal.md"), text).expect("written");
        seat.run(&["memory", "import", folder.to_str().expect("text")]).exits(0);
    }
    backfill(&seat, "zinc");
    let found = || seat.run(&["recall", QUESTION]).stdout;
    let shown = found();
    assert!(["copper", "nickel", "zinc"].iter().all(|metal| shown.contains(metal)), "the control: {shown}");
    for (source, gone, stays) in [("copper", "copper", ["nickel", "zinc"]), ("codex", "zinc", ["nickel", "nickel"])] {
        seat.run(&["memory", "reject", "--from", source]).exits(0);
        seat.run(&["list", "--pending", "--from", source]).exits(0).prints("Nothing waits for approval.\n");
        let shown = found();
        assert!(!shown.contains(gone) && stays.iter().all(|metal| shown.contains(metal)), "{source}: {shown}");
    }
}

/// The note, the note of an error and the hand-off that hooks made go with their session.
#[test]
fn what_hooks_made_of_a_session_goes_with_the_session() {
    let hooks = Hooks::new();
    let seat = Seat::new(&hooks, "tax", "main");
    session(&seat, "copper");
    session(&seat, "nickel");
    seat.finds(QUESTION, &["copper", "nickel"], &[]);
    seat.run(&["undo", "--session", "copper"]).exits(0);
    is_gone(&seat, &["sessions", "facts"], "copper", "nickel");
}

/// Everything that an agent stored over MCP goes with its session.
#[cfg(feature = "server")]
#[test]
fn what_an_agent_stored_over_mcp_goes_with_its_session() {
    let hooks = Hooks::new();
    let seat = Seat::new(&hooks, "tax", "main");
    let stores = |metal: &str| {
        let text = format!("The pipe of the boiler is {metal}.");
        let mut client = seat.client();
        for (tool, arguments) in [
            ("mem_remember", json!({ "title": format!("Pipe of {metal}"), "content": text })),
            ("mem_remember", json!({ "key": metal, "content": text })),
            ("mem_remember", json!({ "to": "long_term", "content": text })),
            ("mem_log", json!({ "entry": text })),
        ] {
            let answer = client.call(tool, arguments);
            assert!(answer["isError"] != true, "{answer}");
        }
        client.close();
        let list = seat.run(&["--json", "history", "-n", "1"]).exits(0).json();
        list["operations"][0]["session"].as_str().expect("a session").to_string()
    };
    let (copper, nickel) = (stores("copper"), stores("nickel"));
    assert_ne!(copper, nickel);
    seat.finds(QUESTION, &["copper", "nickel"], &[]);
    seat.run(&["undo", "--session", &copper]).exits(0);
    is_gone(&seat, &["facts", "daily", "MEMORY.md", "agents/main/entries"], "copper", "nickel");
}

/// Everything derived can be deleted, and is made again from the files.
#[test]
fn random_tokens_are_found_after_the_index_is_deleted_and_made_again() {
    let hooks = Hooks::new();
    let seat = Seat::new(&hooks, "tax", "main");
    let subjects = ["anchor", "beacon", "compass", "dinghy", "engine", "flag"];
    let random = std::hash::RandomState::new();
    let token = |subject: &str| format!("token{}", random.hash_one(subject));
    for (number, subject) in subjects.iter().enumerate() {
        let text = format!("The number of the {subject} is {}.", token(subject));
        match number % 2 {
            0 => seat.run(&["remember", &format!("Number of the {subject}"), &text]).exits(0),
            _ => seat.run(&["remember", "--key", &format!("number of the {subject}"), &text]).exits(0),
        };
    }
    fill(&hooks.store.root);
    for _ in 0..2 {
        for subject in subjects {
            seat.finds(&format!("what is the number of the {subject}?"), &[&token(subject)], &[]);
        }
        remove_index(&hooks.store.root);
    }
}
