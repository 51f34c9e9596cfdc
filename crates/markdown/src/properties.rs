//! Links in the frontmatter: `related: "[[Port]]"`, in lists and in longer text too.
//!
//! They are found in the YAML as it is written, so that a rename replaces a name and keeps the quotes. A pair of
//! brackets counts only if text of the parsed frontmatter has it: `[[a, b]]` without quotes is a list in a list.

use core::ops::Range;

use memchr::memmem;

use super::frontmatter::Frontmatter;
use super::types::{Link, LinkKind, Value};
use saddlebag_collections::SortedSet;
use saddlebag_collections::TextPart;
use saddlebag_collections::prelude::*;

/// Maximum number of bracket pairs that are examined: each may cost as much as its line is long.
const MAX_BRACKETS: usize = 1_000;

/// Quoting style of the text in YAML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

/// Returns the links in the frontmatter of the text, in order.
pub(super) fn links(text: &str, frontmatter: &Frontmatter) -> Vec<Link> {
    let mut links = Vec::new();
    let block = text.part(frontmatter.span.clone());
    if memmem::find(block.as_bytes(), b"[[").is_none() {
        return links;
    }
    let mut texts = Vec::new();
    frontmatter.entries.iter().for_each(|(_, value)| collect(value, &mut texts));
    let mut known: SortedSet<&str> = SortedSet::default();
    known.extend(texts.iter().flat_map(|text| bracketed(text)));
    let mut next = 0;
    for _ in 0..MAX_BRACKETS {
        let Some(found) = block.get(next..).and_then(|rest| memmem::find(rest.as_bytes(), b"[[")) else { break };
        let start = next + found;
        next = start + 2;
        let line = block.get(next..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let Some(close) = line.find("]]") else { continue };
        let inner = next..next + close;
        let Some(raw) = block.get(inner.clone()).filter(|raw| !raw.contains("[[")) else { continue };
        let (quote, begins) = quote_at(block, start);
        // Without quotes, brackets at the beginning of a value are a list in a list.
        if quote == Quote::None && begins {
            continue;
        }
        let plain = unquoted(raw, quote);
        if !known.contains(&*plain) {
            continue;
        }
        next = inner.end + 2;
        if let Some(link) = link(block, frontmatter.span.start, start..next, inner, quote) {
            links.push(link);
        }
    }
    links
}

/// Returns text as it is written in the frontmatter at a byte of the file: with the escapes of the quotes around it.
pub fn property_text(text: &str, at: usize, value: &str) -> String {
    match quote_at(text, at).0 {
        Quote::None => value.to_string(),
        Quote::Single => value.replace('\'', "''"),
        Quote::Double => value.replace('\\', "\\\\").replace('"', "\\\""),
    }
}

fn collect<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::List(values) => values.iter().for_each(|value| collect(value, texts)),
        Value::Map(entries) => entries.iter().for_each(|(_, value)| collect(value, texts)),
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) => {}
    }
}

/// Returns the contents of double brackets.
fn bracketed(text: &str) -> impl Iterator<Item = &str> {
    let opened = text.split("[[").skip(1);
    opened.filter_map(|rest| rest.split_once("]]")).map(|(inner, _)| inner)
}

fn link(block: &str, offset: usize, span: Range<usize>, inner: Range<usize>, quote: Quote) -> Option<Link> {
    let trimmed = |range: Range<usize>| {
        let part = block.part(range.clone());
        let start = range.start + (part.len() - part.trim_start().len());
        start..start + part.trim().len()
    };
    let raw = block.get(inner.clone())?;
    let bar = raw.find('|').map(|at| inner.start + at);
    let target_span = trimmed(inner.start..bar.unwrap_or(inner.end));
    let label = bar.map(|bar| trimmed(bar + 1..inner.end)).filter(|label| !label.is_empty());
    let written = unquoted(block.get(target_span.clone())?, quote);
    if written.is_empty() {
        return None;
    }
    let (target, anchor) = match written.split_once('#') {
        Some((target, anchor)) => (target.trim_end().to_string(), Some(anchor.trim().to_string())),
        None => (written.to_string(), None),
    };
    let shown = unquoted(block.get(label.unwrap_or_else(|| target_span.clone()))?, quote).into_owned();
    let line = block.get(..span.start).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let line_end =
        block.get(span.end..).and_then(|rest| rest.find(['\r', '\n'])).map_or(block.len(), |at| span.end + at);
    let is_external = written.contains("://");
    let moved = |range: Range<usize>| offset + range.start..offset + range.end;
    Some(Link {
        kind: LinkKind::Property,
        target: if is_external { written.into_owned() } else { target },
        anchor: anchor.filter(|_| !is_external),
        text: shown,
        relations: Vec::new(),
        is_external,
        span: moved(span),
        target_span: moved(target_span),
        context: moved(trimmed(line..line_end)),
    })
}

/// Returns the text of quoted YAML, as far as names need it.
fn unquoted(raw: &str, quote: Quote) -> Cow<'_, str> {
    match quote {
        Quote::Single if raw.contains('\'') => Cow::Owned(raw.replace("''", "'")),
        Quote::Double if raw.contains('\\') => {
            let mut text = String::with_capacity(raw.len());
            let mut characters = raw.chars();
            while let Some(character) = characters.next() {
                match (character, characters.clone().next()) {
                    ('\\', Some(escaped @ ('"' | '\\' | '/'))) => {
                        characters.next();
                        text.push(escaped);
                    }
                    _ => text.push(character),
                }
            }
            Cow::Owned(text)
        }
        _ => Cow::Borrowed(raw),
    }
}

/// Returns the quotes around a byte of the frontmatter, judged by its line, and true if a value can begin there.
fn quote_at(text: &str, at: usize) -> (Quote, bool) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rfind('\n').and_then(|end| before.get(end + 1..)).unwrap_or(before);
    let mut quote = Quote::None;
    // A quote opens text only where a value can begin.
    let mut begins = true;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Quote::None, '\'') if begins => quote = Quote::Single,
            (Quote::None, '"') if begins => quote = Quote::Double,
            // Two single quotes are one quote of the text.
            (Quote::Single, '\'') if characters.next_if_eq(&'\'').is_none() => quote = Quote::None,
            (Quote::Double, '\\') => {
                characters.next();
            }
            (Quote::Double, '"') => quote = Quote::None,
            _ => {}
        }
        begins = match character {
            ' ' | '\t' => begins,
            ':' | '-' | ',' | '[' | '{' => true,
            _ => false,
        };
    }
    (quote, begins)
}
