//! Tags: filters as globs, and the tags of a notebook with their counts.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::paths::index_order;
use crate::notebook::types::{NoteView, TagCount};
use crate::protocol::Error;
use crate::sorted::SortedMap;

/// The filter of tags: a note matches if it has a tag of every group and no unwanted one.
#[derive(Clone, Debug, Default)]
pub(super) struct TagFilter {
    groups: Vec<Vec<String>>,
    unwanted: Vec<String>,
}

impl TagFilter {
    /// Filters as zk writes them: `a, b`, `a OR b`, `a | b`, `NOT a`, `-a`.
    pub(super) fn new(filters: &[&str]) -> Result<Self, Error> {
        let mut filter = Self::default();
        for part in filters.iter().flat_map(|filter| filter.split(',')) {
            let alternatives: Vec<&str> = part
                .split('|')
                .flat_map(|part| part.split(" OR "))
                .map(str::trim)
                .filter(|tag| !tag.is_empty())
                .collect();
            let negated = alternatives.iter().filter_map(|tag| negation(tag));
            match (alternatives.as_slice(), negated.count()) {
                ([], _) => {}
                (_, 0) => filter.groups.push(alternatives.iter().map(|tag| glob(tag)).collect()),
                ([tag], _) => filter.unwanted.extend(negation(tag).map(glob)),
                _ => {
                    let message = format!("cannot negate a tag in a OR group: {}", part.trim().escape_debug());
                    let help = "use a separate tag filter for what must not be there: `--tag 'NOT done'`";
                    return Err(Error::invalid_argument(message, help));
                }
            }
        }
        Ok(filter)
    }

    pub(super) fn matches(&self, tags: &[String]) -> bool {
        let has = |pattern: &String| tags.iter().any(|tag| matches_glob(pattern, tag));
        self.groups.iter().all(|group| group.iter().any(has)) && !self.unwanted.iter().any(has)
    }
}

fn negation(tag: &str) -> Option<&str> {
    tag.strip_prefix("NOT ").or_else(|| tag.strip_prefix('-')).map(str::trim)
}

/// Returns a tag as notes keep it: without the number sign that people write.
fn glob(tag: &str) -> String {
    tag.strip_prefix('#').unwrap_or(tag).into()
}

/// The globs of SQLite: `*` any text, `?` any character, `[a-z]` and `[^a-z]` one of a set.
fn matches_glob(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern, text);
    // After the last `*`, and how much of the text it has to swallow at least.
    let mut retry: Option<(&str, &str)> = None;
    loop {
        if let Some(rest) = pattern.strip_prefix('*') {
            retry = Some((rest, text));
            pattern = rest;
            continue;
        }
        if pattern.is_empty() && text.is_empty() {
            return true;
        }
        if let Some((pattern_rest, text_rest)) = match_one(pattern, text) {
            (pattern, text) = (pattern_rest, text_rest);
            continue;
        }
        let Some((behind_star, swallowed)) = retry else { return false };
        let mut chars = swallowed.chars();
        if chars.next().is_none() {
            return false;
        }
        retry = Some((behind_star, chars.as_str()));
        (pattern, text) = (behind_star, chars.as_str());
    }
}

/// Matches one character; what is left of pattern and text.
fn match_one<'a>(pattern: &'a str, text: &'a str) -> Option<(&'a str, &'a str)> {
    let (mut wanted, mut there) = (pattern.chars(), text.chars());
    let c = there.next()?;
    match wanted.next()? {
        '?' => Some((wanted.as_str(), there.as_str())),
        '[' => match_set(wanted.as_str(), c).map(|rest| (rest, there.as_str())),
        same if same == c => Some((wanted.as_str(), there.as_str())),
        _ => None,
    }
}

/// The pattern after a set, given from after its `[`, if the character is in it. A `]` that comes first belongs to it.
fn match_set(set: &str, c: char) -> Option<&str> {
    let (is_inverted, set) = set.strip_prefix('^').map_or((false, set), |set| (true, set));
    let mut rest = set.chars();
    let (mut is_in, mut is_first) = (false, true);
    loop {
        let member = rest.next()?;
        if member == ']' && !is_first {
            return (is_in != is_inverted).then_some(rest.as_str());
        }
        is_first = false;
        let mut ahead = rest.clone();
        match (ahead.next(), ahead.next()) {
            (Some('-'), Some(end)) if end != ']' => {
                is_in |= (member..=end).contains(&c);
                rest = ahead;
            }
            _ => is_in |= member == c,
        }
    }
}

/// Every tag, by name.
pub(crate) fn tag_counts(notes: &[NoteView<'_>]) -> Vec<TagCount> {
    let mut tags: SortedMap<&str, TagCount> = SortedMap::default();
    for note in index_order(notes) {
        for tag in notes.get(note).map_or(&[][..], |view| &view.note.tags) {
            let number = tags.len() as u64 + 1;
            if let Some(count) = tags.get_or_insert(tag, TagCount { name: tag.clone(), number, notes: 0 }) {
                count.notes += 1;
            }
        }
    }
    tags.into_entries().map(|(_, count)| count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(filters: &[&str], tags: &[&str]) -> Result<bool, Error> {
        let owned = |list: &[&str]| list.iter().map(|&item| item.into()).collect::<Vec<String>>();
        Ok(TagFilter::new(filters)?.matches(&owned(tags)))
    }

    #[test]
    fn filters_combine() {
        assert_eq!(matches(&["a", "b"], &["a", "b"]), Ok(true));
        assert_eq!(matches(&["a, b"], &["a"]), Ok(false));
        assert_eq!(matches(&["a OR b"], &["b"]), Ok(true));
        assert_eq!(matches(&["a|b"], &["c"]), Ok(false));
        assert_eq!(matches(&["a,NOT b"], &["a", "b"]), Ok(false));
        assert_eq!(matches(&["-b"], &["a"]), Ok(true));
        assert_eq!(matches(&["#a"], &["a"]), Ok(true));
        assert_eq!(matches(&[" "], &[]), Ok(true));
        assert_eq!(matches(&["more words OR b"], &["more words"]), Ok(true));
        let refused = matches(&["a OR NOT b"], &["a"]).expect_err("refused");
        assert_eq!(refused.message, "cannot negate a tag in a OR group: a OR NOT b");
    }

    #[test]
    fn globs_are_those_of_sqlite() {
        for (pattern, text, expected) in [
            ("lang/*", "lang/rust", true),
            ("lang/*", "lang", false),
            ("*/rust", "lang/systems/rust", true),
            ("R?st", "Rust", true),
            ("rust", "Rust", false),
            ("[a-c]x", "bx", true),
            ("[^a-c]x", "bx", false),
            ("[]]x", "]x", true),
            ("[a", "a", false),
            ("*a*b*c", "xaybzc", true),
            ("*a*b*c", "xaybz", false),
            ("é*", "éa", true),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(matches_glob(pattern, text), expected, "{pattern} {text}");
        }
        assert!(!matches_glob(&"*a".repeat(2000), &"a".repeat(1999)));
    }
}
