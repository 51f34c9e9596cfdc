//! Tests of finding, reading and writing sections.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::item;
use super::layout::replaced;
use super::section::{Contents, Mark, Section, find};
use crate::protocol::ErrorCode;

const BEGIN: &str = "<!-- saddlebag:begin agent=main -->";
const END: &str = "<!-- saddlebag:end -->";

fn refusal(text: &str) -> String {
    find(text, "AGENTS.md").expect_err(text).message.clone()
}

fn section(text: &str) -> Section {
    find(text, "AGENTS.md").unwrap_or_else(|error| panic!("{text:?}: {error:?}")).expect("a section")
}

fn items(text: &str) -> Vec<(Option<String>, String, usize)> {
    section(text).items.into_iter().map(|item| (item.key, item.content, item.line)).collect()
}

#[test]
fn markers_that_are_not_one_pair_are_refused_with_the_line() {
    for (text, what) in [
        (format!("x\n{BEGIN}\n- a: b\n"), "line 2: the section that begins here does not end"),
        (format!("x\n\n{END}\n"), "line 3: the section that ends here does not begin"),
        (format!("{BEGIN}\n{BEGIN}\n{END}"), "line 2: a section begins inside the one of line 1"),
        (format!("{BEGIN}\n{END}\n{BEGIN}\n{END}"), "line 3: a second section begins; the first is at line 1"),
        (format!("{BEGIN}\n{END}\n{END}"), "line 3: the section that ends here does not begin"),
        (format!("  {BEGIN}\n{END}"), "line 1: a marker must begin its line, without indentation"),
        (format!("{BEGIN} x\n{END}"), "line 1: this is not a valid marker"),
        ("<!-- saddlebag:begin\n".to_string(), "line 1: this is not a valid marker"),
        ("<!-- saddlebag:begin -->\n".to_string(), "line 1: this is not a valid marker"),
        ("<!--saddlebag:end-->\n".to_string(), "line 1: this is not a valid marker"),
        ("<!-- saddlebag:start -->\n".to_string(), "line 1: this is not a valid marker"),
        (format!("{BEGIN}\n<!-- saddlebag:end 12 -->"), "line 2: this is not a valid marker"),
        (format!("{BEGIN}\n<!-- saddlebag:end generation=1 -->"), "line 2: this is not a valid marker"),
        (
            format!("{BEGIN}\n<!-- saddlebag:end generation=-1 digest=0123456789abcdef -->"),
            "line 2: this is not a valid marker",
        ),
        (
            format!("{BEGIN}\n<!-- saddlebag:end generation=1 digest=0123456789abcdeF -->"),
            "line 2: this is not a valid marker",
        ),
    ] {
        assert!(refusal(&text).starts_with(&format!("AGENTS.md, {what}")), "{text:?}: {}", refusal(&text));
    }
}

#[test]
fn markers_in_code_do_not_count() {
    for text in [
        format!("```\n{BEGIN}\n```\n"),
        format!("~~~ html\n{END}\n{BEGIN}\n"),
        format!("    {BEGIN}\n    {END}\n"),
        format!("- item\n\n      {BEGIN}\n"),
        format!("<pre>\n{BEGIN}\n</pre>\n"),
        format!("> {BEGIN}\n"),
        format!("Put `{BEGIN}` there.\n"),
    ] {
        assert_eq!(find(&text, "AGENTS.md"), Ok(None), "{text:?}");
    }
    let text = format!("```\n{BEGIN}\n```\n{BEGIN}\n- a: b\n{END}\n```\n{END}\n");
    assert_eq!(section(&text).line, 4);
    let in_details = format!("<details>\n{BEGIN}\n- a: b\n{END}\n</details>\n");
    assert_eq!(items(&in_details), [(Some("a".into()), "b".into(), 3)]);
}

#[test]
fn a_section_is_read_as_people_edit_it() {
    let text = format!(
        "# Project\r\n{BEGIN}\r\n## Facts\r\n\r\n```\r\n- no item\r\n```\r\n\r\n- `port`: 8080\r\n* Use tabs\r\n  everywhere\r\n\
         \r\n  always\r\n- **long**:\r\n\r\n  1. a\r\n\r\n(3 more not listed)\r\n{END}\r\n"
    );
    let found = section(&text);
    assert_eq!((found.line_ending, found.line, found.agent.as_str()), ("\r\n", 2, "main"));
    assert_eq!(found.preface, "## Facts\n\n```\n- no item\n```");
    let expected = [
        (Some("port".to_string()), "8080".to_string(), 9),
        (None, "Use tabs\neverywhere\n\nalways".to_string(), 10),
        (Some("long".to_string()), "1. a".to_string(), 14),
    ];
    assert_eq!(items(&text), expected);
    assert!(text[found.range.clone()].starts_with("<!--") && text[found.range].ends_with("-->"));
}

#[test]
fn an_invalid_item_is_refused_with_its_line() {
    for (inside, what) in [
        ("- a: b\n\nparagraph", "line 4: this is neither an item nor indented below one"),
        ("- a: b\n## Heading", "line 3: this is neither an item nor indented below one"),
        ("- a: b\n```\ncode\n```", "line 3: this is neither an item nor indented below one"),
        ("- a: b\n- a: c", "line 3: `a` is in the section twice"),
        ("- a:", "line 2: `a` has no text"),
        ("text\n\n- ", "line 4: the item is empty"),
    ] {
        let message = refusal(&format!("{BEGIN}\n{inside}\n{END}\n"));
        assert!(message.starts_with(&format!("AGENTS.md, {what}")), "{inside:?}: {message}");
    }
}

#[test]
fn a_byte_order_mark_is_not_part_of_a_marker() {
    let text = format!("\u{feff}{BEGIN}\n{END}\n");
    assert_eq!(section(&text).range, 3..text.len() - 1);
}

fn any_text() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "b c",
        "\n",
        "\n\n",
        " ",
        "\t",
        "\r\n",
        "\"",
        "`",
        "- ",
        "```",
        ":",
        "<!-- saddlebag:end -->",
        "</memory>",
        "## x",
        "> ",
        "(1 more not listed)",
        "<script>",
        "<div>",
        "\u{200b}",
        "記",
        "  ",
        "---",
        "[a]: b",
        "<!--",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 1..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Checks any facts with any text around the section.
    #[test]
    fn a_section_reads_back_as_it_was_written(
        facts in prop::collection::btree_map(any_text(), any_text(), 0..5),
        agent in "\\PC{1,8}",
        not_listed in 0_usize..3,
        generation in any::<u64>(),
        before in prop::sample::select(vec!["", "# Title\n\ntext\n", "- item\n", "> quote\n", "text\n\n    code\n\n"]),
        windows in any::<bool>(),
    ) {
        let texts: Vec<String> = facts.iter().map(|(key, content)| item::render(key, content)).collect();
        let items: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (written, digest) = Contents { agent: &agent, preface: "", items: &items, not_listed, generation }.render();
        let text = format!("{before}{written}\nafter\n");
        let text = if windows { text.replace('\n', "\r\n") } else { text };
        let found = section(&text);
        let read: Vec<(String, String)> =
            found.items.into_iter().map(|item| (item.key.unwrap_or_default(), item.content)).collect();
        let expected: Vec<(String, String)> = facts.into_iter().collect();
        prop_assert_eq!(read, expected, "{}", text);
        prop_assert_eq!((found.agent, found.mark), (agent, Some(Mark::new(generation, &digest))));
        prop_assert_eq!(found.digest, digest);
        prop_assert_eq!(text[found.range].replace("\r\n", "\n"), written);
    }

    #[test]
    fn no_text_is_a_panic(text in any_text(), inside in any_text()) {
        let _ = find(&text, "x");
        let _ = find(&format!("{text}\n{BEGIN}\n{inside}\n{END}\n"), "x");
    }
}

#[test]
#[cfg_attr(debug_assertions, should_panic(expected = "the section is not in the file"))]
fn a_file_that_ends_before_its_section_is_not_cut() {
    let text = format!("# Rules\n\n{BEGIN}\n- a: b\n{END}\n\nMore.\n");
    let section = section(&text);
    assert_eq!(replaced(&text, Some(&section), "new").unwrap(), "# Rules\n\nnew\n\nMore.\n");
    assert_eq!(replaced("# Rules\n", Some(&section), "new").unwrap_err().code, ErrorCode::Internal);
}
