//! Questions of `setup` and `setup --uninstall`, answered on a pseudo-terminal.

use super::{Home, PROGRAM};
use crate::terminal::answering;

/// Says which test had no terminal.
fn not_run(test: &str) {
    eprintln!("{test}: not run, as the system gives no pseudo-terminal");
}

#[test]
fn setup_writes_only_after_a_yes() {
    let home = Home::new();
    home.put(".codex/config.toml", "model = \"gpt-5\"\n");
    let before = home.tree();
    for (typed, writes) in [("n\n", false), ("\n", false), ("maybe\n", false), ("y\n", true)] {
        let command = home.command(&["setup", "codex", "--command", PROGRAM]);
        let Some(shown) = answering(command, Some(typed)) else { return not_run("setup_writes_only_after_a_yes") };
        assert!(shown.contains("[mcp_servers.saddlebag]") && shown.contains("[y/N]"), "{typed:?}: {shown}");
        assert_eq!(home.tree() != before, writes, "{typed:?}: {shown}");
        assert_eq!(home.text(".codex/config.toml").contains(PROGRAM), writes, "{typed:?}: {shown}");
    }
    let command = home.command(&["setup", "codex", "--remove"]);
    let Some(shown) = answering(command, Some("n\n")) else { return not_run("setup_writes_only_after_a_yes") };
    assert!(home.text(".codex/config.toml").contains(PROGRAM), "{shown}");
}

#[test]
fn uninstall_removes_only_after_a_yes_and_memory_only_after_a_second_one() {
    let home = Home::new();
    home.add("codex", &[]).exits(0);
    home.put(".local/share/saddlebag/MEMORY.md", "a fact\n");
    let before = home.tree();
    let run = |options: &[&str], typed: &str| {
        let command = home.command(&[&["setup", "--uninstall"], options].concat());
        answering(command, Some(typed))
    };
    let name = "uninstall_removes_only_after_a_yes_and_memory_only_after_a_second_one";
    for (options, typed) in [(&[][..], "n\n"), (&["--memory"][..], "n\n"), (&["--memory"][..], "y\nn\n")] {
        let Some(shown) = run(options, typed) else { return not_run(name) };
        assert!(shown.contains("[y/N]"), "{shown}");
        assert_eq!(home.tree(), before, "{options:?} {typed:?}: {shown}");
    }
    let Some(shown) = run(&["--memory"], "y\ny\n") else { return not_run(name) };
    assert!(!home.tree().contains_key(".local/share/saddlebag/MEMORY.md"), "{shown}");
    assert!(!home.tree().contains_key(".codex/config.toml"), "{shown}");
}
