//! [`GraphLink`]: a link between two notes of a reply.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::files::below_notebook;
use super::links::href;
use super::select::zk_href;
use crate::changes::Call;
use crate::document::{Link, LinkKind};
use crate::part::TextPart;
use crate::search::IndexedFile;

/// Maximum size of a block that is a snippet as a whole, in bytes. A table may have thousands of links, and each has a
/// snippet.
const MAX_WHOLE_BLOCK: usize = 1_024;
/// Maximum number of bytes before and after the link in the snippet of a larger block, except for parts of a character.
const SNIPPET_REACH: usize = 128;

/// A link between two notes.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GraphLink {
    /// Path of the note with the link.
    pub source: String,
    /// Path of the note that it leads to.
    pub target: String,
    /// Text of the link.
    pub title: String,
    /// Target, as it is written.
    pub href: String,
    /// Kind: `wiki-link`, `markdown`, `embed`, or `property` for a link of the frontmatter.
    pub kind: String,
    /// Relations: `up`, `down`, or the words of the link's title.
    pub relations: Vec<String>,
    /// Block with the link; if it has more than 1,024 bytes, the part around the link. Empty unless requested.
    pub snippet: String,
    /// Start of the snippet in the file, in bytes.
    #[serde(skip)]
    pub snippet_start: u64,
    /// End of the snippet in the file, in bytes.
    #[serde(skip)]
    pub snippet_end: u64,
}

/// Returns a link as replies show it. Its snippet is empty if the text of its note was not read.
pub(super) fn graph_link(call: &Call, source: &IndexedFile, link: &Link, target: &IndexedFile) -> GraphLink {
    let snippet = source.text.as_deref().map(|text| snippet_span(text, link)).unwrap_or_default();
    GraphLink {
        source: call.scope.display_path(&source.path),
        target: call.scope.display_path(&target.path),
        title: link.text.clone(),
        href: zk_href(below_notebook(call, &source.path), link).unwrap_or_else(|| href(link)),
        kind: match link.kind {
            LinkKind::Wiki => "wiki-link",
            LinkKind::Markdown | LinkKind::Url => "markdown",
            LinkKind::Embed | LinkKind::Image => "embed",
            LinkKind::Property => "property",
        }
        .to_string(),
        relations: link.relations.clone(),
        // Others may have written the index, so its spans may not fit the text.
        snippet: source.text().part(snippet.clone()).to_string(),
        snippet_start: snippet.start as u64,
        snippet_end: snippet.end as u64,
    }
}

/// Returns the block with the link, or the part of a large block that is around the link.
fn snippet_span(text: &str, link: &Link) -> Range<usize> {
    let block = link.context.clone();
    if block.len() <= MAX_WHOLE_BLOCK {
        return block;
    }
    let start = text.floor_char_boundary(link.span.start.saturating_sub(SNIPPET_REACH).max(block.start));
    let end = text.ceil_char_boundary(link.span.end.saturating_add(SNIPPET_REACH).min(block.end));
    start..end.max(start)
}
