//! Formats without keys: the two files of Hermes, and the section of Gemini CLI.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::claude_code::{self, Dialect};
use super::text::{base_name, bullet, hash8, heading_level, lines};
use super::types::{Converted, TextFile};
use crate::document::{FenceTracker, heading};
use crate::entries::ForeignEntry;

/// Separator between two entries of Hermes.
const BETWEEN: &str = "\n§\n";
/// Tag of facts about the user, which Hermes keeps in a separate file.
const USER_TAG: &str = "user-profile";

const GEMINI: Dialect = Dialect { prefix: "gemini", tag: "gemini" };
const SECTION: &str = "Gemini Added Memories";

pub(super) fn import_hermes(files: &[TextFile<'_>]) -> Converted {
    let mut converted = Converted::default();
    for file in files {
        let is_user = base_name(file.path) == "USER.md";
        let target = if is_user { "user" } else { "memory" };
        let text = file.text.strip_prefix('\u{feff}').unwrap_or(file.text).replace("\r\n", "\n");
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let mut line = 1;
        for part in text.split(BETWEEN) {
            let breaks = u32::try_from(part.matches('\n').count()).unwrap_or(u32::MAX);
            if !part.trim().is_empty() {
                converted.entries.push(ForeignEntry {
                    key: format!("hermes_{target}_{}", hash8(part)),
                    category: "core".into(),
                    tags: is_user.then(|| USER_TAG.to_string()).into_iter().collect(),
                    content: part.into(),
                    ..file.at(line)
                });
            }
            line = line.saturating_add(breaks).saturating_add(2);
        }
    }
    converted
}

pub(super) fn import_gemini(files: &[TextFile<'_>], others: &[String]) -> Converted {
    let is_section = |file: &TextFile<'_>| base_name(file.path) == "GEMINI.md";
    let of_project: Vec<TextFile<'_>> = files.iter().filter(|file| !is_section(file)).copied().collect();
    let mut converted = claude_code::import(&of_project, others, &GEMINI);
    for file in files.iter().filter(|file| is_section(file)) {
        for (number, fact) in facts(file.text) {
            converted.entries.push(ForeignEntry {
                key: format!("gemini_{}", hash8(&fact)),
                category: "core".into(),
                content: fact,
                ..file.at(number)
            });
        }
    }
    converted
}

/// Returns the items of the section, and what else a person has written there, each with the number of its first line. A
/// formatter may have wrapped an item, and an item may have others below it.
fn facts(text: &str) -> Vec<(u32, String)> {
    let mut facts: Vec<(u32, String)> = Vec::new();
    let mut fences = FenceTracker::default();
    let (mut is_inside, mut is_open) = (false, false);
    for (line, number) in lines(text).into_iter().zip(1_u32..) {
        let is_code = fences.is_code(line);
        if let Some(title) = heading(line).filter(|_| !is_code) {
            is_inside = if heading_level(line) <= 2 { title == SECTION } else { is_inside };
            is_open = false;
            continue;
        }
        if !is_inside || (!is_code && matches!(line.trim(), "" | "-" | "*" | "+")) {
            is_open = false;
            continue;
        }
        let item = bullet(line).filter(|item| !is_code && !item.trim().is_empty());
        match (item, facts.last_mut().filter(|_| is_open || line.starts_with([' ', '\t']))) {
            (None, Some((_, fact))) => {
                fact.push('\n');
                fact.push_str(line.strip_prefix("  ").unwrap_or(line));
            }
            (item, _) => facts.push((number, item.unwrap_or(line.trim()).into())),
        }
        is_open = true;
    }
    facts
}
