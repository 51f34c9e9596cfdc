//! Steps that all formats share: limits, and splitting of text that is too large.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::format::Format;
use super::text::hash8;
use super::types::{Converted, Loss, RejectedPart};
use crate::document::{head, heading};
use crate::entries::{ForeignEntry, MAX_CONTENT_BYTES, MAX_KEY_BYTES, MAX_TAG_BYTES, MAX_TAGS};
use crate::order;
use crate::part::TextPart;
use crate::sorted::SortedSet;

/// Maximum size of a summary in bytes.
const MAX_SUMMARY_BYTES: usize = 1_024;

/// Maximum size of a kept field of another format, in bytes.
const MAX_KEPT_BYTES: usize = 2_048;

/// Cuts, splits or drops entries over a limit, and reports each as a rejected part. Entries of our dump are unchanged.
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
        entry.kept.retain(|(name, value)| {
            let is_short = value.len() <= MAX_KEPT_BYTES;
            if !is_short {
                reject(format!("`{name}` has {} bytes, the limit is {MAX_KEPT_BYTES}; it is left out", value.len()));
            }
            is_short
        });
        entry.summary = entry.summary.map(|summary| head(&summary, MAX_SUMMARY_BYTES).to_string());
        entry.supersedes = entry.supersedes.filter(|key| key.len() <= MAX_KEY_BYTES);
        let parts = parts(&entry.content);
        for (part, number) in parts.iter().zip(1_usize..) {
            // The first part keeps the key.
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
                "the tag `{}…` has {} bytes, the limit is {MAX_TAG_BYTES}; it is left out",
                shown(),
                tag.len()
            ));
        } else if kept.len() == MAX_TAGS && !kept.iter().any(|known| known == tag) {
            reject(format!("the tag `{}` is left out; an entry has at most {MAX_TAGS}", shown()));
            break;
        } else if !kept.iter().any(|known| known == tag) {
            kept.push(tag.into());
        }
    }
    kept
}

/// Splits content into parts within the limit: before a heading, else at a blank line, else at a line end, else
/// between two characters.
fn parts(content: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = content;
    while rest.len() > MAX_CONTENT_BYTES {
        let window = head(rest, MAX_CONTENT_BYTES);
        // Avoids tiny parts where several headings follow each other.
        let least = MAX_CONTENT_BYTES / 4;
        let lines = || window.match_indices('\n').map(|(at, _)| at + 1).filter(|&at| at > least);
        let line_at = |at: usize| rest.part(at..).split('\n').next().unwrap_or_default();
        let before_heading = lines().rfind(|&at| heading(line_at(at)).is_some());
        let cut = before_heading.or_else(|| lines().rfind(|&at| line_at(at).trim().is_empty()));
        let cut = cut.or_else(|| lines().next_back()).unwrap_or(window.len());
        let (part, rest_after) = rest.split_at_checked(cut).unwrap_or((rest, ""));
        parts.push(part);
        rest = rest_after;
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    // Even a part of white space only is kept, so that nothing is lost.
    parts
}

/// Returns the entries that a format other than our own can carry: not forgotten, one per key, oldest first.
pub(super) fn exportable(format: Format, entries: &[ForeignEntry]) -> (Vec<ForeignEntry>, Vec<Loss>) {
    let mut sorted: Vec<&ForeignEntry> = entries.iter().collect();
    // Entries without a date keep their order.
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
