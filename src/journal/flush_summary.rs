//! Keeps the summary of a conversation that is compacted.

use super::append_daily::append_daily;
use super::types::{JOURNAL, JournalCall, WriteReply};
use crate::request::{Run, request};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Returns the heading of a compaction summary in the log, with the number of messages if it is given.
///
/// ```
/// assert_eq!(saddlebag::journal::compaction_heading(Some(12)), "compaction summary (12 msgs)");
/// assert_eq!(saddlebag::journal::compaction_heading(None), "compaction summary");
/// ```
pub fn compaction_heading(messages: Option<u32>) -> String {
    messages.map_or_else(|| "compaction summary".to_string(), |count| format!("compaction summary ({count} msgs)"))
}

/// Stores the summary of a conversation that is compacted in today's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlushSummary {
    /// The summary.
    pub summary: String,
    /// Number of messages that it replaces.
    pub messages: Option<u32>,
}

request!(FlushSummary "flush-summary" => WriteReply, Appends, |name| {
    vec![Self { summary: format!("we talked about {name}"), messages: Some(3) }]
});

impl Run<JournalCall<'_>> for FlushSummary {
    async fn run(self, with: &JournalCall<'_>) -> Result<WriteReply, Error> {
        let call = with.call;
        call.screen.needs_trust(JOURNAL)?;
        let mut reply = append_daily(call, &compaction_heading(self.messages), &self.summary).await?;
        call.screen.tell(&mut reply.message);
        Ok(reply)
    }
}
