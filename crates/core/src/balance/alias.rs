//! Weighted draws in constant time: Vose's alias table with exact integer thresholds. Shared by
//! the strategies that draw by weight.
//!
//! Source: M. D. Vose, *A Linear Algorithm for Generating Random Numbers with a Given
//! Distribution*, IEEE TSE 17(9), 1991.

use crate::rng::below;

/// One slot: yields itself when the coin is below `keep`, else `other`.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Threshold as a fraction of 2^32; a full slot has itself as `other`.
    keep: u32,
    other: u32,
}

/// A prepared distribution over positions `0..n`.
#[derive(Debug)]
pub struct Alias {
    /// Empty when all weights are equal.
    slots: Box<[Slot]>,
    n: usize,
    total: u64,
    drawable: usize,
}

impl Alias {
    /// Prepares a table for these weights. All equal, or all 0: a uniform draw. A weight of 0 is
    /// never drawn while another is positive.
    pub fn new(weights: impl ExactSizeIterator<Item = u32> + Clone) -> Self {
        let n = weights.len();
        let total: u64 = weights.clone().map(u64::from).sum();
        let positive = weights.clone().filter(|w| *w > 0).count();
        let drawable = if total == 0 { n } else { positive };
        let first = weights.clone().next();
        if total == 0 || weights.clone().all(|w| Some(w) == first) {
            return Self { slots: Box::default(), n, total, drawable };
        }
        Self { slots: fill(weights, n, total), n, total, drawable }
    }

    /// Turns 64 random bits into a position; 0 when there are none.
    #[inline(always)]
    pub fn draw(&self, bits: u64) -> usize {
        if self.slots.is_empty() {
            return below(bits, self.n);
        }
        // The high half of the bits chooses the slot, the low half is the coin.
        let at = (((bits >> 32) * self.n as u64) >> 32) as usize;
        self.slots.get(at).map_or(0, |slot| {
            // A choice without a branch: with unequal weights none could be predicted.
            let keep = u64::from((bits as u32) < slot.keep).wrapping_neg() as usize;
            (at & keep) | (slot.other as usize & !keep)
        })
    }

    /// Whether every position is equally likely.
    pub fn is_uniform(&self) -> bool {
        self.slots.is_empty()
    }

    /// Sum of all weights.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many positions can be drawn.
    pub fn drawable(&self) -> usize {
        self.drawable
    }

    /// How many positions there are.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }
}

fn fill(weights: impl Iterator<Item = u32>, n: usize, total: u64) -> Box<[Slot]> {
    // Scaled so that an average weight fills a slot: exact in 128 bits.
    let full = u128::from(total);
    let mut share: Vec<u128> = weights.map(|w| u128::from(w) * n as u128).collect();
    let mut slots: Vec<Slot> = (0..n).map(|i| Slot { keep: u32::MAX, other: i as u32 }).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) =
        (0..n).partition(|i| share.get(*i).is_some_and(|s| *s < full));
    while let (Some(poor), Some(rich)) = (small.pop(), large.pop()) {
        let has = share.get(poor).copied().unwrap_or(0);
        if let Some(slot) = slots.get_mut(poor) {
            // Rounded up: coin < keep exactly when coin * total < has * 2^32.
            let keep = (has << 32).div_ceil(full).min(u128::from(u32::MAX));
            *slot = Slot { keep: keep as u32, other: rich as u32 };
        }
        let left = share.get(rich).copied().unwrap_or(0) - (full - has);
        if let Some(s) = share.get_mut(rich) {
            *s = left;
        }
        if left < full { small.push(rich) } else { large.push(rich) }
    }
    slots.into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts over the whole draw space: every slot with every one of `coins` equal steps.
    fn enumerate(weights: &[u32], coins: u64) -> Vec<u64> {
        let alias = Alias::new(weights.iter().copied());
        let n = weights.len() as u64;
        let mut counts = vec![0; weights.len()];
        for slot in 0..n {
            // The smallest high half that the product maps to this slot.
            let high = ((slot << 32) as f64 / n as f64).ceil() as u64;
            for coin in 0..coins {
                let low = (coin << 32).div_ceil(coins);
                counts[alias.draw(high << 32 | low)] += 1;
            }
        }
        counts
    }

    #[test]
    fn the_whole_draw_space_gives_each_weight_exactly() {
        for weights in [
            vec![1, 2, 3, 4],
            vec![0, 0, 5, 0, 5],
            vec![5, 1, 1],
            vec![1, 2, 3, 4, 5, 6],
            vec![10, 20, 70],
            vec![0, 7],
        ] {
            let total: u64 = weights.iter().map(|w| u64::from(*w)).sum();
            let counts = enumerate(&weights, total);
            let n = weights.len() as u64;
            let expected: Vec<u64> = weights.iter().map(|w| u64::from(*w) * n).collect();
            assert_eq!(counts, expected, "{weights:?}");
        }
    }

    #[test]
    fn equal_weights_and_all_zero_are_uniform() {
        for weights in [vec![100, 100, 100], vec![0, 0, 0]] {
            let alias = Alias::new(weights.into_iter());
            assert!(alias.is_uniform());
            assert_eq!(alias.draw(u64::MAX / 2), 1);
            assert_eq!(alias.draw(u64::MAX), 2);
            assert_eq!(alias.draw(0), 0);
        }
    }

    #[test]
    fn sums_do_not_wrap() {
        let alias = Alias::new([i32::MAX as u32, i32::MAX as u32, 102].into_iter());
        assert_eq!(alias.total(), 4_294_967_396);
    }
}
