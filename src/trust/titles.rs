//! The titles of the block: the one list that the block is made with, and that forged titles and echoes are told by.

/// The title of the long-term memory that every project shares.
pub(crate) const LONG_TERM: &str = "Long-term memory (MEMORY.md)";
/// The title of the long-term memory of the project.
pub(crate) const PROJECT_LONG_TERM: &str = "Project memory (MEMORY.md)";
/// The title of the open items.
pub(crate) const SCRATCHPAD: &str = "Scratchpad (open items)";
/// The title of what was hydrated.
pub(crate) const ENTRIES: &str = "Entries (hydrated)";
/// The title of what was recalled.
pub(crate) const MEMORIES: &str = "Relevant Memories";

/// All of them but those of logs, which have a date.
pub(super) const ALL: [&str; 5] = [LONG_TERM, PROJECT_LONG_TERM, SCRATCHPAD, ENTRIES, MEMORIES];
/// How the title of a log begins; its day follows.
pub(crate) const LOG: &str = "Daily log";
