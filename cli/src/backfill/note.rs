//! [`Candidate`]: a note that a source gives, and what sources leave out. Titles are bounded
//! here.

use std::collections::BTreeMap;

use saddlebag::notebook::ImportedNote;
use saddlebag::trust::head_without_divided_secret;

/// Maximum length of a title in bytes.
pub(super) const MAX_TITLE: usize = 160;

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
            // It has no part of a secret at its end.
            return format!("{}…", head_without_divided_secret(&line, limit.saturating_sub(3)).trim_end());
        }
    }
    line
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
    fn the_first_of_each_reason_is_named() {
        let mut left_out = LeftOut::default();
        left_out.add("a merge", "one");
        left_out.add("a merge", "two");
        left_out.add_many("nothing", "x", 0);
        assert_eq!(left_out.iter().collect::<Vec<_>>(), [("a merge", 2, "one")]);
    }
}
