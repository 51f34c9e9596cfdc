//! basic-memory's notes: observations `- [category] text #tag (context)` and relations `- type [[Target]]`.
//!
//! A note becomes an entry per observation and one for the rest. An export writes the entries of a note as this note
//! again, under its title and permalink, so that links still lead to it. Entries that have changed since, and all
//! others, become their own notes.
//!
//! The recorded pairs in `tests/vectors/basic-memory.json` define what counts as an observation or a relation. A note
//! that Saddlebag wrote says so in its frontmatter, and is imported without a loss.

use super::text::{
    after_frontmatter, body, file_name, hash8, is_safe_path, list_of, one_line, stem, text_of, unknown_fields, yaml_of,
};
use super::types::{Converted, Loss, Output, TextFile};
use crate::entries::ForeignEntry;
use crate::store::utc_text;
use saddlebag_collections::{prelude::*, sorted::SortedSet};
use saddlebag_markdown::{FenceTracker, Frontmatter, Value, heading, line_of, parse_date, percent, yaml_string};

/// Separator between the content of an entry and the lines that are generated for basic-memory.
const END: &str = "<!-- the memory ends here; what follows is generated -->";
/// Prefix of a relation, before its type and target.
const RELATION: &str = "rel:";
pub(super) const LINKS_TO: &str = "links_to";
/// Prefix of a tag with the type of a note, and of one with the category of an observation.
const TYPE: &str = "type:";
const OBSERVATION: &str = "obs:";
/// Kept fields: file and title of the note, and unknown fields of its frontmatter.
const FROM_FILE: &str = "from_file";
const FROM_TITLE: &str = "from_title";
const FROM_FRONTMATTER: &str = "from_frontmatter";
/// Fields of a note that become fields of its entries.
const FIELDS: [&str; 6] = ["title", "type", "permalink", "tags", "created", "modified"];

/// A statement of a note about its subject.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// Line of the text, counted from 1.
    pub line: u32,
    /// Category: the text in brackets.
    pub category: Option<String>,
    /// Content with its tags, without its context.
    pub content: String,
    /// Tags; `None` if there is no `#`.
    pub tags: Option<Vec<String>>,
    /// Context: the text in parentheses at the end.
    pub context: Option<String>,
}

/// A relation from a note to another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relation {
    /// Line of the text, counted from 1.
    pub line: u32,
    /// Type of the relation.
    pub kind: String,
    /// Title or path of a note, which may not exist.
    pub target: String,
    /// Context: the text in parentheses at the end.
    pub context: Option<String>,
    /// True if its line has no other text.
    pub is_alone: bool,
}

/// Parses the observations and relations of a Markdown text.
pub fn parse(text: &str) -> (Vec<Observation>, Vec<Relation>) {
    let (mut observations, mut relations) = (Vec::new(), Vec::new());
    let mut fences = FenceTracker::default();
    // A line without a mark can continue the block above. Quotes do not count.
    let (mut is_open, mut is_quote) = (false, false);
    for (line, number) in text.lines().zip(1_u32..) {
        if fences.is_code(line) || line.trim().is_empty() {
            (is_open, is_quote) = (false, false);
            continue;
        }
        let (inline, is_item) = unmarked(line.trim_start());
        if inline.starts_with('>') {
            (is_open, is_quote) = (true, true);
            continue;
        }
        let title = heading(line);
        let is_start = is_item || title.is_some() || !is_open;
        let is_indented_code = !is_open && !is_item && (line.starts_with("    ") || line.starts_with('\t'));
        if is_indented_code || (is_quote && !is_start) {
            continue;
        }
        let inline = title.unwrap_or(inline).trim();
        if is_start {
            observations.extend(observation(inline).map(|found| Observation { line: number, ..found }));
        }
        read_relations(inline, is_item, number, &mut relations);
        (is_open, is_quote) = (title.is_none(), false);
    }
    (observations, relations)
}

/// Removes the marks of list items from a line.
fn unmarked(line: &str) -> (&str, bool) {
    let (mut line, mut is_item) = (line, false);
    loop {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let rest = match digits {
            0 => line.strip_prefix(['-', '*', '+']),
            1..=9 => line.get(digits..).and_then(|rest| rest.strip_prefix(['.', ')'])),
            _ => None,
        };
        let Some(rest) = rest.filter(|rest| rest.starts_with([' ', '\t'])) else { return (line, is_item) };
        (line, is_item) = (rest.trim_start(), true);
    }
}

fn observation(text: &str) -> Option<Observation> {
    let (category, content) = match category(text) {
        Category::Task => return None,
        Category::Named(category, rest) => (Some(category.to_string()), rest),
        Category::Empty(rest) if has_tag(rest) => (None, rest),
        Category::None if has_tag(text) => (None, text),
        _ => return None,
    };
    let mut content = content.trim();
    let mut context = None;
    if let Some((before, inside)) = content.strip_suffix(')').and_then(|text| text.rsplit_once('(')) {
        (content, context) = (before.trim(), Some(inside.trim().to_string()));
    }
    if content.is_empty() {
        return None;
    }
    Some(Observation { line: 0, category, content: content.into(), tags: tags(content), context })
}

enum Category<'a> {
    /// A task with a checkbox.
    Task,
    Named(&'a str, &'a str),
    Empty(&'a str),
    None,
}

fn category(text: &str) -> Category<'_> {
    let Some((inside, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) else {
        return Category::None;
    };
    if inside.contains(['[', '(', ')']) || !(rest.is_empty() || rest.starts_with(char::is_whitespace)) {
        return Category::None;
    }
    let mut chars = inside.chars();
    if let (Some(mark), None) = (chars.next(), chars.next())
        && (!mark.is_alphanumeric() || matches!(mark, 'x' | 'X'))
    {
        return Category::Task;
    }
    let name = inside.trim();
    if name.is_empty() {
        return Category::Empty(rest);
    }
    if is_timestamp(name) {
        return Category::None;
    }
    Category::Named(name, rest)
}

/// Returns true for `1:02:03.500`, or two of these with `-` between.
fn is_timestamp(text: &str) -> bool {
    let is_one = |text: &str| {
        let text = text.trim();
        text.contains(':')
            && text.starts_with(|c: char| c.is_ascii_digit())
            && text.ends_with(|c: char| c.is_ascii_digit())
            && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b','))
    };
    text.split(['-', '–']).all(is_one)
}

fn has_tag(text: &str) -> bool {
    text.split_whitespace().any(|word| word.starts_with('#'))
}

/// Returns the words that begin with `#`, up to the next white space. A `#` inside a word begins a further tag.
fn tags(text: &str) -> Option<Vec<String>> {
    let mut tags = Vec::new();
    for word in text.split_whitespace().filter(|word| word.starts_with('#')) {
        let parts: Vec<String> = word.split('#').filter(|part| !part.is_empty()).map(String::from).collect();
        if parts.is_empty() {
            tags.push(String::new());
        }
        tags.extend(parts);
    }
    (!tags.is_empty()).then_some(tags)
}

fn read_relations(text: &str, is_item: bool, line: u32, relations: &mut Vec<Relation>) {
    let Some((before, target, after)) = link(text) else { return };
    let after = after.trim();
    let context = after.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).filter(|rest| !rest.contains("[["));
    if is_item
        && (after.is_empty() || context.is_some())
        && let Some(kind) = relation_kind(before.trim())
    {
        // A link without a type has no context.
        let context = context.map(str::trim).filter(|context| !context.is_empty() && !before.trim().is_empty());
        let context = context.map(String::from);
        return push(relations, Relation { line, kind, target: target.into(), context, is_alone: true });
    }
    let mut rest = text;
    while let Some((_, target, after)) = link(rest) {
        push(relations, Relation { line, kind: LINKS_TO.into(), target: target.into(), ..Relation::default() });
        rest = after;
    }
}

fn push(relations: &mut Vec<Relation>, relation: Relation) {
    let target = relation.target.trim().replace("::", "/");
    if !target.is_empty() {
        relations.push(Relation { target, ..relation });
    }
}

/// Parses the type before a link: one word, or several in quotes.
fn relation_kind(before: &str) -> Option<String> {
    let unquoted = ['"', '\''].iter().find_map(|quote| before.strip_prefix(*quote)?.strip_suffix(*quote));
    match unquoted {
        Some(kind) if kind.trim().is_empty() => Some(LINKS_TO.into()),
        Some(kind) => Some(kind.trim().into()),
        None if before.is_empty() => Some(LINKS_TO.into()),
        None if before.contains(char::is_whitespace) => None,
        None => Some(before.into()),
    }
}

/// Splits the text at the first `[[…]]`. The link may contain brackets.
fn link(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find("[[")?;
    let (mut depth, mut at) = (0_usize, start);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("[[") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with("]]") {
            (depth, at) = (depth - 1, at + 2);
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
        if depth == 0 {
            return Some((text.get(..start)?, text.get(start + 2..at - 2)?, text.get(at..)?));
        }
    }
    None
}

impl Observation {
    /// Renders the line that [`parse`] parses.
    pub fn render(&self) -> String {
        let category = self.category.as_ref().map(|category| format!("[{category}] ")).unwrap_or_default();
        let context = self.context.as_ref().map(|context| format!(" ({context})")).unwrap_or_default();
        format!("- {category}{}{context}", self.content)
    }

    /// Returns the content with its context.
    fn text(&self) -> String {
        match &self.context {
            Some(context) if !context.is_empty() => format!("{} ({context})", self.content),
            _ => self.content.clone(),
        }
    }
}

impl Relation {
    /// Renders the line that [`parse`] parses.
    pub fn render(&self) -> String {
        let quote = if self.kind.contains(char::is_whitespace) { "\"" } else { "" };
        let context = self.context.as_ref().map(|context| format!(" ({context})")).unwrap_or_default();
        format!("- {quote}{}{quote} [[{}]]{context}", self.kind, self.target)
    }
}

pub(super) fn read(file: &TextFile<'_>, converted: &mut Converted) {
    let frontmatter = Frontmatter::parse(file.text);
    match &frontmatter.problem {
        Some(problem) => converted.reject(file, problem.line, problem.message.clone()),
        None => match text_of(&frontmatter, "memory_key") {
            Some(key) => converted.entries.push(own_note(file, &frontmatter, key)),
            None => read_note(file, &frontmatter, converted),
        },
    }
}

fn moment(frontmatter: &Frontmatter, name: &str) -> Option<u64> {
    text_of(frontmatter, name).as_deref().and_then(parse_date)
}

fn own_note(file: &TextFile<'_>, frontmatter: &Frontmatter, key: String) -> ForeignEntry {
    let text = format!("{}\n", body(file.text, frontmatter));
    // The mark must be a separate line, because the generated lines may quote the content.
    let content = match text.rsplit_once(&format!("\n\n{END}\n")) {
        Some((content, _)) => content,
        None => text.strip_suffix('\n').unwrap_or(&text),
    };
    ForeignEntry {
        key,
        category: text_of(frontmatter, "memory_category").unwrap_or_else(|| "core".into()),
        tags: frontmatter.value("tags").map(list_of).unwrap_or_default(),
        content: content.into(),
        summary: text_of(frontmatter, "memory_summary"),
        supersedes: text_of(frontmatter, "memory_supersedes"),
        created: moment(frontmatter, "created"),
        updated: moment(frontmatter, "modified"),
        ..file.at(1)
    }
}

/// Creates an entry per observation, and one for the note if it has further text or relations.
fn read_note(file: &TextFile<'_>, frontmatter: &Frontmatter, converted: &mut Converted) {
    let text = after_frontmatter(file.text, frontmatter);
    let first = line_of(file.text, frontmatter.span.end);
    let permalink = text_of(frontmatter, "permalink");
    let permalink = permalink.unwrap_or_else(|| file.path.strip_suffix(".md").unwrap_or(file.path).into());
    let title = frontmatter.title().map_or_else(|| stem(file.path).to_string(), String::from);
    let mut note_tags = frontmatter.value("tags").map(list_of).unwrap_or_default();
    let kind = frontmatter.value("type").and_then(Value::text).filter(|kind| kind != "note");
    note_tags.extend(kind.map(|kind| format!("{TYPE}{kind}")));
    let mut kept = Vec::new();
    let mut keep = |name: &str, value: String| kept.push((name.to_string(), value));
    if file.path != note_file(&permalink) {
        keep(FROM_FILE, file.path.into());
    }
    if title != stem(&permalink) {
        keep(FROM_TITLE, title.clone());
    }
    let unknown = unknown_fields(yaml_of(file.text, frontmatter), &FIELDS);
    if !unknown.is_empty() {
        keep(FROM_FRONTMATTER, unknown);
    }
    let common = ForeignEntry {
        category: "core".into(),
        kept,
        created: moment(frontmatter, "created"),
        updated: moment(frontmatter, "modified"),
        ..file.at(1)
    };
    let (observations, relations) = parse(text);
    for observation in &observations {
        let said = observation.text();
        let category = observation.category.as_ref().map(|category| format!("{OBSERVATION}{category}"));
        let own = observation.tags.iter().flatten().filter(|tag| !tag.is_empty()).cloned();
        converted.entries.push(ForeignEntry {
            key: format!("bm_{permalink}#{}", hash8(&said)),
            tags: category.into_iter().chain(own).chain(note_tags.iter().cloned()).collect(),
            content: said,
            ..ForeignEntry { line: file.at(first + observation.line - 1).line, ..common.clone() }
        });
    }
    // A tag has no room for the context of a relation, so its line stays in the text.
    let related = relations.iter().filter(|relation| relation.is_alone && relation.context.is_none());
    let taken = observations.iter().map(|found| found.line).chain(related.clone().map(|found| found.line));
    let taken: SortedSet<u32> = taken.collect();
    let rest = text.lines().zip(1_u32..).filter(|(_, number)| !taken.contains(number));
    let rest: Vec<&str> = rest.map(|(line, _)| line).collect();
    let has_text = rest.iter().any(|line| !line.trim().is_empty() && heading(line).is_none());
    let related: Vec<String> = related.map(relation_tag).collect();
    if !has_text && related.is_empty() && !observations.is_empty() {
        return;
    }
    converted.entries.push(ForeignEntry {
        key: format!("bm_{permalink}"),
        tags: note_tags.into_iter().chain(related).collect(),
        content: if has_text { rest.join("\n").trim().into() } else { title },
        ..common
    });
}

/// Tag of a relation.
fn relation_tag(relation: &Relation) -> String {
    format!("{RELATION}{}:{}", relation.kind, relation.target)
}

/// Reverses [`relation_tag`].
fn relation_of(tag: &str) -> Option<Relation> {
    let (kind, target) = tag.strip_prefix(RELATION)?.split_once(':')?;
    Some(Relation { kind: kind.into(), target: target.into(), ..Relation::default() })
}

/// Returns the file of a note that has none yet.
fn note_file(permalink: &str) -> String {
    let path = format!("{permalink}.md");
    if is_safe_path(&path) { path } else { format!("{}.md", file_name(permalink)) }
}

pub(super) fn export(entries: &[ForeignEntry]) -> Output {
    let mut exported = Output::default();
    let mut taken: SortedSet<String> = SortedSet::default();
    let mut written: SortedSet<&str> = SortedSet::default();
    for group in groups(entries) {
        let Some((path, text)) = imported_note(&group) else { continue };
        let back = read_back(&path, &text);
        let is_back = |entry: &&ForeignEntry| back.iter().any(|back| is_same(entry, back));
        let same: Vec<&ForeignEntry> = group.iter().copied().filter(is_back).collect();
        // Without the entries that have changed, the note may read differently.
        let Some((path, text)) = (if same.len() == group.len() { Some((path, text)) } else { imported_note(&same) })
        else {
            continue;
        };
        let back = read_back(&path, &text);
        let is_whole =
            back.len() == same.len() && same.iter().all(|entry| back.iter().any(|back| is_same(entry, back)));
        if is_whole && taken.insert(path.to_lowercase()) {
            written.extend(same.iter().map(|entry| entry.key.as_str()));
            exported.file(path, text);
        }
    }
    for entry in entries.iter().filter(|entry| !written.contains(&entry.key.as_str())) {
        if entry.key.starts_with(PREFIX) && entry.source.as_deref().is_some_and(|source| source.starts_with(MARK)) {
            let reason = "it was changed here, so it becomes a separate note: links to its note do not lead to it";
            exported.left_out.push(Loss { key: entry.key.clone(), field: "note".into(), reason: reason.into() });
        }
        exported.file(format!("{}.md", file_name(&entry.key)), note(entry));
    }
    exported
}

/// Prefix of the keys of imported entries, and of their sources.
const PREFIX: &str = "bm_";
const MARK: &str = "import:basic-memory ";

/// Returns the permalink of the note that an entry was imported from.
fn permalink_of(entry: &ForeignEntry) -> Option<&str> {
    let permalink = entry.key.strip_prefix(PREFIX)?;
    Some(permalink.rsplit_once('#').map_or(permalink, |(permalink, _)| permalink))
}

/// Groups the entries that were imported from one note, in the order of their lines.
fn groups(entries: &[ForeignEntry]) -> Vec<Vec<&ForeignEntry>> {
    let mut sorted: Vec<&ForeignEntry> = entries.iter().filter(|entry| permalink_of(entry).is_some()).collect();
    let rank = |entry: &ForeignEntry| (entry.imported_line(), entry.line);
    saddlebag_collections::order::sort_slice(&mut sorted, |a, b| {
        (permalink_of(a), rank(a), &a.key).cmp(&(permalink_of(b), rank(b), &b.key))
    });
    let mut groups: Vec<Vec<&ForeignEntry>> = Vec::new();
    for entry in sorted {
        match groups.last_mut() {
            Some(group) if group.first().and_then(|first| permalink_of(first)) == permalink_of(entry) => {
                group.push(entry)
            }
            _ => groups.push([entry].to_vec()),
        }
    }
    groups
}

fn read_back(path: &str, text: &str) -> Vec<ForeignEntry> {
    let mut converted = Converted::default();
    read(&TextFile { path, first_line: 1, text }, &mut converted);
    converted.entries
}

/// Returns true if a note carries the entry. It has the dates of the note.
fn is_same(entry: &ForeignEntry, back: &ForeignEntry) -> bool {
    (&entry.key, &entry.category, &entry.content, &entry.tags, &entry.summary, &entry.supersedes, &entry.kept)
        == (&back.key, &back.category, &back.content, &back.tags, &back.summary, &back.supersedes, &back.kept)
}

/// Renders the note that entries were imported from: path and text. `None` if there are no entries.
fn imported_note(group: &[&ForeignEntry]) -> Option<(String, String)> {
    let first = group.first()?;
    let permalink = permalink_of(first)?;
    let rest = group.iter().find(|entry| entry.key.strip_prefix(PREFIX) == Some(permalink));
    let observations = || group.iter().filter(|entry| entry.key.strip_prefix(PREFIX) != Some(permalink));
    let own = |entry: &ForeignEntry| -> Vec<String> {
        let of_text = observation(&entry.content).and_then(|found| found.tags).unwrap_or_default();
        let is_own = |tag: &&String| tag.starts_with(OBSERVATION) || tag.starts_with(RELATION) || of_text.contains(tag);
        entry.tags.iter().filter(|tag| !is_own(tag)).cloned().collect()
    };
    let note_tags = rest.map_or_else(|| own(first), |rest| own(rest));
    let title = first.kept(FROM_TITLE).unwrap_or(stem(permalink));
    let kind = note_tags.iter().find_map(|tag| tag.strip_prefix(TYPE)).unwrap_or("note");
    let tags = note_tags.iter().filter(|tag| !tag.starts_with(TYPE)).map(|tag| yaml_string(tag));
    let tags: Vec<String> = tags.collect();
    let mut text = format!("---\ntitle: {}\ntype: {}\n", yaml_string(title), yaml_string(kind));
    text.push_str(&format!("permalink: {}\n", yaml_string(permalink)));
    if !tags.is_empty() {
        text.push_str(&format!("tags: [{}]\n", tags.join(", ")));
    }
    let created = group.iter().filter_map(|entry| entry.created).min();
    let updated = group.iter().filter_map(|entry| entry.updated).max();
    for (field, moment) in [("created", created), ("modified", updated)] {
        if let Some(moment) = moment {
            text.push_str(&format!("{field}: {}\n", utc_text(moment)));
        }
    }
    text.push_str(first.kept(FROM_FRONTMATTER).unwrap_or_default());
    text.push_str("---\n\n");
    let said = rest.map(|rest| rest.content.as_str()).filter(|content| *content != title);
    let observed = observations().map(|entry| {
        let category = entry.tags.iter().find_map(|tag| tag.strip_prefix(OBSERVATION));
        format!("- {}{}\n", category.map(|category| format!("[{category}] ")).unwrap_or_default(), entry.content)
    });
    let related = rest.map_or(&[][..], |rest| &rest.tags).iter().filter_map(|tag| relation_of(tag));
    let related = related.map(|relation| relation.render() + "\n");
    let mut body = said.map(|said| format!("{said}\n")).unwrap_or_default();
    insert_below(&mut body, "## Observations", &observed.collect::<String>());
    insert_below(&mut body, "## Relations", &related.collect::<String>());
    let path = match first.kept(FROM_FILE).filter(|path| is_safe_path(path)) {
        Some(path) => path.to_string(),
        None => note_file(permalink),
    };
    Some((path, text + &body))
}

/// Inserts lines below a heading, or at the end if there is no such heading.
fn insert_below(text: &mut String, heading: &str, lines: &str) {
    let below = format!("{heading}\n");
    let mut places = text.match_indices(&below).map(|(at, _)| at);
    let at = places.find(|&at| at == 0 || text.get(..at).is_some_and(|before| before.ends_with('\n')));
    match at {
        Some(at) => text.insert_str(at + below.len(), lines),
        None if text.is_empty() || lines.is_empty() => text.push_str(lines),
        None => text.push_str(&format!("\n{lines}")),
    }
}

fn note(entry: &ForeignEntry) -> String {
    let name = file_name(&entry.key);
    let key = yaml_string(&entry.key);
    let tags: Vec<String> = entry.tags.iter().map(|tag| yaml_string(tag)).collect();
    let mut text = format!("---\ntitle: {key}\ntype: memory\npermalink: {}\n", yaml_string(&name));
    let mut add = |field: &str, value: &str| text.push_str(&format!("{field}: {value}\n"));
    add("tags", &format!("[{}]", tags.join(", ")));
    for (field, moment) in [("created", entry.created), ("modified", entry.updated)] {
        if let Some(moment) = moment {
            add(field, &utc_text(moment));
        }
    }
    add("memory_key", &key);
    add("memory_category", &yaml_string(&entry.category));
    for (field, value) in [("memory_summary", &entry.summary), ("memory_supersedes", &entry.supersedes)] {
        if let Some(value) = value {
            add(field, &yaml_string(value));
        }
    }
    text.push_str(&format!("---\n\n{}\n\n{END}\n", entry.content));
    if let Some(observation) = as_observation(entry) {
        text.push_str(&format!("\n## Observations\n\n{observation}\n"));
    }
    let related = entry.tags.iter().filter_map(|tag| relation_of(tag)).map(|relation| relation.render() + "\n");
    let related: Vec<String> = related.collect();
    if !related.is_empty() {
        text.push_str(&format!("\n## Relations\n\n{}", related.concat()));
    }
    text
}

/// Renders the entry as one line, unless it would be parsed as something else.
fn as_observation(entry: &ForeignEntry) -> Option<String> {
    let content = one_line(&entry.content);
    let content = content.trim();
    let is_other = content.is_empty() || content.starts_with('[') || content.ends_with(')') || has_tag(content);
    let category = entry.tags.iter().find_map(|tag| tag.strip_prefix(OBSERVATION)).unwrap_or(&entry.category);
    if is_other || category.contains(['[', ']', '(', ')', '\n', '\r']) {
        return None;
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '-');
    let tags = entry.tags.iter().filter(|tag| !tag.starts_with(RELATION) && !tag.starts_with(OBSERVATION));
    let tags: Vec<String> = tags.map(|tag| format!(" #{}", percent::encode(tag, |c| !is_plain(c)))).collect();
    Some(format!("- [{category}] {content}{}", tags.concat()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value as Json;

    fn recorded() -> Vec<Json> {
        let recorded: Json =
            serde_json::from_str(include_str!("../../tests/vectors/basic-memory.json")).expect("valid");
        recorded["cases"].as_array().expect("cases").clone()
    }

    fn as_json(text: &str) -> (Json, Json) {
        let (observations, relations) = parse(text);
        let observations = observations.iter().map(|found| {
            serde_json::json!({ "category": found.category, "content": found.content, "tags": found.tags, "context": found.context })
        });
        let relations = relations
            .iter()
            .map(|found| serde_json::json!({ "type": found.kind, "target": found.target, "context": found.context }));
        (observations.collect(), relations.collect())
    }

    #[test]
    fn notes_are_read_as_recorded() {
        for case in recorded() {
            let input = case["input"].as_str().expect("a text");
            assert_eq!(as_json(input), (case["observations"].clone(), case["relations"].clone()), "{input:?}");
        }
    }

    #[test]
    fn a_recorded_line_parses_to_the_same_value() {
        for case in recorded() {
            let input = case["input"].as_str().expect("a text");
            let (observations, relations) = parse(input);
            for observation in &observations {
                let again = parse(&observation.render()).0;
                assert_eq!(again, [Observation { line: 1, ..observation.clone() }], "{input:?}");
            }
            for relation in &relations {
                let again = parse(&relation.render()).1;
                assert_eq!(again, [Relation { line: 1, is_alone: true, ..relation.clone() }], "{input:?}");
            }
        }
    }

    #[test]
    fn a_wrapped_bullet_is_its_first_line_and_links_are_matched() {
        let (observations, _) = parse("- [c] multi\n  line #t (ctx)");
        assert_eq!((observations.len(), observations[0].content.as_str()), (1, "multi"));
        assert_eq!(parse("see [[B [[C]] D]] and [[").1[0].target, "B [[C]] D");
        assert_eq!(parse("- [c] [[Other]]").1[0].kind, "[c]");
        assert!(parse("    - [c] code").0.is_empty() || parse("x\n\n    [c] code").0.is_empty());
    }
}
