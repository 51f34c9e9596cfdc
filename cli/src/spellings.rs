//! Checks that every command line in the documentation and in the program's messages can run.

use std::fs;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::args::line;

/// Nouns of the program. Two words between backticks are a command if the first is a noun.
const NOUNS: [&str; 5] = ["note", "entry", "file", "memory", "tools"];

#[test]
fn every_command_line_of_the_documentation_can_be_run() {
    let (mut checked, mut problems) = (0, Vec::new());
    for path in pages() {
        let text = fs::read_to_string(&path).expect("a page");
        let mut in_code = false;
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim_start().starts_with("```") {
                in_code = !in_code;
                continue;
            }
            let lines = if in_code { commands_of_code(line) } else { commands_of_prose(line) };
            for command in lines {
                checked += 1;
                problems.extend(
                    problem(&command).map(|problem| format!("{}:{number}: `{command}`: {problem}", path.display())),
                );
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(checked > 150, "only {checked} command lines were found");
}

#[test]
fn every_command_that_a_text_of_the_program_names_can_be_run() {
    let (mut checked, mut problems) = (0, Vec::new());
    for folder in ["src", "cli/src", "host-harness/src", "crates", "wit"] {
        for path in files(&project().join(folder)) {
            if !path.extension().is_some_and(|suffix| suffix == "rs" || suffix == "wit") {
                continue;
            }
            let text = joined(&fs::read_to_string(&path).expect("a source file"));
            for (number, line) in (1..).zip(text.lines()) {
                let is_comment = line.trim_start().starts_with("//");
                // In a comment, a noun and a verb may be plain English, so only commands that begin with `saddlebag`
                // are checked.
                let commands = commands_of_prose(line).into_iter();
                for command in commands.filter(|command| !is_comment || line.contains(command.as_str())) {
                    checked += 1;
                    let near = format!("{}, near line {number}", path.display());
                    problems.extend(problem(&command).map(|problem| format!("{near}: `{command}`: {problem}")));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(checked > 40, "only {checked} commands were found");
}

#[test]
fn every_example_can_be_run_and_is_of_its_command() {
    fn examples(command: &clap::Command, words: &str) {
        for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
            let words = format!("{words} {}", below.get_name());
            if below.has_subcommands() {
                examples(below, &words);
                continue;
            }
            let example = below.get_after_help().map(ToString::to_string).unwrap_or_default();
            let example = example.lines().last().unwrap_or_default().trim();
            assert!(example.starts_with(&words), "the example of `{words}` is `{example}`");
            if let Err(error) = line().try_get_matches_from(split(example)) {
                panic!("`{example}`: {error}");
            }
        }
    }
    let mut line = line();
    line.build();
    examples(&line, "saddlebag");
}

#[test]
fn an_old_or_a_mistyped_spelling_is_found() {
    for command in ["saddlebag notes", "saddlebag entry tgs", "saddlebag list --sorted", "saddlebag write x y z"] {
        assert!(problem(command).is_some(), "{command}");
    }
    for command in ["saddlebag recall", "saddlebag entry", "saddlebag recall QUESTION --limit N", "saddlebag --help"] {
        assert_eq!(problem(command), None, "{command}");
    }
    assert_eq!(
        commands_of_code("$ saddlebag status && saddlebag recall 'a && b' # it"),
        ["saddlebag status", "saddlebag recall 'a && b'"]
    );
    assert_eq!(
        commands_of_prose("`entry run` and `saddlebag today`, not `notes`"),
        ["saddlebag entry run", "saddlebag today"]
    );
}

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn pages() -> Vec<PathBuf> {
    let of_root = fs::read_dir(project()).expect("the project").map(|entry| entry.expect("an entry").path());
    let pages = of_root.chain(files(&project().join("docs")));
    let is_page = |path: &PathBuf| path.extension().is_some_and(|suffix| suffix == "md");
    pages.filter(is_page).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Returns the text of a source file, with each string on one line.
fn joined(text: &str) -> String {
    let mut parts = text.split("\\\n");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |joined, part| joined + part.trim_start())
}

/// Returns the commands between backticks: those that begin with the program's name, and those that begin with a
/// noun.
fn commands_of_prose(line: &str) -> Vec<String> {
    let spans = line.split('`').skip(1).step_by(2);
    let command = |span: &str| {
        let (first, rest) = span.split_once(' ')?;
        let is_verb = rest.starts_with(|c: char| c.is_ascii_lowercase());
        match first {
            "saddlebag" => Some(span.to_string()),
            noun if NOUNS.contains(&noun) && is_verb => Some(format!("saddlebag {span}")),
            _ => None,
        }
    };
    spans.filter_map(command).filter(|command| !command.contains(['{', '"'])).collect()
}

/// Returns the commands of a line of shell code.
fn commands_of_code(line: &str) -> Vec<String> {
    let line = line.trim_start();
    let line = line.strip_prefix("$ ").unwrap_or(line);
    let mut commands = vec![String::new()];
    let mut quote = None;
    let mut before = ' ';
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '\'' || c == '"' => quote = Some(c),
            None if c == '#' && before == ' ' => break,
            None if c == ';' || matches!(c, '&' | '|') && matches!(before, ' ' | '&' | '|') => {
                commands.push(String::new());
                before = c;
                continue;
            }
            _ => {}
        }
        before = c;
        commands.last_mut().expect("one").push(c);
    }
    let commands = commands.iter().map(|command| command.trim());
    commands.filter(|command| command.starts_with("saddlebag ")).map(str::to_string).collect()
}

/// Splits a command line into words, and leaves out the syntax of the shell.
fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in command.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    let redirected = words.iter().position(|word| word == "<" || word == ">").unwrap_or(words.len());
    words.truncate(redirected);
    words
}

/// Returns the reason why a command line cannot run, if there is one. Text may omit arguments, or use placeholders such
/// as NOTE, `[TEXT]`, `[filters]` and `…`.
fn problem(command: &str) -> Option<String> {
    let words: Vec<String> = split(command)
        .into_iter()
        .filter(|word| {
            word != "[OPTIONS]" && !(word.starts_with('[') && word.ends_with(']') && word.contains(char::is_lowercase))
        })
        .map(|word| word.trim_end_matches("...").trim_matches(['[', ']', '<', '>', '…']).to_string())
        .filter(|word| !word.is_empty() && word != "--")
        .collect();
    if cfg!(not(feature = "server")) && words.iter().any(|word| word == "mcp" || word == "ui") {
        return None;
    }
    let error = line().try_get_matches_from(&words).err()?;
    let is_placeholder = |kind| match error.get(kind) {
        Some(ContextValue::String(value)) => {
            let is_of_list = value.contains('|');
            let is_upper = value.chars().all(|c| c.is_ascii_uppercase() || matches!(c, '-' | ':' | '…'));
            is_of_list || is_upper
        }
        _ => false,
    };
    match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        | ErrorKind::MissingSubcommand
        | ErrorKind::MissingRequiredArgument => None,
        ErrorKind::InvalidSubcommand if is_placeholder(ContextKind::InvalidSubcommand) => None,
        ErrorKind::InvalidValue | ErrorKind::ValueValidation if is_placeholder(ContextKind::InvalidValue) => None,
        _ => Some(error.to_string()),
    }
}
