//! Questions about a time, in a prompt and in a recall.

use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::json;

use super::{Hooks, claude, text_of};

/// Seconds since 1970-01-01 of the time of the hooks.
const NOW_SECONDS: u64 = 1_780_125_300;

#[test]
fn what_happened_today_has_entries_and_no_page_that_was_copied_today() {
    let hooks = Hooks::new();
    hooks.memory(&["remember", "--key", "pager", "Ines has the pager."]).exits(0);
    hooks.memory(&["log", "Deployed", "It went well."]).exits(0);
    let mut projects = fs::read_dir(hooks.store.root.join("projects")).expect("projects").flatten();
    let memory = projects.find(|folder| folder.path().join("daily").exists()).expect("a log").path();
    fs::create_dir_all(memory.join("pages")).expect("made");
    let page = memory.join("pages/readme.md");
    fs::write(&page, "# Library\n\nInstall it.\n").expect("written");
    let file = fs::File::options().write(true).open(&page).expect("opened");
    file.set_modified(UNIX_EPOCH + Duration::from_secs(NOW_SECONDS)).expect("dated");
    let prompt = |text: &str| claude("s", "UserPromptSubmit", &json!({ "prompt": text }));
    let answer = hooks.send(&[], &prompt("what happened today?")).json();
    let text = text_of(&answer);
    assert!(
        text.contains("Ines has the pager") && text.contains("It went well") && !text.contains("Install"),
        "{text}"
    );
    let recalled = hooks.memory(&["recall", "what happened today?"]).exits(0).stdout;
    assert!(recalled.contains("Ines has the pager") && recalled.contains("Install it"), "{recalled}");
    let entries = hooks.memory(&["recall", "what happened today?", "--kind", "entry"]).exits(0).stdout;
    assert!(entries.contains("pager") && !entries.contains("Install"), "{entries}");
}

#[test]
fn an_entry_without_text_is_in_no_prompt() {
    let hooks = Hooks::new();
    let stored = hooks.memory(&["--json", "remember", "--key", "timeout", "It is 40."]).exits(0).json();
    let file = hooks.store.root.join(stored["path"].as_str().expect("a path"));
    let ask = |session: &str| claude(session, "UserPromptSubmit", &json!({ "prompt": "what is the timeout?" }));
    assert!(text_of(&hooks.send(&[], &ask("one")).json()).contains("It is 40"));
    let text = fs::read_to_string(&file).expect("read");
    fs::write(&file, text.replace("It is 40.", "")).expect("written");
    assert_eq!(hooks.send(&[], &ask("two")).stdout, "");
    assert!(!hooks.memory(&["recall", "timeout"]).stdout.contains("agent: "));
}
