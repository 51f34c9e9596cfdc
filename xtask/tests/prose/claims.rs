//! What the pages say of the code: paths, files, items, subcommands and options that they name exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::pages::pages;
use super::sources;

/// Page that is made from the command line.
const COMMANDS: &str = "docs/commands.md";

/// Paths of examples and of what a release makes; tools of other programs and of plugins.
const NOT_OURS: [&str; 7] = [
    "crates/component/saddlebag.wasm",
    "create_entities",
    "edit_note",
    "memory_get",
    "plugins/saddlebag.js",
    "saddlebag_get",
    "src/tax.py",
];

/// Options of other programs.
const OPTIONS_OF_OTHERS: [&str; 6] =
    ["--flatten", "--gufa", "--merge-similar-functions", "--minify", "--target", "--valid-lifting-optimization"];

/// Options that every command line of `saddlebag` has, though the page does not list them.
const OPTIONS_OF_CLAP: [&str; 2] = ["--help", "--version"];

#[test]
fn every_file_and_item_that_a_page_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sources = sources();
    let code: Vec<&(String, String)> =
        sources.iter().filter(|(path, _)| path.ends_with(".rs") || path.ends_with(".wit")).collect();
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let lines = code.iter().flat_map(|(_, text)| text.lines().filter_map(|line| line.split("//").next()));
    let words: BTreeSet<&str> = lines.flat_map(|line| line.split(|c| !is_part(c))).collect();
    let mut wrong = Vec::new();
    for (page, span) in spans() {
        for word in span.split_whitespace().filter(|word| !NOT_OURS.contains(word)) {
            let is_path = word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
            let (top, below) = word.split_once('/').unwrap_or((word, ""));
            let is_ours = !top.is_empty()
                && top != "target"
                && !top.starts_with('.')
                && root.join(top).is_dir()
                && !below.is_empty();
            let is_file = (word.ends_with(".rs") || word.ends_with(".wit"))
                && !root.join(word).exists()
                && !code.iter().any(|(path, _)| format!("/{path}").ends_with(&format!("/{word}")));
            let items = word.trim_end_matches("()").split("::");
            let is_name = word.contains('_') && !word.chars().any(|c| c.is_ascii_uppercase());
            let is_item = (word.contains("::") || is_name)
                && items.clone().all(|item| !item.is_empty() && item.chars().all(is_part));
            if (is_path && is_ours && !root.join(word).exists())
                || (is_path && is_file)
                || (is_item && !items.clone().all(|item| words.contains(item)))
            {
                wrong.push(format!("{page}: {word}"));
            }
        }
    }
    assert!(wrong.is_empty(), "they do not exist:\n{}", wrong.join("\n"));
}

#[test]
fn every_command_line_that_a_page_names_is_one() {
    let commands = Commands::read();
    // Each option is a field.
    let kit = include_str!("../../../conformance/src/main.rs");
    let mut wrong = Vec::new();
    let mut lines = 0;
    for (page, span) in spans() {
        let line = span.trim_start_matches("$ ").strip_prefix("saddlebag ");
        if let Some(line) = line.or(Some(span.as_str()).filter(|span| commands.begins_with_group(span))) {
            lines += 1;
            wrong.extend(commands.problem(line).map(|problem| format!("{page}: saddlebag {line}: {problem}")));
        } else if page.starts_with("docs/") && span.starts_with("--") {
            let is_known = |option: &str| {
                let is_of_kit = kit.contains(&format!("\n    {}: ", option.trim_start_matches("--")));
                commands.has_option(option) || is_of_kit || OPTIONS_OF_OTHERS.contains(&option)
            };
            wrong.extend(option(&span).filter(|name| !is_known(name)).map(|name| format!("{page}: {name}")));
        }
    }
    assert!(lines > 100, "only {lines} command lines were found");
    assert!(wrong.is_empty(), "unknown to {COMMANDS}:\n{}", wrong.join("\n"));
}

#[test]
fn every_subcommand_is_on_a_page_that_is_written() {
    let spans = spans();
    let named = |verb: &str| spans.iter().any(|(page, span)| page.starts_with("docs/") && span.contains(verb));
    let verbs = Commands::read().0.into_keys().filter(|verb| verb.split(' ').all(is_word));
    let missing: Vec<String> = verbs.filter(|verb| !named(verb)).collect();
    assert!(missing.is_empty(), "no page of docs/ but {COMMANDS} names {missing:?}");
}

#[test]
fn a_wrong_command_line_is_found() {
    let commands = Commands::read();
    for line in ["--agent a remember --key x --tag x | wc", "related", "help", "entry …"] {
        assert_eq!(commands.problem(line), None, "{line}");
    }
    for line in ["notes related", "entry rum", "remember --tags x", "--rooot . related", "purge", "now search"] {
        assert!(commands.problem(line).is_some(), "{line}");
    }
}

/// The subcommands with their options, as `docs/commands.md` has them; `""` has those of every command.
struct Commands(BTreeMap<String, BTreeSet<String>>);

impl Commands {
    fn read() -> Self {
        let pages = pages();
        let (_, page) = pages.iter().find(|(path, _)| path == COMMANDS).expect("docs/commands.md");
        let sections = page.split("\n## ").skip(1).filter_map(|section| section.split_once('\n'));
        let options = |text: &str| text.split(['`', ' ', ',']).filter_map(option).map(str::to_string).collect();
        let sections = sections.map(|(title, text)| match title {
            "Options of every command" => (String::new(), options(text)),
            verb => (verb.to_string(), options(text)),
        });
        Self(sections.collect())
    }

    fn has_option(&self, option: &str) -> bool {
        OPTIONS_OF_CLAP.contains(&option) || self.0.values().any(|options| options.contains(option))
    }

    /// Returns true for `entry run …`, and not for `entry` alone.
    fn begins_with_group(&self, line: &str) -> bool {
        line.split_once(' ')
            .is_some_and(|(group, rest)| self.is_group(group) && rest.split(' ').next().is_some_and(is_word))
    }

    fn is_group(&self, word: &str) -> bool {
        self.0.keys().any(|verb| verb.split_once(' ').is_some_and(|(group, _)| group == word))
    }

    /// Returns the subcommand or the option of a command line that does not exist.
    fn problem(&self, line: &str) -> Option<String> {
        // Quoted arguments are not options.
        let line: String = line.split(['"', '\'']).step_by(2).collect::<Vec<_>>().join("quoted");
        let ends = |word: &&str| !["|", ";", "&&", ">", "<", "#", "--"].contains(word);
        let words: Vec<&str> = line.split_whitespace().take_while(ends).collect();
        // Only global options and their values come before it.
        let is_value = |at: usize| words[at].starts_with("--") || (at > 0 && words[at - 1].starts_with("--"));
        let begins = (0..words.len()).filter(|at| (0..*at).all(is_value));
        let mut verbs =
            begins.flat_map(|at| [words[at..].get(..2).unwrap_or_default().join(" "), words[at].to_string()]);
        let verb = verbs.find(|verb| !verb.is_empty() && self.0.contains_key(verb));
        let unknown = match &verb {
            Some(_) => None,
            None => match words.iter().copied().filter(|word| is_word(word)).collect::<Vec<_>>().as_slice() {
                [] | ["help", ..] => None,
                [group] if self.is_group(group) => None,
                [first, ..] => Some((*first).to_string()),
            },
        };
        let of_verb = |option: &str| match verb.as_deref() {
            Some(verb) => self.0[verb].contains(option) || self.0[""].contains(option),
            None => self.has_option(option),
        };
        let mut options = words.iter().copied().filter_map(option);
        let option = options.find(|option| !of_verb(option) && !OPTIONS_OF_CLAP.contains(option));
        unknown.or(option.map(str::to_string))
    }
}

/// Returns true for a word that may be a subcommand.
fn is_word(word: &str) -> bool {
    !word.is_empty() && !word.starts_with('-') && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

/// Returns the option that a word begins with.
fn option(word: &str) -> Option<&str> {
    let name = word.strip_prefix("--")?;
    let end = name.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(name.len());
    (end > 0 && name.starts_with(|c: char| c.is_ascii_lowercase())).then(|| &word[..end + 2])
}

/// Returns each page with its spans of code and the lines of its fenced code. The generated page is left out.
fn spans() -> Vec<(String, String)> {
    let mut spans = Vec::new();
    for (page, text) in pages().into_iter().filter(|(path, _)| path != COMMANDS) {
        let mut is_code = false;
        for line in text.lines() {
            let is_fence = line.trim_start().starts_with("```");
            is_code ^= is_fence;
            if is_code {
                spans.push((page.clone(), line.to_string()));
            } else if !is_fence {
                spans.extend(line.split('`').skip(1).step_by(2).map(|span| (page.clone(), span.to_string())));
            }
        }
    }
    spans
}
