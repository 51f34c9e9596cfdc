//! [`question`]: the words of a prompt that are searched for, and if the prompt asks.

use saddlebag_collections::prelude::*;
use saddlebag_markdown::{head, one_line, tail};

/// Number of bytes of a prompt that are searched for: of a longer one the beginning and the end, where a question stands above or
/// below what was pasted.
const MAX_QUESTION_BYTES: usize = 8 << 10;

/// Maximum length of the ending of a file's name.
const MAX_ENDING: usize = 5;

/// Returns true if the first line of a prompt, or its end, is a question.
pub fn asks(prompt: &str) -> bool {
    let prompt = prompt.trim();
    let is_mark = |c: char| matches!(c, '?' | '？' | '؟');
    prompt.lines().next().is_some_and(|line| line.contains(is_mark)) || prompt.ends_with(is_mark)
}

/// Returns the words of a prompt as a question, without the syntax of queries.
///
/// A file path is reduced to the name of the file: its folders say where the work is, not what it is about. A JSON prompt is reduced
/// to its values.
pub fn question(prompt: &str) -> Option<String> {
    let is_json = prompt.trim_start().starts_with(['{', '[']) && prompt.trim_end().ends_with(['}', ']']);
    let mut words = String::new();
    let both;
    let mut rest = prompt;
    if prompt.len() > MAX_QUESTION_BYTES {
        both = [head(prompt, MAX_QUESTION_BYTES / 2), tail(prompt, MAX_QUESTION_BYTES / 2)].join("\n");
        rest = &both;
    }
    while !rest.is_empty() {
        if let Some(after) = is_json.then(|| after_key(rest)).flatten() {
            words.push(' ');
            rest = after;
            continue;
        }
        let run = rest.find(|c| !is_of_path(c)).unwrap_or(rest.len());
        let (path, after) = rest.split_at_checked(run).unwrap_or((rest, ""));
        words.extend(name_of_file(path).chars().map(|c| if is_of_word(c) { c } else { ' ' }));
        let mut after = after.chars();
        if after.next().is_some() {
            words.push(' ');
        }
        rest = after.as_str();
    }
    let question = one_line(&words);
    (!question.is_empty()).then_some(question)
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '\'' | '’')
}

fn is_of_path(c: char) -> bool {
    is_of_word(c) || matches!(c, '/' | '.' | '-')
}

/// Returns the rest after the key of a JSON object, such as `"name": `; `None` if the text does not begin with a key.
fn after_key(text: &str) -> Option<&str> {
    let (_, after) = text.strip_prefix('"')?.split_once('"')?;
    after.trim_start().strip_prefix(':')
}

/// Returns the name of a file, without its folders; of other text all.
fn name_of_file(text: &str) -> &str {
    // The dot at the end is that of the sentence.
    let text = text.trim_end_matches('.');
    let Some((_, name)) = text.rsplit_once('/') else { return text };
    let is_ending =
        |ending: &str| (1..=MAX_ENDING).contains(&ending.len()) && ending.chars().all(char::is_alphanumeric);
    // `and/or` and `staging/production` are words, and `//host/page.html` is the rest of an address.
    let is_file = name.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && is_ending(ending));
    if is_file && !text.starts_with("//") { name } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(prompt: &str) -> String {
        question(prompt).unwrap_or_default()
    }

    #[test]
    fn the_syntax_of_queries_has_no_meaning() {
        assert_eq!(asked("is -legacy \"on\" title:port?  don't"), "is legacy on title port don't");
        assert_eq!(question(" ?! "), None);
    }

    #[test]
    fn of_a_long_prompt_the_beginning_and_the_end_are_asked_for() {
        let prompt = format!("Read this:\n{}\nwhich port has the gate?", "pasted line\n".repeat(9_000));
        let asked = asked(&prompt);
        assert!(asked.starts_with("Read this pasted") && asked.ends_with("line which port has the gate"), "{asked}");
        assert!(asked.len() <= MAX_QUESTION_BYTES && asks(&prompt));
    }

    #[test]
    fn of_a_path_only_the_name_of_the_file_is_asked_for() {
        assert_eq!(asked("see crates/arm/src/ik.rs:12, and ./books/tax.py."), "see ik rs 12 and tax py");
        assert_eq!(asked("staging/production and/or src/main"), "staging production and or src main");
        assert_eq!(asked("https://example.org/a/b.html"), "https example org a b html");
    }

    #[test]
    fn of_json_only_values_are_asked_for() {
        assert_eq!(asked(r#"{"tool": "lint", "use":"default", "n": [1, "two"]}"#), "lint default 1 two");
        assert_eq!(asked(r#"what does "timeout": 600 mean"#), "what does timeout 600 mean");
        assert_eq!(asked(r#"["memory", {"open]"#), "memory open");
    }
}
