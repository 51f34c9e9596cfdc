//! `entry hydrate`: prints the entries for a prompt, or why each entry is one of them or not.

use saddlebag::entries::{
    DEFAULT_HYDRATE_BYTES, EntryInfo, EntryProblem, Explanation, Hydrate, HydrateReply, HydrationPolicy,
};
use saddlebag::trust::is_line_break;

use super::shared::warn_of_problems;
use crate::item::entry;
use crate::output::{FAINT, STRONG, single_line};
use crate::prelude::*;
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
    /// Instead of the entries, print why each goes into a prompt or is left out; with KEY, only for this entry
    #[arg(long, value_name = "KEY", num_args = 0..=1, require_equals = true)]
    explain: Option<Option<String>>,
}

/// Entries for a prompt, or the decisions about all entries.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Printed {
    Hydrated(Hydrated),
    Explained(Explained),
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

impl Subcommand for HydrateArgs {
    type Json = Printed;

    fn run(self, global: &Global, output: &mut Output) -> Result<Exit, Failure> {
        let request = Hydrate { max_bytes: self.max_bytes, policy: self.policy };
        let mut store = Store::open(global)?;
        if let Some(key) = self.explain {
            let key = key.map(|key| Ok::<_, Failure>(entry(key, &mut store, output)?.key)).transpose()?;
            return explain(store.call(request, output)?, key, output);
        }
        let HydrateReply { entries, bytes, mut explanations, problems, .. } = store.call(request, output)?;
        explanations.retain(|entry| entry.left_out.is_some());
        let exit = if entries.is_empty() { Exit::Nothing } else { Exit::Done };
        if output.is_json() {
            output.object(&Printed::Hydrated(Hydrated { entries, bytes, left_out: explanations, problems }))?;
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

/// Prints the decision for every entry, or for one.
fn explain(reply: HydrateReply, key: Option<String>, output: &mut Output) -> Result<Exit, Failure> {
    let HydrateReply { explanations: mut entries, bytes, max_bytes, problems, .. } = reply;
    entries.retain(|entry| key.as_ref().is_none_or(|key| entry.key == *key));
    let exit = if entries.is_empty() { Exit::Nothing } else { Exit::Done };
    if output.is_json() {
        output.object(&Printed::Explained(Explained { entries, bytes, max_bytes, problems }))?;
        return Ok(exit);
    }
    entries.iter().try_for_each(|entry| print_explanation(entry, output))?;
    output.styled(FAINT, &format!("{bytes} of {max_bytes} bytes"))?;
    output.flush()?;
    warn_of_problems(&problems, output);
    Ok(exit)
}

fn print_explanation(entry: &Explanation, output: &mut Output) -> Result<(), Failure> {
    let Explanation { rank, size, total, .. } = entry;
    let tier = if entry.pinned { "pinned" } else { "windowed" };
    let decision = entry.left_out.as_deref().unwrap_or("in");
    let key = single_line(&entry.key);
    output.line(&format!("{tier:8} {rank:4}  {size:6} bytes  {total:7} in all  {decision:21}  {key}"))?;
    Ok(())
}
