//! Removal of entries: expired daily entries, and the least recent entries over the limit.
//!
//! Both decisions are pure functions. Expired entries are removed first, so that they push out no other entry.

use super::category::{Category, Tier};
use saddlebag_collections::{order, prelude::*};

/// Default limit of entries, for an agent and for a workspace each.
pub const MAX_ENTRIES: u32 = 10_000;

/// Lifetime of a daily entry after its last change: 72 hours, in nanoseconds.
pub const DAILY_RETENTION: u64 = 72 * 3_600 * 1_000_000_000;

/// Maximum step back of the clock, in nanoseconds (one day), for which `updated` still keeps the order of changes.
const MAX_STEP_BACK: u64 = 24 * 3_600 * 1_000_000_000;

/// Properties of an entry that eviction needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept<'a> {
    /// Tier of the entry. Pinned entries are evicted last.
    pub tier: Tier,
    /// Time of the last change.
    pub updated: u64,
    /// Key, which orders entries of the same time.
    pub key: &'a str,
}

/// Returns true if a daily entry is older than 72 hours. No other category expires.
pub fn is_expired(category: &Category, updated: u64, now: u64) -> bool {
    *category == Category::Daily && updated < now.saturating_sub(DAILY_RETENTION)
}

/// Returns the indexes of the entries over the limit: those changed longest ago, pinned entries last.
pub fn over_cap(entries: &[Kept<'_>], cap: usize) -> Vec<usize> {
    if entries.len() <= cap {
        return Vec::new();
    }
    let mut places: Vec<(Kept<'_>, usize)> = entries.iter().copied().zip(0..).collect();
    order::sort_slice(&mut places, |(a, _), (b, _)| {
        (a.tier, core::cmp::Reverse(a.updated), a.key).cmp(&(b.tier, core::cmp::Reverse(b.updated), b.key))
    });
    places.into_iter().skip(cap).map(|(_, place)| place).collect()
}

/// Returns the time to record for a change. It is later than all others, so a clock that stops or goes back a little
/// does not change the order. If the newest entry is far in the future, the clock is used as it is.
pub fn stamp(now: u64, newest: Option<u64>) -> u64 {
    match newest {
        Some(newest) if newest >= now && newest - now <= MAX_STEP_BACK => newest.saturating_add(1),
        _ => now,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_72_hours_are_not_too_old() {
        let now = 10 * DAILY_RETENTION;
        assert!(!is_expired(&Category::Daily, now - DAILY_RETENTION, now));
        assert!(is_expired(&Category::Daily, now - DAILY_RETENTION - 1, now));
        assert!(!is_expired(&Category::Core, 0, now));
        assert!(!is_expired(&Category::Custom("Daily".into()), 0, now));
        assert!(!is_expired(&Category::Daily, now + 1, now));
        assert!(!is_expired(&Category::Daily, 0, 5));
    }

    #[test]
    fn a_stamp_is_later_than_all_others_unless_one_is_far_in_the_future() {
        assert_eq!(stamp(100, None), 100);
        assert_eq!(stamp(100, Some(99)), 100);
        assert_eq!(stamp(100, Some(100)), 101);
        assert_eq!(stamp(100, Some(100 + MAX_STEP_BACK)), 101 + MAX_STEP_BACK);
        assert_eq!(stamp(100, Some(101 + MAX_STEP_BACK)), 100);
        assert_eq!(stamp(u64::MAX, Some(u64::MAX)), u64::MAX);
    }

    #[test]
    fn entries_of_one_moment_go_by_their_keys() {
        let entry = |key| Kept { tier: Tier::Windowed, updated: 1, key };
        assert_eq!(over_cap(&[entry("b"), entry("c"), entry("a")], 1), [0, 1]);
    }
}
