use alloc::vec::Vec;

use proptest::prelude::*;

use super::bytes;
use crate::{Adjacent, Appends, Conflict, Rules, merge};

const STRICT: Rules = Rules { appends: Appends::Conflict, adjacent: Adjacent::Conflict };
const APPENDS: Rules = Rules { appends: Appends::Both, adjacent: Adjacent::Conflict };

#[track_caller]
fn check(base: &str, ours: &str, theirs: &str, rules: Rules, merged: Option<&str>) {
    let result = merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), rules);
    let text = result.map(|bytes| alloc::string::String::from_utf8(bytes).unwrap());
    assert_eq!(text.as_deref().ok(), merged, "{text:?}");
}

#[test]
fn changes_of_different_lines_are_both_made() {
    check("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", STRICT, Some("A\nb\nC\n"));
    check("a\nb\nc\n", "b\nc\n", "a\nb\nc\nd\n", STRICT, Some("b\nc\nd\n"));
}

#[test]
fn equal_changes_are_made_once() {
    check("a\nb\n", "a\nX\n", "a\nX\n", STRICT, Some("a\nX\n"));
    check("a\n", "a\nnew\n", "a\nnew\n", APPENDS, Some("a\nnew\n"));
    check("a\nb\nc\nd\n", "a\nd\nlast\n", "first\na\nd\n", STRICT, Some("first\na\nd\nlast\n"));
}

#[test]
fn overlapping_and_touching_changes_conflict() {
    check("a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n", STRICT, None);
    check("a\nb\nc\n", "X\nY\nc\n", "a\nZ\nZ\n", STRICT, None);
    // As git does, also if no line is changed by both.
    check("a\nb\n", "X\nb\n", "a\nY\n", STRICT, None);
    check("a\nb\nc\n", "a\nc\n", "a\nb\nnew\nc\n", STRICT, None);
}

#[test]
fn a_conflict_names_the_first_place_in_each_content() {
    let (base, ours, theirs) = (b"1\n2\n3\n4\n5\n", b"0\n1\n2\nours\n4\n5\n", b"1\n2\nthe\nirs\n4\nfive\n");
    let conflict = merge(base, ours, theirs, STRICT).unwrap_err();
    assert_eq!(conflict, Conflict { base: 4..6, ours: 6..11, theirs: 4..12 });
    assert_eq!((&ours[conflict.ours], &theirs[conflict.theirs]), (&b"ours\n"[..], &b"the\nirs\n"[..]));
    let insertions = merge(b"1\n", b"1\n2\n", b"1\n3", STRICT).unwrap_err();
    assert_eq!(insertions, Conflict { base: 2..2, ours: 2..4, theirs: 2..3 });
}

#[test]
fn two_appends_are_both_made_if_the_rules_say_so() {
    check("a\n", "a\nours\n", "a\ntheirs\n", STRICT, None);
    check("a\n", "a\nours\n", "a\ntheirs\n", APPENDS, Some("a\nours\ntheirs\n"));
    check("a", "a\nours", "a\ntheirs", APPENDS, Some("a\nours\ntheirs"));
    check("", "ours\n", "theirs\n", APPENDS, Some("ours\ntheirs\n"));
    // Elsewhere, and beside other changes of the last line, they conflict.
    check("a\nb\n", "a\nours\nb\n", "a\ntheirs\nb\n", APPENDS, None);
    check("a\n", "ours\n", "a\ntheirs\n", APPENDS, None);
    // A change elsewhere does not matter.
    check("a\nb\nc\n", "A\nb\nc\nours\n", "a\nb\nc\ntheirs\n", APPENDS, Some("A\nb\nc\nours\ntheirs\n"));
}

#[test]
fn a_line_that_was_appended_is_removed_though_others_appended_after_it() {
    check("a\nmine\n", "a\nmine\nyours\n", "a\n", Rules::UNDO, Some("a\nyours\n"));
    check("a\nmine\n", "a\nmine\nyours\n", "a\n", STRICT, None);
    // The file was created by the operation.
    check("mine\n", "mine\nyours\n", "", Rules::UNDO, Some("yours\n"));
    // Several lines, of which some are repeated.
    check("a\nx\nx\n", "a\nx\nx\nx\n", "a\n", Rules::UNDO, Some("a\nx\n"));
    check("a\n\n- mine\n", "a\n\n- mine\n\n- yours\n", "a\n", Rules::UNDO, Some("a\n\n- yours\n"));
}

#[test]
fn a_line_that_was_appended_without_an_end_is_removed() {
    check("a\nmine", "a\nmine\nyours", "a", Rules::UNDO, Some("a\nyours"));
    check("a\nmine", "a\nmine\nyours\n", "a", Rules::UNDO, Some("a\nyours\n"));
    check("a\nmine\n", "a\nmine\nyours\n", "a", Rules::UNDO, Some("a\nyours"));
}

#[test]
fn an_undo_goes_around_lines_that_others_wrote_beside_it() {
    // A line was inserted, and others wrote before and after it.
    check("a\nmine\nb\n", "a\nfirst\nmine\nlast\nb\n", "a\nb\n", Rules::UNDO, Some("a\nfirst\nlast\nb\n"));
    // A line was removed, and others changed the one after it.
    check("a\nc\n", "a\nC\n", "a\nb\nc\n", Rules::UNDO, Some("a\nb\nC\n"));
    // A line was changed, and others changed the next one.
    check("A\nb\n", "A\nB\n", "a\nb\n", Rules::UNDO, Some("a\nB\n"));
}

#[test]
fn an_undo_conflicts_with_a_later_change_of_the_same_line() {
    check("a\nmine\n", "a\nmine, and yours\n", "a\n", Rules::UNDO, None);
    // Others wrote between two lines that were appended.
    check("a\nmine\nmore\n", "a\nmine\nyours\nmore\n", "a\n", Rules::UNDO, None);
    // A line was removed, and others wrote in its place.
    check("a\nb\n", "a\nyours\nb\n", "a\nmine\nb\n", Rules::UNDO, None);
}

#[test]
fn an_undo_of_what_others_undid_changes_nothing() {
    check("a\nmine\n", "a\n", "a\n", Rules::UNDO, Some("a\n"));
    check("a\nmine\n", "a\nyours\n", "a\n", Rules::UNDO, None);
}

#[test]
fn a_missing_line_end_is_a_change_of_its_own() {
    check("a\nb", "a\nb\n", "A\nb", STRICT, Some("A\nb\n"));
    check("a\nb\n", "a\nb", "a\nb\nc\n", STRICT, Some("a\nb\nc"));
    check("a\n\nb", "A\n\nb", "a\n\nB", STRICT, Some("A\n\nB"));
}

fn rules() -> impl Strategy<Value = Rules> {
    let appends = prop_oneof![Just(Appends::Conflict), Just(Appends::Both)];
    let adjacent = prop_oneof![Just(Adjacent::Conflict), Just(Adjacent::Apart)];
    (appends, adjacent).prop_map(|(appends, adjacent)| Rules { appends, adjacent })
}

proptest! {
    #[test]
    fn a_side_without_changes_changes_nothing(base in bytes(), other in bytes(), rules in rules()) {
        prop_assert_eq!(merge(&base, &base, &other, rules), Ok(other.clone()));
        prop_assert_eq!(merge(&base, &other, &base, rules), Ok(other.clone()));
        prop_assert_eq!(merge(&base, &other, &other, rules), Ok(other));
    }

    #[test]
    fn both_orders_merge_alike(base in bytes(), ours in bytes(), theirs in bytes()) {
        let (one, two) = (merge(&base, &ours, &theirs, STRICT), merge(&base, &theirs, &ours, STRICT));
        match (one, two) {
            (Ok(one), Ok(two)) => prop_assert_eq!(one, two),
            (Err(one), Err(two)) => {
                prop_assert_eq!((&one.ours, &one.theirs), (&two.theirs, &two.ours));
                prop_assert!(ours.get(one.ours).is_some() && theirs.get(one.theirs).is_some() && base.get(one.base).is_some());
            }
            (one, two) => prop_assert!(false, "{one:?} {two:?}"),
        }
    }

    #[test]
    fn looser_rules_merge_whatever_strict_ones_do(base in bytes(), ours in bytes(), theirs in bytes(), rules in rules()) {
        if let Ok(merged) = merge(&base, &ours, &theirs, STRICT) {
            prop_assert_eq!(merge(&base, &ours, &theirs, rules), Ok(merged));
        }
    }

    /// Whatever an operation appended is removed, and whatever others appended stays.
    #[test]
    fn an_append_is_undone_under_later_appends(
        before in proptest::collection::vec(0_u8..4, 0..6),
        mine in proptest::collection::vec(0_u8..4, 1..4),
        later in proptest::collection::vec(0_u8..4, 0..4),
    ) {
        let lines = |parts: &[&[u8]]| -> Vec<u8> { parts.concat().iter().flat_map(|line| [b'a' + line, b'\n']).collect() };
        let (after, now) = (lines(&[&before, &mine]), lines(&[&before, &mine, &later]));
        prop_assert_eq!(merge(&after, &now, &lines(&[&before]), Rules::UNDO), Ok(lines(&[&before, &later])));
    }

    /// Appends are undone one after the other, in any order, until nothing is left of them.
    #[test]
    fn appends_are_undone_in_any_order(count in 1_usize..8, order in any::<u64>()) {
        let mut numbers = super::Numbers(order | 1);
        let line = |number: usize| format!("- entry {number}\n");
        let text = |numbers: &[usize]| numbers.iter().map(|number| line(*number)).collect::<alloc::string::String>();
        let mut present: Vec<usize> = (0..count).collect();
        let mut now = text(&present).into_bytes();
        while !present.is_empty() {
            let undone = present.remove(numbers.next(present.len()));
            let before = text(&(0..undone).collect::<Vec<_>>());
            let after = text(&(0..=undone).collect::<Vec<_>>());
            match merge(after.as_bytes(), &now, before.as_bytes(), Rules::UNDO) {
                Ok(merged) => now = merged,
                Err(conflict) => prop_assert!(false, "{undone}: {conflict:?} in {:?}", core::str::from_utf8(&now)),
            }
            prop_assert_eq!(&now, &text(&present).into_bytes());
        }
    }
}
