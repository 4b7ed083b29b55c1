//! Chance as an argument. `core` owns no generator: whoever picks hands one in, so that a test can
//! script or seed every draw.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A source of random bits.
pub trait Rng {
    /// The next 64 bits, all equally likely.
    fn next_u64(&mut self) -> u64;
}

/// A generator that many threads share without a lock.
pub trait RngSource: Send + Sync {
    /// The next 64 bits, all equally likely.
    fn next_u64(&self) -> u64;
}

impl dyn Rng + '_ {
    /// A number in `0..n`; 0 when `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        below(self.next_u64(), n)
    }

    /// A number in `0..n` for sums of weights; 0 when `n` is 0.
    pub fn below_u64(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }
}

/// Scales 64 random bits to `0..n` by the high half of the product: no division, and a bias below
/// `n / 2^64`.
#[inline]
pub fn below(bits: u64, n: usize) -> usize {
    ((u128::from(bits) * n as u128) >> 64) as usize
}

/// SplitMix64 (Steele, Lea, Flood 2014): a seed always gives the same stream, in every version of
/// this library. For tests, simulations and `--seed`; not for secrets.
#[derive(Clone, Debug)]
pub struct SeededRng(u64);

impl SeededRng {
    /// A generator that starts at `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }
}

impl Rng for SeededRng {
    #[inline]
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }
}

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The same stream as [`SeededRng`], shared: each number goes to one of the threads.
#[derive(Debug)]
pub struct SharedSeededRng(AtomicU64);

impl SharedSeededRng {
    /// A generator that starts at `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

impl RngSource for SharedSeededRng {
    fn next_u64(&self) -> u64 {
        mix(self.0.fetch_add(STEP, Relaxed).wrapping_add(STEP))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_published_stream() {
        let mut rng = SeededRng::new(0);
        assert_eq!(rng.next_u64(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(rng.next_u64(), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn below_covers_its_range_and_nothing_else() {
        assert_eq!(below(0, 7), 0);
        assert_eq!(below(u64::MAX, 7), 6);
        assert_eq!(below(u64::MAX, 0), 0);
        assert_eq!(below(u64::MAX / 2 + 1, 2), 1);
    }
}
