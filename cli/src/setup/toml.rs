//! Edits of a TOML file in place: a table is added, replaced or removed, and every other byte stays. The parser gives
//! the places.

use std::ops::Range;

use toml_edit::{Document, Item, Table, TableLike, Value as TomlValue};

use super::splice::{Splice, before_line_end, line_and_column, line_start, newline_of, spliced};
use super::types::Unfit;
use super::value::Value;

/// Returns the value of the text.
pub(super) fn parse(text: &str) -> Result<Value, Unfit> {
    Ok(value_of_table(document(text)?.as_table()))
}

/// Returns the text with a table added at its end.
pub(super) fn insert(text: &str, path: &[&str], value: &Value) -> Result<String, Unfit> {
    let newline = newline_of(text);
    let line_end = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
    let gap = if text.is_empty() { "" } else { newline };
    Ok(format!("{text}{line_end}{gap}{}", block(path, value, newline)))
}

/// Returns the text with the table at a path replaced.
pub(super) fn replace(text: &str, path: &[&str], value: &Value) -> Result<String, Unfit> {
    let parts = lines_of(text, path)?;
    let Some((first, others)) = parts.split_first() else { return insert(text, path, value) };
    if !text[first.clone()].trim_start().starts_with('[') {
        return insert(&remove(text, path)?, path, value);
    }
    let newline = newline_of(text);
    let written = block(path, value, newline);
    let is_whole = text[first.clone()].ends_with('\n');
    let written = if is_whole { written } else { written.trim_end_matches(newline).to_string() };
    let mut splices = vec![Splice { range: first.clone(), text: written }];
    splices.extend(others.iter().cloned().map(Splice::cut));
    Ok(spliced(text, &splices))
}

/// Returns the text without the table at a path, and without one empty line before it.
pub(super) fn remove(text: &str, path: &[&str]) -> Result<String, Unfit> {
    let mut parts = lines_of(text, path)?;
    if let Some(first) = parts.first_mut() {
        let before = before_line_end(text, first.start);
        let is_blank = before < first.start && text[line_start(text, before)..before].trim().is_empty();
        if is_blank {
            first.start = line_start(text, before);
        }
    }
    Ok(spliced(text, &parts.into_iter().map(Splice::cut).collect::<Vec<_>>()))
}

fn document(text: &str) -> Result<Document<&str>, Unfit> {
    Document::parse(text).map_err(|error| {
        let (line, column) = line_and_column(text, error.span().map_or(0, |span| span.start));
        let message = error.message().lines().next().unwrap_or_default().to_string();
        Unfit::Malformed { line, column, message }
    })
}

/// Returns a table as TOML with its header. Its values are strings, numbers, and lists of strings.
fn block(path: &[&str], value: &Value, newline: &str) -> String {
    let mut out = format!("[{}]{newline}", path.join("."));
    if let Value::Table(pairs) = value {
        for (key, value) in pairs {
            out.push_str(&format!("{key} = {}{newline}", inline(value)));
        }
    }
    out
}

fn inline(value: &Value) -> String {
    match value {
        Value::Null => "\"\"".to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.clone(),
        // A basic string of TOML has the escapes of JSON, and may not contain DEL.
        Value::Text(text) => serde_json::Value::from(text.as_str()).to_string().replace('\u{7f}', "\\u007f"),
        Value::List(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Table(pairs) => {
            let pairs: Vec<String> = pairs.iter().map(|(key, value)| format!("{key} = {}", inline(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
    }
}

/// Returns the lines of the table at a path, including the lines of its subtables, in the order of the file.
fn lines_of(text: &str, path: &[&str]) -> Result<Vec<Range<usize>>, Unfit> {
    let document = document(text)?;
    let mut item = document.as_item();
    for key in path {
        match item.as_table_like().and_then(|table| table.get(key)) {
            Some(inner) => item = inner,
            None => return Ok(Vec::new()),
        }
    }
    let mut spans = Vec::new();
    spans_of(item, &mut spans);
    spans.sort_by_key(|span| (span.start, span.end));
    let mut lines: Vec<Range<usize>> = Vec::new();
    for span in spans {
        let start = line_start(text, span.start);
        let end = text[span.end..].find('\n').map_or(text.len(), |newline| span.end + newline + 1);
        match lines.last_mut() {
            // Lines between two parts of one table belong to it, unless another table begins there.
            Some(last) if start <= last.end || is_gap(&text[last.end..start]) => last.end = last.end.max(end),
            _ => lines.push(start..end),
        }
    }
    Ok(lines)
}

/// Returns true if lines have only comments and white space.
fn is_gap(lines: &str) -> bool {
    lines.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
}

/// Collects the places of the header of a table and of its values.
fn spans_of(item: &Item, spans: &mut Vec<Range<usize>>) {
    match item {
        Item::None => {}
        Item::Value(value) => spans.extend(value.span()),
        Item::Table(table) => spans_of_table(table, spans),
        Item::ArrayOfTables(tables) => tables.iter().for_each(|table| spans_of_table(table, spans)),
    }
}

fn spans_of_table(table: &Table, spans: &mut Vec<Range<usize>>) {
    if !table.is_implicit() && !table.is_dotted() {
        spans.extend(table.span());
    }
    table.iter().for_each(|(_, item)| spans_of(item, spans));
}

fn value_of_item(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => value_of(value),
        Item::Table(table) => value_of_table(table),
        Item::ArrayOfTables(tables) => Value::List(tables.iter().map(|table| value_of_table(table)).collect()),
    }
}

fn value_of_table(table: &dyn TableLike) -> Value {
    Value::Table(table.iter().map(|(key, item)| (key.to_string(), value_of_item(item))).collect())
}

fn value_of(value: &TomlValue) -> Value {
    match value {
        TomlValue::String(text) => Value::text(text.value()),
        TomlValue::Boolean(value) => Value::Bool(*value.value()),
        TomlValue::Integer(number) => Value::Number(number.value().to_string()),
        TomlValue::Float(number) => Value::Number(number.value().to_string()),
        TomlValue::Datetime(time) => Value::Number(time.value().to_string()),
        TomlValue::Array(items) => Value::List(items.iter().map(value_of).collect()),
        TomlValue::InlineTable(table) => value_of_table(table),
    }
}
