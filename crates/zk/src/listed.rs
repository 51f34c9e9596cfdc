//! Notes, tags and links of a list, with everything that zk prints about them.

use std::borrow::Cow;

use serde_json::Value;

use super::json::{self, Object};
use super::time;

/// Facts that the output depends on besides the notes.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// Current time, in nanoseconds since 1970-01-01T00:00:00Z.
    pub now: u64,
    /// Offset of local time from UTC in seconds.
    pub utc_offset_seconds: i32,
}

/// A note with everything that zk prints about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListedNote {
    /// File name.
    pub filename: String,
    /// File name without extension.
    pub filename_stem: String,
    /// Path relative to the working folder.
    pub path: String,
    /// Absolute path.
    pub abs_path: String,
    /// Title; may be empty.
    pub title: String,
    /// Link to the note, in the format of the notebook.
    pub link: String,
    /// First paragraph.
    pub lead: String,
    /// Text without title and frontmatter.
    pub body: String,
    /// Parts that a search shows.
    pub snippets: Vec<String>,
    /// Whole file.
    pub raw_content: String,
    /// Number of words of the file.
    pub word_count: u32,
    /// Tags, sorted by number.
    pub tags: Vec<String>,
    /// Frontmatter as an object.
    pub metadata: Value,
    /// Time of creation, in nanoseconds since 1970-01-01T00:00:00Z.
    pub created: u64,
    /// Time of the last change, in nanoseconds since 1970-01-01T00:00:00Z.
    pub modified: u64,
    /// SHA-256 of the file, in lower-case hexadecimal digits.
    pub checksum: String,
    /// Origin of its text, if nobody has approved it.
    pub unapproved: Option<&'static str>,
}

/// A tag with the number of its notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedTag {
    /// Number of the tag, from 1.
    pub id: u64,
    /// Name of the tag.
    pub name: String,
    /// Number of notes with the tag.
    pub note_count: u32,
}

/// A link between two notes of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedLink {
    /// Text of the link.
    pub title: String,
    /// Target as it is written, with its anchor; for a Markdown link relative to the notebook.
    pub href: String,
    /// Kind: `wiki-link`, `markdown` or `implicit`.
    pub kind: &'static str,
    /// True if it leaves the notebook.
    pub is_external: bool,
    /// Relations that it names.
    pub rels: Vec<String>,
    /// Block with the link.
    pub snippet: String,
    /// Start of the block in the file, in bytes.
    pub snippet_start: u64,
    /// End of the block in the file, in bytes.
    pub snippet_end: u64,
    /// Number of the note with the link, from 1, in the order of the index.
    pub source_id: u64,
    /// Path of the note with the link, relative to the notebook.
    pub source_path: String,
    /// Number of the note that it leads to.
    pub target_id: u64,
    /// Path of the note that it leads to, relative to the notebook.
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

/// Returns a note's text for a line of output: control characters are shown.
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
