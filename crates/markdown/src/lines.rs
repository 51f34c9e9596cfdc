//! One line of Markdown: heading, list item, rule or fence.

use saddlebag_collections::prelude::*;

/// Mark that some programs write before the first line of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Fence that opened a code block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fence {
    mark: u8,
    length: usize,
}

/// Tracks fenced code blocks from line to line.
#[derive(Clone, Debug, Default)]
pub struct FenceTracker {
    open: Option<Fence>,
}

impl FenceTracker {
    /// Reads the next line. Returns `true` if it is a fence or inside a fenced block.
    pub fn is_code(&mut self, line: &str) -> bool {
        let fence = fence(line);
        match (self.open, fence) {
            (Some(open), Some((fence, info))) if fence.mark == open.mark && fence.length >= open.length && !info => {
                self.open = None;
                true
            }
            (Some(_), _) => true,
            (None, Some((fence, _))) => {
                self.open = Some(fence);
                true
            }
            (None, None) => false,
        }
    }

    /// Returns the line that closes the open block; `None` if no block is open.
    pub fn closing(&self) -> Option<String> {
        self.open.map(|fence| char::from(fence.mark).to_string().repeat(fence.length))
    }
}

/// Returns the fence on a line, and true if an info string follows it.
fn fence(line: &str) -> Option<(Fence, bool)> {
    let text = line.trim_start_matches(' ');
    let mark = text.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = text.bytes().take_while(|&byte| byte == mark).count();
    let info = text.get(length..)?.trim();
    let opens = line.len() - text.len() <= 3 && length >= 3 && !(mark == b'`' && info.contains('`'));
    opens.then_some((Fence { mark, length }, !info.is_empty()))
}

/// Returns the text of an ATX heading such as `## Rules`, without marks; `None` if the line is not a heading.
pub fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    let level = text.bytes().take_while(|&byte| byte == b'#').count();
    let title = text.get(level..)?;
    let shaped = line.len() - text.len() <= 3 && (1..=6).contains(&level);
    (shaped && (title.is_empty() || title.starts_with([' ', '\t'])))
        .then(|| title.trim().trim_end_matches('#').trim_end())
}

/// Returns true for a thematic break: three or more `-`, `*` or `_`, with or without spaces between them.
pub fn is_rule(line: &str) -> bool {
    let mut marks = line.bytes().filter(|byte| !matches!(byte, b' ' | b'\t'));
    let Some(mark @ (b'-' | b'*' | b'_')) = marks.next() else { return false };
    let mut count = 1;
    marks.all(|byte| {
        count += 1;
        byte == mark
    }) && count >= 3
}

/// A list item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListItem<'a> {
    /// Indentation of the marker in columns (a tab counts to the next multiple of four).
    pub indent: usize,
    /// Text after the marker, and after a check box if there is one.
    pub text: &'a str,
}

/// Returns the text after the marker of a list item: `-`, `*`, `+`, `1.` or `1)`.
fn after_marker(body: &str) -> Option<&str> {
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    match (1..=9).contains(&digits) {
        true => body.get(digits..)?.strip_prefix(['.', ')']),
        false => body.strip_prefix(['-', '*', '+']),
    }
}

/// Parses the list item on a line: `- x`, `* x`, `+ x`, `1. x`, `1) x`, with or without `[ ]` or `[x]`.
pub fn list_item(line: &str) -> Option<ListItem<'_>> {
    let body = line.trim_start_matches([' ', '\t']);
    let indent = line
        .bytes()
        .take(line.len() - body.len())
        .fold(0, |column, byte| if byte == b'\t' { column / 4 * 4 + 4 } else { column + 1 });
    let rest = after_marker(body)?;
    if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
        return None;
    }
    let text = rest.trim();
    let text = ["[ ]", "[x]", "[X]"].iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(text);
    Some(ListItem { indent, text: text.trim_start() })
}

/// Returns true for an open item of a checklist: `[ ]` after any list marker and any indentation. The item may be empty.
pub fn is_open_item(line: &str) -> bool {
    let rest = after_marker(line.trim_start_matches(BYTE_ORDER_MARK).trim_start());
    rest.is_some_and(|rest| rest.starts_with([' ', '\t']) && rest.trim_start().starts_with("[ ]"))
}

/// Returns true if text appended after `before` would make its last paragraph a heading: it begins with a line of `-` or `=`.
pub fn underlines(before: &str, text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let signs = line.trim();
    let is_underline = !signs.is_empty() && (signs.bytes().all(|b| b == b'-') || signs.bytes().all(|b| b == b'='));
    is_underline && before.lines().next_back().is_some_and(|last| !last.trim().is_empty())
}

/// Returns true for a line with structure and no words: a fence, a rule, a heading, a lone list marker. A second such
/// line is not a duplicate.
pub fn is_structure(line: &str) -> bool {
    fence(line).is_some()
        || is_rule(line)
        || heading(line).is_some()
        || list_item(line).is_some_and(|item| item.text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_items_have_an_empty_box_in_any_list() {
        for open in
            ["+ [ ] a", "1. [ ] a", "12) [ ] a", "- [ ] a", "  * [ ] b", "- [ ]", "\t- [ ] tab", "\u{feff}- [ ] a"]
        {
            assert!(is_open_item(open), "{open:?}");
        }
        for other in ["- [x] a", "1.[ ] a", "-[ ] a", "- [] a", "> - [ ] a", "a"] {
            assert!(!is_open_item(other), "{other:?}");
        }
    }

    #[test]
    fn structure_has_no_words() {
        for line in ["```", "~~~~ rust", "---", "* * *", "___", "# a", "##", "-", "1.", "- [ ]", "  *"] {
            assert!(is_structure(line), "{line:?}");
        }
        for line in ["a", "- a", "--", "#tag", "1.5", "- [ ] a", "``x``", "*bold*"] {
            assert!(!is_structure(line), "{line:?}");
        }
    }

    #[test]
    fn a_fence_closes_by_its_own_mark_alone() {
        let mut fences = FenceTracker::default();
        let code: alloc::vec::Vec<bool> = ["a", "````rust", "```", "~~~~", "x", "```` no", "````", "b"]
            .iter()
            .map(|line| fences.is_code(line))
            .collect();
        assert_eq!(code, [false, true, true, true, true, true, true, false]);
        assert_eq!(fences.closing(), None);
        fences.is_code("~~~~ text");
        assert_eq!(fences.closing().as_deref(), Some("~~~~"));
    }

    #[test]
    fn headings_lose_their_marks() {
        assert_eq!(heading("## Rules ##"), Some("Rules"));
        assert_eq!(heading("#"), Some(""));
        assert_eq!(heading("#tag"), None);
        assert_eq!(heading("    # code"), None);
    }

    #[test]
    fn list_items_know_their_indentation() {
        assert_eq!(list_item("- a"), Some(ListItem { indent: 0, text: "a" }));
        assert_eq!(list_item("\t2) [x] b"), Some(ListItem { indent: 4, text: "b" }));
        assert_eq!(list_item("-a"), None);
    }
}
