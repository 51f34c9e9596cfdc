//! The recording in the README: a session that ends, and what the next one begins with.

use std::fs;
use std::path::Path;

use saddlebag_tests_shared::generated::Kind;
use serde_json::json;

use super::{Hooks, claude, text_of};

const BEGIN: &str = "hook::readme:: writes it again. -->\n```text\n";
const END: &str = "```\n<!-- end of the recording -->";

#[test]
fn the_recording_of_the_readme_is_what_the_program_prints() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = fs::read_to_string(&path).expect("README.md");
    let (before, rest) = readme.split_once(BEGIN).expect("the beginning of the recording");
    let (_, after) = rest.split_once(END).expect("the end of the recording");
    let made = format!("{before}{BEGIN}{}{END}{after}", recording());
    Kind::Docs.check(&path, &made).unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn the_readme_has_at_most_150_lines() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let lines = fs::read_to_string(path).expect("README.md").lines().count();
    assert!(lines <= 150, "the README has {lines} lines");
}

fn recording() -> String {
    let hooks = Hooks::new();
    let prompt = "The tax report must round once, in the total.";
    let send = |session: &str, event: &str, fields: serde_json::Value| {
        let run = hooks.send(&[], &claude(session, event, &fields));
        if run.stdout.is_empty() { String::new() } else { text_of(&run.json()).to_string() }
    };
    send("monday", "SessionStart", json!({ "source": "startup" }));
    send("monday", "UserPromptSubmit", json!({ "prompt_id": "1", "prompt": prompt }));
    fs::write(hooks.project.join("src/tax.py"), "").expect("a file of the project");
    let edited = hooks.project.join("src/tax.py");
    let check = json!({ "command": "make check" });
    let edit = json!({ "file_path": edited });
    send("monday", "PostToolUse", json!({ "tool_name": "Edit", "tool_use_id": "2", "tool_input": edit }));
    let failed = json!({ "tool_name": "Bash", "tool_use_id": "3", "tool_input": check, "error": "2 tests failed" });
    send("monday", "PostToolUseFailure", failed);
    send("monday", "PostToolUse", json!({ "tool_name": "Edit", "tool_use_id": "4", "tool_input": edit }));
    send("monday", "PostToolUse", json!({ "tool_name": "Bash", "tool_use_id": "5", "tool_input": check }));
    send("monday", "UserPromptSubmit", json!({ "prompt_id": "6", "prompt": "Next, do the same for the invoice." }));
    send("monday", "Stop", json!({}));
    send("monday", "SessionEnd", json!({ "reason": "other" }));
    let block = send("tuesday", "SessionStart", json!({ "source": "startup" }));
    assert!(block.contains(prompt) && block.contains("make check"), "{block}");
    format!(
        "Monday    you    {prompt}\n          agent  edits src/tax.py; `make check` fails; edits again; `make check` passes\n          \
         you    Next, do the same for the invoice.\n          agent  the session ends\n\nTuesday   a new session begins. Its \
         hook adds this to the context of the model:\n\n{}\n",
        block.trim_end()
    )
}
