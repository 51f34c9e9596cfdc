//! `entry hydrate`: prints the entries for a prompt.

use clap::Args;
use saddlebag::entries::{
    DEFAULT_HYDRATE_BYTES, EntryInfo, EntryProblem, Explanation, Hydrate, HydrateReply, HydrationPolicy,
};
use saddlebag::trust::is_line_break;
use schemars::JsonSchema;
use serde::Serialize;

use super::shared::warn_of_problems;
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::output::{Output, STRONG, single_line};
use crate::store::Store;
use crate::subcommand::Subcommand;
use crate::word::word;

/// Print the entries that go into a prompt within a budget
///
/// The contents of the entries are indented.
#[derive(Debug, Args)]
#[command(after_help = example("entry hydrate --max-bytes 4096"))]
pub(crate) struct HydrateArgs {
    /// Budget for the entries, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_HYDRATE_BYTES)]
    max_bytes: u64,
    /// Choice under the budget: greedy takes every core entry that fits, then every other entry that fits; prefix ends
    /// each tier at the first entry that does not fit
    #[arg(long, default_value_t, value_parser = word::<HydrationPolicy>())]
    policy: HydrationPolicy,
}

impl HydrateArgs {
    pub(super) fn hydrate(&self) -> Hydrate {
        Hydrate { max_bytes: self.max_bytes, policy: self.policy }
    }
}

/// Entries for a prompt.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Hydrated {
    /// Entries that were taken, in the order in which they are shown.
    entries: Vec<EntryInfo>,
    /// Size of these entries in bytes.
    bytes: u64,
    /// Entries that were left out, with the reasons.
    left_out: Vec<Explanation>,
    /// Files that could not be parsed as entries.
    problems: Vec<EntryProblem>,
}

impl Subcommand for HydrateArgs {
    type Json = Hydrated;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let reply = Store::open(global)?.call(self.hydrate(), output)?;
        let HydrateReply { entries, bytes, explanations: left_out, problems, .. } = reply;
        let exit = if entries.is_empty() { Exit::Nothing } else { Exit::Done };
        if output.is_json() {
            output.object(&Hydrated { entries, bytes, left_out, problems })?;
            return Ok(exit);
        }
        for entry in &entries {
            output.styled(STRONG, &format!("{}  ({})", single_line(&entry.key), single_line(&entry.category)))?;
            // Indented, so that no line of a content is read as the heading of another entry.
            for line in entry.content.trim_end().split(is_line_break) {
                output.line(&format!("    {}", line.trim_end()))?;
            }
        }
        output.flush()?;
        warn_of_problems(&problems, output);
        Ok(exit)
    }
}
