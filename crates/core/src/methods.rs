//! Method names of one service, each with a small index. Readers take no lock: a slot is written
//! once and never changes. Bounded: names after the first [`METHODS`] share the index of `*`.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// How many names have an index of their own.
pub const METHODS: usize = 256;

/// Twice as many places as names, so that probes stay short.
const PLACES: usize = 2 * METHODS;

/// Index of a method within its service, below [`MethodId::COUNT`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash, Ord, PartialOrd)]
pub struct MethodId(u16);

impl MethodId {
    /// The index shared by all names that came too late.
    pub const REST: MethodId = MethodId(METHODS as u16);
    /// One more than the largest index.
    pub const COUNT: usize = METHODS + 1;

    /// As a number, for tables.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A name and its index, once there is one.
type Place = OnceLock<(Box<str>, MethodId)>;

/// The names seen so far.
pub struct MethodTable {
    places: Box<[Place]>,
    names: Box<[OnceLock<Arc<str>>]>,
    count: AtomicUsize,
    adding: Mutex<()>,
    warned: AtomicBool,
}

impl MethodTable {
    /// No name yet.
    pub fn new() -> Self {
        Self {
            places: (0..PLACES).map(|_| OnceLock::new()).collect(),
            names: (0..MethodId::COUNT).map(|_| OnceLock::new()).collect(),
            count: AtomicUsize::new(0),
            adding: Mutex::new(()),
            warned: AtomicBool::new(false),
        }
    }

    /// The index of `name`, given to it now if it has none.
    pub fn id(&self, name: &str) -> MethodId {
        let mut at = fnv(name) % PLACES;
        loop {
            match self.places.get(at).and_then(OnceLock::get) {
                Some((known, id)) if &**known == name => return *id,
                Some(_) => at = (at + 1) % PLACES,
                None => return self.add(name),
            }
        }
    }

    /// The name of an index; `*` for the shared one.
    pub fn name(&self, id: MethodId) -> Arc<str> {
        match self.names.get(id.index()).and_then(OnceLock::get) {
            Some(name) => name.clone(),
            None => Arc::from("*"),
        }
    }

    /// Every index given so far, the shared one included once it is in use.
    pub fn ids(&self) -> impl Iterator<Item = MethodId> {
        let own = (0..self.count.load(Relaxed)).map(|i| MethodId(i as u16));
        own.chain(self.warned.load(Relaxed).then_some(MethodId::REST))
    }

    fn add(&self, name: &str) -> MethodId {
        let _one_at_a_time = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        let count = self.count.load(Relaxed);
        let mut at = fnv(name) % PLACES;
        while let Some((known, id)) = self.places.get(at).and_then(OnceLock::get) {
            if &**known == name {
                return *id;
            }
            at = (at + 1) % PLACES;
        }
        if count >= METHODS {
            if !self.warned.swap(true, Relaxed) {
                tracing::warn!(
                    method = name,
                    "more than {METHODS} methods: further ones share statistics under `*`"
                );
            }
            return MethodId::REST;
        }
        let id = MethodId(count as u16);
        if let (Some(name_at), Some(place)) = (self.names.get(count), self.places.get(at)) {
            let _ = name_at.set(Arc::from(name));
            self.count.store(count + 1, Relaxed);
            let _ = place.set((name.into(), id));
        }
        id
    }
}

impl Default for MethodTable {
    fn default() -> Self {
        Self::new()
    }
}

/// FNV-1a: names are short and come from the caller's own code.
fn fnv(text: &str) -> usize {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (hash ^ (hash >> 32)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_index() {
        let table = MethodTable::new();
        let a = table.id("getUser");
        let b = table.id("listUser");
        assert_ne!(a, b);
        assert_eq!(table.id("getUser"), a);
        assert_eq!(&*table.name(b), "listUser");
        assert_eq!(table.ids().collect::<Vec<_>>(), [a, b]);
    }

    #[test]
    fn names_beyond_the_bound_share_one_index() {
        let table = MethodTable::new();
        for i in 0..METHODS {
            assert_eq!(table.id(&format!("m{i}")).index(), i);
        }
        for i in 0..1000 {
            assert_eq!(table.id(&format!("late{i}")), MethodId::REST);
        }
        assert_eq!(table.id("m7").index(), 7);
        assert_eq!(&*table.name(MethodId::REST), "*");
        assert_eq!(table.ids().count(), METHODS + 1);
    }

    #[test]
    fn threads_agree_on_the_index_of_a_new_name() {
        let table = MethodTable::new();
        let start = std::sync::Barrier::new(8);
        let ids: Vec<Vec<MethodId>> = std::thread::scope(|scope| {
            let each = || {
                start.wait();
                (0..100).map(|i| table.id(&format!("m{i}"))).collect()
            };
            let all: Vec<_> = (0..8).map(|_| scope.spawn(each)).collect();
            all.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|one| *one == ids[0]));
    }
}
