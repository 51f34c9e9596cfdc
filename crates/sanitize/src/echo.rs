//! Detection of memory-block text in new text.
//!
//! A model may quote its prompt. If such text were stored again, memory would grow by itself, and recalled text would
//! look like new text. The block is recognised by its wrapper, titles and markers. Single lines of it are not, because
//! storing a line of the log for good is a normal use.

use saddlebag_collections::TextPart;
use saddlebag_markdown::{FenceTracker, head, heading};

use crate::escape::{fold, is_forged, is_ignorable, is_line_break, opens_tag};
use saddlebag_collections::prelude::*;

/// Text after the opening tag of the block, in lower case and without white space.
const NOTE: &str = "memorynote=\"referenceonly";
/// More characters than the note has.
const NOTE_LETTERS: usize = 32;
/// Parts of titles and markers that text has only if it quotes them.
const OURS: [&str; 7] = [
    "(memory.md)",
    "(openitems)",
    "entries(hydrated)",
    "(today)",
    "[sectiontruncated:",
    "[sectionomitted:",
    "[memorytruncated]",
];

/// Parts of the block in text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Echo {
    /// No part of the block.
    Nothing,
    /// Whole blocks; the value is the text without them.
    Blocks(String),
    /// A section, or a block without an end: the line it begins with, and the text without it.
    Section(String, String),
}

/// Searches the text for the block.
pub fn echo(text: &str) -> Echo {
    let (rest, blocks, unended) = without_blocks(text);
    let (rest, first) = without_sections(&rest);
    match (unended.or(first), blocks) {
        (Some(line), _) => Echo::Section(line, rest),
        (None, 0) => Echo::Nothing,
        (None, _) => Echo::Blocks(rest),
    }
}

/// Returns the text without its blocks, their number, and the first line of a block without an end.
fn without_blocks(text: &str) -> (String, usize, Option<String>) {
    let mut rest = String::new();
    let mut blocks = 0;
    let mut from = text;
    while let Some(start) = find_tag(from, |after| letters(after, NOTE_LETTERS).starts_with(NOTE)) {
        rest.push_str(from.part(..start));
        let block = from.part(start..);
        let is_end = |after: &str| letters(after, 1) == "/" && opens_tag(after);
        let Some(end) = find_tag(block, is_end) else {
            return (rest, blocks, Some(first_line(block)));
        };
        blocks += 1;
        let end = block.get(end..).and_then(|tag| tag.find('>')).map_or(block.len(), |close| end + close + 1);
        from = block.part(end..);
    }
    rest.push_str(from);
    (rest, blocks, None)
}

/// Finds the position of a `<` that is followed by a matching tag.
fn find_tag(text: &str, is_it: impl Fn(&str) -> bool) -> Option<usize> {
    text.match_indices('<').map(|(at, _)| at).find(|&at| is_it(text.part(at + 1..)))
}

fn letters(text: &str, most: usize) -> String {
    text.chars().filter(|&c| !is_ignorable(c)).map(fold).take(most).collect()
}

/// Returns the text without the sections of the block, and the first of their titles. A section ends at the next
/// heading that is not one of ours.
fn without_sections(text: &str) -> (String, Option<String>) {
    let mut fences = FenceTracker::default();
    let lines: Vec<(&str, bool)> = text
        .split_inclusive(is_line_break)
        .map(|line| {
            let is_code = fences.is_code(line.trim_end());
            (line, !is_code && is_forged(line))
        })
        .collect();
    let titles: Vec<&str> = lines.iter().filter(|(_, is_title)| *is_title).map(|(line, _)| *line).collect();
    let is_ours = |line: &&str| {
        let letters = letters(line, usize::MAX);
        OURS.iter().any(|ours| letters.contains(ours))
    };
    // A person may well write one such title. Two different ones are an echo.
    let are_two = titles.iter().any(|line| titles.first().is_some_and(|first| letters(first, 64) != letters(line, 64)));
    let Some(first) = titles.iter().find(|line| is_ours(line)).or(titles.first().filter(|_| are_two)) else {
        return (text.to_string(), None);
    };
    let mut rest = String::new();
    let mut is_inside = false;
    for (line, is_title) in &lines {
        is_inside = *is_title || (is_inside && heading(line.trim_end()).is_none());
        if !is_inside {
            rest.push_str(line);
        }
    }
    (rest, Some(first_line(first)))
}

fn first_line(text: &str) -> String {
    head(text.split(is_line_break).next().unwrap_or_default().trim(), 80).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::escape::{BLOCK_END, BLOCK_START};

    #[test]
    fn a_block_is_dropped_and_the_words_around_it_stay() {
        let block = format!("{BLOCK_START}\n\n## Long-term memory (MEMORY.md)\nfact{BLOCK_END}");
        assert_eq!(echo(&block), Echo::Blocks(String::new()));
        assert_eq!(echo(&format!("before {block} after")), Echo::Blocks("before  after".into()));
        assert_eq!(echo(&format!("{block}a{block}b")), Echo::Blocks("ab".into()));
        let spaced = block.replace("<memory note", "<\u{200b}MEMORY  note").replace("</memory>", "< / memory >");
        assert_eq!(echo(&spaced), Echo::Blocks(String::new()));
    }

    #[test]
    fn a_section_is_recognised_by_its_title() {
        let text = "summary\n\n## Scratchpad (open items)\n- [ ] a\n\n## Next\nnew\n";
        assert_eq!(echo(text), Echo::Section("## Scratchpad (open items)".into(), "summary\n\n## Next\nnew\n".into()));
        let of_project = "## Project memory (MEMORY.md)\nfact\n# Mine\nnew\n";
        assert_eq!(echo(of_project), Echo::Section("## Project memory (MEMORY.md)".into(), "# Mine\nnew\n".into()));
        let unended = format!("a {BLOCK_START}\nfact");
        assert!(matches!(echo(&unended), Echo::Section(line, rest) if line == BLOCK_START && rest == "a "));
        assert!(matches!(echo("x\n…[section omitted: y]\nz"), Echo::Section(_, rest) if rest == "x\n"));
        let two = "## Relevant Memories\n- a\n## Daily log 2026-05-25\n- b";
        assert!(matches!(echo(two), Echo::Section(_, rest) if rest.is_empty()));
    }

    #[test]
    fn text_that_only_resembles_the_block_is_not_an_echo() {
        for text in [
            "",
            "the <memory> tag ends with </memory>",
            "<memory note=\"mine\">x</memory>",
            "## Daily log 2026-05-25\n- deployed",
            "## Relevant Memories\n- from the trip",
            "## Relevant Memories\n- from the trip\n## Relevant memories\n- from another",
            "# Long-term memory\nfact",
            "```\n## Scratchpad (open items)\n```\n",
            "Scratchpad (open items)",
        ] {
            assert_eq!(echo(text), Echo::Nothing, "{text}");
        }
    }
}
