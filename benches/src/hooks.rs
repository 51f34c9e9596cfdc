//! Hooks of a client: whole runs of the program, with compiled code cached, beside `rg` over the same notes.

use std::io::Write;
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::corpus;
use crate::report::{Bar, Report};
use crate::selection::Selection;
use crate::work::{Result, median, ripgrep, settle};

/// Number of runs of each event.
const RUNS: usize = 11;
/// Longest median for a prompt, and before a tool.
const PROMPT_BAR: Duration = Duration::from_millis(25);
/// Longest median for any other event.
const OTHER_BAR: Duration = Duration::from_millis(12);

/// A client that runs the program at its events.
struct Client<'a> {
    program: &'a Path,
    root: &'a Path,
    home: &'a Path,
    /// Number of events so far. Each is a separate moment.
    events: u32,
}

impl Client<'_> {
    /// Runs a hook, and returns what it prints.
    fn hook(&mut self, event: &str, session: &str, fields: &Value) -> Result<String> {
        self.events += 1;
        let mut payload = json!({
            "session_id": session,
            "transcript_path": "/home/ada/.claude/projects/x.jsonl",
            "cwd": self.root,
            "hook_event_name": event,
            "prompt_id": format!("p{}", self.events),
            "tool_use_id": format!("t{}", self.events),
        });
        if let (Some(all), Some(fields)) = (payload.as_object_mut(), fields.as_object()) {
            all.extend(fields.clone());
        }
        let mut child = Process::new(self.program)
            .arg("--root")
            .arg(self.root)
            .args(["--notebook", "hook", event])
            // Compiled code stays in the cache of the user; the log and the like do not.
            .env("XDG_STATE_HOME", self.home)
            .env_remove("CLAUDE_PROJECT_DIR")
            .env_remove("SADDLEBAG_HOOKS")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(payload.to_string().as_bytes())?;
        }
        let output = child.wait_with_output()?;
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Returns the number of failures that the program has logged.
    fn failures(&self) -> usize {
        std::fs::read_to_string(self.home.join("saddlebag/hook.log")).map_or(0, |log| log.lines().count())
    }
}

pub(crate) fn measure(report: &mut Report, selection: &Selection) -> Result<()> {
    let Some(program) = &selection.program else { return Ok(()) };
    let notes = selection.notes[0];
    let folder = tempfile::tempdir()?;
    let home = tempfile::tempdir()?;
    corpus::write_notebook(folder.path(), notes, 3)?;
    std::fs::write(folder.path().join("named.md"), "# Named\n\nThe file src/before.rs is generated.\n")?;
    settle();
    let mut client = Client { program, root: folder.path(), home: home.path(), events: 0 };
    let none = json!({});
    let startup = json!({ "source": "startup" });
    // The first run makes the index of a new store, which may take longer than a hook has.
    Process::new(program).arg("--root").arg(folder.path()).args(["--notebook", "recall", "zanzibar"]).output()?;
    client.hook("SessionStart", "first", &startup)?;
    let rg = ripgrep(folder.path(), &["zanzibar", "incident", "resolved"])?;

    let mut sessions = 0;
    let start = median(RUNS, || {
        sessions += 1;
        client.hook("SessionStart", &format!("start-{sessions}"), &startup)
    })?;
    let question = json!({ "prompt": "how was the zanzibar incident resolved" });
    let prompt = median(RUNS, || {
        sessions += 1;
        let answer = client.hook("UserPromptSubmit", &format!("prompt-{sessions}"), &question)?;
        // Without an answer there was nothing to measure.
        if answer.contains("zanzibar") { Ok(answer) } else { Err("the prompt was not answered".into()) }
    })?;
    let before = |file: &str| json!({ "tool_name": "Edit", "tool_input": { "file_path": folder.path().join(file) } });
    let named = before("src/before.rs");
    let before_named = median(RUNS, || {
        sessions += 1;
        let answer = client.hook("PreToolUse", &format!("before-{sessions}"), &named)?;
        if answer.contains("generated") { Ok(answer) } else { Err("nothing was said before the tool".into()) }
    })?;
    let other = before("src/other.rs");
    let before_other = median(RUNS, || {
        let answer = client.hook("PreToolUse", "first", &other)?;
        if answer.is_empty() { Ok(answer) } else { Err("something was said about another file".into()) }
    })?;
    let edited = json!({ "tool_name": "Edit", "tool_input": { "file_path": folder.path().join("src/a.rs") } });
    let edit = median(RUNS, || client.hook("PostToolUse", "first", &edited))?;
    let mut errors = 0;
    let failed = median(RUNS, || {
        errors += 1;
        let error = format!("error: case {} fails", errors % 3);
        let fields = json!({ "tool_name": "Bash", "tool_input": { "command": "make check" }, "error": error });
        client.hook("PostToolUseFailure", "first", &fields)
    })?;
    let stop = median(RUNS, || client.hook("Stop", "first", &none))?;
    let end = median(RUNS, || client.hook("SessionEnd", "first", &none))?;
    if client.failures() > 0 {
        return Err("a hook failed, so its time means nothing".into());
    }
    for (name, time, bar, baseline) in [
        ("start", start, OTHER_BAR, "12 ms"),
        ("prompt", prompt, PROMPT_BAR, "25 ms"),
        ("before a tool, named file", before_named, PROMPT_BAR, "25 ms"),
        ("before a tool, other file", before_other, PROMPT_BAR, "25 ms"),
        ("tool that edits", edit, OTHER_BAR, "12 ms"),
        ("tool that fails", failed, OTHER_BAR, "12 ms"),
        ("stop", stop, OTHER_BAR, "12 ms"),
        ("end", end, OTHER_BAR, "12 ms"),
    ] {
        let bars =
            [Bar { baseline, time: Some(bar), at_most: 1.0 }, Bar { baseline: "rg", time: rg, at_most: f64::INFINITY }];
        report.add(&format!("hook, {name}, {notes} notes"), time, &bars);
    }
    Ok(())
}
