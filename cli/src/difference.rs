//! The difference of two texts, as `diff -u` prints it.

/// Number of unchanged lines around a difference.
const CONTEXT_LINES: usize = 3;

/// Returns the hunks alone. Empty if the texts are equal.
pub(crate) fn unified(before: &str, after: &str) -> String {
    saddlebag_log::unified(before, after, CONTEXT_LINES)
}

/// Returns the hunks after the names of both texts.
pub(crate) fn unified_of([name_before, name_after]: [&str; 2], before: &str, after: &str) -> String {
    let hunks = unified(before, after);
    if hunks.is_empty() { hunks } else { format!("--- {name_before}\n+++ {name_after}\n{hunks}") }
}
