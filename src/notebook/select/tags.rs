//! Tags: filters as globs, and the tags of a notebook with their counts.

use super::paths::index_order;
use crate::notebook::glob::fits_text;
use crate::notebook::types::{NoteView, TagCount};
use saddlebag_collections::{prelude::*, sorted::SortedMap};
use saddlebag_protocol::Error;

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
            if part.contains('[') {
                let message = format!("`[` is not supported in a tag filter: {}", part.trim().escape_debug());
                return Err(Error::invalid_argument(message, "use `?` for one character, `*` for any text"));
            }
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
        let has = |pattern: &String| tags.iter().any(|tag| fits_text(pattern, tag));
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
        let refused = matches(&["lang/[a-c]*"], &["a"]).expect_err("refused");
        assert_eq!(refused.message, "`[` is not supported in a tag filter: lang/[a-c]*");
    }

    #[test]
    fn a_glob_matches_the_whole_tag() {
        for (pattern, text, expected) in [
            ("lang/*", "lang/rust", true),
            ("lang/*", "lang", false),
            ("*/rust", "lang/systems/rust", true),
            ("R?st", "Rust", true),
            ("rust", "Rust", false),
            ("*a*b*c", "xaybzc", true),
            ("*a*b*c", "xaybz", false),
            ("é*", "éa", true),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(fits_text(pattern, text), expected, "{pattern} {text}");
        }
        assert!(!fits_text(&"*a".repeat(2000), &"a".repeat(1999)));
    }
}
