//! Hydration: selects the entries of a prompt within a budget of bytes.
//!
//! [`plan`](plan()) is a pure function of [`Candidate`]s, budget and policy. The rules are section 1.4 of zombie's
//! behaviour: [`HydrationPolicy::Prefix`] as zombie was shipped, [`HydrationPolicy::Greedy`] as it was documented.

use saddlebag_collections::{order, prelude::*, words};

use super::category::Tier;

/// Default budget in bytes.
pub const DEFAULT_HYDRATE_BYTES: u64 = 262_144;

/// Divisor of the budget: the entries of the workspace may take one part in this many.
pub const WORKSPACE_SHARE: u64 = 4;

/// Selection of entries when not all fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HydrationPolicy {
    /// Takes every core entry that fits, newest first, then every other entry that fits. The budget is never exceeded;
    /// an entry that is too large is skipped.
    #[default]
    Greedy,
    /// Ends each tier at the first entry that does not fit. The newest core entry is always taken, whatever its size;
    /// without core entries, the newest entry is.
    Prefix,
}

words!(HydrationPolicy, "policy of hydration" { Greedy = "greedy", Prefix = "prefix" });

/// Properties of an entry that hydration needs. Candidates are sorted newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Tier of the entry.
    pub tier: Tier,
    /// Size in bytes: key, content and category.
    pub size: u64,
    /// True if it counts towards the share of the workspace.
    pub shared: bool,
    /// True if it is expired. It is never taken.
    pub expired: bool,
    /// True if it waits for approval. It is never taken.
    pub unapproved: bool,
    /// True if another entry supersedes it. It is never taken.
    pub superseded: bool,
    /// True if an agent wrote it in other projects only. It is never taken.
    pub elsewhere: bool,
}

/// Budget of a hydration in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Limit for all entries.
    pub bytes: u64,
    /// Limit for the entries of the workspace, which also count towards `bytes`.
    pub shared_bytes: u64,
}

/// Decision for one candidate, in the order in which they were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Index of the candidate.
    pub index: usize,
    /// Rank in its tier, counted from 1.
    pub rank: u32,
    /// Number of bytes taken up to and including this entry.
    pub total: u64,
    /// Reason why the entry is left out; `None` if it is taken.
    pub left_out: Option<OutReason>,
}

/// Reason why an entry is not hydrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutReason {
    /// An earlier entry of its tier did not fit.
    #[error("tier-closed")]
    TierClosed,
    /// The entry is larger than the whole budget.
    #[error("larger-than-budget")]
    LargerThanBudget,
    /// The entry is larger than the rest of the budget.
    #[error("larger-than-remaining")]
    LargerThanRemaining,
    /// The pinned entries used up the budget.
    #[error("windowed-starved")]
    WindowedStarved,
    /// The entry is larger than the rest of the workspace's share.
    #[error("workspace-share")]
    WorkspaceShare,
    /// The entry is older than its category allows.
    #[error("expired")]
    Expired,
    /// The text comes from a tool or an import, and nobody has approved it.
    #[error("unapproved")]
    Unapproved,
    /// Another entry supersedes it.
    #[error("superseded")]
    Superseded,
    /// An agent wrote the text in another project, and nobody has approved it for all.
    #[error("other-project")]
    OtherProject,
}

/// Decides for every candidate: pinned entries first, then the others, each newest first.
pub fn plan(candidates: &[Candidate], budget: Budget, policy: HydrationPolicy) -> Vec<Placement> {
    let mut placements = Vec::with_capacity(candidates.len());
    let mut left = budget;
    let mut total = 0_u64;
    let mut has_pinned = false;
    for tier in [Tier::Pinned, Tier::Windowed] {
        let mut is_closed = false;
        let starved = tier == Tier::Windowed && has_pinned && left.bytes == 0;
        let of_tier = candidates.iter().enumerate().filter(|(_, candidate)| candidate.tier == tier);
        for (rank, (index, candidate)) in (1..).zip(of_tier) {
            let Candidate { size, shared, expired, unapproved, superseded, elsewhere, .. } = *candidate;
            let is_head = policy == HydrationPolicy::Prefix && total == 0 && !has_pinned && !is_closed;
            let left_out = if expired {
                Some(OutReason::Expired)
            } else if unapproved {
                Some(OutReason::Unapproved)
            } else if superseded {
                Some(OutReason::Superseded)
            } else if elsewhere {
                Some(OutReason::OtherProject)
            } else if is_head {
                None
            } else if is_closed {
                Some(OutReason::TierClosed)
            } else if size <= left.bytes && shared && size > left.shared_bytes {
                Some(OutReason::WorkspaceShare)
            } else if size <= left.bytes {
                None
            } else if starved {
                Some(OutReason::WindowedStarved)
            } else if size > budget.bytes {
                Some(OutReason::LargerThanBudget)
            } else {
                Some(OutReason::LargerThanRemaining)
            };
            has_pinned |= tier == Tier::Pinned && !unapproved && !superseded && !elsewhere;
            if left_out.is_none() {
                total = total.saturating_add(size);
                left.bytes = left.bytes.saturating_sub(size);
                if shared {
                    left.shared_bytes = left.shared_bytes.saturating_sub(size);
                }
            }
            let is_full = !matches!(
                left_out,
                None | Some(
                    OutReason::Expired | OutReason::Unapproved | OutReason::OtherProject | OutReason::WorkspaceShare
                )
            );
            is_closed |= policy == HydrationPolicy::Prefix && is_full;
            placements.push(Placement { index, rank, total, left_out });
        }
    }
    placements
}

/// Returns the indexes of the taken entries in the order in which they are shown: pinned entries first for
/// [`HydrationPolicy::Greedy`], newest first for [`HydrationPolicy::Prefix`].
pub fn taken(placements: &[Placement], policy: HydrationPolicy) -> Vec<usize> {
    let taken = placements.iter().filter(|placement| placement.left_out.is_none());
    let mut taken: Vec<usize> = taken.map(|placement| placement.index).collect();
    if policy == HydrationPolicy::Prefix {
        order::sort_slice(&mut taken, Ord::cmp);
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn candidate() -> impl Strategy<Value = Candidate> {
        let rarely = || proptest::bool::weighted(0.1);
        (any::<bool>(), 1_u64..40, any::<bool>(), rarely(), rarely(), rarely()).prop_map(
            |(pinned, size, shared, expired, unapproved, elsewhere)| Candidate {
                tier: if pinned { Tier::Pinned } else { Tier::Windowed },
                size,
                shared: shared && !pinned,
                expired: expired && !pinned,
                unapproved,
                superseded: false,
                elsewhere,
            },
        )
    }

    fn policy() -> impl Strategy<Value = HydrationPolicy> {
        prop_oneof![Just(HydrationPolicy::Greedy), Just(HydrationPolicy::Prefix)]
    }

    proptest! {
        /// Hydration under `greedy` never exceeds the budget, and leaves no core entry out for a
        /// larger other one.
        #[test]
        fn greedy_never_exceeds_the_budget(
            candidates in proptest::collection::vec(candidate(), 0..30),
            bytes in 0_u64..300,
            shared_bytes in 0_u64..100,
        ) {
            let placements = plan(&candidates, Budget { bytes, shared_bytes }, HydrationPolicy::Greedy);
            let sizes = |only_shared: bool| taken(&placements, HydrationPolicy::Greedy)
                .into_iter()
                .filter(|&index| candidates[index].shared || !only_shared)
                .map(|index| candidates[index].size)
                .sum::<u64>();
            prop_assert!(sizes(false) <= bytes);
            prop_assert!(sizes(true) <= shared_bytes);
            prop_assert_eq!(placements.last().map_or(0, |last| last.total), sizes(false));
        }

        #[test]
        fn no_core_entry_is_out_while_a_larger_other_one_is_in(
            candidates in proptest::collection::vec(candidate(), 0..30),
            bytes in 0_u64..300,
        ) {
            let placements = plan(&candidates, Budget { bytes, shared_bytes: bytes }, HydrationPolicy::Greedy);
            let of = |tier: Tier, is_in: bool| placements
                .iter()
                .filter(|placement| placement.left_out.is_none() == is_in)
                .map(|placement| candidates[placement.index])
                .filter(|candidate| !candidate.unapproved && !candidate.elsewhere)
                .filter(|candidate| candidate.tier == tier)
                .map(|candidate| candidate.size)
                .collect::<Vec<_>>();
            let smallest_out = of(Tier::Pinned, false).into_iter().min().unwrap_or(u64::MAX);
            let largest_in = of(Tier::Windowed, true).into_iter().max().unwrap_or(0);
            prop_assert!(largest_in < smallest_out);
        }

        #[test]
        fn every_entry_is_placed_once_and_those_that_are_withheld_are_out(
            candidates in proptest::collection::vec(candidate(), 0..30),
            bytes in 0_u64..300,
            policy in policy(),
        ) {
            let placements = plan(&candidates, Budget { bytes, shared_bytes: bytes / 4 }, policy);
            let mut indexes: Vec<usize> = placements.iter().map(|placement| placement.index).collect();
            indexes.sort_unstable();
            prop_assert_eq!(indexes, (0..candidates.len()).collect::<Vec<_>>());
            for placement in &placements {
                let Candidate { expired, unapproved, elsewhere, .. } = candidates[placement.index];
                prop_assert_eq!(expired, placement.left_out == Some(OutReason::Expired));
                prop_assert_eq!(unapproved && !expired, placement.left_out == Some(OutReason::Unapproved));
                let is_elsewhere = elsewhere && !unapproved && !expired;
                prop_assert_eq!(is_elsewhere, placement.left_out == Some(OutReason::OtherProject));
            }
        }

        #[test]
        fn prefix_takes_no_entry_of_a_tier_after_one_that_does_not_fit(
            candidates in proptest::collection::vec(candidate(), 0..30),
            bytes in 0_u64..300,
        ) {
            let placements = plan(&candidates, Budget { bytes, shared_bytes: bytes }, HydrationPolicy::Prefix);
            for tier in [Tier::Pinned, Tier::Windowed] {
                let of_tier = placements.iter().filter(|placement| candidates[placement.index].tier == tier);
                let outs: Vec<bool> = of_tier
                    .filter(|placement| {
                        let withheld = [OutReason::Expired, OutReason::Unapproved, OutReason::OtherProject];
                        !placement.left_out.is_some_and(|reason| withheld.contains(&reason))
                    })
                    .map(|placement| placement.left_out.is_some())
                    .collect();
                prop_assert!(outs.is_sorted(), "{outs:?}");
            }
        }
    }
}
