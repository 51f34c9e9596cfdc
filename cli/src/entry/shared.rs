//! Output that several subcommands of entries share.

use saddlebag::document::normalize_line;
use saddlebag::entries::EntryProblem;

use crate::output::Output;

/// Maximum length of a content in a list, in characters.
const PREVIEW_CHARS: usize = 80;

pub(crate) fn warn_of_problems(problems: &[EntryProblem], output: &mut Output) {
    problems.iter().for_each(|problem| output.warning(&format!("{}: {}", problem.path, problem.message)));
}

/// Returns the beginning of a content on one line.
pub(crate) fn preview(content: &str) -> String {
    let line: String = normalize_line(content).chars().filter(|c| !c.is_control()).collect();
    let mut chars = line.chars();
    let head: String = chars.by_ref().take(PREVIEW_CHARS).collect();
    if chars.next().is_some() { format!("{head}…") } else { head }
}
