//! [`SortedMap`] and [`SortedSet`]: ordered collections like the ones of the standard library, by one piece of code for
//! all types.
//!
//! The order is kept as numbers of entries, in chunks, so that an insertion anywhere moves only a few numbers.

use alloc::vec;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::cmp::Ordering;

/// Maximum number of entries of a chunk.
const CHUNK: usize = 512;

/// Numbers in an order that only the caller knows.
#[derive(Clone, Debug, Default)]
struct Sequence {
    /// Chunks, none of them empty.
    chunks: Vec<Vec<u32>>,
}

/// Position in a sequence: the chunk, and the position in it.
type Place = (usize, usize);

impl Sequence {
    /// Finds the position of an item, or the position where it belongs. `compare` compares a numbered entry with it.
    fn find(&self, compare: &dyn Fn(u32) -> Ordering) -> Result<Place, Place> {
        let ends_before = |chunk: &Vec<u32>| chunk.last().is_some_and(|&last| compare(last).is_lt());
        let chunk = match self.chunks.partition_point(ends_before) {
            // A position after all others is in the last chunk.
            end if end == self.chunks.len() => {
                let last = end.saturating_sub(1);
                return Err((last, self.chunks.get(last).map_or(0, Vec::len)));
            }
            chunk => chunk,
        };
        let numbers = self.chunks.get(chunk).map_or(&[][..], Vec::as_slice);
        match numbers.binary_search_by(|&number| compare(number)) {
            Ok(at) => Ok((chunk, at)),
            Err(at) => Err((chunk, at)),
        }
    }

    fn get(&self, (chunk, at): Place) -> Option<u32> {
        self.chunks.get(chunk)?.get(at).copied()
    }

    fn insert(&mut self, (chunk, at): Place, number: u32) {
        let Some(numbers) = self.chunks.get_mut(chunk) else { return self.chunks.push(vec![number]) };
        numbers.insert(at.min(numbers.len()), number);
        if numbers.len() > CHUNK {
            // Items that arrive in order fill their chunks.
            let half = if at == CHUNK { CHUNK } else { CHUNK / 2 };
            let rest = numbers.split_off(half);
            self.chunks.insert(chunk + 1, rest);
        }
    }

    fn remove(&mut self, (chunk, at): Place) {
        let Some(numbers) = self.chunks.get_mut(chunk) else { return };
        if at < numbers.len() {
            numbers.remove(at);
        }
        if numbers.is_empty() {
            self.chunks.remove(chunk);
        }
    }

    fn retain(&mut self, keep: &mut dyn FnMut(u32) -> bool) {
        self.chunks.iter_mut().for_each(|numbers| numbers.retain(|&number| keep(number)));
        self.chunks.retain(|numbers| !numbers.is_empty());
    }

    fn iter(&self) -> impl Iterator<Item = u32> {
        self.chunks.iter().flatten().copied()
    }
}

/// A map in the order of its keys.
#[derive(Clone, Debug)]
pub struct SortedMap<K, V> {
    order: Sequence,
    /// Entries by number.
    entries: Vec<Option<(K, V)>>,
    free: Vec<u32>,
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self { order: Sequence::default(), entries: Vec::new(), free: Vec::new() }
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<Place, Place>
    where
        K: Borrow<Q>,
    {
        self.order.find(&|number| match self.entry(number) {
            Some((known, _)) => known.borrow().cmp(key),
            None => Ordering::Less,
        })
    }

    fn entry(&self, number: u32) -> Option<&(K, V)> {
        self.entries.get(number as usize)?.as_ref()
    }

    fn entry_mut(&mut self, number: u32) -> Option<&mut (K, V)> {
        self.entries.get_mut(number as usize)?.as_mut()
    }

    fn add(&mut self, place: Place, entry: (K, V)) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            u32::try_from(self.entries.len() - 1).unwrap_or(u32::MAX)
        });
        if let Some(free) = self.entries.get_mut(number as usize) {
            *free = Some(entry);
            self.order.insert(place, number);
        }
        number
    }

    /// Returns the value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let number = self.order.get(self.find(key).ok()?)?;
        self.entry(number).map(|(_, value)| value)
    }

    /// Returns true if the key has a value.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    /// Sets the value of a key, and replaces an earlier one.
    pub fn insert(&mut self, key: K, value: V) {
        match self.find(&key) {
            Ok(place) => {
                if let Some(number) = self.order.get(place)
                    && let Some(entry) = self.entry_mut(number)
                {
                    entry.1 = value;
                }
            }
            Err(place) => {
                self.add(place, (key, value));
            }
        }
    }

    /// Returns the value of a key, and sets it to `missing` first if there is none. `None` only if the map is broken.
    pub fn get_or_insert(&mut self, key: K, missing: V) -> Option<&mut V> {
        let number = match self.find(&key) {
            Ok(place) => self.order.get(place)?,
            Err(place) => self.add(place, (key, missing)),
        };
        self.entry_mut(number).map(|(_, value)| value)
    }

    /// Removes a key, and returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let place = self.find(key).ok()?;
        let number = self.order.get(place)?;
        self.order.remove(place);
        self.free.push(number);
        self.entries.get_mut(number as usize)?.take().map(|(_, value)| value)
    }

    /// Keeps the entries for which `keep` returns true. It is called in the order of the keys.
    pub fn retain(&mut self, keep: impl Fn(&K, &V) -> bool) {
        let Self { order, entries, free } = self;
        order.retain(&mut |number| {
            let entry = entries.get_mut(number as usize);
            let is_kept = entry.as_ref().and_then(|e| e.as_ref()).is_some_and(|(key, value)| keep(key, value));
            if !is_kept && let Some(entry) = entry {
                *entry = None;
                free.push(number);
            }
            is_kept
        });
    }

    /// Removes every key.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Returns true if the map is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the entries, in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.order.iter().filter_map(|number| self.entry(number).map(|(key, value)| (key, value)))
    }

    /// Returns the keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// Returns the values, in the order of their keys.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// Returns the entries, in the order of their keys.
    pub fn into_entries(mut self) -> impl Iterator<Item = (K, V)> {
        let order = core::mem::take(&mut self.order);
        order.chunks.into_iter().flatten().filter_map(move |number| self.entries.get_mut(number as usize)?.take())
    }
}

impl<K: Ord, V: PartialEq> PartialEq for SortedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<K: Ord, V: Eq> Eq for SortedMap<K, V> {}

impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::default();
        map.extend(entries);
        map
    }
}

impl<K: Ord, V> Extend<(K, V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        entries.into_iter().for_each(|(key, value)| self.insert(key, value));
    }
}

/// A set in order.
#[derive(Clone, Debug)]
pub struct SortedSet<T>(SortedMap<T, ()>);

impl<T> Default for SortedSet<T> {
    fn default() -> Self {
        Self(SortedMap::default())
    }
}

impl<T: Ord> SortedSet<T> {
    /// Adds an item. Returns true if it is new.
    pub fn insert(&mut self, item: T) -> bool {
        match self.0.find(&item) {
            Ok(_) => false,
            Err(place) => {
                self.0.add(place, (item, ()));
                true
            }
        }
    }

    /// Returns true if the set contains the item.
    pub fn contains<Q: Ord + ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.0.contains_key(item)
    }

    /// Removes an item. Returns true if it was in the set.
    pub fn remove<Q: Ord + ?Sized>(&mut self, item: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.0.remove(item).is_some()
    }

    /// Returns the items, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.keys()
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Ord> Extend<T> for SortedSet<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| {
            self.insert(item);
        });
    }
}

impl<T: Ord> FromIterator<T> for SortedSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut set = Self::default();
        set.extend(items);
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_does_what_a_map_does(steps in proptest::collection::vec((0_u8..5, 0_u16..900, any::<u8>()), 0..3_000)) {
            let mut map = SortedMap::default();
            let mut model = BTreeMap::new();
            for (step, key, value) in steps {
                match step {
                    0 => prop_assert_eq!(map.remove(&key), model.remove(&key)),
                    1 => {
                        *map.get_or_insert(key, value).expect("there") ^= 1;
                        *model.entry(key).or_insert(value) ^= 1;
                    }
                    2 if value == 0 => {
                        map.retain(|key, _| key % 3 != 0);
                        model.retain(|key, _| key % 3 != 0);
                    }
                    _ => {
                        map.insert(key, value);
                        model.insert(key, value);
                    }
                }
                prop_assert_eq!(map.get(&key), model.get(&key));
                prop_assert_eq!(map.len(), model.len());
            }
            prop_assert!(map.iter().eq(model.iter()));
            prop_assert!(map.into_entries().eq(model));
        }

        #[test]
        fn items_inserted_in_order_stay_in_order(count in 0_u32..3_000) {
            let set: SortedSet<u32> = (0..count).collect();
            prop_assert_eq!(set.len(), count as usize);
            prop_assert!(set.iter().copied().eq(0..count));
            prop_assert!((0..count).all(|item| set.contains(&item)) && !set.contains(&count));
        }
    }
}
