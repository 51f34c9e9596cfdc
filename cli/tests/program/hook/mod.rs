//! `saddlebag hook`, with recorded input of every client and every event.
//!
//! `cli/tests/hooks/recordings/` has a session of each client, and `cli/tests/golden/hooks/` the answers to it. A test of
//! `tests/shared/` holds these against a JSON Schema of each client in `cli/tests/hooks/schemas/`.

mod bare;
mod before_tool;
mod belongs;
mod day;
#[cfg(feature = "component")]
mod first;
mod hostile;
mod once;
#[cfg(unix)]
mod plugin;
mod readme;
mod recordings;
mod state;
mod stores;
mod time;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use serde_json::Value;

use crate::support::{NOW, Run, Store, engine, run};

/// Variables of clients that may run the tests.
const OF_CLIENTS: [&str; 6] = [
    "CLAUDE_PROJECT_DIR",
    "CURSOR_PROJECT_DIR",
    "GEMINI_PROJECT_DIR",
    "SADDLEBAG_HOOKS",
    "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",
];

/// A store, a project and a home folder.
pub(crate) struct Hooks {
    pub(crate) store: Store,
    pub(super) home: PathBuf,
    pub(super) project: PathBuf,
    /// Time of the next run.
    pub(super) now: Mutex<String>,
}

impl Hooks {
    pub(super) fn new() -> Self {
        let store = Store::new();
        let home = store.here.join("home");
        let project = store.here.join("tax");
        fs::create_dir_all(project.join(".git")).expect("made");
        fs::create_dir_all(project.join("src")).expect("made");
        fs::create_dir_all(&home).expect("made");
        // A file is named only if it exists.
        for file in ["src/tax.py", "src/locked.py"] {
            fs::write(project.join(file), "").expect("written");
        }
        Self { store, home, project, now: Mutex::new(NOW.into()) }
    }

    /// Creates a memory with a fact, a note about rounding, an entry, an open item and text that nobody has approved.
    pub(crate) fn with_memory() -> Self {
        let hooks = Self::new();
        hooks.memory(&["write", "long_term", "- Reports are in euros."]).exits(0);
        hooks.memory(&["write", "scratchpad", "- [ ] ask for the new tax table"]).exits(0);
        let note = "The tax report rounds cents half to even. Rounding is done once, in the total.";
        hooks.memory(&["remember", "Rounding of the tax report", note]).exits(0);
        hooks.memory(&["remember", "--key", "currency", "The tax report is in euros and cents."]).exits(0);
        let audit = "Never rename src/tax.py.\n\n`make check` needs LANG=C.";
        hooks.memory(&["remember", "Audit", audit, "--template", "decision"]).exits(0);
        let unapproved = "UNAPPROVED: never rename src/tax.py, and `make check` needs nothing.";
        hooks.memory(&["--provenance", "tool", "remember", "Page about names", unapproved]).exits(0);
        let unapproved = "UNAPPROVED: rounding of the tax report in cents is truncation.";
        hooks.memory(&["--provenance", "tool", "remember", "Rounding of cents in the tax report", unapproved]).exits(0);
        hooks
    }

    /// Returns the program in an environment that is only the test's.
    pub(super) fn bare(&self) -> Command {
        let mut command = self.store.bare(&[
            "--now",
            &self.now.lock().expect("a time"),
            "--durability",
            "fast",
            "--engine",
            &engine(),
        ]);
        command.env("HOME", &self.home).env("USERPROFILE", &self.home).env("APPDATA", self.home.join("data"));
        command.env("XDG_STATE_HOME", self.home.join("state")).env("SADDLEBAG_MACHINE", "laptop");
        OF_CLIENTS.iter().for_each(|name| {
            command.env_remove(name);
        });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Returns the program with the options of the store before `hook`.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bare();
        command.arg("--root").arg(&self.store.root).arg("hook").args(arguments);
        command
    }

    /// Runs a hook with this text as its input.
    pub(super) fn hook(&self, arguments: &[&str], input: &[u8]) -> Run {
        run(&mut self.command(arguments), Some(input))
    }

    /// Runs a hook with this payload, and checks that it ends well.
    #[track_caller]
    pub(crate) fn send(&self, arguments: &[&str], payload: &Value) -> Run {
        let text = payload.to_string().replace("{project}", self.project.to_str().expect("text"));
        let run = self.hook(arguments, text.as_bytes()).exits(0);
        assert_eq!(run.stderr, "", "{payload}");
        run
    }

    /// Runs a command of the memory of the project.
    pub(crate) fn memory(&self, arguments: &[&str]) -> Run {
        let mut command = self.bare();
        command.arg("--project").arg(&self.project).arg("--root").arg(&self.store.root).args(arguments);
        run(&mut command, None)
    }

    /// Returns the folder of the program's own state.
    pub(crate) fn state(&self) -> PathBuf {
        self.home.join("state/saddlebag")
    }

    /// Returns the lines of the log.
    pub(super) fn log(&self) -> Vec<Value> {
        let read = fs::read_to_string(self.state().join("hook.log")).unwrap_or_default();
        read.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }

    /// Returns the text of every file of the store, hidden ones included.
    pub(super) fn everything(&self) -> String {
        let mut all = String::new();
        collect(&self.store.root, &mut all);
        all
    }
}

fn collect(folder: &Path, all: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        all.push_str(&format!("{}\n", path.display()));
        if path.is_dir() {
            collect(&path, all);
        } else {
            all.push_str(&String::from_utf8_lossy(&fs::read(&path).expect("readable")));
        }
    }
}

/// Returns the text for the model in an answer of any client.
pub(crate) fn text_of(answer: &Value) -> &str {
    let nested = &answer["hookSpecificOutput"]["additionalContext"];
    let fields = [nested, &answer["additional_context"], &answer["additionalContext"], &answer["text"]];
    fields.into_iter().find_map(Value::as_str).unwrap_or_default()
}

/// Returns the payload of Claude Code for an event.
pub(crate) fn claude(session: &str, event: &str, fields: &Value) -> Value {
    let mut payload = serde_json::json!({
        "session_id": session,
        "transcript_path": "/home/ada/.claude/projects/-tax/x.jsonl",
        "cwd": "{project}",
        "hook_event_name": event,
    });
    let all = payload.as_object_mut().expect("an object");
    all.extend(fields.as_object().expect("an object").clone());
    payload
}
