//! A small cache of keys: the least recently used one makes room. Plain data.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// Remembers at most a fixed number of keys.
pub(crate) struct Lru<K> {
    capacity: usize,
    /// Grows with every use, so that the smallest stamp is the key used least recently.
    now: u64,
    stamps: HashMap<K, u64>,
    order: BTreeMap<u64, K>,
}

impl<K: Clone + Eq + Hash> Lru<K> {
    /// Empty, for so many keys.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, now: 0, stamps: HashMap::new(), order: BTreeMap::new() }
    }

    /// Uses a key: whether it was there. It is afterwards, unless the capacity is 0.
    pub(crate) fn touch(&mut self, key: K) -> bool {
        if self.capacity == 0 {
            return false;
        }
        self.now += 1;
        let before = self.stamps.insert(key.clone(), self.now);
        if let Some(stamp) = before {
            self.order.remove(&stamp);
        } else if self.stamps.len() > self.capacity
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.stamps.remove(&oldest);
        }
        self.order.insert(self.now, key);
        before.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_key_makes_room() {
        let mut keys = Lru::new(2);
        assert!(!keys.touch("a"));
        assert!(!keys.touch("b"));
        assert!(keys.touch("a"));
        assert!(!keys.touch("c"));
        assert!(!keys.touch("b"), "b was used less recently than a");
        assert!(keys.touch("c"));
        assert_eq!((keys.stamps.len(), keys.order.len()), (2, 2));
    }

    #[test]
    fn without_room_nothing_is_remembered() {
        let mut keys = Lru::new(0);
        assert!(!keys.touch(1));
        assert!(!keys.touch(1));
    }
}
