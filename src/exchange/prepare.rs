//! What all formats have in common before and behind their converters: limits, parts of what is too large, and
//! the report of what was lost.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::text::{hash8, hook};
use super::{Converted, ForeignFile, Format, Loss, RejectedPart, read_files};
use crate::document::{head, heading};
use crate::entries::{DAILY_LOG, ForeignEntry, MAX_CONTENT_BYTES, MAX_KEY_BYTES, MAX_TAG_BYTES, MAX_TAGS, is_mark};
use crate::order;
use crate::sorted::{SortedMap, SortedSet};

/// How long a summary is kept, in bytes.
const MAX_SUMMARY_BYTES: usize = 1_024;

/// The entries with what is over a limit cut, split or left out, as the rejected parts say. What is of our own
/// dump is left as it is.
pub(super) fn within_limits(converted: Converted) -> (Vec<ForeignEntry>, Vec<RejectedPart>) {
    let Converted { entries, mut rejected } = converted;
    let mut kept = Vec::with_capacity(entries.len());
    for mut entry in entries {
        if entry.is_exact {
            kept.push(entry);
            continue;
        }
        let mut reject = |reason: String| {
            rejected.push(RejectedPart { path: entry.path.clone(), line: entry.line, reason });
        };
        if entry.content.is_empty() {
            reject(format!("`{}` says nothing", entry.key.escape_debug()));
            continue;
        }
        entry.tags = kept_tags(&entry.tags, &mut reject);
        entry.key = kept_key(&entry.key);
        entry.summary = entry.summary.map(|summary| head(&summary, MAX_SUMMARY_BYTES).to_string());
        entry.supersedes = entry.supersedes.filter(|key| key.len() <= MAX_KEY_BYTES);
        let parts = parts(&entry.content);
        for (part, number) in parts.iter().zip(1_usize..) {
            // The first part has the key itself.
            let suffix = if number == 1 { String::new() } else { format!("#{number}") };
            let key = format!("{}{suffix}", head(&entry.key, MAX_KEY_BYTES - suffix.len()));
            kept.push(ForeignEntry { key, content: (*part).into(), ..entry.clone() });
        }
    }
    (kept, rejected)
}

fn kept_key(key: &str) -> String {
    if key.len() <= MAX_KEY_BYTES { key.into() } else { format!("{}_{}", head(key, MAX_KEY_BYTES - 9), hash8(key)) }
}

fn kept_tags(tags: &[String], reject: &mut dyn FnMut(String)) -> Vec<String> {
    let mut kept: Vec<String> = Vec::with_capacity(tags.len().min(MAX_TAGS));
    for tag in tags.iter().map(|tag| tag.trim()).filter(|tag| !tag.is_empty()) {
        let shown = || head(tag, 40).escape_debug().to_string();
        if tag.len() > MAX_TAG_BYTES {
            reject(format!(
                "the tag `{}…` has {} bytes, the limit is {MAX_TAG_BYTES}: it is left out",
                shown(),
                tag.len()
            ));
        } else if kept.len() == MAX_TAGS && !kept.iter().any(|known| known == tag) {
            reject(format!("the tag `{}` is left out: an entry has at most {MAX_TAGS}", shown()));
            break;
        } else if !kept.iter().any(|known| known == tag) {
            kept.push(tag.into());
        }
    }
    kept
}

/// A content in parts that an entry can have: cut before a heading, else at a blank line, else at a line, else
/// between two characters.
fn parts(content: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = content;
    while rest.len() > MAX_CONTENT_BYTES {
        let window = head(rest, MAX_CONTENT_BYTES);
        // What is cut off is not so short that headings in a row would each be a part.
        let least = MAX_CONTENT_BYTES / 4;
        let lines = || window.match_indices('\n').map(|(at, _)| at + 1).filter(|&at| at > least);
        let line_at = |at: usize| rest.get(at..).unwrap_or_default().split('\n').next().unwrap_or_default();
        let before_heading = lines().rfind(|&at| heading(line_at(at)).is_some());
        let cut = before_heading.or_else(|| lines().rfind(|&at| line_at(at).trim().is_empty()));
        let cut = cut.or_else(|| lines().next_back()).unwrap_or(window.len());
        let (part, behind) = rest.split_at_checked(cut).unwrap_or((rest, ""));
        parts.push(part);
        rest = behind;
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    // A part of white space alone is still a part: nothing of the text is lost.
    parts
}

/// The entries that a format other than our own can have: those that are not forgotten, one for each key, the
/// first made first.
pub(super) fn exportable(format: Format, entries: &[ForeignEntry]) -> (Vec<ForeignEntry>, Vec<Loss>) {
    let mut sorted: Vec<&ForeignEntry> = entries.iter().collect();
    // Those without a date stay in their order.
    let tie = |entry: &ForeignEntry| entry.created.map(|_| (entry.key.clone(), entry.category == "workspace"));
    order::sort_slice(&mut sorted, |a, b| a.created.cmp(&b.created).then_with(|| tie(a).cmp(&tie(b))));
    if format == Format::JsonLines {
        return (sorted.into_iter().cloned().collect(), Vec::new());
    }
    let own = sorted.iter().filter(|entry| entry.category != "workspace").map(|entry| entry.key.as_str());
    let own: SortedSet<&str> = own.collect();
    let (mut kept, mut losses) = (Vec::with_capacity(sorted.len()), Vec::new());
    for entry in sorted.into_iter().filter(|entry| entry.forgotten.is_none()) {
        if entry.category == "workspace" && own.contains(entry.key.as_str()) {
            let reason = "the agent's own entry has the same key, and the format has no workspace".into();
            losses.push(Loss { key: entry.key.clone(), field: "entry".into(), reason });
        } else {
            kept.push(entry.clone());
        }
    }
    (kept, losses)
}

/// Adds what is not found again when the files are read.
pub(super) fn find_losses(
    format: Format,
    entries: &[ForeignEntry],
    files: &[(String, String)],
    losses: &mut Vec<Loss>,
) {
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
    // What a format has for no entry at all is said once.
    let mut of_all: Vec<(&'static str, u32)> = Vec::new();
    for entry in entries.iter().filter(|entry| !left_out.contains(&entry.key) || format == Format::JsonLines) {
        let key = (is_shared(format, entry), entry.key.as_str());
        let by_key = by_key.get(&key).copied();
        let back = by_key.or_else(|| by_content.get(entry.content.as_str()).copied());
        for field in lost(format, entry, back, by_key.is_some()) {
            if is_of_all(format, field) {
                match of_all.iter_mut().find(|(known, _)| *known == field) {
                    Some((_, count)) => *count += 1,
                    None => of_all.push((field, 1)),
                }
            } else {
                losses.push(Loss { key: entry.key.clone(), field: field.into(), reason: reason(format, field).into() });
            }
        }
        for other in &entry.others {
            let reason = "it is no field of an entry; an export as markdown has it".into();
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

/// The agent and the workspace have keys of their own, in our own format alone.
fn is_shared(format: Format, entry: &ForeignEntry) -> bool {
    format == Format::JsonLines && entry.category == "workspace"
}

/// The fields that are not as they were.
fn lost(format: Format, entry: &ForeignEntry, back: Option<&ForeignEntry>, has_key: bool) -> Vec<&'static str> {
    let Some(back) = back else { return ["content"].to_vec() };
    // A log of a day is written where the days are, and comes in as what it was: its age decides.
    let category =
        |entry: &ForeignEntry| if entry.category == DAILY_LOG { "daily".into() } else { entry.category.clone() };
    let summary = |entry: &ForeignEntry| entry.summary.clone().filter(|summary| *summary != hook(&entry.content));
    let is_carried = format == Format::JsonLines;
    // The mark of an import says where an entry came from to the store that imported it, and to no other.
    let source = |entry: &ForeignEntry| entry.source.clone().filter(|source| is_carried || !is_mark(source));
    let fields = [
        ("key", has_key),
        ("category", category(entry) == category(back)),
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

/// Whether a field is lost of every entry that has it.
fn is_of_all(format: Format, field: &str) -> bool {
    match field {
        "created" | "updated" => true,
        "key" | "category" | "tags" => matches!(format, Format::Hermes | Format::Gemini),
        _ => false,
    }
}

fn reason(format: Format, field: &str) -> &'static str {
    match (format, field) {
        (Format::OpenClaw | Format::NullClaw, "created" | "updated") => "the format does not have them to the second",
        (_, "created" | "updated") => "the format has no dates",
        (Format::Hermes | Format::Gemini, "key") => "the format has no keys: they are made of the text",
        (Format::OpenClaw, "tags") => "tags are headings there: at most 5, each a line of text",
        (Format::Gemini, "content") => "it is one line there: line breaks are spaces",
        (_, "content") => "it does not come back as it was",
        (_, "category") => "the format has no such category",
        (_, "source") => "it becomes the place that the other side imports it from",
        _ => "the format has no place for it",
    }
}
