//! Claude Code's auto memory: a file per topic, and the index `MEMORY.md`, which is always loaded.
//!
//! Gemini CLI keeps the private memory of a project in the same format.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::text::{base_name, body, file_name, hook, lines, list_of, slug, stem, text_of};
use super::types::{Converted, Exported, TextFile};
use crate::document::{Frontmatter, Value, head, parse_date, yaml_scalar, yaml_string};
use crate::entries::ForeignEntry;
use crate::order;
use crate::sorted::SortedMap;
use crate::store::utc_text;

/// File name of the index.
const INDEX: &str = "MEMORY.md";
/// Part of the index that is loaded, in lines and in bytes.
const INDEX_LINES: usize = 200;
const INDEX_BYTES: usize = 25_000;
/// Prefix of the keys and tag of the entries.
pub(super) const CLAUDE_CODE: Dialect = Dialect { prefix: "claude_code", tag: "claude-code" };

/// Agent that owns the files.
pub(super) struct Dialect {
    /// Prefix of generated keys.
    pub(super) prefix: &'static str,
    /// Tag of the entries that the agent itself wrote.
    pub(super) tag: &'static str,
}

pub(super) fn import(files: &[TextFile<'_>], others: &[String], dialect: &Dialect) -> Converted {
    let mut converted = Converted::default();
    let mut hooks: SortedMap<String, String> = SortedMap::default();
    for file in files.iter().filter(|file| base_name(file.path) == INDEX) {
        let has = |path: &str| files.iter().any(|file| file.path == path) || others.iter().any(|other| other == path);
        read_index(file, dialect, &has, &mut hooks, &mut converted);
    }
    for file in files.iter().filter(|file| base_name(file.path) != INDEX) {
        read_topic(file, dialect, hooks.get(file.path), &mut converted);
    }
    converted
}

fn read_index(
    file: &TextFile<'_>,
    dialect: &Dialect,
    has: &dyn Fn(&str) -> bool,
    hooks: &mut SortedMap<String, String>,
    converted: &mut Converted,
) {
    let folder = file.path.strip_suffix(INDEX).unwrap_or_default();
    let mut rest: Vec<&str> = Vec::new();
    let mut first = 0;
    for (line, number) in lines(file.text).into_iter().zip(1_u32..) {
        let Some(Listed { title, target, hook }) = Listed::from_line(line) else {
            let is_text = crate::document::heading(line).is_none() && !line.trim_start().starts_with("<!--");
            if is_text && (!rest.is_empty() || !line.trim().is_empty()) {
                first = if rest.is_empty() { number } else { first };
                rest.push(line);
            }
            continue;
        };
        let path = format!("{folder}{}", target.strip_prefix("./").unwrap_or(target));
        if has(&path) {
            hooks.insert(path, hook.into());
            continue;
        }
        converted.entries.push(ForeignEntry {
            key: format!("{}_{}", dialect.prefix, slug(title)),
            category: "core".into(),
            tags: [dialect.tag.to_string()].to_vec(),
            content: if hook.is_empty() { title.into() } else { hook.into() },
            ..file.at(number)
        });
    }
    let rest = rest.join("\n");
    if !rest.trim().is_empty() {
        converted.entries.push(ForeignEntry {
            key: format!("{}_memory", dialect.prefix),
            category: "core".into(),
            tags: [dialect.tag.to_string()].to_vec(),
            content: rest.trim_end().into(),
            ..file.at(first)
        });
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

fn read_topic(file: &TextFile<'_>, dialect: &Dialect, listed: Option<&String>, converted: &mut Converted) {
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
    let described = text_of(&frontmatter, "description").or_else(|| listed.filter(|hook| !hook.is_empty()).cloned());
    let key = own_text("key").or_else(|| text_of(&frontmatter, "name"));
    converted.entries.push(ForeignEntry {
        key: key.unwrap_or_else(|| stem(file.path).into()),
        category: own_text("category").unwrap_or_else(|| "core".into()),
        tags,
        content: content.into(),
        summary: described.filter(|summary| *summary != hook(content)),
        supersedes: own_text("supersedes"),
        created: own_text("created").as_deref().and_then(parse_date),
        updated: own_text("updated").as_deref().and_then(parse_date),
        ..file.at(1)
    });
}

pub(super) fn export(entries: &[ForeignEntry]) -> Exported {
    let mut exported = Exported::default();
    let mut listed: Vec<&ForeignEntry> = entries.iter().collect();
    let rank = |entry: &ForeignEntry| (entry.category != "core", core::cmp::Reverse(entry.updated));
    order::sort_slice(&mut listed, |a, b| (rank(a), &a.key).cmp(&(rank(b), &b.key)));
    exported.file(INDEX.into(), index(&listed));
    for entry in listed {
        exported.file(format!("{}.md", file_name(&entry.key)), topic(entry));
    }
    exported
}

/// Renders the part of the index that is loaded. Its last line gives the number of entries that are not in it.
fn index(entries: &[&ForeignEntry]) -> String {
    let mut text = String::from("# Memory\n\n");
    // The heading and the line below it come first.
    for (entry, listed) in entries.iter().zip(0..) {
        let lines = listed + 2;
        let title: String = super::text::one_line(&entry.key).replace(['[', ']', '(', ')'], " ");
        let hook = hook(entry.summary.as_deref().unwrap_or(&entry.content));
        let line = format!("- [{}]({}.md) — {hook}\n", head(title.trim(), 60), file_name(&entry.key));
        let left = entries.len() - listed;
        // Reserves room for the last line as long as it may be needed.
        let reserved = if left > 1 { 80 } else { 0 };
        if lines + 1 + usize::from(left > 1) > INDEX_LINES || text.len() + line.len() + reserved > INDEX_BYTES {
            text.push_str(&format!("<!-- {left} more memories are in this folder and not listed here -->\n"));
            break;
        }
        text.push_str(&line);
    }
    text
}

fn topic(entry: &ForeignEntry) -> String {
    let name = file_name(&entry.key);
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
    text.push_str("---\n\n");
    text.push_str(&entry.content);
    text.push('\n');
    text
}
