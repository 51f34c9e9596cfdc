//! [`read_files`]: parses files of a format, and splits or cuts text that is too large.

use super::format::Format;
use super::text::hash8;
use super::types::{Converted, ForeignFile, RejectedPart, TextFile};
use crate::entries::{ForeignEntry, MAX_CONTENT_BYTES, MAX_KEY_BYTES, MAX_TAG_BYTES, MAX_TAGS};
use saddlebag_collections::{part::TextPart, prelude::*};
use saddlebag_markdown::{head, heading};

/// Maximum size of a summary in bytes.
const MAX_SUMMARY_BYTES: usize = 1_024;

/// Maximum size of a kept field of another format, in bytes.
const MAX_KEPT_BYTES: usize = 2_048;

/// Mark that Windows programs put before the text of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Parses files of a format. Pure: the same files give the same entries.
///
/// `others` are paths of files that belong to the same memory but are not passed here.
pub fn read_files(format: Format, files: &[ForeignFile], others: &[String]) -> (Vec<ForeignEntry>, Vec<RejectedPart>) {
    let mut rejected = Vec::new();
    let mut texts = Vec::with_capacity(files.len());
    for ForeignFile { path, first_line, content } in files {
        let text = content.as_deref().map_err(Clone::clone).and_then(|bytes| {
            core::str::from_utf8(bytes)
                .map_err(|error| format!("it is not UTF-8 text: at byte {}", error.valid_up_to()))
        });
        match text {
            Ok(text) => {
                let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
                texts.push(TextFile { path, first_line: (*first_line).max(1), text });
            }
            Err(reason) => rejected.push(RejectedPart { path: path.clone(), line: 1, reason }),
        }
    }
    let mut converted = format.row().2.run(&texts, others);
    converted.rejected.splice(0..0, rejected);
    within_limits(converted)
}

/// Cuts, splits or drops entries over a limit, and reports each as a rejected part. Entries of our dump are unchanged.
fn within_limits(converted: Converted) -> (Vec<ForeignEntry>, Vec<RejectedPart>) {
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
