//! `remember-summary`: keeps a summary of a tool's output as a fact.

use super::checks::{MAX_SHOWN_TITLE_BYTES, tool_name};
use super::index::NotebookCall;
use super::remember::{RememberReply, WriteNote, remember};
use super::rename::settle;
use crate::request::{Run, request};
use saddlebag_collections::prelude::*;
use saddlebag_markdown::{head, one_line};
use saddlebag_protocol::Error;

/// Maximum number of characters of a summary that are kept.
pub const MAX_SUMMARY_CHARS: usize = 800;

/// Keeps the summary of a tool's output as a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberSummary {
    /// Name of the tool.
    pub tool: String,
    /// The summary.
    pub summary: String,
}

request!(RememberSummary "remember-summary" => RememberReply, Appends, |name| {
    vec![Self { tool: name.into(), summary: "it worked".into() }]
});

impl Run<NotebookCall<'_>> for RememberSummary {
    async fn run(self, with: &NotebookCall<'_>) -> Result<RememberReply, Error> {
        let call = with.call;
        settle(call, with.notebook).await;
        let request = tool_summary_note(&self.tool, &self.summary);
        let mut reply = remember(call, with.notebook, &request, call.scope.trust.of_tool()).await?;
        call.screen.tell(&mut reply.message);
        Ok(reply)
    }
}

/// Returns the request for a note with a tool's summary, at most [`MAX_SUMMARY_CHARS`] characters of it.
pub fn tool_summary_note(tool: &str, summary: &str) -> WriteNote {
    let summary = summary.trim();
    let kept: String = summary.chars().take(MAX_SUMMARY_CHARS).collect();
    let content = if kept.len() < summary.len() { format!("{} …", kept.trim_end()) } else { kept };
    let first = summary.lines().map(one_line).find(|line| !line.is_empty()).unwrap_or_default();
    let tool = tool_name(tool);
    WriteNote {
        title: format!("Output of {tool}: {}", head(&first, MAX_SHOWN_TITLE_BYTES).trim_end()),
        content,
        template: "fact".into(),
        tags: vec!["tool-output".into()],
        ..WriteNote::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_cut_between_characters() {
        let request = tool_summary_note("read\nfile", &"記".repeat(2_000));
        assert_eq!(request.content.chars().count(), 802);
        assert!(request.title.starts_with("Output of read file: 記"));
        assert_eq!(tool_summary_note("t", " short ").content, "short");
    }
}
