//! Cutting and comparing text.

use saddlebag_collections::prelude::*;

use unicode_normalization::UnicodeNormalization;

/// Returns the longest prefix of `text` that has at most `max` bytes and ends on a character boundary.
pub fn head(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or(text)
}

/// Returns text as one line: without control characters, and with single spaces only.
///
/// ```
/// assert_eq!(saddlebag_markdown::one_line(" a\n\tb "), "a b");
/// ```
pub fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Returns the longest suffix of `text` that has at most `max` bytes and starts on a character boundary.
pub fn tail(text: &str, max: usize) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(max))..).unwrap_or(text)
}

/// Returns the line of a byte of the text, counted from 1.
pub fn line_of(text: &str, byte: usize) -> u32 {
    let before = text.as_bytes().get(..byte).unwrap_or(text.as_bytes());
    u32::try_from(memchr::memchr_iter(b'\n', before).count() + 1).unwrap_or(u32::MAX)
}

/// Returns `text`, or its [`head`] and `marker` if it has more than `max` bytes.
///
/// The marker is not counted in `max`, as in zerostack.
pub fn truncate(text: String, max: usize, marker: &str) -> String {
    if text.len() <= max {
        return text;
    }
    let mut cut = text;
    cut.truncate(cut.floor_char_boundary(max));
    cut.push_str(marker);
    cut
}

/// Returns `text` with the one occurrence of `old` replaced by `new`.
///
/// Overlapping occurrences count: `aa` occurs twice in `aaa`, where replacing "the one" would be ambiguous. The empty text
/// occurs at every boundary.
///
/// # Errors
///
/// The number of occurrences, if it is not 1.
pub fn replace_once(text: &str, old: &str, new: &str) -> Result<String, usize> {
    if !old.is_ascii() && !text.contains(old) {
        // macOS writes `é` as two characters, and other systems as one.
        let (composed, divided): (String, String) = (old.nfc().collect(), old.nfd().collect());
        let other = [composed, divided].into_iter().find(|form| form != old && text.contains(form.as_str()));
        return other.map_or(Err(0), |form| replace_once(text, &form, new));
    }
    let occurs = |at: &usize| text.get(*at..).is_some_and(|rest| rest.starts_with(old));
    match (0..=text.len()).filter(occurs).count() {
        1 => Ok(text.replacen(old, new, 1)),
        count => Err(count),
    }
}

/// Returns the words of a line joined by single spaces. Two lines with equal results have the same words.
///
/// Words are separated by Unicode white space; case is kept.
pub fn normalize_line(line: &str) -> String {
    let mut key = String::with_capacity(line.len());
    for word in line.split_whitespace() {
        if !key.is_empty() {
            key.push(' ');
        }
        key.push_str(word);
    }
    key
}

/// Returns true for a character that must not be in text on one line: a control character or a line break.
pub fn breaks_one_line(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Returns the byte at an index; 0 after the end.
pub(super) fn at(bytes: &[u8], index: usize) -> u8 {
    looked_at(1);
    bytes.get(index).copied().unwrap_or(0)
}

/// Returns a number of bytes that were looked at. Tests count them: for twice the text it may be at most twice as many.
pub(super) fn looked_at(count: usize) -> usize {
    #[cfg(test)]
    steps::add(count);
    count
}

/// Returns the result of a search that has looked at the bytes up to it, or at all.
pub(super) fn searched(bytes: &[u8], found: Option<usize>) -> Option<usize> {
    looked_at(found.map_or(bytes.len(), |found| found + 1));
    found
}

/// Bytes that this thread has looked at.
#[cfg(test)]
pub(super) mod steps {
    use core::cell::Cell;

    std::thread_local! {
        static STEPS: Cell<usize> = const { Cell::new(0) };
    }

    pub(in super::super) fn add(count: usize) {
        STEPS.set(STEPS.get() + count);
    }

    pub(in super::super) fn taken() -> usize {
        STEPS.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_never_splits_a_character() {
        assert_eq!(head("記憶", 4), "記");
        assert_eq!(tail("記憶", 4), "憶");
        assert_eq!(head("記憶", 99), "記憶");
        assert_eq!(tail("記憶", 2), "");
    }

    #[test]
    fn only_a_text_that_occurs_once_is_replaced() {
        assert_eq!(replace_once("port 1, port 2", "port 2", "port 3"), Ok("port 1, port 3".into()));
        assert_eq!(replace_once("", "", "x"), Ok("x".into()));
        for (text, old, count) in [("aaa", "aa", 2), ("ab", "", 3), ("日本日", "日", 2), ("abc", "x", 0), ("", "x", 0)]
        {
            assert_eq!(replace_once(text, old, "y"), Err(count), "{text} {old}");
        }
    }

    #[test]
    fn the_marker_comes_on_top() {
        assert_eq!(truncate("abcdef".into(), 3, "…"), "abc…");
        assert_eq!(truncate("abc".into(), 3, "…"), "abc");
    }

    #[test]
    fn white_space_of_every_kind_folds() {
        assert_eq!(normalize_line("  the   quick\u{3000}brown\u{a0}fox "), "the quick brown fox");
        assert_eq!(normalize_line("a\u{200b}b"), "a\u{200b}b");
        assert_eq!(normalize_line("\t"), "");
    }
}
