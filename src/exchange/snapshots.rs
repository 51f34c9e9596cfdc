//! Snapshots of ZeroClaw, `MEMORY_SNAPSHOT.md`, and of NullClaw, `MEMORY_SNAPSHOT.json`, which have core memories
//! only.
//!
//! ZeroClaw's own reader would drop some lines of a content, or take them for the next entry. Some writers put a `\`
//! before such lines, which this reader removes. An entry ends at the last line of dates before the next heading, so
//! contents without the `\` are kept too.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::Value;

use super::json::text_field;
use super::text::lines;
use super::types::{Converted, TextFile};
use crate::document::parse_date;
use crate::entries::ForeignEntry;
use crate::percent;

const TITLE: &str = "# 🧠 ZeroClaw Memory Snapshot";
const ENTRY: &str = "### 🔑 `";
const DATES: &str = "*Created: ";
const TOTAL: &str = "**Total core memories:** ";
const RULE: &str = "---";

pub(super) fn import_zeroclaw(files: &[TextFile<'_>]) -> Converted {
    Converted::of(files, read_zeroclaw)
}

fn read_zeroclaw(file: &TextFile<'_>, converted: &mut Converted) {
    let lines = lines(file.text);
    let first = lines.iter().find(|line| !line.trim().is_empty()).copied().unwrap_or_default();
    if first.trim_start_matches('\u{feff}').trim_end() != TITLE {
        let reason = format!("it is not a known snapshot: its first line is `{}`, not `{TITLE}`", short(first));
        return converted.reject(file, 1, reason);
    }
    let starts: Vec<(usize, &str)> = lines.iter().zip(0..).filter_map(|(line, at)| Some((at, key_of(line)?))).collect();
    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([lines.len()]);
    let mut found = 0_usize;
    for (&(start, key), next) in starts.iter().zip(ends) {
        let number = u32::try_from(start + 1).unwrap_or(u32::MAX);
        let block: Vec<&str> = lines.iter().copied().take(next).skip(start + 1).collect();
        let dated = block.iter().enumerate().rev().find(|(_, line)| line.starts_with(DATES));
        let Some((end, line_of_dates)) = dated else {
            converted.reject(file, number, format!("`{}` has no line of dates: the file is incomplete", short(key)));
            continue;
        };
        found += 1;
        let content: Vec<&str> = block.iter().copied().take(end).collect();
        let content = content.strip_prefix(&[""]).unwrap_or(&content);
        let content = content.strip_suffix(&[""]).unwrap_or(content);
        let content: Vec<&str> = content.iter().map(|line| unguarded(line)).collect();
        let (created, updated) = dates(line_of_dates);
        converted.entries.push(ForeignEntry {
            key: percent::decode(key).into_owned(),
            category: "core".into(),
            content: content.join("\n"),
            created,
            updated,
            ..file.at(number)
        });
    }
    let total = lines.iter().take(starts.first().map_or(lines.len(), |(start, _)| *start));
    let total = total.filter_map(|line| line.strip_prefix(TOTAL)).find_map(|total| total.trim().parse::<usize>().ok());
    if let Some(total) = total.filter(|&total| total > found) {
        converted.reject(file, 1, format!("it claims {total} memories but has {found}: it is incomplete"));
    }
}

/// Returns the key, if a line begins an entry.
fn key_of(line: &str) -> Option<&str> {
    line.trim_end().strip_prefix(ENTRY)?.strip_suffix('`')
}

/// Parses `*Created: 2026-01-02T03:04:05Z | Updated: 2026-01-02T03:04:05Z*`.
fn dates(line: &str) -> (Option<u64>, Option<u64>) {
    let line = line.trim_end().trim_matches('*');
    let (created, updated) = line.split_once(" | Updated: ").unwrap_or((line, ""));
    let created = created.strip_prefix("Created: ").unwrap_or_default();
    (parse_date(created), parse_date(updated))
}

/// Returns true if a line, after any number of `\`, would be dropped or taken for an entry.
fn is_guarded(line: &str) -> bool {
    let line = line.trim_start_matches('\\');
    line.trim() == RULE || line.starts_with(DATES) || line.starts_with("### 🔑")
}

fn unguarded(line: &str) -> &str {
    line.strip_prefix('\\').filter(|_| is_guarded(line)).unwrap_or(line)
}

pub(super) fn import_nullclaw(files: &[TextFile<'_>]) -> Converted {
    Converted::of(files, |file, converted| match serde_json::from_str(file.text) {
        Ok(Value::Array(items)) => {
            items.iter().zip(1_usize..).for_each(|(item, number)| match nullclaw_entry(file, item) {
                Ok(entry) => converted.entries.push(entry),
                Err(reason) => converted.reject(file, 1, format!("memory {number}: {reason}")),
            })
        }
        Ok(_) => converted.reject(file, 1, "it is not a known snapshot: an array of memories is expected".into()),
        Err(error) => {
            let line = u32::try_from(error.line()).unwrap_or(1);
            converted.reject(file, line, format!("it is not valid JSON, or incomplete: {error}"));
        }
    })
}

fn nullclaw_entry(file: &TextFile<'_>, item: &Value) -> Result<ForeignEntry, String> {
    let moment = match item.get("timestamp") {
        Some(Value::Number(number)) => number.as_u64().and_then(from_seconds),
        Some(Value::String(text)) => text.trim().parse().ok().and_then(from_seconds).or_else(|| parse_date(text)),
        _ => None,
    };
    Ok(ForeignEntry {
        key: text_field(item, "key")?.ok_or("it has no `key`")?,
        content: text_field(item, "content")?.ok_or("it has no `content`")?,
        category: text_field(item, "category")?.unwrap_or_else(|| "core".into()),
        created: moment,
        updated: moment,
        ..file.at(1)
    })
}

/// Converts seconds, or milliseconds if as seconds they would be far in the future.
fn from_seconds(number: u64) -> Option<u64> {
    number.checked_mul(if number > 100_000_000_000 { 1_000_000 } else { 1_000_000_000 })
}

/// Shortens the text for an error.
fn short(text: &str) -> String {
    crate::document::head(text, 60).escape_debug().to_string()
}
