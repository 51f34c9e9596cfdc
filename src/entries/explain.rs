//! `explain`: tier, rank, size, running total and decision for every entry, or for one.

use super::decision::{Explanation, Hydrate, decide, explanation};
use super::hydrate::HydrateReply;
use super::plan::HydrationPolicy;
use super::state::EntriesCall;
use super::view::{absent, check_name};
use crate::request::{Run, request};
use saddlebag_collections::prelude::*;
use saddlebag_protocol::Error;

/// Explains for every entry why it would be hydrated or left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explain {
    /// Hydration to explain.
    pub request: Hydrate,
    /// Key of a single entry to explain, or path of its file; `None` for all.
    pub key: Option<String>,
}

request!(Explain "explain" => HydrateReply, Reads, |name| {
    let request = Hydrate { max_bytes: 1000, policy: HydrationPolicy::Greedy };
    [None, Some(name.into())].map(|key| Self { request, key }).to_vec()
});

impl Run<EntriesCall<'_>> for Explain {
    async fn run(self, with: &EntriesCall<'_>) -> Result<HydrateReply, Error> {
        let EntriesCall { call, entries, scope, run, .. } = *with;
        let Self { request, key } = self;
        key.as_deref().map_or(Ok(()), |name| check_name(call, scope, name))?;
        let (all, placements, mut view) = decide(call, entries, scope, request, run).await?;
        let key = key.map(|name| view.take_named(call, &name).unwrap_or(name));
        let explained = placements.iter().map(|placement| explanation(call, &all, placement));
        let mut explained: Vec<Explanation> = explained.collect::<Result<_, Error>>()?;
        explained.retain(|entry| key.as_ref().is_none_or(|key| entry.key == *key));
        if let (Some(key), []) = (&key, explained.as_slice()) {
            return Err(absent(&view, key));
        }
        let bytes = placements.last().map_or(0, |last| last.total);
        let (max_bytes, problems) = (request.max_bytes, view.problems);
        Ok(HydrateReply { entries: Vec::new(), bytes, max_bytes, explanations: explained, problems })
    }
}
