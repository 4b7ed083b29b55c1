//! The atomics and locks of everything in this crate that is checked by `loom`: `std`'s, or the
//! model's under `cfg(loom)`. Nothing but re-exports and what the model needs in their place.

#[cfg(not(loom))]
pub(crate) use std::sync::{
    Mutex, OnceLock,
    atomic::{AtomicU32, AtomicU64, Ordering},
};

#[cfg(loom)]
pub(crate) use loom::sync::{
    Mutex,
    atomic::{AtomicU32, AtomicU64, Ordering},
};
// The model has no cell of this kind. What a model uses of them is filled before its threads start.
#[cfg(loom)]
pub(crate) use std::sync::OnceLock;

/// Keeps what comes before it apart from what comes after, for every thread.
///
/// Where this stands, sequentially consistent accesses on both sides already do so and nothing is
/// compiled. The model takes such accesses for acquire and release only, so there it is the fence
/// that stands for them.
#[inline(always)]
pub(crate) fn settle() {
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}
