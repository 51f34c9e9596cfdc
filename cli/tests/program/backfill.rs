//! `backfill`: notes of commits and of the transcripts of agents.

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

    /// Returns a project with a repository in it.
    fn with_repository() -> Self {
        let world = Self::new();
        world.git(&["init", "--quiet", "--initial-branch=main"]);
        world
    }

    fn git(&self, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.project).args(["-c", "user.name=Ana", "-c", "user.email=ana@example.org"]);
        command.args(["-c", "commit.gpgSign=false"]).args(arguments).env("HOME", &self.home).stdin(Stdio::null());
        command.env("GIT_AUTHOR_DATE", "2026-05-20T10:00:00Z").env("GIT_COMMITTER_DATE", "2026-05-21T10:00:00Z");
        let output = command.output().expect("git is installed");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn commit(&self, file: &str, message: &str) {
        let path = self.project.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, message).expect("written");
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--no-verify", "--message", message]);
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

#[test]
fn commits_that_say_why_become_notes_that_wait_for_approval_once() {
    let world = World::with_repository();
    world.commit(
        "src/mail.rs",
        "feat(mail): Park mail after four attempts\n\nThe server blocks us after the fifth one.",
    );
    world.commit("src/tax.rs", "Round up instead of down");
    world.commit("a.txt", "Add a file");
    world.commit("b.txt", "WIP");
    let first = world.run(&["backfill", "--from", "git"]).exits(0);
    assert!(first.stdout.ends_with("Imported: 2 upserted, 0 unchanged, 0 kept, 0 rejected, 2 left out\n"), "{first:?}");
    assert!(first.stdout.contains("left out 1: work in progress, such as WIP\n"), "{first:?}");
    assert!(first.stderr.contains("list --pending"), "{first:?}");
    let notes = world.notes("commits");
    assert_eq!(notes.len(), 2);
    let text = fs::read_to_string(&notes[0]).expect("a note");
    assert!(
        text.contains("title: \"feat(mail): Park mail after four attempts\"\ndate: 2026-05-20T10:00:00Z\n"),
        "{text}"
    );
    assert!(
        text.ends_with("The server blocks us after the fifth one.\n\nCommit of 2026-05-20. Files: `src/mail.rs`.\n"),
        "{text}"
    );

    let pending = world.run(&["--json", "list", "--pending", "--from", "git"]).exits(0).json();
    assert_eq!(pending["total"], 2);
    assert!(
        pending["items"][0]["source"].as_str().is_some_and(|source| source.starts_with("import:git ")),
        "{pending}"
    );
    let found = world.run(&["recall", "why do we park mail?"]).exits(0);
    assert!(found.stdout.contains("unapproved: import"), "{found:?}");

    let recalled = ["context", "--recall", "why do we park mail after the fifth one?"];
    assert!(!world.run(&recalled).stdout.contains("blocks us"));

    let before = world.store.tree();
    let again = world.run(&["backfill", "--from", "git"]).exits(0);
    assert!(again.stdout.contains("0 upserted, 2 unchanged"), "{again:?}");
    assert_eq!(world.store.tree(), before);

    let digest = pending["digest"].as_str().expect("a digest");
    world.run(&["memory", "approve", "--all-from", "git", "--base", digest]).exits(0);
    assert!(world.run(&recalled).exits(0).stdout.contains("blocks us"));
    let again = world.run(&["backfill", "--from", "git"]).exits(0);
    assert!(again.stdout.contains("0 upserted, 2 unchanged"), "{again:?}");
}

#[test]
fn a_dry_run_names_the_notes_and_changes_nothing() {
    let world = World::with_repository();
    world.commit("a", "Use a queue instead of polling");
    let before = world.store.tree();
    let json = world.run(&["--json", "backfill", "--from", "git", "--dry-run"]).exits(0).json();
    assert_eq!((&json["dry_run"], &json["stored"], &json["source"]), (&json!(true), &json!(1), &json!("git")));
    assert_eq!(json["notes"][0]["title"], "Use a queue instead of polling");
    let shown = world.run(&["backfill", "--from", "git", "--dry-run"]).exits(0);
    assert!(
        shown.stdout.contains("Use a queue instead of polling\n") && shown.stdout.contains("Would import: 1 upserted"),
        "{shown:?}"
    );
    assert_eq!(world.store.tree(), before);
}

#[test]
fn what_a_person_edited_approved_or_forgot_is_left_alone_and_counted() {
    let world = World::with_repository();
    world.commit("a", "Use a queue instead of polling");
    world.run(&["backfill", "--from", "git"]).exits(0);
    let [note] = &world.notes("commits")[..] else { panic!("one note") };
    let path = format!("commits/{}", note.file_name().expect("a name").to_string_lossy());
    world.run(&["forget", &path]).exits(0);
    let json = world.run(&["--json", "backfill", "--from", "git"]).exits(0).json();
    assert_eq!((&json["upserted"], json["kept"].as_array().map(Vec::len)), (&json!(0), Some(1)));
    assert!(
        json["kept"][0]["reason"].as_str().is_some_and(|reason| reason.contains("`restore` brings it back")),
        "{json}"
    );
    assert!(world.notes("commits").is_empty());
    world.run(&["restore", &path]).exits(0);
    fs::write(note, fs::read_to_string(note).expect("a note").replace("Commit of", "An old commit of"))
        .expect("written");
    let edited = fs::read_to_string(note).expect("a note");
    world.run(&["backfill", "--from", "git"]).exits(0);
    assert_eq!(fs::read_to_string(note).expect("a note"), edited);
}

#[test]
fn a_commit_that_was_rebased_makes_no_second_note() {
    let world = World::with_repository();
    world.commit("a", "Use a queue instead of polling");
    world.run(&["backfill", "--from", "git"]).exits(0);
    world.git(&[
        "-c",
        "user.email=other@example.org",
        "commit",
        "--quiet",
        "--amend",
        "--no-edit",
        "--no-verify",
        "--reset-author",
        "--date=2026-05-20T10:00:00Z",
    ]);
    let json = world.run(&["--json", "backfill", "--from", "git"]).exits(0).json();
    assert_eq!((&json["upserted"], &json["unchanged"]), (&json!(0), &json!(1)));
}

#[test]
fn a_secret_in_a_commit_is_refused_and_the_rest_goes_on() {
    let world = World::with_repository();
    world.commit("a", &format!("Use a token instead of a password\n\nIt is {SECRET} for now."));
    world.commit("b", "Use a queue instead of polling\n\n<private>the customer Orca asked for it</private>");
    let run = world.run(&["backfill", "--from", "git"]).exits(3);
    assert!(
        run.stdout.contains("github-pat") && run.stdout.contains("1 upserted, 0 unchanged, 0 kept, 1 rejected"),
        "{run:?}"
    );
    let stored: String =
        world.store.tree().into_values().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect();
    assert!(!stored.contains(SECRET) && !stored.contains("Orca") && !run.stdout.contains(SECRET), "{stored}");
}

#[test]
fn a_limit_and_a_date_choose_the_newest_commits() {
    let world = World::with_repository();
    for name in ["one", "two", "three"] {
        world.commit(name, &format!("Use {name} instead of none"));
    }
    let json = world.run(&["--json", "backfill", "--from", "git", "--limit", "1", "--dry-run"]).exits(0).json();
    assert_eq!((&json["stored"], &json["notes"][0]["title"]), (&json!(1), &json!("Use three instead of none")));
    assert_eq!(json["left_out"][0], json!({"reason": "over --limit", "count": 2, "first": "Use two instead of none"}));
    let none = world.run(&["--json", "backfill", "--from", "git", "--since", "2026-05-20T10:00:01Z"]).exits(0).json();
    assert_eq!((&none["stored"], &none["left_out"][0]["count"]), (&json!(0), &json!(3)));
    world.run(&["backfill", "--from", "git", "--since", "soon"]).exits(2).complains("2026-05-30");
}

#[test]
fn what_is_not_a_repository_is_refused_and_one_without_commits_has_nothing() {
    let world = World::new();
    fs::write(world.project.join(".git"), "gitdir: nowhere").expect("written");
    world.run(&["backfill", "--from", "git"]).exits(3).complains("cannot be read");
    fs::remove_file(world.project.join(".git")).expect("removed");
    world.git(&["init", "--quiet"]);
    world.run(&["backfill", "--from", "git"]).exits(1).complains("has no commits");
    world.run(&["backfill", "--from", "git", "--all-projects"]).exits(2).complains("--all-projects is for sessions");
}

#[cfg(unix)]
#[test]
fn a_repository_with_hostile_settings_runs_no_code() {
    use std::os::unix::fs::PermissionsExt;

    let world = World::with_repository();
    world.commit("a.txt", "Use a queue instead of polling");
    world.commit(".gitattributes", "Use attributes instead of nothing");
    fs::write(world.project.join(".gitattributes"), "* diff=evil filter=evil\n").expect("written");
    let marker = world.store.here.join("it-ran");
    let script = world.store.here.join("evil.sh");
    fs::write(&script, format!("#!/bin/sh\ntouch '{}'\n", marker.display())).expect("written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("executable");
    let script = script.to_str().expect("text");
    for (name, value) in [
        ("core.fsmonitor", script.to_string()),
        ("core.pager", script.to_string()),
        ("pager.log", script.to_string()),
        ("core.editor", script.to_string()),
        ("core.sshCommand", script.to_string()),
        ("core.hooksPath", world.store.here.display().to_string()),
        ("log.showSignature", "true".to_string()),
        ("gpg.program", script.to_string()),
        ("alias.log", format!("!{script}")),
        ("diff.external", script.to_string()),
        ("diff.evil.textconv", script.to_string()),
        ("diff.evil.command", script.to_string()),
        ("filter.evil.smudge", script.to_string()),
        ("credential.helper", script.to_string()),
        ("format.pretty", "%H".to_string()),
        ("log.date", "relative".to_string()),
    ] {
        world.git(&["config", name, &value]);
    }
    let run = world.run(&["backfill", "--from", "git"]).exits(0);
    assert!(run.stdout.contains("2 upserted"), "{run:?}");
    // An object that is missing would be fetched by a program that the repository names.
    world.git(&["config", "extensions.partialClone", "origin"]);
    world.git(&["config", "core.repositoryFormatVersion", "1"]);
    world.git(&["config", "remote.origin.url", &format!("ext::{script}")]);
    world.git(&["config", "remote.origin.promisor", "true"]);
    world.git(&["config", "protocol.ext.allow", "always"]);
    for entry in fs::read_dir(world.project.join(".git/objects")).expect("objects").flatten() {
        if entry.file_name().len() == 2 {
            fs::remove_dir_all(entry.path()).expect("removed");
        }
    }
    let run = world.run(&["backfill", "--from", "git"]);
    assert_ne!(run.code, 0, "{run:?}");
    assert!(!marker.exists(), "the repository ran a program");
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
    let said = |kind: &str, text: &str| json!({"timestamp": "2026-05-22T09:00:01Z", "type": "event_msg", "payload": {"type": kind, "message": text}});
    let rollout = |id: &str, cwd: &Path| {
        vec![
            json!({"timestamp": "2026-05-22T09:00:00Z", "type": "session_meta", "payload": {"id": id, "cwd": cwd}}),
            said("user_message", &format!("the prompt of {id}")),
            said("agent_message", &format!("answer of {id}")),
        ]
    };
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
fn duplicates_lists_of_changes_and_paths_of_the_machine_become_no_note() {
    let world = World::with_repository();
    world.commit("a", "Use a queue instead of polling");
    world.commit("b", "Use a queue instead of polling");
    world.commit("c", "Split the sender\n\n- add a worker\n- rename the sender to mailer\n- update both tests");
    world.commit("d", "Keep the lock\n\nWithout it, /home/ada/work/lock.txt was written twice.");
    let json = world.run(&["--json", "backfill", "--from", "git"]).exits(0).json();
    assert_eq!(json["stored"], 2, "{json}");
    let reasons: Vec<&str> =
        json["left_out"].as_array().expect("left out").iter().filter_map(|texts| texts["reason"].as_str()).collect();
    assert_eq!(reasons, ["a title without a reason", "with the message of another commit"]);
    let here = world.store.here.to_str().expect("text").to_string();
    for note in world.notes("commits") {
        let text = fs::read_to_string(note).expect("a note");
        assert!(!text.contains(&here) && !text.contains("/home/ada"), "{text}");
        assert!(text.contains("source: \"import:git shop ") || text.contains("source: import:git shop "), "{text}");
    }
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
