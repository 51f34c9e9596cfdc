//! Readers of the formats that are only imported: OpenClaw, ZeroClaw, NullClaw, Hermes, Gemini CLI, Letta and Codex.
//!
//! Each reader splits a file into records and says what becomes key, category, tags and text. Formats without keys get
//! keys from a digest of the text, or from its line if the text may change.

use serde_json::Value;

use super::claude_code::{self, Dialect};
use super::json::text_field;
use super::text::{base_name, body, bullet, hash8, heading_level, lines, short, slug, stem, text_of};
use super::types::{Converted, TextFile};
use crate::entries::ForeignEntry;
use crate::store::Date;
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{FenceTracker, Frontmatter, heading, list_item, parse_date, percent};

/// Length of a day such as `2026-11-27`.
const DAY_BYTES: usize = 10;

/// Returns level and title of a heading outside of code, and whether the line is code.
fn titled<'a>(line: &'a str, fences: &mut FenceTracker) -> (Option<(usize, &'a str)>, bool) {
    let is_code = fences.is_code(line);
    (heading(line).filter(|_| !is_code).map(|title| (heading_level(line), title)), is_code)
}

/// A text with its label and the number of its first line.
type Block<L> = (L, u32, String);

/// Begins a block with an item or any other line, or adds the line to the last block if that is still open.
fn add_line<L>(blocks: &mut Vec<Block<L>>, is_open: bool, label: L, number: u32, item: Option<&str>, line: &str) {
    match (item, blocks.last_mut().filter(|_| is_open)) {
        (None, Some((.., text))) => {
            text.push('\n');
            text.push_str(line.strip_prefix("  ").unwrap_or(line));
        }
        (item, _) => blocks.push((label, number, item.unwrap_or(line.trim()).into())),
    }
}

/// Reads a file of Hermes: texts between lines with `§`. Facts about the user are in a separate file.
pub(super) fn hermes(file: &TextFile<'_>, converted: &mut Converted) {
    let is_user = base_name(file.path) == "USER.md";
    let target = if is_user { "user" } else { "memory" };
    let text = file.text.replace("\r\n", "\n");
    let (mut start, mut lines) = (1_u32, Vec::new());
    // A `§` after the last line ends its text too.
    for (line, number) in text.lines().chain(["§"]).zip(1_u32..) {
        if line != "§" {
            lines.push(line);
            continue;
        }
        let part = core::mem::take(&mut lines).join("\n");
        if !part.trim().is_empty() {
            let entry = file.entry(start, format!("hermes_{target}_{}", hash8(&part)), "core", &part);
            let tags = is_user.then(|| "user-profile".to_string()).into_iter().collect();
            converted.entries.push(ForeignEntry { tags, ..entry });
        }
        start = number.saturating_add(1);
    }
}

/// Reads the memory of Gemini CLI: a section of `GEMINI.md`, and the private memory of a project.
pub(super) fn gemini(files: &[TextFile<'_>], others: &[String], converted: &mut Converted) {
    let (sections, of_project): (Vec<TextFile<'_>>, Vec<_>) =
        files.iter().partition(|file| base_name(file.path) == "GEMINI.md");
    claude_code::read(&of_project, others, &Dialect { prefix: "gemini", tag: "gemini" }, converted);
    for file in &sections {
        for ((), number, fact) in facts(file.text) {
            converted.entries.push(file.entry(number, format!("gemini_{}", hash8(&fact)), "core", &fact));
        }
    }
}

/// Returns the items of the section, and what else a person has written there. A formatter may have wrapped an item, and
/// an item may have others below it.
fn facts(text: &str) -> Vec<Block<()>> {
    let mut facts = Vec::new();
    let mut fences = FenceTracker::default();
    let (mut is_inside, mut is_open) = (false, false);
    for (line, number) in lines(text).into_iter().zip(1_u32..) {
        let (heading, is_code) = titled(line, &mut fences);
        if let Some((level, title)) = heading {
            is_inside = if level <= 2 { title == "Gemini Added Memories" } else { is_inside };
            is_open = false;
        } else if !is_inside || (!is_code && matches!(line.trim(), "" | "-" | "*" | "+")) {
            is_open = false;
        } else {
            let item = bullet(line).filter(|item| !is_code && !item.trim().is_empty());
            add_line(&mut facts, is_open || line.starts_with([' ', '\t']), (), number, item, line);
            is_open = true;
        }
    }
    facts
}

/// Reads a block of Letta's MemFS.
pub(super) fn letta(file: &TextFile<'_>, converted: &mut Converted) {
    let frontmatter = Frontmatter::parse(file.text);
    if let Some(problem) = &frontmatter.problem {
        return converted.reject(file, problem.line, problem.message.clone());
    }
    let key = file.path.strip_suffix(".md").unwrap_or(file.path);
    let is_system = file.path.starts_with("system/") || file.path.contains("/system/");
    let category = if is_system { "core" } else { "memfs" };
    converted.entries.push(ForeignEntry {
        tags: ["letta".to_string()].to_vec(),
        summary: text_of(&frontmatter, "description"),
        ..file.entry(1, key.into(), category, body(file.text, &frontmatter))
    });
}

/// Headings of Codex's `MEMORY.md` that contain knowledge, and their names in keys. Others keep their own name.
const KNOWLEDGE: [(&str, &str); 3] = [
    ("User preferences", "preferences"),
    ("Reusable knowledge", "knowledge"),
    ("Failures and how to do differently", "failures"),
];

/// Reads Codex's memories. The first line of the summary has the version of all files.
pub(super) fn codex(files: &[TextFile<'_>], _: &[String], converted: &mut Converted) {
    for file in files.iter().filter(|file| base_name(file.path) == "memory_summary.md") {
        let version = file.text.lines().next().unwrap_or_default().trim_end();
        if version != "v1" {
            let reason = format!("its version is `{}`, the supported version is `v1`", short(version));
            return converted.reject(file, 1, reason);
        }
    }
    files.iter().filter(|file| base_name(file.path) == "MEMORY.md").for_each(|file| codex_groups(file, converted));
}

/// A task group that is being read.
#[derive(Default)]
struct Group {
    slug: String,
    applies_to: Option<String>,
    keywords: Vec<String>,
    /// Bullets, labeled by section.
    bullets: Vec<Block<String>>,
}

fn codex_groups(file: &TextFile<'_>, converted: &mut Converted) {
    let mut group = Group::default();
    let mut section = Some("notes".to_string());
    let mut fences = FenceTracker::default();
    let (mut is_keywords, mut is_open, mut is_after_blank) = (false, false, false);
    for (line, number) in lines(file.text).into_iter().zip(1_u32..) {
        let (heading, is_code) = titled(line, &mut fences);
        // A paragraph or a table after a list is not a part of its last item.
        is_open &= !is_after_blank || is_code || line.trim().is_empty() || line.starts_with([' ', '\t']);
        is_after_blank = !is_code && line.trim().is_empty();
        if let Some((level, title)) = heading {
            is_open = false;
            is_keywords = title.eq_ignore_ascii_case("keywords");
            if level == 1 {
                group.finish(file, converted);
                let title = title.strip_prefix("Task Group:").unwrap_or(title).trim();
                group = Group { slug: slug(title), ..Group::default() };
            }
            if level <= 2 {
                section = match KNOWLEDGE.iter().find(|(name, _)| *name == title) {
                    Some((_, short)) => Some((*short).to_string()),
                    None if level == 1 || title.starts_with("Task Group:") => Some("notes".to_string()),
                    // These headings describe the sessions, not what was learned in them.
                    None if title.starts_with("Task ") => None,
                    None => Some(slug(title)),
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
        let item = item.filter(|item| !is_code && item.indent < 2 && !item.text.is_empty()).map(|item| item.text);
        if item.is_some() || is_code || !line.trim().is_empty() {
            add_line(&mut group.bullets, is_open, section, number, item, line);
            is_open = true;
        }
    }
    group.finish(file, converted);
}

impl Group {
    fn finish(&mut self, file: &TextFile<'_>, converted: &mut Converted) {
        let Self { slug, applies_to, keywords, bullets } = core::mem::take(self);
        let slug = if slug.is_empty() { "general".to_string() } else { slug };
        for (section, line, content) in bullets {
            let category = if section == "preferences" { "core" } else { "codex" };
            let key = format!("codex_{slug}_{section}_{}", hash8(&content));
            let tags = ["codex".to_string(), slug.clone()].into_iter().chain(keywords.iter().cloned()).collect();
            let entry = file.entry(line, key, category, &content);
            converted.entries.push(ForeignEntry { tags, summary: applies_to.clone(), ..entry });
        }
    }
}

pub(super) fn wants_openclaw(path: &str) -> bool {
    let is_log = |path: &str| path.ends_with(".md") && !path.contains('/');
    path.eq_ignore_ascii_case("MEMORY.md") || path.strip_prefix("memory/").is_some_and(is_log)
}

/// Returns the day in the name of a file, such as `2026-11-27-1514` or `journal-2026-11-27`.
pub(super) fn day_of(name: &str) -> Option<Date> {
    let bounded = |start: usize, end: usize| {
        let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        !is_digit(name.as_bytes().get(end)) && !start.checked_sub(1).is_some_and(|at| is_digit(name.as_bytes().get(at)))
    };
    let days = (0..name.len()).filter_map(|start| Some((start, name.get(start..start + DAY_BYTES)?)));
    days.filter(|(start, _)| bounded(*start, start + DAY_BYTES)).find_map(|(_, day)| Date::parse(day))
}

/// Item of OpenClaw that is being read: its key if it has one, its line, and its text so far.
struct Item {
    key: Option<String>,
    line: u32,
    text: String,
    is_paragraph: bool,
}

/// Reads OpenClaw's `MEMORY.md`, or the log of a day. A memory is a list item `- **key**: text`; further lines are indented
/// by two spaces. Headings below the first level are the tags of the items under them.
pub(super) fn openclaw(file: &TextFile<'_>, converted: &mut Converted) {
    let day = day_of(stem(file.path));
    let moment = day.and_then(|date| parse_date(&date.to_string()));
    let is_memory = base_name(file.path).eq_ignore_ascii_case("MEMORY.md");
    let named = if is_memory { "core" } else { stem(file.path) };
    let category = if day.is_some() { "daily" } else { "core" };
    // The file of a session has more in its name, and its items say what the session was.
    let has_keys = day.is_none() || Date::parse(stem(file.path)).is_some();
    let start = Frontmatter::parse(file.text).span.end;
    let skipped = file.text.get(..start).map_or(0, |head| head.matches('\n').count());
    let mut headings: Vec<(usize, String)> = Vec::new();
    let mut item: Option<Item> = None;
    let mut blank = 0;
    let mut fences = FenceTracker::default();
    let mut finish = |item: Option<Item>, headings: &[(usize, String)]| {
        let Some(Item { key, line, text, .. }) = item.filter(|item| !item.text.trim().is_empty()) else { return };
        converted.entries.push(ForeignEntry {
            is_positional: key.is_none(),
            tags: headings.iter().map(|(_, title)| title.clone()).collect(),
            created: moment,
            updated: moment,
            ..file.entry(line, key.unwrap_or_else(|| format!("openclaw_{named}_{line}")), category, &text)
        });
    };
    for (line, number) in lines(file.text).into_iter().zip(1_u32..).skip(skipped) {
        // Every line indented below an item is its text, whatever it looks like.
        if let Some(item) = item.as_mut().filter(|item| !item.is_paragraph)
            && let Some(inner) = line.strip_prefix("  ").or_else(|| line.strip_prefix('\t'))
        {
            (0..=blank).for_each(|_| item.text.push('\n'));
            item.text.push_str(inner);
            blank = 0;
            continue;
        }
        let (heading, is_code) = titled(line, &mut fences);
        if line.trim().is_empty() {
            match &mut item {
                Some(item) if is_code => item.text.push('\n'),
                _ => {
                    blank += 1;
                    finish(item.take_if(|item| item.is_paragraph), &headings);
                }
            }
            continue;
        }
        let bullet = bullet(line).filter(|_| !is_code);
        match (heading, bullet, &mut item) {
            (None, None, Some(item)) if item.is_paragraph && blank == 0 => {
                item.text.push('\n');
                item.text.push_str(line);
            }
            (None, bullet, _) => {
                finish(item.take(), &headings);
                let text = bullet.unwrap_or(line);
                item = Some(Item { is_paragraph: bullet.is_none(), ..Item::from_text(text, number, has_keys) });
            }
            (Some((level, title)), ..) => {
                finish(item.take(), &headings);
                headings.retain(|(above, _)| *above < level);
                if level > 1 && !title.is_empty() {
                    headings.push((level, title.to_string()));
                }
            }
        }
        blank = 0;
    }
    finish(item, &headings);
}

impl Item {
    fn from_text(text: &str, line: u32, has_keys: bool) -> Self {
        let keyed = text
            .strip_prefix("**")
            .filter(|_| has_keys)
            .and_then(|rest| rest.split_once("**:"))
            .filter(|(key, _)| !key.is_empty());
        let (key, text) = match keyed {
            Some((key, text)) => (Some(percent::decode(key).into_owned()), text.strip_prefix(' ').unwrap_or(text)),
            None => (None, text.trim_end()),
        };
        Self { key, line, text: text.to_string(), is_paragraph: false }
    }
}

/// First line of a snapshot of ZeroClaw.
const SNAPSHOT: &str = "# 🧠 ZeroClaw Memory Snapshot";
/// Beginning of the line that ends an entry.
const DATES: &str = "*Created: ";

/// Reads ZeroClaw's `MEMORY_SNAPSHOT.md`.
///
/// ZeroClaw's own reader would drop some lines of a content, or take them for the next entry. Some writers put a `\`
/// before such lines, which this reader removes. An entry ends at the last line of dates before the next heading, so
/// contents without the `\` are kept too.
pub(super) fn zeroclaw(file: &TextFile<'_>, converted: &mut Converted) {
    let lines = lines(file.text);
    let first = lines.iter().find(|line| !line.trim().is_empty()).copied().unwrap_or_default();
    if first.trim_end() != SNAPSHOT {
        let reason = format!("it is not a known snapshot: its first line is `{}`, not `{SNAPSHOT}`", short(first));
        return converted.reject(file, 1, reason);
    }
    let key_of = |line: &'_ str| -> Option<String> {
        line.trim_end().strip_prefix("### 🔑 `")?.strip_suffix('`').map(String::from)
    };
    let starts: Vec<(usize, String)> =
        lines.iter().zip(0..).filter_map(|(line, at)| Some((at, key_of(line)?))).collect();
    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([lines.len()]);
    let mut found = 0_usize;
    for ((start, key), next) in starts.iter().zip(ends) {
        let number = u32::try_from(start + 1).unwrap_or(u32::MAX);
        let block: Vec<&str> = lines.iter().copied().take(next).skip(start + 1).collect();
        let Some(end) = block.iter().rposition(|line| line.starts_with(DATES)) else {
            converted.reject(file, number, format!("`{}` has no line of dates: the file is incomplete", short(key)));
            continue;
        };
        found += 1;
        let (content, rest) = block.split_at_checked(end).unwrap_or_default();
        let content = content.strip_prefix(&[""]).unwrap_or(content);
        let content = content.strip_suffix(&[""]).unwrap_or(content);
        let content: Vec<&str> = content.iter().map(|line| unguarded(line)).collect();
        // `*Created: 2026-01-02T03:04:05Z | Updated: 2026-01-02T03:04:05Z*`
        let dates = rest.first().map_or("", |line| line.trim_end().trim_matches('*'));
        let (created, updated) = dates.split_once(" | Updated: ").unwrap_or((dates, ""));
        converted.entries.push(ForeignEntry {
            created: parse_date(created.strip_prefix("Created: ").unwrap_or_default()),
            updated: parse_date(updated),
            ..file.entry(number, percent::decode(key).into_owned(), "core", &content.join("\n"))
        });
    }
    let total = lines.iter().take(starts.first().map_or(lines.len(), |(start, _)| *start));
    let total = total.filter_map(|line| line.strip_prefix("**Total core memories:** "));
    if let Some(total) = total.filter_map(|total| total.trim().parse::<usize>().ok()).next().filter(|&it| it > found) {
        converted.reject(file, 1, format!("it claims {total} memories but has {found}: it is incomplete"));
    }
}

/// Removes the `\` before a line that would be dropped or taken for an entry.
fn unguarded(line: &str) -> &str {
    let bare = line.trim_start_matches('\\');
    let is_guarded = bare.trim() == "---" || bare.starts_with(DATES) || bare.starts_with("### 🔑");
    line.strip_prefix('\\').filter(|_| is_guarded).unwrap_or(line)
}

/// Reads NullClaw's `MEMORY_SNAPSHOT.json`.
pub(super) fn nullclaw(file: &TextFile<'_>, converted: &mut Converted) {
    match serde_json::from_str(file.text) {
        Ok(Value::Array(items)) => {
            for (item, number) in items.iter().zip(1_usize..) {
                match nullclaw_entry(file, item) {
                    Ok(entry) => converted.entries.push(entry),
                    Err(reason) => converted.reject(file, 1, format!("memory {number}: {reason}")),
                }
            }
        }
        Ok(_) => converted.reject(file, 1, "it is not a known snapshot: an array of memories is expected".into()),
        Err(error) => {
            let line = u32::try_from(error.line()).unwrap_or(1);
            converted.reject(file, line, format!("it is not valid JSON, or incomplete: {error}"));
        }
    }
}

fn nullclaw_entry(file: &TextFile<'_>, item: &Value) -> Result<ForeignEntry, String> {
    // Large numbers are milliseconds: as seconds they would be far in the future.
    let from_number =
        |number: u64| number.checked_mul(if number > 100_000_000_000 { 1_000_000 } else { 1_000_000_000 });
    let moment = match item.get("timestamp") {
        Some(Value::Number(number)) => number.as_u64().and_then(from_number),
        Some(Value::String(text)) => text.trim().parse().ok().and_then(from_number).or_else(|| parse_date(text)),
        _ => None,
    };
    let key = text_field(item, "key")?.ok_or("it has no `key`")?;
    let content = text_field(item, "content")?.ok_or("it has no `content`")?;
    let category = text_field(item, "category")?.unwrap_or_else(|| "core".into());
    Ok(ForeignEntry { created: moment, updated: moment, ..file.entry(1, key, &category, &content) })
}
