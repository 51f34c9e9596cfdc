//! Edits of a file that keep every other byte, line endings included.

use core::ops::Range;

use super::frontmatter::{BYTE_ORDER_MARK, Fences, Lines, markdown_start, start};
use super::lines::list_item;
use super::note::Note;
use super::scanner::Blocks;
use super::text::normalize_line;
use super::types::{TagSyntax, Value};
use super::yaml::{self, Field, Place, YamlBlock};
use saddlebag_collections::TextPart;
use saddlebag_collections::prelude::*;

/// Returns the text with each range replaced by its new text.
///
/// Ranges are bytes of the text and in order. A range that overlaps the previous one, or is not in the text, is skipped.
///
/// ```
/// use saddlebag_markdown::replace_spans;
///
/// let replaced = replace_spans("a b c", &[(0..1, "x".into()), (4..5, "z".into())]);
/// assert_eq!(replaced, "x b z");
/// ```
pub fn replace_spans(text: &str, replacements: &[(Range<usize>, String)]) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut kept = 0;
    for (range, with) in replacements {
        if text.get(range.clone()).is_none() {
            continue;
        }
        let Some(between) = text.get(kept..range.start) else { continue };
        replaced.push_str(between);
        replaced.push_str(with);
        kept = range.end;
    }
    replaced.push_str(text.part(kept..));
    replaced
}

/// Returns the text with a block of Markdown at its end.
///
/// A blank line comes before the block, unless the text ends in a list and the block starts with an item: then they
/// become one list. The result ends with a line ending; it has the line endings of the text. If the text ends in a code
/// block or comment that is not closed, the block is inserted before it, because it would otherwise be part of it.
pub fn append_block(text: &str, block: &str) -> String {
    let newline = newline(text);
    let block = with_newline(block.trim_matches(['\n', '\r']), newline);
    if block.is_empty() {
        return text.into();
    }
    let blocks = Blocks::scan(text, markdown_start(text));
    let (head, rest) = text.split_at_checked(blocks.unclosed.unwrap_or(text.len())).unwrap_or((text, ""));
    let mut appended = String::with_capacity(text.len() + block.len() + 8);
    appended.push_str(head);
    if !head.trim_start_matches(BYTE_ORDER_MARK).is_empty() {
        if !head.ends_with('\n') {
            appended.push_str(newline);
        }
        let is_item = block.lines().next().is_some_and(|line| list_item(line).is_some());
        let ends_blank = head.lines().next_back().is_some_and(|line| line.trim_matches([' ', '\t']).is_empty());
        let is_separate = ends_blank || blocks.ends_in_list && is_item;
        if !is_separate {
            appended.push_str(newline);
        }
    }
    appended.push_str(&block);
    appended.push_str(newline);
    if !rest.is_empty() {
        appended.push_str(newline);
        appended.push_str(rest);
    }
    appended
}

/// Returns the text of a note with another title, at the place of the old one: in the frontmatter or in a heading. A
/// note without a title gets a heading of level 1 at its start.
///
/// The title parses back unchanged, except for white space, which folds in a heading. If the note was not parsed from
/// this text, the text may be unchanged.
pub fn set_title(text: &str, note: &Note, title: &str) -> String {
    if note.frontmatter.title().is_some() {
        return set_field(text, "title", &yaml_string(title));
    }
    let title = normalize_line(title);
    let written = heading_text(&title);
    let newline = newline(text);
    let Some(heading) = note.title_heading() else {
        let at = note.frontmatter.span.end;
        let Some((head, rest)) = text.split_at_checked(at) else { return text.into() };
        let before = if note.frontmatter.span.is_empty() {
            ""
        } else if head.ends_with('\n') {
            newline
        } else if rest.is_empty() {
            // The frontmatter ends with the file.
            return format!("{head}{newline}{newline}# {written}{newline}");
        } else {
            return text.into();
        };
        let starts_blank = rest.lines().next().is_none_or(|line| line.trim().is_empty());
        let after = if starts_blank { "" } else { newline };
        return replace_spans(text, &[(at..at, format!("{before}# {written}{newline}{after}"))]);
    };
    let replaced = replace_spans(text, &[(heading.content.clone(), written.clone())]);
    // Text that starts like a list or a quote cannot be underlined.
    if Note::parse(&replaced, TagSyntax::default()).title == title {
        return replaced;
    }
    let marks = "######".get(..usize::from(heading.level)).unwrap_or("#");
    replace_spans(text, &[(heading.content.start..heading.span.end, format!("{marks} {written}"))])
}

/// Returns the text of a note with a key of its frontmatter set to a value, which is YAML on one line, such as the
/// result of [`yaml_string`]. Other keys, their order and comments stay.
///
/// A missing key is added at the end; a note without frontmatter gets one. Frontmatter that is not a mapping stays
/// below a new one. In invalid frontmatter, the line that starts with the key is replaced, or a line is added as the
/// first.
pub fn set_field(text: &str, key: &str, value: &str) -> String {
    let newline = newline(text);
    let value = with_newline(value, newline);
    let written = format!("{}: {value}", yaml_key(key));
    let (document, yaml_range) = match Fences::find(text) {
        Some(fences) => (yaml::read(text.part(fences.yaml.clone())), fences.yaml),
        None => (YamlBlock { is_other: true, ..YamlBlock::default() }, 0..0),
    };
    if document.is_other {
        let at = start(text);
        let starts_blank = text.get(at..).is_none_or(|rest| rest.is_empty() || rest.starts_with(['\n', '\r']));
        let after = if starts_blank { "" } else { newline };
        let block = format!("---{newline}{written}{newline}---{newline}{after}");
        return replace_spans(text, &[(at..at, block)]);
    }
    let yaml = text.part(yaml_range.clone());
    let (range, with) = edit_field(yaml, &document, key, &value).unwrap_or_else(|| {
        let (at, with) = added_field(yaml, &document, &written, newline);
        (at..at, with)
    });
    let range = yaml_range.start + range.start..yaml_range.start + range.end;
    replace_spans(text, &[(range, with)])
}

/// Returns a double-quoted YAML scalar that parses to the text.
///
/// ```
/// assert_eq!(saddlebag_markdown::yaml_string("say \"hi\"\n"), r#""say \"hi\"\n""#);
/// ```
pub fn yaml_string(text: &str) -> String {
    quoted(text, |code| format!("\\u{code:04X}"))
}

/// Returns text in double quotes that JSON and YAML read alike: characters that YAML does not print are escaped too.
///
/// ```
/// assert_eq!(saddlebag_markdown::json_string("say \"hi\"\u{1b}"), r#""say \"hi\"\u001b""#);
/// ```
pub fn json_string(text: &str) -> String {
    quoted(text, |code| format!("\\u{code:04x}"))
}

fn quoted(text: &str, escaped: fn(u32) -> String) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // Line separators, byte order marks and noncharacters break parsers or are lost.
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                quoted.push_str(&escaped(character.into()))
            }
            _ if character.is_control() => quoted.push_str(&escaped(character.into())),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns a YAML scalar on one line that parses to the text. It is plain if every reader parses it to that text.
///
/// ```
/// use saddlebag_markdown::yaml_scalar;
///
/// assert_eq!(yaml_scalar("deploy_target"), "deploy_target");
/// assert_eq!(yaml_scalar("thread:7"), r#""thread:7""#);
/// assert_eq!(yaml_scalar("no"), r#""no""#);
/// ```
pub fn yaml_scalar(text: &str) -> Cow<'_, str> {
    // Words that YAML 1.1 does not read as text; YAML 1.2 has fewer.
    let is_word = |word: &&str| text.eq_ignore_ascii_case(word);
    let is_typed = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"].iter().any(is_word);
    let is_plain = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/'));
    if is_plain && !is_typed { Cow::Borrowed(text) } else { Cow::Owned(yaml_string(text)) }
}

/// Returns the text of a note without a key of its frontmatter. If the frontmatter is invalid, or does not have one
/// line per key, the key stays.
pub fn remove_field(text: &str, key: &str) -> String {
    let Some(fences) = Fences::find(text) else { return text.into() };
    let yaml = text.part(fences.yaml.clone());
    let document = yaml::read(yaml);
    let lines = document.fields.iter().position(|field| field.key.to_lowercase() == key.to_lowercase()).map(|index| {
        let start = document.fields.get(index).map_or(0, |field| offset(yaml, field.key_start));
        let start = yaml.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        let end = value_end(yaml, &document, index);
        let rest = yaml.part(end..);
        start..end + rest.find('\n').map_or(rest.len(), |newline| newline + 1)
    });
    let is_flow =
        document.start.is_some_and(|start| yaml.get(offset(yaml, start)..).is_some_and(|y| y.starts_with('{')));
    match lines {
        Some(lines) if document.problem.is_none() && !is_flow => {
            let lines = fences.yaml.start + lines.start..fences.yaml.start + lines.end;
            replace_spans(text, &[(lines, String::new())])
        }
        _ => text.into(),
    }
}

fn yaml_key(key: &str) -> Cow<'_, str> {
    let is_plain = key.starts_with(|first: char| first.is_ascii_alphabetic())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if is_plain { Cow::Borrowed(key) } else { Cow::Owned(yaml_string(key)) }
}

/// Returns the line ending of the first line.
fn newline(text: &str) -> &'static str {
    let first = Lines { text, next: 0 }.next().and_then(|line| text.get(line));
    if first.is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" }
}

fn with_newline(text: &str, newline: &str) -> String {
    let unix = text.replace("\r\n", "\n");
    if newline == "\n" { unix } else { unix.replace('\n', newline) }
}

/// Returns the title for a heading: with backslashes where it would be read as markup.
fn heading_text(title: &str) -> String {
    let reads_back = |written: &str| {
        let note = Note::parse(&format!("# {written}\n"), TagSyntax::default());
        note.title == title && note.headings.len() <= 1
    };
    if reads_back(title) {
        return title.into();
    }
    let mut escaped = String::with_capacity(title.len() + 8);
    for character in title.chars() {
        if r"\`*_[]<>&#!:".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// Returns the replacement in the YAML that sets an existing key to the value.
fn edit_field(yaml: &str, document: &YamlBlock, key: &str, value: &str) -> Option<(Range<usize>, String)> {
    let is_it = |name: &str| name.to_lowercase() == key.to_lowercase();
    if let Some(index) = document.fields.iter().position(|field| is_it(&field.key)) {
        let field = document.fields.get(index)?;
        let colon = behind_colon(yaml, field);
        return match value_range(yaml, field) {
            Some(range) if range.is_empty() => Some((colon?..colon?, format!(" {value}"))),
            Some(range) => Some((range, value.into())),
            None => Some((colon?..value_end(yaml, document, index), format!(" {value}"))),
        };
    }
    document.problem.as_ref()?;
    let line = Lines { text: yaml, next: 0 }.find(|line| {
        let name = yaml.get(line.clone()).and_then(|line| line.split_once(':')).map(|(name, _)| name);
        name.is_some_and(|name| is_it(name.trim_end().trim_matches(['"', '\''])))
    })?;
    let content = yaml.get(line.clone())?.trim_end_matches(['\n', '\r']);
    let colon = content.find(':')? + 1;
    Some((line.start + colon..line.start + content.len(), format!(" {value}")))
}

/// Returns the place and the text for adding a field to the YAML.
fn added_field(yaml: &str, document: &YamlBlock, written: &str, newline: &str) -> (usize, String) {
    if document.problem.is_some() {
        return (0, format!("{written}{newline}"));
    }
    let start = document.start.map_or(0, |start| offset(yaml, start));
    if yaml.get(start..).is_some_and(|rest| rest.starts_with('{')) {
        let separator = if document.fields.is_empty() { "" } else { ", " };
        return (start + 1, format!("{written}{separator}"));
    }
    // A key after a question mark begins later than its mapping.
    let indent = document.start.map_or(0, |start| start.column);
    (yaml.len(), format!("{}{written}{newline}", " ".repeat(indent)))
}

/// Returns the range of a value that can be replaced alone: on one line, or in brackets. Empty if there is no value;
/// `None` for a block of lines.
fn value_range(yaml: &str, field: &Field) -> Option<Range<usize>> {
    let range = offset(yaml, field.value_start)..offset(yaml, field.value_end);
    let written = yaml.part(range.clone()).trim_end();
    let scalar_end = range.start + written.len();
    match field.value {
        Value::Null if written.is_empty() => Some(0..0),
        Value::List(_) | Value::Map(_) if !written.starts_with('*') => {
            let is_closed = yaml.get(range.end..).is_some_and(|rest| rest.starts_with([']', '}']));
            (written.starts_with(['[', '{']) && is_closed).then_some(range.start..range.end + 1)
        }
        _ if written.starts_with(['|', '>']) || written.contains('\n') => None,
        _ => Some(range.start..quoted_end(written).map_or(scalar_end, |end| range.start + end)),
    }
}

/// Returns the end of a quoted text. The parser counts a comment after it as a part of the value.
fn quoted_end(written: &str) -> Option<usize> {
    let quote = written.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let mut letters = written.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        let is_doubled = quote == '\'' && letter == quote && letters.peek().is_some_and(|(_, next)| *next == quote);
        if is_doubled || (quote == '"' && letter == '\\') {
            letters.next();
        } else if letter == quote {
            return Some(at + 1);
        }
    }
    None
}

fn behind_colon(yaml: &str, field: &Field) -> Option<usize> {
    let key_end = offset(yaml, field.key_end);
    let rest = yaml.get(key_end..)?;
    let gap = rest.len() - rest.trim_start().len();
    rest.trim_start().starts_with(':').then_some(key_end + gap + 1)
}

/// Returns the end of a value's lines, without blank lines and comments after it.
fn value_end(yaml: &str, document: &YamlBlock, index: usize) -> usize {
    let next = document.fields.get(index + 1).map(|next| Place { column: 0, ..next.key_start });
    let field_end = document.fields.get(index).map_or(Place::default(), |field| field.value_end);
    let limit = match next {
        Some(next) => offset(yaml, next),
        None if document.problem.is_none() => yaml.len(),
        None => offset(yaml, field_end),
    };
    let head = yaml.part(..limit);
    let lines: Vec<Range<usize>> = Lines { text: head, next: 0 }.collect();
    let last = lines.into_iter().rev().find(|line| {
        let line = head.part(line.clone());
        !line.trim().is_empty() && !line.starts_with('#')
    });
    let line = last.unwrap_or(0..0);
    line.start + head.part(line.clone()).trim_end_matches(['\n', '\r']).len()
}

/// Returns the byte of a place in YAML, where a carriage return alone also ends a line.
fn offset(yaml: &str, place: Place) -> usize {
    let bytes = yaml.as_bytes();
    let mut line = 1;
    let mut start = 0;
    for (index, &byte) in bytes.iter().enumerate() {
        if line >= place.line {
            break;
        }
        if byte == b'\n' || byte == b'\r' && bytes.get(index + 1) != Some(&b'\n') {
            line += 1;
            start = index + 1;
        }
    }
    let rest = yaml.part(start..);
    start + rest.char_indices().nth(place.column).map_or(rest.len(), |(index, _)| index)
}
