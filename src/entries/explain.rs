//! `explain`: tier, rank, size, running total and decision for every entry, or for one.

use alloc::string::String;
use alloc::vec::Vec;

use super::decision::{Explanation, Hydrate, decide, explanation};
use super::limits::checked_key;
use super::plan::HydrationPolicy;
use super::state::EntriesCall;
use super::types::EntryProblem;
use super::view::absent;
use crate::protocol::Error;
use crate::request::{Effect, Request, Run};

/// Explains for every entry why it would be hydrated or left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explain {
    /// Hydration to explain.
    pub request: Hydrate,
    /// Key of a single entry to explain; `None` for all.
    pub key: Option<String>,
}

/// Decision for every entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExplainReply {
    /// Decisions, in the order in which they were made.
    pub entries: Vec<Explanation>,
    /// Number of bytes taken.
    pub bytes: u64,
    /// Budget in bytes.
    pub max_bytes: u64,
    /// Files that could not be parsed as entries.
    pub problems: Vec<EntryProblem>,
}

impl Request for Explain {
    type Reply = ExplainReply;
    const NAME: &'static str = "explain";
    const EFFECT: Effect = Effect::Reads;

    fn samples(name: &str) -> Vec<Self> {
        let request = Hydrate { max_bytes: 1000, policy: HydrationPolicy::Greedy };
        [None, Some(name.into())].map(|key| Self { request, key }).to_vec()
    }
}

impl Run<EntriesCall<'_>> for Explain {
    async fn run(self, with: &EntriesCall<'_>) -> Result<ExplainReply, Error> {
        let EntriesCall { call, entries, scope, run, .. } = *with;
        let Self { request, key } = self;
        let key = key.map(|key| checked_key("key", &key)).transpose()?;
        let (all, placements, view) = decide(call, entries, scope, request, run).await?;
        let explained = placements.iter().map(|placement| explanation(call, &all, placement));
        let mut explained: Vec<Explanation> = explained.collect::<Result<_, Error>>()?;
        explained.retain(|entry| key.as_ref().is_none_or(|key| entry.key == *key));
        if let (Some(key), []) = (&key, explained.as_slice()) {
            return Err(absent(&view, key));
        }
        let bytes = placements.last().map_or(0, |last| last.total);
        Ok(ExplainReply { entries: explained, bytes, max_bytes: request.max_bytes, problems: view.problems })
    }
}
