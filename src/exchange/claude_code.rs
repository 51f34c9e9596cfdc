//! Claude Code's auto memory: a file per topic, and the index `MEMORY.md`, which is always loaded.
//!
//! Gemini CLI keeps the private memory of a project in the same format.

use super::text::{
    base_name, body, file_name, hook, is_safe_path, lines, lines_below, list_of, one_line, slug, stem, text_of,
    unknown_fields, yaml_of,
};
use super::types::{Converted, Output, TextFile};
use crate::entries::ForeignEntry;
use crate::store::utc_text;
use saddlebag_collections::{
    order,
    prelude::*,
    sorted::{SortedMap, SortedSet},
};
use saddlebag_markdown::{FenceTracker, Frontmatter, Value, head, heading, parse_date, yaml_scalar, yaml_string};

/// File name of the index.
const INDEX: &str = "MEMORY.md";
/// Part of the index that is loaded, in lines and in bytes.
const INDEX_LINES: usize = 200;
const INDEX_BYTES: usize = 25_000;
/// Heading of the index that the export writes.
const TITLE: &str = "# Memory";
/// Start and end of the last line of an index that does not list everything.
const UNLISTED: (&str, &str) = ("<!-- ", " more memories are in this folder and not listed here -->");
/// Fields of a topic, and of its `metadata`, that become fields of the entry.
const FIELDS: [&str; 4] = ["name", "description", "type", "metadata"];
const METADATA_FIELDS: [&str; 7] = ["type", "key", "category", "tags", "created", "updated", "supersedes"];
/// Kept fields: file of the topic, title, text and heading of its line in the index, unknown fields of its frontmatter.
const FROM_FILE: &str = "from_file";
const FROM_TITLE: &str = "from_index_title";
const FROM_HOOK: &str = "from_index_text";
const FROM_SECTION: &str = "from_index_heading";
const FROM_FRONTMATTER: &str = "from_frontmatter";
const FROM_METADATA: &str = "from_metadata";
/// Prefix of the keys and tag of the entries.
pub(super) const CLAUDE_CODE: Dialect = Dialect { prefix: "claude_code", tag: "claude-code" };

/// Agent that owns the files.
pub(super) struct Dialect {
    /// Prefix of generated keys.
    pub(super) prefix: &'static str,
    /// Tag of the entries that the agent itself wrote.
    pub(super) tag: &'static str,
}

pub(super) fn read_own(files: &[TextFile<'_>], others: &[String], converted: &mut Converted) {
    read(files, others, &CLAUDE_CODE, converted);
}

pub(super) fn read(files: &[TextFile<'_>], others: &[String], dialect: &Dialect, converted: &mut Converted) {
    let mut listings: SortedMap<String, Listing> = SortedMap::default();
    for file in files.iter().filter(|file| base_name(file.path) == INDEX) {
        let has = |path: &str| files.iter().any(|file| file.path == path) || others.iter().any(|other| other == path);
        read_index(file, dialect, &has, &mut listings, converted);
    }
    for file in files.iter().filter(|file| base_name(file.path) != INDEX) {
        read_topic(file, dialect, listings.get(file.path), converted);
    }
}

/// Line of the index that leads to a topic.
struct Listing {
    title: String,
    hook: String,
    /// Heading above the line, with its marks.
    section: Option<String>,
}

impl Listing {
    /// Returns the parts that an export would not generate for the entry.
    fn kept(&self, entry: &ForeignEntry) -> Vec<(String, String)> {
        let mut kept = Vec::new();
        let mut keep = |name: &str, value: &str| kept.push((name.to_string(), value.to_string()));
        if self.title != shown_title(entry) {
            keep(FROM_TITLE, &self.title);
        }
        if self.hook != shown_hook(entry) {
            keep(FROM_HOOK, &self.hook);
        }
        if let Some(section) = &self.section {
            keep(FROM_SECTION, section);
        }
        kept
    }
}

fn read_index(
    file: &TextFile<'_>,
    dialect: &Dialect,
    has: &dyn Fn(&str) -> bool,
    listings: &mut SortedMap<String, Listing>,
    converted: &mut Converted,
) {
    let folder = file.path.strip_suffix(INDEX).unwrap_or_default();
    let (mut rest, mut first): (Vec<&str>, u32) = (Vec::new(), 0);
    // The last heading belongs to the list or to the text below it.
    let (mut section, mut waiting): (Option<&str>, Option<(u32, &str)>) = (None, None);
    let mut fences = FenceTracker::default();
    for (line, number) in lines(file.text).into_iter().zip(1_u32..) {
        let is_code = fences.is_code(line);
        if !is_code && heading(line).is_some() {
            keep_heading(waiting.take(), &mut rest, &mut first);
            (section, waiting) = (Some(line.trim()).filter(|line| *line != TITLE), Some((number, line)));
            continue;
        }
        let Some(Listed { title, target, hook }) = Listed::from_line(line).filter(|_| !is_code) else {
            let is_own = line.starts_with(UNLISTED.0) && line.ends_with(UNLISTED.1);
            let is_text = !line.trim().is_empty();
            if !is_own && (is_text || !rest.is_empty()) {
                keep_heading(waiting.take().filter(|_| is_text), &mut rest, &mut first);
                first = if rest.is_empty() { number } else { first };
                rest.push(line);
            }
            continue;
        };
        waiting = None;
        let path = format!("{folder}{}", target.strip_prefix("./").unwrap_or(target));
        let listing = Listing { title: title.into(), hook: hook.into(), section: section.map(String::from) };
        if has(&path) {
            listings.insert(path, listing);
            continue;
        }
        let text = if hook.is_empty() { title } else { hook };
        let mut entry = ForeignEntry {
            tags: [dialect.tag.to_string()].to_vec(),
            ..file.entry(number, format!("{}_{}", dialect.prefix, slug(title)), "core", text)
        };
        entry.kept = listing.kept(&entry);
        entry.kept.insert(0, (FROM_FILE.into(), path));
        converted.entries.push(entry);
    }
    keep_heading(waiting, &mut rest, &mut first);
    let rest = rest.join("\n");
    if !rest.trim().is_empty() {
        converted.entries.push(ForeignEntry {
            tags: [dialect.tag.to_string()].to_vec(),
            kept: [(FROM_FILE.to_string(), file.path.to_string())].to_vec(),
            ..file.entry(first, format!("{}_memory", dialect.prefix), "core", rest.trim_end())
        });
    }
}

fn keep_heading<'a>(heading: Option<(u32, &'a str)>, rest: &mut Vec<&'a str>, first: &mut u32) {
    if let Some((number, line)) = heading.filter(|(_, line)| line.trim() != TITLE) {
        *first = if rest.is_empty() { number } else { *first };
        rest.push(line);
    }
}

/// A line of the index.
struct Listed<'a> {
    title: &'a str,
    target: &'a str,
    hook: &'a str,
}

impl<'a> Listed<'a> {
    fn from_line(line: &'a str) -> Option<Self> {
        let (title, rest) = line.trim_start().strip_prefix("- [")?.split_once("](")?;
        let (target, rest) = rest.split_once(')')?;
        if !target.ends_with(".md") || target.starts_with('/') || target.contains("://") || target.contains("..") {
            return None;
        }
        let hook = rest.trim().trim_start_matches(['—', '–', '-', ':']).trim();
        Some(Self { title: title.trim(), target, hook })
    }
}

fn read_topic(file: &TextFile<'_>, dialect: &Dialect, listed: Option<&Listing>, converted: &mut Converted) {
    let frontmatter = Frontmatter::parse(file.text);
    if let Some(problem) = &frontmatter.problem {
        return converted.reject(file, problem.line, problem.message.clone());
    }
    let own = |name: &str| match frontmatter.value("metadata") {
        Some(Value::Map(fields)) => fields.iter().find(|(field, _)| field == name).map(|(_, value)| value),
        _ => None,
    };
    let own_text = |name: &str| own(name).and_then(Value::text).filter(|text| !text.is_empty());
    let kind = own_text("type").or_else(|| text_of(&frontmatter, "type"));
    let tags = match own("tags") {
        Some(tags) => list_of(tags),
        None => core::iter::once(dialect.tag.into()).chain(kind.map(|kind| format!("type:{kind}"))).collect(),
    };
    let content = body(file.text, &frontmatter);
    let described = text_of(&frontmatter, "description")
        .or_else(|| listed.map(|listed| listed.hook.clone()).filter(|hook| !hook.is_empty()));
    let key = own_text("key").or_else(|| text_of(&frontmatter, "name"));
    let mut entry = ForeignEntry {
        key: key.unwrap_or_else(|| stem(file.path).into()),
        category: own_text("category").unwrap_or_else(|| "core".into()),
        tags,
        content: content.into(),
        summary: described.filter(|summary| *summary != hook(content)),
        supersedes: own_text("supersedes"),
        created: own_text("created").as_deref().and_then(parse_date),
        updated: own_text("updated").as_deref().and_then(parse_date),
        ..file.at(1)
    };
    entry.kept = listed.map(|listed| listed.kept(&entry)).unwrap_or_default();
    let mut keep = |name: &str, value: String| entry.kept.push((name.into(), value));
    if file.path != topic_file(&entry.key) {
        keep(FROM_FILE, file.path.into());
    }
    let yaml = yaml_of(file.text, &frontmatter);
    let metadata = match lines_below(yaml, "metadata") {
        Some(lines) => unknown_fields(lines, &METADATA_FIELDS),
        None => {
            converted.reject(file, 1, "fields of `metadata` in braces that entries do not have are left out".into());
            String::new()
        }
    };
    for (name, lines) in [(FROM_METADATA, metadata), (FROM_FRONTMATTER, unknown_fields(yaml, &FIELDS))] {
        if !lines.is_empty() {
            keep(name, lines);
        }
    }
    converted.entries.push(entry);
}

pub(super) fn export(entries: &[ForeignEntry]) -> Output {
    let mut exported = Output::default();
    let mut listed: Vec<&ForeignEntry> = entries.iter().collect();
    let rank = |entry: &ForeignEntry| (entry.category != "core", core::cmp::Reverse(entry.updated));
    order::sort_slice(&mut listed, |a, b| (rank(a), &a.key).cmp(&(rank(b), &b.key)));
    let text = listed.iter().position(|entry| is_index_text(entry)).map(|at| listed.remove(at));
    let mut taken: SortedSet<String> = listed.iter().map(|entry| topic_file(&entry.key)).collect();
    let files: Vec<String> = listed.iter().map(|entry| path_of(entry, &mut taken)).collect();
    exported.file(INDEX.into(), index(text, &by_section(listed.iter().copied().zip(files.iter().map(String::as_str)))));
    for (entry, file) in listed.into_iter().zip(files) {
        exported.file(file, topic(entry));
    }
    exported
}

fn topic_file(key: &str) -> String {
    format!("{}.md", file_name(key))
}

/// Returns the file that the entry was imported from, because links lead there, or one that is named after its key.
fn path_of(entry: &ForeignEntry, taken: &mut SortedSet<String>) -> String {
    let own = topic_file(&entry.key);
    let from = entry.kept(FROM_FILE).filter(|path| is_safe_path(path) && base_name(path) != INDEX);
    match from.filter(|path| taken.insert(path.to_lowercase())) {
        Some(path) => path.into(),
        None => own,
    }
}

/// Returns true if the entry is the text of an index, and is read as the same entry when it is written there again.
fn is_index_text(entry: &ForeignEntry) -> bool {
    if entry.kept(FROM_FILE) != Some(INDEX) || entry.content.len() > INDEX_BYTES / 2 {
        return false;
    }
    let text = format!("{TITLE}\n\n{}\n", entry.content);
    let file = TextFile { path: INDEX, first_line: 1, text: &text };
    let mut converted = Converted::default();
    read_index(&file, &CLAUDE_CODE, &|_| false, &mut SortedMap::default(), &mut converted);
    let [back] = converted.entries.as_slice() else { return false };
    back.key == entry.key
        && (&back.content, &back.tags, &back.category, &back.summary, &back.supersedes)
            == (&entry.content, &entry.tags, &entry.category, &entry.summary, &entry.supersedes)
        && entry.content.lines().count() <= INDEX_LINES / 2
}

/// Heading of the index, with the entries below it and their files.
type Section<'e> = (Option<&'e str>, Vec<(&'e ForeignEntry, &'e str)>);

/// Groups entries by their heading in the index: those without one first.
fn by_section<'e>(entries: impl Iterator<Item = (&'e ForeignEntry, &'e str)>) -> Vec<Section<'e>> {
    let mut sections: Vec<Section<'_>> = [(None, Vec::new())].to_vec();
    for (entry, file) in entries {
        let section = entry.kept(FROM_SECTION).filter(|line| heading(line).is_some() && !line.contains('\n'));
        match sections.iter_mut().find(|(known, _)| *known == section) {
            Some((_, listed)) => listed.push((entry, file)),
            None => sections.push((section, [(entry, file)].to_vec())),
        }
    }
    sections
}

/// Renders the part of the index that is loaded. Its last line gives the number of entries that are not in it.
fn index(text: Option<&ForeignEntry>, sections: &[Section<'_>]) -> String {
    let mut index = format!("{TITLE}\n\n");
    let mut left: usize = sections.iter().map(|(_, listed)| listed.len()).sum();
    // The text comes last, so that its headings are not taken for headings of the list.
    let text = text.map(|entry| format!("\n{}\n", entry.content)).unwrap_or_default();
    let mut lines = 2 + text.lines().count();
    'sections: for (section, listed) in sections {
        let mut above = section.map(|section| format!("\n{section}\n\n")).unwrap_or_default();
        for (entry, file) in listed {
            let line = format!("{above}- [{}]({file}) — {}\n", index_title(entry), index_hook(entry));
            // Reserves room for the last line as long as it may be needed.
            let reserved = if left > 1 { 80 } else { 0 };
            lines += line.matches('\n').count();
            if lines + usize::from(left > 1) > INDEX_LINES
                || index.len() + text.len() + line.len() + reserved > INDEX_BYTES
            {
                index.push_str(&format!("{}{left}{}\n", UNLISTED.0, UNLISTED.1));
                break 'sections;
            }
            index.push_str(&line);
            above.clear();
            left -= 1;
        }
    }
    index + &text
}

/// Returns the title that the entry had in an index, or the one that is made of its key.
fn index_title(entry: &ForeignEntry) -> String {
    let kept = entry.kept(FROM_TITLE).filter(|title| !title.contains(['\n', '[', ']', '(', ')']));
    kept.map_or_else(|| shown_title(entry), String::from)
}

fn shown_title(entry: &ForeignEntry) -> String {
    let title: String = one_line(&entry.key).replace(['[', ']', '(', ')'], " ");
    head(title.trim(), 60).trim().into()
}

/// Returns the text that the entry had in an index, as long as it has not been changed since.
fn index_hook(entry: &ForeignEntry) -> String {
    let kept = entry.kept(FROM_HOOK).filter(|hook| entry.is_as_imported() && !hook.contains('\n'));
    kept.map_or_else(|| shown_hook(entry), String::from)
}

fn shown_hook(entry: &ForeignEntry) -> String {
    let hook = hook(entry.summary.as_deref().unwrap_or(&entry.content));
    hook.trim_start_matches(['—', '–', '-', ':']).trim().into()
}

fn topic(entry: &ForeignEntry) -> String {
    let is_name = !entry.key.contains(char::is_control) && entry.key.trim() == entry.key && !entry.key.is_empty();
    let name = if is_name { entry.key.clone() } else { file_name(&entry.key) };
    let described = entry.summary.clone().unwrap_or_else(|| hook(&entry.content));
    let kind = entry.tags.iter().find_map(|tag| tag.strip_prefix("type:")).unwrap_or("project");
    let mut text = format!("---\nname: {}\ndescription: {}\nmetadata:\n", yaml_scalar(&name), yaml_string(&described));
    let mut add = |field: &str, value: &str| text.push_str(&format!("  {field}: {value}\n"));
    add("type", &yaml_scalar(kind));
    if name != entry.key {
        add("key", &yaml_string(&entry.key));
    }
    if entry.category != "core" {
        add("category", &yaml_scalar(&entry.category));
    }
    let tags: Vec<String> = entry.tags.iter().map(|tag| yaml_string(tag)).collect();
    add("tags", &format!("[{}]", tags.join(", ")));
    for (field, moment) in [("created", entry.created), ("updated", entry.updated)] {
        if let Some(moment) = moment {
            add(field, &utc_text(moment));
        }
    }
    if let Some(supersedes) = &entry.supersedes {
        add("supersedes", &yaml_string(supersedes));
    }
    for (field, indent) in [(FROM_METADATA, "  "), (FROM_FRONTMATTER, "")] {
        let is_fence = |line: &str| line.starts_with("---") || line.starts_with("...");
        let lines = entry.kept(field).unwrap_or_default().lines();
        lines.filter(|line| !is_fence(line)).for_each(|line| text.push_str(&format!("{indent}{line}\n")));
    }
    text.push_str("---\n\n");
    text.push_str(&entry.content);
    text.push('\n');
    text
}
