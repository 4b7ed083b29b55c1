//! `leastactive`: the candidate with the fewest attempts in flight.
//!
//! # Rule
//!
//! The exact minimum of active attempts of this method, counted by this consumer. Ties are drawn by
//! weight; weights of 0 do not take part while another is positive; all zero: equally.
//!
//! # When to use it
//!
//! Calls of differing length, providers of differing speed: a slow one keeps its calls longer and
//! gets fewer. With very many consumers of few calls each, all counts are 0 or 1 and `p2c` is as
//! good and cheaper.
//!
//! # Cost
//!
//! Up to 32 candidates one pass over packed counts; above, draws among the tied ones or a walk down
//! a tree of lower bounds, sub-linear. No lock; see [`board`](crate::measure::board).
//!
//! # State
//!
//! The counts, per endpoint and method; they survive a change of the list.
//!
//! # Dubbo
//!
//! `leastactive`. There nothing is counted unless `actives` is set; here always. There one of weight
//! 0 serves when it alone has the fewest.
//!
//! # References
//!
//! `LeastActiveLoadBalance.java` (3.3).

use std::any::Any;
use std::sync::Arc;

use super::{About, Ask, Picker, Prepare, Shortcut, Strategy, Weights};
use crate::candidates::Candidate;
use crate::measure::board::{Admits, Board, Members};

/// The row.
pub(super) struct LeastActive;

impl Strategy for LeastActive {
    fn about(&self) -> About {
        About {
            origin: "Dubbo",
            use_for: "calls of differing length, providers of differing speed",
            cost: "exact minimum, sub-linear",
            weights: Weights::Ties,
            avoids_busy: true,
            ..About::named("leastactive", "fewest attempts in flight, ties by weight")
        }
    }

    fn prepare(&self, prepare: &Prepare<'_>) -> Box<dyn Picker> {
        Box::new(LeastActivePicker(Arc::new(Minimum::new(prepare.candidates))))
    }
}

struct LeastActivePicker(Arc<Minimum>);

impl Picker for LeastActivePicker {
    #[inline]
    fn pick(&self, ask: &mut Ask<'_>) -> Option<usize> {
        self.0.pick::<LEAST_ACTIVE>(ask)
    }

    fn shortcut(&self) -> Option<Shortcut> {
        Some(Shortcut::fewest(self.0.clone()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// What is compared: attempts in flight, or estimated response times.
pub(super) const LEAST_ACTIVE: bool = false;
pub(super) const SHORTEST: bool = true;

/// The candidates as members of the board on which their attempts are counted.
pub(super) struct Minimum {
    members: Members,
    /// `None` without candidates.
    board: Option<Arc<Board>>,
}

impl Minimum {
    pub(super) fn new(candidates: &[Candidate]) -> Self {
        let slots: Vec<_> = candidates.iter().map(|c| c.measurements().slot()).collect();
        let weights: Vec<u32> = candidates.iter().map(Candidate::weight).collect();
        let board = candidates.first().map(|c| c.measurements().board().clone());
        Self { members: Members::new(&slots, &weights), board }
    }

    pub(super) fn board(&self) -> Option<&Board> {
        self.board.as_deref()
    }

    /// The position with the fewest attempts in flight, while everybody is admitted.
    #[inline]
    pub(super) fn least_active(&self, chance: u64) -> Option<usize> {
        self.find::<LEAST_ACTIVE>(self.board.as_deref()?, chance, None)
    }

    /// The position with the smallest estimate, while everybody is admitted.
    #[inline]
    pub(super) fn shortest_response(&self, chance: u64) -> Option<usize> {
        self.find::<SHORTEST>(self.board.as_deref()?, chance, None)
    }

    #[inline]
    pub(super) fn pick<const BY: bool>(&self, ask: &mut Ask<'_>) -> Option<usize> {
        let board = self.board.as_deref()?;
        let chance = ask.rng.next_u64();
        if ask.is_open() {
            return self.find::<BY>(board, chance, None);
        }
        let asked = &*ask;
        let found = self.find::<BY>(board, chance, Some(&|position| asked.admits(position)));
        // Only those of positive weight are found; one of weight 0 serves when no other may.
        found.or_else(|| ask.scan_by_weight(|_| true))
    }

    #[inline]
    fn find<const BY: bool>(
        &self,
        board: &Board,
        chance: u64,
        admits: Admits<'_>,
    ) -> Option<usize> {
        match BY {
            SHORTEST => self.members.shortest_response(board, chance, admits),
            LEAST_ACTIVE => self.members.least_active(board, chance, admits),
        }
    }
}
