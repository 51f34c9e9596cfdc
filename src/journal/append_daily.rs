//! `append-daily` and `flush-summary`: add an entry to today's log.

use super::target::Target;
use super::types::{JOURNAL, JournalCall, WriteMode, WriteReply};
use super::write::write;
use crate::changes::{Backups, Call};
use crate::request::{Run, request};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Adds an entry to today's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendDaily {
    /// Heading: one line.
    pub heading: String,
    /// Text below the heading.
    pub body: String,
}

request!(AppendDaily "append-daily" => WriteReply, Appends, |name| {
    vec![Self { heading: "a heading".into(), body: format!("about {name}") }]
});

impl Run<JournalCall<'_>> for AppendDaily {
    async fn run(self, with: &JournalCall<'_>) -> Result<WriteReply, Error> {
        let call = with.call;
        call.screen.needs_trust(JOURNAL)?;
        let mut reply = append_daily(call, &self.heading, &self.body).await?;
        call.screen.tell(&mut reply.message);
        Ok(reply)
    }
}

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

/// Appends an entry to today's log: `### HH:MM — heading` and the trimmed body.
async fn append_daily(call: &Call, heading: &str, body: &str) -> Result<WriteReply, Error> {
    if let Some(bad) = heading.chars().find(|c| c.is_control()) {
        let message = format!("heading has the control character U+{:04X}", u32::from(bad));
        return Err(Error::invalid_argument(message, "a heading is one line; put the rest in the body"));
    }
    for added in [heading, body] {
        call.check_text("the entry", added).await?;
    }
    let entry = format!("\n### {} — {heading}\n{}\n", call.now.hour_minute(), body.trim());
    write(call, &Target::Daily(None), WriteMode::Append, &entry, false, Backups::Off).await
}
