//! `docs/tasks.md`, run from top to bottom in an empty store.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::support::{Store, run};

/// The tasks that the page has.
const TASKS: usize = 40;

/// A command of the page, and the first line that it prints, if the page has it.
struct Task {
    command: String,
    first_line: Option<String>,
}

fn tasks() -> Vec<Task> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/tasks.md");
    let page = fs::read_to_string(path).expect("docs/tasks.md");
    let mut tasks: Vec<Task> = Vec::new();
    let mut in_code = false;
    for line in page.lines().map(str::trim) {
        match line.strip_prefix("$ saddlebag ") {
            _ if line.starts_with("```") => in_code = !in_code,
            Some(command) => tasks.push(Task { command: command.to_string(), first_line: None }),
            None if in_code => tasks.last_mut().expect("a command").first_line = Some(line.to_string()),
            None => {}
        }
    }
    tasks
}

/// The words of a command line whose quotes are double.
fn words(command: &str) -> Vec<String> {
    let quoted = command.split('"').enumerate();
    quoted
        .flat_map(|(number, part)| match number % 2 {
            0 => part.split_whitespace().map(str::to_string).collect(),
            _ => vec![part.to_string()],
        })
        .collect()
}

/// Writes the transcript of a session of Codex in a project.
fn write_a_transcript(project: &Path) {
    let said = |kind: &str, text: &str| json!({"type": "event_msg", "payload": {"type": kind, "message": text}});
    let lines = [
        json!({"type": "session_meta", "payload": {"id": "1", "cwd": project}}),
        said("user_message", "Park mail after four attempts."),
        said("agent_message", "The server blocks us after the fifth one."),
    ];
    let folder = project.join(".codex/sessions/2026/05/22");
    fs::create_dir_all(&folder).expect("made");
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(folder.join("rollout-1.jsonl"), lines).expect("written");
}

#[test]
fn the_page_of_tasks_runs_from_top_to_bottom() {
    let store = Store::new();
    write_a_transcript(&store.here);
    let tasks = tasks();
    assert_eq!(tasks.len(), TASKS);
    for Task { command, first_line } in &tasks {
        let words = words(command);
        let mut program = store.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
        for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
            program.env_remove(name);
        }
        let run = run(program.env("HOME", &store.here).env("USERPROFILE", &store.here), None);
        assert_eq!(run.code, 0, "{command}: {run:?}");
        if let Some(first_line) = first_line {
            let printed = store.without_memory(&run.stdout);
            assert_eq!(printed.lines().next(), Some(first_line.as_str()), "{command}: {run:?}");
        }
    }
    let shown = tasks.iter().filter(|task| task.first_line.is_some()).count();
    assert!(shown >= 15, "the page shows what {shown} commands print");
}
