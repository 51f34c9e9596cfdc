//! What goes: daily entries by age, and the coldest ones over the cap.
//!
//! Both are pure functions. The sweep comes first, so that what has expired costs nothing else its place.

use alloc::vec::Vec;

use super::category::{Category, Tier};
use crate::order;

/// How many entries an agent may have, and how many a workspace, unless the configuration says otherwise.
pub const MAX_ENTRIES: u32 = 10_000;

/// How long a daily entry is kept after its last change: 72 hours, in nanoseconds.
pub const DAILY_RETENTION: u64 = 72 * 3_600 * 1_000_000_000;

/// How far a clock may go back, in nanoseconds, and the order of writing still be told by `updated`: a day.
const MAX_STEP_BACK: u64 = 24 * 3_600 * 1_000_000_000;

/// An entry as far as eviction cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept<'a> {
    /// Pinned entries are evicted last.
    pub tier: Tier,
    /// When it was last changed.
    pub updated: u64,
    /// Decides between two of one moment.
    pub key: &'a str,
}

/// Whether a daily entry is older than 72 hours; no other category expires.
#[must_use]
pub fn is_expired(category: &Category, updated: u64, now: u64) -> bool {
    *category == Category::Daily && updated < now.saturating_sub(DAILY_RETENTION)
}

/// The places of the entries that are over the cap: those last changed longest ago, pinned ones last of all.
#[must_use]
pub fn over_cap(entries: &[Kept<'_>], cap: usize) -> Vec<usize> {
    let mut places: Vec<(Kept<'_>, usize)> = entries.iter().copied().zip(0..).collect();
    order::sort_slice(&mut places, |(a, _), (b, _)| {
        (a.tier, core::cmp::Reverse(a.updated), a.key).cmp(&(b.tier, core::cmp::Reverse(b.updated), b.key))
    });
    places.into_iter().skip(cap).map(|(_, place)| place).collect()
}

/// When a change was made, as it is written down: later than all others, so that a clock that stands still or
/// goes back a little does not change the order of recency. Where the newest entry is of a far future, the
/// clock is believed.
#[must_use]
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
    fn a_stamp_is_later_than_every_other_one_unless_that_is_of_a_far_future() {
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
