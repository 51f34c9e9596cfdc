//! Notes, tags and the graph as zk prints them.
//!
//! zk prints titles and paths as they are, so a note can command the terminal at the end of a pipe, behind `less -R`
//! or `fzf`. Here text has its control characters shown, as `[U+001B]`, wherever it goes. Who needs a value as it is
//! asks for JSON, which escapes it, or in a template for `{{body}}` or `{{raw-content}}`.

use std::borrow::Cow;

use serde_json::Value;

use super::args::{BadUse, FrameArgs, TagKey};
use super::json::{self, Object};
use super::template::{Item, Template, unescape};
use super::time;

/// Facts that the output depends on beside the notes.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// In nanoseconds since 1970-01-01T00:00:00Z.
    pub now: u64,
    /// The seconds that local time adds to UTC.
    pub utc_offset_seconds: i32,
}

/// A note with everything that zk prints of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListedNote {
    /// The name of the file.
    pub filename: String,
    /// The name without its extension.
    pub filename_stem: String,
    /// Relative to the working folder.
    pub path: String,
    /// The whole path.
    pub abs_path: String,
    /// The title; may be empty.
    pub title: String,
    /// A link to the note, in the style of the notebook.
    pub link: String,
    /// The first paragraph.
    pub lead: String,
    /// The text without title and frontmatter.
    pub body: String,
    /// The parts that a search shows.
    pub snippets: Vec<String>,
    /// The whole file.
    pub raw_content: String,
    /// Number of words of the file.
    pub word_count: u32,
    /// In the order of their numbers.
    pub tags: Vec<String>,
    /// The frontmatter as an object.
    pub metadata: Value,
    /// In nanoseconds since 1970-01-01T00:00:00Z.
    pub created: u64,
    /// In nanoseconds since 1970-01-01T00:00:00Z.
    pub modified: u64,
    /// The SHA-256 of the file, in lower-case hexadecimal digits.
    pub checksum: String,
    /// Where its text comes from, if nobody has approved it.
    pub unapproved: Option<&'static str>,
}

/// A tag with the number of its notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedTag {
    /// Its number, from 1.
    pub id: u64,
    /// The tag.
    pub name: String,
    /// Number of notes that have it.
    pub note_count: u32,
}

/// A link between two notes of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedLink {
    /// The text that it shows.
    pub title: String,
    /// The target as it is written, with its anchor; of a Markdown link relative to the notebook.
    pub href: String,
    /// `wiki-link`, `markdown` or `implicit`.
    pub kind: &'static str,
    /// It leaves the notebook.
    pub is_external: bool,
    /// The relations that it names.
    pub rels: Vec<String>,
    /// The block that it is in.
    pub snippet: String,
    /// Where the block begins, in bytes of the file.
    pub snippet_start: u64,
    /// Where the block ends, in bytes of the file.
    pub snippet_end: u64,
    /// The number of the note that has it, from 1, in the order of the index.
    pub source_id: u64,
    /// The note that has it, below the root.
    pub source_path: String,
    /// The number of the note that it leads to.
    pub target_id: u64,
    /// The note that it leads to, below the root.
    pub target_path: String,
}

impl ListedNote {
    pub(super) fn push_json(&self, out: &mut String) {
        let no_metadata = self.metadata.is_null();
        Object::begin(out)
            .text("filename", &self.filename)
            .text("filenameStem", &self.filename_stem)
            .text("path", &self.path)
            .text("absPath", &self.abs_path)
            .text("title", &self.title)
            .text("link", &self.link)
            .text("lead", &self.lead)
            .text("body", &self.body)
            .texts("snippets", &self.snippets)
            .text("rawContent", &self.raw_content)
            .number("wordCount", self.word_count.into())
            .texts("tags", &self.tags)
            .field(
                "metadata",
                |out| if no_metadata { out.push_str("{}") } else { json::push_value(out, &self.metadata) },
            )
            .text("created", &time::rfc3339(self.created))
            .text("modified", &time::rfc3339(self.modified))
            .text("checksum", &self.checksum)
            .end();
    }
}

impl ListedTag {
    pub(super) fn push_json(&self, out: &mut String) {
        Object::begin(out)
            .number("id", self.id)
            .text("kind", "tag")
            .text("name", &self.name)
            .number("noteCount", self.note_count.into())
            .end();
    }
}

impl ListedLink {
    fn push_json(&self, out: &mut String) {
        Object::begin(out)
            .text("title", &self.title)
            .text("href", &self.href)
            .text("type", self.kind)
            .field("isExternal", |out| out.push_str(if self.is_external { "true" } else { "false" }))
            .texts("rels", &self.rels)
            .text("snippet", &self.snippet)
            .number("snippetStart", self.snippet_start)
            .number("snippetEnd", self.snippet_end)
            .number("sourceId", self.source_id)
            .text("sourcePath", &self.source_path)
            .number("targetId", self.target_id)
            .text("targetPath", &self.target_path)
            .end();
    }
}

/// The output of `zk list`. If there are no notes, it is empty in every format.
pub fn notes(notes: &[ListedNote], frame: &FrameArgs, context: &Context) -> Result<String, BadUse> {
    let items: Vec<Item<'_>> = notes.iter().map(Item::Note).collect();
    match frame.format.as_deref().unwrap_or("short") {
        "oneline" => text(notes, frame, |out, note| push_head(out, note, context)),
        "short" => text(notes, frame, |out, note| {
            push_head(out, note, context);
            if let Some(from) = note.unapproved {
                out.push_str(&format!(" (unapproved: {from})"));
            }
            out.push('\n');
            push_snippets(out, note);
        }),
        "medium" => text(notes, frame, |out, note| {
            push_facts(out, note, context, false);
            push_snippets(out, note);
        }),
        "long" => text(notes, frame, |out, note| {
            push_facts(out, note, context, true);
            push_snippets(out, note);
        }),
        "full" => text(notes, frame, |out, note| {
            push_facts(out, note, context, true);
            out.push('\n');
            push_indented(out, &note.body);
        }),
        "path" => text(notes, frame, |out, note| out.push_str(&shown(&note.path))),
        "link" => text(notes, frame, |out, note| out.push_str(&shown(&note.link))),
        format => structured(&items, format, frame, context),
    }
}

/// The output of `zk tag list`, sorted by the keys.
pub fn tags(
    mut tags: Vec<ListedTag>,
    keys: &[(TagKey, bool)],
    frame: &FrameArgs,
    context: &Context,
) -> Result<String, BadUse> {
    tags.sort_by(|a, b| {
        let by_key = keys.iter().map(|(key, ascending)| {
            let ordering = match key {
                TagKey::Name => a.name.cmp(&b.name),
                TagKey::NoteCount => a.note_count.cmp(&b.note_count),
            };
            if *ascending { ordering } else { ordering.reverse() }
        });
        by_key.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then).then_with(|| a.name.cmp(&b.name))
    });
    let items: Vec<Item<'_>> = tags.iter().map(Item::Tag).collect();
    match frame.format.as_deref().unwrap_or("name") {
        "name" => text(&tags, frame, |out, tag| out.push_str(&shown(&tag.name))),
        "full" => text(&tags, frame, |out, tag| out.push_str(&format!("{} ({})", shown(&tag.name), tag.note_count))),
        format => structured(&items, format, frame, context),
    }
}

/// The output of `zk graph --format json`.
pub fn graph(notes: &[ListedNote], links: &[ListedLink]) -> String {
    let mut out = String::new();
    Object::begin(&mut out)
        .field("notes", |out| json::push_list(out, notes, |out, note| note.push_json(out)))
        .field("links", |out| json::push_list(out, links, |out, link| link.push_json(out)))
        .end();
    out.push('\n');
    out
}

/// The line for standard error without `--quiet`.
pub fn found(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("\nFound {count} {what}{plural}\n")
}

/// Items between header and footer.
fn text<T>(items: &[T], frame: &FrameArgs, push: impl Fn(&mut String, &T)) -> Result<String, BadUse> {
    try_text(items, frame, |out, item| {
        push(out, item);
        Ok(())
    })
}

fn try_text<T>(
    items: &[T],
    frame: &FrameArgs,
    push: impl Fn(&mut String, &T) -> Result<(), String>,
) -> Result<String, BadUse> {
    let given = |text: &Option<String>, default: &str| text.as_deref().map_or_else(|| default.into(), unescape);
    let delimiter = if frame.delimiter0 { "\0".into() } else { given(&frame.delimiter, "\n") };
    let mut out = String::new();
    if items.is_empty() {
        return Ok(out);
    }
    out.push_str(&given(&frame.header, ""));
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push_str(&delimiter);
        }
        push(&mut out, item).map_err(BadUse)?;
    }
    out.push_str(&given(&frame.footer, "\n"));
    Ok(out)
}

/// JSON, or a template.
fn structured(items: &[Item<'_>], format: &str, frame: &FrameArgs, context: &Context) -> Result<String, BadUse> {
    let (begin, between, end) = match format {
        "json" => ("[", ",", "]\n"),
        "jsonl" => ("", "\n", "\n"),
        template => {
            let template = Template::parse(template).map_err(BadUse)?;
            return try_text(items, frame, |out, item| template.fill(out, *item, context));
        }
    };
    let framed = [("--header", &frame.header), ("--footer", &frame.footer), ("--delimiter", &frame.delimiter)];
    if let Some((flag, _)) = framed.iter().find(|(_, text)| text.is_some()) {
        return Err(BadUse(format!("{flag} can't be used with JSON format")));
    }
    let mut out = String::new();
    if items.is_empty() {
        return Ok(out);
    }
    out.push_str(begin);
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push_str(between);
        }
        item.push_json(&mut out);
    }
    out.push_str(end);
    Ok(out)
}

/// Text of a note on a line of output: control characters are shown.
pub(super) fn shown(text: &str) -> Cow<'_, str> {
    let is_command = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_command) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.replace("\r\n", "\n").chars() {
        if is_command(c) { out.push_str(&format!("[U+{:04X}]", u32::from(c))) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Title, path and age.
fn push_head(out: &mut String, note: &ListedNote, context: &Context) {
    let age = time::format(note.created, "elapsed", context.now, context.utc_offset_seconds);
    if !note.title.is_empty() {
        out.push_str(&shown(&note.title));
        out.push(' ');
    }
    out.push_str(&format!("{} ({age})", shown(&note.path)));
}

/// Title and path, then a line for each fact.
fn push_facts(out: &mut String, note: &ListedNote, context: &Context, is_long: bool) {
    let date = |time| time::format(time, "medium", context.now, context.utc_offset_seconds);
    if !note.title.is_empty() {
        out.push_str(&shown(&note.title));
        out.push(' ');
    }
    out.push_str(&format!("{}\nCreated: {}\n", shown(&note.path), date(note.created)));
    // zk has no such line. The formats that scripts take apart (path, link, oneline, templates) have none here either.
    if let Some(from) = note.unapproved {
        out.push_str(&format!("Unapproved: {from}\n"));
    }
    if is_long {
        out.push_str(&format!("Modified: {}\n", date(note.modified)));
        if !note.tags.is_empty() {
            out.push_str(&format!("Tags: {}\n", shown(&note.tags.join(", "))));
        }
    }
}

fn push_snippets(out: &mut String, note: &ListedNote) {
    for snippet in &note.snippets {
        out.push('\n');
        push_indented(out, snippet);
    }
}

fn push_indented(out: &mut String, text: &str) {
    for line in shown(text).lines() {
        out.push_str(if line.is_empty() { "" } else { "  " });
        out.push_str(line);
        out.push('\n');
    }
}

#[cfg(test)]
mod tests;
