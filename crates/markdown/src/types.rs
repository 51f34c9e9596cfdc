//! Types that the parts of the reader share: links, tags, values of YAML.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use serde::{Deserialize, Serialize};

use super::text::head;

/// The most links of a note that are known, and the most headings: the first ones.
pub(super) const MAX_LINKS: usize = 65_536;
/// The most bytes of an address or a comment that are shown.
pub(super) const SHOWN_BYTES: usize = 160;

/// The tags that a notebook writes. Those of the frontmatter always count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagSyntax {
    /// `#tag`.
    pub hashtags: bool,
    /// `:one:two:`.
    pub colon_tags: bool,
    /// `#more words#`; of effect with `hashtags` alone.
    pub multiword_tags: bool,
}

impl Default for TagSyntax {
    fn default() -> Self {
        Self { hashtags: true, colon_tags: false, multiword_tags: false }
    }
}

/// Way in which a link is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkKind {
    /// `[[target]]`, `[[target|text]]`, and `[[target\|text]]` as tables have it.
    Wiki,
    /// `[text](target)`, `[text][reference]`.
    Markdown,
    /// `![[target]]`: the target is shown in place.
    Embed,
    /// `![text](target)`: the same in Markdown.
    Image,
    /// `[[target]]` in a text of the frontmatter.
    Property,
    /// `<https://…>`, or a bare `https://…`.
    Url,
}

impl LinkKind {
    /// Returns true if it is written in double brackets, wherever it stands.
    #[must_use]
    pub fn is_wiki(self) -> bool {
        matches!(self, Self::Wiki | Self::Embed | Self::Property)
    }
}

/// A link of a note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The way in which it is written.
    pub kind: LinkKind,
    /// Where it goes, decoded and without its anchor: as the author wrote it, not yet resolved. Empty
    /// for a link to a heading of the same note. An external one is whole and not decoded.
    pub target: String,
    /// The text after the first `#`: a heading of the target.
    pub anchor: Option<String>,
    /// The text that it shows.
    pub text: String,
    /// `up`, `down`, or the words of a Markdown link's title.
    pub relations: Vec<String>,
    /// True if it leaves the notebook: it has a scheme.
    pub is_external: bool,
    /// The whole link.
    pub span: Range<usize>,
    /// The target as it is written, with its anchor: what a rename replaces. Of a reference link, in
    /// the definition.
    pub target_span: Range<usize>,
    /// The block that it stands in, such as a paragraph or a list item.
    pub context: Range<usize>,
}

/// A YAML value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// `null`, `~`, nothing.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// Text, and everything else that is written plainly, such as a date.
    String(String),
    /// A sequence.
    List(Vec<Value>),
    /// A mapping, in its order.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// The value as text; `None` for lists, mappings and nothing.
    #[must_use]
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

/// Things of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The number of them.
    pub count: u32,
    /// The address of the first, or the beginning of its text; empty if there are none.
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
