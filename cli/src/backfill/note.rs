//! [`Candidate`]: a note that a source gives, and what sources leave out. Everything that goes into a note is bounded
//! here.

use std::collections::BTreeMap;

use saddlebag::notebook::ImportedNote;
use saddlebag::trust::head_without_divided_secret;

/// Maximum length of a title in bytes.
pub(super) const MAX_TITLE: usize = 160;

/// Maximum length of the content of a note in bytes.
pub(super) const MAX_CONTENT: usize = 8_192;

/// Maximum number of files that a note names.
pub(super) const MAX_FILES: usize = 20;

/// Maximum length of the name of a file in bytes.
const MAX_FILE: usize = 120;

/// A note that a source gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Format and place, which make the same note of the same text.
    pub(super) id: String,
    pub(super) title: String,
    pub(super) content: String,
    pub(super) tags: Vec<String>,
    /// Time of the text, in RFC 3339.
    pub(super) date: String,
}

impl From<&Candidate> for ImportedNote {
    fn from(candidate: &Candidate) -> Self {
        let Candidate { id, title, content, tags, date } = candidate.clone();
        Self { id, title, content, tags, date }
    }
}

/// Items of a source that are skipped, counted by reason.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LeftOut(BTreeMap<String, (usize, String)>);

impl LeftOut {
    /// Counts an item that is left out. The first of each reason is named.
    pub(super) fn add(&mut self, reason: &str, what: &str) {
        self.add_many(reason, what, 1);
    }

    pub(super) fn add_many(&mut self, reason: &str, what: &str, count: usize) {
        if count > 0 {
            let counted = self.0.entry(reason.to_string()).or_insert_with(|| (0, one_line(what, MAX_TITLE)));
            counted.0 += count;
        }
    }

    /// Returns each reason with its count and its first text.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, usize, &str)> {
        self.0.iter().map(|(reason, (count, first))| (reason.as_str(), *count, first.as_str()))
    }

    #[cfg(test)]
    pub(super) fn count(&self, reason: &str) -> usize {
        self.iter().filter(|(known, _, _)| known.contains(reason)).map(|(_, count, _)| count).sum()
    }
}

/// Returns text as one line of at most `limit` bytes. A cut line ends in `…`.
pub(super) fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > limit {
            return cut(&line, limit);
        }
    }
    line
}

/// Returns at most `limit` bytes of the text, `…` included. It has no part of a secret at its end.
pub(super) fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        text.to_string()
    } else {
        format!("{}…", head_without_divided_secret(text, limit.saturating_sub(3)).trim_end())
    }
}

/// Returns the names of files for a note, as Markdown code. Names beyond [`MAX_FILES`] are counted.
pub(super) fn file_list<'a>(files: impl IntoIterator<Item = &'a str>) -> String {
    let files: Vec<&str> = files.into_iter().collect();
    let named: Vec<String> = files.iter().take(MAX_FILES).map(|file| code(file, MAX_FILE)).collect();
    let more = files.len().saturating_sub(MAX_FILES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

/// Returns text as Markdown code on one line.
pub(super) fn code(text: &str, limit: usize) -> String {
    format!("`{}`", one_line(&text.replace('`', "'"), limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_bounded_and_has_no_control_characters() {
        assert_eq!(one_line(" a\n\tb\u{1b}[31m ", 99), "a b [31m");
        let line = one_line(&"é ".repeat(100), 50);
        assert!(line.len() <= 50 && line.ends_with('…'), "{line}");
        assert_eq!(one_line(&"x".repeat(50), 50).len(), 50);
    }

    #[test]
    fn files_beyond_the_limit_are_counted() {
        let names: Vec<String> = (0..25).map(|number| format!("f{number}")).collect();
        let list = file_list(names.iter().map(String::as_str));
        assert!(list.starts_with("`f0`, `f1`") && list.ends_with("`f19` and 5 more"), "{list}");
    }

    #[test]
    fn the_first_of_each_reason_is_named() {
        let mut left_out = LeftOut::default();
        left_out.add("a merge", "one");
        left_out.add("a merge", "two");
        left_out.add_many("nothing", "x", 0);
        assert_eq!(left_out.iter().collect::<Vec<_>>(), [("a merge", 2, "one")]);
    }
}
