//! The memory tool of Anthropic's API: the recorded answers of its SDK, and the additions of Saddlebag.

use std::collections::BTreeMap;

use saddlebag::tools::{CallTool, Dialect, ToolAnswer, ToolOptions, ToolSet, ToolsReply};
use saddlebag::{Config, Reply};
use saddlebag_host::HostError;
use serde::Deserialize;
use serde_json::{Value, json};
use support::{
    Kind, SimulatedHost, agent_config, both_engines, host, keep, project_config, run, today, without_history,
};

#[derive(Deserialize)]
struct Recorded {
    sizes: BTreeMap<String, String>,
    listings: Vec<Listing>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Listing {
    path: String,
    header: String,
    entries: Vec<String>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    steps: Vec<Step>,
    files_after: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Step {
    input: Value,
    ok: Option<String>,
    error: Option<String>,
    /// Exception of the original, which is not an answer. An error is expected then.
    crash: Option<String>,
}

fn recorded() -> Recorded {
    serde_json::from_str(include_str!("vectors/anthropic-memory-tool.json")).unwrap()
}

#[derive(Deserialize)]
struct NotFollowed {
    memory_tool: Vec<NotFollowedCase>,
}

#[derive(Deserialize)]
struct NotFollowedCase {
    name: String,
    reason: String,
}

fn not_followed() -> Vec<String> {
    let listed: NotFollowed = toml::from_str(include_str!("vectors-not-followed.toml")).unwrap();
    assert!(listed.memory_tool.iter().all(|case| !case.reason.is_empty()));
    listed.memory_tool.into_iter().map(|case| case.name).collect()
}

fn tell(host: &mut SimulatedHost, dialect: Dialect, input: &Value) -> ToolAnswer {
    let sets = vec![ToolSet::Anthropic];
    let call = CallTool { tool: "memory".into(), input: input.to_string(), options: ToolOptions { sets, dialect } };
    let Reply::Tools(ToolsReply::CallTool(answer)) = run(host, call) else { panic!("no answer of a tool") };
    answer
}

fn sdk(host: &mut SimulatedHost, input: Value) -> ToolAnswer {
    tell(host, Dialect::Sdk, &input)
}

fn done(host: &mut SimulatedHost, input: Value) -> String {
    let answer = sdk(host, input.clone());
    assert!(!answer.is_error, "{input}: {}", answer.text);
    answer.text.into_string()
}

fn refused(host: &mut SimulatedHost, input: Value) -> String {
    let answer = sdk(host, input.clone());
    assert!(answer.is_error, "{input}: {}", answer.text);
    answer.text.into_string()
}

fn file(host: &SimulatedHost, path: &str) -> Option<String> {
    host.executor().files().get(path).map(|bytes| String::from_utf8(bytes.clone()).unwrap())
}

/// Compares the answers with the recording, and returns the first difference as an error.
fn check_case(kind: Kind, case: &Case) -> Result<(), String> {
    let mut host = host(kind, Config { epoch: 1, ..Config::default() }, &[]);
    for step in &case.steps {
        let answer = sdk(&mut host, step.input.clone());
        let wanted = match (&step.ok, &step.error, &step.crash) {
            (Some(text), ..) => (text, false),
            (None, Some(text), _) => (text, true),
            (None, None, Some(_)) if answer.is_error => continue,
            _ => return Err(format!("{}: {answer:?}", step.input)),
        };
        if (answer.text.as_str(), answer.is_error) != (wanted.0.as_str(), wanted.1) {
            return Err(format!("{}: {answer:?} instead of {wanted:?}", step.input));
        }
    }
    let files = host.executor().files();
    let files: BTreeMap<String, String> =
        files.into_iter().map(|(path, bytes)| (path, String::from_utf8(bytes).unwrap())).collect();
    if files == case.files_after { Ok(()) } else { Err(format!("files: {files:?}")) }
}

fn check_listing(kind: Kind, listing: &Listing) -> Result<(), String> {
    let files: [(&str, Vec<u8>); 9] = [
        ("memories/B.md", vec![b'b'; 1024]),
        ("memories/a.txt", b"thirteen byte".to_vec()),
        ("memories/b.txt", Vec::new()),
        ("memories/big", vec![b'x'; 1_048_577]),
        ("memories/k.bin", vec![0xff; 1536]),
        ("memories/node_modules/x", b"123".to_vec()),
        ("memories/sub/one", b"1".to_vec()),
        ("memories/sub/two/three", b"three".to_vec()),
        ("memories/sub/two/four/five", b"5".to_vec()),
    ];
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (*path, bytes.as_slice())).collect();
    let mut host = host(kind, Config { epoch: 1, ..Config::default() }, &files);
    let text = done(&mut host, json!({ "command": "view", "path": listing.path }));
    let mut lines = text.lines().map(|line| {
        // The size of a folder depends on the file system, and a store does not have it.
        let (size, path) = line.split_once('\t').unwrap_or(("", line));
        let is_folder = path.ends_with('/') || path == listing.path;
        if is_folder && !size.is_empty() { format!("<dir>\t{path}") } else { line.to_string() }
    });
    let header = lines.next().unwrap_or_default();
    let lines: Vec<String> = lines.collect();
    if header == listing.header && lines == listing.entries {
        return Ok(());
    }
    Err(format!("{header}\n{lines:#?}"))
}

#[both_engines]
fn the_recorded_answers_of_the_sdk_hold(kind: Kind) {
    let (recorded, not_followed) = (recorded(), not_followed());
    let mut failures = Vec::new();
    for case in recorded.cases.iter().filter(|case| !not_followed.contains(&case.name)) {
        failures.extend(check_case(kind, case).err().map(|why| format!("{} ({kind:?}): {why}", case.name)));
    }
    for listing in recorded.listings.iter().filter(|listing| !not_followed.contains(&listing.path)) {
        failures.extend(check_listing(kind, listing).err().map(|why| format!("{} ({kind:?}): {why}", listing.path)));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(recorded.cases.len() > 25);
}

#[test]
fn what_is_not_followed_differs() {
    let recorded = recorded();
    for name in not_followed() {
        let case = recorded.cases.iter().find(|case| case.name == name);
        let listing = recorded.listings.iter().find(|listing| listing.path == name);
        let outcome = match (case, listing) {
            (Some(case), _) => check_case(Kind::Native, case),
            (None, Some(listing)) => check_listing(Kind::Native, listing),
            (None, None) => panic!("{name} is not recorded"),
        };
        assert!(outcome.is_err(), "{name} is followed: take it off the list");
    }
}

#[test]
fn sizes_are_the_recorded_ones() {
    for (bytes, wanted) in recorded().sizes {
        let bytes: usize = bytes.parse().unwrap();
        // The largest case takes too much memory.
        if bytes > 2 << 20 {
            continue;
        }
        let content = vec![b'x'; bytes];
        let mut host = host(Kind::Native, Config { epoch: 1, ..Config::default() }, &[("memories/f", &content)]);
        let text = done(&mut host, json!({ "command": "view", "path": "/memories" }));
        assert!(text.ends_with(&format!("\n{wanted}\t/memories/f")), "{bytes}: {text}");
    }
}

#[both_engines]
fn the_documentation_says_it_in_its_own_words(kind: Kind) {
    let mut host = host(kind, project_config(), &[]);
    for (input, text, is_error) in [
        (
            json!({ "command": "create", "path": "/memories/a.txt", "file_text": "1\n2\n" }),
            "File created successfully at: /memories/a.txt",
            false,
        ),
        (
            json!({ "command": "create", "path": "/memories/a.txt", "file_text": "" }),
            "Error: File /memories/a.txt already exists",
            true,
        ),
        (
            json!({ "command": "str_replace", "path": "/memories/a.txt", "old_str": "1", "new_str": "one" }),
            "The memory file has been edited.\n     1\tone\n     2\t2\n     3\t",
            false,
        ),
        (
            json!({ "command": "str_replace", "path": "/memories/b.txt", "old_str": "1", "new_str": "" }),
            "Error: The path /memories/b.txt does not exist. Please provide a valid path.",
            true,
        ),
        (
            json!({ "command": "insert", "path": "/memories/b.txt", "insert_line": 0, "insert_text": "x" }),
            "Error: The path /memories/b.txt does not exist",
            true,
        ),
        (
            json!({ "command": "insert", "path": "/memories/a.txt", "insert_line": 3, "insert_text": "x" }),
            "Error: Invalid `insert_line` parameter: 3. It should be within the range of lines of the file: [0, 2]",
            true,
        ),
        (
            json!({ "command": "delete", "path": "/memories/b.txt" }),
            "Error: The path /memories/b.txt does not exist",
            true,
        ),
        (
            json!({ "command": "rename", "old_path": "/memories/a.txt", "new_path": "/memories/a.txt" }),
            "Error: The destination /memories/a.txt already exists",
            true,
        ),
        (
            json!({ "command": "view", "path": "/memories/b.txt" }),
            "The path /memories/b.txt does not exist. Please provide a valid path.",
            true,
        ),
    ] {
        let answer = tell(&mut host, Dialect::Docs, &input);
        assert_eq!((answer.text.as_str(), answer.is_error), (text, is_error), "{input}");
    }
    let listing = tell(&mut host, Dialect::Docs, &json!({ "command": "view", "path": "/memories" })).text;
    assert!(listing.as_str().starts_with("Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n"), "{listing}");
}

const STORE: [(&str, &[u8]); 12] = [
    ("MEMORY.md", b"long\n"),
    ("MEMORY.bak", b"older\n"),
    (".saddlebag/index/0000", b"index"),
    ("projects/proj/SCRATCHPAD.md", b"- [ ] open\n"),
    ("projects/proj/daily/2026-05-24.md", b"log\n"),
    ("projects/proj/notes/a.md", b"note\n"),
    ("projects/proj/notes/a.bak", b"older\n"),
    ("projects/proj/templates/fact.md", b"template"),
    ("projects/proj/.zk/config.toml", b""),
    ("projects/proj/inbox/b.md", b"inbox\n"),
    ("projects/proj/memories/own.txt", b"own"),
    ("projects/other-0db23a34/notes/secret.md", b"secret"),
];

#[both_engines]
fn the_folder_is_a_view_of_the_scope(kind: Kind) {
    let mut host = host(kind, agent_config(), &STORE);
    run(&mut host, keep("tone", "brief", "core"));
    run(&mut host, keep("team", "four", "workspace"));
    let listing = done(&mut host, json!({ "command": "view", "path": "/memories" }));
    let paths: Vec<&str> = listing.lines().skip(2).map(|line| line.split_once('\t').unwrap().1).collect();
    assert_eq!(
        paths,
        [
            "/memories/MEMORY.md",
            "/memories/SCRATCHPAD.md",
            "/memories/daily/",
            "/memories/daily/2026-05-24.md",
            "/memories/entries/",
            "/memories/entries/core/",
            "/memories/entries/workspace/",
            "/memories/inbox/",
            "/memories/inbox/b.md",
            "/memories/notes/",
            "/memories/notes/a.md",
            "/memories/own.txt",
        ]
    );
    for (path, text) in [("MEMORY.md", "long"), ("notes/a.md", "note"), ("inbox/b.md", "inbox"), ("own.txt", "own")] {
        let path = format!("/memories/{path}");
        let shown = done(&mut host, json!({ "command": "view", "path": path }));
        assert!(shown.contains(&format!("     1\t{text}")), "{shown}");
    }
    for hidden in ["MEMORY.bak", "notes/a.bak", "templates/fact.md", ".zk/config.toml", "projects", ".saddlebag"] {
        refused(&mut host, json!({ "command": "view", "path": format!("/memories/{hidden}") }));
    }
}

#[both_engines]
fn a_write_is_held_to_the_rules_of_its_family(kind: Kind) {
    let mut host = host(kind, agent_config(), &STORE);
    let before = host.executor().files();
    for input in [
        json!({ "command": "delete", "path": "/memories/MEMORY.md" }),
        json!({ "command": "delete", "path": "/memories/daily" }),
        json!({ "command": "rename", "old_path": "/memories/notes/a.md", "new_path": "/memories/notes/b.md" }),
        json!({ "command": "rename", "old_path": "/memories/own.txt", "new_path": "/memories/entries/core/x.md" }),
        json!({ "command": "create", "path": "/memories/notes/a.txt", "file_text": "x" }),
        json!({ "command": "create", "path": "/memories/notes/a.b.md", "file_text": "x" }),
        json!({ "command": "create", "path": "/memories/daily/someday.md", "file_text": "x" }),
        json!({ "command": "create", "path": "/memories/notes/big.md", "file_text": "x".repeat(65_537) }),
        json!({ "command": "create", "path": "/memories/entries/core/x.md", "file_text": "" }),
        json!({ "command": "create", "path": "/memories/entries/core/x.md", "file_text": "---\nkey: y\n---\n\nx" }),
        json!({ "command": "create", "path": "/memories/entries/x.md", "file_text": "x" }),
        json!({ "command": "create", "path": "/memories/entries/core/x.md", "file_text": "x".repeat(16_385) }),
        json!({ "command": "rename", "old_path": "/memories/own.txt", "new_path": "/memories/own.txt/x" }),
    ] {
        refused(&mut host, input);
    }
    assert_eq!(without_history(host.executor().files()), without_history(before));

    done(
        &mut host,
        json!({ "command": "str_replace", "path": "/memories/MEMORY.md", "old_str": "long", "new_str": "longer" }),
    );
    assert_eq!(file(&host, "MEMORY.md").as_deref(), Some("longer\n"));
    assert_eq!(file(&host, "MEMORY.bak").as_deref(), Some("long\n"));
    done(&mut host, json!({ "command": "create", "path": "/memories/notes/new.md", "file_text": "x" }));
    assert_eq!(file(&host, "projects/proj/notes/new.md").as_deref(), Some("x"));
    done(&mut host, json!({ "command": "delete", "path": "/memories/notes/a.md" }));
    assert_eq!(file(&host, "projects/proj/notes/a.bak").as_deref(), Some("note\n"));
    done(&mut host, json!({ "command": "create", "path": "/memories/plan/q3.txt", "file_text": "x" }));
    assert_eq!(file(&host, "projects/proj/memories/plan/q3.txt").as_deref(), Some("x"));
}

#[both_engines]
fn an_entry_is_a_file_of_its_category(kind: Kind) {
    let mut host = host(kind, agent_config(), &[]);
    let path = "/memories/entries/core/steering:Tone.md";
    done(&mut host, json!({ "command": "create", "path": path, "file_text": "Be brief." }));
    let shown = done(&mut host, json!({ "command": "view", "path": path }));
    assert!(shown.contains("key: \"steering:Tone\"") && shown.ends_with("\tBe brief."), "{shown}");
    let listing = done(&mut host, json!({ "command": "view", "path": "/memories/entries" }));
    assert!(listing.contains("/memories/entries/core/steering%3A%54one.md"), "{listing}");
    assert!(
        refused(&mut host, json!({ "command": "create", "path": path, "file_text": "x" })).ends_with("already exists")
    );

    let encoded = "/memories/entries/core/steering%3A%54one.md";
    let edit =
        |old: &str, new: &str| json!({ "command": "str_replace", "path": encoded, "old_str": old, "new_str": new });
    done(&mut host, edit("Be brief.", "Be kind."));
    done(&mut host, edit("tags: []", "tags: [style]"));
    for (old, new) in [("key: \"steering", "key: \"other"), ("created: 2026", "created: 2025"), ("---\nkey", "--\nkey")]
    {
        refused(&mut host, edit(old, new));
    }
    let shown = done(&mut host, json!({ "command": "view", "path": encoded }));
    assert!(shown.contains("tags: [style]") && shown.ends_with("\tBe kind."), "{shown}");

    done(&mut host, json!({ "command": "rename", "old_path": encoded, "new_path": "/memories/entries/style/tone.md" }));
    assert!(
        done(&mut host, json!({ "command": "view", "path": "/memories/entries/style/tone.md" })).ends_with("Be kind.")
    );
    refused(&mut host, json!({ "command": "view", "path": encoded }));
    done(
        &mut host,
        json!({ "command": "rename", "old_path": "/memories/entries/style/tone.md", "new_path": "/memories/entries/core/tone.md" }),
    );
    done(&mut host, json!({ "command": "delete", "path": "/memories/entries" }));
    refused(&mut host, json!({ "command": "view", "path": "/memories/entries" }));
    // The key of a forgotten entry is free for a caller that knows that it was forgotten.
    done(&mut host, json!({ "command": "create", "path": "/memories/entries/core/tone.md", "file_text": "Be kind." }));
}

#[both_engines]
fn a_folder_is_deleted_with_what_it_shows_and_no_more_than_is_bounded(kind: Kind) {
    let many: Vec<String> = (0..1_001).map(|number| format!("memories/many/{number}.txt")).collect();
    let mut files: Vec<(&str, &[u8])> = many.iter().map(|path| (path.as_str(), b"x".as_slice())).collect();
    files.extend([("memories/few/a", b"1".as_slice()), ("memories/few/b/c", b"2")]);
    let mut host = host(kind, Config { epoch: 1, ..Config::default() }, &files);
    assert!(refused(&mut host, json!({ "command": "delete", "path": "/memories/many" })).contains("1000"));
    assert_eq!(host.executor().files().len(), files.len());
    let listing = done(&mut host, json!({ "command": "view", "path": "/memories/many" }));
    assert!(listing.ends_with("(lines 1 to 1000 of 1001; more: view_range [1001, -1])"), "{listing}");
    let rest = done(&mut host, json!({ "command": "view", "path": "/memories/many", "view_range": [1001, -1] }));
    assert_eq!(rest.lines().count(), 3);
    done(&mut host, json!({ "command": "delete", "path": "/memories/few" }));
    assert_eq!(host.executor().files().len(), many.len());
    // Folders that are left empty are not shown.
    let listing = done(&mut host, json!({ "command": "view", "path": "/memories" }));
    assert!(!listing.contains("few"), "{listing}");
}

#[both_engines]
fn links_are_not_followed(kind: Kind) {
    let mut host = host(kind, Config { epoch: 1, ..Config::default() }, &[]);
    host.executor_mut().insert_link(&support::path("memories/link"));
    for input in [
        json!({ "command": "view", "path": "/memories/link" }),
        json!({ "command": "create", "path": "/memories/link/x", "file_text": "x" }),
        json!({ "command": "delete", "path": "/memories/link" }),
    ] {
        assert_eq!(refused(&mut host, input), "Path would escape /memories directory via symlink");
    }
    assert!(!done(&mut host, json!({ "command": "view", "path": "/memories" })).contains("link"));
}

#[test]
fn fields_of_another_command_are_not_ignored() {
    let mut host = host(Kind::Native, Config { epoch: 1, ..Config::default() }, &[]);
    let input = json!({ "command": "create", "path": "/memories/a", "file_text": "", "view_range": [1, 2] });
    assert_eq!(refused(&mut host, input), "memory: create has no `view_range`\ncreate takes path, file_text");
    let input = json!({ "command": "rename", "path": "/memories/a" });
    assert_eq!(refused(&mut host, input), "memory: `old_path` is missing\nrename takes old_path, new_path");
}

/// Two calls change one file: both changes are kept, or the loser gets an error.
#[both_engines]
fn a_file_that_changes_meanwhile_is_not_overwritten(kind: Kind) {
    use support::drive::{Drive, Shared, simulator};
    let store = Shared(std::rc::Rc::new(std::cell::RefCell::new(simulator(&[("memories/a", b"one\ntwo\n")]))));
    let config = |epoch| Config { epoch, ..Config::default() };
    let [mut first, mut second] = [1, 2].map(|epoch| Drive::new(kind, config(epoch), store.clone()));
    let call = |old: &str, new: &str| CallTool {
        tool: "memory".into(),
        input: json!({ "command": "str_replace", "path": "/memories/a", "old_str": old, "new_str": new }).to_string(),
        options: ToolOptions { sets: vec![ToolSet::Anthropic], dialect: Dialect::Sdk },
    };
    let (one, two) = (first.submit(call("one", "1")), second.submit(call("two", "2")));
    while !first.pending.is_empty() || !second.pending.is_empty() {
        for drive in [&mut first, &mut second] {
            if !drive.pending.is_empty() {
                drive.answer(0);
            }
        }
    }
    assert!(first.finished[&one].is_ok() && second.finished[&two].is_ok());
    assert_eq!(store.0.borrow().files()["memories/a"], b"1\n2\n");
}

#[test]
fn a_memory_without_an_agent_shows_no_entries() {
    let mut host = host(Kind::Native, project_config(), &[]);
    refused(&mut host, json!({ "command": "view", "path": "/memories/entries" }));
    let input = json!({ "command": "create", "path": "/memories/entries/core/a.md", "file_text": "x" });
    assert!(refused(&mut host, input).contains("opened without an agent"));
    let outcome: Result<Reply, HostError> = host.run(
        today(),
        saddlebag::tools::ToolsCommand::CallTool(CallTool {
            tool: "memory".into(),
            input: "[".into(),
            options: ToolOptions { sets: vec![], dialect: Dialect::Sdk },
        }),
    );
    assert!(matches!(outcome, Ok(Reply::Tools(ToolsReply::CallTool(ToolAnswer { is_error: true, .. })))));
}

#[both_engines]
fn a_path_that_only_begins_like_the_folder_does_not_exist(kind: Kind) {
    let mut host = host(kind, project_config(), &[]);
    let view = refused(&mut host, json!({ "command": "view", "path": "/memoriesX" }));
    assert_eq!(view, "The path /memoriesX does not exist. Please provide a valid path.");
    let other = refused(&mut host, json!({ "command": "view", "path": "/other" }));
    assert_eq!(other, "Path must start with /memories, got: /other");
}

#[both_engines]
fn a_view_counts_what_is_below_the_two_levels_that_it_shows(kind: Kind) {
    let files: [(&str, &[u8]); 2] = [("memories/a/b/c/d.txt", &[b'x'; 2048]), ("memories/a/b/e.txt", &[b'x'; 1024])];
    let mut host = host(kind, Config { epoch: 1, ..Config::default() }, &files);
    let text = done(&mut host, json!({ "command": "view", "path": "/memories" }));
    let sizes: Vec<&str> = text.lines().skip(1).filter_map(|line| Some(line.split_once('\t')?.0)).collect();
    assert_eq!(sizes, ["3K", "3K", "3K"], "{text}");
}
