//! Tests of finding and writing sections.

use proptest::prelude::*;

use super::item;
use super::section::{Contents, Section, find};
use super::sync::replaced;
use saddlebag_collections::prelude::*;
use saddlebag_protocol::ErrorCode;

const BEGIN: &str = "<!-- saddlebag:begin agent=main -->";
const END: &str = "<!-- saddlebag:end -->";

fn refusal(text: &str) -> String {
    find(text, "AGENTS.md").expect_err(text).message.clone()
}

fn section(text: &str) -> Section<'_> {
    find(text, "AGENTS.md").unwrap_or_else(|error| panic!("{text:?}: {error:?}")).expect("a section")
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
    assert_eq!(section(&in_details).line, 2);
}

#[test]
fn a_section_that_was_edited_is_told_from_one_that_was_not() {
    let written = Contents { agent: "main", items: &["- `port`: 8080"], not_listed: 0 }.render();
    for text in [written.clone(), written.replace('\n', "\r\n"), format!("{BEGIN}\n\n{END}")] {
        assert!(!section(&text).is_edited, "{text}");
    }
    let earlier = written.replace("digest=", "generation=3 digest=");
    assert!(!section(&earlier).is_edited, "{earlier}");
    for text in [
        written.replace("8080", "9090"),
        written.replace("digest=", "digest=0"),
        written.replace("## Memory", "## Facts"),
        format!("{BEGIN}\n- `port`: 8080\n{END}"),
        format!("{BEGIN}\n<!-- saddlebag:end generation=1 -->"),
    ] {
        assert!(section(&text).is_edited, "{text}");
    }
}

#[test]
fn a_byte_order_mark_is_not_part_of_a_marker() {
    let text = format!("\u{feff}{BEGIN}\n{END}\n");
    assert_eq!(section(&text).range, 3..text.len() - 1);
}

fn any_text() -> impl Strategy<Value = String> {
    let short = [
        "a", "b c", "\n", "\n\n", " ", "\t", "\r\n", "\"", "`", "- ", "```", ":", "## x", "> ", "<script>", "<div>",
        "\u{200b}", "記", "  ", "---", "[a]: b", "<!--",
    ];
    let long = ["<!-- saddlebag:end -->", "</memory>", "(1 more not listed)"];
    let pieces = [&short[..], &long].concat();
    prop::collection::vec(prop::sample::select(pieces), 1..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// No fact reaches beyond the section, whatever its text and the text around the section.
    #[test]
    fn a_section_is_found_as_it_was_written(
        facts in prop::collection::btree_map(any_text(), any_text(), 0..5),
        agent in "\\PC{1,8}",
        not_listed in 0_usize..3,
        before in prop::sample::select(vec!["", "# Title\n\ntext\n", "- item\n", "> quote\n", "text\n\n    code\n\n"]),
        windows in any::<bool>(),
    ) {
        let texts: Vec<String> = facts.iter().map(|(key, content)| item::render(key, content)).collect();
        let items: Vec<&str> = texts.iter().map(String::as_str).collect();
        let written = Contents { agent: &agent, items: &items, not_listed }.render();
        let text = format!("{before}{written}\nafter\n");
        let text = if windows { text.replace('\n', "\r\n") } else { text };
        let found = section(&text);
        prop_assert_eq!(text[found.range].replace("\r\n", "\n"), written);
        prop_assert_eq!((found.agent, found.is_edited), (agent, false));
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
