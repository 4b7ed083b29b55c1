//! Textbook forms of the strategies on a ring: Dubbo's points in an ordered map.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use md5::{Digest, Md5};

use super::check::Expect;
use super::textbook::Provider;
use super::{Kind, Row};
use crate::harness::{Contender, Function};
use crate::world::{Key, World};

/// Points per provider: Dubbo's default.
const POINTS: usize = 160;

/// The ring that Dubbo builds.
pub(crate) struct Dubbo(BTreeMap<u32, u32>);

impl Dubbo {
    pub(crate) fn new(world: &World) -> Self {
        Self::of((0..world.n()).map(World::address))
    }

    /// Of these addresses, the later one winning a shared point.
    pub(crate) fn of(addresses: impl Iterator<Item = String>) -> Self {
        let mut ring = BTreeMap::new();
        for (i, address) in addresses.enumerate() {
            for number in 0..POINTS / 4 {
                let digest = Md5::digest(format!("{address}{number}"));
                for part in 0..4 {
                    ring.insert(word(&digest, part), i as u32);
                }
            }
        }
        Self(ring)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn owner(&self, key: Key) -> usize {
        self.clockwise(hash(key)).next().unwrap_or(0)
    }

    fn clockwise(&self, hash: u32) -> impl Iterator<Item = usize> {
        self.0.range(hash..).chain(self.0.range(..hash)).map(|(_, owner)| *owner as usize)
    }
}

/// The point of a key.
#[inline(always)]
pub(super) fn hash(key: Key) -> u32 {
    word(&Md5::digest(key.as_bytes()), 0)
}

#[inline(always)]
fn word(digest: &[u8], part: usize) -> u32 {
    let bytes = &digest[4 * part..4 * part + 4];
    u32::from_le_bytes(bytes.try_into().expect("four bytes"))
}

/// The next one clockwise that holds less than 5/4 of its share of all calls in flight.
struct Bounded {
    ring: Dubbo,
    list: Vec<Arc<Provider>>,
    weights: Vec<u64>,
    sum: u64,
    count: bool,
}

impl Bounded {
    fn new(world: &World, count: bool) -> Self {
        Self {
            ring: Dubbo::new(world),
            list: Provider::all(world),
            weights: world.weights.iter().map(|w| u64::from(*w)).collect(),
            sum: world.total(),
            count,
        }
    }
}

impl Contender for Bounded {
    type Local = ();
    type Held = usize;

    fn local(&self) {}

    fn pick(&self, (): &mut (), key: Key) -> usize {
        let active = |i: usize| u64::from(self.list[i].active.load(Relaxed));
        let all: u64 = (0..self.list.len()).map(active).sum();
        let cap = |i: usize| (5 * (all + 1) * self.weights[i]).div_ceil(4 * self.sum);
        let chosen = self.ring.clockwise(hash(key)).find(|i| active(*i) < cap(*i)).unwrap_or(0);
        if self.count {
            self.list[chosen].active.fetch_add(1, Relaxed);
        }
        chosen
    }

    fn end(&self, (): &mut (), i: usize) {
        if self.count {
            self.list[i].active.fetch_sub(1, Relaxed);
        }
    }

    fn provider(&self, held: &usize) -> usize {
        *held
    }
}

pub(super) fn rows() -> Vec<Row> {
    use Kind::{Textbook, TextbookCounted};
    let bounded = "boundedconsistenthash";
    let name = "textbook: the same ring, active counts added up";
    let expect = |counted| Expect::Bounded { counted };
    vec![
        Row::new("consistenthash", Textbook, "textbook: ring in a BTreeMap", Expect::Owner, |w| {
            let ring = Dubbo::new(w);
            // Only the first owner is wanted, so no walk is set up.
            Function(move |key| {
                let hash = hash(key);
                let next = ring.0.range(hash..).next().or_else(|| ring.0.first_key_value());
                next.map_or(0, |(_, owner)| *owner as usize)
            })
        }),
        Row::new(bounded, Textbook, name, expect(false), |w| Bounded::new(w, false)),
        Row::new(bounded, TextbookCounted, "the same, counted in and out", expect(true), |w| {
            Bounded::new(w, true)
        }),
    ]
}
