//! The words that the samples of commands and their store share.

/// The name that the samples succeed with: there is a note and an entry of it in [`sample_files`](crate::catalogue::sample_files).
pub const SAMPLE_NAME: &str = "a";

/// A text that occurs once in each file of the journal in [`sample_files`](crate::catalogue::sample_files).
pub const SAMPLE_TEXT: &str = "port 5432";

/// The run that must be open before the samples which belong to one.
pub const SAMPLE_RUN: &str = "r";

/// A note that waits to be approved.
pub(crate) const SAMPLE_WAITING: &str = "---\nprovenance: tool\n---\n# Waits\n\nthe text of a tool\n";
