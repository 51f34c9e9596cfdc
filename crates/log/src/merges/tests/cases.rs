//! Merges of chosen texts.

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use crate::merges::{Conflict, Kind, Merged, Part, Sides, common_version, merge};

fn note(base: &str, ours: &str, theirs: &str) -> Merged {
    both_ways(Kind::Note, Some(base), Some(ours), Some(theirs))
}

/// Merges, and checks that the result does not depend on who merges, and that merging again changes nothing.
fn both_ways(kind: Kind, base: Option<&str>, ours: Option<&str>, theirs: Option<&str>) -> Merged {
    let merged = merge(kind, Sides { base, ours, theirs });
    let swapped = merge(kind, Sides { base, ours: theirs, theirs: ours });
    assert_eq!(merged.text, swapped.text, "the other side merged");
    let swap = |conflict: Conflict| Conflict { ours: conflict.theirs, theirs: conflict.ours, ..conflict };
    assert_eq!(merged.conflicts, swapped.conflicts.into_iter().map(swap).collect::<Vec<_>>());
    for side in [ours, theirs] {
        let again = merge(kind, Sides { base, ours: merged.text.as_deref(), theirs: side });
        assert_eq!(again.text, merged.text, "merged again with {side:?}");
    }
    merged
}

#[track_caller]
fn clean(merged: Merged, expected: &str) {
    assert_eq!(merged.text.as_deref(), Some(expected));
    assert_eq!(merged.conflicts, [], "no conflict");
}

fn some(text: &str) -> Option<String> {
    Some(text.to_string())
}

#[test]
fn lines_that_both_sides_only_added_to_a_paragraph_are_there_once_each() {
    clean(note("a\n", "a\nb\n", "a\nc\n"), "a\nb\nc\n");
    clean(
        note("# T\n\na\nz\n\nlast\n", "# T\n\n0\na\nz\n\nlast\n", "# T\n\na\nm\nz\n\nlast\n"),
        "# T\n\n0\na\nm\nz\n\nlast\n",
    );
    clean(note("a\n", "a\nb\nsame\n", "a\nsame\nc\n"), "a\nb\nsame\nc\n");
    // A line that one side changed is not an addition.
    assert_eq!(note("a\nb\n", "a\nB\nc\n", "a\nb\nd\n").conflicts.len(), 1);
}

/// Two machines add a line a day each, to whatever place, and synchronise in the evening.
#[test]
fn a_line_a_day_of_each_of_two_machines_stays_one_line() {
    let mut shared = String::new();
    for day in 0..60 {
        let added = |side: &str| format!("{shared}Fact {side}{day} of the project\n");
        let merged = both_ways(
            Kind::Note,
            Some(&shared).filter(|_| day > 0).map(String::as_str),
            some(&added("a")).as_deref(),
            some(&added("b")).as_deref(),
        );
        assert!(merged.conflicts.len() <= usize::from(day == 0), "day {day}: {:?}", merged.conflicts);
        shared = merged.text.expect("a text");
    }
    assert_eq!(shared.lines().count(), 121, "{shared}");
    assert!(
        (0..60).all(|day| ["a", "b"].iter().all(|side| shared.matches(&format!("Fact {side}{day} of")).count() == 1))
    );
}

/// Ten times the headings take about ten times as long.
#[test]
fn many_equal_headings_are_merged_in_linear_time() {
    let time = |count: usize| {
        let side = |name: &str| (0..count).map(|number| format!("# h\n\n{name} {number}\n\n")).collect::<String>();
        let (ours, theirs) = (side("ours"), side("theirs"));
        let begun = std::time::Instant::now();
        let merged = merge(Kind::Note, Sides { base: Some(""), ours: Some(&ours), theirs: Some(&theirs) });
        let text = merged.text.expect("a text");
        assert!(text.contains("ours 0\n") && text.contains(&format!("theirs {}\n", count - 1)));
        begun.elapsed()
    };
    let (few, many) = (time(3_000), time(30_000));
    assert!(many < few * 30 + std::time::Duration::from_secs(1), "{few:?}, {many:?}");
}

#[test]
fn changes_of_neighbouring_items_are_both_made() {
    clean(
        note("- a b\n- c d\n- e f\n", "- a b 1\n- c d\n- e f\n", "- a b\n- c d 2\n- e f\n"),
        "- a b 1\n- c d 2\n- e f\n",
    );
}

#[test]
fn an_item_below_one_that_the_other_side_deleted_is_reported_and_gets_no_other_parent() {
    let base = "- zero\n- alpha\n  - one\n- last\n";
    let merged = note(base, "- zero\n- alpha\n  - one\n  - new kid\n    - its kid\n- last\n", "- zero\n- last\n");
    assert_eq!(merged.text.as_deref(), Some("- zero\n- last\n"));
    let ours = some("- alpha\n  - new kid\n    - its kid");
    assert_eq!(merged.conflicts, [Conflict { part: Part::Paragraph, base: some("- alpha"), ours, theirs: None }]);
}

#[test]
fn an_item_below_one_that_the_other_side_moved_goes_with_it() {
    clean(
        note(
            "- alpha\n  - one\n- beta\n  - two\n",
            "- beta\n  - two\n- alpha\n  - one\n",
            "- alpha\n  - one\n  - three\n- beta\n  - two\n",
        ),
        "- beta\n  - two\n- alpha\n  - one\n  - three\n",
    );
}

#[test]
fn items_below_one_that_both_changed_stay_below_both_versions() {
    let merged = note(
        "- alpha beta gamma\n  - one\n",
        "- alpha beta delta\n  - one\n  - of ours\n",
        "- alpha beta epsilon\n  - one\n  - by theirs\n",
    );
    let expected = "- alpha beta delta\n- alpha beta epsilon\n  - one\n  - of ours\n  - by theirs\n";
    assert_eq!((merged.text.as_deref(), merged.conflicts.len()), (Some(expected), 1));
}

#[test]
fn what_both_insert_at_one_place_is_kept_in_a_fixed_order() {
    clean(note("- a\n", "- a\n- from one\n", "- a\n- by two\n"), "- a\n- by two\n- from one\n");
}

#[test]
fn a_paragraph_that_both_changed_is_kept_twice_and_reported() {
    let merged = note("# T\n\nThe port is 5432.\n", "# T\n\nThe port is 5433.\n", "# T\n\nThe port is 6000.\n");
    assert_eq!(merged.text.as_deref(), Some("# T\n\nThe port is 5433.\n\nThe port is 6000.\n"));
    let base = some("The port is 5432.");
    let (ours, theirs) = (some("The port is 5433."), some("The port is 6000."));
    assert_eq!(merged.conflicts, [Conflict { part: Part::Paragraph, base, ours, theirs }]);
}

#[test]
fn both_versions_of_a_paragraph_stand_in_its_place() {
    let base = "- buy bread today\n- the port is 5432\n- last\n";
    let ours = "- buy bread today\n- milk\n- the port is 5433\n- last\n";
    let merged = note(base, ours, "- buy rye bread today\n- the port is 6000\n- last\n");
    let expected = "- buy rye bread today\n- milk\n- the port is 5433\n- the port is 6000\n- last\n";
    assert_eq!(merged.text.as_deref(), Some(expected));
}

#[test]
fn two_versions_of_a_paragraph_of_which_each_side_deleted_another_are_reported() {
    let (one, other) = ("The port is 7070 here.\n", "The port is 9090 here.\n");
    let base = format!("# Port\n\n{one}\n{other}");
    let merged = note(&base, &format!("# Port\n\n{one}"), &format!("# Port\n\n{other}"));
    assert_eq!(merged.text.as_deref().map(str::trim_end), Some("# Port"));
    let [conflict] = merged.conflicts.as_slice() else { panic!("{:?}", merged.conflicts) };
    assert_eq!((conflict.ours.as_deref(), conflict.theirs.as_deref()), (Some(one.trim_end()), Some(other.trim_end())));
    // Other paragraphs are two deletions that have nothing to do with each other.
    let base = format!("# Port\n\n{one}\nThe lamp is green.\n");
    clean(note(&base, &format!("# Port\n\n{one}"), "# Port\n\nThe lamp is green.\n"), "# Port\n");
}

#[test]
fn an_edit_of_a_deleted_paragraph_is_reported_and_the_paragraph_stays_deleted() {
    let merged = note("- keep\n- the old port is 5432\n", "- keep\n", "- keep\n- the old port is 5433\n");
    assert_eq!(merged.text.as_deref(), Some("- keep\n"));
    let (base, theirs) = (some("- the old port is 5432"), some("- the old port is 5433"));
    assert_eq!(merged.conflicts, [Conflict { part: Part::Paragraph, base, ours: None, theirs }]);
}

#[test]
fn an_item_beside_a_deleted_one_stays() {
    clean(note("- buy bread\n", "", "- buy bread\n- buy butter\n"), "- buy butter\n");
}

#[test]
fn a_file_that_one_side_deleted_stays_deleted() {
    let merged = both_ways(Kind::Note, Some("one\n"), None, Some("two\n"));
    assert_eq!(merged.text, None);
    assert_eq!(merged.conflicts, [Conflict { part: Part::File, base: some("one"), ours: None, theirs: some("two") }]);
    assert_eq!(both_ways(Kind::Note, Some("one\n"), None, Some("one\n")), Merged::default());
}

#[test]
fn what_was_added_to_a_deleted_log_stays() {
    let (base, theirs) = ("\n### 09:00 — a\nA.\n", "\n### 09:00 — a\nA.\n\n### 10:00 — b\nB.\n");
    let merged = both_ways(Kind::Log, Some(base), None, Some(theirs));
    assert_eq!(merged.text.as_deref(), Some("\n### 10:00 — b\nB.\n"));
}

#[test]
fn logs_are_united_in_order_of_time() {
    let base = "\n### 09:00 — a\nA.\n";
    let ours = "\n### 09:00 — a\nA.\n\n### 10:00 — b\nB.\n\n- item\n\n### 12:00 — d\nD.\n";
    let theirs = "\n### 09:00 — a\nA.\n\n### 11:00 — c\nC.\n";
    let expected = "\n### 09:00 — a\nA.\n\n### 10:00 — b\nB.\n\n- item\n\n### 11:00 — c\nC.\n\n### 12:00 — d\nD.\n";
    clean(both_ways(Kind::Log, Some(base), Some(ours), Some(theirs)), expected);
    let expected = "\n### 10:00 — b\nB.\n\n### 11:00 — c\nC.\n";
    let (ours, theirs) = ("\n### 10:00 — b\nB.\n", "\n### 11:00 — c\nC.\n");
    clean(both_ways(Kind::Log, None, Some(theirs), Some(ours)), expected);
}

#[test]
fn the_same_text_in_two_new_entries_or_sections_is_kept_in_both() {
    let (ours, theirs) = ("\n### 10:00 — b\nDone.\n", "\n### 11:00 — c\nDone.\n");
    let expected = "\n### 10:00 — b\nDone.\n\n### 11:00 — c\nDone.\n";
    clean(both_ways(Kind::Log, None, Some(ours), Some(theirs)), expected);
    let (ours, theirs) = ("\n### 10:00 — b\nOf A.\n", "\n### 10:00 — b\nOf B.\n");
    let expected = "\n### 10:00 — b\nOf A.\n\n### 10:00 — b\nOf B.\n";
    clean(both_ways(Kind::Log, None, Some(ours), Some(theirs)), expected);
    let (ours, theirs) = ("# T\n\n## A\n\nTo do.\n", "# T\n\n## B\n\nTo do.\n");
    clean(note("# T\n", ours, theirs), "# T\n\n## A\n\nTo do.\n\n## B\n\nTo do.\n");
}

#[test]
fn frontmatter_is_merged_by_field() {
    let base = "---\ntitle: Plan\ntags: [a, b]\nupdated: 2026-05-01T00:00:00Z\n---\n\nText.\n";
    let ours = "---\ntitle: The plan\ntags: [a, b, d]\nupdated: 2026-05-02T00:00:00Z\n---\n\nText.\n";
    let theirs = "---\ntitle: Plan\ntags: [b, c]\nupdated: 2026-05-03T00:00:00Z\nmine: 1\n---\n\nText.\n\nMore.\n";
    let expected =
        "---\ntitle: The plan\ntags: [b, c, d]\nupdated: 2026-05-03T00:00:00Z\nmine: 1\n---\n\nText.\n\nMore.\n";
    clean(note(base, ours, theirs), expected);
    let base = "---\ntags: [a]\n# mine\nother: 1\n---\n\nText.\n";
    let expected = "---\ntags: [a, b, c]\n# mine\nother: 1\n---\n\nText.\n";
    clean(note(base, &base.replace("[a]", "[a, b]"), &base.replace("[a]", "[a, c]")), expected);
}

#[test]
fn fields_whose_keys_differ_in_case_are_both_kept() {
    let base = "---\nTitle: A\ntitle: B\n---\n\nText.\n";
    clean(note(base, &base.replace("Text.", "Text.\n\nOurs."), base), &base.replace("Text.", "Text.\n\nOurs."));
    let (ours, theirs) = (base.replace("Text.", "Ours.\n\nText."), base.replace("Text.", "Text.\n\nTheirs."));
    clean(note(base, &ours, &theirs), &base.replace("Text.", "Ours.\n\nText.\n\nTheirs."));
}

#[test]
fn large_texts_are_merged_in_time() {
    let lines = |mark: &str, count: usize| -> String {
        let line =
            |number: usize| std::format!("- item {number} {}\n", if number.is_multiple_of(2) { mark } else { "" });
        (0..count).map(line).collect()
    };
    let begun = std::time::Instant::now();
    let base = lines("base", 40_000);
    note(&base, &lines("ours", 40_000), &base);
    let merged = merge(
        Kind::Note,
        Sides { base: Some(&base), ours: Some(&lines("ours", 40_000)), theirs: Some(&lines("theirs", 40_000)) },
    );
    assert!(merged.text.is_some_and(|text| text.contains("item 39998 ours") && text.contains("item 39998 theirs")));
    let entry = |mark: &str| std::format!("\n### 10:00 — x\n{}", lines(mark, 20_000));
    let _ = merge(Kind::Log, Sides { base: None, ours: Some(&entry("ours")), theirs: Some(&entry("theirs")) });
    let log = |mark: &str| -> String {
        (0..10_000).map(|n| std::format!("\n### 10:{:02} — {mark}{n}\nText.\n", n % 60)).collect()
    };
    let _ = merge(Kind::Log, Sides { base: Some("\n### 09:00 — a\n"), ours: Some(&log("a")), theirs: Some(&log("b")) });
    let field = |mark: &str| -> String { (0..4_000).map(|n| std::format!("f{n}: {mark}\n")).collect() };
    let note = |mark: &str| std::format!("---\n{}---\n\nText.\n", field(mark));
    let _ = merge(Kind::Note, Sides { base: Some(&note("a")), ours: Some(&note("b")), theirs: Some(&note("c")) });
    assert!(begun.elapsed().as_secs() < 60, "it took {:?}", begun.elapsed());
}

#[test]
fn a_field_that_both_changed_has_the_newer_value() {
    let of =
        |port: &str, day: u32| std::format!("---\nport: {port}\nupdated: 2026-05-0{day}T00:00:00Z\n---\n\nText.\n");
    let merged = note(&of("1", 1), &of("2", 3), &of("9", 2));
    assert_eq!(merged.text, Some(of("2", 3)));
    let part = Part::Field("port".into());
    assert_eq!(
        merged.conflicts,
        [Conflict { part, base: some("port: 1"), ours: some("port: 2"), theirs: some("port: 9") }]
    );
}

#[test]
fn a_forgotten_entry_stays_forgotten_with_the_edited_text() {
    let of = |fields: &str, text: &str| std::format!("---\nkey: k\n{fields}---\n\n{text}\n");
    let merged = note(
        &of("", "Old text here."),
        &of("forgotten: 2026-05-02T00:00:00Z\n", "Old text here."),
        &of("", "New text here."),
    );
    assert_eq!(merged.text, Some(of("forgotten: 2026-05-02T00:00:00Z\n", "New text here.")));
    assert_eq!(merged.conflicts.len(), 1);
    // A restored entry is no longer forgotten.
    let forgotten = of("forgotten: 2026-05-02T00:00:00Z\n", "Text.");
    clean(note(&forgotten, &of("", "Text."), &forgotten.replace("Text.", "Text.\n\nMore.")), &of("", "Text.\n\nMore."));
}

#[test]
fn a_text_of_both_sides_waits_for_approval_again() {
    let approved = "provenance: tool\napproved: 2026-05-02T00:00:00Z\n";
    let of = |fields: &str, text: &str| std::format!("---\nkey: k\n{fields}---\n\n{text}\n");
    let base = of("provenance: tool\n", "One.");
    // The approved text is the result: it stays approved.
    clean(note(&base, &of(approved, "One."), &base), &of(approved, "One."));
    clean(
        note(&base, &of(approved, "One."), &of("provenance: tool\n", "One.\n\nTwo.")),
        &of("provenance: tool\n", "One.\n\nTwo."),
    );
    clean(
        note(&base, &of(approved, "Zero.\n\nOne."), &of("provenance: tool\n", "One.\n\nTwo.")),
        &of("provenance: tool\n", "Zero.\n\nOne.\n\nTwo."),
    );
    // A person's text and an import's: the import's provenance.
    clean(
        note(&of("", "One."), &of("", "Zero.\n\nOne."), &of("provenance: import\n", "One.\n\nTwo.")),
        &of("provenance: import\n", "Zero.\n\nOne.\n\nTwo."),
    );
    // A field of untrusted text in a trusted one.
    let titled = of("title: Do this\nprovenance: import\n", "One.");
    let merged = note(&of("", "One."), &of("", "One.\n\nTwo."), &titled);
    assert!(merged.text.unwrap().contains("provenance: import"));
}

#[test]
fn frontmatter_that_is_not_yaml_is_one_value() {
    let broken = "---\ntitle: [a\nprovenance: tool\n---\n\nText.\n";
    let merged = note("Text.\n", broken, "Text.\n\nMore.\n");
    assert_eq!(merged.text.as_deref(), Some("---\nprovenance: import\n---\n\nText.\n\nMore.\n"));
    assert_eq!(merged.conflicts.len(), 1);
}

#[test]
fn without_a_base_both_texts_stay_and_are_reported() {
    let merged = both_ways(Kind::Note, None, Some("# A\n\nOne.\n"), Some("# A\n\nTwo.\n"));
    assert_eq!(merged.text.as_deref(), Some("# A\n\nOne.\n\nTwo.\n"));
    assert_eq!(merged.conflicts.len(), 1);
    clean(both_ways(Kind::Note, None, Some("# A\n\nOne.\n"), Some("# A\n")), "# A\n\nOne.\n");
    clean(both_ways(Kind::Note, None, Some("# A\n\n- one\n"), Some("# A\n\n- two\n")), "# A\n\n- one\n- two\n");
}

#[test]
fn a_change_of_line_ends_is_a_change() {
    clean(note("a\n\nb\n", "a\r\n\r\nb\r\n", "a\n\nb\n\nc\n"), "a\r\n\r\nb\r\n\r\nc\r\n");
    clean(
        note("a\r\n\r\nb\r\n", "a\r\n\r\nb\r\n\r\nd\r\n", "a\r\n\r\nb\r\n\r\nc\r\n"),
        "a\r\n\r\nb\r\n\r\nc\r\n\r\nd\r\n",
    );
}

#[test]
fn code_is_one_block() {
    let base = "Run:\n\n```\nmake\n\n- all\n```\n";
    let merged = note(base, &base.replace("make", "make all now"), &base.replace("- all", "- none"));
    assert_eq!(merged.conflicts.len(), 1);
    assert_eq!(merged.text.unwrap().matches("```").count(), 4, "both versions are whole");
}

#[test]
fn rows_of_a_table_are_merged_one_by_one() {
    let base = "| a | b |\n|---|---|\n| 1 | 2 |\n";
    clean(
        note(base, &std::format!("{base}| 3 | 4 |\n"), &base.replace("1 | 2", "1 | 5")),
        "| a | b |\n|---|---|\n| 1 | 5 |\n| 3 | 4 |\n",
    );
}

#[test]
fn the_common_version_is_one_that_both_come_from() {
    let versions = ["a\n", "a\n\nb\n", "a\n\nb\n\nc\n"];
    assert_eq!(common_version(&versions, "a\n\nb\n\nc\n\nd\n", "a\n\nb\n\nx\n"), Some(1));
    assert_eq!(common_version(&versions, "a\n\nb\n\nc\n", "x\n"), None);
    assert_eq!(common_version(&[], "a\n", "a\n"), None);
    // The file was replaced by that of the other machine, and this machine changed it since. What it had before is the copy.
    let versions = ["a\n", "a\n\ne\n", "a\n\nf\n", "a\n\nf\n\nx\n"];
    assert_eq!(common_version(&versions, "a\n\nf\n\nx\n", "a\n\ne\n"), Some(0));
    // Both wrote the same line, each beside other lines.
    let versions = ["a\n", "a\n\ne\n", "a\n\ne\n\nsame\n"];
    assert_eq!(common_version(&versions, "a\n\ne\n\nsame\n", "a\n\ne\n\nsame\n\nf\n"), Some(1));
    assert_eq!(common_version(&["# T\n\na\n", "# T\n\nb\n"], "# T\n\nc\n", "# T\n\nd\n"), None);
    assert_eq!(common_version(&versions, "a\n\ne\n\nsame\n", "a\n\nsame\n\nf\n"), Some(0));
}

#[test]
fn texts_of_one_paragraph_come_from_the_oldest_version_that_was_made_at_the_same_time() {
    let of = |made: u32, tag: &str, text: &str| std::format!("---\ncreated: {made}\ntags: [{tag}]\n---\n\n{text}\n");
    let (base, tagged, corrected) = (of(1, "", "Port 1"), of(1, "x", "Port 1"), of(1, "", "Port 2"));
    let found = |versions: &[&str], one: &str, other: &str| {
        let place = common_version(versions, one, other);
        assert_eq!(place, common_version(versions, other, one));
        place
    };
    assert_eq!(found(&[&base], &tagged, &corrected), Some(0));
    assert_eq!(found(&[&base, &of(1, "y", "Port 2")], &tagged, &of(1, "", "Port 3")), Some(0));
    clean(note(&base, &corrected, &tagged), &of(1, "x", "Port 2"));
    // This machine has corrected it since, and the other one has the text from before that.
    assert_eq!(found(&[&base, &corrected], &tagged, &corrected), Some(0));
    let (third, first) = (of(1, "", "Port 3"), of(1, "x", "Port 2"));
    assert_eq!(found(&[&base, &corrected, &third], &first, &third), Some(1));
    assert_eq!(found(&[&base, &corrected, &first, &third], &of(1, "z", "Port 2"), &third), Some(1));
    assert_eq!(found(&[&base, &corrected, &third], &of(1, "", "Port 4"), &third), Some(0));
    // The copy is what this machine had before the other one's text came.
    assert_eq!(found(&[&base, &corrected, &third], &corrected, &third), None);
    // One may be a return to the earlier text, or each made its own file, or one of them is the version.
    assert_eq!(found(&[&base, &corrected], &tagged, &of(1, "y", "Port 2")), None);
    assert_eq!(found(&[&base], &tagged, &of(2, "", "Port 2")), None);
    assert_eq!(found(&[&base], &base, &corrected), None);
    assert_eq!(found(&[&of(1, "", "Port 1\n\nMore")], &tagged, &corrected), None);
}

#[test]
fn a_day_that_both_made_has_one_heading_and_each_line_once_in_the_order_of_time() {
    let (ours, theirs) = ("# 2026-01-01\n\n- 08:00 x\n- 09:00 a", "# 2026-01-01\n\n- 08:00 x\n- 08:30 b");
    let expected = "# 2026-01-01\n\n- 08:00 x\n- 08:30 b\n- 09:00 a";
    clean(both_ways(Kind::Log, None, Some(ours), Some(theirs)), expected);
    clean(both_ways(Kind::Log, Some(""), Some(ours), Some(theirs)), expected);
    let (ours, theirs) = ("# D\n\n- 03:54 from desktop\n", "# D\n\n- 03:53 from laptop\n");
    let expected = "# D\n\n- 03:53 from laptop\n- 03:54 from desktop\n";
    clean(both_ways(Kind::Log, None, Some(ours), Some(theirs)), expected);
    let head = "---\ntitle: D\ncreated: 2026-01-01T0";
    let of = |hour: u32, rest: &str| std::format!("{head}{hour}:00:00Z\n---\n\n{rest}");
    clean(both_ways(Kind::Log, None, Some(&of(7, ours)), Some(&of(6, theirs))), &of(6, expected));
}

#[test]
fn entries_with_headings_and_lines_of_a_day_are_united() {
    let ours = "# D\n\n- 08:00 x\n  more\n  - below\n\n### 09:00 — h\nSame.\n- 10:00 y\n";
    let theirs = "# D\n\n- 08:00 x\n  more\n- 08:20 z\n\n### 09:00 — h\nSame.\n- 09:30 w\n- 10:00 y\n";
    let expected = "# D\n\n- 08:00 x\n  more\n  - below\n- 08:20 z\n\n### 09:00 — h\nSame.\n- 09:30 w\n- 10:00 y\n";
    clean(both_ways(Kind::Log, None, Some(ours), Some(theirs)), expected);
    // Lines of one side that are there twice, and lines that are not in the order of time.
    let (ours, theirs) = ("# D\n\n- 08:00 x\n- 08:00 x\n- 07:00 y\n", "# D\n\n- 07:00 y\n- 08:00 x\n");
    clean(both_ways(Kind::Log, None, Some(ours), Some(theirs)), ours);
}

#[test]
fn lists_that_both_made_in_another_order_have_each_item_once() {
    let (ours, theirs) = ("# T\n\n- a\n- b\n- c\n", "# T\n\n- c\n- d\n- a\n");
    clean(both_ways(Kind::Note, None, Some(ours), Some(theirs)), "# T\n\n- a\n- b\n- c\n- d\n");
    let (ours, theirs) = ("- alpha\n  - x\n", "- beta\n  - x\n");
    clean(both_ways(Kind::Note, None, Some(ours), Some(theirs)), "- alpha\n  - x\n- beta\n  - x\n");
    let (ours, theirs) = ("# A\n\na\n\n# B\n\nb\n", "# B\n\nb\n\nof theirs\n\n# A\n\na\n");
    clean(both_ways(Kind::Note, None, Some(ours), Some(theirs)), theirs);
}

#[test]
fn what_only_one_side_has_at_a_place_of_a_note_that_both_made_needs_no_review() {
    clean(both_ways(Kind::Note, None, Some("x\n\ncommon"), Some("common\n\ny")), "x\n\ncommon\n\ny");
    let merged = both_ways(Kind::Note, None, Some("x\n\ncommon\n\nz"), Some("y\n\ncommon"));
    assert_eq!((merged.text.as_deref(), merged.conflicts.len()), (Some("x\n\ny\n\ncommon\n\nz"), 1));
}

#[test]
fn a_paragraph_that_both_moved_is_there_once() {
    clean(note("a\n\nb\n\nc\n\nd\n", "d\n\na\n\nb\n\nc\n", "a\n\nd\n\nb\n\nc\n"), "d\n\na\n\nb\n\nc\n");
    // With what one side added below it.
    let rest = "- beta\n- gamma\n- delta\n- epsilon\n";
    let base = std::format!("- alpha\n  - one\n{rest}");
    let ours = rest.replace("- delta\n", "- delta\n- alpha\n  - one\n");
    let merged = note(&base, &ours, &std::format!("{rest}- alpha\n  - one\n  - new\n    - kid\n"));
    clean(merged, &ours.replace("one\n", "one\n  - new\n    - kid\n"));
    let (b, c) = ("# B\n\nb\n\nbb\n\n", "# C\n\nc\n\ncc\n\n");
    let ours = std::format!("{b}{c}# A\n\na\n\nof ours\n");
    let expected = std::format!("{b}# A\n\na\n\nof ours\n\n{}", c.trim_end());
    let merged = note(&std::format!("# A\n\na\n\n{b}{c}"), &ours, &std::format!("{b}# A\n\na\n\n{c}"));
    clean(Merged { text: merged.text.map(|text| text.trim_end().into()), ..merged }, &expected);
    // What one side wrote more often stays.
    clean(note("a\n\nb\n\nc\n", "c\n\na\n\nc\n\nb\n", "a\n\nc\n\nb\n"), "c\n\na\n\nc\n\nb\n");
    // The lines of two other tables stay.
    let (of_b, text, of_c) =
        ("| b |\n|---|\n| 2 |\n\n", "Intro.\n\nMore.\n\nLast.\n\nEnd.\n\n", "| c |\n|---|\n| 3 |\n");
    let base = "Intro.\n\nMore.\n\n| a |\n|---|\n| 1 |\n\nLast.\n\nEnd.\n";
    let merged = note(base, &std::format!("{of_b}{}\n", text.trim_end()), &std::format!("{text}{of_c}"));
    assert_eq!(merged.text, Some(std::format!("{of_b}{text}{of_c}")));
}
