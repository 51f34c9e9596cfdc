//! The parser of notes follows CommonMark: it is compared with `pulldown-cmark` on the examples of
//! `commonmark/examples.md`, which were written for this test. None of them is from the specification, whose licence
//! does not permit it; they cover its sections on headings, code, HTML, quotes, lists and links.
//!
//! For each example, three things must be the same: the headings with their text, the Markdown links with text and
//! destination, and the words that are code or HTML. Words are compared by tags: `#w1` is a tag in text and not in
//! code.

use std::collections::BTreeSet;

use percent_encoding::percent_decode_str;
use proptest::collection::vec;
use proptest::sample::select;
use proptest::test_runner::{RngAlgorithm, TestCaseError, TestRng, TestRunner};
use pulldown_cmark::{Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};
use saddlebag::document::{LinkKind, Note, TagSyntax};
use support::arbitrary::cases;

/// Examples in which a note deliberately differs from CommonMark, each with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("wiki link in brackets", "two brackets are a wiki link anywhere, as in zk"),
    ("footnote that is a link", "two brackets are a wiki link anywhere, as in zk"),
    ("link without a destination", "it leads nowhere, so it is not a link of the notebook"),
    ("reference to an empty destination", "it leads nowhere, so it is not a link of the notebook"),
    ("frontmatter", "lines of dashes at the very start are the fences of the frontmatter"),
    ("autolink hides tags", "text after # in an address is not a tag, as in zk"),
    ("bare url is no tag", "text after # in an address is not a tag, as in zk"),
    ("carriage return alone", "it ends no line: the lines of a store end by line feeds"),
    ("rare entity", "entities beyond the common ones stay as they are written: their table is larger than the scanner"),
    ("bare url in emphasis of a title", "a bare URL is a link as in zk, and keeps its marks"),
];

#[test]
fn the_examples_read_as_pulldown_cmark_reads_them() {
    let examples = examples(include_str!("commonmark/examples.md"));
    assert!(examples.len() >= 150, "{} examples", examples.len());
    let mut wrong = Vec::new();
    for (name, text) in &examples {
        let (ours, theirs) = (ours(text), theirs(text));
        let is_exception = EXCEPTIONS.iter().any(|(exception, _)| exception == name);
        if (ours == theirs) == is_exception {
            wrong.push(format!("{name}\n{text}\n  ours:   {ours:?}\n  theirs: {theirs:?}"));
        }
    }
    for (exception, _) in EXCEPTIONS {
        assert!(examples.iter().any(|(name, _)| name == exception), "no example {exception:?}");
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), examples.len(), wrong.join("\n\n"));
}

/// Random texts, the same in every run. Two brackets are a wiki link, and `pulldown-cmark` does not treat a tab as
/// white space after a heading, so neither occurs.
#[test]
fn random_texts_read_as_pulldown_cmark_reads_them() {
    let pieces = [
        "\n",
        "\n\n",
        "\na",
        "\n    ",
        "\n  ",
        " ",
        "  ",
        "    ",
        "# ",
        "## ",
        "===\n",
        "---\n",
        "***\n",
        "- ",
        "+ ",
        "1. ",
        "2) ",
        "> ",
        "```\n",
        "~~~\n",
        "`",
        "``",
        "[a]",
        "[",
        "]",
        "(b)",
        "(<d e>)",
        "[a]: /b\n",
        "<c>",
        "<!--",
        "-->",
        "!",
        "\\",
        "*",
        "**",
        "_",
        "&amp;",
        "\"t\"",
        "x",
        "y z",
        " #w1 ",
        " #w2 ",
        " #w3\n",
        "<a b='c'>",
        "</div>\n",
        "<div>\n",
        "<https://e.f>",
    ];
    let config = cases(1_000);
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let read = runner.run(&vec(select(pieces.to_vec()), 1..14), |pieces| {
        // No frontmatter.
        let text = format!("x\n\n{}", pieces.concat());
        let (ours, theirs) = (folded(ours(&text)), folded(theirs(&text)));
        if text.contains("[[") || ours == theirs {
            return Ok(());
        }
        Err(TestCaseError::fail(format!("{text}\n  ours:   {ours:?}\n  theirs: {theirs:?}")))
    });
    assert!(read.is_ok(), "{read:?}");
}

/// Folds white space, because `pulldown-cmark` keeps some of it where lines join.
fn folded(mut reading: Reading) -> Reading {
    let headings = reading.headings.iter_mut().map(|(_, text)| text);
    for text in headings.chain(reading.links.iter_mut().map(|(text, _)| text)) {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    reading
}

/// Name and text of each example: `%% name`, then lines in which `→` is a tab, `·` a space at the end of
/// a line, and `␍` a carriage return.
fn examples(file: &str) -> Vec<(String, String)> {
    let mut examples: Vec<(String, String)> = Vec::new();
    for line in file.lines() {
        if let Some(name) = line.strip_prefix("%% ") {
            assert!(examples.iter().all(|(other, _)| other != name), "two examples {name:?}");
            examples.push((name.into(), String::new()));
        } else if let Some((_, text)) = examples.last_mut() {
            text.push_str(&line.replace('→', "\t").replace('·', " ").replace('␍', "\r"));
            text.push('\n');
        }
    }
    examples
}

#[derive(Debug, Default, PartialEq)]
struct Reading {
    /// Level and text.
    headings: Vec<(u8, String)>,
    /// Text and destination.
    links: Vec<(String, String)>,
    /// The words `#w…` that are text.
    words: BTreeSet<String>,
}

fn ours(text: &str) -> Reading {
    let note = Note::parse(text, TagSyntax { hashtags: true, colon_tags: false, multiword_tags: false });
    let is_markdown = |link: &&saddlebag::document::Link| {
        link.kind == LinkKind::Markdown || text.as_bytes().get(link.span.start) == Some(&b'<')
    };
    let destination = |link: &saddlebag::document::Link| match &link.anchor {
        Some(anchor) => format!("{}#{anchor}", link.target),
        None => link.target.clone(),
    };
    Reading {
        headings: note.headings.iter().map(|heading| (heading.level, heading.text.clone())).collect(),
        links: note.links.iter().filter(is_markdown).map(|link| (link.text.clone(), destination(link))).collect(),
        words: note.tags.into_iter().filter(|tag| tag.starts_with('w')).collect(),
    }
}

fn theirs(text: &str) -> Reading {
    let mut reading = Reading::default();
    // Links by their start: a link is complete only at its end, after the links in its text.
    let mut links = Vec::new();
    let mut open: Vec<(usize, String, String)> = Vec::new();
    let mut heading: Option<String> = None;
    let mut in_code = false;
    for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        let shown = match &event {
            Event::Text(shown) | Event::Code(shown) if !in_code => shown.to_string(),
            Event::SoftBreak | Event::HardBreak => " ".into(),
            _ => String::new(),
        };
        for (_, text, _) in &mut open {
            text.push_str(&shown);
        }
        if let Some(heading) = &mut heading {
            heading.push_str(&shown);
        }
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(level)) => {
                reading.headings.push((number(level), heading.take().unwrap_or_default().trim().into()));
            }
            Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock) => in_code = true,
            Event::End(TagEnd::CodeBlock | TagEnd::HtmlBlock) => in_code = false,
            Event::Start(Tag::Link { link_type, dest_url, .. }) => {
                let is_mail = link_type == LinkType::Email && !dest_url.starts_with("mailto:");
                let destination = if is_mail { format!("mailto:{dest_url}") } else { dest_url.to_string() };
                open.push((range.start, String::new(), destination));
            }
            Event::End(TagEnd::Link) => links.extend(open.pop()),
            Event::Text(_) => reading.words.extend(words(&shown)),
            _ => {}
        }
    }
    links.sort_by_key(|(start, ..)| *start);
    reading.links = links.into_iter().map(|(_, text, to)| (text.trim().into(), decoded(&to))).collect();
    reading
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let is_end = |character: char| !character.is_alphanumeric();
    let tags = text.split('#').skip(1).filter_map(move |rest| rest.split(is_end).next());
    tags.filter(|word| word.starts_with('w')).map(String::from)
}

fn number(level: HeadingLevel) -> u8 {
    level as u8
}

/// Returns the destination as a note has it: decoded unless it has a scheme.
fn decoded(destination: &str) -> String {
    let scheme = destination.split_once(':').map(|(scheme, _)| scheme);
    let has_scheme =
        scheme.is_some_and(|scheme| scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    if has_scheme {
        return destination.into();
    }
    percent_decode_str(destination).decode_utf8().unwrap_or(destination.into()).into_owned()
}
