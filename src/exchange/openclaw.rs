//! OpenClaw's workspace: `MEMORY.md`, and a log per day in `memory/`.
//!
//! A memory is a list item `- **key**: text`; further lines are indented by two spaces. Headings below the first level
//! are the tags of the items under them.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::text::{base_name, bullet, heading_level, lines, stem};
use super::types::{Converted, TextFile};
use crate::document::{FenceTracker, heading, parse_date};
use crate::entries::ForeignEntry;
use crate::percent;
use crate::store::Date;

pub(super) fn wants(path: &str) -> bool {
    let is_log = |path: &str| path.ends_with(".md") && !path.contains('/');
    path.eq_ignore_ascii_case("MEMORY.md") || path.strip_prefix("memory/").is_some_and(is_log)
}

pub(super) fn import(files: &[TextFile<'_>]) -> Converted {
    Converted::of(files, read)
}

/// Item that is being read: its key if it has one, its line, and its text so far.
struct Item {
    key: Option<String>,
    line: u32,
    text: String,
    is_paragraph: bool,
}

fn read(file: &TextFile<'_>, converted: &mut Converted) {
    let day = Date::parse(stem(file.path)).map(|date| date.to_string());
    let is_memory = base_name(file.path).eq_ignore_ascii_case("MEMORY.md");
    let named = if is_memory { "core" } else { stem(file.path) };
    let mut headings: Vec<(usize, String)> = Vec::new();
    let mut item: Option<Item> = None;
    let mut blank = 0;
    let mut fences = FenceTracker::default();
    let mut finish = |item: Option<Item>, headings: &[(usize, String)]| {
        let Some(Item { key, line, text, .. }) = item else { return };
        if text.trim().is_empty() {
            return;
        }
        let moment = day.as_deref().and_then(parse_date);
        converted.entries.push(ForeignEntry {
            is_positional: key.is_none(),
            key: key.unwrap_or_else(|| format!("openclaw_{named}_{line}")),
            category: if day.is_some() { "daily" } else { "core" }.into(),
            tags: headings.iter().map(|(_, title)| title.clone()).collect(),
            content: text,
            created: moment,
            updated: moment,
            ..file.at(line)
        });
    };
    for (line, number) in lines(file.text).into_iter().zip(1_u32..) {
        // Every line indented below an item is its text, whatever it looks like.
        let inner = item
            .as_ref()
            .filter(|item| !item.is_paragraph)
            .and_then(|_| line.strip_prefix("  ").or_else(|| line.strip_prefix('\t')));
        if let (Some(inner), Some(item)) = (inner, &mut item) {
            (0..=blank).for_each(|_| item.text.push('\n'));
            item.text.push_str(inner);
            blank = 0;
            continue;
        }
        let is_code = fences.is_code(line);
        if line.trim().is_empty() {
            if let (true, Some(item)) = (is_code, &mut item) {
                item.text.push('\n');
                continue;
            }
            blank += 1;
            if item.as_ref().is_some_and(|item| item.is_paragraph) {
                finish(item.take(), &headings);
            }
            continue;
        }
        let title = heading(line).filter(|_| !is_code);
        let bullet = bullet(line).filter(|_| !is_code);
        match (title, bullet, &mut item) {
            (Some(title), _, _) => {
                finish(item.take(), &headings);
                let level = heading_level(line);
                headings.retain(|(above, _)| *above < level);
                if level > 1 && !title.is_empty() {
                    headings.push((level, title.to_string()));
                }
            }
            (None, Some(text), _) => {
                finish(item.take(), &headings);
                item = Some(Item::from_text(text, number));
            }
            (None, None, Some(item)) if item.is_paragraph && blank == 0 => {
                item.text.push('\n');
                item.text.push_str(line);
            }
            (None, None, _) => {
                finish(item.take(), &headings);
                item = Some(Item { is_paragraph: true, ..Item::from_text(line, number) });
            }
        }
        blank = 0;
    }
    finish(item, &headings);
}

impl Item {
    fn from_text(text: &str, line: u32) -> Self {
        let keyed = text.strip_prefix("**").and_then(|rest| rest.split_once("**:"));
        match keyed.filter(|(key, _)| !key.is_empty()) {
            Some((key, text)) => {
                let text = text.strip_prefix(' ').unwrap_or(text).to_string();
                Self { key: Some(percent::decode(key).into_owned()), line, text, is_paragraph: false }
            }
            None => Self { key: None, line, text: text.trim_end().to_string(), is_paragraph: false },
        }
    }
}
