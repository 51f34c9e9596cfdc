//! One fact as a list item: rendered so that it parses back unchanged, and parsed as people write it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::document::FenceTracker;
use crate::trust::{for_model, is_ignorable, is_line_break};

/// A fact in the section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// Key; `None` if a person wrote only text.
    pub(super) key: Option<String>,
    pub(super) content: String,
    /// Line in the file, counted from 1.
    pub(super) line: usize,
}

/// Renders a fact as lines of Markdown, without a final line ending.
///
/// Text that would not parse back unchanged, or would look different from what it is, is quoted like a JSON string.
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

/// Characters that begin an item.
const MARKS: [char; 3] = ['-', '*', '+'];

/// Returns true if a line begins an item.
pub(super) fn begins(line: &str) -> bool {
    line.strip_prefix(MARKS).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// Parses an item from its first line and the indented lines below it.
///
/// # Errors
///
/// A description of what is wrong with the item.
pub(super) fn parse(lines: &[&str], line: usize) -> Result<Item, String> {
    let (first, below) = lines.split_first().ok_or("the item is empty")?;
    let text = first.strip_prefix(MARKS).ok_or("it does not begin with `-`, `*` or `+`")?.trim();
    let (key, first) = split_key(text)?;
    let mut content: Vec<&str> = alloc::vec![first];
    content.extend(below.iter().map(|line| dedented(line).trim_end()));
    let from = content.iter().position(|line| !line.is_empty()).unwrap_or(content.len());
    let to = content.iter().rposition(|line| !line.is_empty()).map_or(from, |last| last + 1);
    let content: Vec<&str> = content.into_iter().take(to).skip(from).collect();
    let content = content.join("\n");
    let content = match key {
        Some(_) if from == 0 => unquoted(&content).unwrap_or(content),
        _ => content,
    };
    match (content.is_empty(), &key) {
        (false, _) => Ok(Item { key, content, line }),
        (true, Some(key)) => Err(format!("`{key}` has no text; delete the whole item to forget it")),
        (true, None) => Err("the item is empty".into()),
    }
}

/// Splits the first line of an item into its key and the text after it.
fn split_key(text: &str) -> Result<(Option<String>, &str), String> {
    for mark in ["`", "**"] {
        let Some((inner, rest)) = text.strip_prefix(mark).and_then(|rest| rest.split_once(mark)) else { continue };
        let Some(rest) = rest.strip_prefix(':') else { continue };
        let key = match inner.starts_with('"') {
            true => unquoted(inner).ok_or_else(|| format!("the key {inner} is not a valid JSON string"))?,
            false => inner.to_string(),
        };
        return match key.is_empty() {
            true => Err("the key is empty".into()),
            false => Ok((Some(key), rest.trim())),
        };
    }
    let is_word = |word: &str| {
        let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        !word.is_empty() && word.chars().all(is_letter)
    };
    match text.split_once(':') {
        Some((word, rest)) if is_word(word) && (rest.is_empty() || rest.starts_with([' ', '\t'])) => {
            Ok((Some(word.into()), rest.trim()))
        }
        _ => Ok((None, text)),
    }
}

/// Removes the indentation from a line below the first of an item.
fn dedented(line: &str) -> &str {
    let of_tab = || line.strip_prefix('\t');
    line.strip_prefix("  ").or_else(of_tab).or_else(|| line.strip_prefix(' ')).unwrap_or(line)
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

/// Parses a JSON string; `None` if the text is not one.
fn unquoted(text: &str) -> Option<String> {
    text.starts_with('"').then(|| serde_json::from_str(text).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Item, String> {
        parse(&text.split('\n').collect::<Vec<_>>(), 1)
    }

    fn of(key: Option<&str>, content: &str) -> Result<Item, String> {
        Ok(Item { key: key.map(String::from), content: content.into(), line: 1 })
    }

    #[test]
    fn a_fact_is_an_item_with_its_key() {
        assert_eq!(render("port", "8080"), "- `port`: 8080");
        assert_eq!(render("how to deploy", "1. a\n\n   b\n2. c"), "- `how to deploy`:\n  1. a\n\n     b\n  2. c");
        assert_eq!(render("a\nb", " x "), "- `\"a\\nb\"`: \" x \"");
        assert_eq!(render("k", "a\u{200b}<!-- x"), "- `k`: \"a\\u200b\\u003c!-- x\"");
        assert_eq!(render("k", "```\nopen"), "- `k`: \"\\u0060\\u0060\\u0060\\nopen\"");
        assert_eq!(render("k", "日本\u{3000}語"), "- `k`: 日本\u{3000}語");
    }

    #[test]
    fn people_write_items_in_their_own_way() {
        assert_eq!(read("- port: 8080"), of(Some("port"), "8080"));
        assert_eq!(read("* **port**:   8080  "), of(Some("port"), "8080"));
        assert_eq!(read("- `the port`: 8080\nand 8081"), of(Some("the port"), "8080\nand 8081"));
        assert_eq!(read("- port:\n\n\t8080\n\n"), of(Some("port"), "8080"));
        assert_eq!(read("- Never push to main"), of(None, "Never push to main"));
        assert_eq!(read("- see https://a.example"), of(None, "see https://a.example"));
        assert_eq!(read("- http://a.example"), of(None, "http://a.example"));
        assert_eq!(read("- `cargo test` first"), of(None, "`cargo test` first"));
        assert_eq!(read("- k: \"in quotes\""), of(Some("k"), "in quotes"));
        assert_eq!(read("- k: \"in quotes\" and not"), of(Some("k"), "\"in quotes\" and not"));
        assert_eq!(read("- `k`:").unwrap_err(), "`k` has no text; delete the whole item to forget it");
        assert_eq!(read("-").unwrap_err(), "the item is empty");
        assert_eq!(read("- `\"x`: y").unwrap_err(), "the key \"x is not a valid JSON string");
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

        /// Every fact reads back as it was, whatever its text.
        #[test]
        fn every_fact_reads_back_as_it_was(key in any_text(), content in any_text()) {
            let item = render(&key, &content);
            prop_assert_eq!(read(&item), of(Some(&key), &content), "{}", item);
        }

        #[test]
        fn an_item_shows_what_it_is_and_ends_where_it_does(key in any_text(), content in any_text()) {
            let item = render(&key, &content);
            prop_assert_eq!(for_model(&item).0, item.clone());
            prop_assert!(item.chars().all(|c| !is_hidden(c)), "{:?}", item);
            let lines: Vec<&str> = item.split('\n').collect();
            prop_assert!(lines.iter().all(|line| line.trim_end() == *line));
            prop_assert!(begins(lines[0]) && lines[1..].iter().all(|line| line.is_empty() || line.starts_with("  ")));
            prop_assert!(!item.contains("<!--"));
        }
    }
}
