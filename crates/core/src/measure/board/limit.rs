//! Counting in below a limit, for `actives`.

use super::block::VACANT;
use super::{Board, SlotId};
use crate::sync::Ordering::Relaxed;

impl Board {
    /// Counts an attempt in unless `most` are in flight. The count never passes `most`, not even
    /// for a moment, so nobody is refused because of another's failed try.
    pub(crate) fn try_start(&self, slot: SlotId, most: u32) -> bool {
        let (block, at) = self.place(slot);
        let more = |count: u32| (count < most && count + 1 < VACANT).then(|| count + 1);
        block.count(at).fetch_update(Relaxed, Relaxed, more).is_ok()
    }
}
