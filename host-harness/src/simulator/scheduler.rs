//! Seeded randomness: the same seed gives the same run.

/// Puts requests or results into an order that depends only on the seed.
///
/// A step's requests may be performed in any order, so a test performs them in many.
///
/// ```
/// use saddlebag_host::Scheduler;
///
/// let order = Scheduler::new(7).reorder(vec!['a', 'b', 'c']);
/// assert_eq!(order, Scheduler::new(7).reorder(vec!['a', 'b', 'c']));
/// ```
#[derive(Clone, Debug)]
pub struct Scheduler {
    random: Random,
}

impl Scheduler {
    /// Creates a scheduler for one run.
    pub fn new(seed: u64) -> Self {
        Self { random: Random::new(seed) }
    }

    /// Returns the same items in another order. Every order is equally likely.
    pub fn reorder<T>(&mut self, mut items: Vec<T>) -> Vec<T> {
        for last in (1..items.len()).rev() {
            items.swap(last, self.random.up_to(last));
        }
        items
    }
}

/// The xorshift64* generator.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        // One step of splitmix64, because neighbouring seeds would begin alike and zero would stay zero.
        let mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        Self((mixed ^ (mixed >> 27)).max(1))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number between 0 and `last`, both included.
    pub(super) fn up_to(&mut self, last: usize) -> usize {
        // The upper bits have the better randomness. The remainder is at most `last`, so it fits.
        ((self.next() >> 16) % (last as u64).saturating_add(1)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_order_comes_up_and_nothing_is_lost() {
        let orders: BTreeSet<Vec<u8>> = (0..200).map(|seed| Scheduler::new(seed).reorder(vec![1, 2, 3])).collect();
        assert_eq!(orders.len(), 6);
        assert!(orders.iter().all(|order| order.iter().sum::<u8>() == 6));
    }
}
