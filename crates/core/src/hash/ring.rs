//! The hash ring of `consistenthash`: points on a circle of 2^32, each with the endpoint that owns
//! it. Immutable once built; pure, knows addresses and positions in a view and nothing else.
//!
//! # Rule
//!
//! An endpoint has `nodes / 4` digests, MD5 of its address followed by a decimal counter from 0. A
//! digest gives four points, each four bytes, least significant first. A hash belongs to the owner
//! of the smallest point that is not below it, or of the smallest point of all. Two endpoints may
//! share a point: it stays with both, and the one later in canonical order comes first. Canonical
//! is the order of the addresses' bytes, equal addresses in view order, so that consumers agree
//! whatever order their lists have.
//!
//! # Cost
//!
//! Looking up reads one number of an index on the leading bits and on average two entries from
//! there: 2 ns on a small ring, two or three cache misses on a large one. A point takes 8 bytes and
//! 2 to 4 more for the index. Building digests every address, which is most of its time, and sorts
//! in linear time; [`Ring::rebuild`] digests new addresses only and merges.
//!
//! # Dubbo
//!
//! `ConsistentHashLoadBalance` (3.3): the same points, keys and owners. There a shared point belongs
//! to the later entry alone, in the order of the consumer's list.

mod build;
mod merge;

/// One point and the view position of an endpoint that owns it. The two lie together, so that a
/// look-up reads one cache line.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Entry {
    point: u32,
    owner: u32,
}

/// A ring over the endpoints of one view.
#[derive(Clone, Debug, PartialEq)]
pub struct Ring {
    /// Ascending by point; of one point, the owner latest in canonical order first.
    entries: Box<[Entry]>,
    /// For every value of a hash's leading bits, the first entry with these bits or higher ones.
    index: Box<[u32]>,
    /// How far a hash is shifted right to leave the leading bits.
    shift: u32,
    /// View positions in canonical order.
    order: Box<[u32]>,
    /// Points asked for per endpoint.
    nodes: u32,
    /// Different points.
    distinct: usize,
}

impl Ring {
    /// How many different points there are.
    pub fn len(&self) -> usize {
        self.distinct
    }

    /// Whether nobody owns anything: no endpoint, or fewer than 4 nodes.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many endpoints it was built from; owners are below this.
    pub fn endpoints(&self) -> usize {
        self.order.len()
    }

    /// The points in ascending order, each with the endpoint that it belongs to while all are
    /// candidates.
    pub fn points(&self) -> impl Iterator<Item = (u32, usize)> {
        first_of_each_point(self.entries.iter()).map(|e| (e.point, e.owner as usize))
    }

    /// The endpoint that a hash belongs to while all are candidates; `None` on an empty ring.
    pub fn owner(&self, hash: u32) -> Option<usize> {
        let entry = self.entries.get(self.first_from(hash)).or(self.entries.first())?;
        Some(entry.owner as usize)
    }

    /// The owners clockwise from `hash`, once around, an endpoint as often as it owns a point.
    pub fn clockwise(&self, hash: u32) -> impl Iterator<Item = usize> {
        let (before, after) = self.entries.split_at(self.first_from(hash).min(self.entries.len()));
        after.iter().chain(before).map(|entry| entry.owner as usize)
    }

    /// The first owner clockwise from `hash` that `admits` lets through; the one that a ring of the
    /// admitted endpoints alone would give.
    ///
    /// `admits` must give one endpoint one answer. Up to [`REMEMBERED`] endpoints it is asked once
    /// about each at most. Beyond, endpoints may be asked about again; if nobody is admitted, that
    /// is known after at most twice as many questions as there are endpoints.
    pub fn walk(&self, hash: u32, mut admits: impl FnMut(usize) -> bool) -> Option<usize> {
        if self.endpoints() <= REMEMBERED {
            return self.walk_remembering(hash, admits);
        }
        let mut clockwise = self.clockwise(hash);
        let near = clockwise.by_ref().take(self.endpoints()).find(|owner| admits(*owner));
        // So many refusals in a row mean that few are admitted, or none. Then the rest of the
        // circle, which holds every endpoint many times, must not be asked to say so.
        if near.is_some() || !(0..self.endpoints()).any(&mut admits) {
            return near;
        }
        clockwise.find(|owner| admits(*owner))
    }

    fn walk_remembering(&self, hash: u32, mut admits: impl FnMut(usize) -> bool) -> Option<usize> {
        let mut refused = [0_u64; REMEMBERED / 64];
        let mut left = self.endpoints();
        for owner in self.clockwise(hash) {
            let (word, bit) = (refused.get_mut(owner / 64)?, 1 << (owner % 64));
            if *word & bit != 0 {
                continue;
            }
            if admits(owner) {
                return Some(owner);
            }
            *word |= bit;
            left -= 1;
            if left == 0 {
                break;
            }
        }
        None
    }

    /// The exact share of the circle, from 0 to 1, that belongs to one endpoint while all are
    /// candidates. Goes once around; for all endpoints use [`Ring::shares`].
    pub fn share_of_circle(&self, position: usize) -> f64 {
        let mut sum = 0;
        self.each_arc(|_| true, |owner, length| sum += if owner == position { length } else { 0 });
        sum as f64 / CIRCLE as f64
    }

    /// The exact share of the circle, from 0 to 1, that each endpoint has while only those that
    /// `admits` lets through are candidates. By view position; sums to 1 unless nobody is admitted.
    pub fn shares(&self, admits: impl FnMut(usize) -> bool) -> Vec<f64> {
        let admitted: Vec<bool> = (0..self.endpoints()).map(admits).collect();
        let mut sums = vec![0_u64; self.endpoints()];
        self.each_arc(|owner| admitted[owner], |owner, length| sums[owner] += length);
        // At most 2^32, so both the number and the quotient are exact.
        sums.into_iter().map(|sum| sum as f64 / CIRCLE as f64).collect()
    }

    /// Calls `take` with the owner and the length of each stretch that ends at a point.
    fn each_arc(&self, admits: impl Fn(usize) -> bool, mut take: impl FnMut(usize, u64)) {
        let admitted = self.entries.iter().filter(|entry| admits(entry.owner as usize));
        let mut ends = first_of_each_point(admitted);
        let Some(first) = ends.next() else { return };
        let mut last = first.point;
        for end in ends {
            take(end.owner as usize, u64::from(end.point - last));
            last = end.point;
        }
        take(first.owner as usize, CIRCLE - u64::from(last) + u64::from(first.point));
    }

    /// Place of the first entry whose point is not below `hash`; past the end if there is none.
    fn first_from(&self, hash: u32) -> usize {
        let bucket = (hash >> self.shift) as usize;
        let mut at = self.index.get(bucket).map_or(0, |first| *first as usize);
        // How many entries to step over is a coin toss that a branch would lose: on a small ring,
        // counting without one takes 2 ns where the loop below alone takes 8.
        if let Some(near) = self.entries.get(at..).and_then(|from| from.first_chunk::<4>()) {
            at += near.iter().map(|entry| usize::from(entry.point < hash)).sum::<usize>();
        }
        while self.entries.get(at).is_some_and(|entry| entry.point < hash) {
            at += 1;
        }
        at
    }
}

/// How many endpoints a walk can keep in mind: 128 bytes on the stack.
pub const REMEMBERED: usize = 1024;

/// Length of the circle.
const CIRCLE: u64 = 1 << 32;

/// Drops the later owners of a shared point.
fn first_of_each_point<'a>(
    entries: impl Iterator<Item = &'a Entry>,
) -> impl Iterator<Item = &'a Entry> {
    let mut last = None;
    entries.filter(move |entry| last.replace(entry.point) != Some(entry.point))
}

#[cfg(test)]
mod tests;
