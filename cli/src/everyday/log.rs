//! `log`: adds an entry or a line to today's log, or the summary of a conversation.

use saddlebag::journal::{AppendDaily, FlushSummary, WriteReply};
use saddlebag::notebook::{Journal, JournalEntryReply};

use crate::input::{self, free_text};
use crate::note::shared::warn;
use crate::prelude::*;

/// Add a dated entry to today's log
#[derive(Debug, Args)]
#[command(after_help = example("log \"staging moved\" \"New load balancer, port 8443.\""))]
pub(crate) struct LogArgs {
    /// Heading of the entry, one line; with --line the text of the line, with --compaction the summary
    #[arg(value_parser = free_text, allow_hyphen_values = true)]
    heading: String,
    /// Text below the heading; `-` reads it from standard input
    #[arg(value_parser = free_text, allow_hyphen_values = true, conflicts_with_all = ["compaction", "line"])]
    body: Option<String>,
    /// Add one line with the time of day instead of an entry; `-` reads its text from standard input
    #[arg(long, conflicts_with = "compaction")]
    line: bool,
    /// Keep the summary of a conversation that is being compacted
    #[arg(long)]
    compaction: bool,
    /// Number of messages that the summary covers
    #[arg(long, value_name = "N", requires = "compaction")]
    messages: Option<u32>,
}

/// Way out if there is nothing to log.
const HELP: &str = "say in one line what happened";

/// Entry or summary, or line.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it is the schema of the replies that are printed")]
pub(crate) enum Logged {
    Entry(WriteReply),
    Line(JournalEntryReply),
}

impl Subcommand for LogArgs {
    type Json = Logged;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        if self.line {
            let reply = Store::open(global)?.call(Journal { entry: input::text(self.heading)? }, output)?;
            output.object_or_line(&reply, reply.message.as_str())?;
            output.flush()?;
            warn(&reply.warnings, output);
            return Ok(Exit::Done);
        }
        let reply = if self.compaction {
            let request = FlushSummary {
                summary: input::not_blank(input::text(self.heading)?, "the summary", HELP)?,
                messages: self.messages,
            };
            Store::open(global)?.call(request, output)?
        } else {
            let heading = input::not_blank(self.heading, "the heading", HELP)?;
            let body = self.body.map(input::text).transpose()?.unwrap_or_default();
            Store::open(global)?.call(AppendDaily { heading, body }, output)?
        };
        output.object_or_line(&reply, reply.message.as_str())?;
        Ok(Exit::Done)
    }
}
