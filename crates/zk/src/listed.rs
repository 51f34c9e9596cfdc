//! The notes, tags and links of a list, with everything that zk prints of them.

use std::borrow::Cow;

use serde_json::Value;

use super::json::{self, Object};
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
    pub(super) fn push_json(&self, out: &mut String) {
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

/// Text of a note on a line of output: control characters are shown.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
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
