//! `entry hydrate`: prints the entries for a prompt.

use clap::Args;
use saddlebag::entries::{DEFAULT_HYDRATE_BYTES, Hydrate, HydrateReply, HydrationPolicy};

use super::shared::warn_of_problems;
use crate::failure::{Exit, Failure};
use crate::help::example;
use crate::output::{Output, STRONG, single_line};
use crate::subcommand::Ask;
use crate::word::word;

/// Print the entries that go into a prompt, under a budget
#[derive(Debug, Args)]
#[command(after_help = example("entry hydrate --max-bytes 4096"))]
pub(crate) struct HydrateArgs {
    /// Budget for the entries, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_HYDRATE_BYTES)]
    max_bytes: u64,
    /// Choice under the budget: greedy takes every core entry that fits, then every other that fits; prefix ends each tier
    /// at the first entry that does not fit
    #[arg(long, default_value_t, value_parser = word::<HydrationPolicy>())]
    policy: HydrationPolicy,
}

impl HydrateArgs {
    pub(super) fn hydrate(&self) -> Hydrate {
        Hydrate { max_bytes: self.max_bytes, policy: self.policy }
    }
}

impl Ask for HydrateArgs {
    type Request = Hydrate;

    fn request(self) -> Result<Hydrate, Failure> {
        Ok(self.hydrate())
    }

    fn print(reply: &HydrateReply, output: &mut Output) -> Result<(), Failure> {
        for entry in &reply.entries {
            output.styled(STRONG, &format!("{}  ({})", single_line(&entry.key), single_line(&entry.category)))?;
            output.line(entry.content.trim_end())?;
        }
        Ok(())
    }

    fn exit(reply: &HydrateReply) -> Exit {
        if reply.entries.is_empty() { Exit::Nothing } else { Exit::Done }
    }

    fn warn(reply: &HydrateReply, output: &mut Output) -> Result<(), Failure> {
        warn_of_problems(&reply.problems, output);
        Ok(())
    }
}
