//! Making a ring from addresses: canonical order, digests, sorting, and the index.

use md5::{Digest, Md5};

use super::{Entry, Ring};

/// The most points a ring holds, 2 GiB of them. Where more would be needed (the largest number of
/// nodes for more than 268 endpoints), each endpoint gets fewer nodes.
const MAX_POINTS: usize = 1 << 28;

impl Ring {
    /// Builds the ring of `addresses`, in view order, with `nodes` points each, rounded down to a
    /// multiple of 4. Fewer than 4 nodes make an empty ring; configuration refuses them
    /// ([`parse_nodes`](crate::hash::key::parse_nodes)).
    pub fn build(addresses: &[&str], nodes: u32) -> Ring {
        let order = canonical_order(addresses);
        let points = points_of(&order, addresses, fitting(nodes, addresses.len()));
        Ring::from_sorted(points, order, nodes)
    }

    /// `entries` are in their final order.
    pub(super) fn from_sorted(mut entries: Vec<Entry>, order: Vec<u32>, nodes: u32) -> Ring {
        // Two digests of one endpoint may share a point as well.
        entries.dedup();
        // One or two entries for each value of the leading bits.
        let bits = entries.len().checked_ilog2().map_or(1, |bits| bits.max(1));
        let shift = 32 - bits;
        let mut index = vec![entries.len() as u32; 1 << bits];
        let mut distinct = 0;
        let mut next_point = None;
        for (at, entry) in entries.iter().enumerate().rev() {
            index[(entry.point >> shift) as usize] = at as u32;
            distinct += usize::from(next_point.replace(entry.point) != Some(entry.point));
        }
        // Where no entry has these bits, the next one that has higher bits.
        let mut next = entries.len() as u32;
        for first in index.iter_mut().rev() {
            next = next.min(*first);
            *first = next;
        }
        Ring {
            entries: entries.into(),
            index: index.into(),
            shift,
            order: order.into(),
            nodes,
            distinct,
        }
    }
}

/// Positions of the addresses, ordered by the bytes of the text and then by position.
pub(super) fn canonical_order(addresses: &[&str]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..addresses.len() as u32).collect();
    // Stable, and linear where a part of the list is in order already.
    order.sort_by_key(|position| addresses[*position as usize]);
    order
}

/// Nodes per endpoint with which that many endpoints stay within [`MAX_POINTS`].
pub(super) fn fitting(nodes: u32, endpoints: usize) -> u32 {
    let most = MAX_POINTS / endpoints.max(1);
    nodes.min(u32::try_from(most).unwrap_or(u32::MAX))
}

/// The entries of the endpoints at `positions`, which are in canonical order, in ring order.
pub(super) fn points_of(positions: &[u32], addresses: &[&str], nodes: u32) -> Vec<Entry> {
    let digests = nodes / 4;
    let mut entries = Vec::with_capacity(positions.len() * digests as usize * 4);
    // Sorting is stable, so the later endpoint comes first at a shared point if it is put in first.
    for owner in positions.iter().rev() {
        // What is the same for all counters is taken in once.
        let address = Md5::new_with_prefix(addresses[*owner as usize]);
        for counter in 0..digests {
            let mut digest = address.clone();
            digest.update(Decimal::of(counter).text());
            let bytes: [u8; 16] = digest.finalize().into();
            let (words, _) = bytes.as_chunks::<4>();
            entries.extend(
                words.iter().map(|w| Entry { point: u32::from_le_bytes(*w), owner: *owner }),
            );
        }
    }
    sort_by_point(&mut entries);
    entries
}

/// Stable radix sort in three passes over the 32 bits. Points are spread evenly and there may be
/// millions of them; comparing would take longer than digesting.
fn sort_by_point(entries: &mut Vec<Entry>) {
    const BITS: u32 = 11;
    const DIGITS: usize = 1 << BITS;
    let mut from = std::mem::take(entries);
    let mut to = vec![Entry::default(); from.len()];
    for pass in 0..3 {
        let digit = |entry: &Entry| (entry.point >> (pass * BITS)) as usize % DIGITS;
        let mut next = [0_usize; DIGITS];
        for entry in &from {
            next[digit(entry)] += 1;
        }
        let mut start = 0;
        for place in &mut next {
            start += std::mem::replace(place, start);
        }
        for entry in &from {
            let place = &mut next[digit(entry)];
            to[*place] = *entry;
            *place += 1;
        }
        std::mem::swap(&mut from, &mut to);
    }
    *entries = from;
}

/// A counter as decimal text, on the stack.
struct Decimal {
    digits: [u8; 10],
    start: usize,
}

impl Decimal {
    fn of(mut number: u32) -> Self {
        let mut decimal = Self { digits: [b'0'; 10], start: 10 };
        loop {
            decimal.start -= 1;
            decimal.digits[decimal.start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return decimal;
            }
        }
    }

    fn text(&self) -> &[u8] {
        &self.digits[self.start..]
    }
}
