//! `entry recall`: finds the entries that answer a question.

use clap::Args;
use saddlebag::entries::{DEFAULT_FOUND_ENTRIES, FindEntries, FindEntriesReply};

use super::shared::{mark, preview, warn_of_problems};
use crate::failure::{Exit, Failure};
use crate::help::example;
use crate::output::{Output, STRONG, single_line};
use crate::subcommand::Ask;

/// Find the entries that answer a question, best first
#[derive(Debug, Args)]
#[command(after_help = example("entry recall \"where do we deploy?\""))]
pub(crate) struct RecallArgs {
    /// Question, or query as for `recall`; put `--` before a query with a word that begins with a hyphen
    #[arg(required = true)]
    query: Vec<String>,
    /// Maximum number of entries
    #[arg(long, short = 'n', default_value_t = DEFAULT_FOUND_ENTRIES, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

impl Ask for RecallArgs {
    type Request = FindEntries;

    fn request(self) -> Result<FindEntries, Failure> {
        Ok(FindEntries { query: self.query.join(" "), limit: self.limit })
    }

    fn print(reply: &FindEntriesReply, output: &mut Output) -> Result<(), Failure> {
        if reply.hits.is_empty() {
            output.line("Nothing found.")?;
        }
        for hit in &reply.hits {
            let (key, category) = (single_line(&hit.entry.key), single_line(&hit.entry.category));
            output.styled(STRONG, &format!("{key}  ({category}){}", mark(&hit.entry)))?;
            output.line(&preview(&hit.passage))?;
        }
        Ok(())
    }

    fn exit(reply: &FindEntriesReply) -> Exit {
        if reply.hits.is_empty() { Exit::Nothing } else { Exit::Done }
    }

    fn warn(reply: &FindEntriesReply, output: &mut Output) -> Result<(), Failure> {
        warn_of_problems(&reply.problems, output);
        Ok(())
    }
}
