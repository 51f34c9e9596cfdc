//! Types that the parts of the reader share: links, tags, values of YAML.

use core::ops::Range;

use serde::{Deserialize, Serialize};

use super::text::head;
use saddlebag_collections::prelude::*;

/// Maximum number of links of a note, and of headings; further ones are ignored.
pub(super) const MAX_LINKS: usize = 65_536;
/// Maximum number of bytes of an address or a comment that are shown.
pub(super) const SHOWN_BYTES: usize = 160;

/// Kinds of tags that a notebook uses in text. Tags in the frontmatter always count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagSyntax {
    /// `#tag`.
    pub hashtags: bool,
    /// `:one:two:`.
    pub colon_tags: bool,
    /// `#more words#`; has an effect only with `hashtags`.
    pub multiword_tags: bool,
}

impl Default for TagSyntax {
    fn default() -> Self {
        Self { hashtags: true, colon_tags: false, multiword_tags: false }
    }
}

/// Kind of a link, by its notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkKind {
    /// `[[target]]`, `[[target|text]]`, and `[[target\|text]]` as in tables.
    Wiki,
    /// `[text](target)`, `[text][reference]`.
    Markdown,
    /// `![[target]]`, which shows the target in place.
    Embed,
    /// `![text](target)`, the same in Markdown.
    Image,
    /// `[[target]]` in text of the frontmatter.
    Property,
    /// `<https://…>`, or a bare `https://…`.
    Url,
}

impl LinkKind {
    /// Returns true if it is written in double brackets, in the text or in the frontmatter.
    pub fn is_wiki(self) -> bool {
        matches!(self, Self::Wiki | Self::Embed | Self::Property)
    }
}

/// A link of a note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Kind of the link.
    pub kind: LinkKind,
    /// Target, decoded and without its anchor: as the author wrote it, not yet resolved. Empty for a link to a heading
    /// of the same note. An external target is complete and not decoded.
    pub target: String,
    /// Text after the first `#`: a heading of the target.
    pub anchor: Option<String>,
    /// Text that the link shows.
    pub text: String,
    /// Relations: `up`, `down`, or the words of a Markdown link's title.
    pub relations: Vec<String>,
    /// True if it leaves the notebook: it has a scheme.
    pub is_external: bool,
    /// Range of the whole link.
    pub span: Range<usize>,
    /// Range of the target as it is written, with its anchor: the part that a rename replaces. For a reference link,
    /// it is in the definition.
    pub target_span: Range<usize>,
    /// Range of the block with the link, such as a paragraph or a list item.
    pub context: Range<usize>,
}

/// A YAML value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// `null`, `~`, or empty.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// Text, and everything else that is written without quotes, such as a date.
    String(String),
    /// A sequence.
    List(Vec<Value>),
    /// A mapping, in order.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// Returns the value as text; `None` for lists, mappings and nulls.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Null | Self::List(_) | Self::Map(_) => None,
            Self::Bool(value) => Some(value.to_string()),
            Self::Integer(value) => Some(value.to_string()),
            Self::Float(value) => Some(value.to_string()),
            Self::String(value) => Some(value.clone()),
        }
    }
}

/// Findings of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Number of findings.
    pub count: u32,
    /// Address of the first, or the beginning of its text; empty if there are none.
    pub first: String,
}

impl Counted {
    pub(super) fn add(&mut self, first: &str) {
        if self.count == 0 {
            self.first = head(first.trim(), SHOWN_BYTES).to_string();
        }
        self.count = self.count.saturating_add(1);
    }
}
