//! How a provider takes leave: it says that it takes no new calls, asks for a sign of life behind it,
//! and closes when that has come and no call runs. What the peer sent before it heard has come by
//! then, because it came before the sign.

use bytes::Bytes;

use crate::dubbo::events;
use crate::dubbo::outgoing::{Outbox, Part};

/// How far the farewell has got.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Farewell {
    /// Not begun.
    No,
    /// To be said as soon as there is room.
    Due,
    /// Said; the heartbeat with this id is not answered yet.
    Said(u64),
    /// The peer has heard.
    Heard,
}

impl Farewell {
    /// Begins, unless that was done already.
    pub(crate) fn begin(&mut self) {
        if *self == Farewell::No {
            *self = Farewell::Due;
        }
    }

    /// Says it if it is due and there is room. `id` is the first of two free numbers.
    pub(crate) fn say(&mut self, outbox: &Outbox, id: u64) {
        if *self != Farewell::Due {
            return;
        }
        let heartbeat = id.wrapping_add(1);
        let bytes = [&events::read_only(id)[..], &events::heartbeat(heartbeat)].concat();
        if let Ok(Some(room)) = outbox.try_room(bytes.len())
            && outbox.push(room, &[Part::Share(&Bytes::from(bytes))]).is_ok()
        {
            *self = Farewell::Said(heartbeat);
        }
    }

    /// Notes the answer to a heartbeat.
    pub(crate) fn answered(&mut self, id: u64) {
        if *self == Farewell::Said(id) {
            *self = Farewell::Heard;
        }
    }
}
