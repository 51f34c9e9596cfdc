//! The first hook of a program that was just installed, built from source or not.

use std::fs;

use serde_json::{Value, json};

use super::{Hooks, claude, text_of};
use crate::support::engine;

#[test]
fn the_first_hook_of_a_program_compiles_nothing_and_is_served() {
    if engine() == "native" {
        return eprintln!("the_first_hook_of_a_program_compiles_nothing_and_is_served: not run with the native engine");
    }
    let mut hooks = Hooks::with_memory();
    // A user who has never run the program.
    hooks.home = hooks.store.here.join("new");
    fs::create_dir(&hooks.home).expect("made");
    let asked = claude("s", "UserPromptSubmit", &json!({ "prompt": "Which rounding does the tax report use?" }));

    let answered = hooks.send(&["prompt", "--client", "claude-code"], &asked);

    assert!(text_of(&answered.json()).contains("half to even"), "{answered:?}");
    assert_eq!(hooks.log(), Vec::<Value>::new());
    let kept: Vec<_> =
        fs::read_dir(&hooks.home).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    let states = [hooks.home.join("state")];
    assert!(kept.iter().all(|path| states.contains(path)), "{kept:?}");
}
