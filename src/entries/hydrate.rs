//! `hydrate`: selects the entries for a prompt, within a budget.

use super::decision::{Explanation, Hydrate, decide, explanation, placed};
use super::plan::{HydrationPolicy, taken};
use super::state::{Entries, EntriesCall};
use super::types::{EntryInfo, EntryProblem};
use crate::changes::Call;
use crate::request::{Run, request};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Result of a hydration, or its explanation. Text is made harmless by [`for_model`](crate::trust::for_model). Sizes
/// count the text as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HydrateReply {
    /// Entries that were taken, in the order in which they are shown. `explain` returns none.
    pub entries: Vec<EntryInfo>,
    /// Size of the taken entries in bytes.
    pub bytes: u64,
    /// Budget in bytes.
    pub max_bytes: u64,
    /// `hydrate`: entries that were left out, with the reasons. `explain`: the decision for each entry, in the order in
    /// which they were made.
    pub explanations: Vec<Explanation>,
    /// Files that could not be parsed as entries.
    pub problems: Vec<EntryProblem>,
}

request!(Hydrate "hydrate" => HydrateReply, Reads, |_| {
    [HydrationPolicy::Greedy, HydrationPolicy::Prefix].map(|policy| Self { max_bytes: 1000, policy }).to_vec()
});

impl Run<EntriesCall<'_>> for Hydrate {
    async fn run(self, with: &EntriesCall<'_>) -> Result<HydrateReply, Error> {
        let mut reply = hydrate(with.call, with.entries, self, with.run).await?;
        reply.entries.iter_mut().for_each(EntryInfo::make_harmless);
        Ok(reply)
    }
}

/// Selects the entries for a prompt, within a budget. Their text is as it is stored.
pub(crate) async fn hydrate(
    call: &Call,
    entries: &Entries,
    request: Hydrate,
    run: Option<&str>,
) -> Result<HydrateReply, Error> {
    let (all, placements, view) = decide(call, entries, entries.scope()?, request, run).await?;
    let taken = taken(&placements, request.policy);
    let left_out = placements.iter().filter(|placement| placement.left_out.is_some());
    Ok(HydrateReply {
        entries: taken.into_iter().map(|index| Ok(placed(&all, index)?.info(call))).collect::<Result<_, Error>>()?,
        bytes: placements.last().map_or(0, |last| last.total),
        max_bytes: request.max_bytes,
        explanations: left_out.map(|placement| explanation(call, &all, placement)).collect::<Result<_, Error>>()?,
        problems: view.problems,
    })
}
