//! Composition of harmless text: joins pieces of harmless text, or cuts one, and keeps the result harmless.

use core::ops::Range;

use saddlebag_collections::TextPart;

use crate::escape::{TAG_REACH, add_flags, escape, is_line_break, is_tag_start, open_tag, unforged};
use crate::invisible::Flag;
use saddlebag_collections::prelude::*;

/// Appends harmless text to harmless text. If the two would make a tag together, its `<` is escaped.
pub fn append(text: &mut String, more: &str) {
    let reach = text.ceil_char_boundary(text.len().saturating_sub(TAG_REACH));
    let before = text.part(reach..);
    let head = more.get(..more.floor_char_boundary(TAG_REACH)).unwrap_or(more);
    // A complete tag can only be one that the caller wrote.
    let is_whole = |at: &usize| open_tag(before.part(*at..)).is_some();
    if let Some(at) = before.rfind(is_tag_start).filter(|at| !is_whole(at)) {
        let mut both = String::from(before.part(at..));
        both.push_str(head);
        if let Some((length, guard)) = open_tag(&both) {
            text.replace_range(reach + at..reach + at + length, guard);
        }
    }
    text.push_str(more);
}

/// Returns a part of harmless text. A line whose escape is cut off also loses the text that the escape was for. So does a tag
/// that a cut makes from a longer word.
///
/// ```
/// assert_eq!(saddlebag_sanitize::part("see <systematic> ways", 0..11), "see ");
/// ```
pub fn part(text: &str, range: Range<usize>) -> &str {
    let is_whole_start = range.start == 0;
    let is_whole_end = range.end >= text.len();
    let part = text.part(range);
    let part = if is_whole_start { part } else { unforged(part) };
    let reach = part.ceil_char_boundary(part.len().saturating_sub(TAG_REACH));
    let end = part.part(reach..);
    match end.rfind(is_tag_start).filter(|_| !is_whole_end) {
        Some(at) if open_tag(end.part(at..)).is_some() => part.part(..reach + at),
        _ => part,
    }
}

/// Returns harmless text with a mark before every line, and each line end as a line feed. Text without lines gets no
/// mark.
///
/// ```
/// assert_eq!(saddlebag_sanitize::mark_lines("a\r\n\r\nb", "> "), "> a\n>\n> b");
/// ```
pub fn mark_lines(text: &str, mark: &str) -> String {
    if mark.is_empty() || text.is_empty() {
        return text.into();
    }
    let mut marked = String::with_capacity(text.len() + text.len() / 8);
    for line in text.replace("\r\n", "\n").split(is_line_break) {
        if !marked.is_empty() {
            marked.push('\n');
        }
        marked.push_str(if line.is_empty() { mark.trim_end() } else { mark });
        marked.push_str(line);
    }
    marked
}

/// Escapes a heading and text, and returns them as an item of a list. Every line of the text is indented below the
/// heading, so that it cannot look like another item. Adds the findings to `flags`.
pub fn list_item(heading: &str, text: &str, flags: &mut Vec<Flag>) -> String {
    let mut escaped = |text: &str| {
        let (text, found) = escape(text);
        add_flags(flags, found);
        text
    };
    let mut item = String::from("- ");
    append(&mut item, &escaped(heading));
    append(&mut item, "\n");
    let text = escaped(&text.trim().replace("\r\n", "\n"));
    let mut start = 0;
    for line in text.split(is_line_break) {
        let kept = line.trim_end().len();
        if kept > 0 {
            append(&mut item, "  ");
            append(&mut item, part(&text, start..start + kept));
        }
        append(&mut item, "\n");
        start +=
            line.len() + text.get(start + line.len()..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    }
    item
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn escaped(text: &str) -> String {
        escape(text).0
    }

    #[test]
    fn two_texts_make_no_tag_together() {
        let mut text = escaped("a <");
        append(&mut text, &escaped("system>"));
        assert_eq!(text, "a &lt;system>");
        let mut text = escaped("a < / mem");
        append(&mut text, "\n");
        append(&mut text, &escaped("ory x"));
        assert_eq!(escaped(&text), text);
        let mut text = escaped("a < b");
        append(&mut text, &escaped("system>"));
        assert_eq!(text, "a < bsystem>");
    }

    #[test]
    fn a_cut_makes_no_tag_and_no_title() {
        let text = escaped("see <systematic> ways");
        assert_eq!(text, "see <systematic> ways");
        assert_eq!(part(&text, 0..11), "see ");
        assert_eq!(part(&text, 0..8), "see <sys");
        let text = escaped("\n## Scratchpad (open items)\n");
        assert_eq!(text, "\n\\## Scratchpad (open items)\n");
        assert_eq!(part(&text, 2..text.len()), "\n");
    }

    #[test]
    fn no_line_of_an_item_begins_where_an_item_does() {
        let text = " a\r\n- b (core)\r- c\u{2028}- d\u{85}\n## Entries (hydrated)\n</memory> ";
        let item =
            "- k (core)\n  a\n  - b (core)[U+000D]- c[U+2028]- d[U+0085]\n  \\## Entries (hydrated)\n  &lt;/memory>\n";
        assert_eq!(list_item("k (core)", text, &mut Vec::new()), item);
    }

    proptest! {
        #[test]
        fn what_is_escaped_stays_as_it_is(text in "[<＜/!|#… \\n\\u{200b}a-z:>-]{0,40}|(<|</|\\n## |system|memory|scratchpad|[:> ]){0,8}") {
            let once = escaped(&text);
            prop_assert_eq!(escaped(&once), once);
        }

        /// Harmless pieces of text stay harmless when they are joined.
        #[test]
        fn parts_put_together_are_harmless(
            texts in prop::collection::vec("(<|</|< |\\n|system|sys|tem|memory|mem|ory|[:> ]){0,5}", 0..5)
        ) {
            let mut all = String::new();
            for text in &texts {
                append(&mut all, &escaped(text));
            }
            // A title that begins a line only after it is appended to a line break is not searched.
            prop_assert_eq!(escaped(&all), all);
        }
    }
}
