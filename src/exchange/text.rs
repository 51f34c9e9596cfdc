//! Helpers of the converters: lines, short names, frontmatter.

use crate::entries::hash;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{Frontmatter, Value};

/// Maximum size of a generated description in bytes.
const HOOK_BYTES: usize = 100;

/// Returns the lines of text without their endings. A carriage return belongs to the line unless all lines have one.
pub(super) fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    let is_ended = lines.last() == Some(&"");
    if is_ended {
        lines.pop();
    }
    let has_return = |line: &&str| line.ends_with('\r');
    let last = if is_ended { lines.len() } else { lines.len().saturating_sub(1) };
    if !lines.is_empty() && last > 0 && lines.iter().take(last).all(has_return) {
        lines.iter_mut().for_each(|line| *line = line.strip_suffix('\r').unwrap_or(line));
    }
    lines
}

/// Returns the level of a heading, which is the number of its marks.
pub(super) fn heading_level(line: &str) -> usize {
    line.trim_start().bytes().take_while(|&byte| byte == b'#').count()
}

/// Returns the text of an item of a list that is not indented. Boxes of tasks are a part of it.
pub(super) fn bullet(line: &str) -> Option<&str> {
    ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark))
}

/// Shortens text for an error.
pub(super) fn short(text: &str) -> String {
    format!("{}", saddlebag_markdown::head(text, 60).escape_debug())
}

/// Returns eight hexadecimal digits of the text's digest.
pub(super) fn hash8(text: &str) -> String {
    hash(&[text], 4)
}

/// Returns the letters and digits in lower case, with `_` between words; a digest if nothing is left.
pub(super) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() {
            slug.extend(c.to_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('_') {
            slug.push('_');
        }
    }
    let trimmed = slug.trim_end_matches('_');
    if trimmed.is_empty() { hash8(text) } else { trimmed.into() }
}

/// Returns text on one line: each line break becomes a space.
pub(super) fn one_line(text: &str) -> String {
    text.replace("\r\n", " ").replace(['\n', '\r'], " ")
}

/// Returns the first words of the content, as the description of an entry without one.
pub(super) fn hook(content: &str) -> String {
    let words: Vec<&str> = content.split_whitespace().take(40).collect();
    let line = words.join(" ");
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    if line.len() <= HOOK_BYTES { line } else { format!("{}…", saddlebag_markdown::head(&line, HOOK_BYTES)) }
}

/// Returns a file name for a key: ASCII letters, digits, `-` and `_`, with a digest if that differs from the key.
pub(super) fn file_name(key: &str) -> String {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    let plain: String =
        key.chars().map(|c| c.to_ascii_lowercase()).map(|c| if is_plain(c) { c } else { '-' }).collect();
    let is_safe = plain == key && (1..=80).contains(&plain.len()) && !crate::store::is_device_name(key);
    if is_safe && !matches!(key, "memory" | "user" | "readme") {
        return plain;
    }
    let head: String = plain.trim_matches('-').chars().take(60).collect();
    if head.is_empty() { hash8(key) } else { format!("{head}-{}", hash8(key)) }
}

/// Returns the name of a file without folders and `.md`.
pub(super) fn stem(path: &str) -> &str {
    let name = base_name(path);
    name.strip_suffix(".md").unwrap_or(name)
}

/// Returns the name of a file without folders.
pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns a string field of a frontmatter.
pub(super) fn text_of(frontmatter: &Frontmatter, name: &str) -> Option<String> {
    frontmatter.value(name).and_then(Value::text).filter(|text| !text.is_empty())
}

/// Returns the items of a list, or the parts of text with commas.
pub(super) fn list_of(value: &Value) -> Vec<String> {
    match value {
        Value::List(items) => items.iter().filter_map(Value::text).collect(),
        other => other.text().map(|text| text.split(',').map(|tag| tag.trim().into()).collect()).unwrap_or_default(),
    }
}

/// Returns the text after its frontmatter. If the frontmatter is of other text, the whole text is returned, so that
/// none is lost.
pub(super) fn after_frontmatter<'a>(text: &'a str, frontmatter: &Frontmatter) -> &'a str {
    text.get(frontmatter.span.end..).unwrap_or_else(|| {
        debug_assert!(false, "a frontmatter that ends outside of its text");
        text
    })
}

/// Returns the text after a frontmatter and one blank line, without one line break at the end.
pub(super) fn body<'a>(text: &'a str, frontmatter: &Frontmatter) -> &'a str {
    let rest = after_frontmatter(text, frontmatter);
    let rest = match frontmatter.span.is_empty() {
        true => rest,
        false => rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).unwrap_or(rest),
    };
    rest.strip_suffix('\n').unwrap_or(rest)
}

/// Returns the lines of a YAML block whose keys are not among `known`, without the indentation that all lines have.
pub(super) fn unknown_fields(block: &str, known: &[&str]) -> String {
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let is_blank = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let least = block.lines().filter(|line| !is_blank(line)).map(indent).min().unwrap_or_default();
    let mut kept = String::new();
    let mut is_kept = false;
    for line in block.lines().filter(|line| !is_blank(line)) {
        let line = line.get(least..).unwrap_or_default();
        if !line.starts_with([' ', '\t', '-', ']', '}']) {
            let name = line.split(':').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
            is_kept = !known.contains(&name);
        }
        if is_kept {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// Returns the YAML of a frontmatter, without its fences.
pub(super) fn yaml_of<'a>(text: &'a str, frontmatter: &Frontmatter) -> &'a str {
    let block = text.get(frontmatter.span.clone()).unwrap_or_default();
    let inner = block.split_once('\n').map(|(_, rest)| rest).unwrap_or_default();
    inner.trim_end().rsplit_once('\n').map(|(inner, _)| inner).unwrap_or_default()
}

/// Returns the lines of a mapping below a field of a YAML block; `None` if the mapping is in braces.
pub(super) fn lines_below<'a>(block: &'a str, field: &str) -> Option<&'a str> {
    let start = block.match_indices(field).map(|(at, _)| at).find(|&at| {
        (at == 0 || block.get(..at).is_some_and(|before| before.ends_with('\n')))
            && block.get(at + field.len()..).is_some_and(|rest| rest.starts_with(':'))
    });
    let Some(start) = start else { return Some("") };
    let (line, rest) = block.get(start..)?.split_once('\n').unwrap_or((block.get(start..)?, ""));
    if line.contains('{') {
        return None;
    }
    let end = rest.lines().take_while(|line| line.starts_with([' ', '\t']) || line.trim().is_empty());
    rest.get(..end.map(|line| line.len() + 1).sum::<usize>().min(rest.len()))
}

/// Returns true for the path of a Markdown file that is safe to write below a folder.
pub(super) fn is_safe_path(path: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ' | '.');
    let is_safe = |name: &str| {
        !name.is_empty()
            && name.len() <= 120
            && !name.starts_with(['.', ' '])
            && !name.ends_with(['.', ' '])
            && name.chars().all(is_plain)
            && !crate::store::is_device_name(name)
    };
    path.ends_with(".md") && path.len() <= 240 && path.split('/').all(is_safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carriage_returns_go_only_where_all_lines_have_them() {
        assert_eq!(lines("a\r\nb\r\n"), ["a", "b"]);
        assert_eq!(lines("a\r\nb"), ["a", "b"]);
        assert_eq!(lines("a\r\nb\n"), ["a\r", "b"]);
        assert_eq!(lines("a\r"), ["a\r"]);
        assert_eq!(lines(""), [""; 0]);
        assert_eq!(lines("\n\n"), ["", ""]);
    }

    #[test]
    fn names_of_files_are_safe_and_stay_apart() {
        assert_eq!(file_name("deploy_target"), "deploy_target");
        for key in ["Deploy", "memory", "con", "../x", "", "日本"] {
            assert_ne!(file_name(key), key);
            assert!(file_name(key).chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'), "{key}");
        }
        assert_ne!(file_name("A b"), file_name("a b"));
    }

    #[test]
    fn slugs_have_words() {
        assert_eq!(slug("Deploy: the Target!"), "deploy_the_target");
        assert_eq!(slug("日本 語"), "日本_語");
        assert_eq!(slug("!!"), hash8("!!"));
    }
}
