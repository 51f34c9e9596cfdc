//! The decision on every entry that could go into a prompt: what `hydrate` takes by, and `explain` tells of.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::category::Tier;
use super::document::Entry;
use super::plan::{Budget, Candidate, HydrationPolicy, Placement, WORKSPACE_SHARE, plan};
use super::readable::{Readable, readable};
use super::scope::EntriesScope;
use super::state::Entries;
use super::view::{View, look};
use crate::engine::Call;
use crate::protocol::Error;

/// What to hydrate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hydrate {
    /// How many bytes of entries.
    pub max_bytes: u64,
    /// Which are taken when not all fit.
    pub policy: HydrationPolicy,
}

/// Why an entry is hydrated or is not.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// The entry.
    pub key: String,
    /// Its file; empty for what a run holds.
    pub path: String,
    /// Its category.
    pub category: String,
    /// Whether it is pinned.
    pub pinned: bool,
    /// Its place in its tier, counted from 1, the last changed first.
    pub rank: u32,
    /// Key, content and category, in bytes.
    pub size: u64,
    /// How many bytes are taken after it.
    pub total: u64,
    /// When it was last changed, in nanoseconds since 1970-01-01T00:00:00Z.
    #[serde(serialize_with = "crate::json::time")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub updated: u64,
    /// Why it is left out; `None` for what is taken.
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

/// The entry that a placement is of.
pub(super) fn placed(all: &[Readable], index: usize) -> Result<&Readable, Error> {
    all.get(index).ok_or_else(|| Error::internal(format!("entry {index} of {} was placed", all.len())))
}
