//! Stores that are empty, missing or read-only, and the switch.

use std::fs;

use serde_json::{Value, json};

use super::{Hooks, claude};
use crate::support::run;

fn start(session: &str) -> Value {
    claude(session, "SessionStart", &json!({ "source": "startup" }))
}

#[test]
fn an_empty_memory_prints_nothing() {
    let hooks = Hooks::new();
    hooks.send(&["start"], &start("s")).prints("");
    hooks
        .send(&["prompt"], &claude("s", "UserPromptSubmit", &json!({ "prompt": "Which rounding do we use?" })))
        .prints("");
    hooks.send(&["end"], &claude("s", "SessionEnd", &json!({ "reason": "other" }))).prints("");
    assert_eq!(hooks.log(), Vec::<Value>::new());
}

#[test]
fn a_missing_store_is_logged_and_counted_by_status() {
    let hooks = Hooks::with_memory();
    let mut command = hooks.bare();
    command.arg("--root").arg(hooks.store.here.join("missing")).args(["hook", "start"]);
    let text = start("s").to_string().replace("{project}", hooks.project.to_str().expect("text"));
    run(&mut command, Some(text.as_bytes())).exits(0).prints("");
    let log = hooks.log();
    assert_eq!((log.len(), &log[0]["code"]), (1, &"storage".into()), "{log:?}");
    assert_eq!((&log[0]["client"], &log[0]["event"]), (&"claude-code".into(), &"start".into()));
    let status = hooks.memory(&["status"]).exits(0);
    assert!(status.stdout.contains("hooks: 1 failure(s), printed by `saddlebag hook log`"), "{}", status.stdout);
    let printed = hooks.hook(&["log"], b"").exits(0);
    assert!(printed.stdout.contains("claude-code start storage: "), "{}", printed.stdout);
    assert_eq!(hooks.hook(&["--log"], b"").exits(0).stdout, printed.stdout);
}

#[cfg(unix)]
#[test]
fn a_store_that_cannot_be_written_is_logged_and_left_as_it_is() {
    use std::os::unix::process::CommandExt;

    const NOBODY: u32 = 65534;
    let hooks = Hooks::with_memory();
    let before = hooks.everything();
    set_modes(&hooks.store.here.join(".."), 0o755);
    set_modes(&hooks.store.root, 0o555);
    let edit = claude(
        "s",
        "PostToolUse",
        &json!({ "tool_name": "Edit", "tool_use_id": "t",
        "tool_input": { "file_path": "{project}/src/tax.py" } }),
    );
    let text = edit.to_string().replace("{project}", hooks.project.to_str().expect("text"));
    let mut command = hooks.command(&["tool", "--engine", "native"]);
    if rustix::process::geteuid().is_root() {
        // Root may write everywhere, so another user runs the hook.
        rustix::fs::chown(&hooks.home, Some(rustix::fs::Uid::from_raw(NOBODY)), None).expect("given away");
        command.uid(NOBODY);
        if let Err(error) =
            std::process::Command::new(env!("CARGO_BIN_EXE_saddlebag")).arg("--version").uid(NOBODY).output()
        {
            eprintln!("a_store_that_cannot_be_written_is_logged_and_left_as_it_is: not run as another user: {error}");
            return;
        }
    }
    let ended = run(&mut command, Some(text.as_bytes()));
    set_modes(&hooks.store.root, 0o755);
    ended.exits(0).prints("");
    let log = hooks.log();
    assert_eq!(log.len(), 1, "{log:?}");
    assert_eq!((&log[0]["client"], &log[0]["event"]), (&"claude-code".into(), &"tool".into()));
    assert_eq!(hooks.everything(), before);
}

/// Sets the mode of a folder and of every folder in it.
#[cfg(unix)]
fn set_modes(folder: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;

    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            }
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).expect("set");
    }
}

#[test]
fn a_store_that_is_a_file_is_logged() {
    let hooks = Hooks::new();
    let file = hooks.store.here.join("file");
    fs::write(&file, "x").expect("written");
    for event in ["start", "prompt", "tool", "compact", "stop", "end"] {
        let names = ["SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop", "SessionEnd"];
        let name = names[["start", "prompt", "tool", "compact", "stop", "end"]
            .iter()
            .position(|known| *known == event)
            .expect("known")];
        let fields = json!({ "prompt": "why", "tool_name": "Bash", "tool_input": { "command": "ls" } });
        let text = claude("s", name, &fields).to_string().replace("{project}", hooks.project.to_str().expect("text"));
        let mut command = hooks.bare();
        command.arg("--root").arg(&file).args(["hook", event]);
        run(&mut command, Some(text.as_bytes())).exits(0).prints("");
    }
    assert_eq!(hooks.log().len(), 6);
}

#[test]
fn the_switch_turns_hooks_off() {
    let hooks = Hooks::with_memory();
    let before = hooks.everything();
    let text = start("s").to_string().replace("{project}", hooks.project.to_str().expect("text"));
    for off in ["off", "OFF", "0"] {
        let mut command = hooks.command(&["start"]);
        command.env("SADDLEBAG_HOOKS", off);
        run(&mut command, Some(text.as_bytes())).exits(0).prints("");
    }
    assert_eq!(hooks.everything(), before);
    assert_eq!(hooks.log(), Vec::<Value>::new());
    assert_ne!(hooks.hook(&["start"], text.as_bytes()).exits(0).stdout, "");
}

#[test]
fn the_project_of_the_client_counts_and_not_the_folder_of_the_process() {
    let hooks = Hooks::with_memory();
    let mut command = hooks.command(&["start"]);
    command.current_dir(&hooks.home);
    let text = start("s").to_string().replace("{project}", hooks.project.to_str().expect("text"));
    assert!(run(&mut command, Some(text.as_bytes())).exits(0).stdout.contains("Reports are in euros"));
    // Claude Code may have changed its folder, and says which project it is in.
    let mut command = hooks.command(&["start"]);
    command.env("CLAUDE_PROJECT_DIR", &hooks.project);
    let elsewhere = start("t").to_string().replace("{project}", hooks.home.to_str().expect("text"));
    let shown = run(&mut command, Some(elsewhere.as_bytes())).exits(0).stdout;
    assert!(shown.contains("ask for the new tax table"), "{shown}");
}

#[test]
fn no_answer_is_larger_than_asked_for() {
    let hooks = Hooks::with_memory();
    for number in 0..40 {
        hooks.memory(&["log", &format!("day {number}"), &"a long line about rounding. ".repeat(30)]).exits(0);
    }
    let answer = |session: &str, bytes: &str| {
        let run = hooks.send(&["start", "--max-bytes", bytes], &start(session));
        if run.stdout.is_empty() { 0 } else { super::text_of(&run.json()).len() }
    };
    assert!((1..=2_000).contains(&answer("a", "2000")));
    assert!((2_001..=10_000).contains(&answer("b", "4000000")));
}
