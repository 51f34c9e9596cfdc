//! Checks of the steps of a new command that the compiler does not notice: see "Add a command" in CONTRIBUTING.md.

use super::{read, sources};

/// Strategies of random commands.
const STRATEGIES: &str = "tests/support/arbitrary.rs";

/// Commands that only hosts and tools give.
const WITHOUT_SUBCOMMAND: [&str; 5] =
    ["Checkpoint", "LoadMemories", "MemoryContext", "RememberError", "RememberSummary"];

/// Asserts that the files name the struct of every command except some.
#[track_caller]
fn assert_named(files: impl IntoIterator<Item = String>, except: &[&str], advice: &str) {
    let texts: Vec<String> = files.into_iter().map(read).collect();
    let words = texts.iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let words: std::collections::BTreeSet<&str> = words.collect();
    let sources: Vec<String> = sources("src").into_iter().filter(|file| !file.contains("tests")).map(read).collect();
    let lines = sources.iter().flat_map(|text| text.lines());
    let mut commands: Vec<&str> =
        lines.filter_map(|line| line.strip_prefix("request!(")?.split_once(' ')).map(|(command, _)| command).collect();
    assert!(commands.len() > 50, "{commands:?}");
    // Callers name the records of their kinds.
    commands.retain(|command| !["ExportItems", "ImportItems", "Write"].contains(command));
    commands.retain(|command| !words.contains(command));
    commands.sort_unstable();
    assert_eq!(commands, except, "{advice}");
}

#[test]
fn every_command_has_a_strategy() {
    assert_named([STRATEGIES.to_string()], &[], "tests/support/arbitrary.rs makes commands");
}

#[test]
fn every_command_is_used_by_a_test() {
    let tests = sources("tests").into_iter().filter(|path| path != STRATEGIES);
    assert_named(tests, &[], "a test should say what it does");
}

#[test]
fn every_command_is_used_by_the_program() {
    let program = sources("cli/src").into_iter().filter(|path| !path.contains("tests"));
    assert_named(program, &WITHOUT_SUBCOMMAND, "it should have a subcommand");
}
