//! [`render`]: the Markdown of a note as HTML that can do nothing.
//!
//! HTML in a note is shown as text. An image is a link with its text, so that nothing is loaded. A link leads to a web
//! page, to an address, or to an item of memory, which the page looks up.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use pulldown_cmark::{Alignment, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html};
use saddlebag::trust::for_terminal;

/// Beginning of links to items of memory in the page.
const ITEM: &str = "#/open/";
/// Schemes of links that leave the page.
const SCHEMES: [&str; 3] = ["http://", "https://", "mailto:"];

/// Returns a note's Markdown as HTML.
pub(super) fn render(markdown: &str) -> String {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_WIKILINKS;
    let events = Parser::new_ext(without_frontmatter(markdown), options).map(|event| {
        match event {
            Event::Html(text) | Event::InlineHtml(text) | Event::Text(text) => Event::Text(visible(text)),
            Event::Code(text) => Event::Code(visible(text)),
            // The text between stays, as the text of the link.
            Event::Start(Tag::Link { link_type, dest_url, id, .. } | Tag::Image { link_type, dest_url, id, .. }) => {
                // The address of an e-mail gets its scheme when it is written.
                let (link_type, dest_url) = match link_type {
                    LinkType::Email => (link_type, dest_url),
                    _ => (LinkType::Inline, safe(&dest_url)),
                };
                Event::Start(Tag::Link { link_type, dest_url, title: CowStr::Borrowed(""), id })
            }
            // The page's policy allows no style in an element.
            Event::Start(Tag::Table(columns)) => Event::Start(Tag::Table(vec![Alignment::None; columns.len()])),
            Event::End(TagEnd::Image) => Event::End(TagEnd::Link),
            event => event,
        }
    });
    let mut out = String::with_capacity(markdown.len() * 3 / 2);
    html::push_html(&mut out, events);
    out
}

/// Returns a note without the frontmatter at its beginning. A later line `---` is text, and hides nothing.
fn without_frontmatter(markdown: &str) -> &str {
    let Some(rest) = markdown.strip_prefix("---\n") else { return markdown };
    match rest.find("\n---\n") {
        Some(end) => &rest[end + "\n---\n".len()..],
        None => markdown,
    }
}

/// Returns text in which hidden characters can be seen.
fn visible(text: CowStr<'_>) -> CowStr<'_> {
    match for_terminal(&text) {
        shown if *shown == *text => text,
        shown => CowStr::from(shown),
    }
}

fn safe<'a>(target: &str) -> CowStr<'a> {
    let lower = target.to_ascii_lowercase();
    if SCHEMES.iter().any(|scheme| lower.starts_with(scheme)) {
        return CowStr::from(target.to_string());
    }
    CowStr::from(format!("{ITEM}{}", utf8_percent_encode(target, NON_ALPHANUMERIC)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_becomes_html() {
        for (markdown, html) in [
            ("# T\n\nsome *text*", "<h1>T</h1>\n<p>some <em>text</em></p>\n"),
            ("---\ntitle: x\n---\nbody", "<p>body</p>\n"),
            ("[[Load balancer]]", "<p><a href=\"#/open/Load%20balancer\">Load balancer</a></p>\n"),
            ("[x](facts/y.md)", "<p><a href=\"#/open/facts%2Fy%2Emd\">x</a></p>\n"),
            ("<a@b.org>", "<p><a href=\"mailto:a@b.org\">a@b.org</a></p>\n"),
            ("a\n\n---\nhidden: text\n---\n\nb", "<p>a</p>\n<hr />\n<h2>hidden: text</h2>\n<p>b</p>\n"),
            (
                "|a|\n|:-:|\n|b|",
                "<table><thead><tr><th>a</th></tr></thead><tbody>\n<tr><td>b</td></tr>\n</tbody></table>\n",
            ),
            ("[x](https://example.com/a?b)", "<p><a href=\"https://example.com/a?b\">x</a></p>\n"),
        ] {
            assert_eq!(render(markdown), html, "{markdown}");
        }
    }

    #[test]
    fn nothing_in_a_note_runs_or_loads() {
        #[derive(serde::Deserialize)]
        struct Hostile {
            text: String,
        }
        let table: Vec<Hostile> = serde_json::from_str(include_str!("../../tests/hostile.json")).unwrap();
        for Hostile { text: hostile } in &table {
            let html = render(hostile);
            let tags: Vec<&str> = html.split('<').skip(1).map(|tag| tag.split(['>', ' ']).next().unwrap()).collect();
            let harmless = ["p", "/p", "a", "/a", "code", "/code", "pre", "/pre", "table", "/table", "thead", "/thead"];
            let harmless =
                [&harmless[..], &["tbody", "/tbody", "tr", "/tr", "th", "/th", "td", "/td", "em", "/em"]].concat();
            assert!(tags.iter().all(|tag| harmless.contains(tag)), "{hostile}: {html}");
            for link in html.split("<a href=\"").skip(1) {
                assert!(link.starts_with("#/open/") || link.starts_with("http"), "{hostile}: {html}");
            }
        }
    }

    #[test]
    fn hidden_characters_are_seen() {
        let html = render("a\u{202e}b `c\u{200b}d`");
        assert!(html.contains("U+202E") && html.contains("U+200B"), "{html}");
    }
}
