//! One store, several projects: what each of them reads and writes of long-term memory.

use std::path::{Path, PathBuf};

use crate::support::Store;

/// The long-term memory of a project, by its path below the root of the store.
fn memory_of(store: &Store, project: &str) -> PathBuf {
    let printed = store.run_in(project, &["--scope", "project", "path", "long_term"]).exits(0).stdout;
    Path::new(printed.trim_end()).strip_prefix(&store.root).expect("it is in the store").into()
}

fn shown(path: &Path) -> &str {
    path.to_str().expect("text")
}

#[test]
fn a_person_writes_for_all_projects_and_an_agent_for_its_own() {
    let store = Store::new();
    let of_a = memory_of(&store, "a");
    store.run_in("a", &["write", "long_term", "of the person"]).exits(0).prints("Wrote 13 bytes to MEMORY.md\n");
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
    assert!(status.starts_with("MEMORY.md: 14B\nMEMORY.md of the project: 12B\n"), "{status}");
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
    let store = Store::new();
    let of_a = memory_of(&store, "a");
    let all = ["--provenance", "agent", "--scope", "all", "write", "long_term", "for all"];
    store.run_in("a", &all).exits(0).prints("Wrote 7 bytes to MEMORY.md\n");
    store.run_in("a", &["--scope", "project", "write", "long_term", "for one"]).exits(0);
    let mut by_variable = store.project_command("a", &["write", "long_term", "for one, too"]);
    crate::support::run(by_variable.env("SADDLEBAG_SCOPE", "project"), None).exits(0);
    assert_eq!(store.text("MEMORY.md"), "for all\n");
    assert_eq!(store.text(shown(&of_a)), "for one\nfor one, too\n");
    store.run_in("a", &["--scope", "projects", "status"]).exits(2).complains("[possible values: project, all]");
    // Without a project there is one file.
    store.run(&["--scope", "project", "write", "long_term", "root"]).exits(0).prints("Wrote 4 bytes to MEMORY.md\n");
    let path = store.run_in("a", &["path", "MEMORY.md"]).exits(0).stdout;
    assert_eq!(Path::new(path.trim_end()), store.root.join("MEMORY.md"));
}

#[test]
fn an_agent_reads_the_shared_memory_and_changes_it_by_no_name() {
    let store = Store::new();
    store.run_in("a", &["write", "long_term", "shared"]).exits(0);
    store.run_in("a", &["write", "long_term", "shared fact", "--mode", "overwrite"]).exits(0);
    store.run_in("a", &["--provenance", "agent", "read", "MEMORY.md"]).exits(0).prints("shared fact");
    let absolute = store.root.join("MEMORY.md");
    let absolute = shown(&absolute);
    let refused: [&[&str]; 10] = [
        &["write", "MEMORY.md", "x"],
        &["write", "MEMORY.md", "x", "--mode", "overwrite"],
        &["edit", "MEMORY.md", "--old", "shared", "--new", "x"],
        &["edit", "page", "--name", "MEMORY.md", "--old", "shared", "--new", "x"],
        &["--absolute", "edit", absolute, "--old", "shared", "--new", "x"],
        &["--absolute", "write", absolute, "x"],
        &["restore", "MEMORY.md"],
        &["slash", "/memory write MEMORY.md x"],
        &["slash", "/memory clear MEMORY.md"],
        &["slash", "/memory restore MEMORY.md"],
    ];
    for arguments in refused {
        let before = store.tree();
        let run = store.run_in("a", &[&["--provenance", "agent"], arguments].concat());
        let run = run.exits(3).complains("is shared by every project");
        run.complains("nothing was changed").complains("--scope all");
        assert_eq!(store.tree(), before, "{arguments:?}");
    }
    // A person who names the file may, and so may an agent that was told to write for all.
    store.run_in("a", &["--scope", "project", "write", "MEMORY.md", "more"]).exits(0);
    store.run_in("a", &["--provenance", "agent", "--scope", "all", "write", "MEMORY.md", "and more"]).exits(0);
    assert_eq!(store.text("MEMORY.md"), "shared fact\nmore\nand more\n");
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
    assert_eq!(store.text(shown(&of_a.with_extension("bak"))), "one\ntwo\nthree\n");
    agent(&["restore", "long_term"]).exits(0);
    assert_eq!(store.text(shown(&of_a)), "one\ntwo\nthree\n");
    agent(&["slash", "/memory clear long_term"]).exits(0);
    assert_eq!(store.text(shown(&of_a)), "");
    agent(&["restore", shown(&of_a)]).exits(0);
    agent(&["edit", shown(&of_a), "--old", "one", "--new", "1"]).exits(0);
    assert_eq!(store.text(shown(&of_a)), "1\ntwo\nthree\n");
    agent(&["edit", shown(&of_a), "--delete"]).exits(2).complains("deletes a whole note");
    agent(&["write", shown(&of_a), "four"]).exits(0);
    assert_eq!(store.text(shown(&of_a)), "1\ntwo\nthree\nfour\n");
    assert!(!store.root.join("MEMORY.md").exists());
    let list = agent(&["list"]).exits(0).stdout;
    assert_eq!(list, format!("{}\n", shown(&of_a)));
}

#[cfg(feature = "mcp")]
mod over_mcp {
    use serde_json::json;

    use super::*;
    use crate::mcp::client::Pipes;
    use crate::mcp::text;

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
        assert!(text(&read).contains("that of all projects is the page MEMORY.md"), "{read}");
        let shared = client_of_a.call("memory_read", json!({ "source": "page", "name": "MEMORY.md" }));
        assert_eq!(shared["structuredContent"]["text"], "staging is 8443\n", "{shared}");
        for arguments in [
            json!({ "target": "page", "name": "MEMORY.md", "old_str": "8443", "new_str": "1" }),
            json!({ "target": "note", "name": "MEMORY.md", "old_str": "8443", "new_str": "1" }),
        ] {
            let refused = client_of_a.call("memory_edit", arguments);
            assert_eq!(refused["isError"], true, "{refused}");
        }
        assert_eq!(store.text("MEMORY.md"), "staging is 8443\n");

        let mut block = |project: &str| {
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
