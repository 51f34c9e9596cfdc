//! Sorting by one piece of code for all types: the standard sort is 5 KB for each type that it is used with.
//!
//! Code that sorts often converts its items to numbers first, which is also faster than the standard sort.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Number of items below which a simple sort is faster.
const FEW: usize = 24;

/// Sorts numbers. `spare` is overwritten; its memory can be reused.
pub fn sort(numbers: &mut Vec<u64>, spare: &mut Vec<u64>) {
    if numbers.len() < FEW {
        return sort_few(numbers);
    }
    let first = numbers.first().copied().unwrap_or(0);
    // Bits in which any two numbers differ.
    let differing = numbers.iter().fold(0, |differing, number| differing | number ^ first);
    for shift in (0..64).step_by(8).filter(|shift| differing >> shift & 0xff != 0) {
        let mut starts = [0_u32; 256];
        for number in numbers.iter() {
            starts[usize::from((number >> shift) as u8)] += 1;
        }
        let mut start = 0;
        for count in &mut starts {
            start += core::mem::replace(count, start);
        }
        spare.clear();
        spare.resize(numbers.len(), 0);
        for number in numbers.iter() {
            let place = &mut starts[usize::from((number >> shift) as u8)];
            if let Some(sorted) = spare.get_mut(*place as usize) {
                *sorted = *number;
            }
            *place += 1;
        }
        core::mem::swap(numbers, spare);
    }
}

fn sort_few(numbers: &mut [u64]) {
    for end in 1..numbers.len() {
        let mut at = end;
        while at > 0 && numbers.get(at - 1) > numbers.get(at) {
            numbers.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// Sorts numbers by merging, in an order that the caller knows. The sort is stable.
pub fn sort_by(numbers: &mut Vec<u32>, is_before: &dyn Fn(u32, u32) -> bool) {
    let mut width = 1;
    let mut merged = Vec::with_capacity(numbers.len());
    while width < numbers.len() {
        merged.clear();
        for both in numbers.chunks(2 * width) {
            let (mut left, mut right) = both.split_at_checked(width).unwrap_or((both, &[]));
            if let (Some(a), Some(b)) = (left.last(), right.first())
                && !is_before(*b, *a)
            {
                merged.extend_from_slice(both);
                continue;
            }
            while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
                if is_before(*b, *a) {
                    merged.push(*b);
                    right = right_rest;
                } else {
                    merged.push(*a);
                    left = left_rest;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        core::mem::swap(numbers, &mut merged);
        width *= 2;
    }
}

/// Sorts a slice. The sort is stable.
pub fn sort_slice<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    if items.is_sorted_by(|a, b| compare(a, b).is_le()) {
        return;
    }
    let mut places: Vec<u32> = (0_u32..).zip(items.iter()).map(|(place, _)| place).collect();
    sort_by(&mut places, &|a, b| match (items.get(a as usize), items.get(b as usize)) {
        (Some(a), Some(b)) => compare(a, b).is_lt(),
        _ => false,
    });
    arrange(&mut places, &mut |a, b| items.swap(a, b));
}

/// Sorts like [`sort_slice`], by a key.
pub fn sort_slice_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_slice(items, |a, b| key(a).cmp(&key(b)));
}

/// Swaps items until each is at its new place.
fn arrange(places: &mut [u32], swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..places.len() {
        let mut at = start;
        while let Some(place) = places.get_mut(at) {
            let from = core::mem::replace(place, u32::try_from(at).unwrap_or(u32::MAX)) as usize;
            if from == start || from == at {
                break;
            }
            swap(at, from);
            at = from;
        }
    }
}

/// Combines two numbers into one that sorts by the first, then by the second.
pub fn pair(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

/// Returns a number that sorts the greatest value first.
pub fn descending(value: f32) -> u32 {
    let bits = value.to_bits();
    // As in `f32::total_cmp`: in negative numbers, all bits are inverted.
    !(if bits >> 31 == 0 { bits | 1 << 31 } else { !bits })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_sorted(mut numbers in proptest::collection::vec(prop_oneof![0_u64..300, any::<u64>()], 0..200)) {
            let mut expected = numbers.clone();
            expected.sort_unstable();
            sort(&mut numbers, &mut Vec::new());
            prop_assert_eq!(&numbers, &expected);
            let mut places: Vec<u32> = (0..u32::try_from(numbers.len()).unwrap()).rev().collect();
            sort_by(&mut places, &|a, b| numbers[a as usize] < numbers[b as usize]);
            prop_assert!(places.is_sorted_by_key(|place| numbers[*place as usize]));
            prop_assert_eq!(places.len(), numbers.len());
        }

        #[test]
        fn items_are_sorted(mut items in proptest::collection::vec((0_u8..9, any::<u16>()), 0..60)) {
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            sort_slice_by_key(&mut items, |item| item.0);
            prop_assert_eq!(items, expected);
        }

        #[test]
        fn the_greatest_comes_first(a in any::<f32>(), b in any::<f32>()) {
            prop_assert_eq!(descending(a).cmp(&descending(b)), b.total_cmp(&a));
        }
    }
}
