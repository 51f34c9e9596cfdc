//! One store, several projects: what each of them reads and writes of long-term memory.

use std::path::{Path, PathBuf};

use crate::support::Store;

/// The long-term memory of a project, by its path below the root of the store.
fn memory_of(store: &Store, project: &str) -> PathBuf {
    let printed = store.run_in(project, &["--scope", "project", "show", "--path", "long_term"]).exits(0).stdout;
    Path::new(printed.trim_end()).strip_prefix(&store.root).expect("it is in the store").into()
}

fn shown(path: &Path) -> &str {
    path.to_str().expect("text")
}

#[test]
fn a_person_writes_for_all_projects_and_an_agent_for_its_own() {
    let store = Store::new();
    let of_a = memory_of(&store, "a");
    store
        .run_in("a", &["write", "long_term", "of the person"])
        .exits(0)
        .prints("Wrote 13 bytes to MEMORY.md; all projects share it\n");
    let agent = ["--provenance", "agent"];
    let told = format!("Wrote 11 bytes to {}\n", shown(&of_a));
    store.run_in("a", &[&agent[..], &["write", "long_term", "of an agent"]].concat()).exits(0).prints(&told);
    assert_eq!(store.text("MEMORY.md"), "of the person\n");
    assert_eq!(store.text(shown(&of_a)), "of an agent\n");

    let block_of_a = store.run_in("a", &["context"]).exits(0).stdout;
    let both = "## Project memory (MEMORY.md)\nof an agent\n\n## Long-term memory (MEMORY.md)\nof the person\n";
    assert!(block_of_a.contains(both), "{block_of_a}");
    let block_of_b = store.run_in("b", &["context"]).exits(0).stdout;
    assert!(block_of_b.contains("of the person") && !block_of_b.contains("of an agent"), "{block_of_b}");

    let status = store.run_in("a", &["status"]).exits(0).stdout;
    assert!(status.starts_with("long-term memory: 14 bytes\nlong-term memory of the project: 12 bytes\n"), "{status}");
    assert!(!store.run_in("b", &["status"]).exits(0).stdout.contains("of the project"));
    let json = store.run_in("a", &["--json", "status"]).exits(0).json();
    assert_eq!((&json["long_term_bytes"], &json["project_long_term_bytes"]), (&14.into(), &12.into()));
    for words in ["person", "agent"] {
        store.run_in("a", &["search", words]).exits(0);
        store.run_in("a", &["recall", words]).exits(0);
    }
    store.run_in("b", &["search", "agent"]).exits(1);
    store.run_in("b", &["recall", "agent"]).exits(1);
}

#[test]
fn an_option_chooses_the_file_that_is_written() {
    let store = Store::notebook();
    let of_a = memory_of(&store, "a");
    let all = ["--provenance", "agent", "--scope", "all", "write", "long_term", "for all"];
    store.run_in("a", &all).exits(0).prints("Wrote 7 bytes to MEMORY.md; all projects share it\n");
    store.run_in("a", &["--scope", "project", "write", "long_term", "for one"]).exits(0);
    let mut by_variable = store.project_command("a", &["write", "long_term", "for one, too"]);
    crate::support::run(by_variable.env("SADDLEBAG_SCOPE", "project"), None).exits(0);
    assert_eq!(store.text("MEMORY.md"), "for all\n");
    assert_eq!(store.text(shown(&of_a)), "for one\nfor one, too\n");
    store.run_in("a", &["--scope", "projects", "status"]).exits(2).complains("[possible values: project, all]");
    // Without a project there is one file.
    store.run(&["--scope", "project", "write", "long_term", "root"]).exits(0).prints("Wrote 4 bytes to MEMORY.md\n");
    let path = store.run_in("a", &["show", "--path", "MEMORY.md"]).exits(0).stdout;
    assert_eq!(Path::new(path.trim_end()), store.root.join("MEMORY.md"));
}

#[test]
fn the_memory_of_a_project_is_edited_cleared_and_restored_as_the_shared_one_is() {
    let store = Store::new();
    let of_a = memory_of(&store, "a");
    let agent = |arguments: &[&str]| store.run_in("a", &[&["--provenance", "agent"], arguments].concat());
    agent(&["write", "long_term", "one\ntwo"]).exits(0);
    agent(&["write", "long_term", "two\nthree"]).exits(0);
    assert_eq!(store.text(shown(&of_a)), "one\ntwo\nthree\n", "lines that are there already are left out");
    agent(&["edit", "long_term", "--old", "one", "--new", "1"]).exits(0);
    assert!(!store.file(shown(&of_a.with_extension("bak"))).exists(), "the history keeps the text");
    agent(&["restore", "long_term"]).exits(0);
    assert_eq!(store.text(shown(&of_a)), "one\ntwo\nthree\n");
    agent(&["tools", "/memory", "/memory clear long_term"]).exits(0);
    assert_eq!(store.text(shown(&of_a)), "");
    agent(&["restore", shown(&of_a)]).exits(0);
    agent(&["edit", shown(&of_a), "--old", "one", "--new", "1"]).exits(0);
    assert_eq!(store.text(shown(&of_a)), "1\ntwo\nthree\n");
    agent(&["forget", shown(&of_a)]).exits(2).complains("cannot be forgotten as a whole");
    agent(&["write", shown(&of_a), "four"]).exits(0);
    assert_eq!(store.text(shown(&of_a)), "1\ntwo\nthree\nfour\n");
    assert!(!store.root.join("MEMORY.md").exists());
    let list = agent(&["list", "--kind", "file"]).exits(0).stdout;
    assert_eq!(list, format!("{}\n", shown(&of_a)));
}

#[test]
fn a_note_takes_the_name_of_no_kept_file() {
    let store = Store::notebook();
    for title in ["MEMORY", "Memory", "scratchpad"] {
        for provenance in ["user", "agent", "tool"] {
            let arguments = ["--provenance", provenance, "remember", title, "Obey", "--template", "."];
            store.refuses(&arguments, 3, "cannot be a note: the name is reserved for");
        }
    }
    store.run(&["remember", "A plan", "text", "--template", "."]).exits(0);
    store.refuses(&["move", "A plan", "Memory"], 3, "the name is reserved for long-term memory");
    let remembered = store.run(&["remember", "Memory", "text"]).exits(0).stdout;
    assert!(remembered.starts_with(&format!("Remembered in {}", store.printed("facts/memory.md"))), "{remembered}");

    store.put(".zk/config.toml", "[note]\nfilename = \"{{title}}\"\n");
    for (title, kept) in [
        ("agents/bob/entries/core/k", "the memory of another"),
        ("AGENTS/bob/entries/core/k", "the memory of another"),
        ("projects/other-0db23a34/notes/k", "the memory of another"),
        ("Projects/OTHER-0DB23A34/notes/k", "the memory of another"),
        ("MEMORY", "long-term memory"),
    ] {
        store.refuses(&["remember", title, "Obey", "--template", "."], 3, kept);
    }
    for title in ["daily/2026-05-30", "Daily/2026-05-30", "templates/fact", "TEMPLATES/fact"] {
        store.refuses(&["remember", title, "Obey", "--template", "."], 2, "is for other files");
    }
}

#[test]
fn folders_of_notes_stay_notes_and_what_is_left_out_is_named() {
    let store = Store::notebook();
    store.put("Projects/plan.md", "a lighthouse");
    store.put("Agents/bob.md", "a lighthouse");
    store.put("Agents/bob/entries/core/k.md", "a lighthouse");
    store.put("Projects/shop-0DB23A34/plan.md", "a lighthouse");
    let found = store.run(&["recall", "lighthouse", "--json"]).exits(0).json();
    let paths: Vec<&str> = found["hits"].as_array().unwrap().iter().filter_map(|hit| hit["path"].as_str()).collect();
    assert_eq!(paths, ["Agents/bob.md", "Projects/plan.md"]);
    for command in [&["search", "lighthouse"][..], &["list", "--kind", "file"], &["recall", "lighthouse"]] {
        let run = store.run(command);
        let run = run.complains("Agents/bob/entries: its name counts as the folder of another memory");
        run.complains("Projects/shop-0DB23A34: its name counts as the folder of another memory");
    }
    store.run(&["show", "Agents/bob.md"]).exits(0).prints("a lighthouse");
    store.run(&["show", "Agents/bob/entries/core/k.md"]).exits(1).prints("");
    store.run(&["show", "page:agents/bob/entries/core/k.md"]).exits(1).prints("");
    let call = |path: &str| format!(r#"{{"command":"view","path":"/memories/{path}"}}"#);
    let anthropic = ["tools", "--tools", "anthropic", "memory"];
    store.run(&[&anthropic[..], &[&call("Agents/bob.md")]].concat()).exits(0);
    for path in ["Agents/bob/entries/core/k.md", "Agents/bob/entries", "Projects/shop-0DB23A34/plan.md"] {
        let run = store.run(&[&anthropic[..], &[&call(path)]].concat()).exits(3);
        assert!(!run.stdout.contains("lighthouse") && run.stderr.contains("does not exist"), "{path}: {run:?}");
    }
    // The memory of others is left out without a word, as ever.
    let other = Store::notebook();
    other.put("agents/bob/entries/core/k.md", "a lighthouse");
    other.put("projects/shop-0db23a34/plan.md", "a lighthouse");
    assert_eq!(other.run(&["search", "lighthouse"]).exits(1).stderr.matches("skipped").count(), 0);
    other.run(&["show", "page:agents/bob/entries/core/k.md"]).exits(1).prints("");
    other.run(&["show", "page:projects/shop-0db23a34/plan.md"]).exits(1).prints("");
    other.put("projects/shop-0db23a34/plan.bak", "an older one");
    other.refuses(&["restore", "projects/shop-0db23a34/plan.md"], 1, "and none was forgotten");
}

/// Hidden files are not memory in any scope.
#[test]
fn hidden_files_are_not_memory_in_any_scope() {
    let store = Store::new();
    let folder = memory_of(&store, "a");
    let folder = shown(folder.parent().unwrap());
    let in_project = format!("{folder}/.secret.md");
    let hidden = [".secret.md", ".github/x.md", ".obsidian/x.md", ".saddlebag/x.md", &in_project];
    for file in hidden {
        store.put(file, "a lighthouse");
    }
    let found = |arguments: &[&str]| {
        let of_project = store.run_in("a", arguments).stdout;
        format!("{of_project}{}", store.run(arguments).stdout)
    };
    for command in [
        &["search", "lighthouse"][..],
        &["recall", "lighthouse"],
        &["list", "--kind", "file"],
        &["list", "--kind", "note"],
        &["context"],
    ] {
        let shown = found(command);
        assert!(!shown.contains("lighthouse\n") && !shown.contains("secret"), "{command:?}: {shown}");
    }
    for file in hidden {
        let absolute = store.root.join(file);
        for arguments in [
            &["show", file][..],
            &["show", &format!("page:{file}")],
            &["--absolute", "show", shown(&absolute)],
            &["--absolute", "edit", shown(&absolute), "--old", "a", "--new", "the"],
        ] {
            for run in [store.run_in("a", arguments), store.run(arguments)] {
                assert!(run.code != 0 && run.stdout.is_empty(), "{arguments:?}: {run:?}");
            }
        }
        assert_eq!(store.text(file), "a lighthouse");
    }
}

/// Checks that no spelling of a path reaches another project, on every file system.
fn assert_spellings_lead_nowhere(mut store: Store, root: &Path) {
    store.root = root.into();
    store.put("MEMORY.md", "shared\n");
    store.put("agents/bob/entries/core/k.md", "---\nkey: k\ncategory: core\n---\n\nhush4711\n");
    store.put("projects/shop-0db23a34/MEMORY.md", "hush4711\n");
    let before = store.tree();
    for file in [
        "AGENTS/bob/entries/core/k.md",
        "agents/BOB/Entries/core/k.md",
        "agent\u{17f}/bob/entries/core/k.md",
        "ag\u{200c}ents/bob/entries/core/k.md",
        "PROJECTS/Shop-0DB23A34/memory.md",
    ] {
        for arguments in [
            &["show", file][..],
            &["show", &format!("page:{file}")],
            &["edit", file, "--old", "hush4711", "--new", "x"],
            &["restore", file],
            &["tools", "/memory", "restore", "page", file],
            &["tools", "--tools", "anthropic", "memory", &format!(r#"{{"command":"view","path":"/memories/{file}"}}"#)],
        ] {
            let run = store.run(&[&["--agent", "alice"], arguments].concat());
            assert!(run.code != 0 && !run.stdout.contains("hush4711"), "{arguments:?}: {run:?}");
        }
    }
    for title in ["MEMORY", "Memory", "scratchpad"] {
        store.run(&["--provenance", "tool", "remember", title, "Obey", "--template", "."]).exits(3);
    }
    assert_eq!(store.tree(), before);
}

/// Runs in a separate process, where a folding file system is mounted.
#[test]
#[ignore = "started by `spellings_lead_nowhere_on_a_file_system_that_folds_names`"]
fn spellings_on_a_folding_file_system() {
    let root = PathBuf::from(std::env::var_os("SADDLEBAG_TEST_ROOT").expect("given by the other test"));
    assert!(folds_names(&root), "the file system does not fold names");
    assert_spellings_lead_nowhere(Store::new(), &root);
}

fn folds_names(folder: &Path) -> bool {
    std::fs::write(folder.join("probe"), "").expect("written");
    let folds = folder.join("PROBE").exists();
    std::fs::remove_file(folder.join("probe")).expect("removed");
    folds
}

#[test]
#[allow(clippy::print_stderr, reason = "it says what it could not try")]
fn spellings_lead_nowhere_on_a_file_system_that_folds_names() {
    let store = Store::new();
    let root = store.root.clone();
    let is_tried = folds_names(&root);
    assert_spellings_lead_nowhere(store, &root);
    if is_tried {
        return;
    }
    let mounted = tempfile::tempdir().expect("a folder");
    let image = mounted.path().join("image");
    let setup = "truncate -s 16M \"$IMAGE\" && mkfs.ext4 -q -O casefold -E encoding=utf8 \"$IMAGE\" \
                 && mkdir \"$IMAGE.d\" && mount -o loop \"$IMAGE\" \"$IMAGE.d\" \
                 && mkdir \"$SADDLEBAG_TEST_ROOT\" && chattr +F \"$SADDLEBAG_TEST_ROOT\" || exit 77";
    let output = std::process::Command::new("unshare")
        .args(["-m", "sh", "-c", &format!("{setup}; exec \"$0\" \"$@\"")])
        .arg(std::env::current_exe().expect("a path"))
        .args(["--exact", "scopes::spellings_on_a_folding_file_system", "--ignored"])
        .env("IMAGE", &image)
        .env("SADDLEBAG_TEST_ROOT", mounted.path().join("image.d/store"))
        .output();
    match output {
        Ok(output) if String::from_utf8_lossy(&output.stdout).contains("running 1 test") => {
            let told = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{told}");
        }
        _ => eprintln!(
            "spellings_on_a_folding_file_system was not run: no ext4 with casefold can be mounted here, and the folder \
             for temporary files does not fold names"
        ),
    }
}

#[cfg(feature = "server")]
mod over_mcp {
    use serde_json::json;

    use super::*;
    use crate::mcp::client::Pipes;
    use crate::mcp::text;

    #[test]
    fn hidden_files_entries_and_other_spellings_are_not_resources() {
        let store = Store::new();
        store.put(".secret.md", "hush4711");
        store.put(".github/x.md", "hush4711");
        store.put("agents/other/entries/core/k.md", "hush4711");
        store.put("agents/main/entries/core/.k.md", "hush4711");
        store.put("agents/main/entries/core/own.md", "hush4711");
        for mut client in [Pipes::start_in(&store, "a", &[]).open(), Pipes::start(&store, &[]).open()] {
            for file in [
                ".secret.md",
                ".github/x.md",
                "agents/main/entries/core/.k.md",
                "agents/main/entries/core/own.md",
                "AGENTS/other/entries/core/k.md",
                "agents./other/entries/core/k.md",
                "AGENTS~1/other/entries/core/k.md",
            ] {
                let answer = client.request("resources/read", json!({ "uri": format!("saddlebag://file/{file}") }));
                assert!(answer["error"].is_object() && !answer.to_string().contains("hush4711"), "{file}: {answer}");
            }
            let list = client.result("resources/list", json!({})).to_string();
            assert!(!list.contains("secret") && !list.contains("github") && !list.contains("entries"), "{list}");
        }
    }

    #[test]
    fn what_an_agent_keeps_in_one_project_is_in_no_block_of_another() {
        let store = Store::new();
        // A store from before there was memory of a project.
        store.put("MEMORY.md", "staging is 8443\n");
        let of_a = memory_of(&store, "a");
        let mut client_of_a = Pipes::start_in(&store, "a", &[]).open();
        let kept = client_of_a.call("memory_write", json!({ "target": "long_term", "content": "Obey project a" }));
        assert_eq!(kept["structuredContent"]["path"], shown(&of_a), "{kept}");
        let read = client_of_a.call("memory_read", json!({ "source": "long_term" }));
        assert_eq!(read["structuredContent"]["path"], shown(&of_a), "{read}");
        assert!(text(&read).contains("page MEMORY.md has the memory of all projects"), "{read}");
        let shared = client_of_a.call("memory_read", json!({ "source": "page", "name": "MEMORY.md" }));
        assert_eq!(shared["structuredContent"]["text"], "staging is 8443\n", "{shared}");
        for arguments in [
            json!({ "target": "page", "name": "MEMORY.md", "old_str": "8443", "new_str": "1" }),
            json!({ "target": "note", "name": "MEMORY.md", "old_str": "8443", "new_str": "1" }),
        ] {
            let refused = client_of_a.call("memory_edit", arguments);
            assert_eq!(refused["isError"], true, "{refused}");
        }
        let edit = json!({ "name": "MEMORY.md", "old_str": "8443", "new_str": "1" });
        assert_eq!(client_of_a.call("mem_edit", edit)["isError"], true);
        assert!(text(&client_of_a.call("mem_show", json!({ "name": "MEMORY.md" }))).contains("staging is 8443"));
        assert_eq!(store.text("MEMORY.md"), "staging is 8443\n");

        let block = |project: &str| {
            let mut client = Pipes::start_in(&store, project, &[]).open();
            let block = client.result("resources/read", json!({ "uri": "saddlebag://context" }));
            let list = client.result("resources/list", json!({}));
            (block["contents"][0]["text"].as_str().expect("text").to_string(), list.to_string())
        };
        let (of_project_a, list_of_a) = block("a");
        assert!(of_project_a.contains("Obey project a") && of_project_a.contains("8443"), "{of_project_a}");
        assert!(list_of_a.contains("saddlebag://file/MEMORY.md"), "{list_of_a}");
        assert!(list_of_a.contains(&format!("saddlebag://file/{}", shown(&of_a))), "{list_of_a}");
        let (of_project_b, list_of_b) = block("b");
        assert!(!of_project_b.contains("Obey") && of_project_b.contains("8443"), "{of_project_b}");
        assert!(!list_of_b.contains(shown(&of_a)), "{list_of_b}");

        let mut for_all = Pipes::start_in(&store, "a", &["--scope", "all"]).open();
        for_all.call("memory_write", json!({ "target": "long_term", "content": "for every project" }));
        assert_eq!(store.text("MEMORY.md"), "staging is 8443\nfor every project\n");
        assert!(block("b").0.contains("for every project"));
    }
}

#[test]
fn an_entry_of_an_agent_is_in_the_prompts_of_its_project_until_a_person_approves_it_for_all() {
    let store = Store::new();
    let fact = r#"{"key": "port", "content": "the database listens on port 5433"}"#;
    store.run_in("a", &["tools", "memory_store", fact]).exits(0);
    store.run_in("a", &["remember", "--key", "editor", "the person uses vi"]).exits(0);
    let hydrated = |project: &str| store.run_in(project, &["context", "--entries"]).exits(0).stdout;
    assert!(hydrated("a").contains("5433") && hydrated("a").contains("vi"));
    let of_b = hydrated("b");
    assert!(of_b.contains("vi") && !of_b.contains("5433"), "{of_b}");
    let explained = store.run_in("b", &["entry", "hydrate", "--explain"]).exits(0).stdout;
    assert!(explained.contains("other-project"), "{explained}");
    let start = r#"{"session_id":"s","hook_event_name":"SessionStart","source":"startup"}"#;
    let prompt =
        r#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"which port does the database listen on"}"#;
    for (project, has_it) in [("a", true), ("b", false)] {
        for event in [start, prompt] {
            let mut hook = store.project_command(project, &["hook", "--client", "claude-code"]);
            let run = crate::support::run(&mut hook, Some(event.as_bytes())).exits(0);
            // A prompt adds what the start has not shown.
            assert!(!run.stdout.contains("5433") || has_it, "{project}: {}", run.stdout);
            assert!(run.stdout.contains("5433") || event == prompt || !has_it, "{project}: {}", run.stdout);
        }
    }
    let answer = store.run_in("b", &["tools", "memory_recall", r#"{"key": "port"}"#]).exits(0).stdout;
    assert!(answer.contains("(only in a-"), "{answer}");
    store.run_in("b", &["--provenance", "agent", "edit", "port", "--old", "5433", "--new", "5434"]).exits(3);
    let port = r#"{"key": "port", "content": "the database listens on port 5434"}"#;
    let is_refused_in_b = |reason: &str| {
        for call in [["memory_store", port], ["memory_forget", r#"{"key": "port"}"#]] {
            let refused = store.run_in("b", &["tools", call[0], call[1]]).exits(3);
            assert!(format!("{refused:?}").contains(reason), "{refused:?}");
        }
    };
    is_refused_in_b("is for a-");

    // It does not wait, because it is in the prompts of its project.
    store.run_in("a", &["list", "--pending"]).exits(0);
    let listed = store.run_in("b", &["--json", "list", "--pending", "--from", "agent"]).exits(0).json();
    assert_eq!((&listed["total"], &listed["items"][0]["name"]), (&1.into(), &"port".into()));
    let version = listed["items"][0]["version"].as_str().expect("a version").to_string();
    store.run_in("a", &["memory", "approve", "port", "--base", &version]).exits(0);
    assert!(hydrated("a").contains("5433") && hydrated("b").contains("5433"));

    // Now other projects read it, so no agent of a project may change it.
    is_refused_in_b("for all projects");
    assert!(hydrated("a").contains("5433") && hydrated("b").contains("5433"));
    store.run_in("a", &["forget", "port"]).exits(0);
    // Other words of an agent are for its project alone, and its own words said twice are for both.
    store.run_in("b", &["tools", "memory_store", port]).exits(0);
    assert!(hydrated("b").contains("5434") && !hydrated("a").contains("5434"));
    store.run_in("a", &["tools", "memory_store", port]).exits(0);
    assert!(hydrated("b").contains("5434") && hydrated("a").contains("5434") && !hydrated("c").contains("5434"));
    // A person who says it says it for all.
    store.run_in("a", &["remember", "--key", "port", "the database listens on port 5434"]).exits(0);
    // No word of the folders of an entry finds it.
    for word in ["agents", "entries", "core"] {
        assert!(!store.run_in("a", &["recall", "--kind", "entry", word]).stdout.contains("5434"), "{word}");
    }
    assert!(store.run_in("a", &["recall", "--kind", "entry", "port"]).exits(0).stdout.contains("5434"));
    assert!(hydrated("c").contains("5434"));
    assert!(!store.text("agents/main/entries/core/port.md").contains("origin-project"));
}

#[test]
fn notes_for_all_projects_are_found_shown_and_in_every_block() {
    let store = Store::new();
    let project = |folder: &str| std::fs::create_dir_all(store.here.join(folder)).expect("made");
    ["a", "b"].into_iter().for_each(project);
    store.run_in("a", &["--user", "remember", "Editor settings", "Four spaces, rustfmt."]).exits(0);
    store.run_in("a", &["--user", "remember", "Editor", "I use vim."]).exits(0);
    store.run_in("a", &["--user", "remember", "Editor", "I use helix.", "--supersede"]).exits(0);
    let path = "projects/user/facts/editor-settings.md";
    for folder in ["a", "b"] {
        let run = |arguments: &[&str]| store.run_in(folder, arguments);
        assert!(run(&["recall", "how many spaces?"]).exits(0).stdout.contains(path));
        assert!(run(&["recall", "spaces", "--everywhere"]).exits(0).stdout.matches(path).count() == 1);
        assert!(run(&["search", "rustfmt"]).exits(0).stdout.contains(path));
        assert!(run(&["show", "editor settings"]).exits(0).stdout.contains("Four spaces"));
        assert!(run(&["list"]).exits(0).stdout.contains(&format!("{path}  Editor settings")));
        let block = run(&["context"]).exits(0).stdout;
        assert!(
            block.contains("## Notes for all projects\n") && block.contains("- Editor settings\n  Four"),
            "{block}"
        );
        assert!(block.contains("helix") && !block.contains("vim"), "{block}");
        let found = run(&["recall", "which editor do I use?"]).exits(0).stdout;
        let (newer, older) = (found.find("I use helix."), found.find("I use vim."));
        assert!(newer.is_some() && newer < older && found.contains("superseded by projects/user/"), "{found}");
        assert!(!run(&["context", "--recall", "which editor do I use?"]).exits(0).stdout.contains("vim"));
        let shown = run(&["tools", "mem_show", r#"{"name": "Editor settings"}"#]).exits(0).stdout;
        assert!(shown.contains("Four spaces"), "{shown}");
    }
    let of_model = store.run_in("a", &["tools", "mem_list", "{}"]).exits(0).stdout;
    assert!(of_model.contains("projects/user/facts/editor-settings.md"), "{of_model}");
    let second = store.run_in("a", &["tools", "mem_list", r#"{"limit": 1, "cursor": "1"}"#]).exits(0).stdout;
    let shown = |text: &str| text.lines().filter(|line| line.contains(".md")).map(String::from).collect::<Vec<_>>();
    assert!(shown(&second).len() == 1 && shown(&of_model)[1][2..] == shown(&second)[0][2..], "{second}\n{of_model}");
    assert!(store.run(&["--user", "list"]).exits(0).stdout.contains("Editor settings"));

    // A note supersedes one beside it, and not the note of a project with the same path.
    store.run_in("a", &["remember", "Editor", "The editor of this project is nano."]).exits(0);
    assert!(
        !store
            .run_in("a", &["recall", "editor nano"])
            .exits(0)
            .stdout
            .contains("superseded by projects/user/facts/editor-2.md\nThe editor of this")
    );
    assert!(store.run_in("a", &["context", "--recall", "which editor nano"]).exits(0).stdout.contains("nano"));
    store.run_in("a", &["project", "user", "--yes"]).exits(2).complains("the notes for all projects");
}

#[test]
fn an_earlier_time_is_seen_in_the_notes_for_all_projects_too() {
    let store = Store::new();
    store.run_now(&["--user", "remember", "Editor", "We use vim and zebra mode."]).exits(0);
    store.run_now(&["remember", "Here", "A zebra here."]).exits(0);
    let log = store.run_now(&["op", "log"]).exits(0).stdout;
    let then = &log[..12];
    store.run_now(&["--user", "remember", "Editor of today", "We use helix and zebra mode."]).exits(0);
    store.run_now(&["--user", "edit", "Editor", "--old", "vim", "--new", "emacs"]).exits(0);
    let found = store.run_now(&["recall", "zebra", "--at", then]).exits(0).stdout;
    assert!(found.contains("vim") && found.contains("A zebra here"), "{found}");
    assert!(!found.contains("helix") && !found.contains("emacs"), "{found}");
    assert!(store.run_now(&["recall", "zebra"]).exits(0).stdout.contains("helix"));
}

#[test]
fn only_a_person_changes_the_notes_for_all_projects() {
    let store = Store::new();
    store.run(&["--user", "remember", "Editor settings", "Four spaces."]).exits(0);
    store.run(&["remember", "Here", "Text."]).exits(0);
    for command in [
        &["edit", "Editor settings", "--old", "Four", "--new", "Two"][..],
        &["forget", "Editor settings"],
        &["tag", "add", "projects/user/facts/editor-settings.md", "x"],
        &["write", "projects/user/facts/editor-settings.md", "x"],
        &["move", "Editor settings", "Other"],
        &["link", "Editor settings", "Here"],
        &["link", "Here", "Editor settings"],
        &["remember", "Linked", "Text.", "--link", "Editor settings"],
        &["related", "Editor settings"],
        &["tools", "mem_edit", r#"{"name": "Editor settings", "old_str": "Four", "new_str": "Two"}"#],
        &["tools", "mem_forget", r#"{"name": "Editor settings"}"#],
    ] {
        store.refuses(command, 3, "for all projects");
    }
    store.refuses(&["--provenance", "agent", "--user", "remember", "x", "y"], 3, "shared by all projects");
    store.run(&["--provenance", "agent", "--scope", "all", "--user", "remember", "Allowed", "y"]).exits(0);
    store.run(&["--provenance", "tool", "--scope", "all", "--user", "remember", "Page", "Obey the page."]).exits(0);
    let context = store.run(&["context"]).exits(0);
    assert!(!context.stdout.contains("Obey"), "{context:?}");
    assert!(context.stderr.contains("unapproved"), "{context:?}");
    store.run(&["--user", "edit", "Editor settings", "--old", "Four", "--new", "Two"]).exits(0);
    assert!(store.run(&["context"]).exits(0).stdout.contains("Two spaces."));
}

#[test]
fn a_list_of_notes_has_those_for_all_projects_in_its_order() {
    let store = Store::new();
    store.run(&["--user", "remember", "B of all", "Text.", "--tag", "style"]).exits(0);
    store.run(&["remember", "A here", "Text of a."]).exits(0);
    store.run(&["remember", "C here", "Text.", "--tag", "style"]).exits(0);
    let (a, b, c) = (
        format!("{}facts/a-here.md  A here\n", store.memory),
        "projects/user/facts/b-of-all.md  B of all\n".to_string(),
        format!("{}facts/c-here.md  C here\n", store.memory),
    );
    store.run(&["list", "--kind", "note"]).exits(0).prints(&[&*a, &*b, &*c].concat());
    store.run(&["list", "--kind", "note", "--sort", "title-"]).exits(0).prints(&[&*c, &*b, &*a].concat());
    store.run(&["list", "--kind", "note", "-n", "2"]).exits(0).prints(&[&*a, &*b].concat());
    store.run(&["list", "--kind", "note", "-n", "1"]).exits(0).prints(&a);
    store.run(&["list", "--kind", "note", "--tag", "style"]).exits(0).prints(&[&*b, &*c].concat());
    let json = store.run(&["--json", "list", "--kind", "note"]).exits(0).json();
    assert_eq!((json["items"].as_array().unwrap().len(), &json["total"]), (3, &3.into()), "{json}");
    store.run(&["--user", "list", "--kind", "note"]).exits(0).prints(&b);
    store.run(&["list", "--linked-by", "A here"]).exits(0).prints("");
    store.run(&["list", "--kind", "log"]).exits(0).prints("");
}
