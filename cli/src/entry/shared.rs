//! Output that several subcommands of entries share.

use saddlebag::document::normalize_line;
use saddlebag::entries::{EntryInfo, EntryProblem};

use crate::output::{Output, single_line};

/// Maximum length of a content in a list, in characters.
const PREVIEW_CHARS: usize = 80;

pub(crate) fn warn_of_problems(problems: &[EntryProblem], output: &mut Output) {
    problems.iter().for_each(|problem| output.warning(&format!("{}: {}", problem.path, problem.message)));
}

/// Returns the mark of an entry that is unapproved, superseded or of another project, or an empty string.
pub(crate) fn mark(entry: &EntryInfo) -> String {
    match (entry.unapproved, &entry.superseded_by) {
        (Some(from), _) => format!("  [unapproved: {from}]"),
        (None, Some(by)) => format!("  [superseded by {}]", single_line(by)),
        (None, None) if entry.only_in.is_empty() => String::new(),
        (None, None) => format!("  [only in {}]", single_line(&entry.only_in.join(", "))),
    }
}

/// Returns the beginning of a content on one line.
pub(crate) fn preview(content: &str) -> String {
    let line: String = normalize_line(content).chars().filter(|c| !c.is_control()).collect();
    let mut chars = line.chars();
    let head: String = chars.by_ref().take(PREVIEW_CHARS).collect();
    if chars.next().is_some() { format!("{head}…") } else { head }
}
