//! `entry explain`: prints why an entry would be hydrated or not.

use clap::Args;
use saddlebag::entries::{EntryProblem, Explain, Explanation, HydrateReply};
use schemars::JsonSchema;
use serde::Serialize;

use super::hydrate::HydrateArgs;
use super::shared::warn_of_problems;
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::help::example;
use crate::output::{FAINT, Output, single_line};
use crate::store::Store;
use crate::subcommand::Subcommand;

/// Explain why each entry goes into a prompt or is left out
#[derive(Debug, Args)]
#[command(after_help = example("entry explain --max-bytes 4096"))]
pub(crate) struct ExplainArgs {
    /// Key of an entry, or path of its file [default: every entry]
    #[arg(allow_hyphen_values = true)]
    key: Option<String>,
    #[command(flatten)]
    hydrate: HydrateArgs,
}

/// Decision for every entry.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Explained {
    /// Decisions, in the order in which they were made.
    entries: Vec<Explanation>,
    /// Number of bytes taken.
    bytes: u64,
    /// Budget in bytes.
    max_bytes: u64,
    /// Files that could not be parsed as entries.
    problems: Vec<EntryProblem>,
}

impl Subcommand for ExplainArgs {
    type Json = Explained;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let request = Explain { request: self.hydrate.hydrate(), key: self.key };
        let reply = Store::open(global)?.call(request, output)?;
        let HydrateReply { explanations: entries, bytes, max_bytes, problems, .. } = reply;
        let exit = if entries.is_empty() { Exit::Nothing } else { Exit::Done };
        if output.is_json() {
            output.object(&Explained { entries, bytes, max_bytes, problems })?;
            return Ok(exit);
        }
        entries.iter().try_for_each(|entry| print_explanation(entry, output))?;
        output.styled(FAINT, &format!("{bytes} of {max_bytes} bytes"))?;
        output.flush()?;
        warn_of_problems(&problems, output);
        Ok(exit)
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
