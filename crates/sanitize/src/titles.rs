//! Titles of the block. Forged titles and echoes are recognised by the same list.

/// Title of the long-term memory that all projects share.
pub const LONG_TERM: &str = "Long-term memory (MEMORY.md)";
/// Title of the project's long-term memory.
pub const PROJECT_LONG_TERM: &str = "Project memory (MEMORY.md)";
/// Title of the notes that the user keeps for all projects.
pub const USER_NOTES: &str = "Notes for all projects";
/// Title of the open items.
pub const SCRATCHPAD: &str = "Scratchpad (open items)";
/// Title of the hydrated entries.
pub const ENTRIES: &str = "Entries (hydrated)";
/// Title of the recalled notes.
pub const MEMORIES: &str = "Relevant Memories";

/// Title of the note of an earlier session.
pub const HAND_OFF: &str = "Hand-off of a session";

/// Title of the names of what is in memory.
pub const MAP: &str = "What memory knows";

/// All titles except the titles of logs, which have a date.
pub(crate) const ALL: [&str; 8] =
    [LONG_TERM, PROJECT_LONG_TERM, USER_NOTES, SCRATCHPAD, ENTRIES, MEMORIES, HAND_OFF, MAP];
/// Beginning of the title of a log; the day follows.
pub const LOG: &str = "Daily log";
