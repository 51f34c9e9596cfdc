//! The ways to use a memory: the program, the tools of an agent, and the hooks of its client.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use saddlebag_host::project_slug;
use serde_json::{Value, json};

use crate::hook::{Hooks, claude, text_of};
#[cfg(feature = "server")]
use crate::mcp::{ALL_SETS, client::Pipes, text};
use crate::support::{Run, run};

/// A way to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Program,
    #[cfg(feature = "server")]
    Mcp,
    Hooks,
}

pub(super) const WAYS: &[Way] = &[
    Way::Program,
    #[cfg(feature = "server")]
    Way::Mcp,
    Way::Hooks,
];

/// A command that memory may say something about.
const COMMAND: &str = "make lamp";

/// Each prompt is of a separate session, so that nothing is left out because it was shown already.
static SESSIONS: AtomicU32 = AtomicU32::new(0);

/// An agent in a project.
pub(super) struct Seat<'a> {
    pub(super) hooks: &'a Hooks,
    pub(super) agent: &'a str,
    pub(super) project: PathBuf,
}

impl<'a> Seat<'a> {
    pub(super) fn new(hooks: &'a Hooks, project: &str, agent: &'a str) -> Self {
        let project = hooks.store.here.join(project);
        fs::create_dir_all(project.join(".git")).expect("made");
        Self { hooks, agent, project }
    }

    /// Sets the time of the next runs, in minutes after the first ones.
    pub(super) fn at(&self, minute: u32) {
        *self.hooks.now.lock().expect("a time") = format!("2026-05-30T09:{}:00+02:00", 15 + minute);
    }

    /// Returns the folder of the project's memory, relative to the root.
    pub(super) fn memory(&self) -> String {
        format!("projects/{}", project_slug(&self.project))
    }

    /// Returns the program with the options of the store before `arguments`.
    fn command(&self, options: &[&str], arguments: &[&str]) -> Command {
        let mut command = self.hooks.bare();
        command.args(["--agent", self.agent]).args(options).arg("--root").arg(&self.hooks.store.root);
        command.args(arguments);
        command
    }

    /// Runs a command of the project.
    pub(super) fn run(&self, arguments: &[&str]) -> Run {
        run(&mut self.command(&["--project", self.project.to_str().expect("text")], arguments), None)
    }

    /// Starts a server with all tools for the project.
    #[cfg(feature = "server")]
    pub(super) fn client(&self) -> Pipes {
        let project = self.project.to_str().expect("text");
        Pipes::from_command(self.command(&["--project", project], &["mcp", "--tools", ALL_SETS])).open()
    }

    /// Runs a hook. Returns its text for the model.
    pub(super) fn hook(&self, session: &str, event: &str, fields: &Value) -> String {
        self.hook_with(&[], &[], session, event, fields)
    }

    /// Runs a hook with options of every command and with its own. Returns its text for the model.
    pub(super) fn hook_with(
        &self,
        options: &[&str],
        own: &[&str],
        session: &str,
        event: &str,
        fields: &Value,
    ) -> String {
        let payload = claude(session, event, fields).to_string();
        let payload = payload.replace("{project}", self.project.to_str().expect("text"));
        let answer = run(&mut self.command(options, &[&["hook"], own].concat()), Some(payload.as_bytes())).exits(0);
        if answer.stdout.is_empty() { String::new() } else { text_of(&answer.json()).to_string() }
    }

    /// Returns what a new session of a client gets for its first prompt, and before its first command.
    fn prompted(&self, question: &str) -> String {
        let session = format!("asks-{}", SESSIONS.fetch_add(1, Ordering::Relaxed));
        let start = self.hook(&session, "SessionStart", &json!({ "source": "startup" }));
        let prompt = self.hook(&session, "UserPromptSubmit", &json!({ "prompt": question }));
        let tool = json!({ "tool_name": "Bash", "tool_use_id": session, "tool_input": { "command": COMMAND } });
        [start, prompt, self.hook(&session, "PreToolUse", &tool)].join("\n")
    }

    /// Returns the memory that goes into a prompt for a question.
    pub(super) fn prompt(&self, way: Way, question: &str) -> String {
        match way {
            Way::Program => self.run(&["context", "--entries", "--recall", question]).stdout,
            #[cfg(feature = "server")]
            Way::Mcp => {
                let mut client = self.client();
                let block = client.result("resources/read", json!({ "uri": "saddlebag://context" }));
                block["contents"][0]["text"].as_str().unwrap_or_default().to_string()
            }
            Way::Hooks => self.prompted(question),
        }
    }

    /// Returns what answers a question, with the memory that goes into a prompt.
    pub(super) fn answers(&self, way: Way, question: &str) -> String {
        let found = match way {
            Way::Program => self.run(&["recall", question]).stdout,
            #[cfg(feature = "server")]
            Way::Mcp => text(&self.client().call("mem_recall", json!({ "query": question }))).to_string(),
            Way::Hooks => String::new(),
        };
        found + "\n" + &self.prompt(way, question)
    }

    /// Checks by every way that an answer has some texts and not others.
    #[track_caller]
    pub(super) fn finds(&self, question: &str, present: &[&str], absent: &[&str]) {
        for way in WAYS {
            let found = self.answers(*way, question);
            for text in present {
                assert!(found.contains(text), "{way:?}, {}: {text} is missing: {found}", self.agent);
            }
            for text in absent {
                assert!(!found.contains(text), "{way:?}, {}: {text} is there: {found}", self.agent);
            }
        }
    }
}

/// Adds so many notes to each project that the program writes an index.
pub(super) fn fill(root: &Path) {
    for project in fs::read_dir(root.join("projects")).expect("projects").flatten() {
        let folder = project.path().join("notes");
        fs::create_dir_all(&folder).expect("made");
        for number in 0..130 {
            fs::write(folder.join(format!("filler-{number}.md")), format!("# Filler {number}\n")).expect("written");
        }
    }
}

/// Removes what the program derives from the files.
pub(super) fn remove_index(root: &Path) {
    fn remove(folder: &Path, removed: &mut u32) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_name().to_str() {
                Some("index") => {
                    fs::remove_dir_all(&path).expect("removed");
                    *removed += 1;
                }
                _ => remove(&path, removed),
            }
        }
    }
    let mut removed = 0;
    remove(root, &mut removed);
    assert!(removed > 0, "there was an index");
}

/// Returns the files below a folder that have a text, also those of the program's own.
pub(super) fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.append(&mut files_with(&path, text));
        } else if String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).contains(text) {
            found.push(path.display().to_string());
        }
    }
    found
}
