//! Targets of Markdown links: destinations, titles, labels and the definitions of references.

use core::ops::Range;

use memchr::{memchr, memchr3};

use super::content::Content;
use super::text::{at, looked_at, searched};
use saddlebag_collections::TextPart;
use saddlebag_collections::prelude::*;

/// Maximum length of the label of a reference in bytes.
const MAX_LABEL: usize = 999;
/// Maximum depth of nested parentheses in a destination.
const MAX_PARENTHESES: usize = 32;

/// Destination and title that a label is defined as.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    /// Destination, as it is written.
    pub(super) destination: String,
    /// Title, as it is written.
    pub(super) title: String,
    /// Range of the destination in the file.
    pub(super) span: Range<usize>,
}

/// A definition at the head of a paragraph.
#[derive(Debug)]
pub(super) struct FoundDefinition {
    pub(super) label: String,
    pub(super) definition: Definition,
    /// End of its last line.
    pub(super) end: usize,
}

/// A destination with its title, as ranges of the text.
#[derive(Debug)]
pub(super) struct Destination {
    pub(super) destination: Range<usize>,
    pub(super) title: Range<usize>,
    pub(super) end: usize,
}

/// Parses the definition that starts at `start`.
pub(super) fn definition(content: &Content<'_>, start: usize) -> Option<FoundDefinition> {
    let text = content.text.as_ref();
    let bytes = text.as_bytes();
    let start = skip_space(bytes, start);
    if at(bytes, start) != b'[' {
        return None;
    }
    let (label, after) = label(text, start)?;
    let label = normalize(text.get(label)?);
    // `[^1]: word` is a footnote, which leads nowhere else.
    if label.is_empty() || label.starts_with('^') || at(bytes, after) != b':' {
        return None;
    }
    let (destination, destination_end) = destination(bytes, skip_space(bytes, after + 1))?;
    if destination.is_empty() && at(bytes, destination_end.saturating_sub(1)) != b'>' {
        return None;
    }
    let title_start = skip_space(bytes, destination_end);
    let titled = (title_start > destination_end)
        .then(|| title(bytes, title_start))
        .flatten()
        .and_then(|(title, end)| Some((title, line_end(bytes, end)?)));
    let (title, end) = match titled {
        Some(titled) => titled,
        None => (0..0, line_end(bytes, destination_end)?),
    };
    let definition = Definition {
        destination: text.get(destination.clone())?.into(),
        title: text.get(title)?.into(),
        span: content.source_range(destination),
    };
    Some(FoundDefinition { label, definition, end })
}

/// Parses `destination "title")`.
pub(super) fn inline(bytes: &[u8], start: usize) -> Option<Destination> {
    let start = skip_space(bytes, start);
    let (destination, destination_end) = destination(bytes, start)?;
    let mut end = skip_space(bytes, destination_end);
    let mut found = 0..0;
    if end > destination_end
        && let Some((title, title_end)) = title(bytes, end)
    {
        found = title;
        end = skip_space(bytes, title_end);
    }
    (at(bytes, end) == b')').then_some(Destination { destination, title: found, end: end + 1 })
}

/// Returns the label whose `[` is at `start`, and the position after its `]`.
pub(super) fn label(text: &str, start: usize) -> Option<(Range<usize>, usize)> {
    let bytes = text.as_bytes();
    let limit = bytes.len().min(start + 2 + MAX_LABEL);
    let mut next = start + 1;
    while next < limit {
        let rest = bytes.get(next..limit)?;
        next += searched(rest, memchr3(b'[', b']', b'\\', rest))?;
        match at(bytes, next) {
            b']' => return Some((start + 1..next, next + 1)),
            b'\\' => next += 2,
            _ => return None,
        }
    }
    None
}

/// Returns the form in which the labels of one reference are equal.
pub(super) fn normalize(label: &str) -> String {
    if label.len() > MAX_LABEL {
        return String::new();
    }
    let folded = label.to_lowercase().to_uppercase();
    super::text::normalize_line(&folded)
}

fn skip_space(bytes: &[u8], start: usize) -> usize {
    start + looked_at(bytes.iter().skip(start).take_while(|byte| byte.is_ascii_whitespace()).count())
}

/// Returns the position after the end of the line, if only white space comes before it.
fn line_end(bytes: &[u8], start: usize) -> Option<usize> {
    let rest = bytes.get(start..)?;
    let end = searched(rest, memchr(b'\n', rest)).map_or(rest.len(), |end| end + 1);
    rest.get(..end)?.trim_ascii().is_empty().then_some(start + end)
}

fn destination(bytes: &[u8], start: usize) -> Option<(Range<usize>, usize)> {
    let mut next = start;
    if at(bytes, start) == b'<' {
        next += 1;
        while next < bytes.len() {
            match at(bytes, next) {
                b'>' => return Some((start + 1..next, next + 1)),
                b'<' | b'\n' => return None,
                b'\\' if at(bytes, next + 1).is_ascii_punctuation() => next += 2,
                _ => next += 1,
            }
        }
        return None;
    }
    let mut depth = 0_usize;
    while let Some(&byte) = bytes.get(next) {
        looked_at(1);
        match byte {
            b'(' if depth == MAX_PARENTHESES => return None,
            b'(' => depth += 1,
            b')' if depth == 0 => break,
            b')' => depth -= 1,
            b'\\' if at(bytes, next + 1).is_ascii_punctuation() => next += 1,
            _ if byte.is_ascii_control() || byte == b' ' => break,
            _ => {}
        }
        next += 1;
    }
    (depth == 0).then_some((start..next, next))
}

/// Returns the title whose opening mark is at `start`, and the position after its closing mark.
fn title(bytes: &[u8], start: usize) -> Option<(Range<usize>, usize)> {
    let open = at(bytes, start);
    let close = match open {
        b'"' | b'\'' => open,
        b'(' => b')',
        _ => return None,
    };
    let mut next = start + 1;
    while next < bytes.len() {
        let rest = bytes.get(next..)?;
        next += searched(rest, memchr3(close, open, b'\\', rest))?;
        match at(bytes, next) {
            b'\\' => next += 2,
            byte if byte == close => return Some((start + 1..next, next + 1)),
            _ => return None,
        }
    }
    None
}

/// Returns the text without escaping backslashes, and with its entities decoded.
pub(super) fn unescape(text: &str) -> Cow<'_, str> {
    if memchr::memchr2(b'\\', b'&', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(found) = memchr::memchr2(b'\\', b'&', rest.as_bytes()) {
        let (before, from) = rest.split_at(found);
        plain.push_str(before);
        if let Some((character, length)) = entity(from) {
            plain.push(character);
            rest = from.part(length..);
            continue;
        }
        let escapes = from.starts_with('\\') && at(from.as_bytes(), 1).is_ascii_punctuation();
        let kept = if escapes { 1..2 } else { 0..1 };
        rest = from.part(kept.end..);
        plain.push_str(from.part(kept));
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// Entities that notes are likely to have; any other is unchanged.
const ENTITIES: [(&str, char); 18] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", '\u{a0}'),
    ("copy", '©'),
    ("reg", '®'),
    ("hellip", '…'),
    ("ndash", '–'),
    ("mdash", '—'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("auml", 'ä'),
    ("ouml", 'ö'),
    ("uuml", 'ü'),
];

/// Returns the character of the entity at the start of the text, and the length of the entity.
pub(super) fn entity(text: &str) -> Option<(char, usize)> {
    let bytes = text.as_bytes();
    if at(bytes, 0) != b'&' {
        return None;
    }
    let end = memchr(b';', bytes.get(..bytes.len().min(12))?)?;
    let name = text.get(1..end)?;
    let character = if let Some(number) = name.strip_prefix('#') {
        let (digits, radix, most) = match number.strip_prefix(['x', 'X']) {
            Some(digits) => (digits, 16, 6),
            None => (number, 10, 7),
        };
        if digits.is_empty() || digits.len() > most || !digits.chars().all(|digit| digit.is_digit(radix)) {
            return None;
        }
        let code = u32::from_str_radix(digits, radix).ok()?;
        char::from_u32(code).filter(|&character| character != '\0').unwrap_or('\u{fffd}')
    } else {
        ENTITIES.iter().find(|(entity, _)| *entity == name)?.1
    };
    Some((character, end + 1))
}

/// Returns true if a destination leaves the notebook: it starts with a scheme of at least two letters.
pub(super) fn has_scheme(destination: &str) -> bool {
    let bytes = destination.as_bytes();
    let is_scheme = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'+' | b'.' | b'-');
    let length = bytes.iter().take(33).take_while(is_scheme).count();
    at(bytes, 0).is_ascii_alphabetic() && (2..=32).contains(&length) && at(bytes, length) == b':'
}
