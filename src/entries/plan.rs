//! Hydration: which entries go into a prompt, under a budget of bytes.
//!
//! A pure function of the entries, the budget and the clock, of which the caller has made [`Candidate`]s. The
//! rules are section 1.4 of zombie's behaviour, those of [`HydrationPolicy::Prefix`] as it was shipped, those of
//! [`HydrationPolicy::Greedy`] as it was documented.

use alloc::vec::Vec;

use saddlebag_words::words;

use super::category::Tier;
use crate::order;

/// How many bytes of entries are hydrated unless told otherwise.
pub const DEFAULT_HYDRATE_BYTES: u64 = 262_144;

/// Of the budget, what the entries of the workspace may take together: one part in so many.
pub const WORKSPACE_SHARE: u64 = 4;

/// Which entries are taken when not all fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HydrationPolicy {
    /// Every core entry that fits, newest first, then every other that fits. The budget holds always, and a
    /// large entry is passed over.
    #[default]
    Greedy,
    /// Each tier ends at the first entry that does not fit. The newest core entry is taken however large it
    /// is; where there is none, the newest entry.
    Prefix,
}

words!(HydrationPolicy, "policy of hydration" { Greedy = "greedy", Prefix = "prefix" });

/// An entry as far as hydration cares. The newest comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Whether it is pinned.
    pub tier: Tier,
    /// Key, content and category, in bytes.
    pub size: u64,
    /// Whether it takes from the share of the workspace.
    pub shared: bool,
    /// Whether it is older than its category allows: it is never taken.
    pub expired: bool,
    /// Whether it waits to be approved: it is never taken.
    pub unapproved: bool,
}

/// How much may be taken, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Of all entries.
    pub bytes: u64,
    /// Of those of the workspace, within it.
    pub shared_bytes: u64,
}

/// What becomes of an entry, in the order in which they are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The place among the candidates.
    pub index: usize,
    /// The place in its tier, counted from 1.
    pub rank: u32,
    /// How many bytes are taken after it.
    pub total: u64,
    /// Why it is left out; `None` for what is taken.
    pub left_out: Option<OutReason>,
}

/// Why an entry is not hydrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutReason {
    /// An earlier entry of its tier did not fit.
    #[error("tier-closed")]
    TierClosed,
    /// It is larger than the whole budget.
    #[error("larger-than-budget")]
    LargerThanBudget,
    /// It is larger than what is left of the budget.
    #[error("larger-than-remaining")]
    LargerThanRemaining,
    /// The pinned entries have left nothing.
    #[error("windowed-starved")]
    WindowedStarved,
    /// It is larger than what is left of the share of the workspace.
    #[error("workspace-share")]
    WorkspaceShare,
    /// It is older than its category allows.
    #[error("expired")]
    Expired,
    /// Its text is of a tool or an import, and nobody has approved it.
    #[error("unapproved")]
    Unapproved,
}

/// Decides on every candidate: the pinned ones first, then the others, each newest first.
#[must_use]
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
            let Candidate { size, shared, expired, unapproved, .. } = *candidate;
            let is_head = policy == HydrationPolicy::Prefix && total == 0 && !has_pinned && !is_closed;
            let left_out = if expired {
                Some(OutReason::Expired)
            } else if unapproved {
                Some(OutReason::Unapproved)
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
            has_pinned |= tier == Tier::Pinned && !unapproved;
            if left_out.is_none() {
                total = total.saturating_add(size);
                left.bytes = left.bytes.saturating_sub(size);
                if shared {
                    left.shared_bytes = left.shared_bytes.saturating_sub(size);
                }
            }
            let is_full = !matches!(
                left_out,
                None | Some(OutReason::Expired | OutReason::Unapproved | OutReason::WorkspaceShare)
            );
            is_closed |= policy == HydrationPolicy::Prefix && is_full;
            placements.push(Placement { index, rank, total, left_out });
        }
    }
    placements
}

/// What is taken, as it is shown: pinned entries first for [`HydrationPolicy::Greedy`], the newest first of all for
/// [`HydrationPolicy::Prefix`].
#[must_use]
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
        (any::<bool>(), 1_u64..40, any::<bool>(), rarely(), rarely()).prop_map(
            |(pinned, size, shared, expired, unapproved)| Candidate {
                tier: if pinned { Tier::Pinned } else { Tier::Windowed },
                size,
                shared: shared && !pinned,
                expired: expired && !pinned,
                unapproved,
            },
        )
    }

    fn policy() -> impl Strategy<Value = HydrationPolicy> {
        prop_oneof![Just(HydrationPolicy::Greedy), Just(HydrationPolicy::Prefix)]
    }

    proptest! {
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
                .filter(|candidate| !candidate.unapproved)
                .filter(|candidate| candidate.tier == tier)
                .map(|candidate| candidate.size)
                .collect::<Vec<_>>();
            let smallest_out = of(Tier::Pinned, false).into_iter().min().unwrap_or(u64::MAX);
            let largest_in = of(Tier::Windowed, true).into_iter().max().unwrap_or(0);
            prop_assert!(largest_in < smallest_out);
        }

        #[test]
        fn every_entry_is_placed_once_and_expired_and_unapproved_ones_are_out(
            candidates in proptest::collection::vec(candidate(), 0..30),
            bytes in 0_u64..300,
            policy in policy(),
        ) {
            let placements = plan(&candidates, Budget { bytes, shared_bytes: bytes / 4 }, policy);
            let mut indexes: Vec<usize> = placements.iter().map(|placement| placement.index).collect();
            indexes.sort_unstable();
            prop_assert_eq!(indexes, (0..candidates.len()).collect::<Vec<_>>());
            for placement in &placements {
                let Candidate { expired, unapproved, .. } = candidates[placement.index];
                prop_assert_eq!(expired, placement.left_out == Some(OutReason::Expired));
                prop_assert_eq!(unapproved && !expired, placement.left_out == Some(OutReason::Unapproved));
            }
        }

        #[test]
        fn prefix_takes_no_older_entry_of_a_tier_while_a_newer_one_is_out(
            candidates in proptest::collection::vec(candidate(), 0..30),
            bytes in 0_u64..300,
        ) {
            let placements = plan(&candidates, Budget { bytes, shared_bytes: bytes }, HydrationPolicy::Prefix);
            for tier in [Tier::Pinned, Tier::Windowed] {
                let of_tier = placements.iter().filter(|placement| candidates[placement.index].tier == tier);
                let outs: Vec<bool> = of_tier
                    .filter(|placement| {
                        !matches!(placement.left_out, Some(OutReason::Expired | OutReason::Unapproved))
                    })
                    .map(|placement| placement.left_out.is_some())
                    .collect();
                prop_assert!(outs.is_sorted(), "{outs:?}");
            }
        }
    }
}
