//! What is measured on: providers with weights, load and response times, and keys of calls. The
//! same for every contender.

use std::sync::{Arc, OnceLock};

/// How the weights of the providers differ.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Weighting {
    /// All 1.
    Equal,
    /// 1, 2, 3, 5 and 10, mixed.
    Mixed,
    /// 101 to 197, so that a cycle of all of them is long.
    Fine,
}

impl Weighting {
    /// For table titles.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Weighting::Equal => "equal weights",
            Weighting::Mixed => "weights 1, 2, 3, 5, 10",
            Weighting::Fine => "weights 101 to 197",
        }
    }
}

/// The providers of one table column.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) weighting: Weighting,
    pub(crate) weights: Arc<[u32]>,
}

impl World {
    pub(crate) fn new(n: usize, weighting: Weighting) -> Self {
        const MIX: [u32; 5] = [1, 10, 3, 2, 5];
        let weight = |i: usize| match weighting {
            Weighting::Equal => 1,
            // The first few in order, so that two providers differ as well.
            Weighting::Mixed if i < MIX.len() => MIX[i],
            Weighting::Mixed => MIX[(scramble(i as u64) % 5) as usize],
            Weighting::Fine => 101 + (scramble(i as u64) % 97) as u32,
        };
        Self { weighting, weights: (0..n).map(weight).collect() }
    }

    pub(crate) fn n(&self) -> usize {
        self.weights.len()
    }

    /// Sum of the weights.
    pub(crate) fn total(&self) -> u64 {
        self.weights.iter().map(|w| u64::from(*w)).sum()
    }

    /// Address of a provider, `host:port`.
    pub(crate) fn address(i: usize) -> String {
        let [_, a, b, c] = (i as u32).to_be_bytes();
        format!("10.{a}.{b}.{c}:20880")
    }

    /// The list as an adopter writes it.
    pub(crate) fn urls(&self) -> impl Iterator<Item = String> {
        let line = |(i, w)| format!("{}?weight={w}", Self::address(i));
        self.weights.iter().enumerate().map(line)
    }

    /// Calls that are in flight at a provider all the time: 1 to 3, so that nobody is idle and a
    /// search cannot stop at the first zero.
    pub(crate) fn at_rest(i: usize) -> u32 {
        1 + (scramble(i as u64 ^ 0x51ce) % 3) as u32
    }

    /// Nanoseconds that a provider takes to answer: 1 to 2.75 ms.
    pub(crate) fn answer_ns(i: usize) -> u64 {
        1_000_000 + scramble(i as u64 ^ 0xa11) % 8 * 250_000
    }
}

/// Sixteen bytes of text, like the id of a user.
pub(crate) type Key = &'static str;

/// Keys of timed calls, a power of two of them: too many to be learnt by heart, read in order.
pub(crate) const KEYS: usize = 1 << 14;

/// The keys of timed calls, one text after another in memory.
pub(crate) fn keys() -> &'static [Key] {
    static ALL: OnceLock<Box<[Key]>> = OnceLock::new();
    ALL.get_or_init(|| {
        let id = |i| format!("user{:012}", scramble(i) % 1_000_000_000_000);
        let text: String = (0..KEYS as u64).map(id).collect();
        let mut rest: &'static str = text.leak();
        let next = |_| {
            let (key, later) = rest.split_at(16);
            rest = later;
            key
        };
        (0..KEYS).map(next).collect()
    })
}

/// A fixed scrambling (SplitMix64's), for data that looks random and never changes.
pub(crate) fn scramble(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
