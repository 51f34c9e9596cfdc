//! Removes duplicate lines from an addition to long-term memory.
//!
//! As in zerostack v1.7.2, a line is left out if its words are in the file already, or earlier in the addition. Unlike
//! there, Markdown stays whole. Fences, rules, headings, lone list markers and code blocks are never duplicates. A
//! line under a heading is compared only with the lines under that heading. A list item is kept or left out together
//! with the lines nested under it.

use saddlebag_collections::{prelude::*, sorted::SortedSet};
use saddlebag_markdown::{FenceTracker, heading, is_rule, is_structure, list_item, normalize_line};

/// Result of removing duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Novelty {
    /// There is new text: the text to append, and the number of lines left out.
    New { content: String, skipped: u32 },
    /// Nothing is new: the number of lines left out.
    Nothing { skipped: u32 },
}

/// Separator between the words of a list item and the words of a line nested under it. Lines do not contain it.
const NESTED: char = '\n';

/// A line and its position in the document.
struct Line<'a> {
    text: &'a str,
    /// Words of the line, after the words of the list items above it; empty if the line cannot be a duplicate.
    key: String,
    /// Words of the heading above; `None` before the first heading.
    section: Option<String>,
    is_code: bool,
}

/// Removes the lines of `addition` that `file` already has.
pub(super) fn novelty(file: &str, addition: &str) -> Novelty {
    let mut seen = Seen::default();
    file_lines(file).for_each(|line| seen.add(&line));
    let lines: Vec<Line<'_>> = annotate(addition.split('\n')).collect();
    let mut kept: Vec<bool> = Vec::with_capacity(lines.len());
    let mut rest = lines.as_slice();
    while !rest.is_empty() {
        let (group, rest_after) = rest.split_at(group_length(rest));
        let duplicate = group.iter().any(|line| !line.key.is_empty())
            && group.iter().all(|line| line.key.is_empty() && line.text.trim().is_empty() || seen.has(line));
        kept.extend(group.iter().map(|line| !duplicate || line.text.trim().is_empty()));
        group.iter().for_each(|line| seen.add(line));
        rest = rest_after;
    }
    drop_emptied_headings(&lines, &mut kept, &seen);
    let skipped = kept.iter().filter(|&&kept| !kept).count();
    let says_something = lines.iter().zip(&kept).any(|(line, &kept)| kept && !is_wordless(line.text));
    match u32::try_from(skipped).unwrap_or(u32::MAX) {
        0 => Novelty::New { content: addition.to_string(), skipped: 0 },
        skipped if !says_something => Novelty::Nothing { skipped },
        skipped => {
            let left: Vec<&str> =
                lines.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(line, _)| line.text).collect();
            Novelty::New { content: left.join("\n"), skipped }
        }
    }
}

/// Lines that were seen, by their heading and in total.
#[derive(Default)]
struct Seen {
    anywhere: SortedSet<String>,
    in_section: SortedSet<(String, String)>,
    headings: SortedSet<String>,
}

impl Seen {
    fn add(&mut self, line: &Line<'_>) {
        if !line.is_code
            && let Some(title) = heading(line.text)
        {
            self.headings.insert(normalize_line(title));
        }
        if line.key.is_empty() {
            return;
        }
        self.anywhere.insert(line.key.clone());
        if let Some(section) = &line.section {
            self.in_section.insert((section.clone(), line.key.clone()));
        }
    }

    /// Returns true if the line was seen. A line with its own heading in the addition is compared under that heading;
    /// any other goes to the end of the file.
    fn has(&self, line: &Line<'_>) -> bool {
        match &line.section {
            Some(section) => self.in_section.contains(&(section.clone(), line.key.clone())),
            None => self.anywhere.contains(&line.key),
        }
    }
}

fn file_lines(file: &str) -> impl Iterator<Item = Line<'_>> {
    annotate(file.lines())
}

fn annotate<'a>(lines: impl Iterator<Item = &'a str>) -> impl Iterator<Item = Line<'a>> {
    let mut fences = FenceTracker::default();
    let mut section: Option<String> = None;
    let mut parents: Vec<(usize, String)> = Vec::new();
    lines.map(move |text| {
        let is_code = fences.is_code(text);
        if !is_code && let Some(title) = heading(text) {
            section = Some(normalize_line(title));
        }
        let comparable = !is_code && !is_structure(text);
        let words = if comparable { normalize_line(text) } else { String::new() };
        let column = indent(text);
        parents.retain(|(parent, _)| *parent < column && !text.trim().is_empty());
        let key = match parents.last() {
            Some((_, parent)) if !words.is_empty() => format!("{parent}{NESTED}{words}"),
            _ => words,
        };
        if comparable && list_item(text).is_some() {
            parents.push((column, key.clone()));
        }
        Line { text, key, section: section.clone(), is_code }
    })
}

/// Returns the number of lines that belong together: a list item and the lines nested under it, else one line.
fn group_length(lines: &[Line<'_>]) -> usize {
    let Some(first) = lines.first().filter(|line| !line.is_code).and_then(|line| list_item(line.text)) else {
        return 1;
    };
    let nested = lines.iter().skip(1).take_while(|line| {
        !line.text.trim().is_empty() && line.text.starts_with([' ', '\t']) && indent(line.text) > first.indent
    });
    1 + nested.count()
}

fn indent(line: &str) -> usize {
    list_item(line).map_or_else(|| line.len() - line.trim_start().len(), |item| item.indent)
}

/// Returns true if a line is blank, a rule or a lone list marker.
fn is_wordless(line: &str) -> bool {
    line.trim().is_empty() || is_rule(line) || list_item(line).is_some_and(|item| item.text.is_empty())
}

/// Removes headings that the file has and that would have no new line under them.
fn drop_emptied_headings(lines: &[Line<'_>], kept: &mut [bool], seen: &Seen) {
    let is_heading = |line: &Line<'_>| !line.is_code && heading(line.text).is_some();
    let heads: Vec<usize> = (0..lines.len()).filter(|&i| lines.get(i).is_some_and(is_heading)).collect();
    for (place, &head) in heads.iter().enumerate() {
        let end = heads.get(place + 1).copied().unwrap_or(lines.len());
        let body = head + 1..end;
        let (Some(left), Some(is_left)) = (lines.get(body.clone()), kept.get(body)) else {
            // This function has no error to return. Keeping a heading is better than losing one.
            debug_assert!(false, "a broken invariant: {head}..{end} of {} lines", lines.len());
            continue;
        };
        let skipped_some = is_left.iter().any(|kept| !kept);
        let says_nothing =
            left.iter().zip(is_left).filter(|(_, kept)| **kept).all(|(line, _)| line.text.trim().is_empty());
        let known = lines
            .get(head)
            .and_then(|line| heading(line.text))
            .is_some_and(|t| seen.headings.contains(&normalize_line(t)));
        if skipped_some
            && says_nothing
            && known
            && let Some(kept) = kept.get_mut(head)
        {
            *kept = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(content: &str, skipped: u32) -> Novelty {
        Novelty::New { content: content.to_string(), skipped }
    }

    #[test]
    fn known_lines_are_left_out() {
        assert_eq!(novelty("alpha\nbeta\n", "beta\ngamma\nalpha\n"), new("gamma\n", 2));
        assert_eq!(novelty("alpha\nbeta\n", "  alpha  \nbeta"), Novelty::Nothing { skipped: 2 });
        assert_eq!(novelty("alpha\n", "alpha\n\nnew\n\nnew"), new("\nnew\n", 2));
        assert_eq!(novelty("a\n", "\n\n"), new("\n\n", 0));
        assert_eq!(novelty("", "fact one\nfact one\nfact two"), new("fact one\nfact two", 1));
    }

    #[test]
    fn case_counts_and_zero_width_space_does_too() {
        assert_eq!(novelty("a b\n", "A b"), new("A b", 0));
        assert_eq!(novelty("the quick fox", "the\u{3000}quick \u{a0}fox"), Novelty::Nothing { skipped: 1 });
        assert_eq!(novelty("ab", "a\u{200b}b"), new("a\u{200b}b", 0));
    }

    #[test]
    fn markdown_stays_whole() {
        assert_eq!(novelty("```\na\n```\n", "```\nb\n```"), new("```\nb\n```", 0));
        assert_eq!(novelty("```\na\n```\n", "```\na\n```"), new("```\na\n```", 0));
        assert_eq!(novelty("## Rules\n- x\n---\n", "## Rules\n- y\n---\n- z"), new("## Rules\n- y\n---\n- z", 0));
        assert_eq!(novelty("-\n", "-\n- a"), new("-\n- a", 0));
    }

    #[test]
    fn a_line_under_another_heading_is_another_fact() {
        assert_eq!(novelty("## A\n- port 1\n", "## B\n- port 1"), new("## B\n- port 1", 0));
        assert_eq!(novelty("## A\n- port 1\n", "## A\n- port 1"), Novelty::Nothing { skipped: 2 });
        assert_eq!(novelty("## A\n- port 1\n", "- port 1"), Novelty::Nothing { skipped: 1 });
        assert_eq!(novelty("## A\n- x\n", "## A\n- x\n- y"), new("## A\n- y", 1));
    }

    #[test]
    fn a_list_item_stays_with_what_is_nested_under_it() {
        let file = "- redis\n  - port 1\n- postgres\n";
        assert_eq!(novelty(file, "- postgres\n  - port 1"), new("- postgres\n  - port 1", 0));
        assert_eq!(novelty(file, "- redis\n  - port 1"), Novelty::Nothing { skipped: 2 });
    }
}
