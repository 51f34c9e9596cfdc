//! Names and text that the samples of commands and their store share.

/// Name for the samples: [`sample_files`](crate::catalogue::sample_files) has a note and an entry with it.
pub const SAMPLE_NAME: &str = "a";

/// Text that occurs once in each file of the journal in [`sample_files`](crate::catalogue::sample_files).
pub const SAMPLE_TEXT: &str = "port 5432";

/// Run that must be open before samples that need a run.
pub const SAMPLE_RUN: &str = "r";

/// A note that waits for approval.
pub(crate) const SAMPLE_WAITING: &str = "---\nprovenance: tool\n---\n# Waits\n\nthe text of a tool\n";

/// Note of a finished session that nobody has claimed.
pub(crate) const SAMPLE_SESSION: &str = "---\nsession: b\nfinished: true\nlast: 2026-05-24T12:00:00Z\nprovenance: agent\n---\n\n# Session of 2026-05-24\n\nIt worked.\n";

/// State of the session [`SAMPLE_NAME`], in which a command was run.
pub(crate) const SAMPLE_STATE: &str = "{\"at\":1779700000,\"by\":\"user\",\"event\":\"prompt\",\"text\":\"fix the build\"}\n\
     {\"at\":1779700001,\"by\":\"user\",\"event\":\"tool\",\"tool\":\"Bash\",\"command\":\"cargo build\"}\n";
