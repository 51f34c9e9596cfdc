//! Output of the program for valid input.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::support::{NOW, Store, TODAY, engine, run, tree_of};

#[test]
fn a_written_text_is_read_listed_and_found() {
    let store = Store::new();
    store
        .run(&["write", "long_term", "staging port 8443"])
        .exits(0)
        .prints("Wrote 17 bytes to MEMORY.md; all projects share it\n");
    store.run(&["write", "scratchpad", "- [ ] water the plants"]).exits(0);
    store.run(&["write", "note:auth", "uses jose"]).exits(0);
    store.run(&["log", "deployed", "went well"]).exits(0);
    assert_eq!(store.text(TODAY), "\n### 09:15 — deployed\nwent well\n");
    store.run(&["show", "note:auth"]).exits(0).prints("uses jose\n");
    store
        .run(&["show", "note:auth", "--offset", "5", "--max-bytes", "4"])
        .exits(0)
        .prints("jose")
        .complains("--offset 9");
    let files = ["MEMORY.md", "SCRATCHPAD.md"].map(|path| store.printed(path) + "\n");
    store.run(&["list", "--kind", "file", "--sort", "path"]).exits(0).prints(&files.concat());
    let found = store.run(&["search", "JOSE"]).exits(0);
    assert!(found.stdout.starts_with("Searched 1 term: JOSE(1) across 1 file. Showing top 1"), "{found:?}");
    let block = store.run(&["context"]).exits(0);
    assert!(block.stdout.starts_with("<memory note=") && block.stdout.ends_with("</memory>\n"), "{block:?}");
}

#[test]
fn a_long_text_is_refused_unless_the_cut_is_asked_for() {
    let store = Store::new();
    let long = vec![b'x'; 20_000_000];
    let refused = store.run_with(&["write", "note:long", "-"], &long).exits(3);
    refused.complains("the text has 20000000 bytes, the limit is 65536").prints("");
    assert!(store.tree().is_empty());
    let cut = store.run_with(&["write", "note:long", "-", "--truncate"], &long).exits(0);
    assert!(cut.stdout.contains("truncated from 20000000 bytes"), "{}", cut.stdout);
    assert_eq!(store.bytes("notes/long.md").len(), 65_537);
}

#[test]
fn a_page_is_read_and_edited_by_what_other_commands_print() {
    let store = Store::new();
    let remembered = store.run(&["remember", "Postgres port", "It is 5432."]).exits(0).stdout;
    let path = remembered.trim_end().strip_prefix("Remembered in ").expect("the path is printed");
    for name in [vec![path], vec!["page:Postgres port"]] {
        let read = store.run(&[vec!["show"], name].concat()).exits(0);
        assert!(read.stdout.contains("It is 5432."), "{read:?}");
    }
    store.run(&["edit", path, "--old", "5432", "--new", "5433"]).exits(0);
    assert!(store.run(&["show", path]).exits(0).stdout.contains("It is 5433."));
    store.refuses(
        &["show", "page:Postgres ports"],
        1,
        &format!("notes like it: {}", store.printed("facts/postgres-port.md")),
    );
}

#[test]
fn nothing_found_exits_with_1() {
    let store = Store::new();
    store.run(&["search", "nothing"]).exits(1).prints("No matches for 'nothing'.\n");
    store
        .run(&["show", "note:none"])
        .exits(1)
        .prints("")
        .complains(&format!("there is no {}", store.printed("notes/none.md")));
    store.run(&["list", "--kind", "file"]).exits(0).prints("");
    store.run(&["context"]).exits(1).prints("");
    assert!(store.tree().is_empty());
    // A memory with facts is not empty, even if none of them is in a block.
    store.run(&["remember", "Port", "It is 5432."]).exits(0);
    store.run(&["context", "--overflow", "documented"]).exits(0).prints("").complains("--recall");
    store.run(&["--json", "context"]).exits(0);
}

#[test]
fn a_hyphen_reads_standard_input() {
    let store = Store::new();
    store.run_with(&["write", "note:a", "-"], b"from a pipe\n").exits(0);
    assert_eq!(store.text("notes/a.md"), "from a pipe\n");
    store.run_with(&["edit", "note:a", "--old", "pipe", "--new", "-"], b"tube").exits(0);
    store.run_with(&["log", "head", "-"], b"body\n").exits(0);
    store.run_with(&["search", "-"], b"tube").exits(0);
    store.run_with(&["log", "--compaction", "--messages", "12", "-"], b"summary").exits(0);
    assert!(store.text(TODAY).contains("compaction summary (12 msgs)\nsummary\n"));
}

#[test]
fn a_fixed_clock_repeats_a_run() {
    let session = || {
        let store = Store::new();
        let trace = store.here.join("trace");
        for arguments in
            [&["write", "long_term", "fact"][..], &["log", "heading", "body"], &["write", "note:a", "text"]]
        {
            run(store.command(arguments).arg("--trace").arg(&trace), None).exits(0);
        }
        let keys = fs::read_to_string(trace).expect("a trace");
        let keys: Vec<Value> = keys.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")).collect();
        let keys: Vec<Value> =
            keys.into_iter().map(|call| call["handle-memory-result"]["reply"]["key"].clone()).collect();
        assert!(keys.iter().filter(|key| key.is_string()).count() >= 3, "{keys:?}");
        let files: Vec<Vec<u8>> = store.tree().into_values().collect();
        (keys, files, store.run(&["context"]).stdout)
    };
    assert_eq!(session(), session());
}

#[test]
fn a_trace_has_every_request_and_its_result() {
    let store = Store::new();
    store.put("notes/raw.md", b"\xff");
    let trace = store.here.join("trace");
    run(store.command(&["--json", "search", "word"]).arg("--trace").arg(&trace), None).exits(1);
    let text = fs::read_to_string(trace).expect("a trace");
    let calls: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |kind: &str| calls.iter().filter(|call| call.get(kind).is_some()).collect::<Vec<_>>();
    assert_eq!((of("saddlebag-trace").len(), of("submit").len(), of("take").len()), (1, 1, 1));
    let keys = |of: &dyn Fn(&Value) -> Vec<Value>| {
        let mut keys: Vec<String> = calls.iter().flat_map(of).map(|key| key.to_string()).collect();
        keys.sort_unstable();
        keys
    };
    let requested = keys(&|call| {
        let requests = call["returned"]["ok"]["requests"].as_array().cloned().unwrap_or_default();
        requests.into_iter().map(|request| request["key"].clone()).collect()
    });
    let answered = keys(&|call| {
        call.get("handle-memory-result").map(|result| result["reply"]["key"].clone()).into_iter().collect()
    });
    assert!(requested == answered && requested.len() >= 2, "{requested:?} {answered:?}");
    let read = calls.iter().map(|call| &call["handle-memory-result"]["reply"]["outcome"]["ok"]["read"]["content"]);
    let bytes = read.map(|content| content["bytes"].clone()).find(|bytes| !bytes.is_null());
    assert_eq!(bytes.expect("the note is read"), "/w==");
}

/// Replies and messages show paths relative to the root, unless the host sets a prefix.
#[test]
fn no_output_has_an_absolute_path_unless_it_is_asked_for() {
    let store = Store::new();
    store.run(&["write", "note:auth", "uses jose"]).exits(0);
    let folder = store.root.parent().expect("a parent").display().to_string();
    for arguments in [
        vec!["list", "--kind", "file"],
        vec!["--json", "list", "--kind", "file"],
        vec!["search", "jose"],
        vec!["show", "note:none"],
        vec!["status"],
        vec!["context", "--report"],
        vec!["edit", "note:auth", "--old", "x", "--new", "y"],
        vec!["restore", "long"],
        vec!["tools", "/memory", "editor"],
        vec!["write", "long", "x"],
        vec!["demo"],
        vec!["--help"],
    ] {
        let shown = store.run(&arguments);
        let temporary = std::env::temp_dir().display().to_string();
        for absolute in [&folder, &temporary] {
            assert!(!shown.stdout.contains(absolute) && !shown.stderr.contains(absolute), "{arguments:?}: {shown:?}");
        }
    }
    let listed = store.run(&["--absolute", "list", "--kind", "note"]).exits(0);
    assert!(listed.stdout.contains(&store.file("notes/auth.md").display().to_string()), "{listed:?}");
}

#[test]
fn path_says_where_things_are_and_makes_nothing() {
    let store = Store::new();
    let at = |path: &str| format!("{}\n", store.file(path).display());
    store.run(&["show", "--path", "root"]).exits(0).prints(&format!("{}\n", store.root.display()));
    store.run(&["show", "--path", "note:auth"]).exits(0).prints(&at("notes/auth.md"));
    store.run(&["show", "--path", "daily"]).exits(0).prints(&at(TODAY));
    store.refuses(&["show", "--path", "note:../x"], 3, "invalid note name");
    store.refuses(&["show", "--path", "daily:9999-99-99"], 3, "invalid daily date name");
    let mut command = store.bare(&["show", "--path", "root", "--json", "--project", "/home/u/work/api", "--root"]);
    let object = run(command.arg(&store.root), None).exits(0).json();
    assert_eq!(object["project"], "api-0db23a34");
    assert!(store.tree().is_empty());
}

#[test]
fn the_default_root_is_made_and_no_other() {
    let store = Store::new();
    let mut command = store.bare(&["write", "long_term", "x", "--engine", &engine()]);
    command.env("XDG_DATA_HOME", store.here.join("data")).env("HOME", store.here.join("home"));
    run(&mut command, None).exits(0);
    if cfg!(target_os = "linux") {
        assert_eq!(fs::read_to_string(store.here.join("data/saddlebag/MEMORY.md")).expect("made"), "x\n");
    }
}

#[test]
fn subfolders_of_a_repository_share_their_memory() {
    let store = Store::new();
    fs::create_dir_all(store.here.join(".git")).expect("made");
    fs::create_dir_all(store.here.join("src/deep")).expect("made");
    let run_in = |folder: &str, arguments: &[&str]| {
        let mut command = store.bare(arguments);
        command.args(["--now", NOW, "--engine", &engine(), "--root"]).arg(&store.root);
        run(command.current_dir(store.here.join(folder)), None)
    };
    run_in("src/deep", &["write", "note:a", "from below"]).exits(0);
    run_in("", &["show", "note:a"]).exits(0).prints("from below\n");
    let project = run_in("", &["show", "note:a", "--project", "src"]).exits(0);
    assert_eq!(project.stdout, "from below\n");
}

#[test]
fn the_demo_leaves_no_files() {
    let store = Store::new();
    let temporary = store.here.join("tmp");
    fs::create_dir(&temporary).expect("made");
    let shown = run(store.command(&["demo"]).env("TMPDIR", &temporary), None).exits(0);
    for text in ["$ saddlebag write", "append MEMORY.md", "Searched 2 terms", "<memory", "</memory>"] {
        assert!(shown.stdout.contains(text), "{text:?} is missing: {shown:?}");
    }
    assert!(store.tree().is_empty());
    if cfg!(unix) {
        assert_eq!(fs::read_dir(&temporary).expect("a folder").count(), 0);
    }
}

#[test]
fn a_reader_that_leaves_is_not_an_error() {
    let store = Store::new();
    store.put("notes/a.md", "x\n".repeat(10_000));
    let mut child = store.command(&["show", "note:a"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.as_mut().expect("started");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("ended").code(), Some(0));
}

#[test]
fn colour_is_for_terminals_unless_asked_for() {
    let store = Store::new();
    store.put("notes/a.md", "word\n");
    assert!(!store.run(&["search", "word"]).stdout.contains('\u{1b}'));
    assert!(store.run(&["--color", "always", "search", "word"]).stdout.contains('\u{1b}'));
    assert!(!store.run(&["--color", "always", "--json", "search", "word"]).stdout.contains('\u{1b}'));
}

#[test]
fn an_append_to_a_large_file_records_what_was_appended() {
    let store = Store::new();
    let mut random = fastrand::Rng::with_seed(7);
    let text: String = (0..4_000).map(|_| format!("- {:016x}{:016x}\n", random.u64(..), random.u64(..))).collect();
    store.put("MEMORY.md", &text);
    let size = || -> u64 {
        let folder = store.root.join(".saddlebag/history");
        let logs = if folder.exists() { tree_of(&folder) } else { Default::default() };
        logs.values().map(|bytes| bytes.len() as u64).sum()
    };
    for line in ["one", "two", "three"] {
        let before = size();
        store.run(&["write", "long_term", line]).exits(0);
        assert!(size() - before < 2_000, "{} bytes for a line", size() - before);
    }
    store.run(&["undo"]).exits(0);
    store.run(&["undo"]).exits(0);
    assert_eq!(store.text("MEMORY.md"), format!("{text}one\n"));
    store.run(&["redo"]).exits(0);
    assert_eq!(store.text("MEMORY.md"), format!("{text}one\ntwo\n"));
    store.run(&["undo"]).exits(0);
    store.run(&["undo"]).exits(0);
    assert_eq!(store.text("MEMORY.md"), text);
}
