//! JSON Lines: the dump of all entries with all fields, one entry per line. Also the JSON helpers of the other
//! formats.

use saddlebag_collections::{UnknownWord, prelude::*};
use serde_json::Value;

use super::types::{Converted, Output, TextFile};
use crate::entries::ForeignEntry;
use crate::store::utc_text;
use crate::trust::{Provenance, TrustState};
use saddlebag_markdown::parse_date;

/// Version of a line.
const VERSION: u64 = 1;

/// Fields of a line.
const FIELDS: [&str; 14] = [
    "version",
    "key",
    "category",
    "tags",
    "content",
    "summary",
    "created",
    "updated",
    "source",
    "supersedes",
    "forgotten",
    "provenance",
    "approved",
    "projects",
];

pub(super) fn read(file: &TextFile<'_>, converted: &mut Converted) {
    for_each_object(file, converted, |object, number, converted| {
        converted.entries.push(entry(file, number, object)?);
        Ok(())
    });
}

/// Calls the function with each JSON value of the file's lines, and rejects the lines that it refuses.
pub(super) fn for_each_object(
    file: &TextFile<'_>,
    converted: &mut Converted,
    mut take: impl FnMut(&Value, u32, &mut Converted) -> Result<(), String>,
) {
    for (line, number) in file.text.lines().zip(1_u32..) {
        if line.trim().is_empty() {
            continue;
        }
        let read = serde_json::from_str(line).map_err(|error| format!("it is not valid JSON, or incomplete: {error}"));
        if let Err(reason) = read.and_then(|object| take(&object, number, converted)) {
            converted.reject(file, number, reason);
        }
    }
}

fn entry(file: &TextFile<'_>, number: u32, object: &Value) -> Result<ForeignEntry, String> {
    let Value::Object(fields) = object else { return Err("it is not a JSON object".into()) };
    match object.get("version") {
        None => {}
        Some(version) if version.as_u64() == Some(VERSION) => {}
        Some(version) => return Err(format!("its version is {version}, the supported version is {VERSION}")),
    }
    if let Some(field) = fields.keys().find(|field| !FIELDS.contains(&field.as_str())) {
        return Err(format!("unknown field `{}`; the fields are {}", field.escape_debug(), FIELDS.join(", ")));
    }
    let moment = |name: &str| match text_field(object, name)? {
        None => Ok(None),
        Some(text) => match parse_date(&text) {
            Some(moment) => Ok(Some(moment)),
            None => Err(format!("`{name}` is not a date: `{}`", text.escape_debug())),
        },
    };
    Ok(ForeignEntry {
        key: text_field(object, "key")?.ok_or("it has no `key`")?,
        content: text_field(object, "content")?.ok_or("it has no `content`")?,
        category: text_field(object, "category")?.unwrap_or_else(|| "core".into()),
        tags: texts_field(object, "tags")?,
        summary: text_field(object, "summary")?,
        source: text_field(object, "source")?,
        supersedes: text_field(object, "supersedes")?,
        created: moment("created")?,
        updated: moment("updated")?,
        forgotten: moment("forgotten")?,
        trust_state: TrustState {
            provenance: text_field(object, "provenance")?
                .map_or(Ok(Provenance::User), |word| word.parse().map_err(|error: UnknownWord| error.message()))?,
            approved: moment("approved")?,
        },
        projects: texts_field(object, "projects")?,
        is_exact: true,
        ..file.at(number)
    })
}

pub(super) fn export(entries: &[ForeignEntry]) -> Output {
    let mut exported = Output::default();
    let lines: Vec<String> = entries.iter().map(line).collect();
    exported.file("saddlebag.jsonl".into(), lines.concat());
    exported
}

fn line(entry: &ForeignEntry) -> String {
    let tags: Vec<String> = entry.tags.iter().map(|tag| quoted(tag)).collect();
    let mut line = format!(
        "{{\"version\":{VERSION},\"key\":{},\"category\":{},\"tags\":[{}]",
        quoted(&entry.key),
        quoted(&entry.category),
        tags.join(",")
    );
    let TrustState { provenance, approved } = entry.trust_state;
    let moments = [
        ("created", entry.created),
        ("updated", entry.updated),
        ("forgotten", entry.forgotten),
        ("approved", approved),
    ];
    for (name, moment) in moments {
        if let Some(moment) = moment {
            line.push_str(&format!(",\"{name}\":\"{}\"", utc_text(moment)));
        }
    }
    for (name, text) in [("summary", &entry.summary), ("source", &entry.source), ("supersedes", &entry.supersedes)] {
        if let Some(text) = text {
            line.push_str(&format!(",\"{name}\":{}", quoted(text)));
        }
    }
    if provenance != Provenance::User {
        line.push_str(&format!(",\"provenance\":\"{provenance}\""));
    }
    if !entry.projects.is_empty() {
        let projects: Vec<String> = entry.projects.iter().map(|project| quoted(project)).collect();
        line.push_str(&format!(",\"projects\":[{}]", projects.join(",")));
    }
    line.push_str(&format!(",\"content\":{}}}\n", quoted(&entry.content)));
    line
}

/// Returns a string field; `None` if it is missing or null.
pub(super) fn text_field(object: &Value, name: &str) -> Result<Option<String>, String> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("`{name}` must be a string")),
    }
}

/// Returns a field with a list of strings; empty if it is missing or null.
fn texts_field(object: &Value, name: &str) -> Result<Vec<String>, String> {
    let refused = || format!("`{name}` must be a list of strings");
    match object.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(texts)) => {
            texts.iter().map(|text| text.as_str().map(String::from).ok_or_else(refused)).collect()
        }
        Some(_) => Err(refused()),
    }
}

/// Renders a JSON string on one line, for every reader.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // Some readers treat these characters as line ends.
            '\u{2028}' | '\u{2029}' | '\u{85}' | '\0'..='\u{1f}' | '\u{7f}' => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
