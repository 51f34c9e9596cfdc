//! Losses of an export, found by reading back the written files.

use super::format::Format;
use super::read_files::read_files;
use super::text::hook;
use super::types::{ForeignFile, Loss, WrittenFile};
use crate::entries::{ForeignEntry, is_mark};
use saddlebag_collections::{
    prelude::*,
    sorted::{SortedMap, SortedSet},
};

/// Adds the fields and entries that are missing when the files are read back.
pub(super) fn find_losses(format: Format, entries: &[ForeignEntry], files: &[WrittenFile], losses: &mut Vec<Loss>) {
    let files: Vec<ForeignFile> = files
        .iter()
        .map(|(path, text)| ForeignFile { path: path.clone(), first_line: 1, content: Ok(text.as_bytes().to_vec()) })
        .collect();
    let (found, _) = read_files(format, &files, &[]);
    let left_out: SortedSet<String> = losses.iter().map(|loss| loss.key.clone()).collect();
    let mut by_key: SortedMap<(bool, &str), &ForeignEntry> = SortedMap::default();
    let mut by_content: SortedMap<&str, &ForeignEntry> = SortedMap::default();
    for entry in &found {
        by_key.insert((is_shared(format, entry), entry.key.as_str()), entry);
        by_content.insert(entry.content.as_str(), entry);
    }
    // A field that the format has for no entry is reported once.
    let mut of_all: Vec<(&'static str, u32)> = Vec::new();
    for entry in entries.iter().filter(|entry| !left_out.contains(&entry.key) || format == Format::JsonLines) {
        let key = (is_shared(format, entry), entry.key.as_str());
        let by_key = by_key.get(&key).copied();
        let back = by_key.or_else(|| by_content.get(entry.content.as_str()).copied());
        for field in lost(format, entry, back, by_key.is_some()) {
            if is_of_all(field) {
                match of_all.iter_mut().find(|(known, _)| *known == field) {
                    Some((_, count)) => *count += 1,
                    None => of_all.push((field, 1)),
                }
            } else {
                losses.push(Loss { key: entry.key.clone(), field: field.into(), reason: reason(format, field).into() });
            }
        }
        for (name, value) in &entry.kept {
            let is_back = back.is_some_and(|back| back.kept(name) == Some(value));
            if !is_back {
                losses.push(Loss { key: entry.key.clone(), field: name.clone(), reason: kept_reason(format).into() });
            }
        }
        for other in &entry.others {
            let reason = "it is not a field of entries; an export as markdown keeps it".into();
            losses.push(Loss { key: entry.key.clone(), field: other.clone(), reason });
        }
    }
    for (field, count) in of_all {
        let entries = if count == 1 { "1 entry".to_string() } else { format!("{count} entries") };
        losses.push(Loss {
            key: "*".into(),
            field: field.into(),
            reason: format!("{} ({entries})", reason(format, field)),
        });
    }
}

/// Returns true if the entry belongs to the workspace. Only our own format separates its keys from the agent's.
fn is_shared(format: Format, entry: &ForeignEntry) -> bool {
    format == Format::JsonLines && entry.category == "workspace"
}

/// Returns the names of the fields that changed.
fn lost(format: Format, entry: &ForeignEntry, back: Option<&ForeignEntry>, has_key: bool) -> Vec<&'static str> {
    let Some(back) = back else { return ["content"].to_vec() };
    let summary = |entry: &ForeignEntry| entry.summary.clone().filter(|summary| *summary != hook(&entry.content));
    let is_carried = format == Format::JsonLines;
    // The mark of an import is meaningful only to the store that made the import.
    let source = |entry: &ForeignEntry| entry.source.clone().filter(|source| is_carried || !is_mark(source));
    let fields = [
        ("key", has_key),
        ("category", entry.category == back.category),
        ("tags", entry.tags == back.tags),
        ("content", entry.content == back.content),
        ("created", entry.created.is_none() || entry.created == back.created),
        ("updated", entry.updated.is_none() || entry.updated == back.updated),
        ("summary", summary(entry) == summary(back)),
        ("source", source(entry).is_none() || source(entry) == source(back)),
        ("supersedes", entry.supersedes == back.supersedes),
        ("forgotten", entry.forgotten == back.forgotten),
    ];
    fields.into_iter().filter(|(_, is_kept)| !is_kept).map(|(field, _)| field).collect()
}

fn kept_reason(format: Format) -> &'static str {
    match format {
        Format::ClaudeCode | Format::BasicMemory => "it was changed here since the import, or its place is taken",
        _ => "it belongs to the format that the entry was imported from; an export as markdown keeps it",
    }
}

/// Returns true if a format that loses the field of an entry loses it of every entry.
fn is_of_all(field: &str) -> bool {
    matches!(field, "created" | "updated")
}

fn reason(format: Format, field: &str) -> &'static str {
    match (format, field) {
        (Format::ClaudeCode, "created" | "updated") => "the text of the index has no dates",
        (Format::BasicMemory, "created" | "updated") => "the observations of a note have one date",
        (_, "created" | "updated") => "the format has no dates",
        (_, "content") => "it changes when it is read back",
        (_, "category") => "the format has no such category",
        (_, "source") => "the other agent sets its own source on import",
        _ => "the format has no place for it",
    }
}
