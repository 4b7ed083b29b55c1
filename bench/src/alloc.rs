//! The global allocator, counting: how often each thread has asked for memory. Thread-local cells,
//! so that counting costs no shared cache line.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
#[cfg(feature = "rpc")]
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

thread_local! {
    static REQUESTS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator with a count in front.
pub(crate) struct Counting;

#[inline]
fn count() {
    REQUESTS.with(|n| n.set(n.get() + 1));
}

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every request is handed on as it is to the system's allocator; counting touches neither
// the layout nor the memory, and a thread-local cell without a destructor is always there.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(place, layout, size) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        unsafe { System.dealloc(place, layout) }
    }
}

/// Requests of this thread so far.
pub(crate) fn here() -> u64 {
    REQUESTS.with(Cell::get)
}

#[cfg(feature = "rpc")]
static TOLD: AtomicU64 = AtomicU64::new(0);

/// Adds this thread's requests since it last told to the total of the process.
#[cfg(feature = "rpc")]
pub(crate) fn tell() {
    thread_local!(static SEEN: Cell<u64> = const { Cell::new(0) });
    let now = here();
    TOLD.fetch_add(now - SEEN.with(|seen| seen.replace(now)), Relaxed);
}

/// What all threads have told.
#[cfg(feature = "rpc")]
pub(crate) fn told() -> u64 {
    TOLD.load(Relaxed)
}
