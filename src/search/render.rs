//! Rendering of search hits as text for a model or a person.

use super::types::{SearchHit, TermCount};
use crate::trust::{ForModel, Provenance};
use saddlebag_collections::prelude::*;

/// Part of the budget that is reserved for the frame of a rendering, in bytes.
const FRAME_BYTES: usize = 256;
/// Marker at the place where a rendering, a file or the block was cut.
pub const TRUNCATED: &str = "\n…[memory truncated]";

/// Renders the blocks of `hits` that fit, under a line with the query.
///
/// `blocks` returns the text of each hit in rank order. The first is always shown, and the first that does not fit ends
/// the rendering. `files` counts all matching files, `remaining` the files of the blocks.
pub(super) fn render(
    terms: &[TermCount],
    files: usize,
    remaining: usize,
    blocks: impl Iterator<Item = ForModel>,
    max_bytes: usize,
) -> (ForModel, usize) {
    let budget = max_bytes.saturating_sub(FRAME_BYTES);
    let mut shown = ForModel::default();
    let mut count = 0;
    for block in blocks {
        let separator = if count == 0 { "" } else { "\n\n" };
        if count > 0 && shown.len() + separator.len() + block.len() > budget {
            break;
        }
        shown.push_ours(separator);
        shown.push(&block);
        count += 1;
    }
    let counts: Vec<String> = terms.iter().map(|term| format!("{}({})", term.term, term.lines)).collect();
    let mut out = ForModel::escaped(&format!(
        "Searched {} term{}: {} across {files} file{}. Showing top {count} by relevance.\n\n",
        terms.len(),
        plural(terms.len()),
        counts.join(" "),
        plural(files),
    ));
    out.push(&shown);
    let omitted = remaining.saturating_sub(count);
    if omitted > 0 {
        out.push_escaped(&format!("\n\n…[search truncated, {omitted} more file{} omitted]", plural(omitted)));
    }
    (out.truncated(max_bytes, &ForModel::ours(TRUNCATED)), count)
}

impl SearchHit {
    /// Renders the hit.
    pub(super) fn block(&self) -> ForModel {
        let mut block = self.heading.clone();
        block.push_escaped(&format!("\n{}", self.body));
        block
    }
}

/// Renders the line above the body of a hit.
pub(super) fn heading(path: &str, unapproved: Option<Provenance>, terms: &[String]) -> ForModel {
    let mark = unapproved.map(|provenance| format!(" (unapproved: {provenance})")).unwrap_or_default();
    ForModel::escaped(&format!("{path}{mark}  [matched: {}]", terms.join(", ")))
}

fn plural(count: usize) -> String {
    if count == 1 { String::new() } else { "s".to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_block_is_shown_whatever_its_size() {
        let terms = [TermCount { term: "x".into(), lines: 2 }];
        let blocks = ["a".repeat(500), "b".to_string()].map(|text| ForModel::escaped(&text));
        let (text, count) = render(&terms, 2, 2, blocks.into_iter(), 300);
        assert_eq!(count, 1);
        assert!(text.as_str().ends_with(TRUNCATED));
        assert_eq!(text.len(), 300 + TRUNCATED.len());
    }
}
