//! `hydrate`: selects the entries for a prompt, within a budget, and says why: tier, rank, size, running total and decision for
//! every entry.

use super::category::Tier;
use super::document::Entry;
use super::plan::{Budget, Candidate, HydrationPolicy, Placement, WORKSPACE_SHARE, plan, taken};
use super::readable::{Readable, readable};
use super::scope::EntriesScope;
use super::state::{Entries, EntriesCall};
use super::types::{EntryInfo, EntryProblem};
use super::view::{View, look};
use crate::changes::Call;
use crate::request::{Run, request};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Result of a hydration. Text is made harmless by [`for_model`](crate::trust::for_model). Sizes
/// count the text as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HydrateReply {
    /// Entries that were taken, in the order in which they are shown.
    pub entries: Vec<EntryInfo>,
    /// Size of the taken entries in bytes.
    pub bytes: u64,
    /// Budget in bytes.
    pub max_bytes: u64,
    /// Decision for each entry, in the order in which they were made.
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
    let decisions = placements.iter().map(|placement| explanation(call, &all, placement));
    Ok(HydrateReply {
        entries: taken.into_iter().map(|index| Ok(placed(&all, index)?.info(call))).collect::<Result<_, Error>>()?,
        bytes: placements.last().map_or(0, |last| last.total),
        max_bytes: request.max_bytes,
        explanations: decisions.collect::<Result<_, Error>>()?,
        problems: view.problems,
    })
}

/// Parameters of a hydration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hydrate {
    /// Budget in bytes.
    pub max_bytes: u64,
    /// Selection when not all entries fit.
    pub policy: HydrationPolicy,
}

/// Decision for one entry, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// Key of the entry.
    pub key: String,
    /// Path of its file; empty if only a run holds it.
    pub path: String,
    /// Category of the entry.
    pub category: String,
    /// True for entries of the category `core`, which come first.
    pub pinned: bool,
    /// Rank in its tier, counted from 1; the last changed entry comes first.
    pub rank: u32,
    /// Size in bytes: key, content and category.
    pub size: u64,
    /// Number of bytes taken up to and including this entry.
    pub total: u64,
    /// Time of the last change, in nanoseconds since 1970-01-01T00:00:00Z.
    #[serde(serialize_with = "crate::json::time")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub updated: u64,
    /// Reason why the entry is left out; `None` if it is taken.
    pub left_out: Option<String>,
}

/// Decides which entries go into a prompt.
pub(super) async fn decide(
    call: &Call,
    entries: &Entries,
    scope: &EntriesScope,
    request: Hydrate,
    run: Option<&str>,
) -> Result<(Vec<Readable>, Vec<Placement>, View), Error> {
    let held = entries.held(run)?;
    let view = look(call, entries, scope).await?;
    let all = readable(call, &view, &held);
    let candidates = all.iter().map(|readable| Candidate {
        tier: readable.entry.fields.category.tier(),
        size: readable.entry.fields.size(),
        shared: readable.shared,
        expired: readable.expired,
        unapproved: readable.entry.fields.trust_state.unapproved().is_some(),
        superseded: readable.superseded_by.is_some(),
        elsewhere: !readable.entry.fields.only_in(call.scope.layout.project_name()).is_empty(),
    });
    let candidates: Vec<Candidate> = candidates.collect();
    let budget = Budget { bytes: request.max_bytes, shared_bytes: request.max_bytes / WORKSPACE_SHARE };
    let placements = plan(&candidates, budget, request.policy);
    Ok((all, placements, view))
}

pub(super) fn explanation(call: &Call, all: &[Readable], placement: &Placement) -> Result<Explanation, Error> {
    let readable = placed(all, placement.index)?;
    let Entry { fields, updated, .. } = &*readable.entry;
    Ok(Explanation {
        key: fields.key.clone(),
        path: readable.shown_path(call),
        category: fields.category.as_str().into(),
        pinned: fields.category.tier() == Tier::Pinned,
        rank: placement.rank,
        size: fields.size(),
        total: placement.total,
        updated: *updated,
        left_out: placement.left_out.map(|reason| reason.to_string()),
    })
}

/// Returns the entry that a placement is about.
pub(super) fn placed(all: &[Readable], index: usize) -> Result<&Readable, Error> {
    all.get(index).ok_or_else(|| Error::internal(format!("entry {index} of {} was placed", all.len())))
}
