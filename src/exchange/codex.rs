//! Codex's memories.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::text::{base_name, hash8, heading_level, lines, slug};
use super::types::{Converted, TextFile};
use crate::document::{FenceTracker, heading, list_item};
use crate::entries::ForeignEntry;

/// Start of the headings of Codex's `MEMORY.md` that describe the sessions, not what was learned in them.
const BOOKKEEPING: &str = "Task ";

/// Headings of Codex's `MEMORY.md` that contain knowledge, and their names in keys. Others keep their own name.
const KNOWLEDGE: [(&str, &str); 3] = [
    ("User preferences", "preferences"),
    ("Reusable knowledge", "knowledge"),
    ("Failures and how to do differently", "failures"),
];

/// First line of Codex's summary.
const CODEX_VERSION: &str = "v1";

pub(super) fn import(files: &[TextFile<'_>]) -> Converted {
    let mut converted = Converted::default();
    for file in files.iter().filter(|file| base_name(file.path) == "memory_summary.md") {
        let version = file.text.lines().next().unwrap_or_default().trim_start_matches('\u{feff}').trim_end();
        if version != CODEX_VERSION {
            let shown = crate::document::head(version, 60).escape_debug();
            let reason = format!("its version is `{shown}`, the supported version is `{CODEX_VERSION}`");
            converted.reject(file, 1, reason);
            return converted;
        }
    }
    for file in files.iter().filter(|file| base_name(file.path) == "MEMORY.md") {
        read_codex(file, &mut converted);
    }
    converted
}

/// A task group that is being read.
#[derive(Default)]
struct Group {
    slug: String,
    applies_to: Option<String>,
    keywords: Vec<String>,
    /// Bullets, each with section, line and text.
    bullets: Vec<(String, u32, String)>,
}

fn read_codex(file: &TextFile<'_>, converted: &mut Converted) {
    let mut group = Group::default();
    let mut section = Some("notes".to_string());
    let mut is_keywords = false;
    let mut fences = FenceTracker::default();
    // Whether the last bullet goes on.
    let mut is_open = false;
    for (line, number) in lines(file.text).into_iter().zip(1_u32..) {
        let is_code = fences.is_code(line);
        if let Some(title) = heading(line).filter(|_| !is_code) {
            is_open = false;
            is_keywords = title.eq_ignore_ascii_case("keywords");
            let level = heading_level(line);
            if level == 1 {
                group.finish(file, converted);
                let title = title.strip_prefix("Task Group:").unwrap_or(title).trim();
                group = Group { slug: slug(title), ..Group::default() };
            }
            if level <= 2 {
                let known = KNOWLEDGE.iter().find(|(name, _)| *name == title).map(|(_, short)| (*short).to_string());
                let is_group = level == 1 || title.starts_with("Task Group:");
                section = match known {
                    None if is_group => Some("notes".to_string()),
                    None if title.starts_with(BOOKKEEPING) => None,
                    known => Some(known.unwrap_or_else(|| slug(title))),
                };
            }
            continue;
        }
        if let Some(rest) = line.strip_prefix("applies_to:").filter(|_| !is_code) {
            group.applies_to = Some(rest.trim().to_string());
            continue;
        }
        if line.starts_with("scope:") && group.bullets.is_empty() && !is_code {
            continue;
        }
        let item = list_item(line);
        if is_keywords {
            let words = item.map_or(line, |item| item.text).split(',').map(|word| word.trim().trim_matches('`'));
            group.keywords.extend(words.filter(|word| !word.is_empty()).map(String::from));
            continue;
        }
        let Some(section) = section.clone() else { continue };
        let item = item.filter(|item| !is_code && item.indent < 2 && !item.text.is_empty());
        match (item, group.bullets.last_mut().filter(|_| is_open)) {
            (Some(item), _) => group.bullets.push((section, number, item.text.into())),
            (None, _) if line.trim().is_empty() && !is_code => continue,
            // An indented line, or a continued paragraph, belongs to the bullet above.
            (None, Some((_, _, text))) => {
                text.push('\n');
                text.push_str(line.strip_prefix("  ").unwrap_or(line));
            }
            (None, None) => group.bullets.push((section, number, line.trim().into())),
        }
        is_open = true;
    }
    group.finish(file, converted);
}

impl Group {
    fn finish(&mut self, file: &TextFile<'_>, converted: &mut Converted) {
        let Self { slug, applies_to, keywords, bullets } = core::mem::take(self);
        let slug = if slug.is_empty() { "general".to_string() } else { slug };
        for (section, line, content) in bullets {
            let is_preference = section == "preferences";
            let mut tags = ["codex".to_string(), slug.clone()].to_vec();
            tags.extend(keywords.iter().cloned());
            converted.entries.push(ForeignEntry {
                key: format!("codex_{slug}_{section}_{}", hash8(&content)),
                category: if is_preference { "core" } else { "codex" }.into(),
                tags,
                content,
                summary: applies_to.clone(),
                ..file.at(line)
            });
        }
    }
}
