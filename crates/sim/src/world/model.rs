//! How a simulated endpoint answers. Integer arithmetic on microseconds since the beginning of the
//! world; knows no strategy.

use equipoise_core::outcome::Outcome;
use equipoise_core::rng::{Rng, SeededRng};

/// How long an endpoint takes, and whether it answers at all.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Model {
    /// Service time, from least to most, each equally likely.
    micros: (u64, u64),
    fails: bool,
    /// Works for the first part of every period and rests in the second.
    pauses: Option<(u64, u64)>,
    /// Calls served at a time; 0 is any number.
    workers: usize,
}

impl Model {
    /// Answers each call after this time, however many there are.
    pub const fn constant_ms(ms: u64) -> Self {
        Self { micros: (ms * 1000, ms * 1000), fails: false, pauses: None, workers: 0 }
    }

    /// Answers after a time between these, each equally likely.
    pub const fn between_ms(least: u64, most: u64) -> Self {
        Self { micros: (least * 1000, most * 1000), ..Self::constant_ms(0) }
    }

    /// Fails each call after this time.
    pub const fn failing_ms(ms: u64) -> Self {
        Self { fails: true, ..Self::constant_ms(ms) }
    }

    /// Stands still at the end of every period, as in garbage collection: nothing in progress moves
    /// on. A pause as long as the period or longer leaves one millisecond of work.
    pub const fn pausing_ms(mut self, every: u64, pause: u64) -> Self {
        let work = if pause < every { every - pause } else { 1 };
        self.pauses = Some((work * 1000, (work + pause) * 1000));
        self
    }

    /// Serves this many calls at a time; others wait their turn. 0 is any number.
    pub const fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// When work of this length that begins at `start` is done.
    fn done(&self, start: u64, work: u64) -> u64 {
        let Some((active, period)) = self.pauses.filter(|_| work > 0) else { return start + work };
        // Counted in time that is not paused, work takes as long as it is.
        let before = start / period * active + (start % period).min(active);
        let last = before + work - 1;
        last / active * period + last % active + 1
    }
}

/// An endpoint of the world.
#[derive(Debug)]
pub(super) struct Simulated {
    model: Model,
    /// When each worker will be free; with any number of workers, when each call will be done.
    busy_until: Vec<u64>,
}

impl Simulated {
    pub(super) fn new(model: Model) -> Self {
        Self { model, busy_until: vec![0; model.workers] }
    }

    /// A call arrives: when it is answered and how.
    pub(super) fn answer(&mut self, now: u64, chance: &mut SeededRng) -> (u64, Outcome) {
        let (least, most) = self.model.micros;
        let spread = most.saturating_sub(least) + 1;
        let work = least + (chance as &mut dyn Rng).below_u64(spread);
        if self.model.workers == 0 {
            self.busy_until.retain(|until| *until > now);
            self.busy_until.push(0);
        }
        let free = self.busy_until.iter_mut().min();
        let start = free.as_ref().map_or(now, |until| now.max(**until));
        let done = self.model.done(start, work);
        if let Some(until) = free {
            *until = done;
        }
        (done, if self.model.fails { Outcome::NETWORK } else { Outcome::Success })
    }

    /// Busy workers in percent; with any number of workers, calls in progress times ten.
    pub(super) fn load_percent(&self, now: u64) -> u64 {
        let busy = self.busy_until.iter().filter(|until| **until > now).count() as u64;
        match self.model.workers as u64 {
            0 => busy * 10,
            workers => busy * 100 / workers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_stands_still_while_the_endpoint_pauses() {
        // Works 80 ms, rests 20 ms.
        let model = Model::constant_ms(10).pausing_ms(100, 20);
        assert_eq!(model.done(0, 10_000), 10_000);
        assert_eq!(model.done(70_000, 10_000), 80_000);
        assert_eq!(model.done(75_000, 10_000), 105_000);
        assert_eq!(model.done(85_000, 10_000), 110_000);
        assert_eq!(model.done(99_999, 1), 100_001);
        assert_eq!(model.done(0, 160_000), 180_000);
        assert_eq!(model.done(85_000, 0), 85_000);
    }

    #[test]
    fn workers_make_calls_wait() {
        let mut chance = SeededRng::new(0);
        let mut two = Simulated::new(Model::constant_ms(10).workers(2));
        let done: Vec<u64> = (0..5).map(|_| two.answer(0, &mut chance).0).collect();
        assert_eq!(done, [10_000, 10_000, 20_000, 20_000, 30_000]);
        assert_eq!(two.load_percent(25_000), 50);
        let mut any = Simulated::new(Model::constant_ms(10));
        let done: Vec<u64> = (0..5).map(|_| any.answer(0, &mut chance).0).collect();
        assert_eq!(done, [10_000; 5]);
        assert_eq!(any.load_percent(0), 50);
    }
}
