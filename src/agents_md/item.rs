//! One fact as a list item, which shows its text as it is and stays below its dash.

use crate::trust::{for_model, is_ignorable, is_line_break};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::FenceTracker;

/// Renders a fact as lines of Markdown, without a final line ending.
///
/// Text that would look different from what it is, or reach beyond its item, is quoted like a JSON string.
pub(super) fn render(key: &str, content: &str) -> String {
    let key = if is_plain_key(key) { key.to_string() } else { quoted(key) };
    if !is_plain(content) {
        return format!("- `{key}`: {}", quoted(content));
    }
    if !content.contains('\n') {
        return format!("- `{key}`: {content}");
    }
    let mut item = format!("- `{key}`:");
    for line in content.split('\n') {
        item.push('\n');
        if !line.is_empty() {
            item.push_str("  ");
            item.push_str(line);
        }
    }
    item
}

fn is_plain_key(key: &str) -> bool {
    is_visible(key)
        && key.trim() == key
        && !key.contains(['`', '\n', '\t', '<', '>', '\\'])
        && !key.starts_with('"')
        && for_model(key).0 == key
}

/// Returns true if content can be in the section without quotes.
fn is_plain(content: &str) -> bool {
    let mut fences = FenceTracker::default();
    for line in content.split('\n') {
        fences.is_code(line);
    }
    let are_lines_whole = content.split('\n').all(|line| line.trim_end() == line);
    // Markers are comments, and comments hide the text in them.
    let is_comment = content.contains("<!--") || content.contains("-->");
    is_visible(content)
        && are_lines_whole
        && content.trim() == content
        && !content.is_empty()
        && !content.starts_with('"')
        && !is_comment
        && fences.closing().is_none()
        && for_model(content).0 == content
}

/// Returns true if a reader sees every character.
fn is_visible(text: &str) -> bool {
    text.chars().all(|c| !is_hidden(c))
}

fn is_hidden(c: char) -> bool {
    match c {
        ' ' | '\t' | '\n' => false,
        _ if c.is_whitespace() => is_line_break(c),
        _ => is_ignorable(c),
    }
}

/// Quotes text like a JSON string, and escapes everything that is hidden or could begin a tag.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            '<' | '>' | '＜' | '‹' | '〈' | '﹤' | '`' => push_escaped(&mut quoted, c),
            _ if is_hidden(c) => push_escaped(&mut quoted, c),
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn push_escaped(text: &mut String, c: char) {
    let mut units = [0; 2];
    for unit in c.encode_utf16(&mut units) {
        text.push_str(&format!("\\u{unit:04x}"));
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_fact_is_an_item_with_its_key() {
        assert_eq!(render("port", "8080"), "- `port`: 8080");
        assert_eq!(render("how to deploy", "1. a\n\n   b\n2. c"), "- `how to deploy`:\n  1. a\n\n     b\n  2. c");
        assert_eq!(render("a\nb", " x "), "- `\"a\\nb\"`: \" x \"");
        assert_eq!(render("k", "a\u{200b}<!-- x"), "- `k`: \"a\\u200b\\u003c!-- x\"");
        assert_eq!(render("k", "```\nopen"), "- `k`: \"\\u0060\\u0060\\u0060\\nopen\"");
        assert_eq!(render("k", "日本\u{3000}語"), "- `k`: 日本\u{3000}語");
    }

    fn any_text() -> impl Strategy<Value = String> {
        let pieces = [
            "a",
            "b c",
            "\n",
            "\n\n",
            " ",
            "  ",
            "\t",
            "\r\n",
            "\"",
            "\\",
            "`",
            "**",
            "- ",
            "* x",
            "```",
            "~~~",
            ":",
            "<",
            "<!--",
            "-->",
            "<!-- saddlebag:end -->",
            "</memory>",
            "## Daily log 1",
            "\u{200b}",
            "\u{2028}",
            "\u{3000}",
            "\u{feff}",
            "\u{1f469}\u{200d}",
            "\0",
            "記",
            "(1 more not listed)",
            "<script>",
            "    x",
            "\\n",
        ];
        let piece = prop_oneof![
            8 => prop::sample::select(pieces.to_vec()).prop_map(String::from),
            1 => any::<char>().prop_map(String::from),
        ];
        prop::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn an_item_shows_what_it_is_and_ends_where_it_does(key in any_text(), content in any_text()) {
            let item = render(&key, &content);
            prop_assert_eq!(for_model(&item).0, item.clone());
            prop_assert!(item.chars().all(|c| !is_hidden(c)), "{:?}", item);
            let lines: Vec<&str> = item.split('\n').collect();
            prop_assert!(lines.iter().all(|line| line.trim_end() == *line));
            prop_assert!(lines[0].starts_with("- ") && lines[1..].iter().all(|line| line.is_empty() || line.starts_with("  ")));
            prop_assert!(!item.contains("<!--"));
        }
    }
}
