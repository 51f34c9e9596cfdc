//! `import --from` and `export --to`.

use std::fs::{self, File};
use std::path::Path;

use crate::support::{Run, Store};

const TOPIC: &str = "---\nname: role\ndescription: who\ntype: user\n---\n\nEngineer.\n";

fn put(folder: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, text).expect("written");
    }
}

fn claude(store: &Store) {
    put(&store.here.join("claude"), &[("MEMORY.md", "- [Role](role.md) — who\n"), ("role.md", TOPIC), ("x.txt", "no")]);
}

#[test]
fn the_memory_of_another_agent_comes_in_once() {
    let store = Store::new();
    claude(&store);
    let before = store.tree();
    let arguments = ["memory", "import", "claude", "--from", "claude-code"];
    let summary = "1 upserted, 0 unchanged, 0 conflicts, 0 kept, 0 rejected\n";
    store.run(&[&arguments[..], &["--dry-run"]].concat()).exits(0).prints(&format!("Would import: {summary}"));
    assert_eq!(store.tree(), before);
    store.run(&arguments).exits(0).prints(&format!("Imported: {summary}"));
    let text = store.text("agents/main/entries/core/role.md");
    assert!(text.contains("source: \"import:claude-code ") && text.contains("/claude/role.md:1 #"), "{text}");
    assert!(text.contains("tags: [claude-code, \"type:user\"]") && text.ends_with("---\n\nEngineer."), "{text}");
    let after = store.tree();
    let again = store.run(&[&["--json"], &arguments[..]].concat()).exits(0).json();
    assert_eq!((&again["upserted"], &again["unchanged"]), (&0.into(), &1.into()));
    assert_eq!(store.tree(), after);
    store.run(&["memory", "import", "claude", "--from", "auto"]).exits(0).complains("claude looks like claude-code");
    assert_eq!(store.tree(), after);
}

#[test]
fn a_key_that_says_something_else_here_is_a_conflict_that_is_named() {
    let store = Store::new();
    claude(&store);
    store.run(&["remember", "--key", "role", "mine"]).exits(0);
    let run = store.run(&["memory", "import", "claude", "--from", "claude-code"]).exits(0);
    assert!(
        run.stdout.starts_with("conflict: role has different content here; the imported content is stored as role_"),
        "{run:?}"
    );
    store.run(&["show", "role"]).prints("mine");
    let json =
        store.run(&["--json", "memory", "import", "claude", "--from", "claude-code", "--dry-run"]).exits(0).json();
    assert_eq!((json["unchanged"].as_u64(), json["conflicts"].as_array().map(Vec::len)), (Some(1), Some(0)));
}

#[test]
fn exports_go_into_folders_files_and_streams_and_say_what_is_lost() {
    let store = Store::new();
    store.run(&["remember", "--key", "deploy", "The staging\ncluster", "-t", "ops", "--source", "slack"]).exits(0);
    let run = store.run(&["memory", "export", "--to", "mcp-memory", "--out", "graph"]).exits(0);
    assert!(
        run.stdout.contains("lost: source of deploy: ") && run.stdout.contains("lost: created of all entries: "),
        "{run:?}"
    );
    let text = fs::read_to_string(store.here.join("graph/memory.jsonl")).unwrap();
    assert!(text.contains("\"observations\":[\"The staging\\ncluster\"]"), "{text}");
    let dump = store.run(&["memory", "export", "--to", "jsonl", "--out", "-"]).exits(0).stdout;
    store.run(&["memory", "export", "--to", "jsonl", "--out", "dump.jsonl"]).exits(0);
    assert_eq!(fs::read_to_string(store.here.join("dump.jsonl")).unwrap(), dump);
    store.refuses(&["memory", "export", "--to", "jsonl", "--out", "dump.jsonl"], 3, "already exists");
    for format in ["openclaw", "codex", "auto"] {
        store.refuses(&["memory", "export", "--to", format, "--out", "x"], 2, "[possible values: markdown, jsonl, ");
    }

    let other = Store::new();
    let run: Run = other.run_with(&["memory", "import", "-", "--from", "jsonl", "--trust"], dump.as_bytes()).exits(0);
    run.prints("Imported: 1 upserted, 0 unchanged, 0 conflicts, 0 kept, 0 rejected\n");
    assert_eq!(other.tree().len(), store.tree().len());
    assert_eq!(other.text("agents/main/entries/core/deploy.md"), store.text("agents/main/entries/core/deploy.md"));
    let mut command = store.command(&["memory", "export", "--to", "claude-code", "--out", "-"]);
    let tar = command.output().expect("it runs").stdout;
    other.run_with(&["memory", "import", "-", "--from", "claude-code"], &tar).exits(0);
}

#[test]
fn a_tar_stream_that_is_cut_or_empty_or_goes_on_changes_nothing() {
    let store = Store::new();
    store.run(&["remember", "--key", "kept", "one"]).exits(0);
    store.run(&["remember", "--key", "other", "two"]).exits(0);
    let tar = store.command(&["memory", "export", "--out", "-"]).output().expect("it runs").stdout;
    let before = store.tree();
    let end = tar.len() - tar.iter().rev().take_while(|&&byte| byte == 0).count();
    let cut = &tar[..end.next_multiple_of(512)];
    let first = tar[..cut.len() / 2].len() / 512 * 512;
    let twice = [&tar[..], &tar[..]].concat();
    for (stream, reason) in [
        (&[][..], "its end marker is missing"),
        (cut, "its end marker is missing"),
        (&tar[..first], "not a complete tar stream"),
        (&twice, "goes on after the end"),
    ] {
        let arguments = ["memory", "import", "-", "--mode", "replace", "--trust", "--yes"];
        store.run_with(&arguments, stream).exits(3).complains(reason);
        assert_eq!(store.tree(), before, "{reason}");
    }
    store.run_with(&["memory", "import", "-", "--mode", "replace", "--trust", "--yes"], &tar).exits(0);
    assert_eq!(store.tree(), before);
}

#[test]
fn hidden_files_of_a_tar_stream_are_skipped_as_those_of_a_folder_are() {
    let mut archive = tar::Builder::new(Vec::new());
    for path in ["./.git/x.md", ".hidden.md", "core/shown.md"] {
        let mut header = tar::Header::new_gnu();
        header.set_size(1);
        header.set_mode(0o644);
        archive.append_data(&mut header, path, &b"x"[..]).expect("appended");
    }
    let archive = archive.into_inner().expect("finished");
    let json = Store::new().run_with(&["--json", "memory", "import", "-"], &archive).exits(0).json();
    assert_eq!((json["upserted"].as_u64(), &json["rejected"]), (Some(1), &serde_json::json!([])), "{json}");
}

#[test]
fn a_large_file_in_a_tar_stream_is_read_whole_or_refused() {
    let archive = |text: &str| {
        let mut archive = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, "MEMORY.md", text.as_bytes()).expect("appended");
        archive.into_inner().expect("finished")
    };
    let import =
        |text: &str| Store::new().run_with(&["--json", "memory", "import", "-", "--from", "openclaw"], &archive(text));
    // Larger than our own files may be.
    let text: String = (0..500).map(|number| format!("- fact {number} {}\n", "x".repeat(600))).collect();
    let read = import(&text).exits(0).json();
    assert_eq!((read["upserted"].as_u64(), &read["rejected"]), (Some(500), &serde_json::json!([])));
    let refused = import(&text.repeat(14)).exits(3).json();
    assert_eq!(refused["upserted"], 0);
    let reason = refused["rejected"][0]["reason"].as_str().expect("a reason");
    assert_eq!(reason, "it has more than 4194304 bytes, the limit of a file of this format");
}

#[cfg(unix)]
#[test]
fn a_hostile_folder_is_named_file_by_file_and_the_rest_comes_in() {
    let store = Store::new();
    claude(&store);
    let folder = store.here.join("claude");
    fs::write(store.here.join("secret.md"), "secret").unwrap();
    std::os::unix::fs::symlink(store.here.join("secret.md"), folder.join("link.md")).unwrap();
    std::os::unix::fs::symlink(&folder, folder.join("cycle")).unwrap();
    fs::write(folder.join("latin.md"), b"caf\xe9").unwrap();
    fs::write(folder.join("broken.md"), "---\nname: [\n---\nx\n").unwrap();
    File::create(folder.join("huge.md")).unwrap().set_len(10 << 30).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.join("pipe.md")).status().expect("mkfifo runs");
    assert!(made.success());
    let json = store.run(&["--json", "memory", "import", "claude", "--from", "claude-code"]).exits(3).json();
    assert_eq!(json["upserted"], 1, "{json}");
    let rejected: Vec<(&str, &str)> = json["rejected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| (part["path"].as_str().unwrap(), part["reason"].as_str().unwrap()))
        .collect();
    let reason =
        |path: &str| rejected.iter().find(|(found, _)| *found == path).map(|(_, reason)| *reason).unwrap_or_default();
    assert_eq!(reason("link.md"), "it is a link, and links are not followed");
    assert_eq!(reason("cycle"), "it is a link, and links are not followed");
    assert_eq!(reason("pipe.md"), "it is not a regular file");
    assert!(reason("huge.md").contains("more than 4194304 bytes"), "{rejected:?}");
    assert!(reason("latin.md").contains("not UTF-8 text: at byte 3"), "{rejected:?}");
    assert!(!reason("broken.md").is_empty(), "{rejected:?}");
    assert_eq!(rejected.len(), 6, "{rejected:?}");
    store.run(&["recall", "--kind", "entry", "secret"]).exits(1);
    store.refuses(&["memory", "import", "claude/pipe.md", "--from", "jsonl"], 3, "neither a folder nor a regular file");
    let again = store.run(&["--json", "memory", "import", "claude", "--from", "auto"]).exits(3).json();
    assert_eq!(again["rejected"], json["rejected"], "the format is found without reading the pipe");
}

#[test]
fn what_is_on_the_machine_is_shown_before_anything_is_done() {
    let store = Store::new();
    let home = store.here.join("home");
    put(
        &home,
        &[
            (".openclaw/workspace/MEMORY.md", "- **a**: x\n"),
            (".gemini/GEMINI.md", "## Gemini Added Memories\n- fact\n"),
        ],
    );
    fs::create_dir_all(store.here.join(".zk")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = store.command(arguments);
        command.env("HOME", &home).env("USERPROFILE", &home);
        for name in
            ["CLAUDE_CONFIG_DIR", "HERMES_HOME", "MEMORY_FILE_PATH", "ZS_CONFIG_DIR", "ZS_DATA_DIR", "ZK_NOTEBOOK_DIR"]
        {
            command.env_remove(name);
        }
        crate::support::run(&mut command, None)
    };
    let before = store.tree();
    let shown = "OpenClaw: ~/.openclaw/workspace: 1 file, 1 upserted";
    run(&["memory", "import", "--from", "auto"])
        .exits(3)
        .complains(shown)
        .complains("2 sources would be imported, and standard input is not a terminal");
    run(&["memory", "import", "--from", "auto", "--dry-run"])
        .exits(0)
        .complains(shown)
        .complains("opened in place with --root");
    assert_eq!(store.tree(), before);
    let done = run(&["--json", "memory", "import", "--from", "auto", "--yes"]).exits(0).complains(shown).json();
    assert_eq!(done["sources"].as_array().map(Vec::len), Some(2), "{done}");
    run(&["memory", "import", "--from", "auto"]).exits(0).prints("There is nothing new\n");
}

#[test]
fn bad_use_changes_nothing() {
    let store = Store::new();
    claude(&store);
    store.refuses(
        &["memory", "import", "claude", "--from", "claude-code", "--mode", "replace"],
        2,
        "--mode replace works only with files of entries",
    );
    store.refuses(&["memory", "import", "--from", "claude-code"], 2, "needs the folder or the file to import");
    store.refuses(&["memory", "import"], 2, "required");
    store.refuses(&["memory", "import", "claude", "--from", "nonsense"], 2, "invalid value");
    store.refuses(&["memory", "import", "missing", "--from", "openclaw"], 3, "`missing` cannot be read");
    put(&store.here.join("notebook"), &[(".zk/config.toml", ""), ("a.md", "x")]);
    store.refuses(&["memory", "import", "notebook", "--from", "auto"], 2, "is opened in place, and not imported");
    put(&store.here.join("other"), &[("a.txt", "x")]);
    store.refuses(&["memory", "import", "other", "--from", "auto"], 2, "has no known format");
    put(&store.here.join("snap"), &[("MEMORY_SNAPSHOT.md", "# Version 9\n")]);
    store.run(&["memory", "import", "snap", "--from", "auto"]).exits(3).complains("zeroclaw");
}

#[test]
fn an_older_export_names_what_it_would_replace_and_waits_for_a_yes() {
    let store = Store::new();
    store.run(&["remember", "--key", "changed", "old"]).exits(0);
    store.run(&["remember", "--key", "same", "text"]).exits(0);
    store.run(&["remember", "--key", "gone", "text"]).exits(0);
    store.run(&["memory", "export", "--out", "out"]).exits(0);
    store.run(&["remember", "--key", "changed", "new"]).exits(0);
    let refused = store.run(&["memory", "import", "out"]).exits(3);
    let refused = refused.complains("to replace: changed  (from core/changed.md)");
    let refused = refused.complains(
        "1 entry with different text, category or tags would be replaced, and standard input is not a terminal",
    );
    assert!(!refused.stderr.contains("same"), "{refused:?}");
    store.run(&["show", "changed"]).prints("new");
    store.run(&["memory", "import", "out", "--dry-run"]).exits(0).complains("to replace: changed");
    let done =
        store.run(&["--json", "memory", "import", "out", "--yes"]).exits(0).complains("to replace: changed").json();
    assert_eq!((&done["replaced"], &done["upserted"]), (&serde_json::json!(["changed"]), &1.into()));
    store.run(&["show", "changed"]).prints("old");
    // What replaces nothing needs no answer.
    Store::new().run(&["memory", "import", store.here.join("out").to_str().expect("text")]).exits(0);
}

#[test]
fn the_tombstone_of_an_export_names_the_entry_that_it_would_forget() {
    let store = Store::new();
    store.run(&["remember", "--key", "gone", "old"]).exits(0);
    store.run(&["forget", "gone"]).exits(0);
    store.run(&["memory", "export", "--out", "out", "--forgotten"]).exits(0);
    let other = Store::new();
    other.put("agents/main/entries/core/gone.md", "---\nupdated: 2026-05-01\n---\n\nmine");
    let out = store.here.join("out");
    let refused = other.run(&["memory", "import", out.to_str().expect("text")]).exits(3);
    refused.complains("to forget: gone  (from core/gone.md)");
    other.run(&["show", "gone"]).exits(0).prints("mine");
}

#[test]
fn files_of_another_agent_without_a_format_get_a_tip() {
    let store = Store::new();
    claude(&store);
    let tip = "it looks like claude-code, which `--from claude-code` imports";
    store.run(&["memory", "import", "claude"]).exits(3).complains(tip);
    put(&store.here.join("empty"), &[("x.txt", "no")]);
    store
        .run(&["memory", "import", "empty"])
        .exits(1)
        .complains("no entry was found in empty")
        .complains("--from FORMAT");
    put(&store.here, &[("memory.jsonl", "{}\n")]);
    store.refuses(&["memory", "import", "memory.jsonl"], 2, "`--from mcp-memory` imports");
}

#[test]
fn links_index_and_categories_come_back_after_an_import_and_an_export() {
    let store = Store::new();
    let index = "# Memory\n\n- [Who I am](user_role.md) — an engineer\n\n## Feedback\n\n- [Tests](feedback_testing.md) — run them first\n";
    let role = "---\nname: User role\ndescription: who\ntype: user\n---\n\nSee [tests](feedback_testing.md).\n";
    let tests = "---\nname: testing\ndescription: how to test\nmetadata:\n  node_type: memory\n  type: feedback\n---\n\nSee [[User role]].\n";
    put(&store.here.join("theirs"), &[("MEMORY.md", index), ("user_role.md", role), ("feedback_testing.md", tests)]);
    store.run(&["memory", "import", "theirs", "--from", "claude-code", "--trust"]).exits(0);
    let run = store.run(&["memory", "export", "--to", "claude-code", "--out", "ours"]).exits(0);
    assert!(run.stdout.contains("to ours; 0 losses"), "{run:?}");
    let text = |path: &str| fs::read_to_string(store.here.join(path)).expect("an exported file");
    assert_eq!(text("ours/MEMORY.md"), index);
    assert!(text("ours/user_role.md").contains("name: \"User role\"\n"));
    assert!(text("ours/feedback_testing.md").contains("  node_type: memory\n"));

    let store = Store::new();
    let search = "---\ntitle: Search Engine\ntype: note\npermalink: shop/search\nstatus: done\n---\n\nSee [[Mail Queue]].\n\n\
                  - [decision] Use BM25 #ranking (measured)\n- depends_on [[Mail Queue]]\n";
    let queue = "---\ntitle: Mail Queue\ntype: note\npermalink: shop/mail-queue\n---\n\n- [limit] Four attempts\n";
    put(&store.here.join("theirs"), &[("Search.md", search), ("mail-queue.md", queue)]);
    store.run(&["memory", "import", "theirs", "--from", "auto", "--trust"]).exits(0);
    store.run(&["memory", "export", "--to", "basic-memory", "--out", "ours"]).exits(0);
    let text = |path: &str| fs::read_to_string(store.here.join(path)).expect("an exported file");
    for (path, given) in [("ours/Search.md", search), ("ours/mail-queue.md", queue)] {
        let written = text(path).replace('"', "");
        for line in given.lines().filter(|line| !line.is_empty()) {
            assert!(written.contains(line), "{line} is not in {written}");
        }
    }
}

#[test]
fn a_plain_list_of_codex_comes_in_and_an_empty_one_is_named() {
    let store = Store::new();
    put(&store.here.join("codex"), &[("MEMORY.md", "- prefers tabs\n- staging is on port 8443\n")]);
    let run = store.run(&["memory", "import", "codex", "--from", "codex"]).exits(0);
    run.prints("Imported: 2 upserted, 0 unchanged, 0 conflicts, 0 kept, 0 rejected\n");
    put(&store.here.join("empty"), &[("MEMORY.md", "# Memory\n")]);
    store.run(&["memory", "import", "empty", "--from", "codex"]).exits(1).complains("no memory in the format codex");
}

#[test]
fn a_file_of_instructions_is_not_taken_for_memory() {
    let store = Store::new();
    put(
        &store.here.join("project"),
        &[("AGENTS.md", "# Rules\n\n- Use tabs.\n"), ("docs/guide.md", "# Guide\n\nSee [[x]].\n")],
    );
    let before = store.tree();
    for path in ["project/AGENTS.md", "project"] {
        let run = store.run(&["memory", "import", path, "--from", "auto"]).exits(2);
        run.complains("has no known format").complains("agents-md sync");
    }
    assert_eq!(store.tree(), before);
}

#[test]
fn the_memory_of_a_project_comes_into_this_project_alone_also_after_an_approval() {
    let store = Store::new();
    let home = store.here.join("home");
    let run = |project: &str, arguments: &[&str]| {
        let mut command = store.project_command(project, arguments);
        command.env("HOME", &home).env("USERPROFILE", &home).env("CLAUDE_CONFIG_DIR", home.join(".claude"));
        command.current_dir(store.here.join(project));
        crate::support::run(&mut command, None)
    };
    let name: String = store.here.join("shop").to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let memory = home.join(".claude/projects").join(&name).join("memory");
    put(&memory, &[("MEMORY.md", "- [Role](role.md) — who\n"), ("role.md", TOPIC)]);
    put(&store.here.join("shop"), &[("GEMINI.md", "## Gemini Added Memories\n- The till is by the door.\n")]);
    put(&home, &[(".openclaw/workspace/MEMORY.md", "- **tea**: Green, in the morning.\n")]);

    run("shop", &["memory", "import", "--from", "auto", "--yes"]).exits(0);
    let waiting = run("shop", &["--json", "list", "--pending"]).exits(0).json();
    let items = waiting["items"].as_array().expect("a list");
    let only_in = |item: &serde_json::Value| item["projects"].as_array().expect("a list").len();
    let names: Vec<(&str, usize)> =
        items.iter().map(|item| (item["name"].as_str().expect("a name"), only_in(item))).collect();
    assert_eq!(names.iter().map(|(_, count)| count).sum::<usize>(), 2, "{names:?}");
    assert!(names.contains(&("role", 1)) && names.contains(&("tea", 0)), "{names:?}");
    for item in items {
        let (name, version) = (item["name"].as_str().expect("text"), item["version"].as_str().expect("text"));
        run("shop", &["memory", "approve", name, "--base", version]).exits(0);
    }
    let of_shop = run("shop", &["context", "--entries"]).exits(0).stdout;
    let of_bank = run("bank", &["context", "--entries"]).exits(0).stdout;
    for text in ["Engineer.", "The till is by the door."] {
        assert!(of_shop.contains(text) && !of_bank.contains(text), "{text}: {of_shop} {of_bank}");
    }
    assert!(of_shop.contains("Green") && of_bank.contains("Green"), "{of_shop} {of_bank}");
    assert_eq!(run("shop", &["--json", "list", "--pending"]).exits(0).json()["total"], 0);
    let to_bank = run("bank", &["memory", "export", "--to", "claude-code", "--out", "-"]).stdout;
    assert!(!to_bank.contains("Engineer.") && to_bank.contains("Green"), "{to_bank}");

    // The same words of another project are for that project too.
    let name: String = store.here.join("bank").to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let other = home.join(".claude/projects").join(&name).join("memory");
    put(&other, &[("MEMORY.md", "- [Role](role.md) — who\n"), ("role.md", TOPIC)]);
    run("bank", &["memory", "import", "--from", "claude-code", other.to_str().expect("text"), "--trust"]).exits(0);
    assert!(run("bank", &["context", "--entries"]).exits(0).stdout.contains("Engineer."));
    assert!(!run("third", &["context", "--entries"]).stdout.contains("Engineer."));
    // A person who says it says it for all.
    run("shop", &["remember", "--key", "role", "Engineer."]).exits(0);
    assert!(run("third", &["context", "--entries"]).exits(0).stdout.contains("Engineer."));
}

#[test]
fn memory_of_another_project_goes_there_or_is_refused() {
    let store = Store::new();
    let run_from = |project: &str, arguments: &[&str]| {
        let folder = store.here.join(project);
        fs::create_dir_all(folder.join(".git")).expect("made");
        let mut command = store.bare(&["--durability", "fast", "--now", crate::support::NOW, "--engine"]);
        command.arg(crate::support::engine()).arg("--root").arg(&store.root).args(arguments).current_dir(folder);
        crate::support::run(&mut command, None)
    };
    let name: String = store.here.join("shop").to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    put(
        &store.here.join("projects").join(name).join("memory"),
        &[("MEMORY.md", "- [Role](role.md) — who\n"), ("role.md", TOPIC)],
    );
    let import = ["memory", "import", "--from", "claude-code", "--trust"];
    let name: String = store.here.join("shop").to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let from = store.here.join("projects").join(name).join("memory");
    let import = [&import[..], &[from.to_str().expect("text")]].concat();
    run_from("bank", &import).exits(2).complains("is the memory of another project").complains("--scope all");
    assert!(store.tree().is_empty(), "{:?}", store.tree());
    // The store knows the folder of a project that it has memory of.
    run_from("shop", &["remember", "Port", "The port is 8443."]).exits(0);
    run_from("bank", &import).exits(0);
    assert!(run_from("shop", &["context", "--entries"]).exits(0).stdout.contains("Engineer."));
    assert!(!run_from("bank", &["context", "--entries"]).stdout.contains("Engineer."));

    // Its folder is moved, and the memory with it.
    fs::rename(store.here.join("shop"), store.here.join("store")).expect("moved");
    let named = run_from("store", &["--json", "project"]).exits(0).json();
    let shop = named["projects"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|project| project["name"].as_str().is_some_and(|name| name.starts_with("shop-")));
    let shop = shop.expect("the project")["name"].as_str().expect("text").to_string();
    run_from("store", &["project", "--move", &shop, "--yes"]).exits(0);
    assert!(run_from("store", &["context", "--entries"]).exits(0).stdout.contains("Engineer."));
    let file = store.text("agents/main/entries/core/role.md");
    assert!(file.contains("origin-project: store-") && !file.contains(&shop), "{file}");
    // A new folder at the old place begins with nothing.
    assert!(!run_from("shop", &["context", "--entries"]).stdout.contains("Engineer."));

    run_from("bank", &[&import[..], &["--scope", "all"]].concat()).exits(0);
}
