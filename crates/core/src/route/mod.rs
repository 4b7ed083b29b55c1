//! Who *may* serve a call. One file per router; a router never chooses among those it keeps.
//!
//! A router is compiled for one list of providers. For a call it only tells which of its few
//! *branches* applies; what a branch keeps is worked out once per view, not per call.
//!
//! To add one: write `route/<name>.rs`, add its `mod` line and its row in [`ROUTERS`].

mod tag;

use crate::call::Call;
use crate::config::{Config, ConfigError};
use crate::view::Entry;

/// Every router we ship, in the order in which they apply.
#[rustfmt::skip] // one row, one line
pub static ROUTERS: &[&dyn RouterKind] = &[
    &tag::Tag,
];

/// A kind of router: its name, and how a rule becomes a router.
pub trait RouterKind: Sync {
    /// Name in rules and reports.
    fn name(&self) -> &'static str;

    /// One line for people.
    fn summary(&self) -> &'static str;

    /// Compiles it for these providers; `None` where it could never leave anybody out.
    ///
    /// # Errors
    /// A configured value that it cannot work with; what is in force then stays.
    fn compile(
        &self,
        entries: &[Entry],
        config: &Config,
    ) -> Result<Option<Box<dyn Router>>, ConfigError>;
}

/// A router, compiled for one list.
pub trait Router: Send + Sync {
    /// How many branches it has; at least 1. Bounded by the list and the rule, never by calls.
    fn branches(&self) -> usize;

    /// The branch of a call, below [`Router::branches`].
    ///
    /// *Called by* every attempt. *Blocking*: never; no lock, no allocation.
    fn branch(&self, call: &Call<'_>) -> usize;

    /// The branch of every call that names no tag and does not say whether one must be met, where
    /// nothing else of such a call matters; `None` where something does. Such calls, which are
    /// nearly all, are then not shown to the routers one by one.
    fn untagged(&self) -> Option<usize> {
        None
    }

    /// A name for a branch that means the same after the list has changed.
    fn branch_name(&self, branch: usize) -> String;

    /// Leaves in `kept` (positions in the list, ascending) who may serve calls of this branch.
    ///
    /// *Called by* the builder of a view, once per branch.
    fn narrow(&self, branch: usize, entries: &[Entry], kept: &mut Vec<u32>);
}
