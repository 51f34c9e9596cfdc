//! Blocks that only ask what the query asks. They have its words side by side, so they would win, and they answer nothing.

use core::ops::Range;

use super::language::Language;
use saddlebag_collections::SlicePart;
use saddlebag_collections::prelude::*;

/// Part of what a question says that must be in the query, for the question to be that of the query.
const ASKED: f32 = 0.6;

/// A block, as the query sees it.
pub(super) struct Said<'a> {
    pub(super) text: &'a str,
    /// Byte ranges in the text that have words of the query, sorted by their starts.
    pub(super) spans: &'a [Range<usize>],
    /// True if it has every word of the query.
    pub(super) has_all: bool,
    /// True if it is what a person told a program, which may be a question without its mark.
    pub(super) is_of_person: bool,
}

impl Said<'_> {
    /// Returns true if the block only asks what the query asks: a question that says little else, or what a person said, if
    /// it is the query and nothing else.
    pub(super) fn only_asks(&self) -> bool {
        let text = self.text.trim_end_matches(|c: char| !c.is_alphanumeric() && !is_question_mark(c));
        let is_question = text.ends_with(is_question_mark);
        let least = match is_question {
            true => ASKED,
            false if self.has_all && self.is_of_person => 1.0,
            false => return false,
        };
        self.share() >= least
    }

    /// Returns the part of the block's words, without function words, that the query has. A run of characters without spaces is
    /// one word, of which it may have a part.
    fn share(&self) -> f32 {
        let (mut words, mut asked, mut start) = (0_u32, 0.0, 0);
        let mut spans = self.spans;
        let mut lower = String::new();
        for word in self.text.split_inclusive(|c: char| !c.is_alphanumeric()) {
            let range = start..start + word.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
            start += word.len();
            lower.clear();
            lower.extend(self.text.get(range.clone()).unwrap_or_default().chars().flat_map(char::to_lowercase));
            if range.is_empty() || Language::is_function_word(lower.as_bytes()) {
                continue;
            }
            while spans.first().is_some_and(|span| span.end <= range.start) {
                spans = spans.part(1..);
            }
            // Spans may overlap: an identifier has the words of its parts.
            let (mut at, mut bytes) = (range.start, 0);
            for span in spans.iter().take_while(|span| span.start < range.end) {
                let end = span.end.min(range.end);
                bytes += end.saturating_sub(span.start.max(at));
                at = at.max(end);
            }
            words += 1;
            asked += bytes as f32 / range.len() as f32;
        }
        if words == 0 { 0.0 } else { asked / words as f32 }
    }
}

fn is_question_mark(c: char) -> bool {
    matches!(c, '?' | '\u{ff1f}' | '\u{61f}' | '\u{37e}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns if a block only asks a query of these words.
    fn only_asks(text: &str, words: &[&str], is_of_person: bool) -> bool {
        let mut spans: alloc::vec::Vec<Range<usize>> =
            words.iter().flat_map(|word| text.match_indices(word)).map(|(at, word)| at..at + word.len()).collect();
        spans.sort_by_key(|span| span.start);
        let has_all = words.iter().all(|word| text.contains(word));
        Said { text, spans: &spans, has_all, is_of_person }.only_asks()
    }

    #[test]
    fn a_question_that_says_little_else_than_the_query_only_asks() {
        let words = ["port", "staging", "listen"];
        for text in [
            "which port is staging listening on?",
            "**Which port does staging listen on?**",
            "On which port does staging run?",
            "Which port has staging for our colleagues?",
            "port staging listen\u{ff1f}",
        ] {
            assert!(only_asks(text, &words, false), "{text}");
        }
        for text in [
            "Staging listens on port 8443.",
            "Staging listens on port 8443, does it?",
            "which port is staging listening on",
            "Which firewall rules of the harbour office let staging listen?",
            "?",
        ] {
            assert!(!only_asks(text, &words, false), "{text}");
        }
        assert!(only_asks("which port is staging listening on", &["port", "staging", "listening"], true));
        assert!(!only_asks("staging is listening on port 8443", &["port", "staging", "listening"], true));
        assert!(only_asks("東京の港は?", &["東京", "京の", "の港", "港は"], false));
    }
}
