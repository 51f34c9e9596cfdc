//! Tests of edits: the change, and the bytes that must stay.

use super::*;

fn titled(text: &str, title: &str) -> String {
    let edited = set_title(text, &note(text), title);
    assert_eq!(note(&edited).title, title, "{edited:?}");
    edited
}

fn with_field(text: &str, key: &str, value: &str) -> String {
    let edited = set_field(text, key, value);
    let read = note(&format!("---\nkey: {value}\n---\n"));
    assert_eq!(note(&edited).frontmatter.value(key), read.frontmatter.value("key"), "{edited:?}");
    edited
}

#[test]
fn spans_that_do_not_fit_are_left_out() {
    let text = "héllo";
    let replace = |spans: &[(core::ops::Range<usize>, &str)]| {
        let spans: Vec<_> = spans.iter().map(|(range, with)| (range.clone(), String::from(*with))).collect();
        replace_spans(text, &spans)
    };
    assert_eq!(replace(&[(0..1, "H"), (1..3, "e"), (6..6, "!")]), "Hello!");
    assert_eq!(replace(&[(3..4, "L"), (0..1, "H")]), "héLlo");
    assert_eq!(replace(&[(0..3, "x"), (1..4, "y")]), "xllo");
    assert_eq!(replace(&[(2..3, "x"), (0..99, "y")]), text);
    #[expect(clippy::reversed_empty_ranges)]
    let reversed = 4..1;
    assert_eq!(replace(&[(reversed, "x")]), text);
}

#[test]
fn a_block_is_appended_after_a_blank_line() {
    for (text, block, expected) in [
        ("", "a", "a\n"),
        ("a", "b", "a\n\nb\n"),
        ("a\n", "b\n", "a\n\nb\n"),
        ("a\n\n", "\nb", "a\n\nb\n"),
        ("a\r\n", "b\nc", "a\r\n\r\nb\r\nc\r\n"),
        ("- a\n", "- b", "- a\n- b\n"),
        ("- a", "- b", "- a\n- b\n"),
        ("- a\n  c\n", "1. b", "- a\n  c\n1. b\n"),
        ("- a\n", "b", "- a\n\nb\n"),
        ("a\n", "- b", "a\n\n- b\n"),
        ("> - a\n", "- b", "> - a\n\n- b\n"),
        ("---\nx: y\n---", "a", "---\nx: y\n---\n\na\n"),
        ("---\nx: y\n---\n", "a", "---\nx: y\n---\n\na\n"),
        ("\u{feff}", "a", "\u{feff}a\n"),
        ("a", "", "a"),
        ("a\n\n```\nb\n```\n", "c", "a\n\n```\nb\n```\n\nc\n"),
        ("a\n\n```\nb\n", "c", "a\n\nc\n\n```\nb\n"),
        ("```\nb", "c", "c\n\n```\nb"),
        ("a\n<!-- b\n\nc", "d", "a\n\nd\n\n<!-- b\n\nc"),
        ("- a\n  ```\n  b\n", "c", "- a\n  ```\n  b\n\nc\n"),
    ] {
        assert_eq!(append_block(text, block), expected, "{text:?} + {block:?}");
    }
}

#[test]
fn a_title_changes_where_it_stands() {
    for (text, expected) in [
        ("# Old\n\nb\n", "# New\n\nb\n"),
        ("a\n\n# *Old* ##\r\nb", "a\n\n# New ##\r\nb"),
        // The heading of a section is not a title.
        ("a\n\n## Risks\nb", "# New\n\na\n\n## Risks\nb"),
        ("Old\ntitle\n===\nb", "New\n===\nb"),
        ("> - # Old\n", "> - # New\n"),
        (
            "---\na: 1 # c\ntitle:  Old  # why\nb: 2\n---\n# H\n",
            "---\na: 1 # c\ntitle:  \"New\"  # why\nb: 2\n---\n# H\n",
        ),
        ("---\r\nTitle: 'Old'\r\n---\r\nb\r\n", "---\r\nTitle: \"New\"\r\n---\r\nb\r\n"),
        ("---\ntitle: |\n  Old\n  title\n# c\nb: 2\n---\n", "---\ntitle: \"New\"\n# c\nb: 2\n---\n"),
        ("---\ntitle: Old\n  title\n---\n", "---\ntitle: \"New\"\n---\n"),
        ("---\ntitle: ~\n---\n# Old\n", "---\ntitle: ~\n---\n# New\n"),
        ("b\n", "# New\n\nb\n"),
        ("", "# New\n"),
        ("---\na: 1\n---\n\nb\n", "---\na: 1\n---\n\n# New\n\nb\n"),
        ("---\na: 1\n---\nb\n", "---\na: 1\n---\n\n# New\n\nb\n"),
        ("---\na: 1\n---", "---\na: 1\n---\n\n# New\n"),
    ] {
        assert_eq!(titled(text, "New"), expected, "{text:?}");
    }
}

#[test]
fn a_title_of_any_text_reads_back() {
    assert_eq!(titled("# a\n", "C# and *b* [[c]]"), "# C\\# and \\*b\\* \\[\\[c\\]\\]\n");
    assert_eq!(titled("# a\n", "Fix #12: snake_case"), "# Fix #12: snake_case\n");
    assert_eq!(titled("a\n==\n", "- b"), "# - b\n");
    assert_eq!(titled("a\n==\n", "# b"), "# # b\n");
    assert_eq!(titled("---\ntitle: a\n---\n", "Error: \"x\"\n#y"), "---\ntitle: \"Error: \\\"x\\\"\\n#y\"\n---\n");
}

#[test]
fn a_field_is_replaced_or_added() {
    for (text, expected) in [
        ("a\n", "---\ntags: [x]\n---\n\na\n"),
        ("\na\n", "---\ntags: [x]\n---\n\na\n"),
        ("", "---\ntags: [x]\n---\n"),
        ("\u{feff}a\r\n", "\u{feff}---\r\ntags: [x]\r\n---\r\n\r\na\r\n"),
        ("---\n---\n", "---\ntags: [x]\n---\n"),
        ("---\na: 1\n...\n", "---\na: 1\ntags: [x]\n...\n"),
        ("---\n# c\n  a: 1\n---\n", "---\n# c\n  a: 1\n  tags: [x]\n---\n"),
        ("---\n{a: 1}\n---\n", "---\n{tags: [x], a: 1}\n---\n"),
        ("---\n{}\n---\n", "---\n{tags: [x]}\n---\n"),
        ("---\nTags:\na: 1\n---\n", "---\nTags: [x]\na: 1\n---\n"),
        ("---\ntags: # c\n---\n", "---\ntags: [x] # c\n---\n"),
        ("---\ntags: [a,\n  b] # c\nz: 1\n---\n", "---\ntags: [x] # c\nz: 1\n---\n"),
        ("---\ntags:\n- a\n- b\n\n# c\nz: 1\n---\n", "---\ntags: [x]\n\n# c\nz: 1\n---\n"),
        ("---\ntags:\n  - a\n---\n", "---\ntags: [x]\n---\n"),
        ("---\nb: &b [é, é]\ntags: *b\n---\n", "---\nb: &b [é, é]\ntags: [x]\n---\n"),
        ("---\n\"tags\" : a\n---\n", "---\n\"tags\" : [x]\n---\n"),
        ("---\njust text\n---\n", "---\ntags: [x]\n---\n\n---\njust text\n---\n"),
    ] {
        assert_eq!(with_field(text, "tags", "[x]"), expected, "{text:?}");
    }
    let broken = "---\na: b: c\ntitle: d\n---\n";
    assert_eq!(with_field(broken, "a", "1"), "---\na: 1\ntitle: d\n---\n");
    assert_eq!(with_field(broken, "x", "1"), "---\nx: 1\na: b: c\ntitle: d\n---\n");
    assert_eq!(set_field("", "a b", "1"), "---\n\"a b\": 1\n---\n");
    assert_eq!(with_field("---\n? a\n: b\n---\n", "x", "1"), "---\n? a\n: b\nx: 1\n---\n");
}

proptest! {
    #[test]
    fn quoted_text_reads_back(text in any::<String>()) {
        let note = note(&format!("---\nkey: {}\n---\n", yaml_string(&text)));
        prop_assert_eq!(&note.frontmatter.problem, &None);
        prop_assert_eq!(note.frontmatter.value("key"), Some(&Value::String(text)));
    }

    #[test]
    fn titles_read_back_in_any_text(text in markdown(), title in "[ -~é]{1,20}") {
        let title = normalize_line(&title);
        let edited = set_title(&text, &note(&text), &title);
        if !title.is_empty() && note(&text).frontmatter.problem.is_none() {
            prop_assert_eq!(note(&edited).title, title, "{:?}", edited);
        }
    }

    #[test]
    fn fields_read_back_in_any_text(text in markdown(), value in any::<String>()) {
        let before = note(&text);
        let edited = set_field(&text, "new", &yaml_string(&value));
        let after = note(&edited);
        if before.frontmatter.problem.is_none() {
            prop_assert_eq!(after.frontmatter.value("new"), Some(&Value::String(value)), "{:?}", edited);
            for (key, value) in &before.frontmatter.entries {
                prop_assert_eq!(after.frontmatter.value(key), Some(value));
            }
        }
    }

    #[test]
    fn a_block_appended_is_a_paragraph(text in markdown()) {
        let edited = append_block(&text, "[[the-new-link]]");
        // A line of dashes at the head of the text may find its partner only in the block.
        prop_assert!(note(&edited).links.iter().any(|link| link.target == "the-new-link"), "{:?}", edited);
        prop_assert!(edited.ends_with('\n') || !text.ends_with('\n'));
    }
}

#[test]
fn a_note_of_another_text_loses_nothing() {
    let other = note("---\nkey: a value that is longer than the text\n---\n");
    for text in ["short", "größer als alles, was darin steht und noch viel, viel länger als das"] {
        let edited = set_title(text, &other, "Title");
        assert!(edited.contains(text), "{text} became {edited:?}");
    }
}

#[test]
fn a_comment_after_a_quoted_value_stays() {
    for value in ["\"Beta Note\"", "'It''s # one'", "\"a \\\" # b\"", "Beta"] {
        for newline in ["\n", "\r\n"] {
            let text = format!("---{newline}title: {value} # keep{newline}tags: [a] # too{newline}---{newline}x");
            let set = set_field(&text, "title", "Zeta");
            assert_eq!(set, text.replace(value, "Zeta"));
        }
    }
}
