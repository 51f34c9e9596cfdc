//! `entry explain`: prints why an entry would be hydrated or not.

use clap::Args;
use saddlebag::entries::{Explain, ExplainReply, Explanation};

use super::hydrate::HydrateArgs;
use super::shared::warn_of_problems;
use crate::failure::{Exit, Failure};
use crate::help::example;
use crate::output::{FAINT, Output, single_line};
use crate::subcommand::Ask;

/// Print why each entry would go into a prompt or not
#[derive(Debug, Args)]
#[command(after_help = example("entry explain --max-bytes 4096"))]
pub(crate) struct ExplainArgs {
    /// Key of an entry [default: every entry]
    #[arg(allow_hyphen_values = true)]
    key: Option<String>,
    #[command(flatten)]
    hydrate: HydrateArgs,
}

impl Ask for ExplainArgs {
    type Request = Explain;

    fn request(self) -> Result<Explain, Failure> {
        Ok(Explain { request: self.hydrate.hydrate(), key: self.key })
    }

    fn print(reply: &ExplainReply, output: &mut Output) -> Result<(), Failure> {
        reply.entries.iter().try_for_each(|entry| print_explanation(entry, output))?;
        output.styled(FAINT, &format!("{} of {} bytes", reply.bytes, reply.max_bytes))?;
        Ok(())
    }

    fn exit(reply: &ExplainReply) -> Exit {
        if reply.entries.is_empty() { Exit::Nothing } else { Exit::Done }
    }

    fn warn(reply: &ExplainReply, output: &mut Output) -> Result<(), Failure> {
        warn_of_problems(&reply.problems, output);
        Ok(())
    }
}

fn print_explanation(entry: &Explanation, output: &mut Output) -> Result<(), Failure> {
    let Explanation { rank, size, total, .. } = entry;
    let tier = if entry.pinned { "pinned" } else { "windowed" };
    let decision = entry.left_out.as_deref().unwrap_or("in");
    let key = single_line(&entry.key);
    output.line(&format!("{tier:8} {rank:4}  {size:6} bytes  {total:7} in all  {decision:21}  {key}"))?;
    Ok(())
}
