//! Keeping what a conversation loses when it is compacted.

use alloc::format;
use alloc::string::{String, ToString};

use super::WriteReply;
use super::write::append_daily;
use crate::engine::Call;
use crate::protocol::Error;

/// The heading of a compaction summary in the log: with the number of messages it stands for, or
/// without.
///
/// ```
/// assert_eq!(saddlebag::journal::compaction_heading(Some(12)), "compaction summary (12 msgs)");
/// assert_eq!(saddlebag::journal::compaction_heading(None), "compaction summary");
/// ```
#[must_use]
pub fn compaction_heading(messages: Option<u32>) -> String {
    messages.map_or_else(|| "compaction summary".to_string(), |count| format!("compaction summary ({count} msgs)"))
}

/// Writes a compaction summary to today's log.
pub(super) async fn flush_summary(call: &Call, summary: &str, messages: Option<u32>) -> Result<WriteReply, Error> {
    append_daily(call, &compaction_heading(messages), summary).await
}
