//! The recorded sessions of every client.

use std::fs;
use std::path::{Path, PathBuf};

use saddlebag_tests_shared::generated::Kind;
use serde_json::{Value, json};

use super::{Hooks, claude, text_of};

pub(super) const CLIENTS: [&str; 8] =
    ["claude-code", "codex", "copilot", "copilot-claude-names", "cursor", "gemini", "opencode", "vscode"];

/// Clients that take text with a prompt.
const WITH_PROMPT: [&str; 4] = ["claude-code", "codex", "gemini", "opencode"];

/// One event of a recording.
struct Step {
    name: String,
    event: String,
    payload: Value,
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn json_file(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn recording(client: &str) -> Vec<Step> {
    let file = json_file(&tests().join(format!("hooks/recordings/{client}.json")));
    let steps = file.as_array().expect("a list").iter();
    let text = |step: &Value, name: &str| step[name].as_str().expect("a text").to_string();
    steps
        .map(|step| Step { name: text(step, "name"), event: text(step, "event"), payload: step["payload"].clone() })
        .collect()
}

/// Plays a recording, and returns the answer to each event; null if nothing is printed.
pub(super) fn played(hooks: &Hooks, client: &str) -> Vec<(String, Value)> {
    let play = |step: Step| {
        let run = hooks.send(&[&step.event, "--exclude", "payroll/**"], &step.payload);
        let answer = if run.stdout.is_empty() { Value::Null } else { run.json() };
        assert!(run.stdout.lines().count() <= 1, "{client} {}: {}", step.name, run.stdout);
        (step.name, answer)
    };
    recording(client).into_iter().map(play).collect()
}

/// Returns the answer to a step; the step must exist.
pub(super) fn answer<'a>(played: &'a [(String, Value)], name: &str) -> &'a Value {
    &played.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("no step {name}")).1
}

#[test]
fn every_client_gets_its_golden_answers() {
    for client in CLIENTS {
        let hooks = Hooks::with_memory();
        let played = played(&hooks, client);
        let slug = project_slug(&hooks);
        let answers: Vec<Value> = played
            .into_iter()
            .map(|(name, answer)| json!({ "name": name, "answer": answer }).to_string().replace(&slug, "<project>"))
            .map(|step| serde_json::from_str(&step).expect("JSON"))
            .collect();
        assert_eq!(hooks.log(), Vec::<Value>::new(), "{client}");
        let path = tests().join(format!("golden/hooks/{client}.json"));
        let made = format!("{}\n", serde_json::to_string_pretty(&answers).expect("JSON"));
        Kind::Hooks.check(&path, &made).unwrap_or_else(|difference| panic!("{difference}"));
    }
}

#[test]
fn notes_of_sessions_change_nothing_of_what_a_prompt_recalls() {
    let hooks = Hooks::with_memory();
    let event = |session: &str, event: &str, fields: Value| hooks.send(&[], &claude(session, event, &fields)).stdout;
    let asks = |session: &str| {
        event(session, "UserPromptSubmit", json!({ "prompt": "Which rounding of the tax report did we decide on?" }))
    };
    let first = asks("1");
    assert!(first.contains("Relevant Memories"), "{first}");
    for session in ["1", "2", "3"] {
        assert_eq!(if session == "1" { first.clone() } else { asks(session) }, first);
        event(session, "SessionEnd", json!({ "reason": "exit" }));
    }
    assert_eq!(asks("4"), first);
}

#[test]
fn the_start_has_the_memory_and_the_prompt_the_note_that_answers_it_once() {
    for client in CLIENTS {
        let hooks = Hooks::with_memory();
        let played = played(&hooks, client);
        let start = text_of(answer(&played, "start"));
        assert!(
            start.contains("Reports are in euros.") && start.contains("ask for the new tax table"),
            "{client}: {start}"
        );
        let prompt = text_of(answer(&played, "prompt"));
        if WITH_PROMPT.contains(&client) {
            assert!(prompt.contains("half to even"), "{client}: {prompt}");
            assert!(prompt.len() <= 1_500, "{client}: {} bytes", prompt.len());
            let again = text_of(answer(&played, "prompt-again"));
            assert!(!again.contains("half to even"), "{client}: {again}");
        } else {
            assert_eq!(prompt, "", "{client}");
            // Copilot CLI gives the first prompt with the start.
            assert_eq!(start.contains("half to even"), client.starts_with("copilot"), "{client}: {start}");
        }
        for (name, answer) in &played {
            assert!(!text_of(answer).contains("UNAPPROVED"), "{client} {name}: {answer}");
        }
    }
}

#[test]
fn a_session_becomes_a_note_of_what_happened() {
    for client in CLIENTS {
        let hooks = Hooks::with_memory();
        // The recorded tools say that they stored these. A name is kept only if there is such text.
        hooks.memory(&["remember", "Half cents", "They are rounded to even."]).exits(0);
        hooks.memory(&["remember", "--key", "half-cents", "to even"]).exits(0);
        played(&hooks, client);
        let note = session_note(&hooks);
        for part in ["Which rounding does the tax report use for cents?", "src/tax.py", "make check"] {
            assert!(note.contains(part), "{client}: {part} is missing:\n{note}");
        }
        let prompts = recording(client).iter().filter(|step| step.name.starts_with("prompt")).count();
        let counted = if prompts == 1 { "1 prompt,".to_string() } else { format!("{prompts} prompts,") };
        assert!(note.contains(&counted), "{client}: {counted} is missing:\n{note}");
        // That of Cursor stores an item of the scratchpad, which has no name.
        if client != "cursor" && recording(client).iter().any(|step| step.name == "stored") {
            let stored = ["note Half cents", "entry half-cents"];
            assert!(stored.iter().any(|stored| note.contains(stored)), "{client}: what was stored is missing:\n{note}");
        }
    }
}

#[test]
fn private_and_excluded_texts_and_contents_of_files_are_nowhere_on_disk() {
    for client in CLIENTS {
        let hooks = Hooks::with_memory();
        played(&hooks, client);
        let everything =
            hooks.everything() + &fs::read_to_string(hooks.home.join("state/saddlebag/hook.log")).unwrap_or_default();
        for absent in ["hush4711", "payroll", "names.csv", "BODY OF A FILE", "unchanged.py", "sleep 1000"] {
            assert!(!everything.contains(absent), "{client}: {absent} was kept");
        }
        // The session itself was kept, so the search would find the others.
        assert!(everything.contains("tax.py"), "{client}");
    }
}

#[test]
fn the_next_session_begins_with_the_note_of_the_last_one() {
    let hooks = Hooks::with_memory();
    played(&hooks, "codex");
    let start = super::claude("next", "SessionStart", &json!({ "source": "startup" }));
    let first = hooks.send(&["start"], &start);
    assert!(text_of(&first.json()).contains("src/tax.py"), "{}", first.stdout);
    let other = super::claude("another", "SessionStart", &json!({ "source": "startup" }));
    let second = hooks.send(&["start"], &other);
    assert!(!text_of(&second.json()).contains("src/tax.py"), "{}", second.stdout);
}

/// Returns the name of the folder of the project's memory, which depends on the path of the project.
fn project_slug(hooks: &Hooks) -> String {
    let mut projects = fs::read_dir(hooks.store.root.join("projects")).expect("projects");
    let project = projects.next().expect("a project").expect("an entry");
    assert!(projects.next().is_none(), "there is one project");
    project.file_name().into_string().expect("text")
}

/// Returns the only note of a session in the memory of the project.
fn session_note(hooks: &Hooks) -> String {
    let sessions = hooks.store.root.join("projects").join(project_slug(hooks)).join("sessions");
    let files = fs::read_dir(sessions).expect("notes of sessions");
    let notes: Vec<PathBuf> = files.map(|file| file.expect("an entry").path()).collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    fs::read_to_string(&notes[0]).expect("a note")
}
