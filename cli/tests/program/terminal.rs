//! Output on a terminal: the program runs on a pseudo-terminal, so that it takes its output for a screen.

use std::fs::File;
use std::io::{Read, Write};
use std::process::Command;

use saddlebag::trust::is_hidden;

use super::support::{Store, hostile_text};

/// Sets the clipboard (OSC 52), turns text red (in C0 and in C1), and reverses the direction of what follows.
fn evil() -> String {
    hostile_text("commands to a terminal")
}

/// Runs the program with a terminal as both outputs, and returns the output; `None` if the system has no terminal to
/// give.
fn on_terminal(command: Command) -> Option<String> {
    answering(command, None)
}

/// Runs the program with a terminal as both outputs, and as its input if somebody types an answer. Returns what the screen
/// shows.
pub(crate) fn answering(mut command: Command, typed: Option<&str>) -> Option<String> {
    use rustix::fs::{Mode, OFlags};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).ok()?;
    grantpt(&master).ok()?;
    unlockpt(&master).ok()?;
    let name = ptsname(&master, Vec::new()).ok()?;
    let screen = rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).ok()?;
    if typed.is_some() {
        command.stdin(screen.try_clone().expect("cloned"));
    }
    command.env("NO_COLOR", "1").stdout(screen.try_clone().expect("cloned")).stderr(screen);
    let mut child = command.spawn().expect("the program starts");
    // A copy here would keep the terminal open, and its output would never end.
    drop(command);
    let mut shown = Vec::new();
    let mut master = File::from(master);
    // The terminal keeps the line until the program asks for it.
    master.write_all(typed.unwrap_or_default().as_bytes()).expect("typed");
    let mut part = [0; 4096];
    // Linux ends the output of a closed terminal with an error.
    while let Ok(read @ 1..) = master.read(&mut part) {
        shown.extend_from_slice(&part[..read]);
    }
    child.wait().expect("the program ends");
    // The terminal replaces each line feed by a carriage return and a line feed.
    Some(String::from_utf8(shown).expect("text").replace("\r\n", "\n"))
}

/// A store where everything that has a name or a text is hostile.
fn hostile_store() -> Store {
    let store = Store::new();
    let evil = evil();
    let note = format!("---\ntags: [plain]\n---\n# Title {evil}\n\nBody {evil} #tag{evil}\n\n[[b|{evil}]]\n");
    store.put(&format!("notes/a{evil}.md").replace('\u{85}', ""), &note);
    store.put("notes/a.md", &note);
    store.put("notes/b.md", "# B\n\n[[a]] text\n");
    store.put("MEMORY.md", format!("- fact {evil}\n"));
    store.run(&["--secrets", "allow", "remember", "--key", "key", &format!("content {evil}")]).exits(0);
    store
}

const COMMANDS: [&[&str]; 20] = [
    &["show", "long_term"],
    &["show", "note:a"],
    &["list", "--kind", "file"],
    &["search", "evil"],
    &["recall", "fact evil"],
    &["context"],
    &["context", "--report"],
    &["recall", "--kind", "entry", "evil"],
    &["show", "key"],
    &["tools", "memory_read", r#"{"target":"long_term"}"#],
    &["--json", "show", "long_term"],
    &["--json", "list", "--kind", "file"],
    &["--json", "recall", "evil"],
    &["--json", "show", "key"],
    &["--json", "show", "note:\u{9b}31m\u{202e}/"],
    &["show", "note:\u{9b}31m\u{1b}[31m\u{202e}/"],
    &["--\u{9b}31m\u{1b}[31m\u{202e}"],
    &["memory", "export", "--to", "jsonl", "--out", "-"],
    &["memory", "export", "--to", "mcp-memory", "--out", "-"],
    &["--trace", "/dev/stderr", "show", "long_term"],
];

#[test]
fn nothing_that_is_printed_to_a_terminal_commands_it_or_hides_from_it() {
    let store = hostile_store();
    for arguments in COMMANDS {
        let mut command = store.command(arguments);
        command.current_dir(&store.root);
        let Some(shown) = on_terminal(command) else {
            eprintln!(
                "nothing_that_is_printed_to_a_terminal_commands_it_or_hides_from_it: not run, as the system gives no \
                 pseudo-terminal"
            );
            return;
        };
        assert!(!shown.trim().is_empty(), "{arguments:?} prints nothing");
        assert_eq!(shown.chars().find(|&c| is_hidden(c)), None, "{arguments:?} prints {shown:?}");
    }
}

#[test]
fn a_terminal_is_shown_which_characters_there_are_and_a_pipe_gets_them() {
    let store = hostile_store();
    let piped = store.run(&["show", "long_term"]).exits(0);
    assert_eq!(piped.stdout, format!("- fact {}\n", evil()));
    let Some(shown) = on_terminal(store.command(&["show", "long_term"])) else {
        eprintln!(
            "a_terminal_is_shown_which_characters_there_are_and_a_pipe_gets_them: not run, as the system gives no \
             pseudo-terminal"
        );
        return;
    };
    assert!(
        shown.contains("- fact [U+001B]]52;c;ZXZpbA==[U+0007][U+001B][31mred[U+009B]31m[U+0085][U+202E]evil[U+007F]")
    );
}

#[test]
fn an_object_escapes_hidden_characters_on_a_pipe_as_well() {
    let store = hostile_store();
    let run = store.run(&["--json", "show", "long_term"]).exits(0);
    assert_eq!(run.stdout.chars().find(|&c| is_hidden(c)), None);
    assert_eq!(run.json()["text"], format!("- fact {}\n", evil()));
}
