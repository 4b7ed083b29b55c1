//! One value, swapped whole: written seldom, read by every call. The only place that knows which
//! library does it.

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};

/// A value that is replaced whole.
pub(crate) struct Snapshot<T>(ArcSwap<T>);

impl<T> Snapshot<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(ArcSwap::from_pointee(value))
    }

    /// The newest value; let go of it before an await.
    pub(crate) fn load(&self) -> Guard<Arc<T>> {
        self.0.load()
    }

    /// The newest value, to keep.
    pub(crate) fn load_full(&self) -> Arc<T> {
        self.0.load_full()
    }

    pub(crate) fn store(&self, value: Arc<T>) {
        self.0.store(value);
    }
}
