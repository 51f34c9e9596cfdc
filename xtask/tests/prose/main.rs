//! Keeps the prose of the project plain: phrases that make a reader stop stay out, and doc comments say what a thing is
//! instead of beginning with a relative clause.
//!
//! Comments, doc comments, messages and pages are read alike: a phrase counts wherever its words follow each other, across
//! line ends too.

#![allow(clippy::panic, clippy::expect_used)]

mod claims;
mod pages;

use std::fs;
use std::path::{Path, PathBuf};

/// Phrases to avoid, with the plain form.
const PHRASES: [(&str, &str); 30] = [
    ("is none", "say \"is not a …\" or \"invalid …\""),
    ("are none", "say \"are not …\" or \"there are no …\""),
    ("is no", "say \"is not a …\" or \"invalid …\""),
    ("are no", "say \"are not …\" or \"there are no …\""),
    ("lest", "say \"so that … not\""),
    ("anew", "say \"again\""),
    ("behind", "say \"after\""),
    ("likewise", "say \"also\", or repeat the rule"),
    ("but for", "say \"except\""),
    ("told by", "say what tells it"),
    ("the same again", "say what is repeated"),
    ("unless told otherwise", "say \"by default\""),
    ("stands for", "say \"is\" or \"means\""),
    ("stand for", "say \"are\" or \"mean\""),
    ("nobody but", "say \"only\""),
    ("none but", "say \"only\""),
    ("a text that", "say \"text that\", or name the thing: content, passage, item"),
    ("of a text", "say \"of text\" or \"of the text\""),
    ("a longer text", "say \"longer text\""),
    ("of its own .", "say \"its own …\" or \"a separate …\""),
    ("of its own ,", "say \"its own …\" or \"a separate …\""),
    ("of their own .", "say \"their own …\""),
    ("of your own .", "say \"your own …\""),
    ("nobody can be asked", "say \"standard input is not a terminal\""),
    ("the one before", "repeat the noun: \"the previous …\""),
    ("goes too", "say \"is removed too\""),
    ("reaches no", "say \"does not reach a …\""),
    ("becomes no", "say \"is skipped\", or \"does not become a …\""),
    ("goes into no", "say \"does not go into …\""),
    ("largest number of", "say \"maximum number of\""),
];

/// Words before a phrase that make it plain English: "there is no index file", "left behind".
const PLAIN_BEFORE: [(&str, &[&str]); 7] = [
    ("is no", &["there", "where", "if"]),
    ("are no", &["there", "where", "if"]),
    ("are none", &["there"]),
    ("is none", &["there"]),
    ("behind", &["left", "leave", "leaves", "leaving"]),
    ("of its own .", &["instead"]),
    ("of its own ,", &["instead"]),
];

/// Words after a phrase that make it plain English: "is no longer".
const PLAIN_AFTER: [(&str, &[&str]); 2] =
    [("is no", &["longer", "more", "larger"]), ("are no", &["longer", "more", "larger"])];

/// First words of a doc comment that is a relative clause.
const RELATIVE: [&str; 11] = ["What", "Whether", "Of", "How", "Which", "Where", "Who", "Whose", "When", "Why", "That"];

/// Most doc comments that may begin with a relative clause, in per cent.
const MAX_RELATIVE_PERCENT: f64 = 4.0;

/// Files whose words are not ours to choose, or that are about these phrases.
const LEFT_OUT: [&str; 7] = [
    "LICENSE",
    "cli/tests/golden",
    "docs/schemas",
    "tests/commonmark",
    "tests/retrieval",
    "tests/vectors",
    "xtask/tests/prose",
];

const ENDINGS: [&str; 4] = ["rs", "wit", "md", "sh"];

#[test]
fn phrases_that_make_a_reader_stop_stay_out() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        let words = words(&text);
        for (phrase, advice) in PHRASES {
            for line in lines_with(&words, phrase) {
                found.push(format!("{path}:{line}: \"{phrase}\"; {advice}"));
            }
        }
    }
    assert!(found.is_empty(), "{} phrases to write in plain English:\n{}", found.len(), found.join("\n"));
}

#[test]
fn doc_comments_rarely_begin_with_a_relative_clause() {
    let mut relative = Vec::new();
    let mut total = 0_usize;
    for (path, text) in sources() {
        for (line, first) in doc_comments(&text) {
            total += 1;
            if first.split(' ').next().is_some_and(|word| RELATIVE.contains(&word)) {
                relative.push(format!("{path}:{line}: {first}"));
            }
        }
    }
    assert!(total > 1000, "only {total} doc comments were found: the search looks in the wrong place");
    #[allow(clippy::cast_precision_loss, reason = "there are thousands")]
    let percent = 100.0 * relative.len() as f64 / total as f64;
    assert!(
        percent <= MAX_RELATIVE_PERCENT,
        "{percent:.1} % of {total} doc comments begin with a relative clause, at most {MAX_RELATIVE_PERCENT} % may:\n{}",
        relative.join("\n")
    );
}

#[test]
fn a_phrase_is_found_across_lines_and_not_in_plain_english() {
    let text = "/// A path that is\n    /// none is refused.\n// There is no index.\nlet x = y.is_none();\n/// It is no path, and lest.";
    let words = words(text);
    assert_eq!(lines_with(&words, "is none"), [1]);
    assert_eq!(lines_with(&words, "is no"), [5]);
    assert_eq!(lines_with(&words, "lest"), [5]);
    let comments = doc_comments("/// What it is.\n/// More.\nfn f() {}\n\n//! Page\n");
    assert_eq!(comments, [(1, "What it is."), (5, "Page")]);
}

/// Returns the path and the text of each file whose prose is ours.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace is above xtask").to_path_buf();
    let mut files = Vec::new();
    collect(&root, &root, &mut files);
    assert!(files.len() > 100, "only {} files were found: the search looks in the wrong place", files.len());
    files
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, String)>) {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder is readable")
        .map(|entry| entry.expect("an entry is readable").path())
        .collect();
    paths.sort();
    for path in paths {
        let name = path.strip_prefix(root).expect("it is below the root").to_string_lossy().replace('\\', "/");
        let is_hidden = name.split('/').any(|part| part.starts_with('.') || part == "target" || part == "node_modules");
        if is_hidden || LEFT_OUT.iter().any(|left_out| name.starts_with(left_out)) {
            continue;
        }
        if path.is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known)) {
            files.push((name, fs::read_to_string(&path).expect("a source is text")));
        }
    }
}

/// Returns each word in lower case with its line. Markers of comments and quotes are not words.
fn words(text: &str) -> Vec<(usize, String)> {
    let mut words = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '\'');
        let line = line.replace("\\n", " ");
        let mut rest = line.as_str();
        while let Some(start) = rest.find(|c: char| is_part(c) || (c.is_ascii_punctuation() && ends_clause(c))) {
            let tail = &rest[start..];
            let end = tail.find(|c: char| !is_part(c)).unwrap_or(tail.len()).max(1);
            words.push((index + 1, tail[..end].to_lowercase()));
            rest = &tail[end..];
        }
    }
    words
}

/// True for a mark that ends a phrase: the words on either side of it do not belong together.
fn ends_clause(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '(' | ')' | '|')
}

fn lines_with(words: &[(usize, String)], phrase: &str) -> Vec<usize> {
    let wanted: Vec<&str> = phrase.split(' ').collect();
    let excused = |table: &[(&str, &[&str])], word: Option<&(usize, String)>| {
        let known = table.iter().find(|(of, _)| *of == phrase);
        known.is_some_and(|(_, excuses)| word.is_some_and(|(_, word)| excuses.contains(&word.as_str())))
    };
    let windows = words.windows(wanted.len()).enumerate();
    let found = windows.filter(|(_, window)| window.iter().map(|(_, word)| word.as_str()).eq(wanted.iter().copied()));
    found
        .filter(|(at, _)| {
            let before = at.checked_sub(1).and_then(|before| words.get(before));
            !excused(&PLAIN_BEFORE, before) && !excused(&PLAIN_AFTER, words.get(at + wanted.len()))
        })
        .map(|(_, window)| window[0].0)
        .collect()
}

/// Returns the line and the first line of text of each doc comment.
fn doc_comments(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut is_inside = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::trim);
        match comment {
            Some(first) if !is_inside && !first.is_empty() => found.push((index + 1, first)),
            _ => {}
        }
        is_inside = comment.is_some();
    }
    found
}
