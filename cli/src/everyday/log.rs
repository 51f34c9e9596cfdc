//! `log`: adds an entry to today's log, or the summary of a conversation.

use clap::Args;
use saddlebag::journal::{AppendDaily, FlushSummary, WriteReply};

use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::input::{self, free_text};
use crate::output::Output;
use crate::store::Store;
use crate::subcommand::Subcommand;

/// Add a dated entry to today's log
#[derive(Debug, Args)]
#[command(after_help = example("log \"staging moved\" \"New load balancer, port 8443.\""))]
pub(crate) struct LogArgs {
    /// Heading of the entry, one line; with --compaction the summary
    #[arg(value_parser = free_text, allow_hyphen_values = true)]
    heading: String,
    /// Text below the heading; `-` reads it from standard input
    #[arg(value_parser = free_text, allow_hyphen_values = true, conflicts_with = "compaction")]
    body: Option<String>,
    /// Keep the summary of a conversation that is being compacted
    #[arg(long)]
    compaction: bool,
    /// Number of messages that the summary covers
    #[arg(long, value_name = "N", requires = "compaction")]
    messages: Option<u32>,
}

/// Way out if there is nothing to log.
const HELP: &str = "say in one line what happened";

impl Subcommand for LogArgs {
    type Json = WriteReply;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
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
