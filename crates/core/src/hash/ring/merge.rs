//! Carrying a ring over to a changed list of addresses: endpoints that stay keep their points.

use super::build::{canonical_order, fitting, points_of};
use super::{Entry, Ring};

/// An old position whose endpoint is no longer there.
const GONE: u32 = u32::MAX;

impl Ring {
    /// The ring of `new_addresses`, equal to what [`Ring::build`] makes of them. `old_addresses` is
    /// the list this ring was built from. Only new addresses are digested; the points of the others
    /// are merged with theirs in one pass.
    pub fn rebuild(&self, old_addresses: &[&str], new_addresses: &[&str]) -> Ring {
        let nodes = fitting(self.nodes, new_addresses.len());
        let comparable = old_addresses.len() == self.endpoints()
            && nodes == fitting(self.nodes, old_addresses.len());
        if !comparable {
            return Ring::build(new_addresses, self.nodes);
        }
        let order = canonical_order(new_addresses);
        let (moved, added) = compare(&self.order, old_addresses, &order, new_addresses);
        let added = points_of(&added, new_addresses, nodes);
        let entries = merge(&self.entries, &moved, &added, &order);
        Ring::from_sorted(entries, order, self.nodes)
    }
}

/// Walks both canonical orders side by side. Gives the new position of every old one, or [`GONE`],
/// and the new positions that have no old one, in canonical order.
fn compare(
    old_order: &[u32],
    old_addresses: &[&str],
    new_order: &[u32],
    new_addresses: &[&str],
) -> (Vec<u32>, Vec<u32>) {
    let mut moved = vec![GONE; old_addresses.len()];
    let mut added = Vec::new();
    let mut old = old_order.iter().peekable();
    for &new in new_order {
        let address = new_addresses[new as usize];
        while old.next_if(|at| old_addresses[**at as usize] < address).is_some() {}
        match old.next_if(|at| old_addresses[**at as usize] == address) {
            Some(stays) => moved[*stays as usize] = new,
            None => added.push(new),
        }
    }
    (moved, added)
}

/// Merges what is left of the old entries with the added ones. Endpoints that stay keep their
/// canonical order among themselves, so both sides are in ring order.
fn merge(old: &[Entry], moved: &[u32], added: &[Entry], order: &[u32]) -> Vec<Entry> {
    let mut rank = vec![0_u32; order.len()];
    for (place, position) in (0..).zip(order) {
        rank[*position as usize] = place;
    }
    let later = |a: &Entry, b: &Entry| rank[a.owner as usize] > rank[b.owner as usize];
    let mut entries = Vec::with_capacity(old.len() + added.len());
    let mut added = added.iter().copied().peekable();
    for entry in old {
        let stays = Entry { point: entry.point, owner: moved[entry.owner as usize] };
        if stays.owner == GONE {
            continue;
        }
        let first = |new: &Entry| {
            new.point < stays.point || (new.point == stays.point && later(new, &stays))
        };
        while let Some(new) = added.next_if(first) {
            entries.push(new);
        }
        entries.push(stays);
    }
    entries.extend(added);
    entries
}
