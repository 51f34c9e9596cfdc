//! Checks of the steps of a new command that the compiler does not notice: see "Add a command" in CONTRIBUTING.md.

use std::fs;
use std::path::{Path, PathBuf};

use super::graph::Graph;
use super::source::Module;
use super::tests::base;

/// Strategies of random commands.
const STRATEGIES: &str = "tests/support/arbitrary.rs";

/// Commands that only hosts and tools give.
const WITHOUT_SUBCOMMAND: [&str; 5] =
    ["Checkpoint", "LoadMemories", "MemoryContext", "RememberError", "RememberSummary"];

/// The struct of every command.
fn commands() -> Vec<String> {
    let modules = files("src/lib.rs").into_iter().map(|file| Module::parse(&read(&base().join(file))));
    let impls = modules.flat_map(|module| module.impls);
    let commands = impls.filter(|one| one.of_trait.as_deref() == Some("Request"));
    let commands: Vec<String> = commands.filter_map(|one| one.of.last().cloned()).collect();
    assert!(commands.len() > 50, "{commands:?}");
    commands
}

/// The files of a crate.
fn files(root: &str) -> Vec<String> {
    Graph::read(&base(), &base().join(root)).expect("the crate is read").files
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("text")
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word)
}

/// The sources below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let below = paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    below.filter(|path| path.extension().is_some_and(|ending| ending == "rs")).collect()
}

/// Asserts that the texts name every command except some.
#[track_caller]
fn assert_named(texts: &[String], except: &[&str], advice: &str) {
    let is_named = |command: &String| texts.iter().any(|text| has_word(text, command));
    let mut missing: Vec<String> = commands().into_iter().filter(|command| !is_named(command)).collect();
    missing.sort();
    assert_eq!(missing, except, "{advice}");
}

#[test]
fn every_command_has_a_strategy() {
    assert_named(&[read(&base().join(STRATEGIES))], &[], "tests/support/arbitrary.rs makes commands");
}

#[test]
fn every_command_is_used_by_a_test() {
    let tests = sources(&base().join("tests")).into_iter().filter(|path| !path.ends_with(STRATEGIES));
    assert_named(&tests.map(|path| read(&path)).collect::<Vec<_>>(), &[], "a test should say what it does");
}

#[test]
fn every_command_is_used_by_the_program() {
    let program = files("cli/src/main.rs").into_iter().map(|file| read(&base().join(file)));
    assert_named(&program.collect::<Vec<_>>(), &WITHOUT_SUBCOMMAND, "it should have a subcommand");
}
