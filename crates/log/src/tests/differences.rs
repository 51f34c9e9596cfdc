use alloc::string::String;
use alloc::vec::Vec;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{Numbers, bytes, texts};
use crate::{Hunk, delta, hunks, unified};

#[test]
fn hunks_are_whole_lines() {
    assert_eq!(hunks(b"a\nb\nc\n", b"a\nX\nc\n"), [Hunk { before: 2..4, after: 2..4 }]);
    assert_eq!(hunks(b"a\nab\n", b"a\nb\n"), [Hunk { before: 2..5, after: 2..4 }]);
    assert_eq!(hunks(b"a", b"a\n"), [Hunk { before: 0..1, after: 0..2 }]);
    assert_eq!(hunks(b"a\nb", b"a\nb\nc"), [Hunk { before: 2..3, after: 2..5 }]);
}

#[test]
fn an_insertion_and_a_deletion_have_an_empty_side() {
    assert_eq!(hunks(b"a\nc\n", b"a\nb\nc\n"), [Hunk { before: 2..2, after: 2..4 }]);
    assert_eq!(hunks(b"a\nb\nc\n", b"a\nc\n"), [Hunk { before: 2..4, after: 2..2 }]);
    assert_eq!(hunks(b"", b"a\n"), [Hunk { before: 0..0, after: 0..2 }]);
    assert_eq!(hunks(b"a\n", b""), [Hunk { before: 0..2, after: 0..0 }]);
    assert_eq!(hunks(b"", b""), []);
}

#[test]
fn an_append_that_repeats_lines_is_at_the_end() {
    assert_eq!(hunks(b"a\na\n", b"a\na\na\n"), [Hunk { before: 4..4, after: 4..6 }]);
    assert_eq!(hunks(b"a\na\na\n", b"a\na\n"), [Hunk { before: 4..6, after: 4..4 }]);
}

#[test]
fn a_change_among_equal_lines_is_as_far_down_as_possible() {
    // Also if something after it is different, so that the common beginning does not decide.
    let before = b"a\nx\nx\nb\nc\nd\n";
    assert_eq!(
        hunks(before, b"a\nx\nx\nx\nb\nc\nD\n"),
        [Hunk { before: 6..6, after: 6..8 }, Hunk { before: 10..12, after: 12..14 }]
    );
    // Into the common end.
    assert_eq!(
        hunks(b"1\nk\na\na\n", b"2\nk\na\na\na\n"),
        [Hunk { before: 0..2, after: 0..2 }, Hunk { before: 8..8, after: 8..10 }]
    );
}

#[test]
fn changes_that_can_touch_are_one_hunk() {
    // Two lines were replaced by one: "-a -x +A", not "-a +A", and "-x" after a common "x".
    assert_eq!(hunks(b"a\nx\nx\nb\n", b"A\nx\nb\n"), [Hunk { before: 0..4, after: 0..2 }]);
    // One of three equal lines was replaced.
    assert_eq!(hunks(b"x\nx\nx\n", b"A\nx\nx\n"), [Hunk { before: 0..2, after: 0..2 }]);
    assert_eq!(hunks(b"A\nx\nx\n", b"x\nx\nx\n"), [Hunk { before: 0..2, after: 0..2 }]);
    assert_eq!(hunks(b"x\nx\nx\n1\n", b"A\nx\nx\n2\n").len(), 2);
}

#[test]
fn the_smallest_number_of_lines_is_changed() {
    // The example of Myers' paper: three lines are removed and two inserted.
    let lines = |letters: &str| letters.chars().map(|letter| format!("{letter}\n")).collect::<String>();
    let (before, after) = (lines("abcabba"), lines("cbabac"));
    let changed: usize =
        hunks(before.as_bytes(), after.as_bytes()).iter().map(|hunk| hunk.before.len() + hunk.after.len()).sum();
    assert_eq!(changed, 5 * 2);
}

#[test]
fn a_difference_that_is_too_large_is_one_hunk() {
    let lines = |name: &str, count: usize| (0..count).map(|line| format!("{name}{line}\nsame\n")).collect::<String>();
    let before = format!("begin\n{}end\n", lines("a", 2000));
    let after = format!("begin\n{}end\n", lines("b", 2000));
    let hunks = hunks(before.as_bytes(), after.as_bytes());
    // The last line "same" is in the common end.
    assert_eq!(hunks, [Hunk { before: 6..before.len() - 9, after: 6..after.len() - 9 }]);
}

#[test]
fn hostile_contents_of_16_mib_take_less_than_a_second() {
    const SIZE: usize = 16 << 20;
    let mut numbers = Numbers(7);
    let mut random = |values: usize| -> Vec<u8> {
        (0..SIZE).map(|_| [b'\n', b'a', b'b', b'c', b'd'][numbers.next(values)]).collect()
    };
    let long_lines = |letter: u8| -> Vec<u8> {
        (0..SIZE)
            .map(|place| {
                if place % 32 == 31 {
                    b'\n'
                } else if place % 1001 == 0 {
                    letter
                } else {
                    b'x'
                }
            })
            .collect()
    };
    let pairs = [
        ("two letters", random(2), random(2)),
        ("five letters", random(5), random(5)),
        ("lines of 32 bytes", long_lines(b'a'), long_lines(b'b')),
        ("one line", vec![b'a'; SIZE], vec![b'b'; SIZE]),
        ("no lines but ends", vec![b'\n'; SIZE], vec![b'\n'; SIZE - 1]),
        ("ends and a letter", [&vec![b'\n'; SIZE][..], b"a"].concat(), [b"b", &vec![b'\n'; SIZE][..]].concat()),
        ("one letter between lines", b"a\n".repeat(SIZE / 2), b"a\nb\n".repeat(SIZE / 4)),
        (
            "many changes among equal lines",
            [&b"a\n".repeat(450)[..], b"y\n"].concat().repeat(2000),
            [&b"a\n".repeat(450)[..], b"z\n"].concat().repeat(2000),
        ),
        (
            "few lines in between",
            [&b"a\n".repeat(500_000)[..], b"z"].concat(),
            [b"y\n", &b"a\n".repeat(500_000)[..]].concat(),
        ),
    ];
    for (name, before, after) in pairs {
        let begin = Instant::now();
        let hunks = hunks(&before, &after);
        let time = begin.elapsed();
        assert!(time < Duration::from_secs(1), "{name}: {} hunks in {time:?}", hunks.len());
    }
}

#[test]
fn a_delta_of_one_long_line_has_only_what_changed() {
    let before = "x".repeat(1000);
    let after = format!("{}changed{}", "x".repeat(400), "x".repeat(600));
    let delta = delta::encode(before.as_bytes(), after.as_bytes());
    assert!(delta.len() < 16, "{}", delta.len());
    assert_eq!(delta::decode(before.as_bytes(), &delta, 1007).unwrap(), after.as_bytes());
}

#[test]
fn a_delta_copies_megabytes() {
    let before = "line of a note\n".repeat(300_000).into_bytes();
    let after = [&before[..], b"one more\n"].concat();
    let delta = delta::encode(&before, &after);
    assert!(delta.len() < 20);
    assert_eq!(delta::decode(&before, &delta, after.len()), Some(after));
}

#[test]
fn a_delta_that_does_not_fit_is_refused() {
    let before = b"one\ntwo\n";
    let delta = delta::encode(before, b"one\ntwo\nthree\n");
    assert_eq!(delta::decode(before, &delta, 13), None, "larger than the limit");
    assert_eq!(delta::decode(b"one", &delta, 100), None, "another content");
    for cut in 1..delta.len() {
        assert_eq!(delta::decode(before, &delta[..cut], 100), None, "cut to {cut} bytes");
    }
    for hostile in [&[0xff; 20][..], &[0x80; 20], &[0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]] {
        assert_eq!(delta::decode(before, hostile, 100), None);
    }
}

#[test]
fn a_unified_difference_is_that_of_git() {
    let lines = |range: core::ops::RangeInclusive<usize>| range.map(|line| format!("{line}\n")).collect::<String>();
    let before = lines(1..=20);
    let after = before.replace("\n3\n", "\nthree\n").replace("\n10\n", "\n10\nnew\n").replace("18\n19\n", "");
    let git = "@@ -1,6 +1,6 @@\n 1\n 2\n-3\n+three\n 4\n 5\n 6\n\
               @@ -8,6 +8,7 @@\n 8\n 9\n 10\n+new\n 11\n 12\n 13\n\
               @@ -15,6 +16,4 @@\n 15\n 16\n 17\n-18\n-19\n 20\n";
    assert_eq!(unified(&before, &after, 3), git);
    assert_eq!(unified(&before, &before, 3), "");
}

#[test]
fn hunks_whose_context_touches_share_a_header() {
    let before = "a\n1\n2\n3\n4\n5\n6\nb\n";
    let after = "A\n1\n2\n3\n4\n5\n6\nB\n";
    assert_eq!(unified(before, after, 3).matches("@@ -").count(), 1);
    assert_eq!(unified(before, after, 2).matches("@@ -").count(), 2);
    assert_eq!(unified(before, after, 0), "@@ -1 +1 @@\n-a\n+A\n@@ -8 +8 @@\n-b\n+B\n");
    assert_eq!(unified(before, after, usize::MAX).matches("@@ -").count(), 1);
}

#[test]
fn empty_sides_and_missing_line_ends_are_shown_as_git_does() {
    assert_eq!(unified("", "a\n", 3), "@@ -0,0 +1 @@\n+a\n");
    assert_eq!(unified("a\n", "", 3), "@@ -1 +0,0 @@\n-a\n");
    assert_eq!(unified("a\nb\n", "b\n", 0), "@@ -1 +0,0 @@\n-a\n");
    assert_eq!(unified("a", "a\n", 3), "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
    assert_eq!(unified("a\nb", "c\nb", 3), "@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n");
}

/// Returns `after`, as the hunks make it of `before`.
fn applied(before: &[u8], after: &[u8], hunks: &[Hunk]) -> Vec<u8> {
    let (mut made, mut position) = (Vec::new(), 0);
    for hunk in hunks {
        made.extend_from_slice(&before[position..hunk.before.start]);
        assert_eq!(made.len(), hunk.after.start);
        made.extend_from_slice(&after[hunk.after.clone()]);
        position = hunk.before.end;
    }
    made.extend_from_slice(&before[position..]);
    made
}

/// Returns the number of lines that the longest common sequence of lines leaves out.
fn fewest_edits(before: &[u8], after: &[u8]) -> usize {
    let lines =
        |bytes: &[u8]| -> Vec<Vec<u8>> { bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect() };
    let (before, after) = (lines(before), lines(after));
    let mut row: Vec<usize> = (0..=after.len()).collect();
    for (at, line) in before.iter().enumerate() {
        let mut diagonal = core::mem::replace(&mut row[0], at + 1);
        for (place, other) in after.iter().enumerate() {
            let here = if line == other { diagonal } else { 1 + row[place].min(row[place + 1]) };
            diagonal = core::mem::replace(&mut row[place + 1], here);
        }
    }
    row[after.len()]
}

proptest! {
    #[test]
    fn hunks_make_the_content_after(before in bytes(), after in bytes()) {
        let hunks = hunks(&before, &after);
        prop_assert_eq!(applied(&before, &after, &hunks), after.clone());
        for (bytes, ranges) in [
            (&before, hunks.iter().map(|hunk| hunk.before.clone()).collect::<Vec<_>>()),
            (&after, hunks.iter().map(|hunk| hunk.after.clone()).collect()),
        ] {
            let mut end = None;
            for range in ranges {
                for place in [range.start, range.end] {
                    prop_assert!(place == 0 || place == bytes.len() || bytes[place - 1] == b'\n');
                }
                prop_assert!(end.is_none_or(|end| end < range.start), "two hunks touch");
                end = Some(range.end);
            }
        }
        let lines = |bytes: &[u8]| bytes.split_inclusive(|byte| *byte == b'\n').count();
        let edits: usize =
            hunks.iter().map(|hunk| lines(&before[hunk.before.clone()]) + lines(&after[hunk.after.clone()])).sum();
        prop_assert_eq!(edits, fewest_edits(&before, &after));
    }

    #[test]
    fn a_delta_makes_the_content_after(before in bytes(), after in bytes()) {
        let delta = delta::encode(&before, &after);
        prop_assert_eq!(delta::decode(&before, &delta, after.len()), Some(after.clone()));
        if !after.is_empty() {
            prop_assert_eq!(delta::decode(&before, &delta, after.len() - 1), None);
        }
    }

    #[test]
    fn any_bytes_as_a_delta_end_in_an_answer(before in bytes(), delta in proptest::collection::vec(any::<u8>(), 0..40)) {
        if let Some(after) = delta::decode(&before, &delta, 100) {
            prop_assert!(after.len() <= 100);
        }
    }

    #[test]
    fn a_unified_difference_has_each_line_once(before in texts(), after in texts()) {
        let shown = unified(&before, &after, usize::MAX);
        prop_assert_eq!(shown.is_empty(), before == after);
        // Every line is shown; without the inserted ones they are the text before, without the removed ones that after.
        let side = |left_out: char| -> String {
            let lines = shown.split_inclusive('\n').filter(|line| !line.starts_with("@@") && !line.starts_with(left_out));
            let mut text = String::new();
            for line in lines {
                match line.strip_prefix('\\') {
                    Some(_) => { text.pop(); }
                    None => text.push_str(&line[1..]),
                }
            }
            text
        };
        if before != after {
            // The mark of a missing line end follows its own side.
            let is_marked = |text: &str| !text.is_empty() && !text.ends_with('\n');
            if !is_marked(&before) && !is_marked(&after) {
                prop_assert_eq!(side('+'), before);
                prop_assert_eq!(side('-'), after);
            }
        }
    }
}
