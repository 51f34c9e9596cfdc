//! What holds for any two changes of any text.

use std::collections::BTreeSet;
use std::format;
use std::string::String;
use std::vec::Vec;

use proptest::prelude::*;

use crate::merges::{Kind, Merged, Sides, merge};

/// A change of a list of lines, with places that are taken modulo its length.
#[derive(Clone, Debug)]
enum Edit {
    Insert(usize, u8),
    Remove(usize),
    Change(usize, u8),
    Move(usize, usize),
    /// Adds a line that the text has already.
    Repeat(usize, usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(place, word)| Edit::Insert(place, word)),
        any::<usize>().prop_map(Edit::Remove),
        (any::<usize>(), any::<u8>()).prop_map(|(place, word)| Edit::Change(place, word)),
        (any::<usize>(), any::<usize>()).prop_map(|(from, to)| Edit::Move(from, to)),
        (any::<usize>(), any::<usize>()).prop_map(|(from, to)| Edit::Repeat(from, to)),
    ]
}

/// Makes the edits. `side` is in each new line, so that no two sides add the same one.
fn changed(lines: &[String], edits: &[Edit], side: &str) -> Vec<String> {
    let mut lines = lines.to_vec();
    for edit in edits {
        let count = lines.len();
        match edit {
            Edit::Insert(place, word) => lines.insert(place % (count + 1), format!("{side} adds word{word}")),
            _ if count == 0 => {}
            Edit::Remove(place) => drop(lines.remove(place % count)),
            Edit::Change(place, word) => {
                let line = &mut lines[place % count];
                *line = format!("{line} {side}{word}");
            }
            Edit::Move(from, to) => {
                let line = lines.remove(from % count);
                lines.insert(to % count, line);
            }
            Edit::Repeat(from, to) => {
                let line = lines[from % count].clone();
                lines.insert(to % (count + 1), line);
            }
        }
    }
    lines
}

/// How lines become blocks.
#[derive(Clone, Copy, Debug)]
enum Form {
    Paragraphs,
    Items,
    /// Items below others.
    Nested,
    Mixed,
    Log,
    /// Lines of a log.
    Lines,
    /// Entries and lines of a log.
    Day,
}

impl Form {
    fn kind(self) -> Kind {
        if matches!(self, Self::Log | Self::Lines | Self::Day) { Kind::Log } else { Kind::Note }
    }

    fn text(self, lines: &[String]) -> String {
        let block = |line: &String| match (self, line.len() % 4) {
            (Self::Paragraphs, _) => format!("{line}\n\n"),
            (Self::Mixed, 1) => format!("\n{line}\n\n"),
            (Self::Nested, depth @ 1..=2) => format!("{:1$}- {line}\n", "", 2 * depth),
            (Self::Items | Self::Nested, _) | (Self::Mixed, 2 | 3) => format!("- {line}\n"),
            (Self::Mixed, _) => format!("## {line}\n\n"),
            (Self::Lines, _) | (Self::Day, 1..) => format!("- 10:{:02} {line}\n", line.len() * 7 % 60),
            (Self::Log | Self::Day, _) => {
                let minute = line.len() * 7 % 60;
                format!("\n### 10:{minute:02} — {line}\nAbout {line}.\n")
            }
        };
        lines.iter().map(block).collect()
    }
}

fn form() -> impl Strategy<Value = Form> {
    use Form::{Day, Items, Lines, Log, Mixed, Nested, Paragraphs};
    proptest::sample::select(std::vec![Paragraphs, Items, Nested, Mixed, Log, Lines, Day])
}

fn lines() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(prop_oneof![4 => 0_u8..40, 1 => 0_u8..3], 0..12)
        .prop_map(|words| words.iter().map(|word| format!("base line{word} of words{}", word / 4)).collect())
}

/// Lines of which none is twice in the text.
fn different_lines() -> impl Strategy<Value = Vec<String>> {
    lines().prop_map(|lines| {
        let mut seen = BTreeSet::new();
        lines.into_iter().filter(|line| seen.insert(line.clone())).collect()
    })
}

/// Edits that move lines, and add none twice.
fn moving_edits() -> impl Strategy<Value = Vec<Edit>> {
    edits().prop_map(|edits| edits.into_iter().filter(|edit| !matches!(edit, Edit::Repeat(..))).collect())
}

/// Edits that keep the order of the lines, and add none twice.
fn different_edits() -> impl Strategy<Value = Vec<Edit>> {
    edits().prop_map(|edits| {
        let is_allowed = |edit: &Edit| !matches!(edit, Edit::Repeat(..) | Edit::Move(..));
        edits.into_iter().filter(is_allowed).collect()
    })
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    proptest::collection::vec(edit(), 0..8)
}

fn merged(kind: Kind, base: &str, ours: &str, theirs: &str) -> Merged {
    merge(kind, Sides { base: Some(base), ours: Some(ours), theirs: Some(theirs) })
}

/// Returns all that a merge keeps: the lines of its text and of its conflicts.
fn kept(merged: &Merged) -> String {
    let mut text = merged.text.clone().unwrap_or_default();
    for conflict in &merged.conflicts {
        for side in [&conflict.ours, &conflict.theirs].into_iter().flatten() {
            text.push('\n');
            text.push_str(side);
        }
    }
    text
}

/// Returns true if the line is there, up to the end of a line or of a sentence.
fn has(text: &str, line: &str) -> bool {
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(['\n', '.']);
    text.match_indices(line).any(|(at, _)| ends(&text[at + line.len()..]))
}

/// Returns the lines that are not empty.
fn blocks_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty())
}

/// Returns the first line of each block that lines become, with its end.
fn blocks(form: Form, lines: &[String]) -> Vec<String> {
    let first = |line: &String| {
        let text = form.text(core::slice::from_ref(line));
        text.lines().find(|line| !line.is_empty()).map(String::from)
    };
    lines.iter().filter_map(first).collect()
}

/// Returns true if the entries of a log are in the order of time.
fn is_sorted(text: &str) -> bool {
    let time = |line: &str| {
        let line = line.trim_start_matches(['#', '-', ' ']);
        line.get(..5).filter(|time| time.as_bytes()[2] == b':').map(String::from)
    };
    text.lines().filter_map(time).is_sorted()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The result does not depend on who merges.
    #[test]
    fn merges_are_symmetric(lines in lines(), one in edits(), other in edits(), form in form()) {
        let base = form.text(&lines);
        let (one, other) = (form.text(&changed(&lines, &one, "one")), form.text(&changed(&lines, &other, "other")));
        let result = merged(form.kind(), &base, &one, &other);
        prop_assert_eq!(&result.text, &merged(form.kind(), &base, &other, &one).text);
    }

    /// Merging the result again with either side changes nothing: with the side as the base, as git has it. With the old base
    /// this holds if no line was moved, none is there twice, and no edited line was deleted on the other side.
    #[test]
    fn merges_are_idempotent(
        lines in different_lines(), one in different_edits(), other in different_edits(), form in form(),
    ) {
        let base = form.text(&lines);
        let (one, other) = (form.text(&changed(&lines, &one, "one")), form.text(&changed(&lines, &other, "other")));
        let result = merged(form.kind(), &base, &one, &other);
        let is_complete = result.conflicts.iter().all(|conflict| conflict.ours.is_some() && conflict.theirs.is_some());
        let text = result.text.unwrap();
        for side in [&one, &other] {
            let again = merged(form.kind(), side, &text, side);
            prop_assert_eq!(again.text.as_deref(), Some(text.as_str()), "with the base {:?}", side);
            if is_complete {
                let again = merged(form.kind(), &base, &text, side);
                prop_assert_eq!(again.text.as_deref(), Some(text.as_str()), "with {:?}", side);
            }
        }
    }

    /// No line that a side added is lost, and a line that a side deleted or changed does not come back.
    #[test]
    fn no_added_line_is_lost_and_deleted_lines_stay_deleted(
        lines in lines(), one in edits(), other in edits(), form in form(),
    ) {
        let sides = [changed(&lines, &one, "one"), changed(&lines, &other, "other")];
        let base = form.text(&lines);
        let result = merged(form.kind(), &base, &form.text(&sides[0]), &form.text(&sides[1]));
        let kept = kept(&result);
        let all: BTreeSet<&String> = lines.iter().collect();
        for line in sides.iter().flatten().filter(|line| !all.contains(line)) {
            prop_assert!(has(&kept, line), "{:?} is lost in {:?}", line, kept);
        }
        let is_once = |line: &&&String| lines.iter().filter(|other| other == *line).count() == 1;
        for line in all.iter().filter(is_once) {
            let of_sides = sides.iter().map(|side| side.iter().filter(|other| other == line).count());
            let (fewest, most) = (of_sides.clone().min().unwrap(), of_sides.max().unwrap());
            if fewest == 0 && most <= 1 && !was_moved(&lines, &sides, line) {
                prop_assert!(!has(&result.text.clone().unwrap(), line), "{:?} came back", line);
            }
            if fewest == 1 {
                prop_assert!(has(&result.text.clone().unwrap(), line), "{:?} is lost", line);
            }
        }
    }

    /// Three machines that merge in any order, each with the version that both had, have the same text in the end.
    #[test]
    fn three_machines_converge(
        lines in lines(), edits in proptest::collection::vec(edits(), 3), form in form(), order in any::<bool>(),
    ) {
        let base = form.text(&lines);
        let texts: Vec<String> = edits
            .iter()
            .zip(["one", "two", "three"])
            .map(|(edits, side)| form.text(&changed(&lines, edits, side)))
            .collect();
        let merged = |base: &str, one: &str, other: &str| merged(form.kind(), base, one, other).text.unwrap();
        let (first, second, third) = if order { (0, 1, 2) } else { (2, 0, 1) };
        let met = merged(&base, &texts[first], &texts[second]);
        let both = merged(&base, &met, &texts[third]);
        // Each of the others comes back with its own version as the base.
        for text in &texts {
            prop_assert_eq!(&merged(text, text, &both), &both);
        }
        // Two merges of the same pair on two machines, which meet again.
        let there = merged(&base, &texts[second], &texts[first]);
        prop_assert_eq!(&there, &met);
        prop_assert_eq!(&merged(&texts[first], &met, &there), &met);
        // Criss-cross: both merged the third before they meet.
        let (one, other) = (merged(&base, &texts[first], &texts[third]), merged(&base, &texts[third], &texts[second]));
        let end = merged(&texts[third], &one, &other);
        prop_assert_eq!(&end, &merged(&texts[third], &other, &one));
        prop_assert_eq!(&merged(&one, &end, &one), &end);
    }

    /// A line that both sides moved is there once, and no line is lost. In a log a line can become a part of another entry.
    #[test]
    fn moved_lines_are_there_once(
        lines in different_lines(), one in moving_edits(), other in moving_edits(), form in form(),
    ) {
        let sides = [changed(&lines, &one, "one"), changed(&lines, &other, "other")];
        let texts = sides.each_ref().map(|side| form.text(side));
        let result = merged(form.kind(), &form.text(&lines), &texts[0], &texts[1]);
        let text = result.text.clone().unwrap();
        let in_all = |line: &&String| !lines.contains(line) || sides.iter().all(|side| side.contains(line));
        for line in sides.iter().flatten().filter(in_all) {
            prop_assert!(has(&kept(&result), line), "{:?} is lost in {:?}", line, text);
        }
        for block in blocks(form, &lines).into_iter().filter(|_| !matches!(form, Form::Day)) {
            prop_assert!(blocks_of(&text).filter(|line| **line == block).count() <= 1, "{:?} is there twice in {:?}", block, text);
        }
    }

    /// Without a common version, all blocks of both are there, as often as the side has them that has more. Merging again
    /// loses nothing, and changes nothing unless some are below others.
    #[test]
    fn without_a_base_all_blocks_are_there_as_often_as_a_side_has_them(
        lines in lines(), one in edits(), other in edits(), form in form(), is_empty in any::<bool>(),
    ) {
        let sides = [changed(&lines, &one, "one"), changed(&lines, &other, "other")];
        let [one, other] = sides.each_ref().map(|side| form.text(side));
        let base = is_empty.then_some("");
        let merged = |ours, theirs| merge(form.kind(), Sides { base, ours: Some(ours), theirs: Some(theirs) });
        let result = merged(&one, &other);
        let text = result.text.clone().unwrap();
        prop_assert_eq!(&text, &merged(&other, &one).text.unwrap());
        let is_flat = !matches!(form, Form::Nested | Form::Mixed | Form::Day);
        for side in [&one, &other] {
            let again = merged(&text, side).text.unwrap();
            // Of two equal items or headings, a block below can go with either.
            if is_flat {
                prop_assert_eq!(&again, &text, "with {:?}", side);
            }
            for block in blocks_of(&text) {
                prop_assert!(blocks_of(&again).any(|other| other == block), "{:?} is lost in {:?}", block, again);
            }
        }
        let of_sides = sides.each_ref().map(|side| blocks(form, side));
        for block in of_sides.iter().flatten() {
            let counts = of_sides.each_ref().map(|side| side.iter().filter(|other| *other == block).count());
            let (count, most) = (blocks_of(&text).filter(|other| other == block).count(), counts[0].max(counts[1]));
            prop_assert!(count >= most && (!is_flat || count == most), "{:?} {} times in {:?}", block, count, text);
        }
        if matches!(form, Form::Log | Form::Lines) && is_sorted(&one) && is_sorted(&other) {
            prop_assert!(is_sorted(&text), "{:?}", text);
        }
    }

    /// Any bytes of text can be merged, and the result has no mark of a conflict that no side had.
    #[test]
    fn any_text_can_be_merged(base in ".{0,80}", one in ".{0,80}", other in "(?s)[-#|`> a\\n:0-9\\[\\]]{0,120}", kind in any::<bool>()) {
        let kind = if kind { Kind::Log } else { Kind::Note };
        for base in [Some(base.as_str()), None] {
            let there = merge(kind, Sides { base, ours: Some(&one), theirs: Some(&other) });
            let back = merge(kind, Sides { base, ours: Some(&other), theirs: Some(&one) });
            prop_assert_eq!(there.text, back.text);
        }
    }
}

/// Returns true if a side moved a line: to a merge it is deleted at one place, and added at another.
fn was_moved(lines: &[String], sides: &[Vec<String>; 2], line: &str) -> bool {
    let neighbours = |list: &[String]| {
        let at = list.iter().position(|other| other == line)?;
        Some(list[..at].to_vec())
    };
    let before = neighbours(lines);
    sides.iter().any(|side| {
        neighbours(side).is_some_and(|now| {
            let known: Vec<&String> = now.iter().filter(|other| lines.contains(other)).collect();
            let then = before.clone().unwrap_or_default();
            known.iter().any(|other| !then.contains(other))
                || then.iter().any(|other| side.contains(other) && !now.contains(other))
        })
    })
}
