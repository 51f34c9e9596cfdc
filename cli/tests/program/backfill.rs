//! `backfill`: notes of the transcripts of agents.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::json;

use crate::support::{Run, Store, run};

/// A secret, in two parts so that no scanner finds one here.
const SECRET: &str = concat!("ghp_", "q7Zt2LmX9vRk4WcB8nYs1DfGh6JpQa3Eu5To");

/// Project of the tests, with a store and a home folder.
struct World {
    store: Store,
    project: PathBuf,
    home: PathBuf,
}

impl World {
    fn new() -> Self {
        // The folder around the project is not one.
        let store = Store::notebook();
        let (project, home) = (store.here.join("shop"), store.here.join("home"));
        fs::create_dir_all(&project).expect("made");
        fs::create_dir_all(&home).expect("made");
        Self { store, project, home }
    }

    fn run(&self, arguments: &[&str]) -> Run {
        self.run_from(&["--engine", "native"], arguments)
    }

    fn run_from(&self, options: &[&str], arguments: &[&str]) -> Run {
        let mut command = self.store.bare(&["--now", crate::support::NOW, "--durability", "fast", "--project"]);
        command.arg(&self.project).arg("--root").arg(&self.store.root).args(options).args(arguments);
        self.isolate(&mut command);
        run(&mut command, None)
    }

    fn isolate(&self, command: &mut Command) {
        command.env("HOME", &self.home).env("USERPROFILE", &self.home);
        for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME"] {
            command.env_remove(name);
        }
    }

    /// Writes the lines of a transcript.
    fn transcript(&self, path: &str, lines: &[serde_json::Value]) -> PathBuf {
        let path = self.home.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&path, lines.concat()).expect("written");
        path
    }

    /// Writes the transcript of a session of Codex with one prompt and its answer.
    fn rollout(&self, id: &str, prompt: &str, answer: &str) -> PathBuf {
        let path = format!(".codex/sessions/2026/05/22/rollout-{id}.jsonl");
        self.transcript(&path, &rollout(id, &self.project, prompt, answer))
    }

    fn claude_folder(&self) -> String {
        let name: String =
            self.project.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        format!(".claude/projects/{name}")
    }

    /// Returns the paths of the notes in a folder of the project.
    fn notes(&self, folder: &str) -> Vec<PathBuf> {
        let files = self.store.tree().into_keys().filter(|path| path.extension().is_some_and(|end| end == "md"));
        files.filter(|path| path.parent().is_some_and(|above| above.ends_with(folder))).collect()
    }
}

fn claude(uuid: &str, before: Option<&str>, folder: &Path, kind: &str, text: &str) -> serde_json::Value {
    let content = if kind == "user" { json!(text) } else { json!([{"type": "text", "text": text}]) };
    json!({"type": kind, "uuid": uuid, "parentUuid": before, "sessionId": "s", "cwd": folder, "isSidechain": false,
           "timestamp": "2026-05-22T09:00:00.000Z", "message": {"role": kind, "content": content}})
}

/// Returns the lines of a session of Codex.
fn rollout(id: &str, folder: &Path, prompt: &str, answer: &str) -> Vec<serde_json::Value> {
    let said = |kind: &str, text: &str| json!({"timestamp": "2026-05-22T09:00:01Z", "type": "event_msg", "payload": {"type": kind, "message": text}});
    vec![
        json!({"timestamp": "2026-05-22T09:00:00Z", "type": "session_meta", "payload": {"id": id, "cwd": folder}}),
        said("user_message", prompt),
        said("agent_message", answer),
    ]
}

#[test]
fn a_session_becomes_one_note_that_waits_for_approval() {
    let world = World::new();
    world.rollout("c1", "Park mail after four attempts.", "The server blocks us after the fifth one.");
    let first = world.run(&["backfill", "--from", "codex"]).exits(0);
    assert!(first.stdout.ends_with("Imported: 1 upserted, 0 unchanged, 0 kept, 0 rejected, 0 left out\n"), "{first:?}");
    assert!(first.stderr.contains("list --pending"), "{first:?}");
    assert_eq!(world.notes("transcripts").len(), 1);

    let pending = world.run(&["--json", "list", "--pending", "--from", "codex"]).exits(0).json();
    assert_eq!(pending["total"], 1);
    assert!(
        pending["items"][0]["source"].as_str().is_some_and(|source| source.starts_with("import:codex ")),
        "{pending}"
    );
    let found = world.run(&["recall", "why do we park mail?"]).exits(0);
    assert!(found.stdout.contains("unapproved: import"), "{found:?}");

    let recalled = ["context", "--recall", "why do we park mail after the fifth one?"];
    assert!(!world.run(&recalled).stdout.contains("blocks us"));

    let before = world.store.tree();
    let again = world.run(&["backfill", "--from", "codex"]).exits(0);
    assert!(again.stdout.contains("0 upserted, 1 unchanged"), "{again:?}");
    assert_eq!(world.store.tree(), before);

    let digest = pending["digest"].as_str().expect("a digest");
    world.run(&["memory", "approve", "--all-from", "codex", "--base", digest]).exits(0);
    assert!(world.run(&recalled).exits(0).stdout.contains("blocks us"));
    let again = world.run(&["backfill", "--from", "codex"]).exits(0);
    assert!(again.stdout.contains("0 upserted, 1 unchanged"), "{again:?}");
}

#[test]
fn half_a_character_and_a_byte_order_mark_lose_no_session() {
    let world = World::new();
    let lines = |number: &str, prompt: &str| {
        let (first, second) = (format!("{number}a"), format!("{number}b"));
        let user = claude(&first, None, &world.project, "user", prompt);
        let agent = claude(&second, Some(&first), &world.project, "assistant", "Renamed it.");
        format!("{user}\n{agent}\n").replace("HALF", "\\ud83d")
    };
    let marked = format!("\u{feff}{}", lines("2", "rename the beacon module as well please"));
    for (name, text) in [("half", lines("1", "rename the lantern module HALF please")), ("mark", marked)] {
        let path = world.transcript(&format!("tr/{name}.jsonl"), &[]);
        fs::write(&path, text).expect("written");
    }
    let folder = world.home.join("tr");
    let json =
        world.run(&["--json", "backfill", "--from", "claude-code", folder.to_str().expect("text")]).exits(0).json();
    assert_eq!((&json["stored"], &json["upserted"]), (&json!(2), &json!(2)), "{json}");
}

#[test]
fn a_dry_run_names_the_notes_and_changes_nothing() {
    let world = World::new();
    world.rollout("c1", "Use a queue instead of polling.", "It has one now.");
    let title = "Session of 2026-05-22 (codex): Use a queue instead of polling.";
    let before = world.store.tree();
    let json = world.run(&["--json", "backfill", "--from", "codex", "--dry-run"]).exits(0).json();
    assert_eq!((&json["dry_run"], &json["stored"], &json["source"]), (&json!(true), &json!(1), &json!("codex")));
    assert_eq!(json["notes"][0]["title"], title);
    let shown = world.run(&["backfill", "--from", "codex", "--dry-run"]).exits(0);
    assert!(shown.stdout.contains(title) && shown.stdout.contains("Would import: 1 upserted"), "{shown:?}");
    assert_eq!(world.store.tree(), before);
}

#[test]
fn what_a_person_edited_or_forgot_is_left_alone_and_counted() {
    let world = World::new();
    world.rollout("c1", "Use a queue instead of polling.", "It has one now.");
    world.run(&["backfill", "--from", "codex"]).exits(0);
    let [note] = &world.notes("transcripts")[..] else { panic!("one note") };
    let path = format!("transcripts/{}", note.file_name().expect("a name").to_string_lossy());
    world.run(&["forget", &path]).exits(0);
    let json = world.run(&["--json", "backfill", "--from", "codex"]).exits(0).json();
    assert_eq!((&json["upserted"], json["kept"].as_array().map(Vec::len)), (&json!(0), Some(1)));
    assert!(
        json["kept"][0]["reason"].as_str().is_some_and(|reason| reason.contains("`restore` brings it back")),
        "{json}"
    );
    assert!(world.notes("transcripts").is_empty());
    world.run(&["restore", &path]).exits(0);
    fs::write(note, fs::read_to_string(note).expect("a note").replace("one now", "one at last")).expect("written");
    let edited = fs::read_to_string(note).expect("a note");
    assert!(edited.contains("one at last"), "{edited}");
    // The session went on, so its note would be made again.
    world.rollout("c1", "Use a queue instead of polling.", "It has two now.");
    let json = world.run(&["--json", "backfill", "--from", "codex"]).exits(0).json();
    assert_eq!((&json["upserted"], json["kept"].as_array().map(Vec::len)), (&json!(0), Some(1)), "{json}");
    assert_eq!(fs::read_to_string(note).expect("a note"), edited);
}

#[test]
fn a_secret_in_a_session_is_refused_and_the_rest_goes_on() {
    let world = World::new();
    world.rollout("c1", "Use a token instead of a password.", &format!("It is {SECRET} for now."));
    world.rollout("c2", "Use a queue instead of polling.", "Done. <private>the customer Orca asked for it</private>");
    let run = world.run(&["backfill", "--from", "codex"]).exits(3);
    assert!(
        run.stdout.contains("github-pat") && run.stdout.contains("1 upserted, 0 unchanged, 0 kept, 1 rejected"),
        "{run:?}"
    );
    let stored: String =
        world.store.tree().into_values().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect();
    assert!(!stored.contains(SECRET) && !stored.contains("Orca") && !run.stdout.contains(SECRET), "{stored}");
}

#[test]
fn a_limit_and_a_date_choose_the_newest_sessions() {
    let world = World::new();
    let now = std::time::SystemTime::now();
    for (age, name) in [(600, "one"), (300, "two"), (0, "three")] {
        let path = world.rollout(name, &format!("Use {name} instead of none."), "Done.");
        let changed = now - std::time::Duration::from_secs(age);
        fs::File::options().append(true).open(path).and_then(|file| file.set_modified(changed)).expect("older");
    }
    let json = world.run(&["--json", "backfill", "--from", "codex", "--limit", "1", "--dry-run"]).exits(0).json();
    assert_eq!(
        (&json["stored"], &json["notes"][0]["title"]),
        (&json!(1), &json!("Session of 2026-05-22 (codex): Use three instead of none."))
    );
    let left_out = &json["left_out"][0];
    assert_eq!((&left_out["reason"], &left_out["count"]), (&json!("over --limit"), &json!(2)));
    assert!(left_out["first"].as_str().is_some_and(|first| first.ends_with("rollout-two.jsonl")), "{json}");
    let none = world.run(&["--json", "backfill", "--from", "codex", "--since", "2026-05-22T09:00:02Z"]).exits(0).json();
    assert_eq!((&none["stored"], &none["left_out"][0]["count"]), (&json!(0), &json!(3)));
    world.run(&["backfill", "--from", "codex", "--since", "soon"]).exits(2).complains("2026-05-30");
}

#[test]
fn sessions_of_claude_code_in_this_project_become_notes() {
    let world = World::new();
    let (folder, project) = (world.claude_folder(), world.project.clone());
    let first = [
        claude("u1", None, &project, "user", "why is the tax wrong?"),
        claude("a1", Some("u1"), &project, "assistant", "It was rounded down."),
    ];
    let path = world.transcript(&format!("{folder}/8c1f.jsonl"), &first);
    let mut bytes = fs::read(&path).expect("lines");
    bytes.extend_from_slice(b"not json\n\xff\xfe\n{\"type\":\"a kind of next year\"}\n");
    fs::write(&path, bytes).expect("written");
    // A resumed session repeats the lines of the first one.
    let resumed = [
        first[0].clone(),
        first[1].clone(),
        claude("u2", Some("a1"), &project, "user", "and what about the label?"),
        claude("a2", Some("u2"), &project, "assistant", "Fixed."),
    ];
    let resumed = world.transcript(&format!("{folder}/9d2e.jsonl"), &resumed);
    let earlier = std::time::SystemTime::now() - std::time::Duration::from_secs(600);
    fs::File::options().append(true).open(&path).and_then(|file| file.set_modified(earlier)).expect("older");
    let other = world.store.here.join("other");
    world.transcript(
        &format!("{folder}-x/7777.jsonl"),
        &[claude("u9", None, &other, "user", "why is it so slow?"), claude("a9", Some("u9"), &other, "assistant", "a")],
    );
    world.transcript(&format!("{folder}/8c1f/subagents/agent-1.jsonl"), &first);

    let json = world.run(&["--json", "backfill", "--from", "claude-code"]).exits(0).json();
    assert_eq!((&json["stored"], &json["rejected"]), (&json!(2), &json!([])), "{json}");
    let titles: Vec<&str> =
        json["notes"].as_array().expect("notes").iter().filter_map(|note| note["title"].as_str()).collect();
    let of_day = |prompt: &str| format!("Session of 2026-05-22 (claude-code): {prompt}");
    assert_eq!(titles, [of_day("why is the tax wrong?"), of_day("and what about the label?")]);
    let reasons: Vec<&str> =
        json["left_out"].as_array().expect("left out").iter().filter_map(|texts| texts["reason"].as_str()).collect();
    assert_eq!(reasons, ["lines that are not JSON", "of another project"]);
    let again = world.run(&["--json", "backfill", "--from", "claude-code"]).exits(0).json();
    assert_eq!((&again["upserted"], &again["unchanged"]), (&json!(0), &json!(2)));
    let all =
        world.run(&["--json", "backfill", "--from", "claude-code", "--all-projects", "--dry-run"]).exits(0).json();
    assert_eq!(all["stored"], 1, "{all}");
    let pending = world.run(&["--json", "list", "--pending", "--from", "claude-code"]).exits(0).json();
    assert_eq!(pending["total"], 2);

    // A session that goes on changes its note, until a person has touched it.
    let more = [
        claude("u3", Some("a2"), &project, "user", "thanks"),
        claude("a3", Some("u3"), &project, "assistant", "The label is fixed, too."),
    ];
    let mut lines = fs::read_to_string(&resumed).expect("lines");
    more.iter().for_each(|line| lines.push_str(&format!("{line}\n")));
    fs::write(&resumed, lines).expect("written");
    let updated = world.run(&["--json", "backfill", "--from", "claude-code"]).exits(0).json();
    assert_eq!((&updated["updated"], &updated["unchanged"]), (&json!(1), &json!(1)));
}

#[test]
fn sessions_of_codex_and_gemini_become_notes() {
    let world = World::new();
    let project = world.project.clone();
    let rollout = |id: &str, cwd: &Path| rollout(id, cwd, &format!("the prompt of {id}"), &format!("answer of {id}"));
    world.transcript(".codex/sessions/2026/05/22/rollout-1.jsonl", &rollout("c1", &project.join("src")));
    world.transcript(".codex/sessions/2026/05/22/rollout-2.jsonl", &rollout("c2", &world.store.here));
    let json = world.run(&["--json", "backfill", "--from", "codex"]).exits(0).json();
    assert_eq!(
        (&json["stored"], &json["notes"][0]["title"]),
        (&json!(1), &json!("Session of 2026-05-22 (codex): the prompt of c1")),
        "{json}"
    );
    let file = world.home.join(".codex/sessions/2026/05/22/rollout-2.jsonl");
    let named = world.run(&["--json", "backfill", "--from", "codex", file.to_str().expect("text")]).exits(0).json();
    assert_eq!(named["stored"], 1, "{named}");

    // Codex compresses older transcripts. The second one is cut off.
    for (number, cut) in [(3, 0), (4, 9)] {
        let path = format!(".codex/sessions/2026/05/22/rollout-{number}.jsonl.zst");
        let packed = world.transcript(&path, &rollout(&format!("c{number}"), &project));
        let lines = fs::read(&packed).expect("written");
        let (first, rest) = lines.split_at(99);
        let frames = [first, rest].map(|part| compress_to_vec(part, CompressionLevel::Fastest)).concat();
        fs::write(&packed, &frames[..frames.len() - cut]).expect("written");
    }
    let json = world.run(&["--json", "backfill", "--from", "codex"]).exits(3).json();
    assert_eq!(
        (&json["stored"], &json["notes"][0]["title"]),
        (&json!(1), &json!("Session of 2026-05-22 (codex): the prompt of c3")),
        "{json}"
    );
    assert!(json["rejected"][0]["path"].as_str().is_some_and(|path| path.ends_with("rollout-4.jsonl.zst")), "{json}");

    let message = |id: &str, kind: &str, text: &str| json!({"id": id, "timestamp": "2026-05-22T09:00:01Z", "type": kind, "content": text});
    let header = |id: &str| json!({"sessionId": id, "projectHash": "unknown", "startTime": "2026-05-22T09:00:00Z", "directories": [project]});
    world.transcript(
        ".gemini/tmp/abc/chats/session-1.jsonl",
        &[header("g1"), message("1", "user", "the prompt of g1"), message("2", "gemini", "answer")],
    );
    let mut whole = header("g2");
    whole["messages"] = json!([message("1", "user", "the prompt of g2"), message("2", "gemini", "answer")]);
    world.transcript(".gemini/tmp/abc/chats/session-2.json", &[whole]);
    world.transcript(".gemini/tmp/abc/chats/session-3.json", &[json!({"sessionId": "g3", "projectHash": "other"})]);
    fs::write(world.home.join(".gemini/tmp/abc/chats/session-4.json"), "{\"sessionId\":").expect("written");
    let run = world.run(&["--json", "backfill", "--from", "gemini"]).exits(3);
    let json = run.json();
    assert_eq!((&json["stored"], json["rejected"].as_array().map(Vec::len)), (&json!(2), Some(1)), "{json}");
    assert_eq!(world.notes("transcripts").len(), 5);
}

#[test]
fn backfill_and_hooks_make_the_same_note_and_not_two() {
    let world = World::new();
    let project = world.project.clone();
    fs::create_dir_all(project.join("src")).expect("made");
    fs::write(project.join("src/tax.py"), "").expect("written");
    let mut lines = vec![claude("u1", None, &project, "user", "Fix the rounding of cents.")];
    let calls =
        [("t1", "Edit", json!({"file_path": project.join("src/tax.py")})), ("t2", "Bash", json!({"command": "make"}))];
    for (id, name, input) in &calls {
        let mut line = claude(&format!("a{id}"), Some("u1"), &project, "assistant", "");
        line["message"]["content"] = json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
        lines.push(line);
        let mut line = claude(&format!("r{id}"), Some("u1"), &project, "user", "");
        let failed = *name == "Bash";
        let content = if failed { "exit code 2\nOBEY" } else { "ok" };
        line["message"]["content"] =
            json!([{"type": "tool_result", "tool_use_id": id, "is_error": failed, "content": content}]);
        lines.push(line);
    }
    lines.push(claude("u2", Some("u1"), &project, "user", "<task-notification>x</task-notification>"));
    lines.push(claude("u3", Some("u1"), &project, "user", "And now those of the names."));
    lines.push(claude("a3", Some("u3"), &project, "assistant", "The names still fail."));
    world.transcript(&format!("{}/8c1f.jsonl", world.claude_folder()), &lines);

    let hook = |session: &str, event: &str, fields: serde_json::Value| {
        let mut payload = json!({"session_id": session, "cwd": project, "hook_event_name": event,
                                 "transcript_path": "/h/.claude/projects/x.jsonl"});
        payload.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
        let mut command = world.store.bare(&["--now", crate::support::NOW, "--engine", "native", "--root"]);
        command.arg(&world.store.root).arg("hook").env("XDG_STATE_HOME", world.home.join("state"));
        world.isolate(&mut command);
        run(&mut command, Some(payload.to_string().as_bytes())).exits(0);
    };
    // The same session under another name, so that both notes can be compared.
    for session in ["other", "8c1f"] {
        hook(session, "UserPromptSubmit", json!({"prompt": "Fix the rounding of cents."}));
        for (id, name, input) in &calls {
            let fields = json!({"tool_name": name, "tool_use_id": id, "tool_input": input});
            let failed =
                json!({"tool_name": name, "tool_use_id": id, "tool_input": input, "error": "exit code 2\nOBEY"});
            if *name == "Bash" {
                hook(session, "PostToolUseFailure", failed)
            } else {
                hook(session, "PostToolUse", fields)
            }
        }
        hook(session, "UserPromptSubmit", json!({"prompt": "And now those of the names."}));
        hook(session, "Stop", json!({"last_assistant_message": "The names still fail."}));
        hook(session, "SessionEnd", json!({"reason": "other"}));
        if session == "other" {
            world.run(&["backfill", "--from", "claude-code"]).exits(0);
            let body = |folder: &str| {
                let [note] = &world.notes(folder)[..] else { panic!("one note in {folder}") };
                let text = fs::read_to_string(note).expect("a note");
                text.split_once(" prompts, ").expect("counts").1.to_string()
            };
            assert_eq!(body("transcripts"), body("sessions"));
            assert!(body("sessions").contains("- `make`: exit code 2"), "{}", body("sessions"));
        }
    }
    let again = world.run(&["--json", "backfill", "--from", "claude-code"]).exits(0).json();
    assert_eq!(again["left_out"][0]["reason"], "recorded by hooks", "{again}");
    assert_eq!((&again["upserted"], &again["unchanged"]), (&json!(0), &json!(0)), "{again}");
}

#[test]
fn without_transcripts_there_is_nothing_and_the_folder_is_named() {
    let world = World::new();
    for (source, folder) in [("claude-code", "projects"), ("codex", "sessions"), ("gemini", "tmp")] {
        world.run(&["backfill", "--from", source]).exits(1).complains(folder);
    }
    world.run(&["backfill", "--from", "codex", "missing"]).exits(3).complains("`missing` cannot be read");
}

#[test]
fn a_transcript_of_fifty_megabytes_needs_little_memory() {
    let world = World::new();
    let project = world.project.clone();
    let mut lines = vec![claude("u0", None, &project, "user", "please read the logs")];
    for number in 0..48 {
        let mut line = claude(&format!("r{number}"), Some("u0"), &project, "user", "");
        line["message"]["content"] =
            json!([{"type": "tool_result", "tool_use_id": "t", "content": "x".repeat(1 << 20)}]);
        lines.push(line);
    }
    lines.push(claude("long", Some("u0"), &project, "user", &"y".repeat(5 << 20)));
    lines.push(claude("a1", Some("u0"), &project, "assistant", "Nothing was wrong."));
    let path = world.transcript(&format!("{}/big.jsonl", world.claude_folder()), &lines);
    assert!(fs::metadata(path).expect("written").len() > 50 << 20);
    if !cfg!(target_os = "linux") {
        eprintln!("a_transcript_of_fifty_megabytes_needs_little_memory: memory is limited on Linux only");
        let json = world.run(&["--json", "backfill", "--from", "claude-code"]).exits(0).json();
        assert_eq!(json["stored"], 1, "{json}");
        return;
    }
    // The limit is of the address space: the program with its libraries and stacks has some 100 MiB of it.
    let mut command = world.store.bare(&["--json", "--engine", "native", "--durability", "fast", "--project"]);
    command.arg(&project).arg("--root").arg(&world.store.root).args(["backfill", "--from", "claude-code"]);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -v 307200; exec \"$@\"", "sh"]).arg(command.get_program()).args(command.get_args());
    limited.current_dir(&world.store.here).stdin(Stdio::null());
    world.isolate(&mut limited);
    let json = run(&mut limited, None).exits(0).json();
    assert_eq!(
        (&json["stored"], &json["notes"][0]["title"]),
        (&json!(1), &json!("Session of 2026-05-22 (claude-code): please read the logs")),
        "{json}"
    );
    assert_eq!(
        json["left_out"],
        json!([{"reason": "lines of more than 4 MiB", "count": 1, "first": json["left_out"][0]["first"]}])
    );
}
