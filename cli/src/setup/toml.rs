//! Edits of a TOML file in place: a table is added, replaced or removed, and every other byte stays. `toml_edit` writes our
//! table and gives the places of its parts. The file itself is not written by it: it would change line ends and
//! the order of dotted keys, and a removed table would take the comment above it.

use std::ops::Range;

use toml_edit::{Array, Document, DocumentMut, InlineTable, Item, Table, TableLike, Value as TomlValue};

use super::types::Unfit;
use super::value::Value;

/// Returns the value of the text.
pub(super) fn parse(text: &str) -> Result<Value, Unfit> {
    Ok(value_of_table(document(text)?.as_table()))
}

/// Returns the text with a table added at its end.
pub(super) fn insert(text: &str, path: &[&str], value: &Value) -> String {
    let newline = if text.find('\n').is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" };
    let line_end = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
    let gap = if text.is_empty() { "" } else { newline };
    let Value::Table(pairs) = value else { return text.to_string() };
    let table: Table = pairs.iter().map(|(key, value)| (key.as_str(), written(value))).collect();
    let nested = path.iter().rev().fold(table, |inner, key| {
        let mut outer = Table::new();
        outer.set_implicit(true);
        outer.insert(key, Item::Table(inner));
        outer
    });
    format!("{text}{line_end}{gap}{}", DocumentMut::from(nested).to_string().replace('\n', newline))
}

/// Returns the text with the table at a path replaced. It moves to the end.
pub(super) fn replace(text: &str, path: &[&str], value: &Value) -> Result<String, Unfit> {
    Ok(insert(&remove(text, path)?, path, value))
}

/// Returns the text without the table at a path, and without one empty line before it.
pub(super) fn remove(text: &str, path: &[&str]) -> Result<String, Unfit> {
    let (mut out, mut done) = (String::new(), 0);
    for (number, lines) in lines_of(text, path)?.into_iter().enumerate() {
        let mut kept = &text[done..lines.start];
        if number == 0
            && let Some(above) = kept.strip_suffix('\n')
            && above.rsplit('\n').next().is_some_and(|line| line.trim().is_empty())
        {
            kept = &above[..above.rfind('\n').map_or(0, |newline| newline + 1)];
        }
        out.push_str(kept);
        done = lines.end;
    }
    out.push_str(&text[done..]);
    Ok(out)
}

fn document(text: &str) -> Result<Document<&str>, Unfit> {
    Document::parse(text).map_err(|error| {
        let message = error.message().lines().next().unwrap_or_default().to_string();
        Unfit::malformed(text, error.span().map_or(0, |span| span.start), message)
    })
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
        let start = text[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
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

fn written(value: &Value) -> TomlValue {
    match value {
        Value::Null => "".into(),
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => number.parse().unwrap_or_else(|_| number.as_str().into()),
        Value::Text(text) => text.as_str().into(),
        Value::List(items) => items.iter().map(written).collect::<Array>().into(),
        Value::Table(pairs) => {
            pairs.iter().map(|(key, value)| (key.as_str(), written(value))).collect::<InlineTable>().into()
        }
    }
}
