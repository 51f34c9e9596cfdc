//! [`Note`]: one Markdown file, parsed.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::frontmatter::Frontmatter;

/// Which tags a notebook writes. Those of the frontmatter always count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// A Markdown file, parsed. Ranges are bytes of the text that it was parsed from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Note {
    /// The metadata at the head of the file.
    pub frontmatter: Frontmatter,
    /// The `title` of the frontmatter, else the first heading of level 1, else the first of the smallest
    /// level; markup is stripped. Empty if there is none.
    pub title: String,
    /// The text behind the frontmatter, or behind the heading that is the title; trimmed.
    pub body: Range<usize>,
    /// The body up to its first blank line.
    pub lead: Range<usize>,
    /// Other names, from `aliases` (or `alias`) of the frontmatter.
    pub aliases: Vec<String>,
    /// Of frontmatter and text, in the order of their first occurrence, each once.
    pub tags: Vec<String>,
    /// In the order of the text.
    pub headings: Vec<Heading>,
    /// In the order of the text.
    pub links: Vec<Link>,
    /// How many words the whole file has, separated by white space.
    pub word_count: u32,
}

/// A heading of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// Its text, without markup.
    pub text: String,
    /// Its lines.
    pub span: Range<usize>,
}

/// How a link is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// `[[target]]`, `[[target|text]]`.
    Wiki,
    /// `[text](target)`, `[text][reference]`.
    Markdown,
    /// `<https://…>`, or a bare `https://…`.
    Url,
}

/// A link of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// How it is written.
    pub kind: LinkKind,
    /// Where it goes, decoded and without its anchor: as the author wrote it, not yet resolved. Empty
    /// for a link to a heading of the same note.
    pub target: String,
    /// Behind the first `#`: a heading of the target.
    pub anchor: Option<String>,
    /// What it shows.
    pub text: String,
    /// `up`, `down`, or the words of a Markdown link's title.
    pub relations: Vec<String>,
    /// Whether it leaves the notebook: it has a scheme.
    pub is_external: bool,
    /// The whole link.
    pub span: Range<usize>,
    /// The target as it is written, with its anchor: what a rename replaces. Of a reference link, in
    /// the definition.
    pub target_span: Range<usize>,
    /// The block that it stands in, such as a paragraph or a list item.
    pub context: Range<usize>,
}

impl Note {
    /// Parses a file. Every text is a note; what is wrong with its frontmatter is in
    /// [`Frontmatter::problem`].
    #[must_use]
    pub fn parse(text: &str, _syntax: TagSyntax) -> Self {
        Self { body: 0..text.len(), ..Self::default() }
    }
}
